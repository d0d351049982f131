"""Semaphores: never more than the limit, whatever clients' clocks say."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from redis.cluster import RedisCluster

from patterns.semaphores import (
    Semaphore,
    SemaphoreLostError,
    acquire_fair_semaphore,
    acquire_semaphore,
    acquire_semaphore_with_lock,
    refresh_fair_semaphore,
    refresh_fair_semaphore_naive,
    release_fair_semaphore,
    release_semaphore,
    semaphore_key,
)
from patterns.text import as_text
from tests.patterns.conftest import Ahead, Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

KEY = semaphore_key("s")
ACQUIRES = (acquire_semaphore, acquire_fair_semaphore, acquire_semaphore_with_lock)
RELEASES = {acquire_semaphore: release_semaphore}


# -- on every target -------------------------------------------------------------------------


@pytest.mark.parametrize("acquire", ACQUIRES)
def test_the_limit(target: Target, acquire: Any) -> None:
    conn, clock = target.conn, target.clock
    release = RELEASES.get(acquire, release_fair_semaphore)
    held = []
    for _ in range(3):
        held.append(acquire(conn, "s", 3, 10, clock))
        clock.sleep(0.001)
        assert held[-1]
    assert acquire(conn, "s", 3, 10, clock) is None
    assert conn.zcard(KEY) == 3  # who was refused leaves nothing behind
    assert release(conn, "s", held[1]) and not release(conn, "s", held[1])
    assert acquire(conn, "s", 3, 10, clock)
    clock.sleep(0.001)
    assert acquire(conn, "s", 3, 10, clock) is None


def test_semaphore(target: Target) -> None:
    a, b, c = (Semaphore(target.new_client(), "s", 2, 5, 0, target.clock) for _ in range(3))
    assert a.acquire() and b.acquire() and not c.acquire()
    assert (a.number, b.number, c.number) == (1, 2, None)
    assert a.refresh() and a.release() and c.acquire() and c.number == 3
    with pytest.raises(RuntimeError, match="not acquired"):
        a.refresh()
    with (
        pytest.raises(TimeoutError, match="was full"),
        Semaphore(target.conn, "s", 2, 5, 0, target.clock),
    ):
        pass
    assert b.release()
    with Semaphore(target.conn, "s", 2, 5, 0, target.clock):
        assert target.conn.zcard(KEY) == 2
    with pytest.raises(SemaphoreLostError), Semaphore(target.conn, "s", 2, 5, 0, target.clock):
        target.conn.delete(KEY)


@pytest.mark.parametrize(("limit", "timeout"), [(0, 1), (-1, 1), (1, 0), (1, -2)])
def test_bad_numbers(target: Target, limit: int, timeout: float) -> None:
    with pytest.raises(ValueError, match="or more, got"):
        Semaphore(target.conn, "s", limit, timeout)


def test_refresh_of_a_lost_one_reports_it_and_makes_nothing(target: Target) -> None:
    conn, clock = target.conn, target.clock
    mine = acquire_fair_semaphore(conn, "s", 1, 10, clock)
    assert mine and refresh_fair_semaphore(conn, "s", mine, clock)
    assert release_fair_semaphore(conn, "s", mine)
    assert not refresh_fair_semaphore(conn, "s", mine, clock)
    assert not conn.exists(KEY) and not conn.exists(f"{KEY}:owner")
    lease = Semaphore(conn, "s", 1, 10, 0, clock)
    assert lease.acquire()
    conn.delete(KEY)
    assert not lease.refresh() and not conn.exists(KEY)


def test_order_is_by_counter(target: Target) -> None:
    """Slow clocks enter later, and stand behind."""
    conn = target.conn
    held = [
        acquire_fair_semaphore(conn, "s", 3, 100, Ahead(target.clock, skew)) for skew in (0, -5, 7)
    ]
    assert acquire_fair_semaphore(conn, "s", 3, 100, Ahead(target.clock, -9)) is None
    assert [as_text(member) for member in conn.zrange(f"{KEY}:owner", 0, -1)] == held


def test_threads(target: Target) -> None:
    if "system" not in target.name:
        pytest.skip("several threads need a clock that moves by itself")
    inside, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(4):
            with Semaphore(target.new_client(), "s", 2, 30, 30):
                with lock:
                    inside += 1
                    most = max(most, inside)
                target.conn.ping()
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert 1 <= most <= 2 and inside == 0
    assert as_text(target.conn.get(f"{KEY}:counter")) == "20"


def test_cluster(cluster: RedisCluster) -> None:
    for name in ("x", "y", "z"):
        a, b = (Semaphore(cluster, name, 1, 5, 0) for _ in range(2))
        assert a.acquire() and not b.acquire() and a.refresh()
        assert a.release() and b.acquire() and b.number == 2


# -- to the millisecond ----------------------------------------------------------------------


def test_a_lease_ends_after_its_last_ms(timed: Target) -> None:
    a, b = (Semaphore(timed.new_client(), "s", 1, 0.5, 0, timed.clock) for _ in range(2))
    assert a.acquire()
    timed.clock.sleep(0.4)
    assert a.refresh()
    timed.clock.sleep(0.5)
    assert not b.acquire() and a.refresh()
    timed.clock.sleep(0.501)
    assert not a.refresh() and b.acquire() and not a.release() and b.release()
    assert a.acquire()
    before = timed.clock.time()
    assert b.acquire(5)
    assert timed.clock.time() - before == pytest.approx(0.501, abs=0.0015)


@pytest.mark.parametrize("acquire", ACQUIRES)
def test_a_crashed_holder_gives_its_place_back(timed: Target, acquire: Any) -> None:
    assert acquire(timed.conn, "s", 1, 0.5, timed.clock)
    timed.clock.sleep(0.498)
    assert acquire(timed.conn, "s", 1, 0.5, timed.clock) is None
    timed.clock.sleep(0.004)
    assert acquire(timed.conn, "s", 1, 0.5, timed.clock)


@pytest.mark.slow
def test_a_lease_in_real_time(real_time: Target) -> None:
    assert Semaphore(real_time.conn, "s", 1, 0.3, 0).acquire()
    before = real_time.clock.time()
    assert Semaphore(real_time.conn, "s", 1, 0.3, 5).acquire()
    assert 0.29 < real_time.clock.time() - before < 2


# -- how the naive ones fail -----------------------------------------------------------------


def test_a_slow_clock_takes_a_place_that_another_has(timed: Target) -> None:
    conn = timed.conn
    slow = Ahead(timed.clock, -0.1)
    assert acquire_semaphore(conn, "s", 1, 10, timed.clock)
    assert acquire_semaphore(conn, "s", 1, 10, slow)  # and now two hold
    conn.flushall()
    for acquire in (acquire_fair_semaphore, acquire_semaphore_with_lock):
        conn.delete(KEY, f"{KEY}:owner")
        assert acquire(conn, "s", 1, 10, timed.clock)
        assert acquire(conn, "s", 1, 10, slow) is None


def test_a_fast_clock_throws_others_out(timed: Target) -> None:
    """Also from the fair one. Not from the one that asks the server's clock."""
    fast = Ahead(timed.clock, 11)
    for acquire in (acquire_semaphore, acquire_fair_semaphore):
        timed.conn.flushall()
        assert acquire(timed.conn, "s", 1, 10, timed.clock)
        assert acquire(timed.conn, "s", 1, 10, fast)
    timed.conn.flushall()
    assert Semaphore(timed.conn, "s", 1, 10, 0, timed.clock).acquire()
    assert not Semaphore(timed.conn, "s", 1, 10, 0, fast).acquire()


