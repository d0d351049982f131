"""MIGRATE: the same replies, and the same keys on either side, as between real servers.

The same commands are given to the simulator and to a real server, each with a real server
of its own to migrate to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.conftest import missing
from tests.net.test_tcp import TcpThread
from tests.real.raw import RawClient
from tests.real.servers import RealServer, version_of


class Route(NamedTuple):
    """A server, the port of the one that it migrates to, and connections to both."""

    source: RawClient
    port: int
    target: RawClient

    def __call__(self, line: str) -> tuple[bytes, bytes]:
        """Run *line* on the source (``TO`` is the address) or, after ``t:``, on the target.

        The reply, and a digest of the target's data.
        """
        client = self.target if line.startswith("t:") else self.source
        address = f"127.0.0.1 {self.port}"
        words = line.removeprefix("t:").replace("TO", address).split()
        argv = [b"" if word == '""' else word.encode() for word in words]
        return client(*argv), self.target(b"DEBUG", b"DIGEST")


@pytest.fixture
def routes(real_binary: str) -> Iterator[tuple[Route, Route]]:
    if version_of(real_binary) < (7, 0):
        missing("needs redis-server 7.0")
    servers = [RealServer(real_binary) for _ in range(3)]
    ours = TcpThread()
    real, one, other = servers
    clients = [RawClient(port) for port in (real.port, one.port, other.port)]
    yield (
        Route(ours.client(), one.port, clients[1]),
        Route(clients[0], other.port, clients[2]),
    )
    with ours.server.lock:
        ours.server._check()
    for client in clients:
        client.close()
    ours.stop()
    for server in servers:
        server.stop()


SCRIPT = """
CONFIG SET notify-keyspace-events KEA
MSET a 1 b 2 c 3 d 4
RPUSH list 1 2 3
SET volatile x PXAT 4102444800123
MIGRATE TO a 0 1000
EXISTS a
t:GET a
MIGRATE TO a 0 1000
SET a again
MIGRATE TO a 0 1000
GET a
MIGRATE TO a 0 1000 COPY REPLACE
GET a
MIGRATE TO a 0 1000 REPLACE
GET a
MIGRATE TO "" 3 1000 KEYS b nothing list volatile
DBSIZE
t:SELECT 3
t:EXPIRETIME volatile
t:LRANGE list 0 -1
t:SET c taken
MIGRATE TO "" 3 1000 KEYS c d
MGET c d
MIGRATE TO c 99 1000
MIGRATE TO c 0 1000 AUTH nobody
MIGRATE TO c 0 1000 AUTH2 someone secret
MIGRATE TO c 0 1000 AUTH2 someone
MIGRATE TO c 0 1000 AUTH
MIGRATE TO c 0 1000 KEYS c
MIGRATE TO "" 0 1000 KEYS
MIGRATE TO c 0 1000 NONSENSE
MIGRATE TO c x 1000
MIGRATE TO c 0 x
MIGRATE TO c 0
MIGRATE TO missing 0 1000
MIGRATE 127.0.0.1 1 c 0 1000
MIGRATE TO c 0 -5
GET c
COMMAND GETKEYS MIGRATE h 1 k 0 10 KEYS a b
COMMAND GETKEYS MIGRATE h 1 k 0 10 AUTH keys
COMMAND GETKEYSANDFLAGS MIGRATE h 1 "" 0 10 AUTH2 keys keys COPY KEYS a b
t:CONFIG SET requirepass secret
SET e 1
MIGRATE TO e 0 1000 AUTH wrong
MIGRATE TO e 0 1000 AUTH secret
EXISTS e
MULTI
SET f 1
MIGRATE TO f 0 1000 AUTH secret
EXEC
ASKING
READONLY
READWRITE
"""


def test_the_same_as_a_real_server(routes: tuple[Route, Route]) -> None:
    ours, theirs = routes
    for line in SCRIPT.strip().splitlines():
        assert ours(line) == theirs(line), line


def test_a_connection_that_was_closed_meanwhile_is_made_anew(
    routes: tuple[Route, Route],
) -> None:
    ours, _ = routes
    for key in ("a", "b"):
        assert ours(f"SET {key} 1")[0] == b"+OK\r\n"
        assert ours(f"MIGRATE TO {key} 0 1000")[0] == b"+OK\r\n"
        assert ours("t:CLIENT KILL SKIPME yes")[0] == b":1\r\n"


def test_what_is_propagated(routes: tuple[Route, Route]) -> None:
    """A DEL of the keys that have gone; nothing of those that were refused or copied."""
    thread = TcpThread()
    try:
        ours, _ = routes
        route = Route(thread.client(), ours.port, ours.target)
        route("MSET a 1 b 2 c 3")
        route("t:SET b taken")
        with thread.server.append_only_stream() as stream:
            route('MIGRATE TO "" 0 1000 KEYS a b c')
            route("MIGRATE TO b 0 1000 COPY REPLACE")
        assert stream.lines() == ["SELECT 0", "DEL a c"]
    finally:
        thread.stop()


def test_a_server_in_process_migrates_too(real_server: RealServer) -> None:
    import miniredis

    r = miniredis.Server(seed=1).client()
    r.zadd("z", {"a": 1, "b": 2.5})
    assert r.migrate("127.0.0.1", real_server.port, ["z"], 0, 1000) == b"OK"
    assert r.exists("z") == 0
    with real_server.client() as real:
        assert real.zrange("z", 0, -1, withscores=True) == [(b"a", 1.0), (b"b", 2.5)]
    server = r.connection_pool.connection_kwargs["server"]
    assert len(server.migrate_sockets.cached) == 1
    server.close()
    assert not server.migrate_sockets.cached
