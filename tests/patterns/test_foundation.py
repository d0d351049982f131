"""The targets and the scheduler themselves."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from redis.cluster import RedisCluster

from patterns import PATTERNS
from patterns.__main__ import main
from patterns.text import as_bytes, as_text, same
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules


def test_a_target_answers_in_its_form(target: Target) -> None:
    target.conn.set("k", "v")
    assert target.conn.get("k") == ("v" if target.decode else b"v")
    assert same(target.new_client().get("k"), "v")


def test_waiting_takes_no_time_and_keys_expire(timed: Target) -> None:
    timed.conn.set("k", "v", px=500)
    before = timed.clock.time()
    timed.clock.sleep(0.5)
    assert timed.clock.time() == pytest.approx(before + 0.5)
    assert timed.conn.exists("k")
    timed.clock.sleep(0.001)
    assert not timed.conn.exists("k")


def test_the_cluster_has_three_nodes(cluster: RedisCluster) -> None:
    assert len(cluster.get_primaries()) == 3
    cluster.set("{a}:1", "x")
    assert same(cluster.get("{a}:1"), "x")


def test_text() -> None:
    assert as_text(b"\xe4\xb8\xad") == as_text("中") == "中"
    assert as_bytes(12) == b"12"
    assert same("a", b"a") and not same(None, "a") and not same("b", b"a")
    with pytest.raises(TypeError, match="missing"):
        as_text(None)  # type: ignore[arg-type]


def increment_naive(actor: Actor) -> None:
    """Read, add, write: loses counts when two do it at once."""
    for _ in range(3):
        actor.conn.set("n", int(actor.conn.get("n") or 0) + 1)


def count_after(body: Any, *, seed: int = 0, order: str = "", **chance: float) -> tuple[int, int]:
    scheduler = Scheduler(seed, Chance(**chance) if chance else None, order)
    scheduler.add("a", body)
    scheduler.add("b", body)
    scheduler.run()
    return int(scheduler.client().get("n") or 0), scheduler.now_us


def test_an_order_decides_who_goes_first() -> None:
    assert count_after(increment_naive, order="a" * 6 + "b" * 6)[0] == 6
    assert count_after(increment_naive, order="ab" * 6)[0] == 3
    assert count_after(increment_naive, order="abb" * 1 + "bbbb" + "a")[0] == 4 - 1


def test_a_seed_repeats_a_run_and_seeds_differ() -> None:
    runs = [count_after(increment_naive, seed=seed, latency=0.002) for seed in range(20)]
    assert runs == [count_after(increment_naive, seed=seed, latency=0.002) for seed in range(20)]
    assert len({n for n, _ in runs}) > 2 and len({us for _, us in runs}) == 20


def test_a_crash_ends_a_client_before_a_command() -> None:
    cleaned = []

    def body(actor: Actor) -> None:
        try:
            for i in range(10):
                actor.conn.set("n", i)
        finally:
            cleaned.append(actor.name)
            actor.conn.set("n", 100)  # a dead machine sends nothing

    scheduler = Scheduler()
    actor = scheduler.add("a", body, crash_at=4)
    scheduler.run()
    assert actor.crashed and cleaned == ["a"]
    assert same(scheduler.client().get("n"), "2")


def test_watch_sees_what_another_client_does() -> None:
    def add(actor: Actor) -> int:
        tries = 0
        with actor.conn.pipeline() as pipe:
            while True:
                tries += 1
                pipe.watch("n")
                n = int(pipe.get("n") or 0)
                pipe.multi()
                pipe.set("n", n + 1)
                try:
                    pipe.execute()
                except Exception:
                    continue
                return tries

    scheduler = Scheduler(order="aabbbaaaa")
    a, b = scheduler.add("a", add), scheduler.add("b", add)
    scheduler.run()
    assert (a.result, b.result) == (2, 1)
    assert same(scheduler.client().get("n"), "2")


def test_clients_sleep_in_virtual_time_by_skewed_clocks() -> None:
    seen = {}

    def body(actor: Actor) -> None:
        before = actor.time()
        actor.sleep(3600)
        seen[actor.name] = actor.time() - before, actor.time() - actor.scheduler.now

    scheduler = Scheduler()
    scheduler.add("a", body, skew_s=5.0)
    scheduler.add("b", body, skew_s=-5.0)
    scheduler.run()
    assert seen["a"] == pytest.approx((3600, 5)) and seen["b"] == pytest.approx((3600, -5))


def test_an_error_names_the_seed_and_the_client() -> None:
    def body(actor: Actor) -> None:
        raise ValueError("no")

    scheduler = Scheduler(seed=12)
    scheduler.add("a", body)
    with pytest.raises(ValueError, match="no") as caught:
        run_schedules(lambda seed: scheduler.run(), 1)
    assert caught.value.__notes__[0] == "in a, seed 12"


def test_commands_that_block_are_refused() -> None:
    scheduler = Scheduler()
    scheduler.add("a", lambda actor: actor.conn.blpop("k"))
    with pytest.raises(AssertionError, match="BLPOP would wait"):
        scheduler.run()


def test_the_list_names_every_pattern() -> None:
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 0
    for name in PATTERNS:
        assert name in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no pattern is called 'nothing'"),
        (["-o", "x.png"], "name the pattern"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2 and message in result.output
