"""Servers that replicate each other: who meets whom, who lives on, what repeats."""

from __future__ import annotations

import gc
import random
import weakref

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.keyspace.engines import ENGINES
from miniredis.lab.recorder import Recorder
from miniredis.reply import BLOCKED, Reply
from miniredis.server.client import Client
from miniredis.server.life import ByCommand, What
from tests.server.test_replication import fields, replica_of, run


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def primary(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1, cost=FREE)


# -- who meets whom --------------------------------------------------------------------------


def test_families_do_not_meet(clock: VirtualClock, primary: Server) -> None:
    """Each has its own 127.0.0.1: the same ports, and no way from one to the other."""
    replica = replica_of(primary)
    other = Server(clock=clock, seed=3, cost=FREE)
    other_replica = replica_of(other)
    assert [s.config.port for s in (primary, replica)] == [6379, 6380]
    assert [s.config.port for s in (other, other_replica)] == [6379, 6380]
    run(primary.create_client(), "SET mine 1")
    run(other.create_client(), "SET other 1")
    lone = Server(clock=clock, seed=4, cost=FREE, port=7000)
    run(lone.create_client(), "REPLICAOF 127.0.0.1 6379")
    run(other.create_client(), "REPLICAOF 127.0.0.1 6381")
    clock.advance(2_000)
    assert set(replica.databases[0].dict.index) == {b"mine"}
    assert set(other_replica.databases[0].dict.index) == {b"other"}
    assert fields(lone)["master_link_status"] == fields(other)["master_link_status"] == "down"
    assert primary.lock is replica.lock and other.lock is other_replica.lock
    assert len({id(s.lock) for s in (primary, other, lone)}) == 3


def test_a_circle_of_two(clock: VirtualClock, primary: Server) -> None:
    """Redis lets them: both links are up, nobody may write, and nobody expires anything."""
    replica = replica_of(primary, 5)
    run(primary.create_client(), "SET a 1 PX 1000")
    primary.replicate(replica)
    clock.advance(3_000)
    run(replica.create_client(), "CLIENT KILL TYPE master")
    clock.advance(3_000)
    for server in (primary, replica):
        assert fields(server)["role"] == "slave"
        assert fields(server)["master_link_status"] == "up"
        assert fields(server)["master_repl_offset"] == fields(server)["slave_repl_offset"]
        assert run(server.create_client(), "SET x 1").code == "READONLY"  # type: ignore[union-attr]
        assert run(server.create_client(), "GET a") is None
        assert server.dbsize() == 1
        server._check()
    replica.promote()
    clock.advance(500)
    assert (primary.dbsize(), replica.dbsize()) == (0, 0)


def test_a_server_that_is_told_its_own_address(clock: VirtualClock, primary: Server) -> None:
    """As a method it is refused; REPLICAOF believes it, and the link stays down."""
    with pytest.raises(ValueError, match="cannot replicate itself"):
        primary.replicate(primary)
    run(primary.create_client(), "REPLICAOF 127.0.0.1 6379")
    clock.advance(3_000)
    assert run(primary.create_client(), "ROLE") == [b"slave", b"127.0.0.1", 6379, b"connect", -1]
    primary._check()


# -- who lives on ----------------------------------------------------------------------------


def test_a_primary_lives_as_long_as_its_replica(clock: VirtualClock) -> None:
    """A server that nobody names any more goes on, as a process would; the family ends
    when none of it is named."""
    primary = Server(clock=clock, seed=1, cost=FREE)
    replica = replica_of(primary)
    run(primary.create_client(), "SET a 1 PX 150")
    ref = weakref.ref(primary)
    del primary
    gc.collect()
    clock.advance(500)
    assert replica.dbsize() == 0  # somebody has expired it
    assert ref() is not None
    del replica
    gc.collect()
    assert ref() is None
    clock.advance(1_000)


def test_a_closed_server_in_the_middle_of_a_chain(clock: VirtualClock, primary: Server) -> None:
    middle = replica_of(primary, 10)
    last = replica_of(middle, 10)
    run(primary.create_client(), "SET a 1")
    clock.advance(20)
    middle.close()
    clock.advance(2_000)
    assert fields(primary)["connected_slaves"] == "0"
    assert run(last.create_client(), "GET a") == b"1"
    assert fields(last)["master_link_status"] == "down"
    last.replicate(primary)
    clock.advance(20)
    assert fields(last)["master_link_status"] == "up"
    # It has the history that the primary goes on with.
    assert fields(primary, "stats")["sync_partial_ok"] == "1"
    for server in (primary, last):
        server._check()


