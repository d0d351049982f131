"""Other ways to expire, put under the same server: databases that time or hide the dead.

Redis's algorithm is left as it is. A strategy is a subclass of ``RedisDb`` that adds to
what happens when a time to live is set and when a key is looked up, and the active cycle
switched on or off as DEBUG SET-ACTIVE-EXPIRE does it. Commands, dicts, event loop and
clock are the server's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from miniredis.clock import US_PER_MS
from miniredis.keyspace.db import (
    EXPIRE_AVOID_DELETE_EXPIRED,
    EXPIRE_FORCE_DELETE_EXPIRED,
    RANDOM_KEY_MAX_TRIES,
    KeyspaceServer,
    RedisDb,
)
from miniredis.lab.strategy_costs import StrategyCosts
from miniredis.server.server import Server
from miniredis.structs.ae import AE_NOMORE, TimeEvent
from miniredis.structs.timer_heap import TimerHeap
from miniredis.structs.timing_wheel import LEVELS, SLOTS, TimingWheel

BY_TIMER = "timer"  # who deletes an expired key, for probes
PAUSED_RETRY_MS = 100  # timers that must not delete now try again so much later


class Timers(Protocol):
    """What :class:`TimerDb` asks of a heap or a wheel; instants in Unix ms."""

    steps: int

    def schedule(self, key: bytes, when: int) -> None: ...
    def cancel(self, key: bytes) -> bool: ...
    def next_wake(self) -> int | None: ...
    def pop_due(self, now: int) -> bytes | None: ...
    def clear(self) -> None: ...
    def __contains__(self, key: bytes) -> bool: ...
    def __len__(self) -> int: ...
    def _check(self) -> None: ...


@dataclass(slots=True)
class TimerWork:
    """What the timers of a server have cost. Filled by :class:`TimerDb`."""

    keeping_ns: int = 0  # setting, moving, cancelling, finding what is due
    wake_ups: int = 0
    longest_us: int = 0  # the longest time one firing took, deletions included


class TimerDb(RedisDb):
    """A database with a timer for every time to live, which deletes the key on the instant.

    A key is dead when ``now > when``, so its timer is set to the next millisecond,
    ``when + 1``, and the event loop has one time event, at the timers' next wake-up. A
    firing deletes all that is due before any command runs: commands never meet a
    dead key. There is no time limit; as many keys as die together are deleted together.

    On a replica and while clients are paused nothing is deleted, as in Redis's cycle.
    """

    __slots__ = ("_event", "_host", "costs", "step_ns", "timers", "work")

    def __init__(
        self,
        id: int,
        server: KeyspaceServer,
        timers: Timers,
        step_ns: int,
        costs: StrategyCosts,
        work: TimerWork,
    ) -> None:
        super().__init__(id, server)
        self._host = cast(Server, server)
        self.timers = timers
        self.step_ns = step_ns
        self.costs = costs
        self.work = work
        self._event: TimeEvent | None = None

    # -- what Redis does, and the timer with it ------------------------------------------

    def set_expire(self, key: bytes, when: int) -> None:
        super().set_expire(key, when)
        before = self.timers.steps
        self.timers.schedule(key, max(when + 1, 0))
        self._account(before)
        self._plan()

    set_expire_by_link = set_expire

    def remove_expire(self, key: bytes) -> bool:
        removed = super().remove_expire(key)
        if removed:
            self._cancel(key)
        return removed

    def delete(self, key: bytes) -> bool:
        removed = super().delete(key)
        if key in self.timers:
            self._cancel(key)
        return removed

    def empty(self) -> int:
        removed = super().empty()
        self.timers.clear()
        self._plan()
        return removed

    def swap(self, other: RedisDb) -> None:
        assert isinstance(other, TimerDb)
        super().swap(other)
        self.timers, other.timers = other.timers, self.timers
        self._plan()
        other._plan()

    # -- the timers --------------------------------------------------------------------

    def _cancel(self, key: bytes) -> None:
        before = self.timers.steps
        self.timers.cancel(key)
        self._account(before)
        self._plan()

    def _account(self, steps_before: int) -> int:
        """Note what one call of the timers cost, in ns, and return it."""
        ns = self.costs.timer_call_ns + (self.timers.steps - steps_before) * self.step_ns
        self.work.keeping_ns += ns
        return ns

    def _plan(self) -> None:
        """Let the event loop wake at the timers' next instant, and not at another."""
        wake = self.timers.next_wake()
        when_us = None if wake is None else wake * US_PER_MS
        if self._event is not None:
            if self._event.when_us == when_us:
                return
            self._host.el.delete_time_event(self._event)
            self._event = None
        if when_us is not None:
            self._event = self._host.el.create_time_event_at(when_us, self._fire)

    def _fire(self) -> int:
        """Delete every key that is due, also those that fall due meanwhile."""
        host = self._host
        clock = host.clock
        start_us = clock.us()
        self.work.wake_ups += 1
        clock.spend_ns(self.costs.wake_up_ns)
        if host.masterhost is not None or host.check_client_pause_timeout_and_return_if_paused():
            self._event = host.el.create_time_event(PAUSED_RETRY_MS, self._fire)
            return AE_NOMORE
        self._event = None
        while True:
            before = self.timers.steps
            key = self.timers.pop_due(host.now_ms())
            clock.spend_ns(self._account(before))
            if key is None:
                break
            self.delete_expired_key_and_propagate(key, BY_TIMER)
            clock.spend_ns(host.cost.deleted_ns)
        host.propagate_pending_commands()
        self.work.longest_us = max(self.work.longest_us, clock.us() - start_us)
        self._plan()
        return AE_NOMORE

    def _check(self) -> None:
        super()._check()
        self.timers._check()
        assert len(self.timers) == len(self.expires), "a timer for every time to live"
        assert all(key in self.timers for key in self.expires.index)
        assert (self._event is None) == (self.timers.next_wake() is None)


