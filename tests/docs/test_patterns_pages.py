"""The pages of patterns: each pattern that there is has one, in English and in Chinese."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from patterns import PATTERNS
from tests.docs.pages import ROOT, blocks_of, translation

PAGES = ROOT / "docs/patterns"
DONE = [name for name in PATTERNS if importlib.util.find_spec(f"patterns.{name}")]
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


@pytest.mark.parametrize("name", DONE)
def test_a_pattern_has_its_page_in_both_languages(name: str) -> None:
    english = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    chinese = translation(PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert any(block.output for block in blocks_of(english)), "the page shows no run"
    assert [(b.code, b.output) for b in blocks_of(chinese)] == [
        (b.code, b.output) for b in blocks_of(english)
    ]
    figures = IMAGE.findall(english)
    assert [path.removeprefix("../") for path in IMAGE.findall(chinese)] == figures
    assert english.count("\n## ") == chinese.count("\n## ") >= 3


@pytest.mark.parametrize("directory", [PAGES, PAGES / "zh"], ids=lambda path: path.name)
def test_the_index_names_every_page(directory: Path) -> None:
    index = (directory / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([a-z_]+)\.md\)", index)) == set(DONE)
