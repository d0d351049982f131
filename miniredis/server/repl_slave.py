"""A replica as its primary sees it, however the two are connected.

Redis: ``replstate``, ``repl_ack_off`` of a client in server.h; replication.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.repl_backlog import ReplBacklog

# States of a replica. replication.c: replstateToString()
SEND_BULK = "send_bulk"  # the data set is on its way
ONLINE = "online"


class Slave:
    """One replica. ``slave`` is the client that the primary sees; ``host`` and ``port`` are
    where clients find the replica.

    ``repl_ack_off`` is how far it says to be in the stream, ``repl_ack_time`` when it said
    so, in Unix seconds; ``acknowledges``: silence means that it is gone.
    """

    host: str
    port: int
    acknowledges = True

    def __init__(self, slave: Client) -> None:
        self.slave = slave
        self.replstate = SEND_BULK
        self.repl_ack_off = 0
        self.repl_ack_time = 0

    def send_data_set(self, offset: int, repl_stream_db: int) -> None:
        """Send everything as it is now; the stream follows from byte *offset* on."""
        raise NotImplementedError

    def send_missed(self, backlog: ReplBacklog, psync_offset: int) -> None:
        """Let it go on, with the stream from byte *psync_offset* on."""
        raise NotImplementedError

    def send_command(self, argv: Sequence[bytes], size: int) -> None:
        """Send the next command of the stream, which is *size* bytes."""
        raise NotImplementedError

    def _check(self) -> None:
        """Assert the invariants."""
