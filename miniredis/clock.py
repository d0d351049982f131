"""The one notion of time.

Every part of the simulator asks a clock, and only this module imports ``time``.
A clock answers in whole microseconds (:meth:`Clock.us`) or milliseconds
(:meth:`Clock.ms`); ``.time()`` and ``.sleep()`` work in seconds like the standard
``time`` module, so that a clock can be handed to any code that takes that module.

Under :class:`SystemClock` a simulator behaves like a server. Under
:class:`VirtualClock` nothing sleeps: :meth:`VirtualClock.advance` jumps from one due
event to the next, so a virtual hour takes as long as its events do.

Redis: ``ustime()``, ``mstime()`` in server.c.
"""

from __future__ import annotations

import time as _time
import weakref
from dataclasses import dataclass
from typing import NoReturn, Protocol

US_PER_MS = 1_000
NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_SECOND = 1_000_000_000
# Redis keeps time in µs in a signed 64-bit integer. No clock here goes further.
MAX_US = 2**63 - 1
MAX_MS = MAX_US // US_PER_MS

# 2014-02-01 14:00:00 CST, an arbitrary instant for virtual time to begin at.
DEFAULT_START_MS = 1_391_234_400_000


class Clock:
    """What the simulator asks of time. Subclasses supply :meth:`us` and :meth:`sleep`."""

    #: True when time moves only by :meth:`VirtualClock.advance`.
    virtual = False

    #: Until this instant in µs nothing but the source of events that now has its turn is to
    #: do anything: :class:`VirtualClock` is being moved at least so far.
    quiet_until_us = 0

    def us(self) -> int:
        """Unix time in whole microseconds. Redis: ``ustime()``."""
        raise NotImplementedError

    def ms(self) -> int:
        """Unix time in whole milliseconds. Redis: ``mstime()``."""
        return self.us() // US_PER_MS

    def time(self) -> float:
        """Unix time in seconds, like ``time.time()``."""
        return self.us() / 1_000_000

    def sleep(self, seconds: float) -> None:
        """Wait *seconds*, like ``time.sleep()``; ``ValueError`` if negative."""
        raise NotImplementedError

    def spend_ns(self, ns: int) -> None:
        """Let work that costs *ns* nanoseconds pass. A real clock moves by itself."""


class SystemClock(Clock):
    """The machine's own clock."""

    def us(self) -> int:
        return _time.time_ns() // NS_PER_US

    def sleep(self, seconds: float) -> None:
        _check_duration("sleep", seconds, "seconds")
        _time.sleep(seconds)


class EventSource(Protocol):
    """What a :class:`VirtualClock` drives: something with events due at known instants."""

    def next_event_us(self) -> int | None:
        """The instant of the earliest event in µs, or None when nothing is planned."""

    def process_due_events(self) -> None:
        """Run what is due now; it may plan new events."""


