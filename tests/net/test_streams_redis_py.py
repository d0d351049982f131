"""Bitmaps, HyperLogLogs and streams through redis-py, in process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

import miniredis
from tests.net.in_loop import KINDS, client_of


@pytest.fixture(params=KINDS)
def r(request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    with client_of(
        miniredis.Server(clock=miniredis.VirtualClock(), seed=1), request.param
    ) as client:
        yield client


def test_bits(r: redis.Redis) -> None:
    assert r.setbit("k", 7, 1) == 0
    assert r.bitcount("k") == 1
    assert r.bitpos("k", 1) == 7
    assert r.bitfield("k").incrby("u8", 0, 5).get("u4", 4).execute() == [6, 6]


def test_hyperloglog(r: redis.Redis) -> None:
    assert r.pfadd("h", "a", "b") == 1
    assert r.pfcount("h") == 2
    assert r.pfmerge("i", "h")


def test_streams(r: redis.Redis) -> None:
    first = r.xadd("s", {"f": "v"})
    r.xadd("s", {"f": "w"}, maxlen=10)
    assert r.xlen("s") == 2
    assert r.xrange("s")[0] == (first, {b"f": b"v"})
    found = r.xread({"s": 0}, count=1)
    entries = dict(found)[b"s"] if isinstance(found, list) else found[b"s"][0]
    assert entries == [(first, {b"f": b"v"})]
    assert r.xgroup_create("s", "g", 0)
    r.xreadgroup("g", "c", {"s": ">"})
    assert r.xpending("s", "g")["pending"] == 2
    assert r.xack("s", "g", first) == 1
    assert r.xinfo_stream("s")["length"] == 2
    assert r.xinfo_groups("s")[0]["pending"] == 1
    assert r.xautoclaim("s", "g", "d", 0)[1][0][1] == {b"f": b"w"}


def test_waiting_ends_in_virtual_time(r: redis.Redis) -> None:
    assert not r.xread({"s": "$"}, block=5_000)
