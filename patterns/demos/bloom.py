"""Filters for 1,000 items that are filled beyond: how often they wrongly say yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patterns.bloom import BloomFilter
from patterns.demos.stage import PREFIX, Stage, clear

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = f"{PREFIX}bloom"
EXPECTED, STEP, UP_TO, ASKED = 1_000, 250, 2_000, 4_000
RATES = (0.1, 0.01)
Shown = dict[float, list[tuple[int, float]]]  # error rate -> items added, wrong answers


def run(stage: Stage) -> Shown:
    """For each error rate, the share of wrong answers as the filter fills."""
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    outside = [f"other {i}" for i in range(ASKED)]
    shown: Shown = {}
    for rate in RATES:
        bloom = BloomFilter(conn, f"{NAME}:{rate}")
        bloom.try_init(EXPECTED, rate)
        p = bloom.parameters
        stage.say(
            f"{EXPECTED:,} items at {rate:.0%}: {p.bits:,} bits, {p.memory_bytes:,} bytes,"
            f" {p.hashes} hashes"
        )
        shown[rate] = [(0, 0.0)]
        for start in range(0, UP_TO, STEP):
            bloom.add_many([f"item {i}" for i in range(start, start + STEP)])
            wrong = sum(bloom.contains_many(outside)) / ASKED
            shown[rate].append((start + STEP, wrong))
            stage.say(
                f"    {start + STEP:5,} added, counted as {bloom.approximate_count():5,};"
                f" wrong answers {wrong:7.2%}"
            )
    clear(conn, f"*{NAME}*")
    return shown


def draw(shown: Shown, ax: Axes | None = None) -> Axes:
    """Wrong answers against items added; dashed the rates that the filters were made for."""
    from miniredis.lab.plots.style import BLUE, GREY, VERMILLION, axes_for, legend_below

    ax = axes_for(ax, (7, 4))
    looks = zip(shown.items(), (VERMILLION, BLUE), ("s", "o"), strict=True)
    for (rate, points), color, marker in looks:
        added, wrong = zip(*points, strict=True)
        percent = [share * 100 for share in wrong]
        ax.plot(added, percent, color=color, marker=marker, label=f"made for {rate:.0%}")
        ax.plot([0, UP_TO], [rate * 100] * 2, color=color, linestyle="--", linewidth=1)
    ax.axvline(EXPECTED, color=GREY, linestyle=":", label="items expected")
    ax.set_xlabel("items added")
    ax.set_ylabel("wrong answers (%)")
    ax.set_title(f"Two Bloom filters for {EXPECTED:,} items, filled beyond")
    legend_below(ax)
    return ax


def alt_text(shown: Shown) -> str:
    """The figure in words."""
    parts = [f"Wrong answers of two Bloom filters made for {EXPECTED:,} items, as they fill."]
    for rate, points in shown.items():
        at = dict(points)
        parts.append(
            f"Made for {rate:.0%}: {at[EXPECTED]:.2%} with {EXPECTED:,} items,"
            f" {at[UP_TO]:.1%} with {UP_TO:,}."
        )
    return " ".join(parts)