class PeriodicDb(RedisDb):
    """A database in which reading does not delete: the dead are left to the active cycle.

    To a reader a dead key is missing all the same, as on a replica. A command that writes
    clears it, as on a writable replica: it could not go on otherwise.
    """

    __slots__ = ()

    def expire_if_needed(self, key: bytes, flags: int = 0) -> bool:
        if not flags & EXPIRE_FORCE_DELETE_EXPIRED and not self._command_writes():
            flags |= EXPIRE_AVOID_DELETE_EXPIRED
        return super().expire_if_needed(key, flags)

    expire_found_if_needed = expire_if_needed

    def _command_writes(self) -> bool:
        client = cast(Server, self.server).current_client
        return client is not None and client.cmd is not None and "write" in client.cmd.flags

    def random_key(self) -> bytes | None:
        """A random living key; after 100 dead ones the last pick, as on a replica."""
        entry = None
        for _ in range(RANDOM_KEY_MAX_TRIES):
            entry = self.dict.get_fair_random_key()
            if entry is None or not self.expire_if_needed(entry.key):
                break
        return None if entry is None else entry.key


def heap_db(id: int, server: KeyspaceServer, costs: StrategyCosts, work: TimerWork) -> RedisDb:
    """A :class:`TimerDb` over a heap."""
    return TimerDb(id, server, TimerHeap[bytes](), costs.heap_step_ns, costs, work)


def wheel_db(id: int, server: KeyspaceServer, costs: StrategyCosts, work: TimerWork) -> RedisDb:
    """A :class:`TimerDb` over a timing wheel."""
    wheel = TimingWheel[bytes](server.now_ms())
    return TimerDb(id, server, wheel, costs.wheel_step_ns, costs, work)


def plain_db(id: int, server: KeyspaceServer, costs: StrategyCosts, work: TimerWork) -> RedisDb:
    """Redis's own database."""
    return RedisDb(id, server)


def periodic_db(id: int, server: KeyspaceServer, costs: StrategyCosts, work: TimerWork) -> RedisDb:
    """A :class:`PeriodicDb`."""
    return PeriodicDb(id, server)


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to expire. ``checks`` says whether commands must look whether a key has died."""

    name: str
    title: str
    database: Callable[[int, KeyspaceServer, StrategyCosts, TimerWork], RedisDb]
    cycle: bool  # whether the active cycle runs
    checks: bool = True
    entry_bytes: Callable[[StrategyCosts], int] = lambda costs: 0  # of one timer
    fixed_bytes: Callable[[StrategyCosts], int] = lambda costs: 0


STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            "heap",
            "timers: heap",
            heap_db,
            cycle=False,
            checks=False,
            entry_bytes=lambda costs: costs.heap_entry_bytes,
        ),
        Strategy(
            "wheel",
            "timers: wheel",
            wheel_db,
            cycle=False,
            checks=False,
            entry_bytes=lambda costs: costs.wheel_node_bytes,
            fixed_bytes=lambda costs: costs.wheel_slot_bytes * SLOTS * LEVELS,
        ),
        Strategy("lazy", "lazy only", plain_db, cycle=False),
        Strategy("periodic", "periodic only", periodic_db, cycle=True),
        Strategy("redis", "Redis: both", plain_db, cycle=True),
    )
}
