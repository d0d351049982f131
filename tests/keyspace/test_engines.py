"""engines.py, db62.py: which versions there are, and what tells them apart."""

from __future__ import annotations

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.keyspace.db62 import RedisDb62
from miniredis.keyspace.engines import ENGINES


def run(server: Server, *lines: str) -> list[object]:
    c = server.create_client()
    return [server.process_command(c, line.encode().split()) for line in lines]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_expires_keys(engine: str) -> None:
    clock = VirtualClock()
    server = Server(clock, seed=1, cost=FREE, expire_engine=engine)
    run(server, *(f"SET k{i} v PX {i}" for i in range(1, 300)), "SET stays v")
    clock.advance(1_000)
    assert server.dbsize(0) == 1
    assert server.stat_expiredkeys == 299
    server._check()


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one of 6\.0, 7\.0, not '9'"):
        Server(expire_engine="9")


@pytest.mark.parametrize(("engine", "hits", "misses"), [("6.0", 1, 2), ("7.0", 1, 2)])
def test_hits_and_misses_are_counted_alike(engine: str, hits: int, misses: int) -> None:
    clock = VirtualClock()
    server = Server(clock, seed=1, cost=FREE, expire_engine=engine)
    server.active_expire_enabled = False
    run(server, "SET dead v PX 1", "SET alive v PX 1000", "DBSIZE")
    clock.advance(2)
    assert run(server, "GET dead", "GET alive", "GET missing") == [None, b"v", None]
    assert (server.stat_keyspace_hits, server.stat_keyspace_misses) == (hits, misses)
    assert server.stat_expiredkeys == 1


def test_6_0_asks_the_expires_dict_first() -> None:
    """A missing key moves a rehash of ``expires`` in 6.0, in 7.0 it does not."""
    steps = {}
    for engine in ("6.0", "7.0"):
        server = Server(VirtualClock(), seed=1, cost=FREE, expire_engine=engine)
        run(server, *(f"SET k{i} v EX 100" for i in range(65)))
        expires = server.databases[0].expires
        assert expires.is_rehashing()
        before = expires.rehashidx
        run(server, "GET missing")
        steps[engine] = expires.rehashidx - before
        assert isinstance(server.databases[0], RedisDb62) == (engine == "6.0")
    assert steps["6.0"] > 0
    assert steps["7.0"] == 0
