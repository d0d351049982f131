"""Draws the figures of these pages: ``python docs/patterns/figures.py [directory]``.

One for each demonstration that has a figure, as ``python -m patterns NAME -o`` draws it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

from miniredis import Server, VirtualClock
from patterns import PATTERNS
from patterns.demos.stage import Stage

SEED = 7
HERE = Path(__file__).parent

# Letters stay letters, and the same data give the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "miniredis"


def demos() -> dict[str, ModuleType]:
    """The demonstrations that have a figure, by the pattern's name."""
    found = {}
    for name in PATTERNS:
        if importlib.util.find_spec(f"patterns.demos.{name}") is not None:
            demo = importlib.import_module(f"patterns.demos.{name}")
            if hasattr(demo, "draw"):
                found[name] = demo
    return found


def shown_by(demo: ModuleType) -> object:
    """What a demonstration shows when it plays on the simulator."""
    clock = VirtualClock()
    server = Server(clock, seed=SEED)
    return demo.run(Stage(lambda: server.client(decode_responses=True), clock, lambda line: None))


def main(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name, demo in demos().items():
        figure = demo.draw(shown_by(demo)).figure
        figure.savefig(directory / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)
        print(directory / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "figures")
