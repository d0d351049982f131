"""workload.py: the distributions are what they are called, and a seed repeats them."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from miniredis.clock import DEFAULT_START_MS
from miniredis.lab.workload import TtlDistribution, Workload, ZipfSampler

DRAWS = 40_000


@pytest.mark.parametrize("skew", [0, 0.5, 1, 1.3, 3])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_zipf_draws_have_the_frequencies_of_zipfs_law(n: int, skew: float) -> None:
    """Pearson's chi square against 1 / rank**skew stays below its 99.99 % bound."""
    draw = ZipfSampler(n, skew, random.Random(5)).draw
    seen = Counter(draw() for _ in range(DRAWS))
    weights = [rank**-skew for rank in range(1, n + 1)]
    assert set(seen) <= set(range(n))
    # Ranks so rare that fewer than 5 are expected count as one.
    bins: list[tuple[float, int]] = []
    rare_expected, rare_seen = 0.0, 0
    for value, weight in enumerate(weights):
        expected = DRAWS * weight / sum(weights)
        if expected < 5:
            rare_expected, rare_seen = rare_expected + expected, rare_seen + seen[value]
        else:
            bins.append((expected, seen[value]))
    if rare_expected >= 5:
        bins.append((rare_expected, rare_seen))
    chi2 = sum((got - expected) ** 2 / expected for expected, got in bins)
    freedom = max(len(bins) - 1, 0)
    # Wilson and Hilferty's approximation; 3.72 standard deviations.
    bound = (
        freedom * (1 - 2 / (9 * freedom) + 3.72 * (2 / (9 * freedom)) ** 0.5) ** 3 if freedom else 0
    )
    assert chi2 <= bound + 1e-9


def test_zipf_never_leaves_its_range() -> None:
    class Highest(random.Random):
        def random(self) -> float:
            return 1 - 2**-53

    for n in (1, 3, 1000):
        for skew in (0, 0.7, 1):
            assert ZipfSampler(n, skew, Highest()).draw() == n - 1


def test_the_mix_of_commands_and_its_pace() -> None:
    workload = Workload(rate=5_000, reads=0.5, expires=0.1, persists=0.05, deletes=0.15, seed=3)
    operations = list(workload.operations(DEFAULT_START_MS))
    total = len(operations)
    assert abs(total - 5_000 * 40) < 5 * (5_000 * 40) ** 0.5
    times = [at for at, _ in operations]
    assert times == sorted(times)
    assert times[0] >= 0 and times[-1] < 40_000_000
    shares = {name: count / total for name, count in Counter(a[0] for _, a in operations).items()}
    expected = {b"GET": 0.5, b"PEXPIREAT": 0.1, b"PERSIST": 0.05, b"DEL": 0.15, b"SET": 0.2}
    assert shares.keys() == expected.keys()
    for name, share in expected.items():
        assert abs(shares[name] - share) < 0.006


def test_reads_are_skewed_and_writes_are_not() -> None:
    workload = Workload(keys=100, skew=1, write_skew=0, seed=1)
    reads, writes = Counter[bytes](), Counter[bytes]()
    for _, argv in workload.operations(0):
        (reads if argv[0] == b"GET" else writes)[argv[1]] += 1
    assert reads.most_common(1)[0][0] == b"key:0"
    assert reads[b"key:0"] > 5 * reads[b"key:9"] > 0
    assert max(writes.values()) < 2 * min(writes.values())


def test_a_seed_repeats_everything_and_another_does_not() -> None:
    first = list(Workload(duration_ms=500, seed=1).operations(0))
    assert first == list(Workload(duration_ms=500, seed=1).operations(0))
    assert first != list(Workload(duration_ms=500, seed=2).operations(0))


def test_times_to_live() -> None:
    rng, now = random.Random(2), 1_000_003
    assert TtlDistribution("fixed", 700, None).draw(rng, now) == now + 700
    assert TtlDistribution("aligned", 1_000, None).draw(rng, now) == 1_001_000
    assert TtlDistribution("aligned", 1_000, None).draw(rng, 1_001_000) == 1_002_000
    uniform = TtlDistribution("uniform", 3, 7)
    assert {uniform.draw(rng, now) - now for _ in range(500)} == {3, 4, 5, 6, 7}
    exponential = TtlDistribution("exponential", 1_000, None)
    ttls = [exponential.draw(rng, now) - now for _ in range(20_000)]
    assert min(ttls) >= 1
    assert abs(sum(ttls) / len(ttls) - 1_000) < 30
    assert abs(sum(ttl > 1_000 for ttl in ttls) / len(ttls) - 0.3679) < 0.015


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keys": 0}, "keys must be"),
        ({"rate": 0}, "rate must be"),
        ({"rate": float("nan")}, "rate must be"),
        ({"duration_ms": 0}, "duration must be"),
        ({"reads": -0.1}, "reads is a share"),
        ({"reads": 0.9, "deletes": 0.2}, "add up to 1.13"),
        ({"skew": 11}, "skew must be"),
        ({"write_skew": -1}, "write_skew must be"),
    ],
)
def test_bad_workloads(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Workload(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("weekly", 1, None), "distribution is fixed"),
        (("fixed", 0, None), "a TTL must be"),
        (("uniform", 5, 4), "longest"),
        (("uniform", 5, None), "longest"),
        (("fixed", 5, 6), "only uniform"),
    ],
)
def test_bad_times_to_live(args: tuple[str, int, int | None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TtlDistribution(*args)


def test_bad_zipf() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ZipfSampler(0, 1, random.Random())
    with pytest.raises(ValueError, match="skew"):
        ZipfSampler(1, float("nan"), random.Random())
