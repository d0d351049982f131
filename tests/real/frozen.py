"""A real server whose time stands still until the test moves it.

How a step of time works. The server's loop turns only when something arrives, for its
own timeout is computed from the frozen clock. So the test writes the new time and sends
a PING: the loop wakes, runs the PING, then its due time events (the cron), and writes
the reply before it sleeps again. When the reply has come, the cron has run.
"""

from __future__ import annotations

import mmap
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.real.servers import RealServer

SOURCE = Path(__file__).with_name("frozen_clock.c")
RANDOM_SOURCE = Path(__file__).with_name("replayed_random.c")
RANDOM_STATE = slice(512, 520)  # where in the page the state of random() is
FIRST_CRON_MS = 1


def build_library(directory: Path, source: Path = SOURCE) -> Path:
    """Compile a library; RuntimeError without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("no C compiler found: install gcc to run tests under a frozen clock")
    library = directory / f"{source.stem}.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"], check=True
    )
    return library


class ReplayedRandom(random.Random):
    """The numbers that a server draws whose random() is replayed from the same state."""

    def __init__(self, state: int) -> None:
        super().__init__()
        self.state = state

    def randrange(self, start: int, stop: int | None = None) -> int:  # type: ignore[override]
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        first, after = (0, start) if stop is None else (start, stop)
        return first + (self.state >> 33) % (after - first)


class FrozenServer(RealServer):
    """``advance_ms`` moves time as ``VirtualClock.advance`` does: cron by cron.

    *options* are further words of the command line.
    """

    def __init__(
        self, binary: str, directory: Path, start_ms: int, options: Iterable[str] = ()
    ) -> None:
        page = directory / "page"
        page.write_bytes(bytes(4096))
        self._file = open(page, "r+b")  # noqa: SIM115 - closed by stop()
        self._page = mmap.mmap(self._file.fileno(), 4096)
        self.us = start_ms * 1000
        self._write()
        libraries = [build_library(directory), build_library(directory, RANDOM_SOURCE)]
        env = {
            "LD_PRELOAD": ":".join(map(str, libraries)),
            "FROZEN_CLOCK_PAGE": os.fspath(page),
        }
        super().__init__(binary, env, options)
        self._poker = self.client()
        self.next_cron_us = self.us + FIRST_CRON_MS * 1000
        self.hz = 10

    def _write(self) -> None:
        self._page[:8] = struct.pack("<q", self.us)

    def replay_random(self, state: int) -> None:
        """Let the server's random() go on from *state*; 0 gives it back to the C library."""
        self._page[RANDOM_STATE] = struct.pack("<Q", state)

    @property
    def ms(self) -> int:
        return self.us // 1000

    def set_us(self, us: int) -> None:
        """Let it be *us*, without waking the server."""
        self.us = us
        self._write()

    def set_tick_us(self, us: int) -> None:
        """Let each reading of the wall clock move it on by *us*; 0 freezes it again."""
        self._page[8:16] = struct.pack("<q", us)

    def read_us(self) -> int:
        """The time that the server has reached, which differs from ``us`` while it ticks."""
        us: int = struct.unpack("<q", self._page[:8])[0]
        return us

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
