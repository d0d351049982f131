"""Locks: who may hold them, and what becomes of those who crash, stall or come late."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from redis.cluster import RedisCluster

from patterns.locks import (
    Lock,
    LockLostError,
    acquire_lock,
    acquire_lock_with_timeout,
    acquire_token_apart_naive,
    lock_key,
    release_lock,
    release_lock_str_naive,
    release_lock_unchecked_naive,
    release_lock_unwatched_naive,
    write_fenced,
)
from patterns.text import same
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

KEY = lock_key("x")

# -- on every target -------------------------------------------------------------------------


def test_acquire_and_release(target: Target) -> None:
    conn = target.conn
    mine = acquire_lock(conn, "x", 0, target.clock)
    assert mine and same(conn.get(KEY), mine) and conn.ttl(KEY) == -1
    assert acquire_lock(conn, "x", 0, target.clock) is None
    assert not release_lock(conn, "x", "somebody else")
    assert release_lock(conn, "x", mine) and not release_lock(conn, "x", mine)
    assert not conn.exists(KEY)


def test_acquire_with_timeout(target: Target) -> None:
    conn = target.conn
    mine = acquire_lock_with_timeout(conn, "x", 0, 2.5, target.clock)
    assert mine and 2 <= conn.ttl(KEY) <= 3  # rounded up
    conn.persist(KEY)  # as after a crash between SETNX and EXPIRE
    assert acquire_lock_with_timeout(conn, "x", 0, 7, target.clock) is None
    assert 6 <= conn.ttl(KEY) <= 7
    assert release_lock(conn, "x", mine)


def test_lock(target: Target) -> None:
    a = Lock(target.conn, "x", 5, 0, target.clock)
    b = Lock(target.new_client(), "x", 5, 0, target.clock)
    assert a.acquire() and not b.acquire()
    assert a.token == 1 and b.token is None
    assert a.extend(9) and 8000 < target.conn.pttl(KEY) <= 9000
    assert a.release() and b.acquire() and b.token == 2
    with pytest.raises(RuntimeError, match="not acquired"):
        a.release()


def test_lock_as_a_context(target: Target) -> None:
    with Lock(target.conn, "x", 5, 0, target.clock) as lock:
        assert same(target.conn.get(KEY), str(lock.identifier))
        with pytest.raises(TimeoutError), Lock(target.conn, "x", 5, 0, target.clock):
            pass
    assert not target.conn.exists(KEY)
    with pytest.raises(LockLostError), Lock(target.conn, "x", 5, 0, target.clock):
        target.conn.set(KEY, "another's")
    assert same(target.conn.get(KEY), "another's")
    target.conn.delete(KEY)
    lost = Lock(target.conn, "x", 5, 0, target.clock)
    with pytest.raises(ZeroDivisionError), lock_that_is_lost(lost):  # which is not hidden
        print(1 / 0)


@contextlib.contextmanager
def lock_that_is_lost(lock: Lock) -> Iterator[None]:
    with lock:
        lock.conn.delete(KEY)
        yield


def test_an_old_token_writes_nothing(target: Target) -> None:
    conn = target.conn
    assert write_fenced(conn, "data", 9, "a") and write_fenced(conn, "data", 9, "b")
    assert write_fenced(conn, "data", 10, "c") and not write_fenced(conn, "data", 9, "d")
    assert same(conn.hget("data", "value"), "c")


def test_threads(target: Target) -> None:
    """Unprotected increments under a lock: none is lost."""
    if "virtual" in target.name or "real" in target.name:
        pytest.skip("several threads need a clock that moves by itself")

    def work() -> None:
        conn = target.new_client()
        for _ in range(5):
            with Lock(conn, "x", 30, 30):
                conn.set("n", int(conn.get("n") or 0) + 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert same(target.conn.get("n"), "20") and same(target.conn.get(f"{KEY}:fence"), "20")


def test_cluster(cluster: RedisCluster) -> None:
    for name in ("x", "y", "z"):
        with Lock(cluster, name, 5, 0) as lock:
            assert lock.token == 1 and lock.extend()
            assert not Lock(cluster, name, 5, 0).acquire()
        assert not cluster.exists(lock_key(name))


@pytest.mark.parametrize("lease", [0, -1, 0.0004])
def test_a_lease_must_last(target: Target, lease: float) -> None:
    with pytest.raises(ValueError, match="must be 0"):
        Lock(target.conn, "x", lease)


# -- to the millisecond ----------------------------------------------------------------------


def test_a_lease_ends_after_its_last_ms(timed: Target) -> None:
    a = Lock(timed.conn, "x", 0.5, 0, timed.clock)
    b = Lock(timed.new_client(), "x", 0.5, 0, timed.clock)
    assert a.acquire()
    timed.clock.sleep(0.5)
    assert not b.acquire() and a.extend(0.1)
    timed.clock.sleep(0.1)
    assert not b.acquire()
    timed.clock.sleep(0.001)
    assert b.acquire() and not a.extend() and not a.release()
    assert same(timed.conn.get(KEY), str(b.identifier))


def test_waiting_ends_at_its_time(timed: Target) -> None:
    assert acquire_lock(timed.conn, "x", 0, timed.clock)
    for acquire in (acquire_lock, lambda *a: acquire_lock_with_timeout(*a[:3], 99, a[3])):
        before = timed.clock.time()
        assert acquire(timed.conn, "x", 0.2, timed.clock) is None
        assert timed.clock.time() - before == pytest.approx(0.2, abs=0.0015)
    before = timed.clock.time()
    assert not Lock(timed.conn, "x", 1, 0.2, timed.clock).acquire()
    assert timed.clock.time() - before == pytest.approx(0.2, abs=0.0015)


def test_waiting_ends_when_the_lease_does(timed: Target) -> None:
    assert Lock(timed.conn, "x", 0.3, 0, timed.clock).acquire()  # and crashes
    before = timed.clock.time()
    assert Lock(timed.conn, "x", 1, 5, timed.clock).acquire()
    assert timed.clock.time() - before == pytest.approx(0.301, abs=0.0015)


@pytest.mark.slow
def test_a_lease_in_real_time(real_time: Target) -> None:
    assert Lock(real_time.conn, "x", 0.3, 0).acquire()
    before = real_time.clock.time()
    assert Lock(real_time.conn, "x", 1, 5).acquire()
    assert 0.29 < real_time.clock.time() - before < 2
    assert acquire_lock_with_timeout(real_time.conn, "y", 0, 1)
    before = real_time.clock.time()
    assert acquire_lock_with_timeout(real_time.conn, "y", 5, 1)
    assert 0.9 < real_time.clock.time() - before < 3


# -- how the naive ones fail -----------------------------------------------------------------


def test_a_crashed_holder_of_acquire_lock_blocks_for_ever(timed: Target) -> None:
    assert acquire_lock(timed.conn, "x", 0, timed.clock)  # and crashes
    timed.clock.sleep(100 * 24 * 3600 if timed.name.startswith("virtual") else 60)
    assert acquire_lock(timed.new_client(), "x", 0.01, timed.clock) is None


def test_an_unchecked_release_frees_anothers_lock(timed: Target) -> None:
    late, other = (Lock(timed.new_client(), "x", 0.5, 0, timed.clock) for _ in range(2))
    assert late.acquire()
    timed.clock.sleep(0.501)
    assert other.acquire()
    assert not late.release() and timed.conn.exists(KEY)
    release_lock_unchecked_naive(late.conn, "x")
    assert not timed.conn.exists(KEY)


def late_release(release: Any, order: str) -> tuple[bool, bool]:
    """a's lease ends during its release, b acquires: does b keep its lock? And a's answer."""
    s = Scheduler(order=order)
    identifiers = {}

    def a(actor: Actor) -> bool:
        actor.conn.set(KEY, "a", px=500)
        actor.sleep(0.5)
        return bool(release(actor.conn, "x", "a"))

    def b(actor: Actor) -> None:
        actor.sleep(0.501)
        identifiers["b"] = acquire_lock(actor.conn, "x", 0, actor)

    first = s.add("a", a)
    s.add("b", b)
    s.run()
    assert identifiers["b"]
    return same(s.client().get(KEY), identifiers["b"]), first.result


def test_a_release_that_is_not_watched_frees_anothers_lock() -> None:
    # a: SET, (sleep), GET; b: (sleep), SETNX; a: DEL.
    assert late_release(release_lock_unwatched_naive, "aaabba") == (False, True)
    # a: SET, (sleep), WATCH, GET; b: SETNX; a: EXEC fails, WATCH, GET.
    assert late_release(release_lock, "aaaabbaaa") == (True, False)


@pytest.mark.parametrize("decode", [False, True])
def test_a_comparison_of_str_with_bytes_never_releases(decode: bool) -> None:
    conn = Scheduler(decode_responses=decode).client()
    mine = acquire_lock(conn, "x")
    assert mine
    assert release_lock_str_naive(conn, "x", mine) is decode
    assert release_lock(conn, "x", mine) is not decode


def test_a_stall_between_setnx_and_expire_lets_two_in() -> None:
    """a: SETNX; b: TTL, EXPIRE 1, and spins until that has run out; a: EXPIRE, on b's lock."""

    def with_timeout(actor: Actor) -> tuple[str | None, float]:
        mine = acquire_lock_with_timeout(actor.conn, "x", 5, 1, actor)
        return mine, actor.scheduler.now

    def play(body: Any) -> tuple[Any, Any, Any]:
        s = Scheduler(order="a")
        a, b = s.add("a", body, pause_at={2: 1.5}), s.add("b", body)
        s.run()
        return a.result, b.result, s.client().get(KEY)

    (mine_a, at_a), (mine_b, at_b), kept = play(with_timeout)
    assert mine_a and mine_b and at_b < at_a < at_b + 1  # while b's lease runs
    assert same(kept, mine_b)

    def sound(actor: Actor) -> float:
        assert Lock(actor.conn, "x", 1, 5, actor).acquire()
        return actor.scheduler.now

    at_a, at_b, _ = play(sound)
    assert at_b - at_a == pytest.approx(1, abs=0.002)


