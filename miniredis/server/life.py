"""A key's life in words: what happened to it, when, and by whom.

``Server.history(key)`` returns a :class:`History`. ``server/history.py`` records what it
is made of; here it is only held and read. ``str()`` of it is meant for people.

Times are Unix µs or ms as the names say. A key whose time is *when* is dead from
``when + 1`` ms on, because Redis compares ``now > when``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, NamedTuple

US_PER_MS = 1000
MS_PER_SECOND = 1000
_TIME_WIDTH = 11  # of the column of times in the text
_WHAT_WIDTH = 12


class What(Enum):
    """What can happen to a key; the value is the word in the text."""

    WRITTEN = "written"  # it was not there before
    CHANGED = "changed"  # another value, or the same one changed in place
    TTL_SET = "TTL set"
    TTL_REMOVED = "TTL removed"
    ARRIVED = "arrived"  # from another name or another database
    LOADED = "loaded"  # saved and loaded again
    LEFT = "left"  # to another name or another database
    REPLACED = "replaced"  # deleted because another key took its name
    DELETED = "deleted"  # while it was alive
    EXPIRED = "expired"  # deleted because its time had passed


ENDS = frozenset({What.LEFT, What.REPLACED, What.DELETED, What.EXPIRED})


class ByCommand(NamedTuple):
    """A command did it. ``words`` are its first ones, each cut to a few bytes."""

    words: tuple[bytes, ...]
    client_id: int
    client_name: bytes
    from_primary: bool = False  # it came over the replica link

    def __str__(self) -> str:
        words = " ".join(_shown(word) for word in self.words)
        if self.from_primary:
            return f"{words}, over the link to the primary"
        name = f' "{_shown(self.client_name)}"' if self.client_name else ""
        return f"{words}, client {self.client_id}{name}"


class ByCycle(NamedTuple):
    """An active expire cycle did it.

    ``type`` is ``slow`` or ``fast``; ``number`` counts all cycles that ran, from 1;
    ``loop`` counts the cycle's iterations, from 1: each is a window of one database, or a
    look at one that was left at once. 0 where the engine does not tell.
    """

    type: str
    number: int
    loop: int

    def __str__(self) -> str:
        number = f" {self.number}" if self.number else ""
        loop = f", loop {self.loop}" if self.loop else ""
        return f"{self.type} cycle{number}{loop}"


class ByServer(NamedTuple):
    """Neither a client nor the cycle: the server by itself."""

    def __str__(self) -> str:
        return "the server itself"


By = ByCommand | ByCycle | ByServer


class LifeEvent(NamedTuple):
    """One thing that happened. ``when_ms`` is the key's time after it (TTL_SET) or the
    one that had passed (EXPIRED); ``event`` the keyspace event, if there was one;
    ``other`` the database and name that the key came from or went to."""

    what: What
    at_us: int
    by: By
    when_ms: int | None = None
    event: bytes = b""
    other: tuple[int, bytes] | None = None

    @property
    def at_ms(self) -> int:
        """The instant in Unix ms."""
        return self.at_us // US_PER_MS


@dataclass(frozen=True, slots=True)
class Life:
    """From a key's coming to its going: the events of one life of a name.

    ``end`` is the event it ended with, None while the key is held in memory.
    """

    events: tuple[LifeEvent, ...]
    end: LifeEvent | None
    now_us: int  # when the history was asked for

    @property
    def start_us(self) -> int:
        """The instant of the first event that is known."""
        return self.events[0].at_us

    @property
    def when_ms(self) -> int | None:
        """The time to live that counted in the end, as Unix ms; None without one."""
        when = None
        for event in self.events:
            if event.what is What.TTL_SET:
                when = event.when_ms
            elif event.what is What.TTL_REMOVED:
                when = None
            elif event.what is What.EXPIRED and when is None:
                when = event.when_ms  # it was set before the recording began
        return when

    @property
    def dead_us(self) -> int | None:
        """When it died (t1): 1 ms after its time, or with its last TTL if that was past.

        None if it never did: it has no TTL, was deleted before, or is alive now.
        """
        when = self.when_ms
        if when is None:
            return None
        dead = max((when + 1) * US_PER_MS, self._last_ttl_us())
        last = self.now_us if self.end is None else self.end.at_us
        return dead if dead <= last else None

    @property
    def deleted_us(self) -> int | None:
        """When it was removed from memory (t2), None while it is held."""
        return None if self.end is None else self.end.at_us

    @property
    def lag_us(self) -> int | None:
        """For how long it was dead and held (t2 - t1), None if it never died."""
        dead = self.dead_us
        if dead is None:
            return None
        return (self.now_us if self.end is None else self.end.at_us) - dead

    def _last_ttl_us(self) -> int:
        set_at = [event.at_us for event in self.events if event.what is What.TTL_SET]
        return set_at[-1] if set_at else 0


@dataclass(frozen=True, slots=True)
class History:
    """All that is known of one name in one database, oldest first.

    ``dropped`` counts events that were known once and made room for later ones.
    """

    key: bytes
    dbid: int
    events: tuple[LifeEvent, ...]
    held: bool  # whether the key is in memory now, alive or dead
    now_us: int
    dropped: int = 0

    @property
    def lives(self) -> list[Life]:
        """The events cut into lives, each ending where the key left memory."""
        lives: list[Life] = []
        begun: list[LifeEvent] = []
        for event in self.events:
            begun.append(event)
            if event.what in ENDS:
                lives.append(Life(tuple(begun), event, self.now_us))
                begun = []
        if begun:
            lives.append(Life(tuple(begun), None, self.now_us))
        return lives

    def __iter__(self) -> Iterator[LifeEvent]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def as_dict(self) -> dict[str, Any]:
        """The same for programs, JSON-ready; keys as text, times in ms."""
        return {
            "key": _shown(self.key),
            "db": self.dbid,
            "held": self.held,
            "dropped": self.dropped,
            "lives": [
                {
                    "events": [_event_as_dict(event) for event in life.events],
                    "when_ms": life.when_ms,
                    "dead_ms": None if life.dead_us is None else life.dead_us / US_PER_MS,
                    "deleted_ms": None if life.deleted_us is None else life.deleted_us / US_PER_MS,
                    "by": None if life.end is None else str(life.end.by),
                }
                for life in self.lives
            ],
        }

    def _lines(self) -> Iterator[str]:
        title = f"{_shown(self.key)} (db {self.dbid})"
        if not self.events:
            yield f"{title}: nothing recorded"
            return
        zero = self.events[0].at_ms * US_PER_MS
        begin = datetime.fromtimestamp(zero // US_PER_MS / MS_PER_SECOND, UTC)
        yield f"{title}, times from {begin:%Y-%m-%d %H:%M:%S}.{zero // US_PER_MS % 1000:03} UTC"
        if self.dropped:
            yield f"  ({self.dropped} earlier events were not kept)"
        for life in self.lives:
            yield from self._life(life, zero)

    def _life(self, life: Life, zero: int) -> Iterator[str]:
        by: By | None = None
        for event in life.events:
            if event is life.end and life.dead_us is not None:
                yield _dead(life, zero)
            yield _line(event.at_us - zero, *_told(event, zero, event.by == by))
            by = event.by
        if life.end is not None:
            return
        if life.dead_us is not None:
            yield _dead(life, zero)
            yield _line(self.now_us - zero, "now", "dead, and still held in memory")
        else:
            yield _line(self.now_us - zero, "now", "alive")


def _dead(life: Life, zero: int) -> str:
    assert life.dead_us is not None and life.when_ms is not None
    why = "its time was over"
    if life.dead_us == life._last_ttl_us():
        why = "from the start: its time was over when it was set"
    return _line(life.dead_us - zero, "dead", why)


def _told(event: LifeEvent, zero: int, same: bool) -> tuple[str, str]:
    """What happened, and the rest of the line. *same*: by the one of the line before."""
    by = "same command" if same and isinstance(event.by, ByCommand) else str(event.by)
    what = event.what
    if what is What.TTL_SET:
        assert event.when_ms is not None
        if event.when_ms < event.at_ms:
            return what.value, f"to {event.when_ms}, which was past; {by}"
        left = event.when_ms * US_PER_MS - zero
        return what.value, f"dies after {_seconds(left)} (at {event.when_ms}); {by}"
    if what is What.CHANGED:
        if event.event == b"set":
            return "overwritten", by
        return what.value, f"{_shown(event.event)}; {by}"
    if what in (What.LEFT, What.ARRIVED) and event.other is not None:
        dbid, key = event.other
        where = "to" if what is What.LEFT else "from"
        return what.value, f"{where} {_shown(key)} (db {dbid}); {by}"
    if what is What.EXPIRED:
        assert event.when_ms is not None
        return "deleted", f"{event.at_ms - event.when_ms} ms after its time, by {by}"
    return what.value, by


def _line(us: int, what: str, rest: str) -> str:
    return f"{_seconds(us):>{_TIME_WIDTH}}  {what:{_WHAT_WIDTH}} {rest}"


def _seconds(us: int) -> str:
    """A span from the first event in s, to the ms, as Redis's own clock for TTLs ticks."""
    return f"{us // US_PER_MS / MS_PER_SECOND:+.3f} s"


def _shown(word: bytes) -> str:
    """Bytes as text; what is not UTF-8 or not printable stands escaped."""
    text = word.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _event_as_dict(event: LifeEvent) -> dict[str, Any]:
    told: dict[str, Any] = {"what": event.what.value, "at_us": event.at_us, "by": str(event.by)}
    if event.when_ms is not None:
        told["when_ms"] = event.when_ms
    if event.event:
        told["event"] = _shown(event.event)
    if event.other is not None:
        told["other"] = {"db": event.other[0], "key": _shown(event.other[1])}
    return told
