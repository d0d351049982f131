"""A client that shows replies as the bytes they are on the wire."""

from __future__ import annotations

import select
import socket


class RawClient:
    """Sends commands, returns each reply's bytes unparsed."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rb")

    def send(self, *args: bytes) -> None:
        parts = [b"*%d\r\n" % len(args)]
        parts += [b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in args]
        self.socket.sendall(b"".join(parts))

    def read(self) -> bytes:
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server hung up")
        kind = line[:1]
        if kind in b"$=":
            length = int(line[1:])
            return line if length < 0 else line + self.file.read(length + 2)
        if kind in b"*~>%":
            count = int(line[1:]) * (2 if kind == b"%" else 1)
            return line + b"".join(self.read() for _ in range(count))
        if kind == b"|":  # an attribute stands before the reply that it is about
            return line + b"".join(self.read() for _ in range(2 * int(line[1:]) + 1))
        return line

    def __call__(self, *args: bytes) -> bytes:
        self.send(*args)
        return self.read()

    def is_silent(self) -> bool:
        """Whether the server has sent nothing that was not read yet."""
        return not select.select([self.socket], [], [], 0)[0]

    def close(self) -> None:
        self.file.close()
        self.socket.close()
