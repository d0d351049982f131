"""What expiry costs under each strategy: every assumption of the comparison in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields

from miniredis.clock import CostModel
from miniredis.keyspace.memory_usage import SIZEOF_DICT_ENTRY, SIZEOF_POINTER, SIZEOF_ROBJ

#: One price for every deletion, so that strategies differ in nothing but themselves.
FLAT = CostModel(deleted_ns=700, missed_ns=0, cold_ns=0, rehash_entry_ns=60, rehash_empty_ns=2)


@dataclass(frozen=True, slots=True)
class StrategyCosts:
    """Work in ns and memory in bytes, as a server in C would have them.

    *model* holds what the simulator itself charges: deleting a key, and the work of Redis's
    cycle. The rest are assumptions of this comparison. Steps of heap and wheel are
    measured by ``benchmarks/timers.c`` with 100,000 timers, far beyond the first caches;
    with 10,000 they cost a half or less, with a million twice as much or more. Waking up is
    what an idle process pays on ordinary hardware; virtual machines pay more.

    Cycles and timers spend their time on the virtual clock, as in the simulator. What is
    part of a command (checking, keeping the timers, deleting on access) is added up but
    leaves the clock alone, as commands do everywhere in the simulator.
    """

    model: CostModel = FLAT
    check_ns: int = 50  # a command looks a key's time to live up in the expires table
    heap_step_ns: int = 20  # an entry of the heap looks at one level
    wheel_step_ns: int = 18  # a timer is put into a slot of the wheel, or taken out
    timer_call_ns: int = 20  # beside the steps: the call, and comparing with the next wake-up
    wake_up_ns: int = 2_000  # the event loop wakes for a timer and sleeps again
    # An array slot of instant and pointer (16), and the place in the array at the key (8).
    heap_entry_bytes: int = 24
    wheel_node_bytes: int = 32  # instant, key, and both neighbours
    wheel_slot_bytes: int = 16  # head of a slot: two pointers

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)[1:]):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"StrategyCosts.{name} must be a whole number, not {value!r}")
            if value < 0:
                raise ValueError(f"StrategyCosts.{name} must not be negative, got {value}")


# A key of some 10 characters, and a string of some 20 beyond its object header: measured
# 43 bytes with keys key:0 ... key:99999 and values value:0 ... value:99999.
KEY_AND_VALUE = 40
#: Bytes of a small key with its value, and of its time to live.
KEY_BYTES = SIZEOF_DICT_ENTRY + SIZEOF_ROBJ + KEY_AND_VALUE
TTL_BYTES = SIZEOF_DICT_ENTRY
BUCKET_BYTES = SIZEOF_POINTER
