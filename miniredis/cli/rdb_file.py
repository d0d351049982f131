"""The RDB file of ``miniredis serve --rdb``: read at the start, written whole by SAVE."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from miniredis.server.server import Server

READ_BY_ALL = 0o666  # of which the umask leaves what it leaves


def load_rdb_file(server: Server, path: Path) -> int:
    """Fill *server* from a file; how many keys. One that does not exist yet holds none.

    ``ClickException`` if it cannot be read or is no usable RDB file.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None
    try:
        return server.load_rdb(data)
    except ValueError as error:
        raise click.ClickException(f"cannot load {path}: {error}") from None


def check_rdb_file(path: Path) -> None:
    """``UsageError`` if SAVE could not write to *path*: found out before anybody relies on it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise click.UsageError(f"--rdb: the directory {path.parent} does not exist") from None
    except OSError as error:
        raise click.UsageError(f"--rdb: {path}: {error.strerror}") from None
    else:
        if not stat.S_ISREG(mode):
            raise click.UsageError(f"--rdb: {path} is not a plain file")


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* to *path*, whole or not at all. OSError if that fails. rdb.c: rdbSave()"""
    target = Path(os.path.realpath(path))
    beside = target.parent / f".miniredis-{secrets.token_hex(8)}"
    try:
        descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, READ_BY_ALL)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(beside, stat.S_IMODE(target.stat().st_mode))
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
