"""``python -m patterns``: lists the patterns, or shows one at work.

``python -m patterns locks`` plays it on the simulator in virtual time, ``--redis URL`` on a
server of yours in real time. This file and the demonstrations are the only part of the
package that knows miniredis.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import click
import redis
from rich.console import Console
from rich.table import Table

import miniredis
from miniredis.clock import SystemClock
from patterns import PATTERNS
from patterns.demos.stage import Stage

SEED = 7


@click.command()
@click.argument("name", required=False)
@click.option("--redis", "url", help="Play on this server, e.g. redis://localhost:6379/9.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The figure; the suffix says which format.",
)
def main(name: str | None, url: str | None, output: Path | None) -> None:
    """List the patterns, or show the one called NAME at work.

    On the simulator by default, in virtual time. On a server, keys that begin with
    "demo:" are written and deleted.
    """
    if name is None:
        if url is not None or output is not None:
            raise click.UsageError("name the pattern to show; without a name they are listed")
        show_list()
        return
    if name not in PATTERNS:
        raise click.UsageError(
            f"no pattern is called {name!r}; choose one of {', '.join(PATTERNS)}"
        )
    demo = demo_of(name)
    if output is not None:
        check_output(name, demo, output)
    shown = play(demo, stage_of(url))
    if output is not None:
        save(demo, shown, output)


def show_list() -> None:
    """The table of all patterns."""
    table = Table("pattern", "what it is", box=None)
    for name, line in PATTERNS.items():
        table.add_row(name, line)
    Console().print(table)


def demo_of(name: str) -> ModuleType:
    """The module that demonstrates *name*. ``ClickException`` if there is none."""
    full = f"patterns.demos.{name}"
    if importlib.util.find_spec(full) is None:
        raise click.ClickException(f"{name} has no demonstration")
    return importlib.import_module(full)


def stage_of(url: str | None) -> Stage:
    """The simulator in virtual time, or the server at *url* in real time."""
    if url is None:
        clock = miniredis.VirtualClock()
        server = miniredis.Server(clock, seed=SEED)
        return Stage(lambda: server.client(decode_responses=True), clock, click.echo)
    try:
        client = redis.Redis.from_url(url, decode_responses=True)
        client.ping()
    except ValueError as error:
        raise click.UsageError(f"--redis: {error}") from None
    except redis.RedisError as error:
        raise click.ClickException(f"{url}: {error}") from None
    return Stage(
        lambda: redis.Redis.from_url(url, decode_responses=True),
        SystemClock(),
        click.echo,
        virtual=False,
    )


def play(demo: ModuleType, stage: Stage) -> object:
    """What the demonstration returns, which its figure shows."""
    try:
        return demo.run(stage)
    except redis.RedisError as error:
        raise click.ClickException(str(error)) from None


def check_output(name: str, demo: ModuleType, output: Path) -> None:
    """``UsageError`` if no figure can be written to *output*, before anything is played."""
    import matplotlib

    matplotlib.use("Agg")
    from miniredis.lab import plots

    if not hasattr(demo, "draw"):
        raise click.UsageError(f"-o: {name} has no figure")
    try:
        plots.check_target(output)
        plots.format_of(output)
    except ValueError as error:
        raise click.UsageError(f"-o: {error}") from None


def save(demo: ModuleType, shown: object, output: Path) -> None:
    """Draw the figure and write it whole or not at all."""
    from miniredis.lab import plots

    ax = demo.draw(shown)
    try:
        plots.save(ax.figure, output, demo.alt_text(shown))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {output}: {error}") from None


if __name__ == "__main__":
    main(prog_name="python -m patterns")