def two_at_once(acquire: Any, order: str) -> list[Any]:
    s = Scheduler(order=order)
    for name in "ab":
        s.add(name, lambda actor: acquire(actor.conn, "s", 1, 10, actor))
    return [actor.result for actor in s.run().actors]


def test_between_counting_and_entering_another_enters() -> None:
    # a counts 1; b counts 2, enters with rank 0; a enters below it, with rank 0 too.
    assert all(two_at_once(acquire_fair_semaphore, "abba"))
    # Under the lock b cannot count in between: it asks for 10 ms and gives up.
    results = two_at_once(acquire_semaphore_with_lock, "aab" + "b" * 11 + "aa")
    assert results[0] and results[1] is None


def test_a_crash_in_the_naive_refresh_makes_a_lost_place_again() -> None:
    def play(refresh: Any) -> int:
        s = Scheduler(order="a")
        s.add("a", lambda actor: refresh(actor.conn, "s", "lost", actor), crash_at=2)
        s.run()
        return int(s.client().exists(KEY))

    assert play(refresh_fair_semaphore_naive) == 1
    assert play(refresh_fair_semaphore) == 0


# -- schedules -------------------------------------------------------------------------------

LIMIT = 2
TIMEOUT_S = 2.0


class Places:
    """Who is in, by true time: until it leaves, or *lease_s* after it came or refreshed."""

    def __init__(self, scheduler: Scheduler, lease_s: float) -> None:
        self.scheduler, self.lease_s = scheduler, lease_s
        self.ends: dict[str, float] = {}

    def running(self) -> list[str]:
        return [name for name, end in self.ends.items() if self.scheduler.now < end]

    def entered(self, actor: Actor) -> None:
        self.ends[actor.name] = self.scheduler.now + self.lease_s
        assert len(self.running()) <= LIMIT, f"{self.running()} are in"

    def left(self, actor: Actor) -> None:
        del self.ends[actor.name]


