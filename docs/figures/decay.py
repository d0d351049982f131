"""Draws the figure of docs/calibration.md: ``python docs/figures/decay.py [directory]``.

Simulates every measured setting with an observer every 20 ms; takes about ten minutes.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from miniredis.lab import plots
from miniredis.lab.curves import Setting, measured_curves, measured_decays, simulate
from miniredis.lab.experiments import ExpiryResult

# Letters stay letters, and the same data give the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "miniredis"


def draw(runs: dict[Setting, list[ExpiryResult]], directory: Path) -> None:
    """Write the figure of *runs* into *directory*."""
    figure = plots.decay_page(runs, measured_curves())
    text = plots.decay_alt_text(runs, measured_decays())
    path = directory / "decay.svg"
    plots.save(figure, path, text)
    # A tenth of a point is fine enough, and half the size.
    drawn = re.sub(r"(\d\.\d)\d+(?=[\s\"])", r"\1", path.read_text(encoding="utf-8"))
    path.write_text(drawn, encoding="utf-8")


def main() -> None:
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    settings = list(measured_curves())
    with ProcessPoolExecutor() as pool:
        draw(dict(zip(settings, pool.map(simulate, settings), strict=True)), directory)


if __name__ == "__main__":
    main()
