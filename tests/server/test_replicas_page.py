"""docs/replicas.md shows what happens, so it must."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "replicas.md"


def test_the_page_runs_as_it_stands() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, verbose=False)
    assert tried > 30
    assert failed == 0
