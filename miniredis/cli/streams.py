"""Standard streams that are closed, full or broken: a message, not a traceback."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

FAILED = 1  # exit status


class ClosedOutput(io.TextIOBase):
    """Stands for a standard output that was closed before the program began."""

    encoding = "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Run a program whose output may fail: then one line on standard error, and status 1.

    A reader that has gone (``| head``) is no reason for a message. What is still buffered
    is written here, because the interpreter, at its end, would only warn.
    """
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    status: object = 0
    try:
        try:
            yield
        except SystemExit as end:
            status = end.code
        sys.stdout.flush()
    except OSError as error:
        _give_up(error)
    sys.exit(status)  # type: ignore[arg-type]


def _give_up(error: OSError) -> NoReturn:
    if error.errno != errno.EPIPE:
        with contextlib.suppress(OSError, AttributeError):
            print(f"Error: cannot write the output: {error.strerror}", file=sys.stderr, flush=True)
    # What cannot be written is not to be tried again at the end.
    with contextlib.suppress(OSError, ValueError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(FAILED)
