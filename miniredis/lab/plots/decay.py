"""Figures that lay what a real server did over what is simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import matplotlib.pyplot as plt

from miniredis.lab.curves import Measured, MeasuredCurve, Setting
from miniredis.lab.experiments import ExpiryResult
from miniredis.lab.plots.style import BLUE, GREEN, ORANGE, VERMILLION, axes_for
from miniredis.net.live_expiry import LiveResult
from miniredis.net.sighting import Sighting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# By active-expire-effort: colour, line of the simulated runs, marker of the measured one.
_EFFORTS = {1: (BLUE, "-", "o"), 5: (ORANGE, "--", "s"), 10: (GREEN, "-.", "^")}
_OTHER_EFFORT = (VERMILLION, "-", "D")
LINEAR_BELOW = 1  # % held, below which the axis is linear, so that 0 can be shown
BAND_ALPHA = 0.25
MARKS = 12  # on a measured curve
POINTS_SHOWN = 60  # at most so many on a line: more steps cannot be told apart in print
STEPS_SHOWN = 40  # a line of more points is drawn without steps
HELD_TICKS = (0, 1, 10, 50, 100)

Runs = Sequence[ExpiryResult]


def plot_decay(
    runs: Mapping[Setting, Runs],
    curves: Mapping[Setting, MeasuredCurve],
    ax: Axes | None = None,
) -> Axes:
    """Share of the keys still held over the time since their death, by effort.

    Simulated runs of one setting differ in the phase of the cron: the line is the middle
    run's, the band spans them all. Marks are a measured run's, with a dotted line.
    """
    ax = axes_for(ax)
    for setting, some in runs.items():
        color, line, marker = _EFFORTS.get(setting.effort, _OTHER_EFFORT)
        label = f"effort {setting.effort}"
        middle = some[len(some) // 2]
        t, held = _thinned(*_held_percent(middle.sightings, setting.keys, middle.first_death_ms))
        ax.plot(
            t,
            held,
            drawstyle=_drawstyle(t),
            color=color,
            linestyle=line,
            label=f"{label}, simulated",
        )
        _band(ax, some, color)
        curve = curves.get(setting)
        if curve is not None:
            seen = [
                (ms, 100 * n / setting.keys) for ms, n in zip(curve.t_ms, curve.held, strict=True)
            ]
            t, held = _thinned(*zip(*(point for point in seen if point[0] >= 0), strict=True))
            ax.plot(
                t,
                held,
                color=color,
                linestyle=":",
                drawstyle=_drawstyle(t),
                marker=marker,
                markevery=max(len(t) // MARKS, 1),
                markersize=5,
                markerfacecolor="white",
                label=f"{label}, measured",
            )
    _held_axis(ax)
    ax.set_xlim(left=0)
    ax.set_xlabel("time since the keys' death (ms)")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax


def decay_page(runs: Mapping[Setting, Runs], curves: Mapping[Setting, MeasuredCurve]) -> Figure:
    """Simulated and measured decays: a row for each number of keys, a column for each hz."""
    sizes = sorted({s.keys for s in runs})
    rates = sorted({s.hz for s in runs})
    figure, grid = plt.subplots(
        len(sizes),
        len(rates),
        figsize=(5.5 * len(rates), 3.2 * len(sizes) + 1),
        layout="constrained",
        squeeze=False,
    )
    for row, keys in zip(grid, sizes, strict=True):
        for ax, hz in zip(row, rates, strict=True):
            some = {s: r for s, r in runs.items() if (s.keys, s.hz) == (keys, hz)}
            plot_decay(some, curves, ax)
            ax.set_title(f"{keys:,} keys, hz {hz}")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle("Keys that die at once: simulated, and measured on redis-server 7.0.15")
    return figure


def decay_alt_text(runs: Mapping[Setting, Runs], measured: Mapping[Setting, Measured]) -> str:
    """The page in words."""
    parts = ["Decay of keys that die at once, simulated and measured on redis-server 7.0.15."]
    for setting, some in runs.items():
        times = sorted(t for run in some if (t := run.seen_gone_ms(1.0)) is not None)
        text = f"{setting}: simulated, all are gone "
        text += f"after {times[0]:.0f} to {times[-1]:.0f} ms" if times else "not within the run"
        if setting in measured:
            real = measured[setting].gone_ms[1.0]
            text += f"; measured, after {min(real):.0f} to {max(real):.0f} ms"
        parts.append(text + ".")
    return " ".join(parts)


def plot_beside(runs: Runs, live: LiveResult, ax: Axes | None = None) -> Axes:
    """Keys held over time, in the simulator and on the real server, as an observer saw them."""
    ax = axes_for(ax)
    middle = runs[len(runs) // 2]
    t, held = _held_percent(middle.sightings, live.keys, middle.first_death_ms)
    ax.step(t, held, where="post", color=BLUE, label="simulated")
    _band(ax, runs, BLUE)
    t, held = _held_percent(live.sightings, live.keys, 0)
    ax.plot(
        t,
        held,
        color=VERMILLION,
        linestyle=":",
        marker="o",
        markevery=max(len(t) // (2 * MARKS), 1),
        markersize=5,
        markerfacecolor="white",
        label=f"real server {live.version}",
    )
    _held_axis(ax)
    ax.set_xlabel("time since the first death (ms)")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_title("Keys held")
    ax.legend()
    return ax


def plot_estimates_beside(runs: Runs, live: LiveResult, ax: Axes | None = None) -> Axes:
    """``expired_stale_perc`` of both over time."""
    ax = axes_for(ax)
    middle = runs[len(runs) // 2]
    ax.step(
        [s.t_recv_ms - middle.first_death_ms for s in middle.sightings],
        [100 * s.stale_perc for s in middle.sightings],
        where="post",
        color=BLUE,
        label="simulated",
    )
    ax.plot(
        [s.t_recv_ms for s in live.sightings],
        [100 * s.stale_perc for s in live.sightings],
        color=VERMILLION,
        linestyle=":",
        marker="o",
        markevery=max(len(live.sightings) // (2 * MARKS), 1),
        markersize=5,
        markerfacecolor="white",
        label=f"real server {live.version}",
    )
    ax.set_xlabel("time since the first death (ms)")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_ylabel("expired_stale_perc of INFO (%)")
    ax.set_ylim(-3, 103)
    ax.set_title("The server's own estimate of stale keys")
    ax.legend()
    return ax


def beside_page(runs: Runs, live: LiveResult) -> Figure:
    """One page: simulator and real server side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    plot_beside(runs, live, axes[0])
    plot_estimates_beside(runs, live, axes[1])
    figure.suptitle(
        f"{live.keys:,} keys expiring, hz {live.hz}, active-expire-effort {live.effort}: "
        f"simulated, and on a real server"
    )
    return figure


