"""``miniredis calibrate``: what work costs a real server, as a file for ``--cost``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from miniredis.cli.against import failing_plainly
from miniredis.cli.params import FilePath
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
    type=FilePath(),
    default=Path("cost.toml"),
    show_default=True,
    help="File to write.",
)
def calibrate(server: str | None, output: Path) -> None:
    """Measure what deleting keys costs a real server, for `miniredis expire --cost`.

    Takes some minutes, and memory for a million small keys. On a server that others use
    only keys in the named database are written, all are deleted in the end, and no
    configuration is changed; but commands wait while the server is busy.
    """
    from miniredis.lab.plots.files import check_target

    try:
        target = check_target(output)
    except ValueError as error:
        raise click.UsageError(f"-o: {error}") from None
    from miniredis.lab.calibration import calibrated_file
    from miniredis.net.own_server import own_server
    from miniredis.net.remote import without_secrets
    from miniredis.net.scratch import scratch_database

    with failing_plainly(), show_progress() as progress:
        if server is None:
            with own_server() as url, scratch_database(url) as scratch:
                text = calibrated_file(scratch, "started for the purpose", progress=progress)
        else:
            with scratch_database(server) as scratch:
                text = calibrated_file(scratch, without_secrets(server), progress=progress)
    try:
        write_whole(target, text)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    click.echo(text, nl=False)
    click.echo(f"written: {output}", err=True)


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
