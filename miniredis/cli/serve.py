"""``miniredis serve``: the simulator behind a TCP port."""

from __future__ import annotations

import click


@click.command()
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
