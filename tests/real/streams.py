"""The commands that a real server writes: to its append-only file, and to a replica."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tests.real.servers import RealServer

FILES = "appendonlydir"
# Each write is in the file before its reply is sent.
AOF_OPTIONS = ["--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no"]
TRIES = 400


def read_command(file: BinaryIO) -> list[bytes] | None:
    """The next command, or None at the end of the file."""
    head = file.readline()
    if not head:
        return None
    assert head.startswith(b"*") and head.endswith(b"\r\n"), head
    words = []
    for _ in range(int(head[1:])):
        length = int(file.readline()[1:])
        words.append(file.read(length + 2)[:-2])
    return words


class AofReader:
    """What a server started with AOF_OPTIONS has appended since the last call of ``new``.

    Read is the newest file: a server that writes its file anew must be done with that.
    """

    def __init__(self, server: RealServer) -> None:
        files = Path(server.dir, FILES).glob("*.incr.aof")
        newest = max(files, key=lambda path: int(path.name.split(".")[-3]))
        self.file = open(newest, "rb")  # noqa: SIM115 - closed by close()

    def new(self) -> list[list[bytes]]:
        return list(iter(lambda: read_command(self.file), None))

    def close(self) -> None:
        self.file.close()


class SyncReader:
    """A replica that only listens. The old SYNC asks for no answers, as PSYNC does.

    *let_time_pass* is called until the server has sent its data set: it takes the cron.
    """

    def __init__(self, server: RealServer, let_time_pass: Callable[[], None]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=0.05)
        self.socket.sendall(b"*1\r\n$4\r\nSYNC\r\n")
        header = b""
        for _ in range(TRIES):
            try:
                header += self.socket.recv(1)
            except TimeoutError:
                let_time_pass()
            if header.strip() and header.endswith(b"\n"):
                break
        else:
            raise RuntimeError("the server has sent no data set")
        self.socket.settimeout(20)
        self.file = self.socket.makefile("rb")
        self.file.read(int(header.strip()[1:]))

    def until(self, last: list[bytes]) -> list[list[bytes]]:
        """The commands up to *last*, which is left out."""
        return list(iter(lambda: read_command(self.file), last))

    def close(self) -> None:
        self.file.close()
        self.socket.close()
