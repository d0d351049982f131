"""expire.py: the active cycle, step by step, with golden values of redis-server 7.0.15."""

from __future__ import annotations

from dataclasses import replace

import pytest

from miniredis import CostModel, ExitReason, Server, StaleGate, VirtualClock
from miniredis.clock import FREE
from miniredis.lab.recorder import Recorder

START = 1_391_234_400_000


def make(**kwargs: object) -> tuple[Server, VirtualClock]:
    clock = VirtualClock(START)
    kwargs.setdefault("cost", FREE)
    return Server(clock, seed=1, **kwargs), clock  # type: ignore[arg-type]


def fill(server: Server, n: int, when: int, db: int = 0, prefix: bytes = b"k") -> None:
    c = server.create_client()
    c.select_db(db)
    for i in range(n):
        server.process_command(c, [b"SET", b"%s%d" % (prefix, i), b"x", b"PXAT", b"%d" % when])


@pytest.mark.parametrize(
    ("effort", "keys", "fast_us", "slow_perc", "stale", "limits"),
    [
        (1, 20, 1000, 25, 10, {1: 250_000, 10: 25_000, 100: 2500, 500: 500}),
        (5, 40, 2000, 33, 6, {1: 330_000, 10: 33_000, 100: 3300, 500: 660}),
        (10, 65, 3250, 43, 1, {1: 430_000, 10: 43_000, 100: 4300, 500: 860}),
    ],
)
def test_what_effort_means(
    effort: int, keys: int, fast_us: int, slow_perc: int, stale: int, limits: dict[int, int]
) -> None:
    for hz, limit in limits.items():
        server, _ = make(active_expire_effort=effort, hz=hz)
        cycle = server.expire_engine
        assert (cycle.keys_per_loop, cycle.fast_duration_us) == (keys, fast_us)
        assert (cycle.slow_time_perc, cycle.acceptable_stale) == (slow_perc, stale)
        assert cycle.time_limit_us("slow") == limit
        assert cycle.time_limit_us("fast") == fast_us


def test_ten_thousand_keys_die_in_three_crons() -> None:
    """16,384 buckets: the cycle stops at 163 keys or fewer, and the rest waits for the
    table to shrink: one cron later it is skipped, two crons later it is deleted."""
    server, clock = make()
    fill(server, 10_000, START + 50)
    perc = []
    sizes = []
    clock.advance(1)  # the first cron
    for _ in range(3):
        clock.advance(100)
        sizes.append(server.dbsize())
        perc.append(round(server.stat_expired_stale_perc * 100, 2))
    assert 0 < sizes[0] <= 163
    assert sizes[1:] == [sizes[0], 0]
    assert perc == [5.0, 4.75, 9.51]
    server._check()


def test_golden_average_ttl() -> None:
    """A key with 1,000,000 ms to live, seen every 100 ms: values of the real server."""
    server, clock = make()
    clock.advance(1)
    fill(server, 1, clock.ms() + 1_000_000)
    averages = []
    for _ in range(5):
        clock.advance(100)
        averages.append(server.databases[0].avg_ttl)
    assert averages == [999_900, 999_898, 999_847, 999_796, 999_745]


def test_expired_means_strictly_later() -> None:
    server, clock = make()
    server.active_expire_enabled = False
    fill(server, 5, START + 10)
    clock.advance(10)
    report = server.active_expire_cycle("slow")
    assert (report.sampled, report.expired) == (5, 0)
    clock.advance(1)
    assert server.active_expire_cycle("slow").expired == 5


def test_report_of_a_small_database() -> None:
    server, clock = make()
    server.active_expire_enabled = False
    fill(server, 45, START + 10)
    clock.advance(11)
    report = server.active_expire_cycle("slow")
    mine = [loop for loop in report.loops if loop.db == 0]
    assert [loop.exit for loop in mine][-1] is ExitReason.NO_TTLS
    assert sum(loop.expired for loop in mine) == report.expired == 45
    assert all(loop.stale_share == 1.0 for loop in mine if loop.sampled)
    assert report.stale_perc == pytest.approx(0.05)
    assert report.exit is ExitReason.DONE
    assert len([loop for loop in report.loops if loop.db != 0]) == 15


