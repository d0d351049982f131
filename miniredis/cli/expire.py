"""``miniredis expire``: how keys with a time to live go away, as a table and a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miniredis.cli.output import check_output, output_option, save_figure
from miniredis.cli.params import Duration, FilePath
from miniredis.cli.progress import show_progress
from miniredis.cli.ttls import check_sources, find_ttls
from miniredis.keyspace.engine import DEFAULT_ENGINE
from miniredis.keyspace.engines import ENGINES

if TYPE_CHECKING:
    from miniredis.clock import CostModel
    from miniredis.lab.experiments import ExpiryResult

MAX_KEYS = 50_000_000


@click.command()
@click.option("--keys", type=click.IntRange(1, MAX_KEYS), help="Number of keys.  [default: 100000]")
@click.option("--ttl", type=Duration(), help="Time to live of every key.  [default: 10s]")
@click.option(
    "--ttl-max",
    type=Duration(),
    help="Spread the times to live evenly at random between --ttl and this.",
)
@click.option(
    "--ttls",
    type=FilePath(),
    help="CSV file with a column of times to live in ms, 1 to 10^15; '-' reads standard input. "
    "A first line that begins with a letter is a header.",
)
@click.option("--column", help="Header of the column in the --ttls file.  [default: the first]")
@click.option("--from", "source", metavar="URL", help="Read the times to live of a live server.")
@click.option("--effort", type=click.IntRange(1, 10), default=1, show_default=True)
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default=DEFAULT_ENGINE,
    show_default=True,
    help="Version of Redis whose expiry it is.",
)
@click.option("--hz", type=click.IntRange(1, 500), default=10, show_default=True)
@click.option(
    "--poll",
    type=Duration(),
    help="Wake the event loop so often, as a client would; each time a fast cycle may run.",
)
@click.option(
    "--cost",
    type=FilePath(),
    help="File of what work costs, as `miniredis calibrate` writes it.",
)
@click.option(
    "--against",
    metavar="URL",
    help="Do the same on a real server, side by side: in the empty, unused database that the "
    "address names, such as redis://localhost/9. hz and effort are taken from the server.",
)
@click.option("--no-activerehashing", is_flag=True, help="Do not move buckets in the cron.")
@click.option("--seed", type=int, default=0, show_default=True)
@output_option()
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def expire(
    keys: int | None,
    ttl: int | None,
    ttl_max: int | None,
    ttls: Path | None,
    column: str | None,
    source: str | None,
    effort: int,
    engine: str,
    hz: int,
    poll: int | None,
    cost: Path | None,
    against: str | None,
    no_activerehashing: bool,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Simulate how keys with a time to live go away, and draw it.

    Keys are written at once; then virtual time passes until Redis's active expire cycle
    has deleted all of them. Nobody reads them meanwhile.
    """
    check_sources(keys, ttl, ttl_max, ttls, column, source)
    check_output(output)
    from miniredis.lab.experiments import run_expiry

    model = None if cost is None else _read_cost(cost)
    notes: list[str] = []
    beside = None
    with show_progress() as progress:
        values = find_ttls(keys, ttl, ttl_max, ttls, column, source, seed, progress, notes)
        if against is not None:
            from miniredis.cli.against import run_beside

            beside = run_beside(against, values, poll, model, engine, output, progress)
        else:
            try:
                result = run_expiry(
                    values,
                    hz=hz,
                    effort=effort,
                    seed=seed,
                    cost=model,
                    poll_ms=poll or 0,
                    progress=progress,
                    engine=engine,
                    activerehashing=not no_activerehashing,
                )
            except ValueError as error:
                raise click.ClickException(str(error)) from None
            if output is not None:
                progress("draw", 0, 1)
                _draw(result, output)
                progress("draw", 1, 1)
    for note in notes:
        click.echo(f"Note: {note}", err=True)
    if beside is not None:
        beside.show(as_json)
    elif as_json:
        click.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print_table(result, output)


def _read_cost(path: Path) -> CostModel:
    from miniredis.lab.costs import read_cost

    try:
        return read_cost(path)
    except ValueError as error:
        raise click.UsageError(f"--cost: {error}") from None
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None


def _draw(result: ExpiryResult, output: Path) -> None:
    from miniredis.lab import plots

    save_figure(plots.expiry_page(result), output, plots.alt_text(result))


def _print_table(result: ExpiryResult, output: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from miniredis.lab.words import count, milliseconds

    table = Table(
        title=f"{count(result.keys, 'key')}, hz {result.hz}, effort {result.effort}, "
        f"engine {result.engine}, seed {result.seed}",
        show_header=False,
    )
    first = result.first_death_ms
    table.add_row("first key dies", f"{first / 1000:,.3f} s after writing")
    for share, ms in result.gone_ms.items():
        gone = None if ms is None else ms - first
        text = milliseconds(gone) + ("" if gone is None else " after the first death")
        table.add_row(f"{share:.0%} gone".replace("%", " %"), text)
    most = result.peak_dead_held
    of_all = f"{100 * most / result.keys:.1f} % of all"
    table.add_row("most dead keys held", f"{most:,} at once, {of_all}")
    table.add_row("peak stale share", f"{100 * result.peak_stale_share:.1f} % of the keys held")
    for type in ("slow", "fast"):
        table.add_row(f"{type} cycles", f"{result.number_of(type):,}")
    table.add_row("time-limit exits", f"{result.time_cap_reached:,}")
    table.add_row("cycle CPU", f"{result.cycle_us / 1000:,.1f} ms")
    table.add_row("CPU share", f"{100 * result.cpu_share:.1f} %")
    median, p99 = result.lag_percentile(0.5), result.lag_percentile(0.99)
    lags = f"median {milliseconds(median)}, 99 % {milliseconds(p99)}"
    table.add_row("deletion lag, all keys", lags)
    if result.remaining:
        table.add_row("still held", f"{result.remaining:,}")
    console = Console()
    console.print(table)
    if output is not None:
        console.print(f"figure: {output}", highlight=False, soft_wrap=True)
