"""Hashes and sets through redis-py in process, in both protocols."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

import miniredis
from tests.net.in_loop import KINDS, client_of


@pytest.fixture(params=KINDS)
def r(request: pytest.FixtureRequest) -> Iterator[miniredis.Redis]:
    with client_of(miniredis.Server(), request.param, decode_responses=True) as client:
        yield client


def test_hashes(r: miniredis.Redis) -> None:
    assert r.hset("h", mapping={"a": 1, "b": "x"}) == 2
    assert r.hset("h", "c", 2.5) == 1
    assert r.hgetall("h") == {"a": "1", "b": "x", "c": "2.5"}
    assert r.hmget("h", "a", "nope") == ["1", None]
    assert r.hincrby("h", "a", 4) == 5
    assert r.hincrbyfloat("h", "c", 0.5) == 3.0
    assert r.hkeys("h") == ["a", "b", "c"]
    assert r.hvals("h") == ["5", "x", "3"]
    assert r.hexists("h", "a") is True
    assert r.hlen("h") == 3
    assert r.hstrlen("h", "b") == 1
    assert r.hsetnx("h", "a", 1) == 0
    assert dict(r.hscan_iter("h")) == r.hgetall("h")
    assert sorted(r.hrandfield("h", 3)) == ["a", "b", "c"]
    assert r.hdel("h", "a", "b", "c") == 3
    assert r.hgetall("h") == {}


def test_sets(r: miniredis.Redis) -> None:
    assert r.sadd("s", 1, 2, "x") == 3
    assert set(r.smembers("s")) == {"1", "2", "x"}
    assert r.sismember("s", 1)
    assert r.smismember("s", [1, 9]) == [1, 0]
    r.sadd("t", 2, 3)
    assert set(r.sinter("s", "t")) == {"2"}
    assert set(r.sunion("s", "t")) == {"1", "2", "3", "x"}
    assert set(r.sdiff("s", "t")) == {"1", "x"}
    assert r.sintercard(2, ["s", "t"]) == 1
    assert r.sunionstore("u", "s", "t") == 4
    assert set(r.sscan_iter("u")) == set(r.smembers("u"))
    assert r.smove("s", "t", "x")
    assert len(r.srandmember("t", 2)) == 2
    assert set(r.spop("t", 3)) == {"2", "3", "x"}
    assert r.spop("t") is None
    assert r.srem("s", 1, 2) == 2
    assert r.scard("s") == 0


def test_wrong_types(r: miniredis.Redis) -> None:
    r.set("k", "v")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        r.hset("k", "f", "v")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        r.smembers("k")
