"""A real server whose time stands still until the test moves it.

How a step of time works. The server's loop turns only when something arrives, for its
own timeout is computed from the frozen clock. So the test writes the new time and sends
a PING: the loop wakes, runs the PING, then its due time events (the cron), and writes
the reply before it sleeps again. When the reply has come, the cron has run.
"""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.real.servers import RealServer

SOURCE = Path(__file__).with_name("frozen_clock.c")
FIRST_CRON_MS = 1


def build_library(directory: Path) -> Path:
    """Compile the library; RuntimeError without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("no C compiler found: install gcc to run tests under a frozen clock")
    library = directory / "frozen_clock.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE)], check=True
    )
    return library


class FrozenServer(RealServer):
    """``advance_ms`` moves time as ``VirtualClock.advance`` does: cron by cron.

    *options* are further words of the command line.
    """

    def __init__(
        self, binary: str, directory: Path, start_ms: int, options: Sequence[str] = ()
    ) -> None:
        page = directory / "page"
        page.write_bytes(bytes(4096))
        self._file = open(page, "r+b")  # noqa: SIM115 - closed by stop()
        self._page = mmap.mmap(self._file.fileno(), 4096)
        self.us = start_ms * 1000
        self._write()
        library = build_library(directory)
        env = {"LD_PRELOAD": str(library), "FROZEN_CLOCK_PAGE": os.fspath(page)}
        super().__init__(binary, env, options)
        self._poker = self.client()
        self.next_cron_us = self.us + FIRST_CRON_MS * 1000
        self.hz = 10

    def _write(self) -> None:
        self._page[:8] = struct.pack("<q", self.us)

    @property
    def ms(self) -> int:
        return self.us // 1000

    def set_us(self, us: int) -> None:
        """Let it be *us*, without waking the server."""
        self.us = us
        self._write()

    def tick(self, us: int) -> None:
        """Let time move by *us* at each of the server's readings; 0 stops it where it is.

        The instants of crons are not known afterwards: not for a server that others use.
        """
        self._page[8:16] = struct.pack("<q", us)
        if not us:
            self.us = struct.unpack("<q", self._page[:8])[0]
            self.next_cron_us = max(self.next_cron_us, self.us)

    def advance_ms(self, ms: int) -> None:
        """Move *ms* ahead, stopping at each cron's instant so that it runs there."""
        self.advance_us(ms * 1000)

    def advance_us(self, us: int) -> None:
        """The same in µs."""
        target = self.us + us
        while self.next_cron_us <= target:
            self.us = self.next_cron_us
            self._write()
            # The first turn runs the cron after the PING; the second finds it done.
            self._poker.ping()
            self._poker.ping()
            self.next_cron_us += 1000 // self.hz * 1000
        self.us = target
        self._write()
        self._poker.ping()

    def stop(self) -> None:
        super().stop()
        self._page.close()
        self._file.close()
