"""Figures of :func:`~miniredis.lab.experiments.run_expiry`: one page of four plots.

Each function draws one plot into the axes it is given (or new ones) and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from miniredis.keyspace.expire import STALE_WEIGHT, CycleReport, ExitReason
from miniredis.lab.experiments import ExpiryResult
from miniredis.lab.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILLION,
    axes_for,
    legend_below,
    plain_numbers,
    time_axis,
)
from miniredis.lab.words import count, milliseconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SINCE = "time since the keys were written"
US_PER_MS = 1000
SCATTER_POINTS_MAX = 4000  # cycles drawn one by one
DECAY_STEPS = 200  # idle cycles after which the estimate is 0 for the eye
SHORTEST_US = 1  # of a cycle, as drawn: an axis of logarithms has no 0
LEAST_TOP = 1.0  # %, the least that the axis of stale keys reaches to

MARKER_SIZE = 24  # points squared

# Exit reason → colour, marker of each type of cycle, label.
_EXITS = {
    ExitReason.DONE: (BLUE, {"slow": "o", "fast": "^"}, "ended by itself"),
    ExitReason.TIME_LIMIT: (VERMILLION, {"slow": "x", "fast": "+"}, "time limit"),
}


def plot_population(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Keys alive, and keys dead but held in memory, over time."""
    ax = axes_for(ax)
    unit = time_axis(ax, result.curve.t_ms[0], result.curve.t_ms[-1], SINCE)
    t = [ms / unit for ms in result.curve.t_ms]
    for values, color, style, label in (
        (result.curve.alive, BLUE, "-", "alive"),
        (result.curve.dead_held, VERMILLION, "--", "dead but held"),
    ):
        ax.plot(t, values, color=color, linestyle=style, label=label, drawstyle="steps-post")
    ax.set_ylabel("keys")
    plain_numbers(ax.yaxis, whole=True)
    ax.set_title("What is in memory")
    legend_below(ax)
    return ax


