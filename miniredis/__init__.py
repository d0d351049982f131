"""miniredis: a Redis inside your Python process, for seeing how Redis works.

>>> import miniredis
>>> clock = miniredis.VirtualClock()
>>> server = miniredis.Server(clock=clock, seed=7)
>>> r = server.client(decode_responses=True)
>>> r.set("message", "hi", px=5_000)
True
>>> clock.advance(5_101)
>>> server.dbsize(0)
0
"""

from __future__ import annotations

from miniredis.clock import CostModel, SkewedClock, SystemClock, VirtualClock
from miniredis.errors import CommandError, ServerClosedError
from miniredis.keyspace.expire import CycleReport, ExitReason, LoopReport, StaleGate
from miniredis.net.client import Redis, Server
from miniredis.probe import SILENT, Probe

__version__ = "0.1.0"

__all__ = [
    "SILENT",
    "CommandError",
    "CostModel",
    "CycleReport",
    "ExitReason",
    "LoopReport",
    "Probe",
    "Redis",
    "Server",
    "ServerClosedError",
    "SkewedClock",
    "StaleGate",
    "SystemClock",
    "VirtualClock",
    "__version__",
]