def test_a_token_drawn_apart_comes_out_of_order() -> None:
    def apart(actor: Actor) -> Any:
        if actor.name == "b":
            actor.sleep(0.501)
        return acquire_token_apart_naive(actor.conn, "x", 0.5)

    s = Scheduler()
    a = s.add("a", apart, pause_at={2: 0.6})
    b = s.add("b", apart)
    s.run()
    assert b.result[1] < a.result[1]  # a was first, and its lease is over

    def together(actor: Actor) -> Any:
        if actor.name == "b":
            actor.sleep(0.501)
        lock = Lock(actor.conn, "x", 0.5, 0, actor)
        assert lock.acquire()
        return lock.token

    s = Scheduler()
    a = s.add("a", together, pause_at={2: 0.6})
    b = s.add("b", together)
    s.run()
    assert a.result < b.result


# -- schedules -------------------------------------------------------------------------------

LEASE_S = 1


class Holders:
    """Who holds the lock, by true time. Entered at the instant of the server's command."""

    def __init__(self, scheduler: Scheduler, lease_s: float | None) -> None:
        self.scheduler, self.lease_s = scheduler, lease_s
        self.holder: tuple[str, str, float] | None = None  # client, identifier, end of lease
        self.look = scheduler.client()
        self.tokens: list[int] = []

    def running(self) -> bool:
        return self.holder is not None and self.scheduler.now <= self.holder[2]

    def entered(self, actor: Actor, identifier: str) -> None:
        assert not self.running(), f"{actor.name} entered while {self.holder} held it"
        lease = float("inf") if self.lease_s is None else self.lease_s
        self.holder = (actor.name, identifier, self.scheduler.now + lease)

    def left(self, actor: Actor, released: bool) -> None:
        mine = self.holder is not None and self.holder[0] == actor.name and self.running()
        assert released == mine, f"{actor.name} released: {released}, its lease ran: {mine}"
        if mine:
            self.holder = None
        self.untouched()

    def untouched(self) -> None:
        """Whoever's lease runs has the lock in Redis: nobody freed it."""
        if self.running():
            assert self.holder is not None
            assert same(self.look.get(KEY), self.holder[1]), "another's lock was freed"


