"""lifeline.py: the figure of Server.history()."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.lab.plots import alt_text_lifeline, plot_lifeline
from miniredis.lab.plots.style import BLUE, VERMILLION
from miniredis.server.life import History

mpl.use("Agg")
START = 1_391_234_400_000


@pytest.fixture
def histories() -> list[History]:
    clock = VirtualClock(START)
    server = Server(clock, seed=1, cost=FREE, record_history=True)
    c = server.create_client()
    for command in (b"SET cake x PX 250", b"SET bread x", b"PERSIST cake", b"PEXPIRE cake 250"):
        server.process_command(c, command.split())
    clock.advance(500)
    return [server.history("cake"), server.history("bread")]


def test_bars_show_life_and_what_comes_after(histories: list[History]) -> None:
    ax = plot_lifeline(histories)
    bars = [
        (bar.get_x(), bar.get_width(), bar.get_facecolor(), bar.get_hatch()) for bar in ax.patches
    ]
    blue, white = mpl.colors.to_rgba(BLUE), mpl.colors.to_rgba("white")
    expected = [(0, 0.251, blue, None), (0.251, 0.05, white, "////"), (0, 0.5, blue, None)]
    for bar, (x, width, color, hatch) in zip(bars, expected, strict=True):
        assert (round(bar[0], 6), round(bar[1], 6), *bar[2:]) == (x, width, color, hatch)
    assert ax.patches[1].get_edgecolor() == mpl.colors.to_rgba(VERMILLION)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        *("written", "TTL set", "TTL removed", "deleted when dead"),
        *("alive", "dead, held", "its time"),
    ]
    notes = [text.get_text() for text in ax.texts]
    assert notes == ["deleted by slow cycle 4, loop 1, 50 ms after its death", "alive"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cake", "bread"]
    assert ax.get_xlabel() and ax.get_ylabel() and ax.get_title()


def test_given_axes_are_used(histories: list[History]) -> None:
    _, ax = plt.subplots()
    assert plot_lifeline(histories[0], ax=ax) is ax


def test_in_words(histories: list[History]) -> None:
    assert alt_text_lifeline(histories) == (
        "Lifelines of 2 keys. cake, from 0 s on: alive 0.251 s, then dead and held 50 ms; "
        "deleted by slow cycle 4, loop 1, 50 ms after its death. "
        "bread, from 0 s on: alive 0.500 s; alive."
    )


def test_nothing_to_draw() -> None:
    server = Server(VirtualClock(START), record_history=True)
    with pytest.raises(ValueError, match="nothing was recorded of nobody"):
        plot_lifeline(server.history("nobody"))
    with pytest.raises(ValueError, match="at least one"):
        plot_lifeline([])
