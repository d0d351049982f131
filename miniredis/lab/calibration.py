"""From times measured on a real server to a cost model.

What is measured (``net/calibrate.py``) are sums: a deleted key's cycle time also holds
the walk over its bucket, its share of a window and so on. What follows:

* ``rehash_empty_ns``, ``rehash_entry_ns``: two tables of different fill give two
  equations. A step passes empty buckets, at most ten, up to a chain and moves that.
* ``sampled_ns``: where half of the keys live, a deletion pays for a second sampled key.
  The difference to a table of dead keys is what sampling costs.
* ``deleted_ns``, ``missed_ns``, ``cached_buckets``: the same in a small, a middle and a
  large table; the rest is taken off.
* ``cold_ns``: a large table is deleted in many slow cycles, each after a sleep and cold
  for its first 5 ms; the surcharge for that is taken to be in the same proportion to
  ``missed_ns`` as in the default model.

``clock_read_ns``, ``window_ns`` and ``bucket_ns`` are too small beside these to be seen
in the server's counters. They are taken as given, and the file says so.

A worked example of the last step, without cold. With 370, 745 and 854 ns a deletion among
10,000, 100,000 and 1,000,000 keys, of which 60 ns are not for deleting: ``deleted_ns`` is
310. The others pay 375 and 484 ns more: m * (1 - c / 131,072) and m * (1 - c / 1,048,576).
The difference, 109 ns, is m * c * (1/131,072 - 1/1,048,576), so m * c = 16.3 million; hence
m = 375 + 16.3 million / 131,072 = 500 and c = 32,700.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from miniredis.clock import CostModel
from miniredis.keyspace.expire import (
    ACTIVE_EXPIRE_CYCLE_SLOW_TIME_PERC,
    COLD_FOR_US,
    SLOW_TIME_PERC_STEP,
)
from miniredis.lab.costs import cost_toml
from miniredis.lab.words import count
from miniredis.net.calibrate import (
    CycleWork,
    DisturbedError,
    RehashWork,
    Rounds,
    measure_cycle,
    measure_rehash,
)
from miniredis.net.scratch import Progress, ScratchDatabase
from miniredis.structs.dict import REHASH_EMPTY_VISITS, next_power

WINDOW_KEYS = 20.6  # sampled in a window of 20, for the last chain is taken whole
HALVINGS = 50
STEPS = 5  # of measuring: four tables and the rehash
ALWAYS_ASSUMED = frozenset({"clock_read_ns", "window_ns", "bucket_ns"})
_REHASH = frozenset({"rehash_empty_ns", "rehash_entry_ns"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured. *half* is *small* with half of the keys alive."""

    small: Rounds
    half: Rounds
    middle: Rounds
    large: Rounds