def play_lock(seed: int) -> None:
    chance = Chance(pause=0.05, pause_s=3 * LEASE_S, crash=0.01, skew_s=60)
    s = Scheduler(seed, chance, decode_responses=bool(seed % 2))
    holders = Holders(s, LEASE_S)
    accepted: list[int] = []

    def body(actor: Actor) -> None:
        for _ in range(3):
            lock = Lock(actor.conn, "x", LEASE_S, 600, actor)
            assert lock.acquire(), "a crashed holder blocked for ever"
            holders.entered(actor, str(lock.identifier))
            assert lock.token is not None
            holders.tokens.append(lock.token)
            actor.sleep(s.rng.uniform(0, 0.3))
            if write_fenced(actor.conn, "data", lock.token, actor.name):
                accepted.append(lock.token)
            holders.left(actor, lock.release())

    for name in "abcd":
        s.add(name, body)
    s.run()
    assert holders.tokens == sorted(set(holders.tokens)), "tokens do not grow"
    assert accepted == sorted(accepted), "an old token wrote after a new one"
    s.clock.sleep(LEASE_S + 0.001)
    assert Lock(holders.look, "x", 1, 0, s.clock).acquire()


def test_schedules_of_lock() -> None:
    """Crashes, stalls longer than the lease, clocks wrong by a minute."""
    run_schedules(play_lock)


