"""lab/plots/decay.py: what the figures of measured and simulated decays show and say."""

from __future__ import annotations

import matplotlib as mpl
import pytest

mpl.use("Agg")

from miniredis.lab.curves import Setting, measured_curves, measured_decays, simulate
from miniredis.lab.experiments import ExpiryResult
from miniredis.lab.plots import (
    beside_alt_text,
    beside_page,
    decay_alt_text,
    decay_page,
    plot_beside,
    plot_decay,
    plot_estimates_beside,
)
from miniredis.net.live_expiry import LiveResult
from miniredis.net.sighting import Sighting

SETTING = Setting(10_000, 1, 10, 20)


@pytest.fixture(scope="module")
def runs() -> list[ExpiryResult]:
    return simulate(SETTING, phases=2)


@pytest.fixture
def live() -> LiveResult:
    seen = [(-20.0, 10_000, 0.0), (20.0, 150, 0.05), (220.0, 0, 0.095)]
    return LiveResult(
        10_000,
        "7.0.15",
        10,
        1,
        0,
        [Sighting(t - 1, t, held, 10_000 - held, stale, 0, 1) for t, held, stale in seen],
    )


def test_measured_and_simulated_have_lines_of_their_own(runs: list[ExpiryResult]) -> None:
    ax = plot_decay({SETTING: runs}, measured_curves())
    simulated, measured = ax.get_lines()
    assert [line.get_label() for line in ax.get_lines()] == [
        "effort 1, simulated",
        "effort 1, measured",
    ]
    assert simulated.get_linestyle() != measured.get_linestyle()
    assert measured.get_marker() != "None"
    # Both begin with all keys and end with none.
    for line in (simulated, measured):
        shares = list(line.get_ydata())
        assert shares[0] == 100 and shares[-1] == 0
        assert shares == sorted(shares, reverse=True)
    assert "(ms)" in ax.get_xlabel() and "(%)" in ax.get_ylabel()


def test_a_page_has_a_row_for_each_size_and_a_column_for_each_hz(
    runs: list[ExpiryResult],
) -> None:
    other = Setting(10_000, 5, 100, 20)
    page = decay_page({SETTING: runs, other: simulate(other, phases=1)}, measured_curves())
    assert [ax.get_title() for ax in page.axes] == ["10,000 keys, hz 10", "10,000 keys, hz 100"]
    text = decay_alt_text({SETTING: runs}, measured_decays())
    assert "10,000 keys, effort 1, hz 10" in text
    assert "measured, after 221 to 300 ms" in text


def test_beside_shows_both_servers(runs: list[ExpiryResult], live: LiveResult) -> None:
    for plot in (plot_beside, plot_estimates_beside):
        ax = plot(runs, live)
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels == ["simulated", "real server 7.0.15"]
        assert list(ax.get_lines()[1].get_xdata()) == [-20, 20, 220]
    assert len(beside_page(runs, live).axes) == 2
    text = beside_alt_text(runs, live)
    assert "100% are gone after" in text and "after 220 ms, on" not in text
    assert "after 220 ms on the real server" in text
