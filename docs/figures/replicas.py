"""Draws the figure of ``docs/replicas.md``: ``python docs/figures/replicas.py [directory]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib.figure import Figure

from miniredis import Server, VirtualClock
from miniredis.lab.plots import alt_text_link, plot_link, save
from miniredis.server.life import History

# Letters stay letters, and the same data give the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "miniredis"


def histories() -> dict[str, History]:
    """A key with a TTL of 430 ms on a primary, and 300 ms away on its replica."""
    clock = VirtualClock()
    primary = Server(clock=clock, seed=7, record_history=True)
    replica = Server(replica_of=primary, link_delay_ms=300, seed=8, record_history=True)
    clock.advance(300)
    primary.client().set("k", "v", px=430)
    clock.advance(1000)
    return {"primary": primary.history("k"), "replica": replica.history("k")}


def draw() -> tuple[Figure, str]:
    lives = histories()
    figure = plot_link(lives).figure
    assert isinstance(figure, Figure)
    return figure, alt_text_link(lives)


if __name__ == "__main__":
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    figure, text = draw()
    save(figure, directory / "replicas.svg", text)
