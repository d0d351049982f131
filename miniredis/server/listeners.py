"""Who hears what the server does inside: probes, and the record of each key's life.

:class:`Listeners` is the part of ``Server`` that experiments and lessons talk to. What a
probe may hear is in ``probe.py``, the record in ``server/history.py``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from miniredis.clock import Clock
from miniredis.keyspace.db import RedisDb
from miniredis.probe import SILENT, Probe, members, together

if TYPE_CHECKING:
    from miniredis.server.history import HistoryRecorder
    from miniredis.server.life import History
    from miniredis.server.server import Server

# Of what is recorded of keys' lives, unless other limits are asked for.
MAX_EVENTS = 100_000  # of all keys
EVENTS_PER_KEY = 100


class Listeners:
    """Base of ``Server``; the attributes below without a value are its."""

    clock: Clock
    databases: list[RedisDb]
    lock: threading.RLock
    stat_numcommands: int
    _probe: Probe = SILENT  # all of them together
    _more_probes: tuple[Probe, ...] = ()  # those that came by add_probe()
    _history: HistoryRecorder | None = None

    def update_listeners(self) -> None:
        """Note who listens to what."""
        raise NotImplementedError

    def _check_db(self, db: int) -> None:
        raise NotImplementedError

    @property
    def probe(self) -> Probe:
        """Who hears internal events; :data:`SILENT` if nobody. May be set at any time.

        Setting it leaves those that :meth:`add_probe` added; with them, what is read is a
        ``ProbeGroup`` of all.
        """
        return self._probe

    @probe.setter
    def probe(self, probe: Probe) -> None:
        self._probe = together(_checked(probe), *self._more_probes)
        self.update_listeners()

    def add_probe(self, probe: Probe) -> None:
        """Let *probe* hear internal events too, beside whoever does. Twice is once."""
        with self.lock:
            self._more_probes = members(together(*self._more_probes, _checked(probe)))
            self.probe = self._probe

    def remove_probe(self, probe: Probe) -> None:
        """Let *probe* hear nothing any more. Harmless if it did not."""
        gone = members(_checked(probe))
        with self.lock:
            self._more_probes = tuple(p for p in self._more_probes if p not in gone)
            self.probe = together(*(p for p in members(self._probe) if p not in gone))

    def record_history(
        self,
        on: bool = True,
        *,
        max_events: int = MAX_EVENTS,
        events_per_key: int = EVENTS_PER_KEY,
        match: bytes | str | None = None,
    ) -> None:
        """Begin to record what happens to each key, with an empty record; or stop.

        *max_events* are kept of all keys together and *events_per_key* of one; an event
        takes about 300 bytes. *match* is a pattern as KEYS takes it. After
        ``record_history(False)`` what was recorded can still be read.

        Raises ``ValueError`` for limits below 1.
        """
        from miniredis.server.history import HistoryRecorder  # few programs look

        with self.lock:
            if self._history is not None:
                self.remove_probe(self._history)
            if on:
                pattern = match.encode() if isinstance(match, str) else match
                self._history = HistoryRecorder(
                    cast("Server", self), max_events, events_per_key, pattern
                )
                self.add_probe(self._history)

    def history(self, key: bytes | str, db: int = 0) -> History:
        """What has happened to *key* since recording began; ``str()`` of it is readable.

        Looking changes nothing: a dead key stays, no access is noted.

        Raises ``RuntimeError`` if no history was recorded, ``ValueError`` for a database
        that does not exist.
        """
        with self.lock:
            if self._history is None:
                raise RuntimeError(
                    "no history is recorded: create the server with record_history=True, "
                    "or call server.record_history() before anything happens"
                )
            name = key.encode() if isinstance(key, str) else key
            if not isinstance(name, bytes):
                raise TypeError(f"a key is bytes or str, not {key!r}")
            self._check_db(db)
            return self._history.history(db, name, self.clock.us())


def _checked(probe: Probe) -> Probe:
    if not isinstance(probe, Probe):
        raise TypeError(f"probe must be a miniredis.Probe, not {probe!r}")
    return probe
