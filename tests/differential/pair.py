"""A frozen real server and a simulated one, in step: the same commands, the same instant."""

from __future__ import annotations

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.net.resp import encode_reply
from miniredis.reply import NO_REPLY
from miniredis.server.client import Client
from miniredis.structs.hashing import HashFunction
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

CLIENTS = 2
KEYS = (b"a", b"b", b"c", b"d")  # that compare_all() looks at
# Absolute times are written relative to now and completed when the step runs.
NOW_MS, NOW_S = b"now-ms:", b"now-s:"
Step = tuple[int, tuple[bytes, ...]] | int  # which client and what, or ms to let pass


class Pair:
    """A real server and a simulated one, at the same instant, each with the same clients."""

    hash_function: HashFunction | None = None  # of the simulated server

    def __init__(self, frozen: FrozenServer) -> None:
        self.frozen = frozen
        self.real = [RawClient(frozen.port) for _ in range(CLIENTS)]
        self.real_listener = RawClient(frozen.port)
        self.real[0](b"CONFIG", b"SET", b"notify-keyspace-events", b"AKEmn")
        self.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
        self.real_listener(b"PSUBSCRIBE", b"__key*")

    def start(self, resp: int = 2) -> None:
        """Begin anew with empty servers; the clients speak RESP2 or RESP3."""
        self.resp = resp
        for client in self.real:
            client(b"RESET")
        self.real[0](b"FLUSHALL")
        self.real_events()
        self.clock = VirtualClock(self.frozen.ms)
        self.server = self.new_server()
        self.server.active_expire_enabled = False
        self.mine = [self.server.create_client() for _ in range(CLIENTS)]
        self.my_listener = self.server.create_client()
        self.run_mine(self.my_listener, (b"PSUBSCRIBE", b"__key*"))
        if resp == 3:
            for client, mine in zip(self.real, self.mine, strict=True):
                client(b"HELLO", b"3")
                mine.resp = 3

    def new_server(self) -> Server:
        return Server(
            self.clock,
            seed=1,
            cost=FREE,
            hash_function=self.hash_function,
            notify_keyspace_events="AKEmn",
        )

    def run_mine(self, client: Client, argv: tuple[bytes, ...]) -> bytes:
        reply = self.server.process_command(client, list(argv))
        messages = b"".join(encode_reply(m, client.resp) for m in client.outbox)
        client.outbox.clear()
        return messages + (b"" if reply is NO_REPLY else encode_reply(reply, client.resp))

    def real_events(self) -> list[bytes]:
        self.real_listener.send(b"PING")
        events = []
        while not (message := self.real_listener.read()).startswith(b"*2\r\n$4\r\npong"):
            events.append(message)
        return events

    def my_events(self) -> list[bytes]:
        events = [encode_reply(message, 2) for message in self.my_listener.outbox]
        self.my_listener.outbox.clear()
        return events

    def complete(self, word: bytes) -> bytes:
        for prefix, now in ((NOW_MS, self.frozen.ms), (NOW_S, self.frozen.ms // 1000)):
            if word.startswith(prefix):
                return b"%d" % (now + int(word[len(prefix) :]))
        return word

    def step(self, step: Step) -> bytes:
        """Do *step* on both; the reply, which is the same."""
        if isinstance(step, int):
            self.frozen.advance_ms(step)
            self.clock.advance(step)
            return b""
        which, words = step
        argv = tuple(self.complete(word) for word in words)
        expected = self.real[which](*argv)
        got = self.run_mine(self.mine[which], argv)
        assert got == expected, argv
        assert self.my_events() == self.real_events(), argv
        self.server._check()
        return got

    def compare_all(self) -> None:
        for client in range(CLIENTS):
            self.step((client, (b"RESET",)))
        for db in (b"0", b"1"):
            self.step((0, (b"SELECT", db)))
            self.step((0, (b"DBSIZE",)))
            for key in KEYS:
                for name in (b"PTTL", b"TTL", b"GET", b"PEXPIRETIME", b"EXPIRETIME"):
                    self.step((0, (name, key)))
                self.step((0, (b"OBJECT", b"ENCODING", key)))
