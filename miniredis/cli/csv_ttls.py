"""Times to live from a CSV file: one column of whole ms."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import click

from miniredis.cli.params import shown
from miniredis.lab.workload import MAX_TTL_MS

MAX_DIGITS = len(str(MAX_TTL_MS))
ROW_SHOWN = 60  # letters of a wrong row
# A header begins with a letter, so that no slip of a number (1e3, 10s, #c) passes for one;
# nor does a word that programs write for a number that is missing.
_NO_NAMES = frozenset(
    {"nan", "inf", "infinity", "null", "none", "nil", "na", "n/a", "true", "false"}
)


def read_ttls_csv(
    path: Path, column: str | None = None, notes: list[str] | None = None
) -> list[int]:
    """The times to live (ms) of a CSV file's first column, or of the one headed *column*.

    Without *column* the first line is a header if it begins with a letter; what was taken
    for one goes into *notes*. ``ClickException`` with line number and text for a line that
    is wrong.
    """
    name = "standard input" if str(path) == "-" else str(path)
    if name != str(path) and sys.stdin is None:
        raise click.ClickException(f"cannot read {name}: it is closed")
    try:
        with click.open_file(str(path), encoding="utf-8-sig") as file:
            rows = csv.reader(file, strict=True)
            begun = [0]
            try:
                return list(_parse(name, rows, column, notes if notes is not None else [], begun))
            except csv.Error as error:
                raise click.ClickException(_explain(name, rows, begun[0], error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{name} is not a text file in UTF-8") from None


def _parse(
    name: str, rows: Any, column: str | None, notes: list[str], begun: list[int]
) -> Iterator[int]:
    """The times; *begun* is kept at the number of lines that are done with."""
    index = 0
    found = False
    first = True
    for row in rows:
        begun[0] = rows.line_num
        if not any(cell.strip() for cell in row):
            continue
        if first:
            first = False
            if column is not None:
                index = _find_column(name, rows.line_num, row, column)
                continue
            if _is_name(row[0].strip()):
                notes.append(
                    f"line {rows.line_num} of {name}, {shown(','.join(row))}, "
                    "was taken for a header"
                )
                continue
        yield _time(name, rows.line_num, row, index)
        found = True
    if not found:
        raise click.ClickException(f"{name} holds no times to live")


def _find_column(name: str, line: int, row: list[str], column: str) -> int:
    names = [cell.strip() for cell in row]
    if column not in names:
        listed = shown(", ".join(names), ROW_SHOWN)
        raise click.ClickException(f"{name} line {line}: no column {column!r} in {listed}")
    return names.index(column)


def _is_name(text: str) -> bool:
    return text[:1].isalpha() and text.lower() not in _NO_NAMES


def _time(name: str, line: int, row: list[str], index: int) -> int:
    text = row[index].strip() if index < len(row) else ""
    if not re.fullmatch("[0-9]+", text):
        hint = f" in column {index + 1}; --column chooses one by its header" if len(row) > 1 else ""
        _refuse(name, line, row, f"has no time to live in whole ms{hint}")
    text = text.lstrip("0")
    if not text:
        _refuse(name, line, row, "has a time to live of 0; 1 ms is the least")
    if len(text) > MAX_DIGITS or int(text) > MAX_TTL_MS:
        _refuse(name, line, row, "has a time to live above 10^15 ms")
    return int(text)


def _refuse(name: str, line: int, row: list[str], why: str) -> NoReturn:
    raise click.ClickException(f"{name} line {line}: {shown(','.join(row), ROW_SHOWN)} {why}")


def _explain(name: str, rows: Any, done: int, error: csv.Error) -> str:
    """What csv complains of, in a user's words; *done* lines came before."""
    text = str(error)
    if "unexpected end" in text or "field larger" in text:
        return f"{name} line {done + 1}: a quotation mark is opened and never closed"
    if "expected after" in text:
        return f"{name} line {rows.line_num}: a quotation mark inside a field"
    return f"{name} line {rows.line_num}: {text}"
