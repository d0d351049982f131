"""DEBUG LOADAOF and RELOAD do to encodings and order what a real server's files do.

Only what does not follow from a hash table's layout is compared: its order is another one
on every server.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

import miniredis
from tests.conftest import missing
from tests.real.servers import RealServer, version_of

SETTINGS = {
    "hash-max-listpack-entries": 5,
    "zset-max-listpack-entries": 5,
    "set-max-intset-entries": 5,
    "list-max-listpack-size": 4,
    "stream-node-max-entries": 4,
}
WAS_A_TABLE = (b"hash6",)  # a listpack in the order of the table that it was


@pytest.fixture(scope="module")
def real(real_binary: str) -> Iterator[RealServer]:
    if version_of(real_binary) < (7, 0):
        missing("needs redis-server 7.0")
    server = RealServer(real_binary, options=("--appendonly", "yes"))
    yield server
    server.stop()


@pytest.fixture(params=["yes", "no"])
def both(real: RealServer, request: pytest.FixtureRequest) -> Iterator[tuple[redis.Redis, ...]]:
    server = miniredis.Server(seed=1, appendonly=True)
    with real.client() as theirs:
        for r in (server.client(), theirs):
            r.flushall()
            r.function_flush()
            r.config_set("aof-use-rdb-preamble", request.param)
            for name, value in SETTINGS.items():
                r.config_set(name, value)
        yield server.client(), theirs
    server._check()


def fill(r: redis.Redis) -> None:
    r.mset({"int": 123, "embstr": "short", "raw": "x" * 100})
    r.append("embstr", "er")
    for size in (3, 5, 6, 70, 130):
        r.rpush(f"list{size}", *range(size))
        r.linsert(f"list{size}", "before", 2, "inserted")
        r.sadd(f"ints{size}", *range(size))
        r.sadd(f"set{size}", *(f"m{i}" for i in range(size)))
        r.hset(f"hash{size}", mapping={f"f{i}": i for i in range(size)})
        r.zadd(f"zset{size}", {f"m{i}": i / 3 for i in range(size)})
    for kind, remove in (("hash", r.hdel), ("zset", r.zrem), ("ints", r.srem), ("set", r.srem)):
        prefix = {"hash": "f", "ints": ""}.get(kind, "m")
        remove(f"{kind}6", *(f"{prefix}{i}" for i in range(4)))  # small again, in a big encoding
    r.zadd("odd scores", {"a": float("inf"), "b": -0.0, "c": 1e300, "d": 0.1})
    for i in range(1, 11):
        r.xadd("stream", {"f": i}, id=f"{i}-{i}")
    r.xdel("stream", "10-10", "3-3")
    r.xgroup_create("stream", "g", id="0")
    r.xgroup_create("stream", "empty", id="$")
    r.xreadgroup("g", "c1", {"stream": ">"}, count=3)
    r.xreadgroup("g", "c2", {"stream": ">"}, count=1)
    r.xgroup_createconsumer("stream", "g", "idle")
    r.xadd("emptied", {"f": 1}, id="5-5")
    r.xdel("emptied", "5-5")
    r.pexpireat("raw", 4_102_444_800_123)
    r.execute_command("SELECT", 7)
    r.set("in7", 1)
    r.execute_command("SELECT", 0)


def picture(r: redis.Redis) -> dict[str, object]:
    """What can be compared of every key."""
    seen: dict[str, object] = {}
    for key in sorted(r.keys()):
        encoding = r.execute_command("OBJECT", "ENCODING", key)
        value: object
        kind = r.type(key)
        if kind == b"list":
            value = r.lrange(key, 0, -1)
        elif kind == b"zset":
            value = r.zrange(key, 0, -1, withscores=True)
        elif kind == b"hash":
            pairs = list(r.hgetall(key).items())
            value = sorted(pairs) if key in WAS_A_TABLE or encoding != b"listpack" else pairs
        elif kind == b"set":
            members = list(r.smembers(key))
            value = members if encoding == b"intset" else sorted(members)
        elif kind == b"stream":
            value = stream_picture(r, key)
        else:
            value = r.get(key)
        serialized = {b"hashtable", b"skiplist", b"stream"}
        in_order = encoding not in serialized and key not in WAS_A_TABLE
        dump = r.dump(key) if in_order else None
        seen[key.decode()] = (encoding, value, r.pexpiretime(key), dump)
    return seen


def stream_picture(r: redis.Redis, key: bytes) -> object:
    """All but the times at which consumers were seen, which differ by their nature."""
    info = r.xinfo_stream(key, full=True)
    groups = [
        (name(group), [name(consumer) for consumer in r.xinfo_consumers(key, name(group))])
        for group in r.xinfo_groups(key)
    ]
    wanted = ("length", "last-generated-id", "max-deleted-entry-id", "entries-added", "entries")
    counts = [(g["last-delivered-id"], g["entries-read"], g["lag"]) for g in r.xinfo_groups(key)]
    return [info[field] for field in wanted], groups, counts


def name(row: dict[str, bytes]) -> bytes:
    return row["name"]


def pending(r: redis.Redis) -> object:
    return [
        (entry["message_id"], entry["consumer"], entry["times_delivered"])
        for entry in r.xpending_range("stream", "g", "-", "+", 100)
    ]


@pytest.mark.parametrize("how", ["LOADAOF", "RELOAD", "REWRITE"])
def test_values_are_the_same_afterwards(both: tuple[redis.Redis, ...], how: str) -> None:
    pictures = []
    for r in both:
        fill(r)
        if how == "REWRITE":
            r.bgrewriteaof()
            while r.info("persistence")["aof_rewrite_in_progress"]:
                pass
        r.execute_command("DEBUG", "RELOAD" if how == "RELOAD" else "LOADAOF")
        pictures.append(picture(r) | {"PEL": pending(r), "db7": r.info("keyspace")["db7"]["keys"]})
    ours, theirs = pictures
    assert ours.keys() == theirs.keys()
    for key in ours:
        assert ours[key] == theirs[key], key
