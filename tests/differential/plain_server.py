"""An unmodified redis-server on a Unix socket, and replies in a form that can be compared.

Redis's wire types become small tuples, so that a status is not taken for a bulk string
nor a set for an array. The same form is made from the simulator's reply values.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from miniredis.errors import CommandError
from miniredis.reply import BigNumber, NullArray, SetReply, Status, Verbatim
from miniredis.server.server import Server

VERSION = "7.0.15"
START_SECONDS = 10.0


class RealClient:
    """A connection to the real server that speaks RESP itself."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def __call__(self, *argv: bytes | str) -> Any:
        """Run a command; the reply in comparable form."""
        words = [arg.encode() if isinstance(arg, str) else arg for arg in argv]
        self.socket.sendall(
            b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)
        )
        return self._read()

    def _read(self) -> Any:
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind in b"+-":
            return ("status" if kind == b"+" else "error", rest)
        if kind == b":":
            return int(rest)
        if kind in b"$=":
            return self._bulk(int(rest), kind)
        if kind in b"*~>":
            name = {b"*": "array", b"~": "set", b">": "push"}[kind]
            count = int(rest)
            return None if count < 0 else (name, [self._read() for _ in range(count)])
        if kind == b"%":
            return ("map", [(self._read(), self._read()) for _ in range(int(rest))])
        if kind == b",":
            return ("double", float(rest))
        if kind == b"#":
            return ("bool", rest == b"t")
        if kind == b"(":
            return ("bignum", rest)
        assert kind == b"_", f"unknown reply {line!r}"
        return None

    def _bulk(self, length: int, kind: bytes) -> Any:
        if length < 0:
            return None
        data = self.file.read(length + 2)[:-2]
        return ("verbatim", data) if kind == b"=" else data

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def comparable(reply: Any, resp: int) -> Any:
    """A reply value of the simulator in the form that :class:`RealClient` returns."""
    if reply is None or isinstance(reply, NullArray):
        return None
    if isinstance(reply, CommandError):
        return ("error", reply.text)
    if isinstance(reply, Status):
        return ("status", reply.text)
    if isinstance(reply, bool):
        return ("bool", reply) if resp == 3 else int(reply)
    if isinstance(reply, float):
        return ("double", reply) if resp == 3 else b"%.17g" % reply
    if isinstance(reply, BigNumber):
        return ("bignum", reply.digits) if resp == 3 else reply.digits
    if isinstance(reply, Verbatim):
        return ("verbatim", reply.format + b":" + reply.text) if resp == 3 else reply.text
    if isinstance(reply, list):
        return ("array", [comparable(item, resp) for item in reply])
    if isinstance(reply, SetReply):
        items = [comparable(item, resp) for item in reply.items]
        return ("set" if resp == 3 else "array", items)
    if isinstance(reply, dict):
        pairs = [(comparable(key, resp), comparable(val, resp)) for key, val in reply.items()]
        return ("map", pairs) if resp == 3 else ("array", [x for pair in pairs for x in pair])
    assert isinstance(reply, (int, bytes)), f"not a reply: {reply!r}"
    return reply


def find_redis_server() -> str:
    """The path of a redis-server 7.0.15; skips the test without one, and fails it in CI."""
    path = shutil.which("redis-server")
    version = ""
    if path is not None:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        found = re.search(r"v=([0-9.]+)", shown.stdout)
        version = found[1] if found else ""
        if version == VERSION:
            return path
    message = f"needs redis-server {VERSION} on PATH, found {version or 'none'}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


class RealServer:
    """A redis-server process in a directory of its own."""

    def __init__(self, path: str, *options: str) -> None:
        self.directory = tempfile.TemporaryDirectory(prefix="redis-")
        self.socket_path = str(Path(self.directory.name) / "sock")
        settings = ["--port", "0", "--unixsocket", self.socket_path, "--save", ""]
        settings += ["--dir", self.directory.name, "--enable-debug-command", "yes"]
        self.process = subprocess.Popen(
            [path, *settings, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.clients: list[RealClient] = []

    def client(self) -> RealClient:
        """A new connection; waits for the server to come up."""
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                client = RealClient(self.socket_path)
                break
            except OSError:
                assert self.process.poll() is None, "redis-server did not start"
                assert time.monotonic() < until, "redis-server does not answer"
                time.sleep(0.01)
        self.clients.append(client)
        return client

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()


@pytest.fixture
def real_server() -> Iterator[RealServer]:
    """A fresh real server with default settings, DEBUG allowed."""
    server = RealServer(find_redis_server())
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shared_real_server() -> Iterator[RealServer]:
    """One real server for all tests of a module that leave it as they found it."""
    server = RealServer(find_redis_server())
    yield server
    server.stop()


class OurClient:
    """A client of a simulator that is called, and answers, like a :class:`RealClient`."""

    def __init__(self, server: Server, resp: int = 2, addr: str = "127.0.0.1:50000") -> None:
        self.server = server
        self.client = server.create_client(addr=addr, laddr="127.0.0.1:6379")
        self.client.resp = resp

    def __call__(self, *argv: bytes | str) -> Any:
        words = [arg.encode() if isinstance(arg, str) else arg for arg in argv]
        reply = self.server.process_command(self.client, words)
        return comparable(reply, self.client.resp)
