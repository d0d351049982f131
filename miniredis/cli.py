"""The command line: ``miniredis expire`` and ``miniredis serve``.

Exit status 2 means that the call was wrong, 1 that it failed. Heavy parts are imported
when they are needed.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from miniredis.lab.experiments import ExpiryResult

MAX_KEYS = 50_000_000
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\Z")
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Duration(click.ParamType[int]):
    """A time such as ``500ms``, ``10s``, ``2m``, ``1h``, ``7d``, as whole ms."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        match = _DURATION.match(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no time; write e.g. 500ms, 10s, 2m, 1h or 7d", param, ctx)
        ms = round(float(match[1]) * _UNITS_MS[match[2]])
        if not 1 <= ms <= 10**15:
            self.fail(f"{value!r} is out of range: 1 ms to 10^15 ms", param, ctx)
        return ms


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="miniredis")
def cli() -> None:
    """A Redis inside Python, for seeing how Redis works."""


@cli.command()
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
    _check_sources(keys, ttl, ttl_max, ttls, column, source)
    if output is not None and not output.absolute().parent.is_dir():
        raise click.UsageError(f"the directory of {output} does not exist")
    from miniredis.lab.experiments import run_expiry

    with _progress() as progress:
        values = _ttls(keys, ttl, ttl_max, ttls, column, source, seed, progress)
        try:
            result = run_expiry(
                values,
                hz=hz,
                effort=effort,
                seed=seed,
                poll_ms=poll or 0,
                progress=progress,
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


def _check_sources(
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


def _ttls(
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


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error, one line a phase; silent when that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    names = {
        "read": "reading times to live",
        "write": "writing keys",
        "expire": "letting them expire",
        "draw": "drawing",
    }
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description:22}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    tasks: dict[str, Any] = {}
    with bar:

        def progress(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bar.add_task(names[phase], total=total)
            bar.update(tasks[phase], completed=done, total=total)

        yield progress


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
        title=f"{result.keys:,} keys, hz {result.hz}, effort {result.effort}, seed {result.seed}",
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


@cli.command()
@click.option("--port", type=click.IntRange(0, 65535), default=6379, show_default=True)
@click.option("--bind", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--seed", type=int, help="Fix every random choice.")
@click.option("--hz", type=click.IntRange(1, 500), default=10, show_default=True)
@click.option("--effort", type=click.IntRange(1, 10), default=1, show_default=True)
@click.option("--databases", type=click.IntRange(1, 100_000), default=16, show_default=True)
@click.option("--enable-debug-command", type=click.Choice(["no", "yes", "local"]), default="local")
def serve(
    port: int,
    bind: str,
    seed: int | None,
    hz: int,
    effort: int,
    databases: int,
    enable_debug_command: str,
) -> None:
    """Serve clients over TCP until interrupted.

    Port 0 lets the system choose; the address is printed once connections are accepted.
    """
    from miniredis.net.tcp import run_server
    from miniredis.server.server import Server

    server = Server(
        seed=seed,
        hz=hz,
        active_expire_effort=effort,
        databases=databases,
        port=port,
        enable_debug_command=enable_debug_command,
    )
    try:
        run_server(server, bind, port, click.echo)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}:{port}: {error.strerror}") from None


def main() -> None:
    """Entry point of the ``miniredis`` program."""
    cli(prog_name="miniredis")
