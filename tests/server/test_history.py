"""history.py and life.py: what happened to a key, when, and by whom."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest

from miniredis import CostModel, Server, VirtualClock
from miniredis.clock import FREE
from miniredis.commands.client_flags import CLIENT_MASTER
from miniredis.lab.recorder import Recorder
from miniredis.probe import SILENT
from miniredis.server.client import Client
from miniredis.server.life import ByCommand, ByCycle, History, What

START = 1_391_234_400_000


class Run:
    """A server that records, and a client whose commands are written as text."""

    def __init__(self, **config: object) -> None:
        self.clock = VirtualClock(START)
        config = {"cost": FREE, "record_history": True, **config}
        self.server = Server(self.clock, seed=1, **config)  # type: ignore[arg-type]
        self.c = self.server.create_client()

    def __call__(self, command: str, c: Client | None = None) -> object:
        return self.server.process_command(c or self.c, command.encode().split())

    def whats(self, key: str, db: int = 0) -> list[What]:
        return [event.what for event in self.server.history(key, db)]

    def story(self, key: str, db: int = 0) -> str:
        return str(self.server.history(key, db))


@pytest.fixture
def run() -> Run:
    return Run()


def test_a_whole_life_as_text() -> None:
    run = Run()
    run("CLIENT SETNAME baker")
    run.clock.advance(1)
    run("SET cake fresh PX 1000")
    run.clock.advance(20)
    run("APPEND cake !")
    run("PERSIST cake")
    run("SET cake stale PX 250")
    run.clock.advance(300)
    assert (
        run.story("cake")
        == """\
