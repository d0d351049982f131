"""``miniredis expire``: how keys with a time to live go away, as a table and a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miniredis.cli.params import Duration
from miniredis.cli.progress import show_progress
from miniredis.cli.ttls import check_sources, find_ttls
from miniredis.keyspace.engines import DEFAULT_ENGINE, ENGINES

if TYPE_CHECKING:
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
    type=click.Path(dir_okay=False, path_type=Path),
    help="CSV file with a column of times to live in ms; '-' reads standard input.",
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
@click.option("--no-activerehashing", is_flag=True, help="Do not move buckets in the cron.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Figure to draw."
)
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
    if output is not None and not output.absolute().parent.is_dir():
        raise click.UsageError(f"the directory of {output} does not exist")
    from miniredis.lab.experiments import run_expiry

    with show_progress() as progress:
        values = find_ttls(keys, ttl, ttl_max, ttls, column, source, seed, progress)
        try:
            result = run_expiry(
                values,
                hz=hz,
                effort=effort,
                seed=seed,
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
    if as_json:
        click.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print_table(result, output)


def _draw(result: ExpiryResult, output: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from miniredis.lab import plots

    figure = plots.expiry_page(result)
    try:
        plots.save(figure, output, plots.alt_text(result))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {output}: {error}") from None


def _print_table(result: ExpiryResult, output: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"{result.keys:,} keys, hz {result.hz}, effort {result.effort}, "
        f"engine {result.engine}, seed {result.seed}",
        show_header=False,
    )
    first = result.first_death_ms
    table.add_row("first key dies", f"{first / 1000:,.3f} s after writing")
    for share, ms in result.gone_ms.items():
        text = "not within the run" if ms is None else f"{ms - first:,} ms after the first death"
        table.add_row(f"{share:.0%} gone".replace("%", " %"), text)
    table.add_row("peak stale share", f"{100 * result.peak_stale_share:.1f} %")
    for type in ("slow", "fast"):
        table.add_row(f"{type} cycles", f"{len(result.cycles_of(type)):,}")
    table.add_row("time-limit exits", f"{result.time_cap_reached:,}")
    table.add_row("cycle CPU", f"{result.cycle_us / 1000:,.1f} ms")
    table.add_row("CPU share", f"{100 * result.cpu_share:.1f} %")
    median, p99 = result.lag_percentile(0.5), result.lag_percentile(0.99)
    table.add_row("deletion lag", f"median {median} ms, 99 % {p99} ms")
    if result.remaining:
        table.add_row("still held", f"{result.remaining:,}")
    console = Console()
    console.print(table)
    if output is not None:
        console.print(f"figure: {output}", highlight=False, soft_wrap=True)
