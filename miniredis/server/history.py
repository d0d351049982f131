"""Recording what happens to each key, for ``Server.history(key)``.

How it works. A :class:`HistoryRecorder` is a probe. Most of what it wants to know the
simulator says by keyspace events (``new``, ``set``, ``del``, ``rename_to``, ...); what no
event tells, a TTL taken away or a database emptied, the other methods of ``Probe`` do.
Who did it is whoever is at work at that instant: the server's current client and its
command, or the cycle that has announced itself.

A worked example: ``SET a v PX 100`` over a key with a TTL. Redis overwrites the value,
removes the old TTL, fires ``set``, sets the new TTL. Recorded are TTL removed, changed,
TTL set, all three by the same :class:`~miniredis.server.life.ByCommand`. On a new key
``new`` comes first: written; the ``set`` of the same command adds nothing and is left out.

Its limits. ``max_events`` are kept in all and ``events_per_key`` of one key; the oldest of
a key make room for its new ones, and when the sum is reached the key that was quiet for
the longest is forgotten. An event takes about 300 bytes with the command that caused it
(see ``tests/server/test_history.py``), so 100,000 take some 30 MB at most. What happened
before the recording began is not known. While it is on, a SET with a time to live, which
makes three events of which two are kept, takes about twice as long; a GET as long as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miniredis.commands.client_flags import CLIENT_MASTER
from miniredis.keyspace.db import BY_ACCESS
from miniredis.probe import Probe
from miniredis.server.life import (
    By,
    ByCommand,
    ByCycle,
    ByServer,
    History,
    LifeEvent,
    What,
)
from miniredis.structs.glob import matcher

if TYPE_CHECKING:
    from miniredis.keyspace.expire import CycleReport
    from miniredis.server.server import Server

WORDS = 8  # of a command that are kept ...
WORD_BYTES = 32  # ... and of each of them

# Keyspace events that change nothing, or that another method tells in more detail.
_NOT_TOLD = frozenset({b"keymiss", b"expired", b"expire", b"persist"})


class Record:
    """What is known of one name. ``held`` is None until something tells."""

    __slots__ = ("born_by", "dropped", "events", "held", "when_ms")

    def __init__(self) -> None:
        self.events: list[LifeEvent] = []  # a deque of few would take more memory
        self.dropped = 0
        self.held: bool | None = None
        self.when_ms: int | None = None
        self.born_by: By | None = None


class HistoryRecorder(Probe):
    """The histories of one server's keys.

    *match* is a pattern as KEYS takes it; None for all keys. ``ValueError`` for limits
    below 1.
    """

    def __init__(
        self,
        server: Server,
        max_events: int,
        events_per_key: int,
        match: bytes | None = None,
    ) -> None:
        for name, limit in (("max_events", max_events), ("events_per_key", events_per_key)):
            if isinstance(limit, bool) or not isinstance(limit, int):
                raise TypeError(f"{name} must be a whole number, not {limit!r}")
            if limit < 1:
                raise ValueError(f"{name} must be at least 1, got {limit}")
        self.server = server
        self.clock = server.clock
        self.max_events = max_events
        self.events_per_key = min(events_per_key, max_events)
        self.match = None if match is None else matcher(match)
        self.records: dict[tuple[int, bytes], Record] = {}  # the longest quiet one first
        self.count = 0  # events in all records
        self.cycle: CycleReport | None = None  # the one that is running
        self._last_at: tuple[int, bytes] | None = None  # of the newest record
        self._last: Record | None = None
        self._by: By = ByServer()
        self._by_what: tuple[object, int] = (None, 0)  # what _by was made for
        self._leaving: tuple[int, bytes, Record | None] | None = None

    def history(self, dbid: int, key: bytes, now_us: int) -> History:
        """What is known of *key*; looks at the key without touching it. O(its events)"""
        held = key in self.server.databases[dbid].dict.index
        record = self.records.get((dbid, key))
        if record is None:
            return History(key, dbid, (), held, now_us)
        return History(key, dbid, tuple(record.events), held, now_us, record.dropped)

    # -- who is at work -------------------------------------------------------------------

    def by(self) -> By:
        """The command that is running, as one object as long as it runs."""
        server = self.server
        c = server.current_client
        if c is None:
            return ByServer()
        # The same list twice may be the same command sent twice: the count tells.
        if self._by_what[0] is not c.argv or self._by_what[1] != server.stat_numcommands:
            self._by_what = (c.argv, server.stat_numcommands)
            words = c.redacted(c.argv)[:WORDS]
            self._by = ByCommand(
                tuple([w if len(w) <= WORD_BYTES else w[:WORD_BYTES] for w in words]),
                c.id,
                c.name,
                bool(c.flags & CLIENT_MASTER),
            )
        return self._by

    def by_cycle(self, type: str) -> ByCycle:
        """The window that is being worked on."""
        cycle = self.cycle
        if cycle is None:
            return ByCycle(type, 0, 0)
        by = ByCycle(type, cycle.number, cycle.iterations)
        if by == self._by:  # the same object for all keys of a window
            assert isinstance(self._by, ByCycle)
            return self._by
        self._by, self._by_what = by, (cycle, 0)
        return by

    # -- keeping --------------------------------------------------------------------------

    def record(self, dbid: int, key: bytes) -> Record | None:
        """The record of a key to which something happens; None if it does not match."""
        if self.match is not None and not self.match(key):
            return None
        at = (dbid, key)
        if at == self._last_at:  # the last one already
            return self._last
        record = self.records.pop(at, None) or Record()
        self.records[at] = record
        self._last_at, self._last = at, record
        return record

    def note(
        self,
        record: Record,
        what: What,
        by: By,
        when_ms: int | None = None,
        event: bytes = b"",
        other: tuple[int, bytes] | None = None,
    ) -> None:
        """Append one event, and make room for it."""
        events = record.events
        events.append(LifeEvent(what, self.clock.us(), by, when_ms, event, other))
        if len(events) > self.events_per_key:
            del events[0]
            record.dropped += 1
            return
        self.count += 1
        while self.count > self.max_events:
            oldest = next(iter(self.records))
            self.count -= len(self.records.pop(oldest).events)

    def born(self, record: Record, what: What, by: By, **told: Any) -> None:
        """A key appears under a name; one that had it before has gone."""
        if record.held:
            self.note(record, What.REPLACED, by)
        record.held, record.when_ms, record.born_by = True, None, by
        self.note(record, what, by, **told)

    def ended(self, record: Record, what: What, by: By, **told: Any) -> None:
        """A key leaves memory."""
        record.held, record.when_ms = False, None
        self.note(record, what, by, **told)

    # -- what the simulator tells ---------------------------------------------------------

    def keyspace_event(self, event: bytes, key: bytes, dbid: int) -> None:
        if event in _NOT_TOLD:
            return
        record = self.record(dbid, key)
        if event == b"rename_from" or event == b"move_from":
            self._leaving = (dbid, key, record)
            if record is not None:
                self.ended(record, What.LEFT, self.by(), event=event)
        elif event == b"rename_to" or event == b"move_to":
            self._arrived(dbid, key, record, event)
        elif record is None:
            return
        elif event == b"new":
            self.born(record, What.WRITTEN, self.by())
        elif event == b"del" or event == b"evicted":
            self.ended(record, What.DELETED, self.by(), event=event)
        else:
            by = self.by()
            if record.born_by is not by:
                record.held = True
                self.note(record, What.CHANGED, by, event=event)

    def _arrived(self, dbid: int, key: bytes, record: Record | None, event: bytes) -> None:
        """Second half of RENAME or MOVE: let each side know the other.

        The key was ``new`` under its name a moment ago; that was this arrival.
        """
        assert self._leaving is not None, f"{event!r} without a key that left"
        from_db, from_key, left = self._leaving
        self._leaving = None
        if left is not None and left.events and left.events[-1].what is What.LEFT:
            left.events[-1] = left.events[-1]._replace(other=(dbid, key))
        if record is None:
            return
        for i in reversed(range(len(record.events))):
            if record.events[i].what is What.WRITTEN:
                record.events[i] = record.events[i]._replace(
                    what=What.ARRIVED, event=event, other=(from_db, from_key)
                )
                return

    def expire_set(self, dbid: int, key: bytes, when_ms: int) -> None:
        record = self.record(dbid, key)
        if record is not None:
            record.held, record.when_ms = True, when_ms
            self.note(record, What.TTL_SET, self.by(), when_ms)

    def expire_removed(self, dbid: int, key: bytes) -> None:
        record = self.record(dbid, key)
        if record is not None:
            record.held, record.when_ms = True, None
            self.note(record, What.TTL_REMOVED, self.by())

    def key_expired(self, dbid: int, key: bytes, when_ms: int, now_ms: int, by: str) -> None:
        record = self.record(dbid, key)
        if record is not None:
            who = self.by() if by == BY_ACCESS else self.by_cycle(by)
            self.ended(record, What.EXPIRED, who, when_ms=when_ms, event=b"expired")

    def expire_cycle_started(self, report: Any) -> None:
        self.cycle = report

    def expire_cycle(self, report: Any) -> None:
        self.cycle = None

    def idle_crons(self, first_us: int, last_us: int, runs: int, cycle_us: int) -> None:
        """Nothing happened to any key."""

    def emptied(self, dbid: int) -> None:
        by = self.by()
        for (db, _), record in list(self.records.items()):
            if db == dbid and record.held:
                self.ended(record, What.DELETED, by)

    def key_loaded(self, dbid: int, key: bytes) -> None:
        record = self.record(dbid, key)
        if record is None:
            return
        by = self.by()
        last = record.events[-1] if record.events else None
        if last is not None and last.what is What.DELETED and last.by is by:
            # Emptying and loading are one command: the key was never away.
            record.events.pop()
            self.count -= 1
        record.held, record.when_ms, record.born_by = True, None, by
        self.note(record, What.LOADED, by)

    def swapped(self, dbid1: int, dbid2: int) -> None:
        by = self.by()
        held = [(at, r, r.when_ms) for at, r in self.records.items() if r.held]
        moves = [m for m in held if m[0][0] in (dbid1, dbid2)]
        for (db, key), record, _ in moves:
            to = dbid2 if db == dbid1 else dbid1
            self.ended(record, What.LEFT, by, other=(to, key))
        for (db, key), _, when_ms in moves:
            arrived = self.record(dbid2 if db == dbid1 else dbid1, key)
            assert arrived is not None
            self.born(arrived, What.ARRIVED, by, other=(db, key))
            if when_ms is not None:
                arrived.when_ms = when_ms
                self.note(arrived, What.TTL_SET, by, when_ms)