def play_semaphore(seed: int) -> None:
    chance = Chance(pause=0.05, pause_s=2 * TIMEOUT_S, crash=0.01, skew_s=60)
    s = Scheduler(seed, chance, decode_responses=bool(seed % 2))
    places = Places(s, TIMEOUT_S)
    numbers: list[int] = []
    look = s.client()

    def body(actor: Actor) -> None:
        for _ in range(2):
            semaphore = Semaphore(actor.conn, "s", LIMIT, TIMEOUT_S, 600, actor)
            assert semaphore.acquire(), "crashed holders blocked for ever"
            places.entered(actor)
            assert semaphore.number is not None
            numbers.append(semaphore.number)
            actor.sleep(s.rng.uniform(0, 0.3))
            if semaphore.refresh():
                assert s.now <= places.ends[actor.name] + 0.001, "a lost place was refreshed"
                places.entered(actor)
            else:
                assert s.now >= places.ends[actor.name], "a place was lost before its time"
                score = look.zscore(KEY, str(semaphore.identifier))
                assert score is None or score < s.clock.ms(), "a lost place was made again"
            actor.sleep(s.rng.uniform(0, 0.1))
            released, left_s = semaphore.release(), places.ends[actor.name] - s.now
            if abs(left_s) > 0.001:
                assert released == (left_s > 0)
            places.left(actor)

    for name in "abcd":
        s.add(name, body)
    s.run()
    assert numbers == sorted(set(numbers)), "entries are not in the order of the counter"


def test_schedules_of_semaphore() -> None:
    """Crashes, stalls longer than the lease, clocks wrong by a minute."""
    run_schedules(play_semaphore)


SKEW_S = 0.25


def play_semaphore_with_lock(seed: int) -> None:
    s = Scheduler(seed, Chance(crash=0.01, skew_s=SKEW_S), decode_responses=bool(seed % 2))
    # A clock that is fast ends the lease of one that is slow so much early.
    places = Places(s, TIMEOUT_S - 2 * SKEW_S - 0.02)

    look = s.client()

    def body(actor: Actor) -> None:
        for _ in range(2):
            end = actor.time() + 60
            while True:
                mine = acquire_semaphore_with_lock(actor.conn, "s", LIMIT, TIMEOUT_S, actor)
                if mine:
                    break
                assert actor.time() < end, "crashed holders blocked for ever"
                actor.sleep(s.rng.uniform(0.1, 0.3))
            places.entered(actor)
            actor.sleep(s.rng.uniform(0, 0.5))
            if refresh_fair_semaphore(actor.conn, "s", mine, actor):
                places.entered(actor)
            owners = look.zrange(f"{KEY}:owner", 0, -1, withscores=True)
            assert [n for _, n in owners] == sorted({n for _, n in owners})
            actor.sleep(s.rng.uniform(0, 0.5))
            assert release_fair_semaphore(actor.conn, "s", mine)
            places.left(actor)

    for name in "abc":
        s.add(name, body)
    s.run()


def test_schedules_of_the_fair_semaphore_with_lock() -> None:
    run_schedules(play_semaphore_with_lock)
