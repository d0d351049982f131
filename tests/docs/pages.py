"""Runs the Python of a page of documentation and compares what it prints.

In a page, a fenced ``python`` block is run; the blocks of one page share their names. A
fenced ``text`` block that follows a ``python`` block with nothing but blank lines between
is what that block prints, letter by letter. A block that prints must have one.

``python -m tests.docs.pages`` shows where pages and output differ; with ``--write`` it
writes the output into the pages, and the code of a page into its translation in ``zh/``.
What a page has generated from data (``generated.py``) is written and compared too.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.generated import with_generated_parts

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A ``python`` block and what it is said to print, None if nothing is said.

    ``start`` and ``end`` enclose its fences in the page, those of the output included.
    """

    code: str
    output: str | None
    line: int
    start: int
    end: int


def pages() -> list[Path]:
    """Every page whose code is run: the README and all of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(text: str) -> list[Block]:
    """The ``python`` blocks of a page, each with the output that belongs to it."""
    fences = list(FENCE.finditer(text))
    blocks = []
    for i, fence in enumerate(fences):
        if fence["kind"] != "python":
            continue
        output, end = None, fence.end()
        following = fences[i + 1] if i + 1 < len(fences) else None
        if following and following["kind"] == "text" and not text[end : following.start()].strip():
            output, end = following["body"], following.end()
        line = text.count("\n", 0, fence.start()) + 2
        blocks.append(Block(fence["body"], output, line, fence.start(), end))
    return blocks


def run(blocks: list[Block], name: str) -> list[str]:
    """What each block prints. An exception passes through, naming page and line."""
    names: dict[str, Any] = {"__name__": "__page__"}
    printed = []
    for block in blocks:
        # Blank lines before the code make the line numbers of a traceback those of the page.
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(code, names)
        printed.append(stream.getvalue())
    return printed


def differences(text: str, name: str) -> list[str]:
    """Where the page and its output differ, in words."""
    blocks = blocks_of(text)
    found = []
    for block, printed in zip(blocks, run(blocks, name), strict=True):
        if printed != (block.output or ""):
            found.append(
                f"{name}:{block.line}: printed\n{printed}but the page says\n{block.output or ''}"
            )
    return found


def rewritten(text: str, printed: list[str], codes: list[str]) -> str:
    """The page with *codes* for its code and *printed* for its output."""
    blocks = blocks_of(text)
    for block, out, code in reversed(list(zip(blocks, printed, codes, strict=True))):
        new = f"```python\n{code}```" + (f"\n\n```text\n{out}```" if out else "")
        text = text[: block.start] + new + text[block.end :]
    return text


def translation(page: Path) -> Path:
    return page.parent / "zh" / page.name


def main(write: bool) -> int:
    bad = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if page.parent.name == "zh":
            continue  # with the original
        if write:
            blocks = blocks_of(text)
            printed, codes = run(blocks, str(page)), [block.code for block in blocks]
            new = with_generated_parts(rewritten(text, printed, codes))
            page.write_text(new, encoding="utf-8")
            other = translation(page)
            if other.exists():
                theirs = other.read_text(encoding="utf-8")
                other.write_text(rewritten(theirs, printed, codes), encoding="utf-8")
        text, name = page.read_text(encoding="utf-8"), str(page.relative_to(ROOT))
        found = differences(text, name)
        if with_generated_parts(text) != text:
            found.append(f"{name}: a generated part is not current")
        bad += len(found)
        print(*found, sep="\n", end="\n" if found else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(write="--write" in sys.argv[1:]))
