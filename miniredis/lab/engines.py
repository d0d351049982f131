"""The engines side by side: one mass expiry and one steady load under each.

:func:`compare_engines` makes the numbers of ``docs/engines.md`` and ``miniredis engines``.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from miniredis.clock import VirtualClock
from miniredis.keyspace.engines import ENGINES
from miniredis.lab.experiments import run_expiry
from miniredis.server.server import Server

MASS_KEYS = 20_000  # of the mass expiry
MASS_TTL_MS = 1_000
LOAD_PER_SECOND = 1_000  # new keys a second of the steady load, on 10,000 to 15,000 held
LOAD_TTL_MAX_MS = 20_000  # their times to live are uniform up to this
LOAD_SECONDS = 50
SETTLE_SECONDS = 25  # not measured, until as many keys die as are born
CRON_MS = 100

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class EngineRow:
    """What one engine did. Times in ms after the death of the keys; shares are fractions."""

    engine: str
    versions: str
    gone_99_ms: int | None
    gone_100_ms: int | None
    cycle_ms: float
    stale_share: float
    estimate: float

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


@dataclass(slots=True)
class SteadyLoad:
    """A load of new keys that live for a random time, and how many of those held are dead.

    *execute* runs a command, *advance* lets ms pass and *dbsize* counts the keys, on
    whatever server; so the same load runs on a real one too. *start_ms* is its time.
    """

    execute: Callable[[list[bytes]], object]
    advance: Callable[[int], object]
    dbsize: Callable[[], int]
    start_ms: int
    seed: int = 0

    def shares(self) -> Iterator[float]:
        """The true share of dead keys after each 100 ms, once the load has settled."""
        rng = random.Random(self.seed)
        now = self.start_ms
        deadlines: list[int] = []
        for batch in range(LOAD_SECONDS * 1000 // CRON_MS):
            for i in range(LOAD_PER_SECOND * CRON_MS // 1000):
                dies_at = now + rng.randrange(1, LOAD_TTL_MAX_MS)
                insort(deadlines, dies_at)
                key = b"key:%d:%d" % (batch, i)
                self.execute([b"SET", key, b"v"])
                self.execute([b"PEXPIREAT", key, b"%d" % dies_at])
            self.advance(CRON_MS)
            now += CRON_MS
            del deadlines[: bisect_left(deadlines, now)]  # now > when: dead
            held = self.dbsize()
            if batch * CRON_MS >= SETTLE_SECONDS * 1000:
                yield (held - len(deadlines)) / held


def mean(values: Sequence[float]) -> float:
    """Their mean."""
    return sum(values) / len(values)


def steady_shares(engine: str, seed: int = 0, **config: Any) -> tuple[float, float]:
    """The mean true share of dead keys under the steady load, and the mean of INFO's estimate."""
    clock = VirtualClock()
    server = Server(clock, seed=seed, expire_engine=engine, **config)
    c = server.create_client()
    load = SteadyLoad(
        lambda argv: server.process_command(c, argv),
        clock.advance,
        server.dbsize,
        clock.ms(),
        seed,
    )
    shares, estimates = [], []
    for share in load.shares():
        shares.append(share)
        estimates.append(server.stat_expired_stale_perc)
    return mean(shares), mean(estimates)


def compare_engines(
    engines: Sequence[str] = tuple(ENGINES), seed: int = 0, progress: Progress | None = None
) -> list[EngineRow]:
    """Both experiments under each engine. ``ValueError`` for an unknown engine.

    Takes about two seconds an engine.
    """
    rows = []
    for done, engine in enumerate(engines):
        if progress is not None:
            progress("engines", done, len(engines))
        result = run_expiry([MASS_TTL_MS] * MASS_KEYS, engine=engine, seed=seed)
        stale, estimate = steady_shares(engine, seed)
        first = result.first_death_ms
        gone = {share: ms if ms is None else ms - first for share, ms in result.gone_ms.items()}
        rows.append(
            EngineRow(
                engine,
                ENGINES[engine].versions,
                gone[0.99],
                gone[1.00],
                round(result.cycle_us / 1000, 1),
                stale,
                estimate,
            )
        )
    if progress is not None:
        progress("engines", len(engines), len(engines))
    return rows


def as_text(rows: Sequence[EngineRow]) -> str:
    """The comparison as a table of plain text."""
    lines = [
        "engine    99 % gone  100 % gone  cycle CPU  stale, true  estimate",
    ]
    for row in rows:
        gone = ["never" if ms is None else f"{ms} ms" for ms in (row.gone_99_ms, row.gone_100_ms)]
        lines.append(
            f"{row.engine:<8}  {gone[0]:>9}  {gone[1]:>10}  {row.cycle_ms:>6.1f} ms"
            f"  {100 * row.stale_share:>9.1f} %  {100 * row.estimate:>6.1f} %"
        )
    return "\n".join(lines)
