"""The pages of patterns: each pattern that there is has one, in English and in Chinese."""

from __future__ import annotations

import html
import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from patterns import PATTERNS
from patterns.__main__ import main
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


def figures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pattern_figures", PAGES / "figures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_figures_are_those_of_the_demonstrations() -> None:
    module = figures()
    assert {f"{name}.svg" for name in module.demos()} == {
        path.name for path in (PAGES / "figures").iterdir()
    }


@pytest.mark.parametrize("name", DONE)
def test_a_demonstration_plays_and_draws(name: str, tmp_path: Path) -> None:
    output = tmp_path / "figure.svg"
    demo = importlib.import_module(f"patterns.demos.{name}")
    drawn = hasattr(demo, "draw")
    result = CliRunner().invoke(main, [name, *(["-o", str(output)] if drawn else [])])
    assert result.exit_code == 0, result.output
    assert result.output.count("\n") >= 3
    if drawn:
        ax = figures().plt.subplots()[1]
        shown = figures().shown_by(demo)
        assert demo.draw(shown, ax=ax) is ax
        assert ax.get_xlabel() and ax.get_ylabel() and ax.get_title()
        assert len(demo.alt_text(shown)) > 40
        text = output.read_text(encoding="utf-8")
        assert "<svg" in text and demo.alt_text(shown)[:30] in text
        # What the page shows is what is drawn now: the same words stand in it.
        page = (PAGES / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        for label in (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()):
            assert html.escape(label, quote=False) in page
    figures().plt.close("all")


def test_usage_of_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["locks", "--redis", "http://x"]).exit_code == 2
    assert run(main, ["locks", "--redis", "redis://localhost:1"]).exit_code == 1
    for bad in ("no/where.png", "x.nothing", str(tmp_path)):
        result = run(main, ["locks", "-o", bad])
        assert result.exit_code == 2 and "-o" in result.output and not Path(bad).is_file()
