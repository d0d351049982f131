"""Every page of documentation runs, and prints what it says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.docs.generated import GENERATORS, PART, with_generated_parts
from tests.docs.pages import (
    ROOT,
    blocks_of,
    differences,
    main,
    pages,
    rewritten,
    translation,
)

ODDITIES = ROOT / "docs/oddities"
ENGLISH = sorted(ODDITIES.glob("*.md"))
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)]+)\)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<path>[^)#]+)[^)]*\)")
FIGURE_BYTES_MAX = 150_000
# What each page must show: an index and nine oddities.
NAMES = {
    *("README", "dead-stale-gate", "estimate-above-truth", "sparse-tail", "first-clock-check"),
    *("cron-period", "avg-ttl-drift", "randomkey-paused", "pttl-zero", "set-pxat-past"),
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# Translations have the same code, which is checked below; it need not run twice.
@pytest.mark.parametrize("page", [p for p in pages() if p.parent.name != "zh"], ids=name_of)
def test_a_page_prints_what_it_says(page: Path) -> None:
    found = differences(page.read_text(encoding="utf-8"), name_of(page))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_generated_parts_are_current(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_generated_parts(text) == text, "python -m tests.docs.pages --write mends this"


def test_every_generator_is_used() -> None:
    used = {part["name"] for page in pages() for part in PART.finditer(page.read_text("utf-8"))}
    assert used == GENERATORS.keys()


def test_a_part_that_is_not_current_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("A\n<!-- generated: command-count -->\nold\n<!-- end -->\nB\n")
    monkeypatch.setattr("tests.docs.pages.pages", lambda: [page])
    monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path)
    assert main(write=False) == 1
    assert "a generated part is not current" in capsys.readouterr().out
    assert main(write=True) == 0
    assert re.search(r"A\n.*\n\nThere are \d+ commands.*\n\n<!-- end -->\nB\n", page.read_text())


@pytest.mark.parametrize("name", ["README.md", "docs/tour.md", "docs/design.md"])
def test_these_pages_have_code(name: str) -> None:
    assert blocks_of((ROOT / name).read_text(encoding="utf-8"))


def test_all_oddities_are_there_and_show_a_run() -> None:
    assert {page.stem for page in ENGLISH} == NAMES
    for page in ENGLISH:
        outputs = [block.output for block in blocks_of(page.read_text(encoding="utf-8"))]
        assert page.stem == "README" or any(outputs), page


@pytest.mark.parametrize("page", ENGLISH, ids=lambda page: page.stem)
def test_the_chinese_page_has_the_same_code_and_figures(page: Path) -> None:
    english = page.read_text(encoding="utf-8")
    chinese = translation(page).read_text(encoding="utf-8")
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert [(b.code, b.output) for b in blocks_of(chinese)] == [
        (b.code, b.output) for b in blocks_of(english)
    ]
    figures = [m["path"] for m in IMAGE.finditer(english)]
    assert [m["path"].removeprefix("../") for m in IMAGE.finditer(chinese)] == figures


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_figures_and_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for image in IMAGE.finditer(text):
        figure = page.parent / image["path"]
        assert len(image["alt"]) > 40, f"{image['path']} needs words for those who cannot see it"
        assert 5_000 < figure.stat().st_size < FIGURE_BYTES_MAX
    for link in LINK.finditer(text):
        if "://" not in link["path"]:
            assert (page.parent / link["path"]).exists(), link["path"]


def test_the_index_names_every_page() -> None:
    for directory in (ODDITIES, ODDITIES / "zh"):
        index = (directory / "README.md").read_text(encoding="utf-8")
        named = set(re.findall(r"\]\(([a-z-]+)\.md\)", index))
        assert named == NAMES - {"README"}


def test_figures_are_those_that_the_code_draws(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("figures", ODDITIES / "figures.py")
    assert spec is not None and spec.loader is not None
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    names = {figures.file_name(draw) for draw in figures.FIGURES}
    assert names == {path.name for path in (ODDITIES / "figures").iterdir()}
    for draw in figures.FIGURES:
        ax = figures.new_axes()
        draw(ax)
        assert ax.get_xlabel() and ax.get_ylabel() and ax.get_title()
        assert ax.lines or ax.collections
        figures.plt.close()


# -- the runner itself ---------------------------------------------------------------------

PAGE = """# A page

```python
x = 2
print(x + 1)
```

```text
3
```

```python
print("two", x)
```

Text in between.

```text
this belongs to nobody
```

```
$ a command
```
"""


def test_blocks() -> None:
    first, second = blocks_of(PAGE)
    assert (first.code, first.output, first.line) == ("x = 2\nprint(x + 1)\n", "3\n", 4)
    assert (second.output, second.line) == (None, 13)


def test_what_is_printed_must_stand_in_the_page() -> None:
    assert differences(PAGE, "page") == ["page:13: printed\ntwo 2\nbut the page says\n"]
    assert "page:4" in differences(PAGE.replace("3\n", "4\n"), "page")[0]
    assert len(differences(PAGE.replace('print("two", x)', "x"), "page")) == 0


def test_output_that_is_not_printed_is_a_difference() -> None:
    page = "```python\nx = 1\n```\n\n```text\n1\n```\n"
    assert differences(page, "page") == ["page:2: printed\nbut the page says\n1\n"]


def test_an_exception_names_the_line() -> None:
    with pytest.raises(NameError) as caught:
        differences(PAGE.replace("x + 1", "y"), "page.md")
    assert caught.traceback[-1].lineno + 1 == 5
    assert str(caught.traceback[-1].path).endswith("page.md")


def test_output_can_be_written() -> None:
    codes = [block.code for block in blocks_of(PAGE)]
    page = rewritten(PAGE, ["3\n", "two 2\n"], codes)
    assert differences(page, "page") == []
    assert page.count("this belongs to nobody") == 1
    assert rewritten(page, ["3\n", "two 2\n"], codes) == page


def test_the_tool_finds_nothing_to_complain_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    monkeypatch.setattr("tests.docs.pages.pages", lambda: [page])
    monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path)
    assert main(write=False) == 1
    assert "page.md:13" in capsys.readouterr().out
    assert main(write=True) == 0
    assert main(write=False) == 0


def test_the_figure_of_replicas_is_what_the_code_draws() -> None:
    path = ROOT / "docs/figures/replicas.py"
    spec = importlib.util.spec_from_file_location("replicas_figure", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    figure, text = module.draw()
    drawn = (ROOT / "docs/figures/replicas.svg").read_text(encoding="utf-8")
    assert text in drawn and len(drawn) < FIGURE_BYTES_MAX
    for label in figure.axes[0].get_yticklabels():
        assert f">{label.get_text()}</text>" in drawn
