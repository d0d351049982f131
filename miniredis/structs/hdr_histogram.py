"""Durations counted in buckets of two significant digits, and what is read from them.

A histogram of high dynamic range keeps relative precision: up to 255 ns every value has
a bucket of its own, then the buckets double in width with each power of two, so that a
bucket is never wider than 1/128 of its values. Percentiles are therefore upper ends of
buckets: a single call of 107 µs has a median of 107.007 µs.

Counts are kept by whole µs, as the server records them; buckets are applied when
somebody reads.

Redis: deps/hdr_histogram as latency tracking uses it, ``fillCommandCDF()`` in latency.c.
"""

from __future__ import annotations

from collections.abc import Mapping

LATENCY_HISTOGRAM_MIN_VALUE = 1  # ns
LATENCY_HISTOGRAM_MAX_VALUE = 1_000_000_000  # ns; what takes longer counts as this
NS_PER_US = 1000
SUB_BUCKET_BITS = 8  # two significant digits need 2 * 10^2 values, so 256 sub-buckets
FIRST_LEVEL = 1024  # ns, where the cumulative distribution begins; it doubles from there
_SUB_BUCKET_MASK = (1 << SUB_BUCKET_BITS) - 1
# The last value of the last bucket: the first power of two beyond the maximum, less 1.
_HIGHEST_TRACKABLE = (1 << LATENCY_HISTOGRAM_MAX_VALUE.bit_length()) - 1


def lowest_equivalent_value(ns: int) -> int:
    """The lower end of the bucket of *ns*."""
    shift = _bucket_index(ns)
    return ns >> shift << shift


def highest_equivalent_value(ns: int) -> int:
    """The upper end of the bucket of *ns*, both ends included."""
    return lowest_equivalent_value(ns) + (1 << _bucket_index(ns)) - 1


def _bucket_index(ns: int) -> int:
    """By how many bits the width of the bucket of *ns* exceeds 1."""
    return (ns | _SUB_BUCKET_MASK).bit_length() - SUB_BUCKET_BITS


def value_at_percentile(histogram: Mapping[int, int], percentile: float) -> int:
    """The duration in ns that *percentile* percent of the calls did not exceed.

    *histogram* maps µs to calls and must not be empty. O(n log n) in different durations.

    hdr_histogram.c: hdr_value_at_percentile()
    """
    buckets = _buckets(histogram)
    wanted = max(int(min(percentile, 100.0) / 100 * sum(buckets.values()) + 0.5), 1)
    seen = 0
    for lowest, calls in sorted(buckets.items()):  # noqa: B007
        seen += calls
        if seen >= wanted:
            break
    return lowest if percentile == 0 else highest_equivalent_value(lowest)


def cumulative_distribution(histogram: Mapping[int, int]) -> dict[int, int]:
    """Calls that took up to each power of two in ns, keyed by whole µs.

    Levels at which the count does not grow are left out. latency.c: fillCommandCDF()
    """
    buckets = _buckets(histogram)
    total = sum(buckets.values())
    distribution: dict[int, int] = {}
    level, before = FIRST_LEVEL, 0
    while before < total:
        bound = min(highest_equivalent_value(level), _HIGHEST_TRACKABLE)
        calls = sum(count for lowest, count in buckets.items() if lowest <= bound)
        if calls > before:
            distribution[bound // NS_PER_US] = calls
        before = calls
        level *= 2
    return distribution


def _buckets(histogram: Mapping[int, int]) -> dict[int, int]:
    """Calls by the lower end of their bucket in ns. hdr_histogram.c: hdr_record_value()"""
    buckets: dict[int, int] = {}
    for us, calls in histogram.items():
        ns = max(us * NS_PER_US, LATENCY_HISTOGRAM_MIN_VALUE)
        lowest = lowest_equivalent_value(min(ns, LATENCY_HISTOGRAM_MAX_VALUE))
        buckets[lowest] = buckets.get(lowest, 0) + calls
    return buckets
