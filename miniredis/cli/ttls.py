"""Where the times to live come from: options, a CSV file, or a live server."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click


def check_sources(
    keys: int | None,
    ttl: int | None,
    ttl_max: int | None,
    ttls: Path | None,
    column: str | None,
    source: str | None,
) -> None:
    if ttls is not None and source is not None:
        raise click.UsageError("--ttls and --from exclude each other")
    if (ttls is not None or source is not None) and not (keys is ttl is ttl_max is None):
        raise click.UsageError("--keys, --ttl and --ttl-max do not go with --ttls or --from")
    if column is not None and ttls is None:
        raise click.UsageError("--column needs --ttls")
    if ttl_max is not None and ttl_max < (ttl or 10_000):
        raise click.UsageError("--ttl-max must not be less than --ttl")


def find_ttls(
    keys: int | None,
    ttl: int | None,
    ttl_max: int | None,
    ttls: Path | None,
    column: str | None,
    source: str | None,
    seed: int,
    progress: Callable[[str, int, int], None],
) -> list[int]:
    """The times to live in ms, from wherever they are to come."""
    if ttls is not None:
        return read_ttls_csv(ttls, column)
    if source is not None:
        from miniredis.net.remote import read_ttls

        try:
            values = read_ttls(source, progress)
        except ValueError as error:
            raise click.UsageError(f"--from {source}: {error}") from None
        except ConnectionError as error:
            raise click.ClickException(str(error)) from None
        if not values:
            raise click.ClickException(f"{source} holds no keys with a time to live")
        return values
    count, shortest = keys or 100_000, ttl or 10_000
    if ttl_max is None:
        return [shortest] * count
    import random

    rng = random.Random(seed)
    return [rng.randint(shortest, ttl_max) for _ in range(count)]


def read_ttls_csv(path: Path, column: str | None = None) -> list[int]:
    """The times to live (ms) of a CSV file's first column, or of the one headed *column*.

    A first line that is no number is a header. ``ClickException`` with line number and
    text for a line that is wrong.
    """
    try:
        with click.open_file(str(path), encoding="utf-8-sig") as file:
            return list(_parse_ttls(path, csv.reader(file), column))
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{path} is not a text file in UTF-8") from None
    except csv.Error as error:
        raise click.ClickException(f"{path}: {error}") from None


def _parse_ttls(path: Path, rows: Any, column: str | None) -> Iterator[int]:
    index = 0
    found = False
    first = True
    for row in rows:
        if not row or not any(cell.strip() for cell in row):
            continue
        if first:
            first = False
            if column is not None:
                names = [cell.strip() for cell in row]
                if column not in names:
                    raise click.ClickException(
                        f"{path} line {rows.line_num}: no column {column!r} in {', '.join(names)}"
                    )
                index = names.index(column)
                continue
            if not _is_number(row[0]):
                continue
        text = row[index].strip() if index < len(row) else ""
        if not re.fullmatch(r"[0-9]{1,15}", text) or int(text) < 1:
            shown = ",".join(row)[:60]
            raise click.ClickException(
                f"{path} line {rows.line_num}: {shown!r} has no time to live in whole ms, 1 or more"
            )
        found = True
        yield int(text)
    if not found:
        raise click.ClickException(f"{path} holds no times to live")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?[0-9.]+\s*", text) is not None
