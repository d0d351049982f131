"""Internal events, for those who want to watch.

A :class:`Probe` has one method per event, each doing nothing. The simulator calls them at
changes of state, with values that exist anyway; ``lab/recorder.py`` keeps what it is told.
Hot paths skip the call when the probe is :data:`SILENT`. The docstrings below are the
catalogue of events.

A probe only listens: it must not run commands on the server that calls it. It hears what
its class overrides; a method put on the instance after it was given to a server does not
count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

    def expire_removed(self, dbid: int, key: bytes) -> None:
        """A key that stays lost its time to live. db.c: removeExpire()"""

    def key_loaded(self, dbid: int, key: bytes) -> None:
        """A key came back from a saved data set. rdb.c: rdbLoadRioWithLoadingCtx()"""

    def emptied(self, dbid: int) -> None:
        """All keys of a database are about to go at once. db.c: emptyData()"""

    def swapped(self, dbid1: int, dbid2: int) -> None:
        """Two databases have exchanged their contents. db.c: dbSwapDatabases()"""

    def rehash_started(self, dbid: int, table: str, old_size: int, new_size: int) -> None:
        """A table (``dict`` or ``expires``) began to move to a new size, in buckets."""

    def expire_cycle_started(self, report: Any) -> None:
        """An active expire cycle began; *report*, a ``CycleReport``, grows as it goes on."""

    def expire_cycle(self, report: Any) -> None:
        """An active expire cycle ended; *report* is a ``CycleReport``. expire.c"""

    def keyspace_event(self, event: bytes, key: bytes, dbid: int) -> None:
        """Something happened to a key, whether or not events are published. notify.c"""

    def propagated(self, dbid: int, argv: list[bytes]) -> None:
        """A command went to the replication stream. server.c: propagateNow()"""

    def cron(self, now_ms: int, hz: int) -> None:
        """One run of the cron ended. server.c: serverCron()"""

    def idle_crons(self, first_us: int, last_us: int, runs: int, cycle_us: int) -> None:
        """So many runs of the cron were passed over, each with a slow cycle that deleted
        nothing; the first began at *first_us*, the last at *last_us* (Unix µs), and their
        cycles took *cycle_us* together.

        That happens only while virtual time moves far, and if whoever hears ``cron``,
        ``expire_cycle`` or ``expire_cycle_started`` hears this too. See ``server/idle.py``.
        """


#: The names of all events.
EVENTS = tuple(name for name in vars(Probe) if not name.startswith("_"))

#: The null object: nobody listens.
SILENT = Probe()


def hears(probe: Probe, event: str) -> bool:
    """Whether *probe* does anything when *event*, one of EVENTS, happens."""
    return event in vars(probe) or getattr(type(probe), event) is not getattr(Probe, event)


class ProbeGroup(Probe):
    """Several probes that hear the same server, one after the other.

    Nested groups are dissolved, a probe named twice hears each event once.
    """

    def __init__(self, probes: Iterable[Probe]) -> None:
        self.probes = tuple(dict.fromkeys(member for p in probes for member in members(p)))
        for event in EVENTS:
            calls = [getattr(p, event) for p in self.probes if hears(p, event)]
            if calls:
                setattr(self, event, calls[0] if len(calls) == 1 else _in_turn(calls))


def members(probe: Probe) -> tuple[Probe, ...]:
    """The probes that *probe* stands for: none, itself, or those of a group."""
    if isinstance(probe, ProbeGroup):
        return probe.probes
    return () if probe is SILENT else (probe,)


def together(*probes: Probe) -> Probe:
    """One probe for several: SILENT for none, the probe itself for one, else a group."""
    group = ProbeGroup(probes)
    if len(group.probes) > 1:
        return group
    return group.probes[0] if group.probes else SILENT


def _in_turn(calls: list[Callable[..., None]]) -> Callable[..., None]:
    def call_all(*args: Any) -> None:
        for call in calls:
            call(*args)

    return call_all
