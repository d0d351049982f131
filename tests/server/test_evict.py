"""Eviction: which keys go under which policy, what it does to others, what it costs when off."""

from __future__ import annotations

import pytest
import redis

from miniredis import Server, VirtualClock
from miniredis.keyspace.memory_usage import memory_usage
from miniredis.server.evict import USED_MEMORY_STARTUP

VALUE = "v" * 1000
KEY_BYTES = 1100  # of a key with VALUE and its share of the tables, roughly


def server_of(policy: str, keys: int) -> Server:
    """A server that has room for some *keys*."""
    return Server(
        VirtualClock(start_ms=1_700_000_000_000),
        seed=3,
        maxmemory=USED_MEMORY_STARTUP + keys * KEY_BYTES,
        maxmemory_policy=policy,
    )


def test_keys_that_were_not_used_go_first() -> None:
    server = server_of("allkeys-lru", 100)
    r = server.client()
    for i in range(90):
        r.set(f"old{i}", VALUE)
    server.clock.advance(60_000)
    for i in range(0, 90, 2):
        r.get(f"old{i}")
    for i in range(40):
        r.set(f"new{i}", VALUE)
        server._check()
    used = sum(bool(r.exists(f"old{i}")) for i in range(0, 90, 2))
    unused = sum(bool(r.exists(f"old{i}")) for i in range(1, 90, 2))
    assert used >= 40  # of 45: the approximation may take a few
    assert unused <= 20
    assert all(r.exists(f"new{i}") for i in range(39))
    assert r.info()["evicted_keys"] == 130 - r.dbsize()


def test_keys_that_die_soonest_go_first() -> None:
    server = server_of("volatile-ttl", 50)
    r = server.client()
    r.set("no ttl", VALUE)
    for i in range(100):
        r.set(f"k{i}", VALUE, ex=10_000 - i * 10)
    left = [int(key[1:]) for key in r.keys("k*")]
    assert r.exists("no ttl")
    # The younger a key the sooner it dies; the last is not yet counted when it is set.
    assert sorted(left)[:30] == list(range(30))


def test_keys_seldom_used_go_first() -> None:
    server = server_of("allkeys-lfu", 60)
    r = server.client()
    for i in range(50):
        r.set(f"k{i}", VALUE)
    for _ in range(200):
        for i in range(10):
            r.get(f"k{i}")
    for i in range(30):
        r.set(f"new{i}", VALUE)
    assert all(r.exists(f"k{i}") for i in range(10))


@pytest.mark.parametrize("policy", ["allkeys-random", "volatile-random"])
def test_random_policies_take_from_each_database(policy: str) -> None:
    server = server_of(policy, 60)
    clients = [server.client(db=db) for db in range(2)]
    for i in range(60):
        for r in clients:
            r.set(f"k{i}", VALUE, ex=1000)
    sizes = [r.dbsize() for r in clients]
    assert abs(sizes[0] - sizes[1]) <= 1
    assert 50 <= sum(sizes) <= 61
    server._check()


def test_volatile_policies_spare_keys_without_a_ttl() -> None:
    server = server_of("volatile-lru", 20)
    r = server.client()
    refused = 0
    for i in range(40):
        try:
            r.set(f"k{i}", VALUE)
        except redis.exceptions.OutOfMemoryError:
            refused += 1
    assert refused == 40 - r.dbsize()
    assert 15 < r.dbsize() < 25


def test_what_is_evicted_is_propagated_as_deleted() -> None:
    server = server_of("allkeys-lru", 5)
    stream: list[list[bytes]] = []
    server.add_sink(lambda dbid, argv: stream.append(argv))
    r = server.client()
    for i in range(8):
        r.set(f"k{i}", VALUE)
    deleted = [argv[1] for argv in stream if argv[0] == b"DEL"]
    assert deleted
    assert not any(r.exists(key) for key in deleted)
    assert r.config_set("lazyfree-lazy-eviction", "yes")
    r.config_set("maxmemory", 1)
    server.clock.advance(1)
    assert stream[-1][0] == b"UNLINK"
    assert r.dbsize() == 0


@pytest.mark.parametrize(
    "commands",
    [
        ["SET k v", "APPEND k more", "SETRANGE k 100 x", "SET k v"],
        ["HSET h a 1 b 2", "HDEL h a", "HINCRBY h b 3", "DEL h"],
        ["RPUSH l 1 2 3", "LPOP l", "LMOVE l m LEFT RIGHT", "RENAME m n", "COPY n o"],
        ["SADD s a b c", "SPOP s", "SUNIONSTORE t s", "SMOVE t u a", "MOVE t 1"],
        ["ZADD z 1 a 2 b", "ZINCRBY z 2 a", "ZPOPMIN z", "ZRANGESTORE y z 0 -1"],
        ["XADD x 1-1 f v", "XADD x 1-2 f v", "XTRIM x MAXLEN 1", "XDEL x 1-2"],
        ["SET k v PX 1", "GET k", "SET a b", "SWAPDB 0 1", "SET a c", "FLUSHDB", "FLUSHALL"],
        ["PFADD h a b", "PFMERGE i h", "SETBIT b 1000 1", "BITOP NOT c b", "BITFIELD d SET u8 0 1"],
        ["GEOADD g 1 1 a", "SORT l STORE m", "MSET a 1 b 2", "GETDEL a", "DEBUG RELOAD"],
        ["EVAL return{redis.call('set','a','b'),redis.call('del','b')} 0", "RESTORE z 0 x"],
    ],
)
def test_the_account_follows_every_command(commands: list[str]) -> None:
    """Whatever changes a key says so: what was measured is what measuring anew gives."""
    server = Server(VirtualClock(), seed=1, maxmemory="100mb", enable_debug_command="yes")
    client = server.create_client()
    for command in commands:
        server.process_command(client, [word.encode() for word in command.split()])
        server.clock.advance(10)
        server._check()
        counted = server.eviction.account.data_bytes()
        keys = sum(
            memory_usage(key, entry.val)
            for db in server.databases
            for key, entry in db.dict.index.items()
        )
        tables = sum(8 * (db.dict.slots() + db.expires.slots()) for db in server.databases)
        assert counted == keys + tables + 24 * sum(len(db.expires) for db in server.databases)


def test_without_a_limit_nothing_is_measured() -> None:
    server = Server(seed=1)
    r = server.client()
    assert not (server.databases[0].signals or server.gates)
    r.set("k", "v")
    r.config_set("maxmemory", "100mb")
    assert server.databases[0].signals and server.gates
    r.set("k", "v")
    r.config_set("maxmemory", 0)
    assert not (server.databases[0].signals or server.gates)
    r.set("k", "v" * 100)
    server._check()
