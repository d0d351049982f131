"""Figures of :func:`~miniredis.lab.experiments.run_expiry`: one page of four plots.

Each function draws one plot into the axes it is given (or new ones) and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from miniredis.keyspace.expire import CycleReport, ExitReason
from miniredis.lab.experiments import ExpiryResult
from miniredis.lab.plots.style import BLUE, GREEN, ORANGE, VERMILLION, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MS_PER_SECOND = 1000
SCATTER_POINTS_MAX = 4000  # cycles drawn one by one

MARKER_SIZE = 24  # points squared

# Exit reason → colour, marker of each type of cycle, label.
_EXITS = {
    ExitReason.DONE: (BLUE, {"slow": "o", "fast": "^"}, "ended by itself"),
    ExitReason.TIME_LIMIT: (VERMILLION, {"slow": "x", "fast": "+"}, "time limit"),
}


def plot_population(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Keys alive, and keys dead but held in memory, over time."""
    ax = axes_for(ax)
    t = [ms / MS_PER_SECOND for ms in result.curve.t_ms]
    ax.plot(t, result.curve.alive, color=BLUE, linestyle="-", label="alive")
    ax.plot(t, result.curve.dead_held, color=VERMILLION, linestyle="--", label="dead but held")
    ax.set_xlabel("time since the keys were written (s)")
    ax.set_ylabel("keys")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_title("What is in memory")
    ax.legend()
    return ax


def plot_stale_share(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Share of dead keys among those held: the truth, and what INFO reports."""
    ax = axes_for(ax)
    t = [ms / MS_PER_SECOND for ms in result.curve.t_ms]
    ax.plot(t, [100 * s for s in result.curve.stale_share], color=VERMILLION, label="true")
    left, right = result.curve.t_ms[0], result.curve.t_ms[-1]
    seen = [(_end_ms(c, result), 100 * c.stale_perc) for c in result.cycles]
    # The estimate holds from one cycle to the next, so also up to both edges.
    before = [share for ms, share in seen if ms < left][-1:] or [0.0]
    seen = [(left, before[0]), *(point for point in seen if left <= point[0] <= right)]
    seen.append((right, seen[-1][1]))
    ax.step(
        [ms / MS_PER_SECOND for ms, _ in seen],
        [share for _, share in seen],
        where="post",
        color=BLUE,
        linestyle="--",
        label="INFO expired_stale_perc",
    )
    ax.set_xlabel("time since the keys were written (s)")
    ax.set_ylabel("stale keys (%)")
    ax.set_ylim(-3, 103)
    ax.set_title("Stale share, true and as estimated")
    ax.legend()
    return ax


def plot_work(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Each cycle's duration, and whether it ended by itself or by the time limit."""
    ax = axes_for(ax)
    left, right = result.curve.t_ms[0], result.curve.t_ms[-1]
    cycles = [c for c in result.cycles if _end_ms(c, result) >= left]
    step = max(len(cycles) // SCATTER_POINTS_MAX, 1)
    for exit, (color, markers, label) in _EXITS.items():
        for type, marker in markers.items():
            some = [c for c in cycles if c.type == type and c.exit is exit][::step]
            if some:
                ax.scatter(
                    [_end_ms(c, result) / MS_PER_SECOND for c in some],
                    [max(c.elapsed_us, 1) / 1000 for c in some],
                    s=MARKER_SIZE,
                    color=color,
                    marker=marker,
                    label=f"{type}, {label}",
                )
    # The same stretch of time as in the other plots.
    margin = max((right - left) * 0.05, 1)
    ax.set_xlim((left - margin) / MS_PER_SECOND, (right + margin) / MS_PER_SECOND)
    ax.set_yscale("log")
    ax.set_xlabel("time since the keys were written (s)")
    ax.set_ylabel("duration of the cycle (ms)")
    ax.set_title("Work per cycle and how it ended")
    if cycles:
        ax.legend()
    return ax


def plot_lag_ecdf(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Deletion lag: which share of the keys was deleted within how long of their death."""
    ax = axes_for(ax)
    lags = result.lags_ms
    step = max(len(lags) // SCATTER_POINTS_MAX, 1)
    x = lags[::step] + lags[-1:]
    n = len(lags)
    y = [100 * (i + 1) / n for i in range(0, n, step)] + ([100.0] if n else [])
    ax.step(x, y, where="post", color=BLUE, label="keys deleted")
    median, p99 = result.lag_percentile(0.5), result.lag_percentile(0.99)
    if median is not None and p99 is not None:
        ax.axvline(median, color=GREEN, linestyle="--", label=f"median {median} ms")
        ax.axvline(p99, color=ORANGE, linestyle=":", label=f"99 % {p99} ms")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("time from death to deletion (ms)")
    ax.set_ylabel("deleted keys (%)")
    ax.set_ylim(-3, 103)
    ax.set_title("Deletion lag (ECDF)")
    ax.legend(loc="lower right")
    return ax


def expiry_page(result: ExpiryResult) -> Figure:
    """One page with all four plots."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    plot_population(result, axes[0][0])
    plot_stale_share(result, axes[0][1])
    plot_work(result, axes[1][0])
    plot_lag_ecdf(result, axes[1][1])
    figure.suptitle(
        f"{result.keys:,} keys expiring, hz {result.hz}, active-expire-effort {result.effort} "
        f"(simulated, seed {result.seed})"
    )
    return figure


def alt_text(result: ExpiryResult) -> str:
    """The page in words, for those who cannot see it."""
    half, all_gone = result.gone_ms[0.5], result.gone_ms[1.0]
    first = result.first_death_ms
    parts = [
        f"Four plots of {result.keys:,} keys expiring in a simulated Redis with hz {result.hz} "
        f"and active-expire-effort {result.effort}.",
        f"Keys begin to die {first / 1000:g} s after they were written.",
        "Half of them are never deleted."
        if half is None
        else f"Half are gone {half - first} ms later,",
        "some are left at the end." if all_gone is None else f"all {all_gone - first} ms later.",
        f"Dead keys make up at most {result.peak_stale_share:.1%} of those held.",
        f"{result.time_cap_reached} of {len(result.cycles)} cycles end by the time limit.",
        f"The median key is deleted {result.lag_percentile(0.5)} ms after its death.",
    ]
    return " ".join(parts)


def _end_ms(cycle: CycleReport, result: ExpiryResult) -> float:
    return (cycle.start_us + cycle.elapsed_us) / 1000 - result.start_ms
