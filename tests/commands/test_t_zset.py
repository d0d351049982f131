"""t_zset*.py, geo*.py: what is told to replicas, watchers and redis-py, and random picks.

Replies and events are compared with a real server in ``tests/differential``.
"""

from __future__ import annotations

from collections import Counter

import pytest

import miniredis
from miniredis.server.server import Server
from tests.commands.conftest import Call


@pytest.fixture
def stream(server: Server) -> list[str]:
    commands: list[str] = []
    server.add_sink(lambda dbid, argv: commands.append(b" ".join(argv).decode()))
    return commands


@pytest.mark.parametrize(
    ("command", "propagated"),
    [
        ("ZADD a 9 x", ["ZADD a 9 x"]),
        ("ZADD a 1 x", []),
        ("ZADD a XX 9 new", []),
        ("ZINCRBY a 0 x", []),
        ("ZINCRBY a 2 x", ["ZINCRBY a 2 x"]),
        ("ZREM a nobody", []),
        ("ZPOPMIN a", ["ZPOPMIN a"]),
        ("ZPOPMIN a 0", []),
        ("ZMPOP 2 nokey a MIN COUNT 9", ["ZPOPMIN a 3"]),
        ("ZMPOP 1 nokey MIN", []),
        ("BZMPOP 0 2 nokey a MAX COUNT 2", ["ZPOPMAX a 2"]),
        ("BZPOPMAX nokey a 0", ["ZPOPMAX a"]),
        ("ZRANGESTORE b a 0 1", ["ZRANGESTORE b a 0 1"]),
        ("ZRANGESTORE b a 5 6", []),
        ("ZUNIONSTORE a 1 nokey", ["ZUNIONSTORE a 1 nokey"]),
        ("ZREMRANGEBYSCORE a 5 6", []),
        ("GEOADD a NX 1 1 g", ["zadd a NX 3377756263693204 g"]),
        ("GEOADD a XX 1 1 g", []),
        ("GEORADIUS a 0 0 1 m STORE a", ["GEORADIUS a 0 0 1 m STORE a"]),
    ],
)
def test_what_replicas_are_told(
    call: Call, stream: list[str], command: str, propagated: list[str]
) -> None:
    call("ZADD a 1 x 2 y 3 z")
    del stream[:]
    call(command)
    assert stream == propagated or (command.startswith("GEOADD a NX") and len(stream) == 1)


@pytest.mark.parametrize(
    ("command", "dirty"),
    [
        ("ZADD a 9 x", True),
        ("ZADD a 1 x", False),
        ("ZADD a INCR 0 x", False),
        ("ZRANGE a 0 -1", False),
        ("ZREM a nobody", False),
        ("ZREM a x", True),
        ("ZPOPMAX a", True),
        ("ZREMRANGEBYRANK a 7 9", False),
        ("ZREMRANGEBYLEX a - +", True),
        ("ZDIFFSTORE a 1 nokey", True),
        ("GEOSEARCHSTORE a nokey FROMLONLAT 1 1 BYRADIUS 1 m", True),
    ],
)
def test_who_watches(server: Server, call: Call, command: str, dirty: bool) -> None:
    watcher = server.create_client()
    call("ZADD a 1 x 1 y")
    server.process_command(watcher, [b"WATCH", b"a"])
    call(command)
    server.process_command(watcher, [b"MULTI"])
    reply = server.process_command(watcher, [b"EXEC"])
    assert (reply != []) is dirty


@pytest.mark.parametrize("size", [20, 200])
@pytest.mark.parametrize("count", [None, -1, 1, 2, 5, 15])
def test_random_picks_are_fair(server: Server, size: int, count: int | None) -> None:
    """Chi squared: members of a listpack are equally likely, those of a skiplist nearly.

    Redis draws from a hash table by way of 15 neighbours at a random place, so members in
    crowded places come less often.
    """
    c = server.create_client()
    pairs = (word for i in range(size) for word in (b"%d" % i, b"m%d" % i))
    server.process_command(c, [b"ZADD", b"a", *pairs])
    argv = [b"ZRANDMEMBER", b"a", *([] if count is None else [b"%d" % count])]
    drawn: Counter[bytes] = Counter()
    each = abs(count or 1)
    rounds = 30 * size // each
    for _ in range(rounds):
        reply = server.process_command(c, argv)
        members = reply if isinstance(reply, list) else [reply]
        assert len(set(members)) == len(members) == each
        drawn.update(members)
    expected = rounds * each / size
    chi_squared = sum((drawn[b"m%d" % i] - expected) ** 2 / expected for i in range(size))
    sigmas = (chi_squared - size) / (2 * size) ** 0.5
    assert sigmas < 5 if size == 20 else chi_squared < 4 * size


def test_a_negative_count_may_repeat(call: Call) -> None:
    call("ZADD a 1 x 2 y")
    members = call("ZRANDMEMBER a -100")
    assert len(members) == 100 and set(members) == {b"x", b"y"}
    flat = call("ZRANDMEMBER a -3 WITHSCORES")
    assert len(flat) == 6 and set(flat[1::2]) <= {1.0, 2.0}


@pytest.mark.parametrize("protocol", [2, 3])
def test_redis_py(protocol: int) -> None:
    r = miniredis.Redis(decode_responses=True, protocol=protocol)
    assert r.zadd("z", {"a": 1, "b": 2.5, "c": float("inf")}) == 3
    assert r.zincrby("z", 0.25, "b") == 2.75
    assert r.zrank("z", "b") == 1
    assert r.zscore("z", "c") == float("inf")
    assert r.zmscore("z", ["a", "x"]) == [1.0, None]
    assert r.zrange("z", 0, 1) == ["a", "b"]
    pairs = [tuple(pair) for pair in r.zrange("z", 0, -1, withscores=True)]
    assert pairs == [("a", 1.0), ("b", 2.75), ("c", float("inf"))]
    assert r.zrangebyscore("z", "(1", "+inf", start=0, num=1) == ["b"]
    assert r.zrangebylex("z", "-", "[b") == ["a", "b"]
    assert r.zcount("z", 1, 3) == 2
    assert dict(r.zscan_iter("z")) == {"a": 1.0, "b": 2.75, "c": float("inf")}
    assert r.zunionstore("u", {"z": 2}) == 3
    assert r.zinter(["z", "u"], aggregate="MIN") == ["a", "b", "c"]
    assert [tuple(pair) for pair in r.zpopmin("z", 1)] == [("a", 1.0)]
    assert tuple(r.bzpopmax("z")) == ("z", "c", float("inf"))
    assert r.zrandmember("z") == "b"


@pytest.mark.parametrize("protocol", [2, 3])
def test_redis_py_and_places(protocol: int) -> None:
    r = miniredis.Redis(decode_responses=True, protocol=protocol)
    r.geoadd("g", (13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania"))
    assert r.geodist("g", "Palermo", "Catania", unit="km") == 166.2742
    assert r.geohash("g", "Palermo") == ["sqc8b49rny0"]
    [place, nothing] = r.geopos("g", "Palermo", "x")
    assert place == pytest.approx((13.361389, 38.115556), abs=1e-5) and nothing is None
    found = r.geosearch("g", longitude=15, latitude=37, radius=200, unit="km", sort="ASC")
    assert found == ["Catania", "Palermo"]
    assert r.geosearchstore("d", "g", member="Palermo", radius=1, unit="km") == 1
