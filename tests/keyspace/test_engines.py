"""engines.py, db62.py: which versions there are, and what tells them apart."""

from __future__ import annotations

import random

import pytest

from miniredis import ExitReason, Server, VirtualClock
from miniredis.clock import FREE
from miniredis.keyspace.db62 import RedisDb62
from miniredis.keyspace.engines import ENGINES
from miniredis.lab.recorder import Recorder


def run(server: Server, *lines: str) -> list[object]:
    c = server.create_client()
    return [server.process_command(c, line.encode().split()) for line in lines]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_expires_keys(engine: str) -> None:
    clock = VirtualClock()
    server = Server(clock, seed=1, cost=FREE, expire_engine=engine)
    run(server, *(f"SET k{i} v PX {i}" for i in range(1, 300)), "SET stays v")
    clock.advance(3_000)  # 2.4 counts whole seconds
    assert server.dbsize(0) == 1
    assert server.stat_expiredkeys == 299
    server._check()


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one of 2\.4, 2\.6, .*7\.4, 8\.2.*, not '9'"):
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


def make(engine: str, **config: object) -> tuple[Server, VirtualClock]:
    clock = VirtualClock()
    server = Server(clock, seed=1, cost=FREE, expire_engine=engine, **config)
    clock.advance(1)  # the first cron
    return server, clock


# One key with 1,000,000 ms to live, seen once in each cron. 6.0, 7.0, 3.2, 5.0: (old//50)*49 +
# a//50. 2.8: (old + a)//2. From 7.4 on: a + (old - a)*0.98, truncated. 2.4 has none.
AVERAGES = {
    "2.4": [0, 0, 0, 0, 0],
    "2.6": [999_900, 999_850, 999_775, 999_687, 999_593],
    "3.0": [999_900, 999_850, 999_775, 999_687, 999_593],
    "7.4": [999_900, 999_898, 999_894, 999_888, 999_880],
    "8.2": [999_900, 999_898, 999_894, 999_888, 999_880],
    "valkey-9": [999_900, 999_898, 999_894, 999_888, 999_880],
}
OF_7_0 = [999_900, 999_898, 999_847, 999_796, 999_745]


@pytest.mark.parametrize("engine", ENGINES)
def test_golden_average_ttl(engine: str) -> None:
    # Bucket 3 of 4 is visited last in either order: every sweep ends with the key.
    server, clock = make(engine, hash_function=lambda key: 3)
    run(server, f"SET k v PXAT {clock.ms() + 1_000_000}")
    averages = []
    for _ in range(5):
        clock.advance(100)
        averages.append(server.databases[0].avg_ttl)
    assert averages == AVERAGES.get(engine, OF_7_0)


def test_7_4_averages_over_several_windows() -> None:
    """200 keys, half dead: every window repeats, and the average is taken at the end."""
    server, clock = make("7.4")
    server.active_expire_enabled = False
    for i in range(200):
        run(server, f"SET k{i} v PXAT {clock.ms() + (10 if i % 2 else 100_000)}")
    clock.advance(1000)
    report = server.active_expire_cycle("slow")
    loops = [loop for loop in report.loops if loop.db == 0]
    assert len(loops) > 3
    assert server.databases[0].avg_ttl == 99_000


def scan_order(size: int) -> list[int]:
    bits = size.bit_length() - 1
    return [int(f"{i:0{bits}b}"[::-1], 2) for i in range(size)]


@pytest.mark.parametrize(
    ("engine", "order"),
    [("7.0", list(range(64))), ("7.2", scan_order(64)), ("7.4", scan_order(64))],
)
def test_the_order_of_the_buckets(engine: str, order: list[int]) -> None:
    numbers = {b"k%d" % i: i for i in range(64)}
    server, clock = make(engine, hash_function=lambda key: numbers[key])
    server.active_expire_enabled = False
    for i in range(64):
        run(server, f"SET k{i} v PX 10")
    clock.advance(1000)
    recorder = Recorder()
    server.probe = recorder
    server.active_expire_cycle("slow")
    assert [numbers[deletion.key] for deletion in recorder.deletions] == order


