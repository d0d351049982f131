"""From times measured on a real server to a cost model.

What is measured (``net/calibrate.py``) are sums: a deleted key's cycle time also holds
the walk over its bucket, its share of a window and so on. What follows:

* ``rehash_empty_ns``, ``rehash_entry_ns``: two tables of different fill give two
  equations. A step passes empty buckets, at most ten, up to a chain and moves that.
* ``sampled_ns``: where half of the keys live, a deletion pays for a second sampled key.
  The difference to a table of dead keys is what sampling costs.
* ``deleted_ns``, ``missed_ns``, ``cached_buckets``: the same in a small, a middle and a
  large table; the rest is taken off.

``clock_read_ns``, ``window_ns`` and ``bucket_ns`` are too small beside these to be seen
in the server's counters. They are taken as given, and the file says so.

  A large table is deleted in many slow cycles, each after a sleep and cold for its first
  5 ms; the surcharge for that is taken to be in the same proportion to ``missed_ns`` as
  in the default model.

A worked example of the last step, without cold. With 370, 745 and 854 ns a deletion among
10,000, 100,000 and 1,000,000 keys, of which 60 ns are not for deleting: ``deleted_ns`` is
310. The others pay 375 and 484 ns more: m * (1 - c / 131,072) and m * (1 - c / 1,048,576).
The difference, 109 ns, is m * c * (1/131,072 - 1/1,048,576), so m * c = 16.3 million; hence
m = 375 + 16.3 million / 131,072 = 500 and c = 32,700.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from miniredis.clock import CostModel
from miniredis.keyspace.expire import COLD_FOR_US
from miniredis.net.calibrate import CycleWork, RehashWork
from miniredis.structs.dict import REHASH_EMPTY_VISITS, next_power

WINDOW_KEYS = 20.6  # sampled in a window of 20, for the last chain is taken whole
HALVINGS = 50
ALWAYS_ASSUMED = frozenset({"clock_read_ns", "window_ns", "bucket_ns", "cold_ns"})
_REHASH = frozenset({"rehash_empty_ns", "rehash_entry_ns"})


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that the fit needs. *half* is *small* with half of the keys alive."""

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
    low, high = 0.0, max(mean - near, 0.0)
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