def play_lock_with_timeout(seed: int) -> None:
    # No stall between SETNX and EXPIRE longer than a lease: that is what it cannot bear.
    s = Scheduler(seed, Chance(crash=0.02, skew_s=60), decode_responses=bool(seed % 2))
    holders = Holders(s, LEASE_S)

    def body(actor: Actor) -> None:
        for _ in range(2):
            mine = acquire_lock_with_timeout(actor.conn, "x", 600, LEASE_S, actor)
            assert mine, "a crashed holder blocked for ever"
            holders.entered(actor, mine)
            actor.sleep(s.rng.choice((0.1, 0.2, 1.5 * LEASE_S)))
            holders.left(actor, release_lock(actor.conn, "x", mine))

    for name in "abc":
        s.add(name, body)
    s.run()
    assert acquire_lock_with_timeout(holders.look, "x", 10, LEASE_S, s.clock)


def test_schedules_of_acquire_lock_with_timeout() -> None:
    run_schedules(play_lock_with_timeout)


def play_lock_for_ever(seed: int) -> None:
    s = Scheduler(seed, Chance(pause=0.1, skew_s=60), decode_responses=bool(seed % 2))
    holders = Holders(s, None)

    def body(actor: Actor) -> None:
        for _ in range(2):
            mine = acquire_lock(actor.conn, "x", 600, actor)
            assert mine
            holders.entered(actor, mine)
            assert not release_lock(actor.conn, "x", "not mine")
            holders.untouched()
            holders.left(actor, release_lock(actor.conn, "x", mine))

    for name in "abc":
        s.add(name, body)
    s.run()
    assert not holders.look.exists(KEY)


def test_schedules_of_acquire_lock() -> None:
    """Without crashes, which it cannot bear; with stalls, which it can."""
    run_schedules(play_lock_for_ever)