def test_7_4_ends_when_the_cursor_comes_back_to_0() -> None:
    server, clock = make("7.4")
    server.active_expire_enabled = False
    for i in range(1000):
        run(server, f"SET k{i} v PX {10 if i < 900 else 10**9}")
    clock.advance(1000)
    server.databases[0].expires_cursor = 1  # half of the table lies behind it
    report = server.active_expire_cycle("slow")
    assert [loop.exit for loop in report.loops if loop.db == 0][-1] is ExitReason.SWEPT
    assert 300 < report.expired < 600
    assert server.databases[0].expires_cursor == 0


def test_7_4_counts_only_databases_with_ttls() -> None:
    """Database 30 is reached in the first call; in 7.0 it takes the second."""
    for engine, reached in (("7.0", False), ("7.4", True)):
        server, clock = make(engine, databases=40)
        server.active_expire_enabled = False
        server.expire_engine.current_db = 0  # type: ignore[attr-defined]
        run(server, "SELECT 30")
        c = server.create_client()
        c.select_db(30)
        server.process_command(c, [b"SET", b"k", b"v", b"PX", b"10"])
        clock.advance(1000)
        assert (server.active_expire_cycle("slow").expired == 1) is reached


@pytest.mark.parametrize(("engine", "ttl"), [("5.0", None), ("7.0", 0), ("7.2", 30), ("8.2", 30)])
def test_the_clock_of_ttl_inside_a_transaction(engine: str, ttl: int | None) -> None:
    """Until 5.0 the key dies before PTTL; in 7.0 only PTTL notices; from 7.2 on nobody does."""
    server, _ = make("4.0" if engine == "5.0" else engine)
    replies = run(server, "SET k v PX 30", "MULTI", "DEBUG SLEEP 0.06", "PTTL k", "EXEC")
    assert replies[-1][1] == (-2 if ttl is None else ttl)  # type: ignore[index]


def test_8_2_deletes_a_millisecond_earlier() -> None:
    for engine, expired in (("7.4", 0), ("8.2", 1)):
        server, clock = make(engine)
        server.active_expire_enabled = False
        run(server, f"SET k v PXAT {clock.ms() + 10}")
        clock.advance(10)
        assert server.active_expire_cycle("slow").expired == expired


def test_2_6_repeats_above_a_quarter_of_a_full_window() -> None:
    """5 dead keys of 5 end the visit, though all of the sample had died; 6 repeat."""
    server, clock = make("2.6")
    server.active_expire_enabled = False
    for i in range(5):
        run(server, f"SET k{i} v PX 10")
    clock.advance(1000)
    loops = [loop for loop in server.active_expire_cycle("slow").loops if loop.db == 0]
    assert [(loop.expired, loop.exit) for loop in loops] == [(5, ExitReason.FEW_STALE)]


def test_2_4_counts_whole_seconds() -> None:
    server, clock = make("2.4")
    server.active_expire_enabled = False
    clock.advance(999)  # to the beginning of a second
    run(server, "SET k v PX 10")
    clock.advance(999)
    assert run(server, "GET k") == [b"v"]
    clock.advance(1)
    assert run(server, "GET k") == [None]


@pytest.mark.parametrize("engine", ENGINES)
def test_invariants_hold_under_every_engine(engine: str) -> None:
    server, clock = make(engine)
    rng = random.Random(engine)
    names = [f"k{i}" for i in range(200)]
    for _ in range(3000):
        a, b = rng.choice(names), rng.choice(names)
        run(
            server,
            rng.choice(
                [
                    f"SET {a} v",
                    f"SET {a} v PX {rng.randrange(1, 2000)}",
                    f"PEXPIRE {a} {rng.randrange(1, 2000)}",
                    f"PERSIST {a}",
                    f"DEL {a}",
                    f"GET {a}",
                    f"RENAME {a} {b}",
                    "RANDOMKEY",
                ]
            ),
        )
        if rng.random() < 0.05:
            clock.advance(rng.choice([1, 10, 100]))
            server._check()
    server._check()
    assert server.stat_expiredkeys > 30