def test_windows_stop_when_ten_percent_or_less_have_died() -> None:
    server, clock = make()
    server.active_expire_enabled = False
    fill(server, 1000, START + 10**9, prefix=b"alive")
    fill(server, 60, START + 10, prefix=b"dead")
    clock.advance(11)
    for loop in server.active_expire_cycle("slow").loops:
        if loop.exit is ExitReason.FEW_STALE:
            assert loop.expired * 100 // loop.sampled <= 10
        elif loop.exit is None:
            assert loop.sampled == 0 or loop.expired * 100 // loop.sampled > 10


def test_sparse_tables_are_skipped() -> None:
    server, clock = make(activerehashing=False)
    server.active_expire_enabled = False
    fill(server, 10_000, START + 10)
    clock.advance(11)
    db = server.databases[0]
    server.active_expire_cycle("slow")
    assert len(db.expires) * 100 // db.expires.slots() < 1
    left = len(db.expires)
    assert left > 0
    report = server.active_expire_cycle("slow")
    assert report.loops[0].exit is ExitReason.SPARSE
    assert len(db.expires) == left


def test_bucket_order_is_ascending_from_the_cursor() -> None:
    """Keys die in the order of their buckets, chains head first."""
    numbers = {b"k%d" % i: (i * 37) % 256 for i in range(200)}
    server, clock = make(hash_function=lambda key: numbers.get(key, 0))
    server.active_expire_enabled = False
    fill(server, 200, START + 10)
    while any(d.is_rehashing() for d in (server.databases[0].dict, server.databases[0].expires)):
        server.databases[0].dict.rehash(100)
        server.databases[0].expires.rehash(100)
    recorder = Recorder()
    server.probe = recorder
    clock.advance(11)
    server.active_expire_cycle("slow")
    order = [numbers[deletion.key] for deletion in recorder.deletions]
    assert order == sorted(order)
    assert len(order) > 190


def test_time_limit_ends_the_cycle_and_the_next_begins_with_the_neighbour() -> None:
    # 20 µs a key: the limit of 25 ms is passed after 16 windows of 20 keys or a multiple.
    server, clock = make(cost=CostModel(deleted_ns=200_000))
    server.active_expire_enabled = False
    fill(server, 5000, START + 10)
    fill(server, 10, START + 10, db=1)
    clock.advance(11)
    report = server.active_expire_cycle("slow")
    assert report.exit is ExitReason.TIME_LIMIT
    assert report.iterations % 16 == 0
    assert report.elapsed_us > 25_000
    assert server.stat_expired_time_cap_reached_count == 1
    assert server.expire_engine.timelimit_exit
    assert server.dbsize(1) == 10
    following = server.active_expire_cycle("slow")
    assert following.dbs_per_call == 16
    assert following.loops[0].db == 1


def test_deletions_cost_more_for_5_ms_after_6_ms_without_one() -> None:
    # 20 µs of deleting, 100 for memory that no cache holds, 1,000 more while cold.
    cost = replace(FREE, deleted_ns=20_000, missed_ns=100_000, cold_ns=1_000_000)
    server, clock = make(cost=cost)
    server.active_expire_enabled = False
    elapsed = []
    for pause_us in (7000, 5000, 7000):
        fill(server, 4, clock.ms() + 1)
        clock.advance_to_us(clock.us() + pause_us)
        elapsed.append(server.active_expire_cycle("slow").elapsed_us)
    assert elapsed == [4 * 1120, 4 * 120, 4 * 1120]


def test_rehash_steps_in_a_window_are_paid_for() -> None:
    cost = replace(FREE, rehash_empty_ns=1000, rehash_entry_ns=10_000)
    server, clock = make(cost=cost, activerehashing=False)
    server.active_expire_enabled = False
    fill(server, 65, START + 10)  # the last makes both tables grow
    db = server.databases[0]
    assert db.dict.is_rehashing() and db.expires.is_rehashing()
    moved = db.dict.rehash_moved + db.expires.rehash_moved
    passed = db.dict.rehash_passed + db.expires.rehash_passed
    assert clock.us() == START * 1000  # steps of commands are part of the commands
    clock.advance(11)
    elapsed_us = server.active_expire_cycle("slow").elapsed_us
    moved = db.dict.rehash_moved + db.expires.rehash_moved - moved
    passed = db.dict.rehash_passed + db.expires.rehash_passed - passed
    assert moved > 0 and passed >= moved / 2
    assert elapsed_us == pytest.approx(passed + 10 * moved, abs=1)


