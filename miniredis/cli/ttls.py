"""Where the times to live come from: options, a CSV file, or a live server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from miniredis.cli.csv_ttls import read_ttls_csv


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
    notes: list[str],
) -> list[int]:
    """The times to live in ms, from wherever they are to come; *notes* gets what to say."""
    if ttls is not None:
        return read_ttls_csv(ttls, column, notes)
    if source is not None:
        from miniredis.net.remote import read_ttls, without_secrets

        try:
            values = read_ttls(source, progress)
        except ValueError as error:
            raise click.UsageError(f"--from: {error}") from None
        except ConnectionError as error:
            raise click.ClickException(str(error)) from None
        if not values:
            raise click.ClickException(
                f"{without_secrets(source)} holds no keys with a time to live"
            )
        return values
    count, shortest = keys or 100_000, ttl or 10_000
    if ttl_max is None:
        return [shortest] * count
    import random

    rng = random.Random(seed)
    return [rng.randint(shortest, ttl_max) for _ in range(count)]