class VirtualClock(Clock):
    """A clock that stands still until told to move.

    *start_ms* is the Unix time in ms to begin at. Servers that share one clock are
    driven together, each event at its own instant and in order; events due at the same
    instant run in the order in which the servers were attached. Time never goes back.

    Inside, time is kept in nanoseconds, because the cost of one bucket visit is a few
    of them; what a reader sees are whole microseconds.
    """

    virtual = True

    def __init__(self, start_ms: int = DEFAULT_START_MS) -> None:
        _check_instant("start_ms", start_ms, "ms", MAX_MS)
        self._ns = start_ms * NS_PER_MS
        self._sources: list[weakref.ref[EventSource]] = []

    def us(self) -> int:
        return self._ns // NS_PER_US

    def spend_ns(self, ns: int) -> None:
        """Let *ns* nanoseconds of work pass without running events."""
        self._ns += ns

    def attach(self, source: EventSource) -> None:
        """Drive *source* from now on. It is held weakly."""
        self._sources.append(weakref.ref(source))

    def detach(self, source: EventSource) -> None:
        """Drive *source* no longer."""
        self._sources = [ref for ref in self._sources if ref() not in (None, source)]

    def advance(self, ms: float) -> None:
        """Move *ms* milliseconds ahead, running each due event at its own instant.

        An event whose work costs virtual time may end after the target; then the clock
        stands at that later instant. ``ValueError`` if *ms* is negative, not finite, or leads
        beyond what 64 bits hold.
        """
        _check_duration("advance", ms, "milliseconds")
        self._advance_to_ns(self._ns + round(ms * NS_PER_MS))

    def advance_to(self, ms: int) -> None:
        """Move to the Unix time *ms*. ``ValueError`` if that lies in the past.

        ``TypeError`` if it is no int: an instant is a whole number.
        """
        _check_instant("advance_to()'s instant", ms, "ms", MAX_MS)
        if ms * NS_PER_MS < self._ns:
            raise ValueError(f"virtual time never goes back: now {self.ms()} ms, asked for {ms} ms")
        self._advance_to_ns(ms * NS_PER_MS)

    def advance_to_us(self, us: int) -> None:
        """Move to the Unix time *us* in µs; errors as for :meth:`advance_to`."""
        _check_instant("advance_to_us()'s instant", us, "µs", MAX_US)
        if us < self.us():
            raise ValueError(f"virtual time never goes back: now {self.us()} µs, asked for {us} µs")
        self._advance_to_ns(us * NS_PER_US)

    def sleep(self, seconds: float) -> None:
        """Advance by *seconds*; wakes at the exact instant or after the event then running."""
        _check_duration("sleep", seconds, "seconds")
        self._advance_to_ns(self._ns + round(seconds * NS_PER_SECOND))

    def drives_others(self, source: EventSource) -> bool:
        """Whether anything but *source* may have events. O(sources)."""
        return any(ref() not in (None, source) for ref in self._sources)

    def next_event_us(self) -> int | None:
        """The instant of the earliest event of any attached source in µs, or None."""
        found = self._earliest()
        return None if found is None else found[0]

    def _earliest(self) -> tuple[int, EventSource] | None:
        best: tuple[int, EventSource] | None = None
        dead = False
        for ref in self._sources:
            source = ref()
            if source is None:
                dead = True
                continue
            due = source.next_event_us()
            if due is not None and (best is None or due < best[0]):
                best = (due, source)
        if dead:
            self._sources = [ref for ref in self._sources if ref() is not None]
        return best

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a VirtualClock cannot be copied or pickled: servers run on the one they were given"
        )

    def _advance_to_ns(self, target: int) -> None:
        if target > MAX_US * NS_PER_US:
            raise ValueError(f"time ends at {MAX_MS} ms, where 64 bits of µs are full")
        while (found := self._earliest()) is not None and found[0] * NS_PER_US <= target:
            due, source = found
            self._ns = max(self._ns, due * NS_PER_US)
            self.quiet_until_us = target // NS_PER_US if len(self._sources) == 1 else 0
            try:
                source.process_due_events()
            finally:
                self.quiet_until_us = 0
        self._ns = max(self._ns, target)

    def ns(self) -> int:
        """Unix time in nanoseconds, as it is kept inside."""
        return self._ns

    def pass_to_ns(self, ns: int) -> None:
        """Stand at *ns*, for a source that has worked out by itself what happened until then."""
        assert ns >= self._ns
        self._ns = ns

    def __repr__(self) -> str:
        return f"VirtualClock(start_ms={self.ms()})"


