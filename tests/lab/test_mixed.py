"""lab/mixed.py: the stale share settles where a real server's was measured."""

from __future__ import annotations

from statistics import mean

import pytest

from miniredis.lab.mixed import INFLOW, ONESHOT, MixedSetting, measured_mixed, run_mixed

POINT = 1.0  # percentage points
SEEDS = 3
TABLE = measured_mixed()
QUICK = [MixedSetting(ONESHOT, 100_000, 10, 10), MixedSetting(INFLOW, 1_000, 1, 10)]


def check(setting: MixedSetting, seeds: int) -> None:
    """The mean of some simulated runs against the one that was measured."""
    measured = TABLE[setting]
    runs = [run_mixed(setting, seed=seed) for seed in range(seeds)]
    true, info = mean(run.true_mean for run in runs), mean(run.info_mean for run in runs)
    print(
        f"{setting}: true {true:.2f} % (measured {measured.true_mean}), "
        f"INFO {info:.2f} % (measured {measured.info_mean})"
    )
    assert true == pytest.approx(measured.true_mean, abs=POINT)
    assert info == pytest.approx(measured.info_mean, abs=POINT)


@pytest.mark.parametrize("setting", QUICK, ids=str)
def test_steady_state_is_the_measured_one(setting: MixedSetting) -> None:
    check(setting, seeds=1)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [s for s in TABLE if s not in QUICK], ids=str)
def test_every_steady_state_is_the_measured_one(setting: MixedSetting) -> None:
    check(setting, SEEDS)


def test_effort_lowers_the_stale_share() -> None:
    lazy, keen = (run_mixed(MixedSetting(ONESHOT, 5_000, effort, 10)) for effort in (1, 10))
    assert keen.true_mean < lazy.true_mean
    # What the cursor meets was left alone the longest.
    assert lazy.info_mean > lazy.true_mean


@pytest.mark.parametrize(("kind", "amount"), [("other", 1), (ONESHOT, 0)])
def test_wrong_settings(kind: str, amount: int) -> None:
    with pytest.raises(ValueError, match=r"kind must be|1 or more"):
        MixedSetting(kind, amount, 1, 10)
