"""A real redis-server as replica of the simulator over TCP, and the other way round.

Both must hold the same data, by DEBUG DIGEST, times to live and libraries of functions.
WAIT on the primary is what waits: it returns when the replica has said that it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.conftest import missing
from tests.net.test_tcp import TcpThread
from tests.real.servers import RealServer, version_of

WAIT_MS = 20_000
LIBRARY = (
    "#!lua name=lib\n"
    "redis.register_function{function_name='seven', callback=function() return 7 end, "
    "flags={'no-writes'}}"
)


@pytest.fixture
def real(real_binary: str) -> Iterator[RealServer]:
    if version_of(real_binary) < (7, 0):
        missing("needs redis-server 7.0")
    server = RealServer(real_binary, options=("--repl-diskless-sync-delay", "0"))
    yield server
    server.stop()


@pytest.fixture
def tcp() -> Iterator[TcpThread]:
    thread = TcpThread()
    yield thread
    with thread.server.lock:
        thread.server._check()
    thread.stop()


@pytest.fixture
def ours(tcp: TcpThread) -> Iterator[redis.Redis]:
    with redis.Redis(port=tcp.port) as client:
        yield client


@pytest.fixture
def theirs(real: RealServer) -> Iterator[redis.Redis]:
    with real.client() as client:
        yield client


def fill(r: redis.Redis) -> None:
    """Values of every type and encoding, in two databases."""
    r.mset({"int": 12345, "embstr": "short", "raw": "hello " * 40, "bytes": bytes(range(256))})
    r.set("volatile", "x", pxat=4_102_444_800_123)
    r.rpush("list", *range(300))
    r.rpush("long elements", "y" * 10_000, "", "z")
    r.sadd("intset", 1, -2, 1 << 40)
    r.sadd("set", *range(700), "a")
    r.hset("hash", mapping={"a": 1, "b": ""})
    r.hset("hash table", mapping={str(i): "v" * i for i in range(100)})
    r.zadd("zset", {"a": 1.5, "b": float("inf"), "c": -0.1})
    r.zadd("skiplist", {str(i): i / 3 for i in range(400)})
    for i in range(1, 251):
        r.xadd("stream", {"f": i, "g": "h"} if i % 50 else {"other": i}, id=f"{i}-1")
    r.xdel("stream", "7-1", "250-1")
    r.xgroup_create("stream", "group", id="0")
    r.xreadgroup("group", "consumer", {"stream": ">"}, count=5)
    r.pfadd("hll", *range(1000))
    r.execute_command("SELECT", 9)
    r.set("of database 9", 1)
    r.execute_command("SELECT", 0)
    r.function_load(LIBRARY)


def assert_same(master: redis.Redis, replica: redis.Redis) -> None:
    """Equal once the replica has everything."""
    master.set("the last write", 1)
    assert master.wait(1, WAIT_MS) == 1
    assert master.execute_command("DEBUG DIGEST") == replica.execute_command("DEBUG DIGEST")
    assert master.pexpiretime("volatile") == replica.pexpiretime("volatile")
    assert replica.execute_command("FCALL_RO seven 0") == 7
    assert replica.xpending("stream", "group") == master.xpending("stream", "group")


def go_on(r: redis.Redis) -> None:
    """What goes over the stream: plain, in a transaction, in another database."""
    r.set("volatile", "y", px=100_000_000)
    r.incr("int")
    pipe = r.pipeline()
    pipe.lpush("list", "first").spop("set").xadd("stream", {"a": 1}).execute()
    r.execute_command("SELECT", 5)
    r.append("k", "v" * 1000)
    r.execute_command("SELECT", 0)


def attach(replica: redis.Redis, master_port: int) -> None:
    replica.execute_command("REPLICAOF", "127.0.0.1", master_port)


def test_a_real_replica_gets_everything(
    tcp: TcpThread, ours: redis.Redis, theirs: redis.Redis
) -> None:
    fill(ours)
    attach(theirs, tcp.port)
    assert_same(ours, theirs)
    go_on(ours)
    assert_same(ours, theirs)
    assert ours.info("replication")["slave0"]["state"] == "online"
    assert [c["flags"] for c in ours.client_list("replica")] == ["S"]
    assert theirs.info("replication")["master_replid"] == tcp.server.replid


def test_a_real_replica_goes_on_after_its_link_broke(
    tcp: TcpThread, ours: redis.Redis, theirs: redis.Redis
) -> None:
    fill(ours)
    attach(theirs, tcp.port)
    assert_same(ours, theirs)
    full = ours.info("stats")["sync_full"]
    theirs.execute_command("CLIENT KILL TYPE master")
    go_on(ours)
    assert_same(ours, theirs)
    stats = ours.info("stats")
    assert (stats["sync_full"], stats["sync_partial_ok"]) == (full, 1)


@pytest.mark.parametrize("diskless", ["yes", "no"])
def test_it_replicates_a_real_server(
    real: RealServer, ours: redis.Redis, theirs: redis.Redis, diskless: str
) -> None:
    theirs.config_set("repl-diskless-sync", diskless)
    fill(theirs)
    ours.mset({"old": 1, "list": "of another type"})
    attach(ours, real.port)
    assert_same(theirs, ours)
    go_on(theirs)
    assert_same(theirs, ours)
    assert ours.exists("old") == 0
    with pytest.raises(redis.ReadOnlyError):
        ours.set("k", "v")
    theirs.execute_command("CLIENT KILL TYPE replica")
    go_on(theirs)
    assert_same(theirs, ours)
    assert theirs.info("stats")["sync_partial_ok"] == 1


def test_the_two_change_roles(
    tcp: TcpThread, real: RealServer, ours: redis.Redis, theirs: redis.Redis
) -> None:
    """The history goes on under a new name, so nothing is sent again."""
    fill(theirs)
    attach(ours, real.port)
    assert_same(theirs, ours)
    ours.execute_command("REPLICAOF NO ONE")
    ours.set("mine", 1)
    attach(theirs, tcp.port)
    assert_same(ours, theirs)
    assert ours.info("stats")["sync_full"] == 0
    assert ours.info("stats")["sync_partial_ok"] == 1
    assert theirs.get("mine") == b"1"


def test_a_chain(real: RealServer, ours: redis.Redis, theirs: redis.Redis) -> None:
    """A replica of ours gets the real primary's stream, byte for byte, and its files."""
    last = TcpThread()
    try:
        fill(theirs)
        attach(ours, real.port)
        assert_same(theirs, ours)
        with redis.Redis(port=last.port) as r:
            port = ours.connection_pool.connection_kwargs["port"]
            attach(r, port)
            theirs.set("further", 1)
            while ours.info("replication")["connected_slaves"] == 0:
                theirs.wait(1, 10)
            go_on(theirs)
            assert_same(theirs, ours)
            offset = theirs.info("replication")["master_repl_offset"]
            while r.info("replication")["master_repl_offset"] < offset:
                theirs.wait(1, 10)
            assert r.execute_command("DEBUG DIGEST") == theirs.execute_command("DEBUG DIGEST")
    finally:
        last.stop()


