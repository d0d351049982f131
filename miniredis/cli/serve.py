"""``miniredis serve``: the simulator behind a TCP port."""

from __future__ import annotations

import contextlib
import errno
import os

import click

from miniredis.cli.params import shown


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
        run_server(server, bind, port, _say)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}:{port}: {_reason(error)}") from None
    except UnicodeError:
        raise click.UsageError(f"--bind: {shown(bind)} is no address") from None


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
