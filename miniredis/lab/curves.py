"""Decay curves: what was measured on a real server, laid beside what is simulated.

The measured numbers (``data/``) come from redis-server 7.0.15: N keys with one common
time to live, never touched again, while a client polls DBSIZE and INFO. For each setting
some runs, mostly three, give the times after which the client had seen 50, 90, 99 and
100 % of the keys gone.

What "agrees" means. On a real server the first cron after the keys' death comes at an
instant that nobody controls, anywhere within 1000/hz ms. So a setting is simulated for
several such phases, spread evenly, and the median of each time is judged: it must lie
within the spread of the measured runs widened by 20 %, from 0.8 times the shortest to
1.2 times the longest. Where a setting was measured only once, that run had one unknown
phase; then it is enough that some simulated phase lies in the widened spread.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from statistics import median_low
from typing import Any

from miniredis.clock import CostModel
from miniredis.lab.experiments import SHARES, ExpiryResult, Progress, run_expiry

TOLERANCE = 0.20  # of the spread of the measured runs
FIRST_CRON_MS = 1  # after a server's start
TTL_MS = 1000  # of all keys in a simulated run
PHASES = 3  # simulated runs of a setting


@dataclass(frozen=True, slots=True)
class Setting:
    """What was varied: number of keys, active-expire-effort, hz, the observer's period."""

    keys: int
    effort: int
    hz: int
    poll_ms: int

    def __str__(self) -> str:
        return f"{self.keys:,} keys, effort {self.effort}, hz {self.hz}, poll {self.poll_ms} ms"


@dataclass(slots=True)
class Measured:
    """The runs of one setting on the real server; times in ms from the death of the keys."""

    gone_ms: dict[float, list[float]] = field(default_factory=dict)  # share → one a run
    time_caps: list[int] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    @property
    def runs(self) -> int:
        return len(self.time_caps)

    def bounds(self, share: float) -> tuple[float, float]:
        """The spread of the runs widened by 20 %, in ms."""
        times = self.gone_ms[share]
        return min(times) * (1 - TOLERANCE), max(times) * (1 + TOLERANCE)


@dataclass(slots=True)
class MeasuredCurve:
    """Keys still held, as the polls of one run saw them; ms from the death of the keys."""

    t_ms: list[float] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    stale_perc: list[float] = field(default_factory=list)  # of INFO, a fraction 0...1


@dataclass(frozen=True, slots=True)
class Verdict:
    """One share of one setting: simulated times of all phases against the measured bounds."""

    share: float
    simulated_ms: list[float]  # sorted
    low_ms: float
    high_ms: float
    single: bool  # measured only once

    @property
    def median_ms(self) -> float:
        return median_low(self.simulated_ms)

    @property
    def agrees(self) -> bool:
        """Whether the median lies within the bounds; see the module's first lines."""
        return self.miss_ms == 0

    @property
    def miss_ms(self) -> float:
        """How far what is judged lies beyond the nearer bound, in ms; 0 if it agrees."""
        judged = self.simulated_ms if self.single else [self.median_ms]
        return min(max(self.low_ms - ms, ms - self.high_ms, 0.0) for ms in judged)


def measured_decays() -> dict[Setting, Measured]:
    """All measured settings, in the order of the table."""
    decays: dict[Setting, Measured] = {}
    for row in _rows("decay.csv"):
        measured = decays.setdefault(_setting(row), Measured())
        for share in SHARES:
            measured.gone_ms.setdefault(share, []).append(float(row[f"t{share * 100:.0f}_ms"]))
        measured.time_caps.append(int(row["time_caps"]))
        measured.cpu_ms.append(float(row["cpu_ms"]))
    return decays


def measured_curves() -> dict[Setting, MeasuredCurve]:
    """One measured run of each setting polled every 20 ms, in full."""
    curves: dict[Setting, MeasuredCurve] = {}
    for row in _rows("curves.csv"):
        curve = curves.setdefault(_setting(row), MeasuredCurve())
        curve.t_ms.append(float(row["t_ms"]))
        curve.held.append(int(row["held"]))
        curve.stale_perc.append(float(row["stale_perc"]) / 100)
    return curves


def _setting(row: dict[str, str]) -> Setting:
    return Setting(int(row["keys"]), int(row["effort"]), int(row["hz"]), int(row["poll_ms"]))


def _rows(name: str) -> Iterator[dict[str, str]]:
    with resources.files("miniredis.lab").joinpath("data", name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)


def lead_for_phase(ttl_ms: int, hz: int, phase_ms: int) -> int:
    """The ``lead_ms`` with which the first cron comes *phase_ms* after the death.

    Crons run 1, 1 + P, 1 + 2P ... ms after the server's start, P = 1000 // hz; keys
    written after a lead die at lead + ttl. With P = 100, ttl = 1000 and phase = 50 a lead
    of 51 ms is wanted: death at 1051, crons at ... 1001, 1101.
    """
    return (FIRST_CRON_MS - phase_ms - ttl_ms) % (1000 // hz)


def phases_ms(hz: int, count: int = PHASES) -> list[int]:
    """*count* phases spread evenly over the cron's period, in whole ms."""
    period = 1000 // hz
    return [period * (2 * i + 1) // (2 * count) for i in range(count)]


def simulate(
    setting: Setting,
    *,
    cost: CostModel | None = None,
    phases: int = PHASES,
    progress: Progress | None = None,
) -> list[ExpiryResult]:
    """The runs of one setting, see :func:`run_phases`. One of 1,000,000 keys takes 15 s."""
    return run_phases(
        [TTL_MS] * setting.keys,
        setting.hz,
        phases,
        effort=setting.effort,
        poll_ms=setting.poll_ms,
        cost=cost,
        progress=progress,
    )


def run_phases(
    ttls_ms: Sequence[int], hz: int, phases: int = PHASES, **options: Any
) -> list[ExpiryResult]:
    """:func:`~miniredis.lab.experiments.run_expiry` once a phase of the cron; run i has seed i."""
    shortest = min(ttls_ms)
    return [
        run_expiry(
            ttls_ms, hz=hz, seed=seed, lead_ms=lead_for_phase(shortest, hz, phase), **options
        )
        for seed, phase in enumerate(phases_ms(hz, phases))
    ]


def judge(measured: Measured, runs: list[ExpiryResult]) -> list[Verdict]:
    """A verdict for each of SHARES. A time not reached within a run counts as endless."""
    verdicts = []
    for share in SHARES:
        seen = [run.seen_gone_ms(share) for run in runs]
        times = sorted(float("inf") if ms is None else ms for ms in seen)
        verdicts.append(Verdict(share, times, *measured.bounds(share), measured.runs == 1))
    return verdicts
