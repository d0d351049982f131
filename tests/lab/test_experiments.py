"""experiments.py and plots.py: numbers and figures of an expiry run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from miniredis.clock import FREE
from miniredis.lab import plots
from miniredis.lab.experiments import ExpiryResult, run_expiry

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


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


def page(ttls: list[int], **config: object) -> tuple[ExpiryResult, Figure]:
    result = run_expiry(ttls, seed=1, **config)  # type: ignore[arg-type]
    figure = plots.expiry_page(result)
    figure.canvas.draw()
    return result, figure


def test_one_key_that_is_dead_for_a_millisecond() -> None:
    result = run_expiry([10_000])
    assert (result.peak_dead_held, result.peak_stale_share) == (1, 1.0)
    assert result.lag_percentile(0.01) == result.lag_percentile(1) == 1
    at = [i for i, ms in enumerate(result.curve.t_ms) if ms == 10_001]
    assert [result.curve.dead_held[i] for i in at] == [1, 0]
    assert [result.curve.stale_share[i] for i in at] == [1.0, 0.0]


def test_peaks_are_those_of_every_instant() -> None:
    ttls = [1 + i * 37 % 900 for i in range(3000)]
    result = run_expiry(ttls, seed=3)
    assert result.peak_stale_share == 1.0  # at last only dead keys are left
    assert max(result.curve.dead_held) <= result.peak_dead_held < 3000
    assert result.peak_dead_held <= 1.1 * max(result.curve.dead_held)


def test_lags_count_all_keys() -> None:
    result = run_expiry([1_000] * 20_000, seed=7, activerehashing=False)
    assert 0 < result.remaining < 400
    assert result.lag_percentile(0.5) is not None
    assert result.lag_percentile(1) is None  # as gone_ms[1.0]
    assert result.lag_percentile(0.99) is None
    assert (result.gone_ms[0.99], result.gone_ms[1.0]) == (None, None)
    rank = len(result.lags_ms) / result.keys
    assert result.lag_percentile(rank) == result.lags_ms[-1]
    lag = result.as_dict()["lag_ms"]
    assert lag["p99"] is None and lag["p50"] == result.lag_percentile(0.5)


@pytest.mark.parametrize(
    ("ttls", "config"),
    [
        ([10_000], {}),
        ([10_000] * 100, {}),
        ([10_000] * 20_000, {}),
        ([10_000] * 20_000, {"poll_ms": 2}),
        ([1_000] * 500 + [60_000] * 100 + [3_600_000] * 10, {}),
        ([1_000] * 20_000, {"activerehashing": False}),
        ([1_000, 365 * 86_400_000], {}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_nothing_overlaps_in_the_figure(ttls: list[int], config: dict[str, object]) -> None:
    _, figure = page(ttls, **config)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            boxes = [
                label.get_window_extent(renderer)
                for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
                if low <= place <= high and label.get_text()
            ]
            assert not any(a.overlaps(b) for a, b in pairwise(boxes)), ax.get_title()
            assert axis.get_offset_text().get_text() == ""
        labels = [t.get_text() for t in ax.get_xticklabels()]
        assert len(labels) == len(set(labels)), ax.get_title()
        legend = ax.get_legend()
        assert legend is not None
        box = legend.get_window_extent(renderer)
        assert not box.overlaps(ax.get_window_extent(renderer)), ax.get_title()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y0 >= figure.bbox.y0


def test_units_of_time_follow_the_length_of_the_run() -> None:
    for ttls, unit in (
        ([1_000], "s"),
        ([1, 700_000], "min"),
        ([1, 40_000_000], "h"),
        ([1, 10**9], "d"),
    ):
        _, figure = page(ttls)
        for ax in figure.axes[:3]:
            assert ax.get_xlabel() == f"time since the keys were written ({unit})"


def test_populations_are_steps_and_the_axis_of_shares_fits() -> None:
    _, figure = page([1 + i % 5000 for i in range(5000)])
    memory, shares = figure.axes[:2]
    assert {line.get_drawstyle() for line in memory.lines} == {"steps-post"}
    assert shares.get_ylim()[1] == pytest.approx(103)
    steady = run_expiry([60_000] * 10 + [120_000] * 10, seed=1)
    steady.curve.stale_share = [0.01 for _ in steady.curve.stale_share]
    top = max(1.0, *(100 * c.stale_perc for c in steady.cycles))
    assert plots.plot_stale_share(steady).get_ylim()[1] == pytest.approx(1.03 * top)


def test_idle_cycles_are_drawn_as_their_mean_and_let_the_estimate_decay() -> None:
    result, figure = page([1_000] * 100 + [600_000])
    shares, work = figure.axes[1], figure.axes[2]
    labels = [text.get_text() for text in work.get_legend().get_texts()]
    assert f"slow, idle: mean of {result.idle_cycles:,}" in labels
    x, y = shares.lines[1].get_xdata(), shares.lines[1].get_ydata()
    before = [share for t, share in zip(x, y, strict=True) if 60 * t < 599]
    assert 0 < before[-1] < 0.01  # 5 % once, and no dead key for minutes
    assert max(y) == pytest.approx(5, abs=0.1)


def test_where_cycles_of_no_time_are_drawn_is_said() -> None:
    _, figure = page([1_000] * 10, cost=FREE)
    assert figure.axes[2].get_ylabel() == "duration of the cycle (ms, drawn at 0.001 or more)"
    _, figure = page([1_000] * 10)
    assert figure.axes[2].get_ylabel() == "duration of the cycle (ms)"


def test_words_for_one_and_for_many() -> None:
    one, figure = page([10_000])
    assert plots.alt_text(one) == (
        "Four plots of 1 key expiring in a simulated Redis with hz 10 and active-expire-effort 1. "
        "The first death is 10 s after the keys were written. Half of the keys are gone 1 ms "
        "after it, all 1 ms after it. At most 1 dead key held at once; the largest share of dead "
        "keys among those held is 100.0 %. 1 cycle from the first death on, 0 of them ended by "
        "the time limit. The median deletion lag is 1 ms."
    )
    assert figure.get_suptitle().startswith("1 key expiring")
    many, figure = page([1_000] * 200_000)
    text = plots.alt_text(many)
    cycles = len(many.cycles_of("slow")) + len(many.cycles_of("fast"))
    assert f"{cycles} cycles from the first death on, {many.time_cap_reached} of them" in text
    stuck, figure = page([1_000] * 20_000, activerehashing=False)
    assert f"{stuck.remaining:,} still held at the end" in plots.alt_text(stuck)
    labels = [text.get_text() for text in figure.axes[3].get_legend().get_texts()]
    assert not any(label.startswith("99 %") for label in labels)
    slow, figure = page([1 + i * 7 for i in range(2_000)])
    labels = [text.get_text() for text in figure.axes[3].get_legend().get_texts()]
    assert f"99 % {slow.lag_percentile(0.99):,} ms" in labels
