"""``miniredis serve``: the simulator behind a TCP port."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from miniredis.cli.params import FilePath, shown
from miniredis.cli.rdb_file import check_rdb_file, load_rdb_file, write_whole

if TYPE_CHECKING:
    from miniredis.server.server import Server


def _check_address(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if not value.strip():
        raise click.BadParameter("an address is needed, not an empty one")
    return value


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=6379, show_default=True)
@click.option(
    "--bind",
    default="127.0.0.1",
    show_default=True,
    callback=_check_address,
    help="Address to listen on.",
)
@click.option("--seed", type=int, help="Fix every random choice.")
@click.option("--hz", type=click.IntRange(1, 500), default=10, show_default=True)
@click.option("--effort", type=click.IntRange(1, 10), default=1, show_default=True)
@click.option("--databases", type=click.IntRange(1, 100_000), default=16, show_default=True)
@click.option("--enable-debug-command", type=click.Choice(["no", "yes", "local"]), default="local")
@click.option(
    "--rdb",
    type=FilePath(),
    help="RDB file: read at the start if it exists, written by SAVE, BGSAVE and at the end.",
)
@click.option(
    "--replicaof",
    nargs=2,
    type=(str, click.IntRange(0, 65535)),
    metavar="HOST PORT",
    help="Begin as a replica of another server.",
)
def serve(
    port: int,
    bind: str,
    seed: int | None,
    hz: int,
    effort: int,
    databases: int,
    enable_debug_command: str,
    rdb: Path | None,
    replicaof: tuple[str, int] | None,
) -> None:
    """Serve clients over TCP until interrupted.

    Port 0 lets the system choose; the address is printed once connections are accepted.
    Nothing is written unless --rdb names a file. What is in it a redis-server 7.0 reads, and
    the other way round.
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
    if rdb is not None:
        check_rdb_file(rdb)
        keys = load_rdb_file(server, rdb)
        server.persistence.on_save = functools.partial(write_whole, rdb)
        _say(f"{keys} keys loaded from {rdb}")
    if replicaof is not None:
        server.repl.begin_as_replica(*replicaof)
    try:
        run_server(server, bind, port, _say)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}:{port}: {_reason(error)}") from None
    except UnicodeError:
        raise click.UsageError(f"--bind: {shown(bind)} is no address") from None
    if rdb is not None:
        _save_at_the_end(server, rdb)


def _save_at_the_end(server: Server, rdb: Path) -> None:
    """As Redis does when it is told to end, unless save points are switched off.

    server.c: prepareForShutdown()
    """
    if not server.config.save:
        return
    try:
        server.persistence.save()
    except OSError as error:
        raise click.ClickException(f"cannot write {rdb}: {error.strerror}") from None


def _say(text: str) -> None:
    """Print *text*; a server whose output nobody reads serves all the same."""
    with contextlib.suppress(OSError):
        click.echo(text)


def _reason(error: OSError) -> str:
    """Why the system refuses, without what asyncio wraps around it."""
    if error.errno == errno.EADDRINUSE:
        return "another program listens there; choose another --port"
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)  # of a name that has no address