def beside_alt_text(runs: Runs, live: LiveResult) -> str:
    """The page in words."""
    parts = [f"{live.keys:,} keys expiring, simulated and on a real server {live.version}."]
    for share in (0.5, 1.0):
        times = [ms for run in runs if (ms := run.seen_gone_ms(share)) is not None]
        real = live.seen_gone_ms(share)
        simulated = f"after {min(times):.0f} to {max(times):.0f} ms" if times else "never"
        seen = f"after {real:.0f} ms" if real is not None else "never"
        parts.append(f"{share:.0%} are gone {simulated} simulated, {seen} on the real server.")
    return " ".join(parts)


def _held_percent(
    sightings: Sequence[Sighting], keys: int, origin_ms: float
) -> tuple[list[float], list[float]]:
    """Times since *origin_ms*, and keys held in percent, of one observer."""
    t = [s.t_recv_ms - origin_ms for s in sightings]
    return t, [100 * s.dbsize / keys for s in sightings]


def _band(ax: Axes, runs: Runs, color: str) -> None:
    """What lies between the runs of all phases."""
    curves = [_held_percent(r.sightings, r.keys, r.first_death_ms) for r in runs]
    times, _ = _thinned(*[sorted({t for ts, _ in curves for t in ts})] * 2)
    rows = [_resampled(ts, held, times) for ts, held in curves]
    low = [min(column) for column in zip(*rows, strict=True)]
    high = [max(column) for column in zip(*rows, strict=True)]
    step: Literal["post"] | None = "post" if len(times) <= STEPS_SHOWN else None
    ax.fill_between(times, low, high, step=step, color=color, alpha=BAND_ALPHA, linewidth=0)


def _drawstyle(t: Sequence[float]) -> Literal["default", "steps-post"]:
    """Steps where each can be seen, else a line through their ends."""
    return "steps-post" if len(t) <= STEPS_SHOWN else "default"


def _thinned(t: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """The step function through *t*, *values* without steps too close to be seen apart."""
    apart = (t[-1] - t[0]) / POINTS_SHOWN if t else 0
    kept = [0] if t else []
    for i in range(1, len(t)):
        if t[i] - t[kept[-1]] >= apart or i == len(t) - 1:
            kept.append(i)
    return [t[i] for i in kept], [values[i] for i in kept]


def _resampled(t: list[float], values: list[float], times: list[float]) -> list[float]:
    """The step function through *t*, *values* at each of *times* (sorted)."""
    result, i = [], 0
    for at in times:
        while i + 1 < len(t) and t[i + 1] <= at:
            i += 1
        result.append(values[i])
    return result


def _held_axis(ax: Axes) -> None:
    ax.set_yscale("symlog", linthresh=LINEAR_BELOW)
    ax.set_yticks(HELD_TICKS, [str(tick) for tick in HELD_TICKS])
    ax.set_ylim(-0.05, 130)
    ax.set_ylabel("keys still held (%)")
