"""One key on a primary and on its replicas: what is lagging when the link is slow.

A row for each server, as ``lifeline.py`` draws them; arrows show how the key's coming
and going travelled over the link.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from miniredis.lab.plots.lifeline import plot_lifeline
from miniredis.lab.plots.style import GREY
from miniredis.server.life import ByCommand, History, LifeEvent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

US_PER_SECOND = 1_000_000
US_PER_MS = 1000
GAP = 0.14  # between an arrow and the bars that it joins, rows being 1 apart


def plot_link(histories: Mapping[str, History], ax: Axes | None = None) -> Axes:
    """The same key on several servers, each replica below the server that feeds it.

    *histories* maps the name of a server to its ``history(key)``, a primary first.
    ``ValueError`` if nothing was recorded on one of them, or there are fewer than two.
    """
    rows = _rows(histories)
    ax = plot_lifeline(rows, ax, list(histories))
    zero = min(h.events[0].at_us for h in rows)
    for row, (above, below) in enumerate(pairwise(rows)):
        for sent, arrived in _messages(above, below):
            ax.annotate(
                "",
                ((arrived.at_us - zero) / US_PER_SECOND, row + 1 - GAP),
                ((sent.at_us - zero) / US_PER_SECOND, row + GAP),
                arrowprops={"arrowstyle": "->", "color": GREY, "linestyle": "--"},
                zorder=4,
            )
    ax.set_ylabel("server")
    ax.set_title("One key on a primary and its replicas")
    return ax


def alt_text_link(histories: Mapping[str, History]) -> str:
    """The figure in words, for those who cannot see it."""
    rows = _rows(histories)
    zero = min(h.events[0].at_us for h in rows)

    def seconds(us: int) -> str:
        return f"{(us - zero) / US_PER_SECOND:.3f} s"

    parts = [f"One key on {len(rows)} servers."]
    for name, h in histories.items():
        for life in h.lives:
            text = f"{name}: it comes at {seconds(life.start_us)}"
            if life.dead_us is not None:
                text += f", is dead from {seconds(life.dead_us)} on"
            if life.deleted_us is not None:
                text += f", is deleted at {seconds(life.deleted_us)}"
            parts.append(f"{text}.")
    for above, below in pairwise(rows):
        parts += [
            f"An arrow over {(arrived.at_us - sent.at_us) // US_PER_MS} ms leads down."
            for sent, arrived in _messages(above, below)
        ]
    return " ".join(parts)


def _rows(histories: Mapping[str, History]) -> list[History]:
    rows = list(histories.values())
    if len(rows) < 2:
        raise ValueError(f"a link has two ends, got {len(rows)} histories")
    return rows


def _messages(above: History, below: History) -> list[tuple[LifeEvent, LifeEvent]]:
    """The first and the last event of each life that came over the link, with its cause.

    Lives are paired in order; what the replica did by itself has no cause above.
    """
    pairs = []
    for sender, receiver in zip(above.lives, below.lives, strict=False):
        ends = [(sender.events[0], receiver.events[0])]
        if sender.end is not None and receiver.end is not None:
            ends.append((sender.end, receiver.end))
        pairs += [(sent, arrived) for sent, arrived in ends if _over_the_link(arrived)]
    return pairs


def _over_the_link(event: LifeEvent) -> bool:
    return isinstance(event.by, ByCommand) and event.by.from_primary