def test_a_dead_key_goes_down_a_chain(clock: VirtualClock, primary: Server) -> None:
    """Each link of the chain adds its delay; what is dead is served by none of them."""
    chain = [primary]
    for delay_ms in (10, 20, 40):
        chain.append(replica_of(chain[-1], delay_ms))
    clients = [s.create_client() for s in chain]
    primary.active_expire_enabled = False
    run(clients[0], "SET a 1 PX 100")
    clock.advance(101)
    assert [s.dbsize() for s in chain] == [1, 1, 1, 1]
    assert [run(c, "GET a") for c in reversed(clients)] == [None] * 4
    held = []
    for ms in (0, 9, 1, 19, 1, 39, 1):
        clock.advance(ms)
        held.append([s.dbsize() for s in chain])
        for server in chain:
            server._check()
    assert held == [
        [0, 1, 1, 1],
        [0, 1, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 0, 1],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ]


# -- what is told ----------------------------------------------------------------------------


def test_histories_on_both_sides(clock: VirtualClock) -> None:
    primary = Server(clock=clock, seed=1, cost=FREE, record_history=True)
    replica = Server(replica_of=primary, link_delay_ms=300, seed=2, cost=FREE, record_history=True)
    clock.advance(300)
    c = primary.create_client()
    run(c, "SET k v PX 400")
    clock.advance(450)
    assert run(c, "GET k") is None
    clock.advance(300)
    assert str(primary.history("k")).splitlines()[1:] == [
        "   +0.000 s  written      SET k v PX 400, client 2",
        "   +0.000 s  TTL set      dies after +0.400 s (at 1391234400700); same command",
        "   +0.401 s  dead         its time was over",
        "   +0.401 s  deleted      1 ms after its time, by slow cycle 8, loop 1",
    ]
    assert str(replica.history("k")).splitlines()[1:] == [
        "   +0.000 s  written      SET k v PXAT 1391234400700, over the link to the primary",
        "   +0.000 s  TTL set      dies after +0.100 s (at 1391234400700); same command",
        "   +0.101 s  dead         its time was over",
        "   +0.401 s  deleted      DEL k, over the link to the primary",
    ]
    [life] = replica.history("k").lives
    assert life.lag_us == 300_000


def test_history_of_a_full_sync_and_of_own_keys(clock: VirtualClock) -> None:
    primary = Server(clock=clock, seed=1, cost=FREE)
    run(primary.create_client(), "SET there 1 PX 5000")
    replica = Server(
        replica_of=primary, seed=2, cost=FREE, record_history=True, replica_read_only=False
    )
    clock.advance(0)
    q = replica.create_client()
    run(q, "SET own 1 PX 50")
    clock.advance(200)
    loaded = replica.history("there").events
    assert [event.what for event in loaded] == [What.LOADED, What.TTL_SET]
    ends = replica.history("own").events[-1]
    assert (ends.what, str(ends.by)) == (What.EXPIRED, "replica cycle")
    run(q, "REPLICAOF NO ONE")
    run(q, "SET there 2")
    run(q, "REPLICAOF 127.0.0.1 6379")
    clock.advance(0)
    what = [event.what for event in replica.history("there").events]
    assert what[-3:] == [What.DELETED, What.LOADED, What.TTL_SET]


def test_a_probe_on_a_replica_hears_each_thing_once(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, replica_read_only=False)
    recorder = replica.probe = Recorder()
    ttls: list[tuple[int, bytes, int]] = []

    class Ttls(Recorder):
        def expire_set(self, dbid: int, key: bytes, when_ms: int) -> None:
            ttls.append((dbid, key, when_ms))

    replica.add_probe(Ttls())
    c = primary.create_client()
    for line in ("SET a 1 PX 50", "MULTI", "SET b 1", "EXPIRE b 9", "EXEC", "SELECT 1", "SET c 1"):
        run(c, line)
    clock.advance(0)
    run(replica.create_client(), "SET own 1 PX 60")
    clock.advance(200)
    now = 1391234400000
    assert [(db, argv) for db, argv in recorder.stream if argv != [b"ping"]] == [
        (0, [b"SET", b"a", b"1", b"PXAT", b"%d" % (now + 50)]),
        (0, [b"MULTI"]),
        (0, [b"SET", b"b", b"1"]),
        (0, [b"PEXPIREAT", b"b", b"%d" % (now + 9_000)]),
        (0, [b"EXEC"]),
        (1, [b"SET", b"c", b"1"]),
        (0, [b"SET", b"own", b"1", b"PXAT", b"%d" % (now + 60)]),
        (0, [b"DEL", b"a"]),
        (0, [b"DEL", b"own"]),
    ]
    assert ttls == [(0, b"a", now + 50), (0, b"b", now + 9_000), (0, b"own", now + 60)]
    assert [(d.key, d.by) for d in recorder.deletions] == [(b"own", "replica")]
    assert replica.slave_keys_with_expire.dict.index.keys() == set()


