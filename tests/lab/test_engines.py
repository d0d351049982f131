"""lab/engines.py: the comparison, and that docs/engines.md shows what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from miniredis.keyspace.engines import ENGINES
from miniredis.lab.engines import as_text, compare_engines, steady_shares

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


def test_the_table_of_the_page_comes_out_of_the_code() -> None:
    table = re.search(r"```\n(engine .*?)\n```", PAGE.read_text(), re.DOTALL)
    assert table is not None
    assert as_text(compare_engines()) == table[1]


def test_the_page_lists_every_engine_and_what_it_describes() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    described = [(name, engine.versions) for name, engine in ENGINES.items()]
    assert rows[: len(described)] == described
    assert [name for name, _ in rows[len(described) :]] == list(ENGINES)


def test_the_steady_share_of_7_0_is_the_measured_one() -> None:
    """On a real 7.0.15 at 1,000 keys a second: 15.8 % true, 24.9 % by INFO."""
    stale, estimate = steady_shares("7.0")
    assert stale == pytest.approx(0.158, abs=0.01)
    assert estimate == pytest.approx(0.249, abs=0.01)
