"""server/evict.py: which keys go when memory is full, and what is refused when none may."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import miniredis
from miniredis.clock import VirtualClock
from miniredis.errors import CommandError
from miniredis.reply import NULL_ARRAY
from miniredis.server.evict import EVPOOL_SIZE, EvictionPool, eviction_time_limit_us
from miniredis.server.info_memory import used_memory

Ask = Callable[..., Any]
OOM = b"OOM command not allowed when used memory > 'maxmemory'."
START_MS = 1_700_000_000_000
ROOM = 1_000_000  # bytes: some hundred keys beyond an empty server


def asker(server: miniredis.Server) -> Ask:
    client = server.create_client()

    def ask(*argv: str) -> Any:
        reply = server.process_command(client, [word.encode() for word in argv])
        server.eviction.pool._check()
        return reply

    return ask


def server_with(policy: str, seed: int = 1, **config: Any) -> tuple[miniredis.Server, VirtualClock]:
    clock = VirtualClock(START_MS)
    return miniredis.Server(clock, seed=seed, maxmemory_policy=policy, **config), clock


def fill(ask: Ask, n: int, *more: str) -> None:
    for i in range(n):
        ask("SET", f"key:{i}", "value", *more)


def shrink(server: miniredis.Server, ask: Ask, keys: int) -> None:
    """Limit the memory so that *keys* keys must go."""
    each = 24 + 16 + 40
    assert (
        ask("CONFIG", "SET", "maxmemory", str(used_memory(server) - keys * each)) == b"OK" or True
    )
    ask("PING")  # the loop turns, and so does the time event that evicts


# -- the pool -------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 50), max_size=60))
def test_the_pool_keeps_the_best_of_all_that_were_offered(idles: list[int]) -> None:
    pool = EvictionPool()
    for i, idle in enumerate(idles):
        pool.offer(idle, 0, b"%d" % i)
        pool._check()
    assert [c.idle for c in pool.candidates] == sorted(idles)[-EVPOOL_SIZE:]


def test_the_example_of_the_docstring() -> None:
    pool = EvictionPool()
    for idle in (3, 9, 5, 2, 12):
        pool.offer(idle, 0, b"k%d" % idle)
    assert [c.idle for c in pool.candidates] == [2, 3, 5, 9, 12]
    best = pool.take()
    assert best is not None
    assert best.key == b"k12"
    assert EvictionPool().take() is None


def test_time_limits() -> None:
    assert [eviction_time_limit_us(t) for t in (0, 5, 10, 15)] == [0, 250, 500, 1005]
    assert 115e6 < eviction_time_limit_us(99) < 130e6
    assert eviction_time_limit_us(100) == float("inf")


# -- who goes -------------------------------------------------------------------------------


def test_lru_takes_the_keys_that_were_idle_longest() -> None:
    server, clock = server_with("allkeys-lru", maxmemory_samples=10)
    ask = asker(server)
    fill(ask, 1000)
    clock.advance(100_000)
    for i in range(500):
        ask("GET", f"key:{i}")
    clock.advance(10_000)
    shrink(server, ask, 250)
    young = sum(ask("EXISTS", f"key:{i}") for i in range(500))
    old = sum(ask("EXISTS", f"key:{i}") for i in range(500, 1000))
    assert young + old == 750
    assert young == 500
    assert server.stat_evictedkeys == 250


def test_more_samples_come_nearer_to_true_lru() -> None:
    """Of 1,000 keys each used a second after the one before, the 300 oldest should go."""
    wrong = {}
    for samples in (1, 5, 10):
        server, clock = server_with("allkeys-lru", maxmemory_samples=samples)
        ask = asker(server)
        for i in range(1000):
            ask("SET", f"key:{i}", "value")
            clock.advance(1000)
        shrink(server, ask, 300)
        assert ask("DBSIZE") == 700
        wrong[samples] = sum(1 - ask("EXISTS", f"key:{i}") for i in range(300, 1000))
    assert wrong[10] < wrong[5] < wrong[1]
    assert wrong[10] < 60


def test_lfu_takes_the_keys_that_were_used_least() -> None:
    server, _ = server_with("allkeys-lfu", maxmemory_samples=10)
    ask = asker(server)
    fill(ask, 200)
    for _ in range(30):
        for i in range(100):
            ask("GET", f"key:{i}")
    shrink(server, ask, 60)
    assert sum(ask("EXISTS", f"key:{i}") for i in range(100)) == 100
    assert ask("DBSIZE") == 140


def test_ttl_takes_the_keys_that_end_first_and_no_persistent_one() -> None:
    server, _ = server_with("volatile-ttl", maxmemory_samples=64)
    ask = asker(server)
    fill(ask, 50)
    order = list(range(50))
    random.Random(3).shuffle(order)
    for i in order:
        ask("SET", f"volatile:{i}", "v", "PX", str(1_000_000 + 1000 * i))
    shrink(server, ask, 10)
    gone = [i for i in range(50) if not ask("EXISTS", f"volatile:{i}")]
    assert len(gone) in (8, 9, 10)  # an entry of expires goes as well
    assert gone == list(range(len(gone)))
    assert all(ask("EXISTS", f"key:{i}") for i in range(50))


@pytest.mark.parametrize("policy", ["allkeys-random", "volatile-random"])
def test_random_takes_a_key_of_each_database_in_turn(policy: str) -> None:
    server, _ = server_with(policy)
    ask = asker(server)
    for db in ("0", "3", "7"):
        ask("SELECT", db)
        fill(ask, 100, "EX", "1000")
    shrink(server, ask, 60)
    sizes = [server.dbsize(db) for db in (0, 3, 7)]
    assert sum(sizes) < 260
    assert max(sizes) - min(sizes) <= 1
    assert sum(server.dbsize(db) for db in range(16)) == sum(sizes)


@pytest.mark.parametrize("by", ["lru", "lfu", "ttl", "random"])
def test_without_volatile_keys_a_volatile_policy_finds_none(by: str) -> None:
    server, _ = server_with(f"volatile-{by}")
    ask = asker(server)
    fill(ask, 20)
    ask("CONFIG", "SET", "maxmemory", "1")
    reply = ask("SET", "more", "v")
    assert isinstance(reply, CommandError)
    assert reply.text == OOM
    assert ask("DBSIZE") == 20
    assert server.stat_evictedkeys == 0


def test_a_ghost_is_passed_over() -> None:
    server, clock = server_with("allkeys-lru", maxmemory_samples=64)
    ask = asker(server)
    for i in range(4):
        ask("SET", f"key:{i}", "v")
        clock.advance(5000)
    shrink(server, ask, 1)
    assert [ask("EXISTS", f"key:{i}") for i in range(4)] == [0, 1, 1, 1]
    assert [c.key for c in server.eviction.pool.candidates] == [b"key:3", b"key:2", b"key:1"]
    ask("CONFIG", "SET", "maxmemory", "0")
    ask("DEL", "key:1")
    shrink(server, ask, 1)
    assert [ask("EXISTS", f"key:{i}") for i in (2, 3)] == [0, 1]


def test_the_same_seed_evicts_the_same_keys() -> None:
    left = []
    for seed in (5, 5, 6):
        server, _ = server_with("allkeys-random", seed=seed)
        ask = asker(server)
        fill(ask, 300)
        shrink(server, ask, 100)
        left.append(sorted(server.databases[0].dict.index))
    assert left[0] == left[1] != left[2]


# -- what follows ---------------------------------------------------------------------------


def test_an_eviction_has_its_event_its_deletion_and_its_watchers() -> None:
    server, _ = server_with("allkeys-lru", notify_keyspace_events="Ee")
    ask, watcher, listener = asker(server), asker(server), server.create_client()
    sent: list[list[bytes]] = []
    server.add_sink(lambda dbid, argv: sent.append(argv))
    server.process_command(listener, [b"SUBSCRIBE", b"__keyevent@0__:evicted"])
    listener.outbox.clear()
    ask("SET", "k", "v")
    watcher("WATCH", "k")
    watcher("MULTI")
    watcher("PING")
    ask("CONFIG", "SET", "maxmemory", "1")
    ask("PING")
    assert sent[-1] == [b"DEL", b"k"]
    assert listener.outbox[0].items[2] == b"k"
    assert watcher("EXEC") is NULL_ARRAY
    ask("CONFIG", "SET", "lazyfree-lazy-eviction", "yes", "maxmemory", "0")
    ask("SET", "k", "v")
    ask("CONFIG", "SET", "maxmemory", "1")
    ask("PING")
    assert sent[-1] == [b"UNLINK", b"k"]


def test_memory_is_freed_before_the_command_that_needs_it() -> None:
    server, _ = server_with("allkeys-lru", maxmemory=ROOM)
    ask = asker(server)
    for i in range(5000):
        assert not isinstance(ask("SET", f"key:{i}", "value"), CommandError)
    assert 0 < ask("DBSIZE") < 2000
    assert server.stat_evictedkeys == 5000 - ask("DBSIZE")
    assert used_memory(server) < ROOM + 200
    server._check()


def test_a_paused_server_and_a_replica_evict_nothing() -> None:
    server, clock = server_with("allkeys-lru")
    replica = miniredis.Server(clock, seed=2, replica_of=server, maxmemory=1)
    ask = asker(server)
    ask("SET", "k", "v")
    clock.advance(100)
    assert replica.dbsize(0) == 1
    ask("CLIENT", "PAUSE", "1000", "WRITE")
    ask("CONFIG", "SET", "maxmemory", "1")
    assert ask("GET", "k") == b"v"
    clock.advance(900)
    assert server.dbsize(0) == 1
    clock.advance(1000)
    ask("PING")
    assert server.dbsize(0) == 0
    clock.advance(100)
    assert replica.dbsize(0) == 0  # by the primary's DEL


# -- what is refused ------------------------------------------------------------------------


def test_reading_and_deleting_go_on_when_memory_is_full() -> None:
    server, _ = server_with("noeviction")
    ask = asker(server)
    ask("SET", "k", "v")
    ask("CONFIG", "SET", "maxmemory", "1")
    assert ask("SET", "k", "w").text == OOM
    assert ask("GET", "k") == b"v"
    assert ask("EXPIRE", "k", "100") == 1
    assert ask("DEL", "k") == 1
    ask("CONFIG", "SET", "maxmemory", "0")
    assert not isinstance(ask("SET", "k", "w"), CommandError)


def test_a_transaction_queues_nothing_when_memory_is_full() -> None:
    server, _ = server_with("noeviction", maxmemory=1)
    ask = asker(server)
    ask("MULTI")
    assert ask("GET", "k").text == OOM
    assert ask("EXEC").text.startswith(b"EXECABORT")
    ask("MULTI")
    assert not isinstance(ask("DISCARD"), CommandError)


def test_a_script_may_finish_what_it_has_begun() -> None:
    server, _ = server_with("noeviction")
    ask = asker(server)
    ask("CONFIG", "SET", "maxmemory", "1")
    assert ask("EVAL", "return redis.call('SET', 'a', '1')", "0").text.startswith(OOM)
    both = "redis.call('DEL', 'x'); redis.call('SET', 'a', '1'); return redis.call('GET', 'a')"
    assert ask("EVAL", both, "0") == b"1"
    declared = "#!lua\nreturn 1"
    assert ask("EVAL", declared, "0").text == OOM
    assert (
        ask("EVAL", "#!lua flags=allow-oom\nreturn redis.call('SET', 'b', '1')", "0").text == b"OK"
    )
    assert ask("EVAL", "#!lua flags=no-writes\nreturn 1", "0") == 1
