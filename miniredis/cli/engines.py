"""``miniredis engines``: the expiry of all versions side by side."""

from __future__ import annotations

import json

import click

from miniredis.cli.progress import show_progress
from miniredis.keyspace.engines import ENGINES


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(ENGINES)))
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def engines(names: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Compare how versions of Redis expire keys.

    20,000 keys that die at once: when 99 % and all of them are gone. 1,000 new keys a
    second that live for up to 20 s: which share of the keys held is dead, and what INFO
    says of it. NAMES are those of --engine; without any, all.
    """
    from miniredis.lab.engines import as_text, compare_engines

    with show_progress() as progress:
        rows = compare_engines(names or tuple(ENGINES), seed, progress)
    if as_json:
        click.echo(json.dumps([row.as_dict() for row in rows], indent=2))
    else:
        click.echo(as_text(rows))
