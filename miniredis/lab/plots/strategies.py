"""Figures of :func:`~miniredis.lab.strategies.run_strategies`: one page of six plots.

Each function draws one plot into the axes it is given (or new ones) and returns them. A
strategy has its colour and its style of line in every plot, a kind of work or of memory its
colour and its hatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

from miniredis.lab.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILLION,
    axes_for,
    plain_numbers,
    time_axis,
)
from miniredis.lab.strategy_results import (
    BUCKETS,
    CHECKING,
    DEAD,
    DELETING,
    FINDING,
    KEEPING,
    LIVING,
    PARTS,
    TIMERS,
    WAKING,
    WORK,
    StrategyResult,
)
from miniredis.lab.workload import Workload

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

US_PER_MS = 1000
BYTES = (("MB", 1_000_000), ("kB", 1_000), ("bytes", 1))
MICROSECONDS = (("s", 1_000_000), ("ms", 1_000), ("µs", 1))
LEAST_TOP = 1.0  # %, the least that the axis of dead keys reaches to
MARKERS = 8  # along each line
SHORTEST_PAUSE_US = 0.1  # where the logarithmic axis begins

# The lines of heap and wheel coincide wherever both are exact, so one is wide and one dotted.
_LINES: dict[str, dict[str, Any]] = {
    "heap": {"color": GREEN, "linestyle": "-", "marker": "s", "linewidth": 3, "alpha": 0.6},
    "wheel": {"color": GREY, "linestyle": ":", "marker": "D", "linewidth": 1.5},
    "lazy": {"color": VERMILLION, "linestyle": "--", "marker": "v", "linewidth": 1.5},
    "periodic": {"color": ORANGE, "linestyle": "-.", "marker": "^", "linewidth": 1.5},
    "redis": {"color": BLUE, "linestyle": "-", "marker": "o", "linewidth": 1.5},
}
_KINDS = {
    DELETING: (GREY, ""),
    FINDING: (BLUE, "//"),
    CHECKING: (ORANGE, ".."),
    KEEPING: (GREEN, "xx"),
    WAKING: (VERMILLION, "\\\\"),
    LIVING: (BLUE, ""),
    DEAD: (VERMILLION, "\\\\"),
    BUCKETS: (GREY, ".."),
    TIMERS: (GREEN, "xx"),
}


def plot_held(results: Sequence[StrategyResult], ax: Axes | None = None) -> Axes:
    """Keys held over time under each strategy; those alive as a shaded area."""
    ax = axes_for(ax)
    first = results[0].curve
    alive = [held - owed for held, owed in zip(first.held, first.owed, strict=True)]
    t = [ms / _time_unit(ax, results) for ms in first.t_ms]
    ax.fill_between(t, alive, color=GREY, alpha=0.25, linewidth=0, label="alive")
    _over_time(ax, results, [result.curve.held for result in results])
    ax.set_ylabel("keys held")
    plain_numbers(ax.yaxis, whole=True)
    ax.set_title("What is in memory")
    _legend_below(ax)
    return ax


def plot_owed(results: Sequence[StrategyResult], ax: Axes | None = None) -> Axes:
    """Share of dead keys among those held, over time."""
    ax = axes_for(ax)
    shares = [
        [100 * owed / held if held else 0.0 for held, owed in zip(c.held, c.owed, strict=True)]
        for c in (result.curve for result in results)
    ]
    _over_time(ax, results, shares)
    ax.set_ylabel("dead keys among those held (%)")
    top = max(LEAST_TOP, *(share for line in shares for share in line))
    ax.set_ylim(-0.03 * top, 1.03 * top)
    ax.set_title("Memory owed")
    _legend_below(ax)
    return ax


def plot_strategy_lags(results: Sequence[StrategyResult], ax: Axes | None = None) -> Axes:
    """Deletion lag: which share of the dead keys is gone within how long of their death."""
    ax = axes_for(ax)
    longest = max([lag.ms for r in results if (lag := r.lag(1)) is not None], default=1)
    for result in results:
        points = result.lag_curve()
        # Each line goes on to the right edge, also that of keys that are never deleted.
        gone = points[-1][1] if points else 0.0
        x = [0, *(ms for ms, _ in points), max(longest, 1)]
        y = [0.0, *(100 * share for _, share in points), 100 * gone]
        line = dict(_LINES[result.strategy.name], marker="")
        ax.step(x, y, where="post", label=result.strategy.title, **line)
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xlim(-0.1, max(longest, 1) * 1.3)
    ax.set_ylim(-3, 103)
    ax.set_xlabel("time from death to deletion (ms)")
    ax.set_ylabel("dead keys that are gone (%)")
    ax.set_title("Deletion lag")
    _legend_below(ax)
    return ax


def plot_memory(results: Sequence[StrategyResult], ax: Axes | None = None) -> Axes:
    """Mean memory by what takes it."""
    ax = axes_for(ax)
    parts = [result.memory_parts() for result in results]
    unit = _stack(ax, results, parts, PARTS, BYTES)
    ax.set_xlabel(f"memory held, mean ({unit})")
    ax.set_title("What takes the memory")
    return ax


def plot_cpu(results: Sequence[StrategyResult], ax: Axes | None = None) -> Axes:
    """CPU time that expiry takes, by kind of work."""
    ax = axes_for(ax)
    unit = _stack(ax, results, [result.cpu_us for result in results], WORK, MICROSECONDS)
    ax.set_xlabel(f"CPU time spent on expiry ({unit})")
    ax.set_title("What takes the CPU")
    return ax


def plot_pauses(results: Sequence[StrategyResult], ax: Axes | None = None) -> Axes:
    """The longest single piece of expiry work, on a logarithmic axis."""
    ax = axes_for(ax)
    names = [result.strategy.title for result in results]
    pauses = [max(result.longest_pause_us, SHORTEST_PAUSE_US) for result in results]
    colors = [_LINES[result.strategy.name]["color"] for result in results]
    bars = ax.barh(names, pauses, color=colors, height=0.6)
    texts = [_pause_text(result.longest_pause_us) for result in results]
    ax.bar_label(bars, texts, padding=3)
    ax.set_xscale("log")
    ax.set_xlim(SHORTEST_PAUSE_US, max(max(pauses) * 30, 100))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.invert_yaxis()
    ax.set_xlabel("longest pause (µs)")
    ax.set_ylabel("strategy")
    ax.set_title("Longest time nobody is served")
    return ax


def strategies_page(results: Sequence[StrategyResult], workload: Workload) -> Figure:
    """One page with all six plots."""
    figure, axes = plt.subplots(2, 3, figsize=(16, 10), layout="constrained")
    plot_held(results, axes[0][0])
    plot_owed(results, axes[0][1])
    plot_strategy_lags(results, axes[0][2])
    plot_memory(results, axes[1][0])
    plot_cpu(results, axes[1][1])
    plot_pauses(results, axes[1][2])
    figure.suptitle(f"Ways to expire: {workload} (simulated)")
    return figure


def strategies_alt_text(results: Sequence[StrategyResult]) -> str:
    """The page in words, for those who cannot see it."""
    parts = ["Six plots compare ways to expire keys under the same commands."]
    for result in results:
        lag = result.lag(0.5)
        parts.append(
            f"{result.strategy.title}: {result.mean_held:,.0f} keys held on average, "
            f"{result.stale_share:.1%} of them dead; {result.total_cpu_us / US_PER_MS:,.1f} ms "
            f"of CPU; median lag {'none' if lag is None else lag}; "
            f"longest pause {_pause_text(result.longest_pause_us)}."
        )
    return " ".join(parts)


def _time_unit(ax: Axes, results: Sequence[StrategyResult]) -> float:
    """Make the x axis one of time; how many ms its unit has."""
    t_ms = results[0].curve.t_ms
    return time_axis(ax, t_ms[0], t_ms[-1], "time")


def _over_time(
    ax: Axes, results: Sequence[StrategyResult], curves: Sequence[Sequence[float]]
) -> None:
    """One line a strategy over the time of the run."""
    unit = _time_unit(ax, results)
    for i, (result, values) in enumerate(zip(results, curves, strict=True)):
        t = [ms / unit for ms in result.curve.t_ms]
        every = max(len(t) // MARKERS, 1)
        # Staggered, so that markers of lines that coincide do not hide one another.
        place = (i * every // len(results), every)
        style = _LINES[result.strategy.name]
        ax.plot(t, values, label=result.strategy.title, markevery=place, markersize=5, **style)


def _stack(
    ax: Axes,
    results: Sequence[StrategyResult],
    amounts: Sequence[dict[str, float]],
    kinds: Sequence[str],
    units: Sequence[tuple[str, float]],
) -> str:
    """One bar a strategy, of a piece for each kind that any of them has.

    Returns the unit of the x axis: the largest of *units* that the longest bar reaches.
    """
    most = max(sum(amount[kind] for kind in kinds) for amount in amounts)
    name, unit = next((u for u in units if most >= u[1]), units[-1])
    names = [result.strategy.title for result in results]
    left = [0.0] * len(results)
    for kind in kinds:
        widths = [amount[kind] / unit for amount in amounts]
        if any(widths):
            color, hatch = _KINDS[kind]
            look: dict[str, Any] = {"color": color, "hatch": hatch, "edgecolor": "white"}
            ax.barh(names, widths, left=left, height=0.6, label=kind, **look)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    ax.invert_yaxis()
    ax.set_ylabel("strategy")
    ax.set_xlim(0, max(left) * 1.02 or 1)
    plain_numbers(ax.xaxis)
    _legend_below(ax)
    return name


def _legend_below(ax: Axes) -> None:
    """The legend under the plot, where no line can run into it."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize="small")


def _pause_text(us: float) -> str:
    return f"{us / US_PER_MS:,.1f} ms" if us >= US_PER_MS else f"{us:,.3g} µs"
