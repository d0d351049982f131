"""Plain sockets that wait, for MIGRATE.

Redis: syncio.c, ``connBlockingConnect()`` in connection.c.
"""

from __future__ import annotations

import socket

MS_PER_SECOND = 1000
LINE_MAX = 64 * 1024  # bytes
READ_BYTES = 4096


class BlockingWire:
    """One connection; see ``server/migrate.py``."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()

    def send(self, data: bytes, timeout_ms: int) -> None:
        """Send all of *data*."""
        self._sock.settimeout(timeout_ms / MS_PER_SECOND)
        self._sock.sendall(data)

    def read_line(self, timeout_ms: int) -> bytes:
        """The next line without its end."""
        self._sock.settimeout(timeout_ms / MS_PER_SECOND)
        while (end := self._buffer.find(b"\n")) < 0:
            data = self._sock.recv(READ_BYTES)
            if not data or len(self._buffer) > LINE_MAX:
                raise ConnectionResetError("the other server hung up")
            self._buffer += data
        line = bytes(self._buffer[:end]).removesuffix(b"\r")
        del self._buffer[: end + 1]
        return line

    def close(self) -> None:
        """Hang up."""
        self._sock.close()


def dial(host: bytes, port: int, timeout_ms: int) -> BlockingWire:
    """Call a server. OSError if it does not answer in time, or there is no such address."""
    name = host.decode("utf-8", "surrogateescape")
    try:
        sock = socket.create_connection((name, port), timeout_ms / MS_PER_SECOND)
    except (UnicodeError, OverflowError) as error:
        raise OSError(str(error)) from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return BlockingWire(sock)