class SkewedClock(Clock):
    """Another clock seen with a constant error, like a client machine's.

    *offset_ms* is added to every reading; sleeping is the base clock's. ``TypeError`` for a
    base that is no clock, ``ValueError`` for an offset that is not finite.
    """

    def __init__(self, base: Clock, offset_ms: float) -> None:
        if not isinstance(base, Clock):
            raise TypeError(f"a SkewedClock needs another clock to be seen by, not {base!r}")
        if isinstance(offset_ms, bool) or not isinstance(offset_ms, (int, float)):
            raise TypeError(f"offset_ms must be a number of milliseconds, not {offset_ms!r}")
        if not -MAX_MS <= offset_ms <= MAX_MS:
            raise ValueError(f"offset_ms must lie within {MAX_MS} ms, got {offset_ms!r}")
        self.base = base
        self.offset_us = round(offset_ms * US_PER_MS)
        self.virtual = base.virtual

    def us(self) -> int:
        return self.base.us() + self.offset_us

    def sleep(self, seconds: float) -> None:
        self.base.sleep(seconds)


@dataclass(frozen=True)
class CostModel:
    """What work costs in virtual time, in whole nanoseconds.

    The time limit of the active expire cycle means nothing when work is free. The
    defaults are calibrated against redis-server 7.0.15; see docs/calibration.md.

    Why deleting a key has several prices. The entries, keys and values that a deletion
    touches lie scattered in memory. While they fit into the processor's caches, a deletion
    costs ``deleted_ns``; what does not fit must be fetched from memory, for ``missed_ns``
    more, and for ``cold_ns`` beyond that while the processor warms up after a sleep. A
    keyspace is taken to fit up to ``cached_buckets`` buckets of the main table; of one n
    times as large, 1/n is found in the caches.

    With the defaults a deletion costs 290 ns among 10,000 keys (16,384 buckets, all
    cached); among 100,000 (131,072 buckets, 3/8 of them cached) 290 + 5/8 * 400 = 540 ns,
    and 815 after a sleep; among 1,000,000 671 and 1,090 ns.
    """

    clock_read_ns: int = 40  # one reading of the wall clock
    window_ns: int = 150  # entering one window of the cycle: reading counters, averages
    bucket_ns: int = 5  # visiting one bucket of the expires table
    sampled_ns: int = 45  # looking at one entry of a chain
    deleted_ns: int = 290  # deleting one key from both dicts and freeing it
    rehash_entry_ns: int = 300  # moving one entry in a rehash, which hashes its key anew
    rehash_empty_ns: int = 3  # passing over one bucket in it
    missed_ns: int = 400  # what a deletion costs more when the key is in no cache
    cold_ns: int = 440  # and beyond that just after a sleep
    cached_buckets: int = 49_152  # of the main table, whose keys the caches hold; not a time

    def deletion_ns(self, buckets: int, cold: bool = False) -> int:
        """The cost in ns of deleting one key of a database of so many *buckets*.

        *cold* says that the server has just slept.
        """
        if buckets <= self.cached_buckets:
            return self.deleted_ns
        missed_ns = self.missed_ns + (self.cold_ns if cold else 0)
        return self.deleted_ns + missed_ns * (buckets - self.cached_buckets) // buckets

    def rehash_ns(self, passed: int, moved: int) -> int:
        """The cost in ns of passing over buckets and moving entries in a rehash."""
        return passed * self.rehash_empty_ns + moved * self.rehash_entry_ns

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"CostModel.{name} must be a whole number, not {value!r}")
            if value < 0:
                raise ValueError(f"CostModel.{name} must not be negative, got {value}")


#: Work that takes no time: for tests in step with a server whose clock is frozen.
FREE = CostModel(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def _check_duration(method: str, value: object, unit: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{method}() takes a number of {unit}, not {value!r}")
    if not 0 <= value < float("inf"):
        raise ValueError(f"{method}() takes a finite number of {unit}, 0 or more, got {value!r}")
    if value > MAX_MS:
        raise ValueError(f"{method}() got more {unit} than there are: time ends at {MAX_MS} ms")


def _check_instant(what: str, value: object, unit: str, highest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int (Unix time in {unit}), not {value!r}")
    if not 0 <= value <= highest:
        got = value if value.bit_length() <= 64 else "a larger number"
        raise ValueError(f"{what} must not be negative or beyond {highest} {unit}, got {got}")
