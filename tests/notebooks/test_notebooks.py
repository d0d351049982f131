"""The lessons run from top to bottom as plain Python, and draw what they promise.

Each lesson asserts the numbers its text states, so a change of behaviour shows here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
TIMEOUT = 120  # seconds; a lesson is meant to take less than 20
FIGURE_BYTES_MIN = 5_000  # an empty canvas is smaller

# Runs a lesson as __main__, then saves each figure it left open.
RUNNER = """
import runpy, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.show = lambda *args, **kwargs: None
runpy.run_path(sys.argv[1], run_name="__main__")
for number in plt.get_fignums():
    plt.figure(number).savefig(f"{sys.argv[2]}/{number:02}.png")
"""


def test_there_are_lessons() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_lesson_runs_and_draws(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(path), str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    figures = sorted(tmp_path.glob("*.png"))
    assert len(figures) >= path.read_text(encoding="utf-8").count("plt.show()") > 0
    for figure in figures:
        assert figure.stat().st_size > FIGURE_BYTES_MIN, f"{figure.name} is empty"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_text_is_in_english_and_chinese(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    cells = re.split(r"^# %%", text, flags=re.MULTILINE)
    texts = [cell for cell in cells if cell.startswith(" [markdown]")]
    assert texts
    for cell in texts:
        head = " ".join(cell.split()[:12])
        assert re.search("[a-z]{3}", cell), f"no English: {head}"
        assert re.search("[\u4e00-\u9fff]", cell), f"no Chinese: {head}"
