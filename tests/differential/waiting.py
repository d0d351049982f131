"""A pair of servers whose clients may wait."""

from __future__ import annotations

from miniredis.net.resp import encode_reply
from miniredis.reply import BLOCKED, NO_REPLY
from tests.differential.pair import CLIENTS, Pair, Step
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

WAITERS = 4


class WaitingPair(Pair):
    """A pair with more clients, some of which wait, and one on each side that never does.

    After each step the same clients wait on both sides, and those that do no more have
    had the same replies. A step of a client that waits is
    left out.
    """

    def __init__(self, frozen: FrozenServer) -> None:
        super().__init__(frozen)
        self.real_admin = RawClient(frozen.port)
        self.waiters = [RawClient(frozen.port) for _ in range(WAITERS)]

    def start(self, resp: int = 2) -> None:
        self.real = self.real[:CLIENTS]
        super().start(resp)
        for client in self.waiters:
            client(b"RESET")
            mine = self.server.create_client()
            if resp == 3:
                client(b"HELLO", b"3")
                mine.resp = 3
            self.real.append(client)
            self.mine.append(mine)
        self.my_admin = self.server.create_client()
        self.real_ids = [client(b"CLIENT", b"ID")[1:-2] for client in self.real]

    def step(self, step: Step) -> None:
        if isinstance(step, int):
            super().step(step)
            self.run_mine(self.my_admin, (b"PING",))  # a turn of the event loop
        else:
            self._command(*step)
        self._compare_released()
        assert self.my_events() == self.real_events(), step
        self.server._check()

    def _command(self, which: int, words: tuple[bytes, ...]) -> None:
        mine, real = self.mine[which], self.real[which]
        if mine.blocked:
            return
        if words[:2] == (b"CLIENT", b"UNBLOCK") and len(words) > 2:
            target = int(words[2]) % len(self.mine)
            my_words = (*words[:2], b"%d" % self.mine[target].id, *words[3:])
            real_words = (*words[:2], self.real_ids[target], *words[3:])
        else:
            my_words = real_words = tuple(self.complete(word) for word in words)
        self._waited_before = {c for c in self.mine if c.blocked}
        real.send(*real_words)
        reply = self.server.process_command(mine, list(my_words))
        if reply is BLOCKED:
            self._await_blocked()
            self._waited_before.add(mine)
            return
        got = b""
        if mine not in self._waited_before:
            got = b"".join(encode_reply(m, mine.resp) for m in mine.outbox)
            mine.outbox.clear()
        got += b"" if reply is NO_REPLY else encode_reply(reply, mine.resp)
        assert got == real.read(), words

    def _await_blocked(self) -> None:
        """Ask until the real server has taken up the command; it does so at once or never."""
        for _ in range(100):
            if self._real_blocked() == self.server.blocked_clients:
                return
        raise AssertionError(f"waits here only: {self.server.clients_waiting()}")

    def _real_blocked(self) -> int:
        info = self.real_admin(b"INFO", b"clients")
        return int(info.split(b"blocked_clients:")[1].split(b"\r\n")[0])

    def _compare_released(self) -> None:
        for mine, real in zip(self.mine, self.real, strict=True):
            while mine.outbox:
                assert encode_reply(mine.outbox.popleft(), mine.resp) == real.read()
        assert self._real_blocked() == self.server.blocked_clients

    def release_all(self) -> None:
        """End all waits."""
        for mine, id in zip(self.mine, self.real_ids, strict=True):
            if mine.blocked:
                self.run_mine(self.my_admin, (b"CLIENT", b"UNBLOCK", b"%d" % mine.id))
                self.real_admin(b"CLIENT", b"UNBLOCK", id)
        self._compare_released()

    def compare_all(self) -> None:
        self.release_all()
        super().compare_all()

    def close(self) -> None:
        for client in (*self.real[:CLIENTS], *self.waiters, self.real_listener, self.real_admin):
            client.close()
