"""A redis-server of our own for a moment, where one is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from miniredis.clock import SystemClock

START_TRIES = 1000
START_PAUSE_S = 0.01
STOP_S = 20  # for it to end before it is killed
DATABASE = 9


@contextmanager
def own_server() -> Iterator[str]:
    """Start the redis-server on PATH with its defaults, not persistent, on a Unix socket.

    Yields the address of an empty database; the server ends afterwards.
    ``FileNotFoundError`` if there is no redis-server, ``ConnectionError`` if it does not start.
    """
    binary = shutil.which("redis-server")
    if binary is None:
        raise FileNotFoundError("no redis-server on PATH; name a server with --server")
    with tempfile.TemporaryDirectory(prefix="miniredis-") as directory:
        path = Path(directory) / "socket"
        arguments = ["--port", "0", "--unixsocket", str(path), "--dir", directory]
        arguments += ["--save", "", "--appendonly", "no"]
        # In a session of its own, lest Ctrl-C end it before its keys are deleted.
        process = subprocess.Popen(
            [binary, *arguments], stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            _wait_until_it_answers(process, str(path))
            yield f"unix://{path}?db={DATABASE}"
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_it_answers(process: subprocess.Popen[bytes], path: str) -> None:
    clock = SystemClock()
    for _ in range(START_TRIES):
        try:
            with redis.Redis(unix_socket_path=path) as client:
                client.ping()
            return
        except redis.ConnectionError:
            if process.poll() is not None:
                break
            clock.sleep(START_PAUSE_S)
    raise ConnectionError("redis-server does not start")
