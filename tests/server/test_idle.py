"""idle.py: passing over idle time comes to the same, to the last digit, as ticking through it."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from miniredis.clock import FREE, CostModel, VirtualClock
from miniredis.keyspace.avg_ttl import after, average_after
from miniredis.keyspace.expire import StaleGate
from miniredis.lab.recorder import ExpiryRecorder, Recorder
from miniredis.probe import Probe
from miniredis.server.idle import TRIALS, IdleStretch, is_idle
from miniredis.server.server import Server

DEAR = CostModel(1_333, 70_001, 77, 911, 5_003, 60, 2)  # a tick takes long, and no whole µs
DAY_MS = 86_400_000


def state_of(server: Server) -> dict[str, Any]:
    """Everything that a tick may touch."""
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    engine = {k: v for k, v in vars(server.expire_engine).items() if k != "server"}
    plain = {
        name: value
        for name, value in vars(server).items()
        if isinstance(value, (int, float, str, bytes, bool))
    }
    return {
        **plain,
        "engine": {k: v for k, v in engine.items() if isinstance(v, (int, float, bool))},
        "clock": clock.ns(),
        "el": (server.el.next_us, server.el._last_us),
        "rates": [(list(m.samples), m.last_sample_ms, n) for m, n in server.rates()],
        "dbs": [(db.expires_cursor, db.avg_ttl, len(db.dict)) for db in server.databases],
        "tables": [(db.dict.rehashidx, db.expires.rehashidx) for db in server.databases],
        "info": server.info([b"stats", b"keyspace", b"clients"]),
    }


def twins(**config: Any) -> tuple[Server, Server]:
    """The same server twice; the second ticks through."""
    servers = tuple(Server(VirtualClock(), seed=5, **config) for _ in range(2))
    for server in servers:
        server.run_id = "x"
    servers[1].idle.enabled = False
    return servers  # type: ignore[return-value]


def both(servers: tuple[Server, Server], *argv: object) -> None:
    for server in servers:
        c = next(iter(server.clients.values()), None) or server.create_client()
        server.process_command(c, [str(arg).encode() for arg in argv])


def advance(servers: tuple[Server, Server], ms: float) -> None:
    for server in servers:
        server.clock.advance(ms)  # type: ignore[attr-defined]
        server._check()


def agree(servers: tuple[Server, Server]) -> None:
    quick, real = map(state_of, servers)
    assert quick == real


SETTINGS: list[tuple[int, dict[str, Any]]] = [
    (1, {}),
    (1, {"cost": FREE}),
    (1, {"cost": DEAR}),
    (30, {}),
    (30, {"hz": 1}),
    (30, {"hz": 7, "cost": DEAR}),
    (30, {"hz": 100, "active_expire_effort": 10}),
    (30, {"hz": 500, "cost": DEAR}),
    (1000, {"databases": 1}),
    (1000, {"databases": 3, "expire_engine": "6.0"}),
    (1000, {"stale_gate": StaleGate.REPAIRED}),
    (300, {"active_expire_effort": 7, "cost": DEAR}),
    (520, {"activerehashing": False}),  # 1024 buckets, half of them moved
    (0, {}),
]


@pytest.mark.parametrize(("keys", "config"), SETTINGS, ids=str)
def test_the_state_after_a_long_time_is_that_of_ticking(keys: int, config: dict[str, Any]) -> None:
    servers = twins(**config)
    for i in range(keys):
        both(servers, "SET", f"k{i}", "x", "PX", DAY_MS + i * i)
    both(servers, "SET", "persistent", "x")
    ticks_ms = 1000 // config.get("hz", 10)
    for ticks in (10, 500, 3.5, 6_000, 1_234):
        advance(servers, ticks * ticks_ms)
        agree(servers)
    assert servers[0].idle.enabled


def test_most_ticks_are_jumped_over() -> None:
    servers = twins()
    both(servers, "SET", "k", "x", "PX", DAY_MS)
    runs: list[int] = []

    class Listener(Probe):
        def idle_crons(self, first_us: int, last_us: int, runs_: int, cycle_us: int) -> None:
            runs.append(runs_)

    servers[0].add_probe(Listener())
    begun = time.perf_counter()
    servers[0].clock.advance(DAY_MS - 60_000)  # type: ignore[attr-defined]
    assert time.perf_counter() - begun < 5  # 863,400 ticks; in fact some 30 ms
    assert sum(runs) > 860_000
    assert len(runs) < 5


def test_deaths_come_at_the_same_instants_after_idle_time() -> None:
    servers = twins()
    rng = random.Random(3)
    for i in range(400):
        both(servers, "SET", f"k{i}", "x", "PX", rng.choice((100_000, 300_000, 700_000)) + i)
    recorders = [ExpiryRecorder(), ExpiryRecorder()]
    for server, recorder in zip(servers, recorders, strict=True):
        server.probe = recorder
    for _ in range(4):
        advance(servers, 250_000)
        agree(servers)
    assert recorders[0].deleted_ms == recorders[1].deleted_ms
    assert len(recorders[0].deleted_ms) == 400
    assert recorders[0].idle_runs > 9_000
    seen = recorders[0].idle_runs + len(recorders[0].cycles)
    assert seen == len(recorders[1].cycles)


def test_keys_in_several_databases() -> None:
    servers = twins()
    for db in (0, 3, 15):
        both(servers, "SELECT", db)
        for i in range(5 + db):
            both(servers, "SET", f"k{i}", "x", "PX", DAY_MS + db)
    advance(servers, 900_000)
    agree(servers)
    assert servers[0].idle._trials_left == 0


def test_dead_keys_in_a_sparse_table_that_nobody_looks_at() -> None:
    servers = twins(activerehashing=False)
    for i in range(2000):
        both(servers, "SET", f"k{i}", "x", "PX", 500)
    both(servers, "SET", "long", "x", "PX", DAY_MS)
    advance(servers, 3_000)
    assert 0 < servers[0].dbsize() < 30
    advance(servers, 900_000)
    agree(servers)
    assert servers[0].idle._trials_left == 0


def test_a_sparse_table_in_which_windows_are_empty() -> None:
    """Filled between 1 and 5 %, so that some windows see no key and another follows."""
    servers = twins(activerehashing=False, databases=1)
    for i in range(600):
        both(servers, "SET", f"k{i}", "x")
    for i in range(600):
        both(servers, "EXPIRE", f"k{i}", 100_000 + i)
    for i in range(12, 600):
        both(servers, "PERSIST", f"k{i}")
    advance(servers, 900_000)
    agree(servers)


def test_time_goes_on_after_a_year() -> None:
    """Against the closed form where ticking would take hours."""
    server = Server(VirtualClock(), seed=5)
    c = server.create_client()
    year = 365 * DAY_MS
    server.process_command(c, [b"SET", b"k", b"x", b"PX", b"%d" % (2 * year)])
    server.clock.advance(60_000)  # type: ignore[attr-defined]
    before = server.cronloops
    server.clock.advance(year)  # type: ignore[attr-defined]
    ticks = server.cronloops - before
    assert ticks == year // 100  # a tick takes 0.7 µs, so the next comes 100,000 µs later
    assert server.stat_expired_stale_perc == 0.0
    assert server.databases[0].avg_ttl == pytest.approx(year - 60_000, abs=5_000)


@pytest.mark.parametrize(
    "prepare",
    [
        lambda server: setattr(server, "probe", Recorder()),
        lambda server: server.config.set([(b"timeout", b"10")]),
        lambda server: server.config.set([(b"latency-monitor-threshold", b"1")]),
        lambda server: server.pause_clients(server.clock.ms() + 10**9, True),
        lambda server: setattr(server, "active_expire_enabled", False),
        lambda server: setattr(server, "pause_cron", True),
        lambda server: setattr(server, "masterhost", "elsewhere"),
        lambda server: server.el.create_time_event(10**9, lambda: -1),
        lambda server: setattr(server.expire_engine, "timelimit_exit", True),
    ],
)
def test_what_is_not_idle_ticks(prepare: Any) -> None:
    servers = twins()
    both(servers, "SET", "k", "x", "PX", DAY_MS)
    advance(servers, 1_000)
    for server in servers:
        try:
            prepare(server)
        except (AttributeError, TypeError):
            pytest.fail("the setting has another name")
    server = servers[0]
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    clock.pass_to_ns((server.el.next_us or 0) * 1000)
    assert not is_idle(server)


def test_other_engines_tick() -> None:
    servers = twins(expire_engine="7.4")
    both(servers, "SET", "k", "x", "PX", DAY_MS)
    advance(servers, 60_000)
    agree(servers)
    assert servers[0].idle._trials_left == TRIALS


def test_a_cron_that_does_more_than_is_known_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    def more(server: Server, real: Any = Server.track_instantaneous_metrics) -> None:
        real(server)
        server.ustime()

    monkeypatch.setattr(Server, "track_instantaneous_metrics", more)
    servers = twins()
    both(servers, "SET", "k", "x", "PX", DAY_MS)
    advance(servers, 600_000)
    agree(servers)
    assert not servers[0].idle.enabled


def test_two_servers_on_one_clock_tick_in_turn() -> None:
    states = []
    for enabled in (True, False):
        clock = VirtualClock()
        pair = [Server(clock, seed=n) for n in (1, 2)]
        for server in pair:
            server.run_id = "x"
            server.idle.enabled = enabled
            c = server.create_client()
            server.process_command(c, [b"SET", b"k", b"x", b"EX", b"10000"])
        clock.advance(120_000)
        states.append([state_of(server) for server in pair])
        assert all(server.idle.enabled is enabled for server in pair)
    assert states[0] == states[1]


def test_nothing_is_written_by_a_stretch_that_is_not_kept() -> None:
    server = Server(VirtualClock(), seed=5)
    c = server.create_client()
    for i in range(100):
        server.process_command(c, [b"SET", b"k%d" % i, b"x", b"EX", b"10000"])
    server.clock.advance(500)  # type: ignore[attr-defined]
    before = state_of(server)
    stretch = IdleStretch(server)
    for _ in range(50):
        assert stretch.tick()
    assert state_of(server) == before


def test_the_average_over_many_rounds() -> None:
    """All three ways of working it out against one window after another."""
    rng = random.Random(11)
    for trial in range(60):
        windows = rng.choice((1, 2, 7, 300))
        round_us = windows * 100_000 + rng.randrange(3 * windows + 2)
        if trial % 5 == 0:
            round_us = windows * 100_000
        start = 1_391_234_400_000_000 + rng.randrange(10**9)
        rounds = rng.randrange(1, 240_000 // windows)
        die = (start + rounds * round_us) // 1000 + 1000
        seen = [
            (die + rng.randrange(10**6), i * 100_001 + rng.randrange(50)) for i in range(windows)
        ]
        x = rng.choice((1, 50, 10**6, 10**9))
        expected = after(x, seen, round_us, start, rounds)
        assert average_after(x, seen, round_us, start, rounds) == expected


@pytest.mark.slow
def test_an_idle_hour_of_a_million_keys() -> None:
    """36,000 ticks, none of which repeats: a sweep of the table takes 52,000."""
    server = Server(VirtualClock(), seed=5)
    c = server.create_client()
    for i in range(1_000_000):
        server.process_command(c, [b"SET", b"k%d" % i, b"x", b"PX", b"%d" % DAY_MS])
    server.clock.advance(60_000)  # type: ignore[attr-defined]
    times = []
    for _ in range(3):
        begun = time.process_time()
        server.clock.advance(3_600_000)  # type: ignore[attr-defined]
        times.append(time.process_time() - begun)
    assert min(times) < 1
