"""What all figures share: colours and axes.

Colours are of the Okabe-Ito palette, which colour-blind readers can tell apart; line
style or marker shape says the same once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette.
BLUE, ORANGE, GREEN, VERMILLION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"


def axes_for(ax: Axes | None, inches: tuple[float, float] = (6, 4)) -> Axes:
    """*ax*, or axes of a new figure of *inches*, width and height."""
    return plt.subplots(figsize=inches, layout="constrained")[1] if ax is None else ax