def test_who_wrote_is_known_by_the_client(clock: VirtualClock) -> None:
    primary = Server(clock=clock, seed=1, cost=FREE)
    replica = Server(replica_of=primary, seed=2, cost=FREE, record_history=True)
    run(primary.create_client(), "SET a 1")
    clock.advance(0)
    [event] = replica.history("a").events
    assert isinstance(event.by, ByCommand) and event.by.from_primary


# -- what repeats, under every engine --------------------------------------------------------


def life_of_a_family(engine: str, seed: int) -> list[Reply]:
    """Three servers, random commands, a change of roles: all that can be seen of it."""
    clock = VirtualClock()
    primary = Server(clock=clock, seed=seed, expire_engine=engine)
    replica = Server(
        replica_of=primary, link_delay_ms=30, seed=seed + 1, expire_engine=engine,
        replica_read_only=False,
    )  # fmt: skip
    last = Server(replica_of=replica, link_delay_ms=7, seed=seed + 2, expire_engine=engine)
    servers = [primary, replica, last]
    streams = [s.append_only_stream() for s in servers] + [s.replication_stream() for s in servers]
    clients: list[Client] = [s.create_client() for s in servers]
    rng = random.Random(seed)
    seen: list[Reply] = []
    for step in range(300):
        key = f"k{rng.randrange(40)}"
        c = clients[rng.choice((0, 0, 0, 1, 2))]
        line = rng.choice(
            [
                f"SET {key} {step}",
                f"SET {key} {step} PX {rng.randrange(1, 400)}",
                f"PEXPIRE {key} {rng.randrange(1, 400)}",
                f"GET {key}",
                f"DEL {key}",
                f"GETEX {key} PERSIST",
                "SCAN 0",
                "RANDOMKEY",
            ]
        )
        seen.append(str(run(c, line)))
        clock.advance(rng.choice((0, 1, 5, 20)))
        for server in servers:
            server._check()
        if step == 150:
            replica.promote()
            primary.replicate(replica)
    clock.advance(5_000)
    for server in servers:
        server._check()
    for stream in streams:
        seen += stream.lines()
    names = ("replication", "stats", "keyspace")
    return [*seen, *(fields(s, name).items() for s in servers for name in names)]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_seed_repeats_a_family(engine: str) -> None:
    first = life_of_a_family(engine, 11)
    assert [str(item) for item in first] == [str(item) for item in life_of_a_family(engine, 11)]
    assert any("DEL" in str(item) for item in first)


def test_another_seed_is_another_story() -> None:
    assert life_of_a_family("7.0", 11) != life_of_a_family("7.0", 12)


def test_pings_after_idle_time(clock: VirtualClock) -> None:
    """Time that is passed over and not run counts for what comes every ten seconds."""

    def pings(enabled: bool) -> list[int]:
        clock = VirtualClock()
        server = Server(clock, seed=1)
        server.idle.enabled = enabled
        run(server.create_client(), "SET a 1 EX 100000")
        clock.advance(3_456_789)
        stream = server.replication_stream()
        heard = []
        for _ in range(250):
            clock.advance(100)
            if len(stream):
                heard.append(clock.us())
                stream.clear()
        server._check()
        return heard

    slow, quick = pings(False), pings(True)
    assert slow == quick and len(slow) == 3


# -- what docs/replicas.md says is not simulated ---------------------------------------------


@pytest.mark.parametrize("line", ["PSYNC ? -1", "SYNC"])
def test_no_replica_attaches_by_a_connection_in_process(primary: Server, line: str) -> None:
    refused = run(primary.create_client(), line)
    assert refused.text == b"ERR SYNC and PSYNC need a connection over a network"  # type: ignore[union-attr]


def test_a_data_set_travels_as_one_message(clock: VirtualClock, primary: Server) -> None:
    """No states before ``sync``, no sizes in bytes while it is under way, all at once then."""
    c = primary.create_client()
    for i in range(1_000):
        run(c, f"SET k{i} 1")
    replica = Server(replica_of=primary, link_delay_ms=50, seed=2, cost=FREE)
    assert run(replica.create_client(), "ROLE") == [b"slave", b"127.0.0.1", 6379, b"sync", -1]
    clock.advance(49)
    assert fields(replica)["master_sync_total_bytes"] == "0"
    assert replica.dbsize() == 0
    clock.advance(1)
    assert replica.dbsize() == 1_000


def test_a_replica_has_an_engine_of_its_own(clock: VirtualClock) -> None:
    primary = Server(clock=clock, seed=1, cost=FREE, expire_engine="7.2")
    replica = Server(replica_of=primary, seed=2, cost=FREE)
    assert type(replica.expire_engine) is not type(primary.expire_engine)
    run(primary.create_client(), "SET a 1 PX 50")
    clock.advance(200)
    assert (primary.dbsize(), replica.dbsize()) == (0, 0)


