"""What all figures share: colours, axes, and writing a file.

Colours are of the Okabe-Ito palette, which colour-blind readers can tell apart; line
style or marker shape says the same once more.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette.
BLUE, ORANGE, GREEN, VERMILLION, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"


def axes_for(ax: Axes | None, inches: tuple[float, float] = (6, 4)) -> Axes:
    """*ax*, or axes of a new figure of *inches*, width and height."""
    return plt.subplots(figsize=inches, layout="constrained")[1] if ax is None else ax


def save(figure: Figure, path: str | os.PathLike[str], description: str) -> None:
    """Write *figure* to *path* whole or not at all, with *description* inside the file.

    The suffix chooses the format. ``ValueError`` if matplotlib cannot write it.
    """
    target = Path(path)
    format = target.suffix.lstrip(".").lower() or "png"
    supported = figure.canvas.get_supported_filetypes()
    if format not in supported:
        raise ValueError(f"cannot write .{format} files; choose one of {', '.join(supported)}")
    # Each format has its own word for a description.
    key = {"png": "Description", "svg": "Description", "pdf": "Subject"}.get(format)
    metadata = {key: description} if key else None
    handle, temporary = tempfile.mkstemp(suffix=f".{format}", dir=target.parent or Path("."))
    os.close(handle)
    try:
        figure.savefig(temporary, format=format, dpi=120, metadata=metadata)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
