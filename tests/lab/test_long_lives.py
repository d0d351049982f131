"""experiments.py: long lives cost little time and give what ticking through gives."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest

from miniredis.lab.experiments import ExpiryResult, run_expiry
from miniredis.server.idle import IdleTime

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
RNG = random.Random(4)


def ticking(monkeypatch: pytest.MonkeyPatch, ttls: Sequence[int], **config: Any) -> ExpiryResult:
    """The same run with every tick a real one."""
    with monkeypatch.context() as patch:
        patch.setattr(IdleTime, "pass_until", lambda self, limit_us: False)
        return run_expiry(ttls, **config)


SETTINGS: list[tuple[list[int], dict[str, Any]]] = [
    ([HOUR_MS // 6], {}),
    ([HOUR_MS // 6] * 300, {"hz": 20}),
    ([HOUR_MS // 6] * 3000, {"poll_ms": 7}),
    ([1_000, 90_000, 90_000, HOUR_MS // 4], {"effort": 10}),
    ([RNG.randrange(1, 500_000) for _ in range(200)], {}),
    ([RNG.randrange(1, 500_000) for _ in range(50)], {"poll_ms": 250, "hz": 5}),
    ([500] * 3000 + [400_000] * 3, {"activerehashing": False}),
    ([200_000] * 100, {"engine": "6.0", "databases": 1}),
    ([60_000] * 100, {"engine": "8.2"}),
]


@pytest.mark.parametrize(("ttls", "config"), SETTINGS, ids=lambda value: str(value)[:40])
def test_the_outcome_is_that_of_ticking(
    monkeypatch: pytest.MonkeyPatch, ttls: list[int], config: dict[str, Any]
) -> None:
    quick = run_expiry(ttls, seed=2, **config)
    real = ticking(monkeypatch, ttls, seed=2, **config)
    assert quick.as_dict() == real.as_dict()
    assert (quick.lags_ms, quick.curve) == (real.lags_ms, real.curve)
    assert real.idle == []
    # What was run is the same cycle for cycle, and nothing that deletes was passed over.
    assert set(map(repr, quick.cycles)) <= set(map(repr, real.cycles))
    assert sum(c.expired for c in quick.cycles) == sum(c.expired for c in real.cycles)
    assert len(quick.cycles) + sum(i.runs for i in quick.idle) == len(real.cycles)


@pytest.mark.parametrize("ttl", [DAY_MS, 7 * DAY_MS, 365 * DAY_MS, 10**15])
def test_the_longest_lives_take_no_time(ttl: int) -> None:
    begun = time.perf_counter()
    result = run_expiry([ttl] * 200)
    assert time.perf_counter() - begun < 20  # ticking takes minutes to years; this half a second
    assert result.remaining == 0
    assert result.first_death_ms == ttl
    lag = result.lag_percentile(1)
    assert lag is not None and lag < 1000


def test_some_keys_die_soon_and_one_much_later() -> None:
    result = run_expiry([1_000] * 500 + [365 * DAY_MS])
    assert result.remaining == 0
    assert result.number_of("slow") == pytest.approx(365 * DAY_MS / 100, abs=20)
    assert result.as_dict()["slow_cycles"] == result.number_of("slow")


def test_a_run_that_cannot_be_waited_for_is_refused() -> None:
    with pytest.raises(ValueError, match=r"about 315,360,000 runs of the cron, more than"):
        run_expiry([365 * DAY_MS], engine="7.4")
    with pytest.raises(ValueError, match="shorter times to live, or a lower hz, take fewer"):
        run_expiry([n * 100_000 for n in range(1, 200_000)])
