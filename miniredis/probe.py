"""Internal events, for those who want to watch.

A :class:`Probe` has one method per event, each doing nothing. The simulator calls them at
changes of state, with values that exist anyway; ``lab/recorder.py`` keeps what it is told.
Hot paths skip the call when the probe is :data:`SILENT`. The docstrings below are the
catalogue of events.

A probe only listens: it must not run commands on the server that calls it.
"""

from __future__ import annotations

from typing import Any


class Probe:
    """Listens to nothing. Subclass it and override what you want to hear."""

    def command(self, client: Any, argv: list[bytes], reply: Any, duration_us: int) -> None:
        """A command ran to its end. server.c: call()"""

    def key_expired(self, dbid: int, key: bytes, when_ms: int, now_ms: int, by: str) -> None:
        """A key past its time *when_ms* was deleted at *now_ms*.

        *by* is ``lazy`` (a command found it), ``slow`` or ``fast`` (the active cycle).
        db.c: deleteExpiredKeyAndPropagate()
        """

    def expire_set(self, dbid: int, key: bytes, when_ms: int) -> None:
        """A key got the absolute time to live *when_ms*. db.c: setExpire()"""

    def rehash_started(self, dbid: int, table: str, old_size: int, new_size: int) -> None:
        """A table (``dict`` or ``expires``) began to move to a new size, in buckets."""

    def expire_cycle(self, report: Any) -> None:
        """An active expire cycle ended; *report* is a ``CycleReport``. expire.c"""

    def keyspace_event(self, event: bytes, key: bytes, dbid: int) -> None:
        """Something happened to a key, whether or not events are published. notify.c"""

    def propagated(self, dbid: int, argv: list[bytes]) -> None:
        """A command went to the replication stream. server.c: propagateNow()"""

    def cron(self, now_ms: int, hz: int) -> None:
        """One run of the cron ended. server.c: serverCron()"""


#: The null object: nobody listens.
SILENT = Probe()