# -- values of all types ---------------------------------------------------------------------

VALUES = (
    "SET str abc",
    "APPEND str d",
    "RPUSH list 1 2 3",
    "SADD set a b c",
    "SADD ints 1 2 3",
    "HSET hash f v g w",
    "ZADD zset 1 a 2 b",
    "XADD stream 1-1 f v",
    "PFADD hll a b c",
    "SETBIT bits 7 1",
    "GEOADD geo 1 2 here",
)
CHANGES = (
    "APPEND str e",
    "SETRANGE str 0 X",
    "RPUSH list 4",
    "LSET list 0 9",
    "SADD set d",
    "SREM ints 1",
    "HSET hash f x",
    "ZINCRBY zset 5 a",
    "XADD stream 2-1 f w",
    "PFADD hll d",
    "SETBIT bits 0 1",
    "GEOADD geo 3 4 there",
)


def digest(server: Server) -> Reply:
    return str(run(server.create_client(), "DEBUG DIGEST"))


def test_a_data_set_does_not_change_on_its_way(clock: VirtualClock) -> None:
    """What the primary changes while the copy is under way comes as commands, once."""
    primary = Server(clock=clock, seed=1, cost=FREE)
    c = primary.create_client()
    for line in VALUES:
        assert not isinstance(run(c, line), Exception), line
    before = digest(primary)
    replica = Server(replica_of=primary, link_delay_ms=50, seed=2, cost=FREE)
    clock.advance(1)
    for line in CHANGES:
        assert not isinstance(run(c, line), Exception), line
    link = replica.repl.link
    assert link is not None
    link.to_replica.held = True
    clock.advance(49)
    with primary.lock:
        link.to_replica.deliver(link.to_replica.queue.popleft()[1])
        assert digest(replica) == before
        link.to_replica.release()
    clock.advance(10)
    assert digest(replica) == digest(primary) != before
    for line in (
        *CHANGES,
        "LPOP list",
        "SPOP set",
        "ZPOPMIN zset",
        "HDEL hash f",
        "XTRIM stream MAXLEN 1",
    ):
        run(c, line)
    clock.advance(60)
    assert digest(replica) == digest(primary)
    for server in (primary, replica):
        server._check()


def test_a_client_that_blocks_on_a_list(clock: VirtualClock, primary: Server) -> None:
    """What it is served is told replicas as the pop that it amounts to; a list that dies
    before it is served is deleted, and nobody is served.
    """
    replica = replica_of(primary, 10)
    primary.active_expire_enabled = False
    stream = primary.append_only_stream()
    waiter, c = primary.create_client(), primary.create_client()
    assert run(waiter, "BLPOP k 0") is BLOCKED
    for line in ("MULTI", "RPUSH k a", "PEXPIREAT k 1", "EXEC"):
        run(c, line)
    assert waiter.blocked
    run(c, "RPUSH k b c")
    assert list(waiter.outbox) == [[b"k", b"b"]]
    clock.advance(20)
    assert run(replica.create_client(), "LRANGE k 0 -1") == [b"c"]
    assert stream.lines() == [
        *("SELECT 0", "MULTI", "RPUSH k a", "DEL k", "EXEC"),
        *("RPUSH k b c", "LPOP k"),
    ]
    # On a replica nobody can wait: the command would write.
    refused = run(replica.create_client(), "BLPOP k 0")
    assert refused.code == "READONLY"  # type: ignore[union-attr]
    replica._check()


def test_who_waits_is_let_go_when_the_role_changes(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 10)
    waiter = primary.create_client()
    assert run(waiter, "BLPOP k 0") is BLOCKED
    replica.promote()
    primary.replicate(replica)
    assert waiter.outbox[0].code == "UNBLOCKED" and waiter.close_after_reply  # type: ignore[union-attr]
    primary._check()


def test_functions_travel_with_the_data_set_and_in_the_stream(
    clock: VirtualClock, primary: Server
) -> None:
    def code(name: str) -> bytes:
        flags = "flags={'no-writes'}"
        body = "callback=function() return 7 end"
        register = f"redis.register_function{{function_name='f{name}',{body},{flags}}}"
        return f"#!lua name={name}\n{register}".encode()

    c = primary.create_client()
    primary.process_command(c, [b"FUNCTION", b"LOAD", code("early")])
    replica = Server(replica_of=primary, link_delay_ms=50, seed=2, cost=FREE)
    clock.advance(100)
    primary.process_command(c, [b"FUNCTION", b"LOAD", code("late")])
    clock.advance(100)
    asking = replica.create_client()
    for name in (b"fearly", b"flate"):
        assert replica.process_command(asking, [b"FCALL_RO", name, b"0"]) == 7
    replica._check()