def test_fast_cycles_need_a_time_out_and_a_distance() -> None:
    server, clock = make(cost=CostModel(deleted_ns=200_000))
    server.active_expire_enabled = False
    fill(server, 5000, START + 10)
    clock.advance(11)
    assert server.active_expire_cycle("fast").exit is ExitReason.NOT_NEEDED
    server.active_expire_cycle("slow")
    first = server.active_expire_cycle("fast")
    assert first.exit is ExitReason.TIME_LIMIT
    assert first.time_limit_us == 1000
    second = server.active_expire_cycle("fast")
    assert second.start_us > first.start_us + 2000
    # Within two fast durations of the last start nothing is done and nothing changes.
    server.cost = CostModel()
    stale = server.stat_expired_stale_perc
    server.active_expire_cycle("fast")
    refused = server.active_expire_cycle("fast")
    if refused.refused:
        assert refused.exit in (ExitReason.TOO_SOON, ExitReason.NOT_NEEDED)
        assert server.stat_expired_stale_perc >= stale * 0.9


@pytest.mark.parametrize(("gate", "opens"), [(StaleGate.DEAD, False), (StaleGate.REPAIRED, True)])
def test_the_stale_gate_is_dead_unless_repaired(gate: StaleGate, opens: bool) -> None:
    server, _ = make(stale_gate=gate, active_expire_effort=10)
    server.stat_expired_stale_perc = 0.999999999999999
    assert server.expire_engine.fast_cycle_wanted() is opens


def test_behind_a_repaired_gate_fast_cycles_follow_commands() -> None:
    """Two fast durations apart, as long as the estimate says that too many are stale."""
    server, clock = make(stale_gate=StaleGate.REPAIRED)
    recorder = Recorder()
    server.probe = recorder
    server.stat_expired_stale_perc = 0.5
    c = server.create_client()
    clock.advance(2)  # the cron, and what follows it
    recorder.cycles.clear()
    for _ in range(10):
        clock.advance(1)
        server.process_command(c, [b"PING"])
    assert [cycle.type for cycle in recorder.cycles] == ["fast"] * 5
    server.stat_expired_stale_perc = 0.05
    recorder.cycles.clear()
    clock.advance(5)
    server.process_command(c, [b"PING"])
    assert recorder.cycles == []


def test_a_cycle_that_samples_nothing_lets_the_estimate_decay() -> None:
    server, _ = make()
    server.stat_expired_stale_perc = 0.4
    server.active_expire_cycle("slow")
    assert server.stat_expired_stale_perc == pytest.approx(0.38)


def test_nothing_expires_while_clients_are_paused() -> None:
    server, clock = make()
    fill(server, 10, START + 10)
    c = server.create_client()
    server.process_command(c, [b"CLIENT", b"PAUSE", b"1000", b"WRITE"])
    clock.advance(500)
    assert server.dbsize() == 10
    assert server.process_command(c, [b"GET", b"k0"]) is None
    assert server.dbsize() == 10
    assert server.active_expire_cycle("slow").exit is ExitReason.PAUSED
    clock.advance(1000)
    assert server.dbsize() == 0


def test_effects_of_an_expiry_in_order() -> None:
    server, clock = make()
    server.active_expire_enabled = False
    recorder = Recorder()
    fill(server, 1, START + 10)
    server.probe = recorder
    watcher = server.create_client()
    server.process_command(watcher, [b"WATCH", b"k0"])
    clock.advance(11)
    c = server.create_client()
    assert server.process_command(c, [b"GET", b"k0"]) is None
    assert recorder.events == [(b"expired", b"k0", 0), (b"keymiss", b"k0", 0)]
    assert recorder.stream == [(0, [b"DEL", b"k0"])]
    assert [d.by for d in recorder.deletions] == ["lazy"]
    assert server.stat_expiredkeys == 1
    server.process_command(watcher, [b"MULTI"])
    assert repr(server.process_command(watcher, [b"EXEC"])) == "NULL_ARRAY"


def test_a_cycle_is_slow_or_fast() -> None:
    server, _ = make()
    with pytest.raises(ValueError, match="'slow' or 'fast'"):
        server.active_expire_cycle("quick")
