"""A frozen real server and a simulated one, in step, with clients that may be blocked.

A step is sent without waiting for its reply. What any client has received by then is
compared, on both sides, after the server has gone round its loop.
"""

from __future__ import annotations

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.net.resp import encode_reply
from miniredis.reply import BLOCKED, NO_REPLY
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

CLIENTS = 4
TURNS = 2  # of the loop, until what was done in one has been written


class WaitingPair:
    """``step(which, argv)`` or ``advance(ms)``; ``blocked(which)`` tells who must not speak."""

    def __init__(self, frozen: FrozenServer) -> None:
        self.frozen = frozen
        self.control = RawClient(frozen.port)
        self.control(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")

    def start(self, resp: int = 2) -> None:
        self.control(b"FLUSHALL")
        self.control(b"CONFIG", b"SET", b"notify-keyspace-events", b"AKEmn")
        self.resp = resp
        self.clock = VirtualClock(self.frozen.ms)
        self.server = Server(self.clock, seed=1, cost=FREE, notify_keyspace_events="AKEmn")
        self.server.active_expire_enabled = False
        self.my_control = self.server.create_client()
        # One more on each side listens to keyspace events.
        self.real = [RawClient(self.frozen.port) for _ in range(CLIENTS + 1)]
        self.mine = [self.server.create_client() for _ in range(CLIENTS + 1)]
        self.ids = [client(b"CLIENT", b"ID")[1:-2] for client in self.real]
        for real, mine in zip(self.real[:CLIENTS], self.mine[:CLIENTS], strict=True):
            mine.resp = resp
            real(b"HELLO", b"%d" % resp)
        for real in self.real:
            real.socket.setblocking(False)
        self.step(CLIENTS, (b"PSUBSCRIBE", b"__key*"))

    def stop(self) -> None:
        for client in self.real:
            client.close()
        self.control(b"CONFIG", b"SET", b"notify-keyspace-events", b"")

    def blocked(self, which: int) -> bool:
        return self.mine[which].blocked

    def step(self, which: int, argv: tuple[bytes, ...]) -> None:
        """Let a client speak; ``id:2`` in *argv* stands for the id of client 2."""
        self.real[which].send(*(self._complete(word, self.ids) for word in argv))
        mine = self.mine[which]
        my_ids = [b"%d" % client.id for client in self.mine]
        reply = self.server.process_command(mine, [self._complete(word, my_ids) for word in argv])
        if reply is not NO_REPLY and reply is not BLOCKED:
            mine.outbox.append(reply)
        self.compare(argv)

    def _complete(self, word: bytes, ids: list[bytes]) -> bytes:
        return ids[int(word[3:])] if word.startswith(b"id:") else word

    def advance(self, ms: int) -> None:
        self.frozen.advance_ms(ms)
        self.clock.advance(ms)
        self.compare(ms)

    def compare(self, step: object) -> None:
        for _ in range(TURNS):
            self.control(b"PING")
            self.server.process_command(self.my_control, [b"PING"])
        for which, (real, mine) in enumerate(zip(self.real, self.mine, strict=True)):
            got = b"".join(encode_reply(item, mine.resp) for item in mine.outbox)
            mine.outbox.clear()
            assert got == self._received(real), (which, step)
        blocked = self.control(b"INFO", b"clients").split(b"blocked_clients:")[1].split()[0]
        assert int(blocked) == sum(client.blocked for client in self.mine), step
        self.server._check()

    def _received(self, client: RawClient) -> bytes:
        data = b""
        while True:
            try:
                data += client.socket.recv(1 << 16)
            except BlockingIOError:
                return data