def plot_stale_share(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Share of dead keys among those held: the truth, and what INFO reports."""
    ax = axes_for(ax)
    left, right = result.curve.t_ms[0], result.curve.t_ms[-1]
    unit = time_axis(ax, left, right, SINCE)
    true = [100 * share for share in result.curve.stale_share]
    t = [ms / unit for ms in result.curve.t_ms]
    ax.plot(t, true, color=VERMILLION, label="true", drawstyle="steps-post")
    seen = _estimates(result)
    # The estimate holds from one cycle to the next, so also up to both edges.
    before = [share for ms, share in seen if ms < left][-1:] or [0.0]
    seen = [(left, before[0]), *(point for point in seen if left <= point[0] <= right)]
    seen.append((right, seen[-1][1]))
    ax.step(
        [ms / unit for ms, _ in seen],
        [share for _, share in seen],
        where="post",
        color=BLUE,
        linestyle="--",
        label="INFO expired_stale_perc",
    )
    ax.set_ylabel("stale keys (%)")
    top = max(LEAST_TOP, *true, *(share for _, share in seen))
    ax.set_ylim(-0.03 * top, 1.03 * top)
    ax.set_title("Stale share, true and as estimated")
    legend_below(ax)
    return ax


def _estimates(result: ExpiryResult) -> list[tuple[float, float]]:
    """Time (ms) and estimate (%) after each cycle; of idle ones that were passed over, the
    first ones, in which it falls to nothing.
    """
    seen = [(_end_ms(c, result), 100 * c.stale_perc) for c in result.cycles]
    for idle in result.idle:
        shown = min(idle.runs, DECAY_STEPS)
        step = (idle.last_us - idle.first_us) / max(idle.runs - 1, 1)
        first = idle.first_us / US_PER_MS - result.start_ms
        seen += [(first + n * step / US_PER_MS, -1 - n) for n in range(shown)]
    seen.sort()
    estimate = 0.0
    for i, (ms, share) in enumerate(seen):
        # Negative: a cycle that sampled no dead key, so the estimate decays.
        estimate = share if share >= 0 else estimate * (1 - STALE_WEIGHT)
        seen[i] = ms, estimate
    return seen


def plot_work(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Each cycle's duration, and whether it ended by itself or by the time limit.

    Idle cycles that were passed over after the first death are a line at their mean
    duration. An axis of logarithms has no 0: if there are cycles of 0 µs it is said where
    they are drawn.
    """
    ax = axes_for(ax)
    left, right = result.curve.t_ms[0], result.curve.t_ms[-1]
    unit = time_axis(ax, left, right, SINCE)
    cycles = [c for c in result.cycles if _end_ms(c, result) >= left]
    step = max(len(cycles) // SCATTER_POINTS_MAX, 1)
    for exit, (color, markers, label) in _EXITS.items():
        for type, marker in markers.items():
            some = [c for c in cycles if c.type == type and c.exit is exit][::step]
            if some:
                ax.scatter(
                    [_end_ms(c, result) / unit for c in some],
                    [max(c.elapsed_us, SHORTEST_US) / US_PER_MS for c in some],
                    s=MARKER_SIZE,
                    color=color,
                    marker=marker,
                    label=f"{type}, {label}",
                )
    first_ms = result.start_ms + result.first_death_ms
    idle = [i for i in result.idle if i.first_us >= first_ms * US_PER_MS]
    if idle:
        some_idle = idle[:: max(len(idle) // SCATTER_POINTS_MAX, 1)]
        ax.hlines(
            [max(i.cycle_us / i.runs, SHORTEST_US) / US_PER_MS for i in some_idle],
            [(i.first_us / US_PER_MS - result.start_ms) / unit for i in some_idle],
            [(i.last_us / US_PER_MS - result.start_ms) / unit for i in some_idle],
            color=GREY,
            label=f"slow, idle: mean of {result.idle_cycles:,}",
        )
    ax.set_yscale("log")
    shortest = min((c.elapsed_us for c in cycles), default=SHORTEST_US)
    note = f", drawn at {SHORTEST_US / US_PER_MS:g} or more" if shortest < SHORTEST_US else ""
    ax.set_ylabel(f"duration of the cycle (ms{note})")
    ax.set_title("Work per cycle and how it ended")
    if cycles or idle:
        legend_below(ax, columns=2)
    return ax


def plot_lag_ecdf(result: ExpiryResult, ax: Axes | None = None) -> Axes:
    """Deletion lag: which share of all keys was deleted within how long of their death."""
    ax = axes_for(ax)
    lags = result.lags_ms
    step = max(len(lags) // SCATTER_POINTS_MAX, 1)
    places = [*range(0, len(lags), step), *([len(lags) - 1] if lags else [])]
    x = [0, *(lags[i] for i in places)]
    y = [0.0, *(100 * (i + 1) / result.keys for i in places)]
    ax.step(x, y, where="post", color=BLUE, label="keys deleted")
    for share, name, color, style in ((0.5, "median", GREEN, "--"), (0.99, "99 %", ORANGE, ":")):
        lag = result.lag_percentile(share)
        if lag is not None:
            label = f"{name} {milliseconds(lag)}"
            ax.axvline(lag, color=color, linestyle=style, label=label)
    longest = max(x[-1], 1)
    ax.set_xlim(-0.03 * longest, 1.03 * longest)
    plain_numbers(ax.xaxis, whole=True)
    ax.set_xlabel("time from death to deletion (ms)")
    ax.set_ylabel("keys deleted (% of all)")
    ax.set_ylim(-3, 103)
    ax.set_title("Deletion lag (ECDF)")
    legend_below(ax)
    return ax


def expiry_page(result: ExpiryResult) -> Figure:
    """One page with all four plots."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.6), layout="constrained")
    plot_population(result, axes[0][0])
    plot_stale_share(result, axes[0][1])
    plot_work(result, axes[1][0])
    plot_lag_ecdf(result, axes[1][1])
    figure.suptitle(
        f"{count(result.keys, 'key')} expiring, hz {result.hz}, "
        f"active-expire-effort {result.effort} (simulated, seed {result.seed})"
    )
    return figure


def alt_text(result: ExpiryResult) -> str:
    """The page in words, for those who cannot see it."""
    half, all_gone = result.gone_ms[0.5], result.gone_ms[1.0]
    first, lag = result.first_death_ms, result.lag_percentile(0.5)
    cycles = result.number_of("slow") + result.number_of("fast")
    parts = [
        f"Four plots of {count(result.keys, 'key')} expiring in a simulated Redis with hz "
        f"{result.hz} and active-expire-effort {result.effort}.",
        f"The first death is {first / 1000:,g} s after the keys were written.",
        "Half of the keys are not deleted within the run."
        if half is None
        else f"Half of the keys are gone {milliseconds(half - first)} after it,",
        f"{result.remaining:,} still held at the end."
        if all_gone is None
        else f"all {milliseconds(all_gone - first)} after it.",
        f"At most {count(result.peak_dead_held, 'dead key')} held at once; the largest share of "
        f"dead keys among those held is {100 * result.peak_stale_share:.1f} %.",
        f"{count(cycles, 'cycle')} from the first death on, {result.time_cap_reached:,} of them "
        "ended by the time limit.",
        "Half of the keys have no deletion lag within the run."
        if lag is None
        else f"The median deletion lag is {milliseconds(lag)}.",
    ]
    return " ".join(parts)


def _end_ms(cycle: CycleReport, result: ExpiryResult) -> float:
    return (cycle.start_us + cycle.elapsed_us) / US_PER_MS - result.start_ms
