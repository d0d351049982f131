"""Writing a figure to a file, whole or not at all.

The figure is drawn into a file beside the target, which then takes the target's place.
So nothing half-written is ever seen; and so a target that is no plain file (a device, a
pipe, a directory) must be refused, for it would be replaced. A symbolic link is followed:
what it points to is replaced, the link stays.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

DOTS_PER_INCH = 120
READ_BY_ALL = 0o666  # mode of a new file, before the umask
# Each format has its own word for a description.
_DESCRIPTION = {"png": "Description", "svg": "Description", "svgz": "Description", "pdf": "Subject"}
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def check_target(path: str | os.PathLike[str]) -> Path:
    """The plain file that writing to *path* would make or replace, links followed.

    ``ValueError`` says why that cannot be: no name, no directory, no permission, a name
    too long, or something there that is no plain file. Nothing is written.
    """
    name = os.fspath(path)
    if not name:
        raise ValueError("a file name is needed, not an empty one")
    if "\0" in name:
        raise ValueError("a file name cannot hold a NUL")
    target = Path(os.path.realpath(name))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        _check_directory(name, target.parent)
        return target
    except OSError as error:
        raise ValueError(f"cannot write {name}: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        kind = next((kind for test, kind in _KINDS if test(mode)), "something else")
        raise ValueError(f"cannot write {name}: that is {kind}, not a plain file")
    if not os.access(target, os.W_OK):
        raise ValueError(f"cannot write {name}: the file may not be changed")
    _check_directory(name, target.parent)
    return target


def _check_directory(name: str, directory: Path) -> None:
    if not directory.exists():
        raise ValueError(f"cannot write {name}: the directory {directory} does not exist")
    if not directory.is_dir():
        raise ValueError(f"cannot write {name}: {directory} is no directory")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write {name}: no file may be made in {directory}")


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that the suffix of *path* names, ``png`` if it has none.

    ``ValueError`` with those that can be written if it is not among them.
    """
    suffix = Path(path).suffix
    format = suffix.lstrip(".").lower()
    if not suffix:
        return "png"
    if not format or not _can_write(format):
        some = ", ".join(f for f in sorted(_supported()) if _can_write(f))
        raise ValueError(f"cannot write {suffix} files here; choose one of {some}")
    return format


def _supported() -> dict[str, str]:
    return FigureCanvasBase.get_supported_filetypes()


def _can_write(format: str) -> bool:
    """Whether *format* can be written here: some need a program that may be missing.

    The only sure way to know is to try, with one letter and into memory.
    """
    if format not in _supported():
        return False
    with _quiet():
        try:
            figure = Figure(figsize=(1, 1))
            figure.text(0, 0, "x")
            figure.savefig(io.BytesIO(), format=format)
        except Exception:  # whatever a backend or what it calls may raise
            return False
    return True


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of matplotlib: PostScript draws what is transparent opaque."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def save(figure: Figure, path: str | os.PathLike[str], description: str) -> None:
    """Write *figure* to *path* whole or not at all, with *description* inside the file.

    The suffix chooses the format. ``ValueError`` if that cannot be written or *path* is no
    place for a file, ``OSError`` if writing fails (it names *path*).
    """
    target, format = check_target(path), format_of(path)
    key = _DESCRIPTION.get(format)
    temporary = None
    try:
        temporary = _make_beside(target)
        with _quiet():
            figure.savefig(
                temporary,
                format=format,
                dpi=DOTS_PER_INCH,
                metadata={key: description} if key else None,
            )
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            # Not the name of the temporary file, which nobody has heard of.
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        raise


def _make_beside(target: Path) -> Path:
    """A new empty file in the directory of *target*, with the mode that the umask leaves."""
    path = target.parent / f".miniredis-{secrets.token_hex(8)}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, READ_BY_ALL))
    return path