cake (db 0), times from 2014-02-01 06:00:00.001 UTC
   +0.000 s  written      SET cake fresh PX 1000, client 1 "baker"
   +0.000 s  TTL set      dies after +1.000 s (at 1391234401001); same command
   +0.020 s  changed      append; APPEND cake !, client 1 "baker"
   +0.020 s  TTL removed  PERSIST cake, client 1 "baker"
   +0.020 s  overwritten  SET cake stale PX 250, client 1 "baker"
   +0.020 s  TTL set      dies after +0.270 s (at 1391234400271); same command
   +0.271 s  dead         its time was over
   +0.300 s  deleted      30 ms after its time, by slow cycle 4, loop 1"""
    )


def test_the_cycle_is_named(run: Run) -> None:
    """Of 45 keys the first window takes 20; the last is deleted in the third."""
    for i in range(45):
        run(f"SET k{i} v PXAT {START + 10}")
    run.clock.advance(101)
    assert run.server.dbsize() == 0
    ends = [run.server.history(f"k{i}").lives[0] for i in range(45)]
    assert {life.deleted_us for life in ends} == {(START + 101) * 1000}
    assert {life.dead_us for life in ends} == {(START + 11) * 1000}
    assert {life.lag_us for life in ends} == {90_000}
    loops = [life.end.by for life in ends if life.end is not None]
    assert all(isinstance(by, ByCycle) and (by.type, by.number) == ("slow", 2) for by in loops)
    counts = [sum(by.loop == loop for by in loops) for loop in (1, 2, 3)]  # type: ignore[union-attr]
    assert sum(counts) == 45
    assert counts[0] >= 20 and counts[2] <= 5


def test_a_fast_cycle_is_named() -> None:
    run = Run(cost=CostModel(deleted_ns=200_000))
    recorder = Recorder()
    run.server.add_probe(recorder)
    for i in range(1000):
        run(f"SET k{i} v PXAT {START + 10}")
    run.clock.advance(150)
    fast = [d.key for d in recorder.deletions if d.by == "fast"]
    assert fast
    end = run.server.history(fast[0]).lives[0].end
    assert end is not None and isinstance(end.by, ByCycle)
    assert (end.by.type, end.by.number) == ("fast", recorder.cycles[-1].number)
    assert str(end.by).startswith("fast cycle 3, loop ")


def test_lazy_deletion_names_the_client(run: Run) -> None:
    run.server.active_expire_enabled = False
    run("SET k v PX 10")
    other = run.server.create_client()
    run("CLIENT SETNAME reader", other)
    run.clock.advance(10)
    assert run("GET k", other) == b"v"
    run.clock.advance(1)
    assert run.story("k").endswith("+0.011 s  now          dead, and still held in memory")
    run.clock.advance(9)
    run("MGET a k", other)
    assert run.story("k").endswith(
        '+0.020 s  deleted      10 ms after its time, by MGET a k, client 2 "reader"'
    )
    assert [e.what for e in run.server.history("a")] == []


def test_looking_changes_nothing(run: Run) -> None:
    run.server.active_expire_enabled = False
    run("SET k v PX 10")
    run.clock.advance(11)
    before = (run.server.stat_keyspace_misses, run.server.stat_expiredkeys)
    history = run.server.history(b"k")
    assert (history.held, run.server.dbsize()) == (True, 1)
    assert (run.server.stat_keyspace_misses, run.server.stat_expiredkeys) == before


def test_overwriting_a_dead_key_is_a_death_and_a_birth(run: Run) -> None:
    run.server.active_expire_enabled = False
    run("SET k v PX 10")
    run.clock.advance(11)
    run("SET k w")
    history = run.server.history("k")
    assert [e.what for e in history] == [What.WRITTEN, What.TTL_SET, What.EXPIRED, What.WRITTEN]
    assert [life.dead_us is not None for life in history.lives] == [True, False]
    assert history.held


def test_a_plain_set_takes_the_ttl_away(run: Run) -> None:
    run("SET k v PX 10")
    run("SET k w")
    run.clock.advance(500)
    assert run.whats("k") == [What.WRITTEN, What.TTL_SET, What.TTL_REMOVED, What.CHANGED]
    assert run.server.history("k").lives[0].dead_us is None
    run("SET k x PX 100")
    run("SET k y KEEPTTL")
    assert run.whats("k")[4:] == [What.CHANGED, What.TTL_SET, What.CHANGED]


def test_rename_links_both_names(run: Run) -> None:
    run("SET b old")
    run("SET a v PX 1000")
    run("RENAME a b")
    left, arrived = run.server.history("a").events[-1], run.server.history("b").events[2]
    assert (left.what, left.other) == (What.LEFT, (0, b"b"))
    assert (arrived.what, arrived.other) == (What.ARRIVED, (0, b"a"))
    assert run.whats("b") == [What.WRITTEN, What.REPLACED, What.ARRIVED, What.TTL_SET]
    assert run.server.history("b").lives[1].when_ms == START + 1000


def test_move_and_swap_change_the_database(run: Run) -> None:
    run("SET a v PX 1000")
    run("MOVE a 1")
    assert run.server.history("a").events[-1].other == (1, b"a")
    assert run.whats("a", 1) == [What.ARRIVED, What.TTL_SET]
    run("SET a w")
    run("SWAPDB 0 1")
    assert run.whats("a")[-2:] == [What.ARRIVED, What.TTL_SET]
    assert run.whats("a", 1)[-2:] == [What.LEFT, What.ARRIVED]
    run.clock.advance(1200)
    assert not run.server.history("a").held
    assert run.server.history("a").lives[-1].when_ms == START + 1000
    assert run.server.history("a", 1).held


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("DEL k", "deleted      DEL k, client 1"),
        ("UNLINK k", "deleted      UNLINK k, client 1"),
        ("GETDEL k", "deleted      GETDEL k, client 1"),
        ("EXPIRE k -1", "deleted      EXPIRE k -1, client 1"),
        ("GETEX k PXAT 5", "deleted      GETEX k PXAT 5, client 1"),
        ("FLUSHDB", "deleted      FLUSHDB, client 1"),
        ("FLUSHALL ASYNC", "deleted      FLUSHALL ASYNC, client 1"),
    ],
)
def test_deletions_while_alive(run: Run, command: str, shown: str) -> None:
    run("SET k v PX 1000")
    run(command)
    assert run.story("k").splitlines()[-1].endswith(shown)
    life = run.server.history("k").lives[0]
    assert (life.dead_us, life.deleted_us) == (None, START * 1000)
    assert not run.server.history("k").held


def test_a_reload_keeps_the_living_and_drops_the_dead(run: Run) -> None:
    run.server.active_expire_enabled = False
    run("SET dead v PX 10")
    run("SET k v PX 1000")
    run.clock.advance(20)
    run("DEBUG RELOAD")
    assert run.whats("k") == [What.WRITTEN, What.TTL_SET, What.LOADED, What.TTL_SET]
    assert len(run.server.history("k").lives) == 1
    assert run.story("dead").endswith("+0.020 s  deleted      DEBUG RELOAD, client 1")
    assert run.server.history("dead").lives[0].dead_us == (START + 11) * 1000


def test_a_time_that_was_past_when_it_was_set(run: Run) -> None:
    run.server.active_expire_enabled = False
    run("SET k v PXAT 5")
    assert run.story("k").splitlines()[2:4] == [
        "   +0.000 s  TTL set      to 5, which was past; same command",
        "   +0.000 s  dead         from the start: its time was over when it was set",
    ]


def test_each_command_of_a_transaction_is_named(run: Run) -> None:
    run("MULTI")
    run("SET k v")
    run("PEXPIRE k 10")
    run("EXEC")
    events = run.server.history("k").events
    assert [e.what for e in events] == [What.WRITTEN, What.TTL_SET]
    words = [e.by.words for e in events if isinstance(e.by, ByCommand)]
    assert words == [(b"SET", b"k", b"v"), (b"PEXPIRE", b"k", b"10")]


def test_the_same_list_sent_twice_is_two_commands(run: Run) -> None:
    argv = [b"SET", b"k", b"v"]
    run.server.process_command(run.c, argv)
    run.server.process_command(run.c, argv)
    assert run.whats("k") == [What.WRITTEN, What.CHANGED]


def test_the_replica_link_is_named(run: Run) -> None:
    link = run.server.create_client()
    link.flags |= CLIENT_MASTER
    run("SET k v", link)
    run("DEL k", link)
    assert run.story("k").endswith("deleted      DEL k, over the link to the primary")


def test_long_words_are_cut_and_binary_ones_shown(run: Run) -> None:
    run.server.process_command(run.c, [b"MSET", b"\xff\n", b"x" * 10_000, *[b"k", b"v"] * 5])
    event = run.server.history(b"\xff\n").events[0]
    assert isinstance(event.by, ByCommand)
    assert len(event.by.words) == 8
    assert len(event.by.words[2]) == 32
    assert run.story("k").splitlines()[1].count(r"\xff\n") == 1
    assert str(run.server.history(b"\xff\n")).startswith(r"\xff\n (db 0)")


# -- limits, and switching on and off ---------------------------------------------------


def test_events_of_one_key_are_limited() -> None:
    run = Run(record_history=False)
    run.server.record_history(events_per_key=3)
    for i in range(5):
        run(f"SET k {i}")
    history = run.server.history("k")
    assert (len(history), history.dropped) == (3, 2)
    assert "(2 earlier events were not kept)" in str(history)


def test_events_of_all_keys_are_limited_and_the_quiet_are_forgotten() -> None:
    run = Run(record_history=False)
    run.server.record_history(max_events=10, events_per_key=4)
    for i in range(10):
        run(f"SET k{i} v")
    run("APPEND k0 !")  # k0 was the oldest; now it is k1
    assert len(run.server.history("k0")) == 2
    assert len(run.server.history("k1")) == 0
    assert str(run.server.history("k1")) == "k1 (db 0): nothing recorded"
    for i in range(1000):
        run(f"SET other{i} v PX 100")
    recorder = run.server._history
    assert recorder is not None
    assert recorder.count == sum(len(r.events) for r in recorder.records.values()) <= 10


def test_only_matching_keys_are_recorded() -> None:
    run = Run(record_history=False)
    run.server.record_history(match="user:*")
    for command in ("SET user:1 v PX 10", "SET other v PX 10", "RENAME user:1 x", "SET y v"):
        run(command)
    run("RENAME y user:2")
    assert run.server.history("user:1").events[-1].other == (0, b"x")
    assert run.server.history("user:2").events[0].other == (0, b"y")
    assert len(run.server.history("other")) == len(run.server.history("x")) == 0


def test_off_by_default_and_off_again() -> None:
    run = Run(record_history=False)
    assert not run.server.probed
    with pytest.raises(RuntimeError, match="record_history"):
        run.server.history("k")
    run.server.record_history()
    run("SET k v")
    run.server.record_history(False)
    assert run.server.probe is SILENT
    run("DEL k")
    assert run.whats("k") == [What.WRITTEN]
    run.server.record_history()
    assert run.whats("k") == []


def test_an_experiment_may_record_beside_it(run: Run) -> None:
    recorder = Recorder()
    run.server.probe = recorder
    run("SET k v PX 10")
    run.clock.advance(150)
    assert [d.key for d in recorder.deletions] == [b"k"]
    assert run.whats("k") == [What.WRITTEN, What.TTL_SET, What.EXPIRED]


def test_what_was_before_is_not_known() -> None:
    run = Run(record_history=False)
    run("SET k v PX 10")
    run.server.record_history()
    run.clock.advance(150)
    life = run.server.history("k").lives[0]
    assert [e.what for e in life.events] == [What.EXPIRED]
    assert (life.when_ms, life.dead_us) == (START + 10, (START + 11) * 1000)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"max_events": 0}, ValueError),
        ({"events_per_key": -1}, ValueError),
        ({"max_events": 1.5}, TypeError),
        ({"events_per_key": True}, TypeError),
    ],
)
def test_bad_limits(arguments: dict[str, int], error: type[Exception]) -> None:
    server = Server(VirtualClock())
    with pytest.raises(error, match=next(iter(arguments))):
        server.record_history(**arguments)  # type: ignore[arg-type]
    assert not server.probed


def test_bad_questions(run: Run) -> None:
    with pytest.raises(ValueError, match=r"database 16 does not exist"):
        run.server.history("k", 16)
    with pytest.raises(TypeError, match="bytes or str"):
        run.server.history(5)  # type: ignore[arg-type]


def test_for_programs(run: Run) -> None:
    run("SET k v PX 10")
    run.clock.advance(150)
    told = json.loads(json.dumps(run.server.history("k").as_dict()))
    assert told["lives"][0]["dead_ms"] == START + 11
    assert told["lives"][0]["deleted_ms"] == START + 101
    assert told["lives"][0]["by"] == "slow cycle 2, loop 1"
    assert [e["what"] for e in told["lives"][0]["events"]] == ["written", "TTL set", "expired"]


def test_memory_of_an_event_is_as_stated() -> None:
    """history.py and record_history() say about 300 bytes; keys of 10 bytes, two events each."""
    run = Run(record_history=False)
    run.server.record_history()
    commands = [[b"SET", b"key:%06d" % i, b"v", b"PX", b"100000"] for i in range(5000)]
    tracemalloc.start()
    for argv in commands:
        run.server.process_command(run.c, argv)
    with_history, _ = tracemalloc.get_traced_memory()
    recorder = run.server._history
    assert recorder is not None
    count = recorder.count
    run.server.record_history(False)
    run.server._history = None
    del recorder
    without, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 10_000
    assert 200 < (with_history - without) / count < 400


def test_histories_of_unknown_keys_are_empty(run: Run) -> None:
    history = run.server.history("nobody")
    assert isinstance(history, History)
    assert (len(history), history.lives, history.held) == (0, [], False)


COMMANDS = """
SET {a} v | SET {a} v PX {ms} | SET {a} v KEEPTTL | SET {a} v PXAT 5 | SETEX {a} 1 v
GETEX {a} PX {ms} | GETEX {a} PERSIST | GETSET {a} w | MSET {a} v {b} v | MSETNX {a} v {b} v
GET {a} | EXISTS {a} {b} | TTL {a} | DEL {a} | UNLINK {a} {b} | GETDEL {a} | APPEND {a} x
SETRANGE {a} 2 x | PEXPIRE {a} {ms} | PEXPIRE {a} {ms} NX | PEXPIRE {a} -1 | PERSIST {a}
RENAME {a} {b} | RENAMENX {a} {b} | COPY {a} {b} REPLACE | COPY {a} {b} DB 1 | MOVE {a} 1
SELECT 0 | SELECT 0 | SELECT 1 | SWAPDB 0 1 | FLUSHDB | DEBUG RELOAD | SCAN 0 | RANDOMKEY
""".replace("\n", "|").split("|")
STEPS = 1500


@pytest.mark.parametrize("engine", ["6.0", "7.0"])
def test_the_record_agrees_with_the_keyspace_after_every_command(engine: str) -> None:
    """Whether a key is held, and its time: nothing happens to a key that is not heard of."""
    rng = random.Random(engine)
    run = Run(expire_engine=engine, databases=2)
    keys = ["a", "b", "c", "d", "e"]
    commands = [command.strip() for command in COMMANDS if command.strip()]
    for _ in range(STEPS):
        command = rng.choice(commands).format(
            a=rng.choice(keys), b=rng.choice(keys), ms=rng.choice([1, 50, 200, 5000])
        )
        run(command)
        if rng.random() < 0.3:
            run.clock.advance(rng.choice([1, 20, 100]))
        recorder = run.server._history
        assert recorder is not None
        for db in run.server.databases:
            for key in (name.encode() for name in keys):
                ttl = db.expires.index.get(key)
                record = recorder.records.get((db.id, key))
                held, when = (False, None) if record is None else (record.held, record.when_ms)
                assert held is (key in db.dict.index), (command, key)
                assert when == (None if ttl is None else ttl.val), (command, key)
                history = run.server.history(key, db.id)
                if held:
                    assert history.lives[-1].end is None, (command, key)
                    assert history.lives[-1].when_ms == when or history.dropped
                elif history.events:
                    assert history.lives[-1].end is not None, (command, key)
        assert recorder.count == sum(len(r.events) for r in recorder.records.values())
        str(run.server.history(rng.choice(keys)))
