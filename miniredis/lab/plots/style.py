"""What all figures share: colours and axes.

Colours are of the Okabe-Ito palette, which colour-blind readers can tell apart; line
style or marker shape says the same once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator, ScalarFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's palette.
BLUE, ORANGE, GREEN, VERMILLION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"

UNITS = (("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000))  # in ms
UNITS_IN_VIEW = 5  # of a unit at least are to be seen, else a smaller one is taken
TICKS = 6  # intervals between ticks, at most
MARGIN = 0.03  # of the time drawn, left and right
LEGEND_DROP = 0.17  # of the height of the axes, from them down to the legend
SMALL = 9  # points, the size of legends


def axes_for(ax: Axes | None, inches: tuple[float, float] = (6, 4)) -> Axes:
    """*ax*, or axes of a new figure of *inches*, width and height."""
    return plt.subplots(figsize=inches, layout="constrained")[1] if ax is None else ax


def legend_below(ax: Axes, columns: int = 3) -> None:
    """The legend below the axis, where it covers nothing."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -LEGEND_DROP), ncols=columns, fontsize=SMALL)


def time_axis(ax: Axes, left_ms: float, right_ms: float, since: str) -> float:
    """Make the x axis one of time from *left_ms* to *right_ms*, and label it with its unit.

    Returns how many ms the unit has: a second, a minute, an hour or a day, so that numbers
    stay short. *since* says what time is counted from.
    """
    fitting = [unit for unit in UNITS if right_ms - left_ms >= UNITS_IN_VIEW * unit[1]]
    unit, unit_ms = fitting[-1] if fitting else UNITS[0]
    margin = max((right_ms - left_ms) * MARGIN, 1)
    ax.set_xlim((left_ms - margin) / unit_ms, (right_ms + margin) / unit_ms)
    ax.set_xlabel(f"{since} ({unit})")
    plain_numbers(ax.xaxis)
    return unit_ms


def plain_numbers(axis: Axis, whole: bool = False) -> None:
    """Few ticks, whole numbers with separators if *whole*, and no offset to be added."""
    axis.set_major_locator(MaxNLocator(TICKS, integer=whole))
    if whole:
        axis.set_major_formatter("{x:,.0f}")
    else:
        axis.set_major_formatter(ScalarFormatter(useOffset=False))
