"""strategy_dbs.py: databases that time or hide the dead, through the real commands."""

from __future__ import annotations

import random

import pytest

from miniredis.clock import FREE, VirtualClock
from miniredis.lab.recorder import Recorder
from miniredis.lab.snapshot import picture_of_db
from miniredis.lab.strategies import strategy_server
from miniredis.lab.strategy_costs import StrategyCosts
from miniredis.lab.strategy_dbs import STRATEGIES, TimerDb, TimerWork
from miniredis.server.server import Server

FREE_COSTS = StrategyCosts(FREE, 0, 0, 0, 0, 0)
TIMED = ["heap", "wheel"]


def make(name: str, **config: object) -> tuple[Server, VirtualClock, Recorder]:
    server = strategy_server(STRATEGIES[name], FREE_COSTS, TimerWork(), 1, **config)
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    server.probe = recorder = Recorder()
    return server, clock, recorder


def run(server: Server, line: str) -> object:
    client = next(iter(server.clients.values()), None) or server.create_client()
    reply = server.process_command(client, line.encode().split())
    server._check()
    return reply


@pytest.mark.parametrize("name", TIMED)
def test_a_timer_deletes_in_the_first_millisecond_of_death(name: str) -> None:
    server, clock, recorder = make(name)
    clock.advance(0.7)  # commands come between two milliseconds
    when = clock.ms() + 5
    run(server, f"SET k v PXAT {when}")
    clock.advance_to_us(when * 1000 + 999)
    assert server.dbsize() == 1
    clock.advance_to_us(when * 1000 + 1000)
    assert server.dbsize() == 0
    assert [(d.lag_ms, d.by) for d in recorder.deletions] == [(1, "timer")]
    assert recorder.events[-1] == (b"expired", b"k", 0)
    assert recorder.stream[-1] == (0, [b"DEL", b"k"])
    assert server.stat_expiredkeys == 1


@pytest.mark.parametrize("name", TIMED)
def test_timers_follow_every_change_of_a_time_to_live(name: str) -> None:
    server, clock, recorder = make(name)
    for key in "abcdefgh":
        run(server, f"SET {key} v PX 100")
    run(server, "PERSIST a")
    run(server, "SET b w")
    run(server, "DEL c")
    run(server, "PEXPIRE d 300")
    run(server, "GETEX e PERSIST")
    run(server, "RENAME f F")
    run(server, "SET g w KEEPTTL")
    run(server, "PEXPIRE h -1")
    clock.advance(101)
    assert sorted(d.key for d in recorder.deletions) == [b"F", b"g"]
    clock.advance(200)
    assert sorted(d.key for d in recorder.deletions) == [b"F", b"d", b"g"]
    assert run(server, "DBSIZE") == 3
    assert server.el.next_us is not None


@pytest.mark.parametrize("name", TIMED)
def test_timers_move_and_go_with_their_database(name: str) -> None:
    server, clock, recorder = make(name)
    run(server, "SET k v PX 100")
    run(server, "SET gone v PX 50")
    run(server, "MOVE gone 2")
    run(server, "SWAPDB 0 1")
    clock.advance(60)
    assert [(d.dbid, d.key) for d in recorder.deletions] == [(2, b"gone")]
    clock.advance(60)
    assert [(d.dbid, d.key) for d in recorder.deletions] == [(2, b"gone"), (1, b"k")]
    run(server, "SET k v PX 100")
    run(server, "FLUSHALL")
    clock.advance(1_000)
    assert len(recorder.deletions) == 2
    run(server, "SET k v PX 100")
    run(server, "DEBUG RELOAD")
    clock.advance(101)
    assert len(recorder.deletions) == 3
    server._check()


@pytest.mark.parametrize("name", TIMED)
def test_timers_wait_while_clients_are_paused(name: str) -> None:
    server, clock, _ = make(name)
    run(server, "SET k v PX 10")
    server.pause_clients(clock.ms() + 500, write_only=True)
    clock.advance(400)
    assert server.dbsize() == 1
    clock.advance(300)
    assert server.dbsize() == 0
    server._check()


@pytest.mark.parametrize("name", TIMED)
def test_the_farthest_time_to_live(name: str) -> None:
    server, clock, _ = make(name)
    run(server, f"SET k v PXAT {2**63 - 1}")
    clock.advance(100_000)
    assert run(server, "EXISTS k") == 1


@pytest.mark.parametrize("name", STRATEGIES)
def test_random_commands_keep_every_invariant(name: str) -> None:
    server, clock, _ = make(name, databases=1)
    rng = random.Random(4)
    lines = (
        "SET {} v PX {}|SET {} v|GET {}|PEXPIRE {} {}|PERSIST {}|DEL {}|EXISTS {}|GETEX {} PX {}"
        "|RENAME {} {k}|COPY {} {k}|RANDOMKEY|KEYS *|SCAN 0|TTL {}|SETNX {} v|UNLINK {}|TOUCH {}"
    ).split("|")
    for _ in range(1_500):
        line = rng.choice(lines).replace("{k}", f"k{rng.randrange(30)}")
        numbers = (f"k{rng.randrange(30)}", rng.choice([1, 5, 20, 100]))
        run(server, line.format(*numbers[: line.count("{}")]))
        clock.advance(rng.random() * 4)
    server._check()


def test_a_timer_is_kept_for_every_time_to_live_and_work_is_counted() -> None:
    work = TimerWork()
    server = strategy_server(STRATEGIES["heap"], StrategyCosts(), work, 1)
    run(server, "SET plain v")
    assert work.keeping_ns == 0
    run(server, "SET k v PX 100")
    costs = StrategyCosts()
    assert work.keeping_ns == costs.timer_call_ns + costs.heap_step_ns
    db = server.databases[0]
    assert isinstance(db, TimerDb)
    assert b"k" in db.timers
    assert work.wake_ups == 0
    server.clock.sleep(0.2)
    assert (work.wake_ups, len(db)) == (1, 1)
    assert work.longest_us >= 2  # waking up, and one deletion


def test_periodic_only_hides_the_dead_from_readers_and_leaves_them() -> None:
    server, clock, recorder = make("periodic")
    run(server, "DEBUG SET-ACTIVE-EXPIRE 0")
    for key in ("a", "b", "c", "d"):
        run(server, f"SET {key} v PX 10")
    clock.advance(11)
    for line in ("GET a", "TTL a", "EXISTS a", "KEYS *", "MGET a b"):
        assert run(server, line) in (None, -2, 0, [], [None, None])
    assert server.dbsize() == 4
    assert run(server, "RANDOMKEY") in (b"a", b"b", b"c", b"d")  # as on a replica
    assert server.dbsize() == 4
    assert not recorder.deletions
    # What writes clears the dead key it meets, and answers as if it had never been.
    assert run(server, "DEL a") == 0
    assert run(server, "SET b w NX") is not None
    assert run(server, "PEXPIRE c 50") == 0
    assert [d.key for d in recorder.deletions] == [b"a", b"b", b"c"]
    assert {d.by for d in recorder.deletions} == {"lazy"}
    assert run(server, "RANDOMKEY") in (b"b", b"d")
    run(server, "DEBUG SET-ACTIVE-EXPIRE 1")
    clock.advance(200)
    assert server.dbsize() == 1


def test_lazy_only_keeps_what_nobody_asks_for() -> None:
    server, clock, _ = make("lazy")
    run(server, "SET a v PX 10")
    run(server, "SET b v PX 10")
    clock.advance(100_000)
    assert picture_of_db(server, server.databases[0]).dead == 2
    assert run(server, "GET a") is None
    assert server.dbsize() == 1
