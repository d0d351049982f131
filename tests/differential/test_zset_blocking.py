"""BZPOPMIN, BZPOPMAX and BZMPOP on miniredis and on a frozen real server, in step.

Several clients wait and others write. After each step the same clients wait on both
sides, those that were served have got the same bytes, and the events are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.net.resp import encode_reply
from miniredis.reply import BLOCKED
from miniredis.server.client import Client
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

CLIENTS = 5

SCRIPTS = {
    "at_once": """
        0 ZADD a 1 x 2 y 3 z 4 q
        0 BZPOPMIN a 0
        0 BZPOPMAX nokey a 1
        0 BZMPOP 0 2 nokey a MIN COUNT 5
        0 EXISTS a
        0 ZADD a 1 x 2 y
        0 BZMPOP 1 1 a MAX
        0 BZMPOP 1 1 a MAX
    """,
    "errors": """
        0 BZPOPMIN a x
        0 BZPOPMIN a -1
        0 BZPOPMAX a inf
        0 BZMPOP x 1 a MIN
        0 BZMPOP x 0 a MIN
        0 BZMPOP 0 2 a MIN
        0 BZMPOP 0 1 a MID
        0 BZMPOP x 1 a MIN COUNT 0
        0 BZMPOP x 1 a MIN COUNT 1
        0 BZMPOP 0 1 a MIN COUNT 1 COUNT 1
        0 BZPOPMIN a
        0 SET s v
        0 BZPOPMIN nokey s a 0
        0 BZMPOP 0 2 nokey s MAX
    """,
    "first_come_first_served": """
        1 BZPOPMIN a b 0
        2 BZPOPMAX b a 0
        3 BZMPOP 0 2 b a MIN COUNT 2
        0 ZADD b 1 one 2 two 3 three 4 four 5 five
        0 ZRANGE b 0 -1
        4 BZPOPMIN a 0
        0 ZADD a 5 x
        0 EXISTS a
    """,
    "in_order_of_readiness": """
        1 BZPOPMIN a 0
        2 BZPOPMIN b a 0
        3 BZPOPMIN c 0
        0 MULTI
        0 ZADD c 1 x
        0 ZADD a 1 x 2 y
        0 ZADD b 1 x
        0 ZREM c x
        0 EXEC
        0 ZADD c 1 x
        0 DBSIZE
    """,
    "other_ways_to_be": """
        1 BZPOPMIN a 0
        2 BZPOPMIN a 0
        3 BZPOPMIN a 0
        4 BZMPOP 0 1 a MAX
        0 ZADD x 1 m
        0 RENAME x a
        0 ZADD x 1 m
        0 ZUNIONSTORE a 1 x
        0 GEOADD a 1 1 place
        0 ZRANGESTORE a x 0 -1
        0 DEL x
        0 EXISTS a
    """,
    "other_types_do_not_serve": """
        1 BZPOPMIN a 0
        2 BLPOP a 0
        0 SADD a x
        0 DEL a
        0 RPUSH a x
        0 ZADD a 1 x
        0 SET a x
        0 SUNIONSTORE a nokey
        0 ZINCRBY a 5 m
    """,
    "in_a_transaction": """
        0 MULTI
        0 BZPOPMIN a 0
        0 BZMPOP 0 1 a MIN
        0 EXEC
        1 BZPOPMAX a 0
        0 MULTI
        0 ZADD a 1 x
        0 BZPOPMIN a 0
        0 EXEC
        0 ZADD a 2 y
    """,
    "unblocked": """
        1 BZPOPMIN a 0
        0 CLIENT UNBLOCK {1}
        1 BZPOPMIN a 0
        0 CLIENT UNBLOCK {1} ERROR
        1 BZMPOP 0 1 a MIN
        0 CLIENT UNBLOCK {1}
        0 ZADD a 1 x
    """,
}


class Sides:
    """Both servers with the same clients, some of which may wait."""

    def __init__(self, frozen: FrozenServer, resp: int) -> None:
        self.real = [RawClient(frozen.port) for _ in range(CLIENTS)]
        self.ask, self.listener = RawClient(frozen.port), RawClient(frozen.port)
        self.ask(b"FLUSHALL")
        self.ask(b"CONFIG", b"SET", b"notify-keyspace-events", b"AKE")
        self.listener(b"PSUBSCRIBE", b"__key*")
        clock = VirtualClock(frozen.ms)
        self.server = Server(clock, seed=1, cost=FREE, notify_keyspace_events="AKE")
        self.mine = [self.server.create_client() for _ in range(CLIENTS)]
        self.my_listener = self.server.create_client()
        self.run_mine(self.my_listener, [b"PSUBSCRIBE", b"__key*"])
        self.my_listener.outbox.clear()
        if resp == 3:
            for real, mine in zip(self.real, self.mine, strict=True):
                real(b"HELLO", b"3")
                mine.resp = 3
        self.ids = [client(b"CLIENT", b"ID")[1:-2] for client in self.real]
        self.waiting: set[int] = set()

    def run_mine(self, c: Client, argv: list[bytes]) -> bytes | None:
        reply = self.server.process_command(c, argv)
        self.server._check()
        return None if reply is BLOCKED else encode_reply(reply, c.resp)

    def step(self, who: int, words: list[str]) -> None:
        def argv(ids: list[bytes]) -> list[bytes]:
            return [ids[int(w[1])] if w.startswith("{") else w.encode() for w in words]

        got = self.run_mine(self.mine[who], argv([b"%d" % c.id for c in self.mine]))
        self.real[who].send(*argv(self.ids))
        if got is None:
            self.waiting.add(who)
        else:
            assert got == self.real[who].read(), words
        self.compare()

    def compare(self) -> None:
        """Those that wait no more have got the same; as many wait as on the other side."""
        for who in sorted(self.waiting):
            c = self.mine[who]
            if c.outbox:
                [reply] = c.outbox
                c.outbox.clear()
                self.waiting.discard(who)
                assert encode_reply(reply, c.resp) == self.real[who].read()
        info = self.ask(b"INFO", b"clients")
        assert b"\r\nblocked_clients:%d\r\n" % len(self.waiting) in info
        self.listener.send(b"PING")
        events = []
        while not (message := self.listener.read()).startswith(b"*2\r\n$4\r\npong"):
            events.append(message)
        assert [encode_reply(m, 2) for m in self.my_listener.outbox] == events
        self.my_listener.outbox.clear()

    def close(self) -> None:
        self.ask(b"CONFIG", b"SET", b"notify-keyspace-events", b"")
        for client in (*self.real, self.ask, self.listener):
            client.close()


@pytest.fixture
def sides(frozen_server: FrozenServer, resp: int) -> Iterator[Sides]:
    if frozen_server.version < (7, 0):
        pytest.skip("the commands compared here are those of Redis 7.0")
    sides = Sides(frozen_server, resp)
    yield sides
    sides.close()


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(sides: Sides, name: str) -> None:
    for line in SCRIPTS[name].strip().splitlines():
        who, *words = line.split()
        sides.step(int(who), words)
