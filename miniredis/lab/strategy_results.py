"""What a run of one expiry strategy showed, as numbers. See ``lab/strategies.py``."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from miniredis.lab.strategy_costs import BUCKET_BYTES, KEY_BYTES, TTL_BYTES, StrategyCosts
from miniredis.lab.strategy_dbs import Strategy

# Kinds of expiry work, in the order in which figures stack them.
DELETING = "deleting"
FINDING = "finding the dead"
CHECKING = "checking on access"
KEEPING = "keeping timers"
WAKING = "waking for timers"
WORK = (DELETING, FINDING, CHECKING, KEEPING, WAKING)

# What memory is taken by.
LIVING, DEAD, BUCKETS, TIMERS = "living keys", "dead keys", "bucket arrays", "timers"
PARTS = (LIVING, DEAD, BUCKETS, TIMERS)

ROUNDING = 1e-9  # a share this near to another is the same


@dataclass(slots=True)
class MemoryCurve:
    """What is in memory over time. ``t_ms`` counts from the beginning of the run."""

    t_ms: list[int] = field(default_factory=list)
    held: list[int] = field(default_factory=list)  # keys, dead ones included
    with_ttl: list[int] = field(default_factory=list)  # keys with a time to live, likewise
    slots: list[int] = field(default_factory=list)  # buckets of all tables
    owed: list[int] = field(default_factory=list)  # dead keys


@dataclass(frozen=True, slots=True)
class Lag:
    """A percentile of the deletion lag in ms; if *at_least*, no more is known of it."""

    ms: int
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'≥ ' if self.at_least else ''}{self.ms:,} ms"


@dataclass(slots=True)
class StrategyResult:
    """What one strategy made of the workload.

    ``deleted_by`` counts who deleted keys that had died: ``lazy`` (a command), ``slow`` or
    ``fast`` (the cycle), ``timer``. ``cpu_us`` maps each kind of WORK to µs. ``lags_ms``
    (sorted) are those of deleted keys, ``open_lags_ms`` (sorted) the ages of the keys that
    were dead and held when the run ended. ``mean_owed`` is exact; other means are taken
    over the samples of ``curve``.
    """

    strategy: Strategy
    costs: StrategyCosts
    duration_ms: int
    commands: int
    hits: int
    deleted_by: dict[str, int]
    cpu_us: dict[str, float]
    longest_pause_us: float
    cycles: int
    wake_ups: int
    lags_ms: list[int]
    open_lags_ms: list[int]
    mean_owed: float
    peak_owed: int
    curve: MemoryCurve

    @property
    def deaths(self) -> int:
        """Keys whose time to live passed during the run."""
        return len(self.lags_ms) + len(self.open_lags_ms)

    @property
    def total_cpu_us(self) -> float:
        """Expiry work of all kinds in µs."""
        return sum(self.cpu_us.values())

    @property
    def cpu_share(self) -> float:
        """Expiry work as a share of the run's time, 0...1: of one CPU."""
        return self.total_cpu_us / (self.duration_ms * 1000)

    @property
    def mean_held(self) -> float:
        """Keys held, averaged over the run."""
        return _mean(self.curve.held)

    @property
    def stale_share(self) -> float:
        """Dead keys as a share of those held, 0...1, both averaged over the run."""
        return self.mean_owed / self.mean_held if self.mean_held else 0.0

    def timer_bytes(self, timers: float) -> float:
        """Bytes of so many timers."""
        strategy, costs = self.strategy, self.costs
        return timers * strategy.entry_bytes(costs) + strategy.fixed_bytes(costs)

    def held_bytes(self) -> list[float]:
        """Bytes held at each instant of ``curve``."""
        curve = self.curve
        return [
            held * KEY_BYTES + ttls * TTL_BYTES + slots * BUCKET_BYTES + self.timer_bytes(ttls)
            for held, ttls, slots in zip(curve.held, curve.with_ttl, curve.slots, strict=True)
        ]

    def owed_bytes(self, keys: float) -> float:
        """Bytes of so many dead keys with their times to live; buckets are not theirs alone."""
        return keys * (KEY_BYTES + TTL_BYTES)

    def memory_parts(self) -> dict[str, float]:
        """Mean bytes of each of PARTS; together the mean of :meth:`held_bytes`."""
        curve = self.curve
        dead = self.owed_bytes(_mean(curve.owed))
        keys = _mean(curve.held) * KEY_BYTES + _mean(curve.with_ttl) * TTL_BYTES
        return {
            LIVING: keys - dead,
            DEAD: dead,
            BUCKETS: _mean(curve.slots) * BUCKET_BYTES,
            TIMERS: self.timer_bytes(_mean(curve.with_ttl)),
        }

    def lag_curve(self) -> list[tuple[int, float]]:
        """``(ms, share)``: the share of dead keys, 0...1, that is gone within so many ms.

        Keys still held at the end cannot simply be left out: they are the slow ones. Nor is
        their lag known, only that it is longer than so far. Kaplan and Meier's estimate uses
        just that: of the keys known to be held for *ms*, which share was deleted then? The
        shares that survive are multiplied.

        Lags 2, 5, 5 and one key still held after 3 ms: at 2 ms one of 4 goes, 3/4 are left;
        at 5 ms both of the 2 that were watched so long go: nothing is left.
        """
        deleted, opened = Counter(self.lags_ms), self.open_lags_ms
        watched, seen, left = self.deaths, 0, 1.0
        points = []
        for ms in sorted(deleted):
            ended = seen + bisect_right(opened, ms - 1)
            left *= 1 - deleted[ms] / (watched - ended)
            seen += deleted[ms]
            points.append((ms, 1 - left))
        return points

    def lag(self, share: float) -> Lag | None:
        """The lag that a *share* (0...1) of the dead keys does not exceed; None without deaths."""
        if not self.deaths:
            return None
        for ms, gone in self.lag_curve():
            if gone >= share - ROUNDING:
                return Lag(ms)
        return Lag(max(self.lags_ms[-1:] + self.open_lags_ms[-1:]), at_least=True)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for programs, JSON-ready."""
        lags = {f"p{p}": self.lag(p / 100) for p in (50, 99, 100)}
        held_bytes = self.held_bytes()
        return {
            "strategy": self.strategy.name,
            "commands": self.commands,
            "keyspace_hits": self.hits,
            "deaths": self.deaths,
            "deleted_by": self.deleted_by,
            "dead_at_end": len(self.open_lags_ms),
            "held_keys": {"mean": round(self.mean_held, 1), "peak": max(self.curve.held)},
            "held_bytes": {"mean": round(_mean(held_bytes)), "peak": round(max(held_bytes))},
            "owed_keys": {"mean": round(self.mean_owed, 1), "peak": self.peak_owed},
            "owed_bytes": {
                "mean": round(self.owed_bytes(self.mean_owed)),
                "peak": round(self.owed_bytes(self.peak_owed)),
            },
            "stale_share": round(self.stale_share, 6),
            "cpu_us": {kind: round(us, 1) for kind, us in self.cpu_us.items()},
            "cpu_us_total": round(self.total_cpu_us, 1),
            "cpu_share": round(self.cpu_share, 8),
            "lag_ms": {name: lag and lag.ms for name, lag in lags.items()},
            "lag_is_lower_bound": {name: lag and lag.at_least for name, lag in lags.items()},
            "longest_pause_us": self.longest_pause_us,
            "cycles": self.cycles,
            "wake_ups": self.wake_ups,
        }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
