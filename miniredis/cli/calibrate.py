"""``miniredis calibrate``: what work costs a real server, as a file for ``--cost``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from miniredis.cli.progress import show_progress


@click.command()
@click.option(
    "--server",
    metavar="URL",
    help="Measure this server, in the empty database that the address names, such as "
    "redis://localhost/9.  [default: a redis-server started for the purpose]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="cost.toml",
    show_default=True,
    help="File to write.",
)
def calibrate(server: str | None, output: Path) -> None:
    """Measure what deleting keys costs a real server, for `miniredis expire --cost`.

    Takes some minutes, and memory for a million small keys. On a server that others use
    only keys in the named database are written, all are deleted in the end, and no
    configuration is changed; but commands wait while the server is busy.
    """
    if not output.absolute().parent.is_dir():
        raise click.UsageError(f"the directory of {output} does not exist")
    from miniredis.lab.calibration import calibrated_file
    from miniredis.net.own_server import own_server
    from miniredis.net.scratch import scratch_database, without_password

    with failing_plainly(server), show_progress() as progress:
        if server is None:
            with own_server() as url, scratch_database(url) as scratch:
                text = calibrated_file(scratch, "started for the purpose", progress=progress)
        else:
            with scratch_database(server) as scratch:
                text = calibrated_file(scratch, without_password(server), progress=progress)
    try:
        write_whole(output, text)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    click.echo(text, nl=False)
    click.echo(f"written: {output}", err=True)


@contextmanager
def failing_plainly(url: str | None) -> Iterator[None]:
    """Turn what can go wrong with a real server into messages of the command line."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(f"{url}: {error}") from None
    except (RuntimeError, OSError) as error:  # among them PermissionError, ConnectionError
        raise click.ClickException(str(error)) from None


def write_whole(path: Path, text: str) -> None:
    """Write *text* to *path* whole or not at all. ``OSError`` if it cannot be."""
    handle, temporary = tempfile.mkstemp(prefix=path.name, dir=path.absolute().parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
