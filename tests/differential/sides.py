"""Connections beside a real server, byte for byte: the two sides, and how a script is run.

A script is lines of ``client: COMMAND args``. After each line everything that any client
has been sent, asked for or not, must be the same bytes on both sides, and the same
connections must be closed. ``{a}`` stands for the id of client a, ``{a.addr}`` for its
address, which are made the same on both sides; times, and sizes of buffers that the
simulator does not have, are masked.
"""

from __future__ import annotations

import re
import shlex
import socket

from miniredis.clock import VirtualClock
from miniredis.net.resp import encode_reply
from miniredis.reply import BLOCKED, NO_REPLY, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server

CLOSED = b"<closed>"
TURNS = 3  # of the real server's event loop, after which every write and close is done

MASKED = rb"fd|age|idle|qbuf|qbuf-free|rbs|rbp|obl|oll|omem|tot-mem"
MASKS = (
    (re.compile(rb" (%s)=\S*" % MASKED), rb" \1=*"),  # in CLIENT LIST
    (re.compile(rb"[$=]\d+\r\n(?=(txt:)?id=)"), b"<length>"),  # of CLIENT LIST
    (re.compile(rb"(?<=\+)\d+\.\d+(?= \[)"), b"<time>"),  # in MONITOR
)


def mask(data: bytes) -> bytes:
    for pattern, replacement in MASKS:
        data = pattern.sub(replacement, data)
    return data


class OurSide:
    """Clients of a simulator, with what they would find on the wire."""

    def __init__(self) -> None:
        self.server = Server(clock=VirtualClock(start_ms=1_391_234_400_000), seed=1)
        self.clients: dict[str, Client] = {}
        self.closed: dict[str, bool] = {}

    def open(self, name: str, id: int, addr: str, laddr: str) -> None:
        self.server.next_client_id = id
        client = self.server.create_client(addr, laddr)
        self.clients[name] = client
        self.closed[name] = False
        client.on_close = lambda: self.closed.update({name: True})
        self.server.process_command(client, [b"CLIENT", b"ID"])  # as the real side asks

    def step(self, name: str, words: list[str]) -> dict[str, bytes]:
        client = self.clients[name]
        reply: Reply = NO_REPLY
        if client.takes_commands:
            reply = self.server.process_command(client, [word.encode() for word in words])
        if (self.server.el.next_us or 0) <= self.server.clock.us():
            self.server.process_due_events()  # e.g. what CONFIG SET maxmemory begins
        out = {}
        for other, c in self.clients.items():
            data = b"".join(encode_reply(message, c.resp) for message in c.outbox)
            c.outbox.clear()
            if c is client and reply is not BLOCKED:
                data += encode_reply(reply, c.resp)
            if self.closed[other] or (c is client and c.close_after_reply):
                data += CLOSED
                self.server.free_client(c)
                self.closed[other] = True
            out[other] = data
        self.server._check()
        return out


class RealSide:
    """Sockets to a real server, and one more that waits for its event loop."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.control = socket.create_connection(("127.0.0.1", port))
        self.sockets: dict[str, socket.socket] = {}

    def open(self, name: str) -> tuple[int, str, str]:
        """Connect; the id and the addresses of the far and the near end."""
        s = socket.create_connection(("127.0.0.1", self.port))
        # Without replies there are no acknowledgements, and the kernel would hold requests back.
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sockets[name] = s
        s.sendall(b"CLIENT ID\r\n")
        return int(s.recv(100)[1:]), "%s:%d" % s.getsockname(), "%s:%d" % s.getpeername()

    def step(self, name: str, words: list[str]) -> dict[str, bytes]:
        parts = [b"*%d\r\n" % len(words)]
        parts += [b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words]
        self.sockets[name].sendall(b"".join(parts))
        for _ in range(TURNS):
            self.control.sendall(b"CONFIG GET nothing\r\n")  # which MONITOR does not show
            assert self.control.recv(100) == b"*0\r\n"
        return {other: self._received(s) for other, s in self.sockets.items()}

    def _received(self, s: socket.socket) -> bytes:
        data = b""
        while True:
            try:
                chunk = s.recv(100_000, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return data
            except ConnectionResetError:
                return data + CLOSED
            if not chunk:
                return data + CLOSED
            data += chunk

    def close(self) -> None:
        """Leave the server as others expect it, whatever became of the script."""
        for command in (
            b"CONFIG SET requirepass ''",
            b"CONFIG SET notify-keyspace-events '' min-replicas-to-write 0",
        ):
            self.control.sendall(command + b"\r\n")
            assert self.control.recv(100) == b"+OK\r\n"
        self.control.sendall(b"CLIENT UNPAUSE\r\n")
        for s in (self.control, *self.sockets.values()):
            s.close()


def open_all(real: RealSide, names: set[str]) -> tuple[OurSide, dict[str, str]]:
    """Connect clients on both sides, alike; also what to put for placeholders."""
    ours = OurSide()
    values = {"\\r": "\r", "\\n": "\n", "\\0": "\0"}
    for name in sorted(names):
        id, addr, laddr = real.open(name)
        ours.open(name, id, addr, laddr)
        values |= {"{%s}" % name: str(id), "{%s.addr}" % name: addr, "{%s.laddr}" % name: laddr}
    return ours, values


def run(real: RealSide, script: str) -> None:
    """Run *script* on both sides and compare after each line."""
    lines = [line.strip() for line in script.strip().splitlines()]
    ours, values = open_all(real, {line.partition(": ")[0] for line in lines})
    for number, line in enumerate(lines, 1):
        name, _, text = line.partition(": ")
        words = shlex.split(text)
        for placeholder, value in values.items():
            words = [word.replace(placeholder, value) for word in words]
        results = [
            {n: mask(data) for n, data in side.step(name, words).items()} for side in (ours, real)
        ]
        assert results[0] == results[1], f"line {number}: {line}: {results}"