def test_a_password(real: RealServer, ours: redis.Redis, theirs: redis.Redis) -> None:
    theirs.config_set("requirepass", "secret")
    theirs.execute_command("AUTH", "secret")
    fill(theirs)
    ours.config_set("masterauth", "wrong")
    attach(ours, real.port)
    while not theirs.execute_command("INFO", "errorstats").get("errorstat_WRONGPASS"):
        theirs.wait(1, 10)
    assert ours.role()[0] == b"slave" and ours.role()[3] != b"connected"
    ours.config_set("masterauth", "secret")
    assert_same(theirs, ours)


def test_files_are_read_on_either_side(
    real: RealServer, tcp: TcpThread, ours: redis.Redis, theirs: redis.Redis
) -> None:
    """What SAVE of one makes, the other loads."""
    fill(ours)
    ours.save()
    saved = tcp.server.persistence.saved
    assert saved is not None
    dump = Path(real.dir) / "dump.rdb"
    dump.write_bytes(saved)
    theirs.execute_command("DEBUG RELOAD NOSAVE")
    digest = ours.execute_command("DEBUG DIGEST")
    assert theirs.execute_command("DEBUG DIGEST") == digest
    theirs.save()
    ours.flushall()
    ours.function_flush()
    tcp.server.persistence.saved = dump.read_bytes()
    ours.execute_command("DEBUG RELOAD NOSAVE")
    assert ours.execute_command("DEBUG DIGEST") == digest
    assert ours.execute_command("FCALL_RO seven 0") == 7