DEFAULT_PLAN = Plan(
    small=Rounds(10_000, rounds=8, batches=3),
    half=Rounds(10_000, dead_share=0.5, rounds=8, batches=3),
    middle=Rounds(100_000, batches=5),
    large=Rounds(1_000_000),
)


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that the fit needs; names as in :class:`Plan`."""

    small: CycleWork
    half: CycleWork
    middle: CycleWork
    large: CycleWork
    rehash: RehashWork | None
    slow_limit_us: int  # time limit of a slow cycle at the server's hz and effort


@dataclass(frozen=True, slots=True)
class Calibration:
    """A cost model, and the names of the fields that could not be measured."""

    cost: CostModel
    assumed: frozenset[str]


def measure(
    scratch: ScratchDatabase, plan: Plan = DEFAULT_PLAN, progress: Progress | None = None
) -> Measurements:
    """Measure on a real server all that the fit needs: about two minutes.

    Raises what :func:`~miniredis.net.calibrate.measure_cycle` does, and
    :class:`~miniredis.net.calibrate.DisturbedError` if other databases hold keys with a
    time to live, for the cycle would spend time on these too.
    """
    elsewhere = scratch.volatile_keys_elsewhere()
    if elsewhere:
        raise DisturbedError(
            f"other databases hold {count(elsewhere, 'key')} with a time to live; "
            "the cycle would be timed on these as well"
        )
    settings = scratch.settings()
    works = []
    for i, rounds in enumerate((plan.small, plan.half, plan.middle, plan.large)):
        if progress is not None:
            progress("measure", i, STEPS)
        works.append(measure_cycle(scratch, rounds, progress))
    rehash = measure_rehash(scratch, settings["hz"], progress)
    if progress is not None:
        progress("measure", STEPS, STEPS)
    small, half, middle, large = works
    percent = ACTIVE_EXPIRE_CYCLE_SLOW_TIME_PERC + SLOW_TIME_PERC_STEP * (settings["effort"] - 1)
    limit_us = percent * 1_000_000 // settings["hz"] // 100
    return Measurements(small, half, middle, large, rehash, limit_us)


def calibrated_file(
    scratch: ScratchDatabase,
    server: str,
    plan: Plan = DEFAULT_PLAN,
    progress: Progress | None = None,
) -> str:
    """Measure a real server, described as *server*, and return the text of its cost file."""
    settings = scratch.settings()
    measured = measure(scratch, plan, progress)
    result = fit(measured)
    works = {"small": measured.small, "half": measured.half}
    works |= {"middle": measured.middle, "large": measured.large}
    facts: dict[str, dict[str, str | int | float]] = {
        "server": {
            "address": server,
            "redis_version": settings["version"],
            "hz": settings["hz"],
            "active_expire_effort": settings["effort"],
            "date": time_text(scratch.server_us()),
        }
    }
    for name, work in works.items():
        facts[f"measured.{name}"] = {
            "keys": work.keys,
            "dead_share": work.dead_share,
            "deleted": work.deleted,
            "cycle_cpu_ms": work.cpu_ms,
            "ns_per_deletion": round(work.ns_per_deletion, 1),
        }
    if measured.rehash is not None:
        facts["measured.rehash"] = {
            name: round(value, 3) for name, value in asdict(measured.rehash).items()
        }
    return cost_toml(result.cost, facts, result.assumed)


def time_text(us: int) -> str:
    """The instant *us* (Unix µs) as text, in UTC."""
    return f"{datetime.fromtimestamp(us // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def fit(measured: Measurements, base: CostModel | None = None) -> Calibration:
    """The cost model that explains *measured*; *base* supplies what cannot be measured."""
    cost = base or CostModel()
    assumed = set(ALWAYS_ASSUMED)
    rehash = None if measured.rehash is None else fit_rehash(measured.rehash)
    if rehash is None:
        assumed |= _REHASH
    else:
        cost = replace(cost, rehash_empty_ns=rehash[0], rehash_entry_ns=rehash[1])
    sampled = fit_sampled(measured.small, measured.half, cost)
    if sampled is None:
        assumed.add("sampled_ns")
    else:
        cost = replace(cost, sampled_ns=sampled)
    near, middle, large = (
        max(work.ns_per_deletion - _overhead_ns(work, cost), 0.0)
        for work in (measured.small, measured.middle, measured.large)
    )
    cold_share = min(COLD_FOR_US / measured.slow_limit_us, 1.0)
    ratio = cost.cold_ns / cost.missed_ns
    missed, cached = fit_misses(
        (measured.middle, warm_surcharge(middle, near, cold_share, ratio)),
        (measured.large, warm_surcharge(large, near, cold_share, ratio)),
    )
    cost = replace(
        cost,
        deleted_ns=round(near),
        missed_ns=missed,
        cold_ns=round(missed * ratio),
        cached_buckets=cached,
    )
    return Calibration(cost, frozenset(assumed))


def fit_rehash(work: RehashWork) -> tuple[int, int] | None:
    """Costs of passing a bucket and of moving an entry, ns; None if they make no sense."""
    p1, m1 = _step(1.0)
    p2, m2 = _step(work.sparse_fill)
    determinant = p1 * m2 - p2 * m1
    empty = (work.full_step_ns * m2 - work.sparse_step_ns * m1) / determinant
    entry = (work.sparse_step_ns * p1 - work.full_step_ns * p2) / determinant
    if entry <= 0:
        return None
    return max(round(empty), 0), round(entry)


def _step(fill: float) -> tuple[float, float]:
    """Buckets passed and entries moved by one rehash step at so many entries a bucket.

    Entries fall into buckets at random, so a bucket is empty with probability e^-fill.
    """
    empty = math.exp(-fill)
    ends = 1 - empty**REHASH_EMPTY_VISITS
    return ends / (1 - empty), ends * fill / (1 - empty)


def fit_sampled(small: CycleWork, half: CycleWork, cost: CostModel) -> int | None:
    """Cost in ns of looking at one entry; None if the difference drowned in noise."""
    more = half.deleted and 1 / half.dead_share - 1 / small.dead_share
    if not more:
        return None
    difference = (half.ns_per_deletion - small.ns_per_deletion) / more
    sampled = round(difference - _window_ns(small, cost))
    return sampled if sampled > 0 else None


def _window_ns(work: CycleWork, cost: CostModel) -> float:
    """What one sampled entry pays for its bucket and its share of a window, ns."""
    buckets = next_power(work.keys) / work.keys
    return buckets * cost.bucket_ns + (cost.window_ns + cost.clock_read_ns) / WINDOW_KEYS


def _overhead_ns(work: CycleWork, cost: CostModel) -> float:
    """What one deletion costs beside deleting, in ns."""
    return (cost.sampled_ns + _window_ns(work, cost)) / work.dead_share


def warm_surcharge(mean: float, near: float, cold_share: float, ratio: float) -> float:
    """What a deletion costs more than *near* while warm, ns, found by halving.

    *mean* is the cost of a deletion over cycles that are cold for *cold_share* of their
    time; then the surcharge is 1 + *ratio* times as large.
    """
    if mean <= near:
        return 0.0
    low, high = 0.0, mean - near
    for _ in range(HALVINGS):
        x = (low + high) / 2
        rate = cold_share / (near + x * (1 + ratio)) + (1 - cold_share) / (near + x)
        low, high = (x, high) if 1 / rate < mean else (low, x)
    return high


def fit_misses(middle: tuple[CycleWork, float], large: tuple[CycleWork, float]) -> tuple[int, int]:
    """``missed_ns`` and ``cached_buckets`` from the surcharge (ns) in two large tables.

    Where the measurements contradict the model (a larger table is cheaper), the surcharge
    of the large table alone is used.
    """
    small_table = float(next_power(middle[0].keys))
    large_table = float(next_power(large[0].keys))
    more_middle, more_large = max(middle[1], 0.0), max(large[1], 0.0)
    product = (more_large - more_middle) / (1 / small_table - 1 / large_table)
    if product <= 0:
        return round(more_large), 0
    missed = more_middle + product / small_table
    return round(missed), round(product / missed)
