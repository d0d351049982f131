"""A probe that keeps what it hears, for experiments, plots and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from miniredis.keyspace.expire import CycleReport
from miniredis.probe import Probe


@dataclass(frozen=True, slots=True)
class Deletion:
    """An expired key's end. Times in Unix ms; *by* is ``lazy``, ``slow`` or ``fast``."""

    dbid: int
    key: bytes
    when_ms: int
    now_ms: int
    by: str

    @property
    def lag_ms(self) -> int:
        """How long the key was dead before it was deleted."""
        return self.now_ms - self.when_ms


class Recorder(Probe):
    """Keeps deletions of expired keys, cycles, keyspace events and propagated commands."""

    def __init__(self) -> None:
        self.deletions: list[Deletion] = []
        self.cycles: list[CycleReport] = []
        self.events: list[tuple[bytes, bytes, int]] = []
        self.stream: list[tuple[int, list[bytes]]] = []
        self.rehashes: list[tuple[int, str, int, int]] = []

    def key_expired(self, dbid: int, key: bytes, when_ms: int, now_ms: int, by: str) -> None:
        self.deletions.append(Deletion(dbid, key, when_ms, now_ms, by))

    def expire_cycle(self, report: Any) -> None:
        self.cycles.append(report)

    def keyspace_event(self, event: bytes, key: bytes, dbid: int) -> None:
        self.events.append((event, key, dbid))

    def propagated(self, dbid: int, argv: list[bytes]) -> None:
        self.stream.append((dbid, argv))

    def rehash_started(self, dbid: int, table: str, old_size: int, new_size: int) -> None:
        self.rehashes.append((dbid, table, old_size, new_size))


class IdleCrons(NamedTuple):
    """Runs of the cron that were passed over, from the first to the last. Times in µs."""

    first_us: int
    last_us: int
    runs: int
    cycle_us: int  # of all their cycles together


class ExpiryRecorder(Probe):
    """Only numbers, for runs with millions of keys: lags, and one row a cycle.

    ``deleted_ms`` and ``lags_ms`` have one element per deleted key, in order of deletion.
    Idle cycles that were passed over are in ``idle`` and not among ``cycles``.
    """

    def __init__(self) -> None:
        self.deleted_ms: list[int] = []
        self.lags_ms: list[int] = []
        self.cycles: list[CycleReport] = []
        self.idle: list[IdleCrons] = []

    @property
    def idle_runs(self) -> int:
        """Slow cycles that were passed over."""
        return sum(idle.runs for idle in self.idle)

    def idle_crons(self, first_us: int, last_us: int, runs: int, cycle_us: int) -> None:
        self.idle.append(IdleCrons(first_us, last_us, runs, cycle_us))

    def key_expired(self, dbid: int, key: bytes, when_ms: int, now_ms: int, by: str) -> None:
        self.deleted_ms.append(now_ms)
        self.lags_ms.append(now_ms - when_ms)

    def expire_cycle(self, report: Any) -> None:
        report.loops.clear()
        self.cycles.append(report)
