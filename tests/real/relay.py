"""A line between a real replica and its primary that is as slow as the test wants it.

The replica connects to the relay. What the replica says goes on at once; what the primary
says waits until the test lets it pass, or goes on at once while the relay is open.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable

CHUNK = 65536


class Relay:
    """Listens on ``port`` for one replica at a time; *now_us* tells the frozen time."""

    def __init__(self, primary_port: int, now_us: Callable[[], int]) -> None:
        self.primary_port = primary_port
        self.now_us = now_us
        self.delay_us: int | None = None  # None: open
        self.bytes_in = self.bytes_out = 0
        self.queue: deque[tuple[int, bytes]] = deque()
        self.lock = threading.Condition()
        self.replica: socket.socket | None = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                replica, _ = self.listener.accept()
            except OSError:
                return
            primary = socket.create_connection(("127.0.0.1", self.primary_port))
            with self.lock:
                self.queue.clear()
                self.replica = replica
            threading.Thread(target=self._up, args=(replica, primary), daemon=True).start()
            threading.Thread(target=self._down, args=(replica, primary), daemon=True).start()

    def _up(self, replica: socket.socket, primary: socket.socket) -> None:
        try:
            while data := replica.recv(CHUNK):
                primary.sendall(data)
        except OSError:
            pass
        primary.close()

    def _down(self, replica: socket.socket, primary: socket.socket) -> None:
        try:
            while data := primary.recv(CHUNK):
                with self.lock:
                    if replica is not self.replica:
                        break  # it has connected anew
                    self.bytes_in += len(data)
                    due = self.now_us() + (self.delay_us or 0)
                    self.queue.append((due, data))
                    if self.delay_us is None:
                        self._send_due(due)
                    self.lock.notify_all()
        except OSError:
            pass
        replica.close()
        primary.close()

    def _send_due(self, now_us: int) -> None:
        while self.queue and self.queue[0][0] <= now_us:
            data = self.queue.popleft()[1]
            self.bytes_out += len(data)
            assert self.replica is not None
            with contextlib.suppress(OSError):  # the replica has gone
                self.replica.sendall(data)

    def wait_for(self, bytes_in: int) -> None:
        """Until the primary has sent so many bytes in all."""
        with self.lock:
            assert self.lock.wait_for(lambda: self.bytes_in >= bytes_in, timeout=20)

    def next_due_us(self) -> int | None:
        with self.lock:
            return self.queue[0][0] if self.queue else None

    def let_pass(self) -> None:
        """Send the replica what is due."""
        with self.lock:
            self._send_due(self.now_us())

    def open(self) -> None:
        """Keep nothing any more: all that waits goes on, and what comes, at once."""
        with self.lock:
            self.delay_us = None
            self.queue = deque((0, data) for _, data in self.queue)
            self._send_due(0)

    def close(self) -> None:
        self.listener.close()
        if self.replica is not None:
            self.replica.close()
