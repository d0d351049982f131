"""The lessons run from top to bottom and draw their figures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
COUNT_FIGURES = "\nimport matplotlib.pyplot\nprint('figures', len(matplotlib.pyplot.get_fignums()))"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", path.read_text() + COUNT_FIGURES],
        cwd=ROOT,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.rsplit("figures ", 1)[1]) >= 2
