"""experiments.py and plots.py: numbers and figures of an expiry run."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import pytest

from miniredis.lab.experiments import run_expiry

mpl.use("Agg")


def test_numbers_of_a_run() -> None:
    result = run_expiry([1000] * 5000, seed=3)
    assert result.remaining == 0
    assert len(result.lags_ms) == 5000
    times = [result.gone_ms[share] for share in (0.5, 0.9, 0.99, 1.0)]
    assert None not in times
    assert times == sorted(times)  # type: ignore[type-var]
    assert result.first_death_ms == result.last_death_ms == 1000
    assert result.curve.alive[0] == 5000
    assert result.curve.dead_held[-1] == 0
    assert all(
        a + d <= 5000 for a, d in zip(result.curve.alive, result.curve.dead_held, strict=True)
    )
    json.dumps(result.as_dict())


def test_a_run_can_be_repeated() -> None:
    ttls = [100 + i * 13 % 900 for i in range(2000)]
    assert run_expiry(ttls, seed=5).as_dict() == run_expiry(ttls, seed=5).as_dict()


def test_decay_of_ten_thousand_keys_is_that_of_the_real_server() -> None:
    """redis-server 7.0.15, hz 10, effort 1: 220 to 300 ms after death all are gone."""
    result = run_expiry([10_000] * 10_000, seed=1)
    gone = result.gone_ms[1.0]
    assert gone is not None
    assert 200 <= gone - result.first_death_ms <= 320


def test_an_observer_speeds_things_up() -> None:
    alone = run_expiry([1000] * 100_000, seed=1)
    watched = run_expiry([1000] * 100_000, seed=1, poll_ms=5)
    assert len(watched.cycles_of("fast")) > len(alone.cycles_of("fast"))
    assert watched.lag_percentile(0.9) < alone.lag_percentile(0.9)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("ttls", "settings", "message"),
    [
        ([], {}, "at least one key"),
        ([5, 0], {}, "at least 1 ms"),
        ([5], {"poll_ms": -1}, "poll_ms"),
        ([5], {"effort": 11}, "active_expire_effort"),
        ([5], {"patience_ms": -1}, "patience_ms"),
    ],
)
def test_bad_input(ttls: list[int], settings: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_expiry(ttls, **settings)  # type: ignore[arg-type]


def test_figures_are_labelled_and_written_whole(tmp_path: Path) -> None:
    from miniredis.lab import plots

    result = run_expiry([500] * 1000, seed=1)
    figure = plots.expiry_page(result)
    for ax in figure.axes:
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert ax.get_title()
    text = plots.alt_text(result)
    assert "1,000 keys" in text
    plots.save(figure, tmp_path / "page.png", text)
    assert text.encode() in (tmp_path / "page.png").read_bytes()
    with pytest.raises(ValueError, match=r"\.xyz"):
        plots.save(figure, tmp_path / "page.xyz", text)
    assert [p.name for p in tmp_path.iterdir()] == ["page.png"]
