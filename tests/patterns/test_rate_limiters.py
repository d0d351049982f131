"""Rate limiters: limits to the ms, races of the naive ones, memory, random schedules."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from redis.cluster import RedisCluster

import miniredis
from patterns import rate_limiters as rl
from patterns.text import as_text
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

LIMIT, WINDOW = 3, 10.0
RATE = LIMIT / WINDOW
MS = 0.001
Limiter = Callable[[Any, str], bool]


def take_filled(conn: Any, name: str) -> bool:
    """The token bucket, with the timer's work done by whoever asks."""
    rl.fill_bucket(conn, name, LIMIT, RATE)
    return rl.take_token(conn, name)


FIXED: dict[str, Limiter] = {
    "fixed_window": lambda conn, name: rl.fixed_window(conn, name, LIMIT, WINDOW),
    "fixed_window_set_nx": lambda conn, name: rl.fixed_window_set_nx(conn, name, LIMIT, WINDOW),
}
SLIDING: dict[str, Limiter] = {
    "sliding_window": lambda conn, name: rl.sliding_window(conn, name, LIMIT, WINDOW),
}
BUCKETS: dict[str, Limiter] = {
    "token_bucket": take_filled,
    "leaky_bucket": lambda conn, name: rl.leaky_bucket(conn, name, LIMIT, RATE),
    "gcra": lambda conn, name: rl.gcra(conn, name, LIMIT, WINDOW).allowed,
}
SOUND = FIXED | SLIDING | BUCKETS
SLACK = {"token_bucket": 1}  # a timer's tick may fall just after a burst
each = pytest.mark.parametrize("limiter", SOUND)


@each
def test_the_limit_is_kept_for_each_name(target: Target, limiter: str) -> None:
    allow = SOUND[limiter]
    assert [allow(target.conn, "ann") for _ in range(LIMIT + 2)] == [True] * LIMIT + [False] * 2
    assert allow(target.conn, "bob")


@each
def test_all_clients_share_one_limit(target: Target, limiter: str) -> None:
    clients = [target.new_client() for _ in range(LIMIT + 2)]
    assert sum(SOUND[limiter](client, "ann") for client in clients) == LIMIT


def first_pass_ms(target: Target, allow: Limiter, around_ms: int) -> int:
    """The ms after now, near *around_ms*, at which the next request passes."""
    target.clock.sleep((around_ms - 2) * MS)
    for ms in itertools.count(around_ms - 2):
        if allow(target.conn, "ann"):
            return ms
        assert ms < around_ms + 10
        target.clock.sleep(MS)
    raise AssertionError


@pytest.mark.parametrize(
    ("limiter", "ms"),
    # A key lives to the end of its ms, so a fixed window is one ms longer. The interval of
    # 3 in 10 s is 3333.334 ms, and the first whole ms after it 3334.
    [*((name, 10_001) for name in FIXED), ("sliding_window", 10_000)]
    + [(name, 3_334) for name in BUCKETS],
)
def test_the_next_request_passes_at_its_ms(timed: Target, limiter: str, ms: int) -> None:
    allow = SOUND[limiter]
    for _ in range(LIMIT):
        assert allow(timed.conn, "ann")
    assert first_pass_ms(timed, allow, ms) == ms


def test_one_per_window(timed: Target) -> None:
    def allow(conn: Any, name: str) -> bool:
        return rl.one_per_window(conn, name, 60)

    assert allow(timed.conn, "ann") and not allow(timed.conn, "ann")
    assert first_pass_ms(timed, allow, 60_001) == 60_001


@each
def test_twice_the_limit_at_the_edge_of_fixed_windows_only(timed: Target, limiter: str) -> None:
    allow = SOUND[limiter]
    allow(timed.conn, "ann")  # opens the window
    timed.clock.sleep(WINDOW - 0.01)
    passed = sum(allow(timed.conn, "ann") for _ in range(2 * LIMIT))
    timed.clock.sleep(0.02)
    passed += sum(allow(timed.conn, "ann") for _ in range(2 * LIMIT))
    # Within 20 ms: 2 of the old window and 3 of the new; elsewhere no more than 3, but for a
    # timer that puts in a token just then.
    assert passed == (2 * LIMIT - 1 if limiter in FIXED else LIMIT + SLACK.get(limiter, 0))


def test_gcra_says_when_to_come_again(timed: Target) -> None:
    def ask() -> rl.Decision:
        return rl.gcra(timed.conn, "ann", 2, 10, burst=3)

    assert [ask() for _ in range(3)] == [
        (True, 2, 0, 5), (True, 1, 0, 10), (True, 0, 0, 15),
    ]  # fmt: skip
    assert ask() == (False, 0, 5, 15)
    timed.clock.sleep(4.999)
    refused = ask()
    assert not refused.allowed and refused.retry_after == pytest.approx(0.001)
    timed.clock.sleep(refused.retry_after)
    assert ask() == (True, 0, 0, 15)


def test_gcra_keeps_an_interval_that_is_no_whole_number_of_us(timed: Target) -> None:
    """3 in 1 s, asked for ever: not one more than 3 a second."""
    passed = 0
    for _ in range(1_000):
        passed += rl.gcra(timed.conn, "ann", 3, 1, burst=1).allowed
        timed.clock.sleep(0.01)
    assert passed == 30


# -- bad input ----------------------------------------------------------------------------


def test_bad_input_is_told(target: Target) -> None:
    conn = target.conn
    for call in (
        lambda: rl.fixed_window(conn, "ann", 3, 0),
        lambda: rl.sliding_window(conn, "ann", 3, -1),
        lambda: rl.gcra(conn, "ann", 0, 1),
        lambda: rl.gcra(conn, "ann", 1, 0),
        lambda: rl.gcra(conn, "ann", 1, 1, burst=0),
        lambda: rl.leaky_bucket(conn, "ann", 3, 0),
        lambda: rl.fill_bucket(conn, "ann", 0, 1),
    ):
        with pytest.raises(ValueError, match="must"):
            call()
    assert target.conn.dbsize() == 0


# -- the naive ones fail --------------------------------------------------------------------


def lock_out(limiter: Any, crash_at: int) -> bool:
    """Whether "ann" is still refused a day after a client died before command *crash_at*."""
    scheduler = Scheduler()
    dying = scheduler.add("dying", lambda a: limiter(a.conn, "ann", 1, WINDOW), crash_at=crash_at)
    scheduler.run()
    assert dying.crashed
    conn = scheduler.client()
    limiter(conn, "ann", 1, WINDOW)
    scheduler.clock.sleep(86_400)
    return not limiter(conn, "ann", 1, WINDOW)


def test_a_crash_between_incr_and_expire_locks_out_for_ever() -> None:
    assert lock_out(rl.fixed_window_naive, crash_at=2)
    assert not lock_out(rl.fixed_window, crash_at=1)
    assert not lock_out(rl.fixed_window_set_nx, crash_at=1)


def test_the_script_mends_what_a_crash_left(timed: Target) -> None:
    timed.conn.incr("limit:fixed:ann", 7)
    assert not rl.fixed_window(timed.conn, "ann", LIMIT, WINDOW)
    timed.clock.sleep(WINDOW + MS)
    assert rl.fixed_window(timed.conn, "ann", LIMIT, WINDOW)


def counter_ttl_after_slow_incr(limiter: Any) -> int:
    """TTL of the counter when INCR arrives after the window that SET has seen."""
    scheduler = Scheduler()
    limiter(scheduler.client(), "ann", LIMIT, WINDOW)
    scheduler.add("slow", lambda a: limiter(a.conn, "ann", LIMIT, WINDOW), pause_at={2: WINDOW + 1})
    scheduler.run()
    return int(scheduler.client().pttl("limit:fixed:ann"))


def test_a_window_that_ends_between_set_and_incr_locks_out_for_ever() -> None:
    assert counter_ttl_after_slow_incr(rl.fixed_window_set_nx_naive) == -1
    assert counter_ttl_after_slow_incr(rl.fixed_window_set_nx) > 0


def passed_of_two(body: Callable[[Actor], bool], order: str, **fixed: Any) -> int:
    """How many of two requests pass where one may."""
    scheduler = Scheduler(order=order)
    actors = [scheduler.add(name, body, **fixed) for name in "ab"]
    scheduler.run()
    return sum(actor.result for actor in actors)


def test_two_that_count_before_either_adds_pass_both() -> None:
    naive = passed_of_two(lambda a: rl.sliding_window_naive(a.conn, "ann", 1, WINDOW, a), "abab")
    assert naive == 2
    assert passed_of_two(lambda a: rl.sliding_window(a.conn, "ann", 1, WINDOW), "ab") == 1


def test_two_that_read_the_same_level_pass_both() -> None:
    naive = passed_of_two(lambda a: rl.leaky_bucket_naive(a.conn, "ann", 1, 0.1, a), "ab")
    assert naive == 2
    assert passed_of_two(lambda a: rl.leaky_bucket(a.conn, "ann", 1, 0.1), "ab") == 1


def test_a_clock_ahead_trims_what_still_counts(timed: Target) -> None:
    ahead = Scheduler().add("ahead", lambda a: None, skew_s=0)  # only for its clock's shape

    class Ahead:
        def time(self) -> float:
            return float(timed.clock.time()) + WINDOW

        sleep = ahead.sleep

    assert rl.sliding_window_naive(timed.conn, "ann", 1, WINDOW, timed.clock)
    assert rl.sliding_window_naive(timed.conn, "ann", 1, WINDOW, Ahead())  # wrongly


def test_requests_of_one_instant_count_once_in_the_naive_window(timed: Target) -> None:
    naive = [rl.sliding_window_naive(timed.conn, "ann", 2, WINDOW, timed.clock) for _ in range(9)]
    assert all(naive)
    assert [rl.sliding_window(timed.conn, "bob", 2, WINDOW) for _ in range(9)].count(True) == 2


def test_a_bucket_that_nobody_empties(timed: Target) -> None:
    conn = timed.conn
    for _ in range(500):
        rl.fill_bucket_naive(conn, "naive")
        rl.fill_bucket(conn, "ann", 5, 1)
        timed.clock.sleep(1)
    assert sum(rl.take_token(conn, "naive") for _ in range(1_000)) == 500
    assert sum(rl.take_token(conn, "ann") for _ in range(1_000)) == 5


def test_two_timers_fill_no_faster(timed: Target) -> None:
    conn = timed.conn
    rl.fill_bucket(conn, "ann", 10, 1)
    while rl.take_token(conn, "ann"):
        pass
    for _ in range(5):
        timed.clock.sleep(1)
        for _timer in range(2):
            rl.fill_bucket(conn, "ann", 10, 1)
            rl.fill_bucket_naive(conn, "naive")
    assert sum(rl.take_token(conn, "ann") for _ in range(20)) == 5
    assert sum(rl.take_token(conn, "naive") for _ in range(20)) == 10


def test_a_bucket_timer_fills_until_told_to_stop() -> None:
    scheduler = Scheduler()
    rl.fill_bucket(scheduler.client(), "ann", 3, 2)
    end = scheduler.now + 10

    def take(actor: Actor) -> int:
        passed = 0
        while scheduler.now < end:
            passed += rl.take_token(actor.conn, "ann")
            actor.sleep(0.05)
        return passed

    stopped = lambda: scheduler.now >= end  # noqa: E731
    scheduler.add("timer", lambda a: rl.bucket_timer(a.conn, "ann", 3, 2, a, stopped))
    taker = scheduler.add("taker", take)
    scheduler.run()
    assert taker.result == 3 + 2 * 10 - 1  # the last token would come at the end itself


# -- memory ---------------------------------------------------------------------------------

# What a limiter of 100 requests may keep under one name: entries on all targets, and bytes on
# the real server, which measures them; keys, their expiry and allocator's rounding included.
MEMORY = {
    "fixed_window": (1, 150),
    "fixed_window_set_nx": (1, 150),
    "sliding_window": (100, 6_000),
    "token_bucket": (101, 2_000),
    "leaky_bucket": (2, 200),
    "gcra": (1, 150),
}


def limiter_of(name: str, limit: int) -> Limiter:
    def take(conn: Any, who: str) -> bool:
        rl.fill_bucket(conn, who, limit, limit / WINDOW)
        return rl.take_token(conn, who)

    return {
        "fixed_window": lambda c, who: rl.fixed_window(c, who, limit, WINDOW),
        "fixed_window_set_nx": lambda c, who: rl.fixed_window_set_nx(c, who, limit, WINDOW),
        "sliding_window": lambda c, who: rl.sliding_window(c, who, limit, WINDOW),
        "token_bucket": take,
        "leaky_bucket": lambda c, who: rl.leaky_bucket(c, who, limit, limit / WINDOW),
        "gcra": lambda c, who: rl.gcra(c, who, limit, WINDOW).allowed,
    }[name]


def entries_of(conn: Any) -> int:
    """Entries of all keys: elements, fields, and 1 for a string."""
    size = {"list": conn.llen, "hash": conn.hlen, "zset": conn.zcard, "string": conn.exists}
    return sum(size[as_text(conn.type(key))](key) for key in conn.scan_iter())


@each
def test_memory_is_bounded_however_often_one_asks(timed: Target, limiter: str) -> None:
    conn = timed.conn
    allow = limiter_of(limiter, 100)
    entries, most = MEMORY[limiter]
    for _ in range(3):
        for _ in range(150):
            allow(conn, "ann")
        assert 0 < entries_of(conn) <= entries
        if timed.name.startswith("real"):
            assert sum(conn.memory_usage(key, samples=0) for key in conn.scan_iter()) <= most
        timed.clock.sleep(WINDOW / 2)


@each
def test_nothing_is_left_of_a_name_that_does_not_ask(timed: Target, limiter: str) -> None:
    SOUND[limiter](timed.conn, "ann")
    timed.clock.sleep(WINDOW + 2 * MS)
    left = {"token_bucket": 1}.get(limiter, 0)  # its tokens
    assert sum(timed.conn.exists(key) for key in list(timed.conn.scan_iter())) == left


# -- random schedules -------------------------------------------------------------------------

STORM = Chance(latency=0.4, pause=0.05, pause_s=6, crash=0.02, skew_s=30)
CLIENTS, REQUESTS, TIMERS = 3, 4, 2


@dataclass
class Played:
    """Of one schedule: when requests passed, and when timers filled the bucket, in µs."""

    passed: list[int] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)


def play(limiter: str, seed: int) -> Played:
    """Several clients ask, pause and crash; so do the timers of the token bucket."""
    scheduler = Scheduler(seed, STORM)
    played = Played()
    end = scheduler.now + 2 * WINDOW
    allow = rl.take_token if limiter == "token_bucket" else SOUND[limiter]

    def ask(actor: Actor) -> None:
        for _ in range(REQUESTS):
            # What follows a command happens at the instant at which the server ran it.
            if allow(actor.conn, "ann"):
                played.passed.append(scheduler.now_us)
            actor.sleep(scheduler.rng.choice((0, 0.5, 3)))

    def fill(actor: Actor) -> None:
        while scheduler.now < end:
            rl.fill_bucket(actor.conn, "ann", LIMIT, RATE)
            played.filled.append(scheduler.now_us)
            actor.sleep(1 / RATE)

    for i in range(CLIENTS):
        scheduler.add(f"client {i}", ask)
    for i in range(TIMERS if limiter == "token_bucket" else 0):
        scheduler.add(f"timer {i}", fill)
    scheduler.run()
    scheduler.clock.sleep(2 * WINDOW)
    assert SOUND[limiter](scheduler.client(), "ann"), "locked out"
    return played


def most_within(instants: list[int], us: float) -> int:
    """The most of *instants* in any window, which has its first instant but not its last."""
    return max((sum(a <= b < a + us for b in instants) for a in instants), default=0)


@pytest.mark.parametrize("limiter", FIXED)
def test_fixed_windows_in_random_schedules(limiter: str) -> None:
    def check(seed: int) -> None:
        passed = play(limiter, seed).passed
        assert most_within(passed, WINDOW * 1e6) <= 2 * LIMIT
        # Windows as the counter has them: each begins with the first request after the last.
        while passed:
            window = [us for us in passed if us // 1000 <= passed[0] // 1000 + WINDOW * 1e3]
            assert len(window) <= LIMIT
            passed = passed[len(window) :]

    run_schedules(check)


@pytest.mark.parametrize("limiter", SLIDING | BUCKETS)
def test_the_others_in_random_schedules(limiter: str) -> None:
    def check(seed: int) -> None:
        played = play(limiter, seed)
        passed = played.passed
        if limiter in SLIDING:
            assert most_within(passed, WINDOW * 1e6) <= LIMIT
            return
        gap = max((b - a for a, b in itertools.pairwise(played.filled)), default=0)
        for i, j in itertools.combinations(range(len(passed)), 2):
            most = LIMIT + RATE * (passed[j] - passed[i] + gap) / 1e6 + SLACK.get(limiter, 0)
            assert j - i + 1 <= most + 1e-9

    run_schedules(check)


def test_the_schedules_catch_a_naive_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def naive(conn: Any, name: str) -> bool:
        return rl.sliding_window_naive(conn, name, LIMIT, WINDOW, getattr(conn, "actor", time))

    monkeypatch.setitem(SOUND, "naive", naive)
    with pytest.raises(AssertionError):
        run_schedules(lambda seed: check_most(play("naive", seed).passed), 20)


def check_most(passed: list[int]) -> None:
    assert most_within(passed, WINDOW * 1e6) <= LIMIT


# -- threads ----------------------------------------------------------------------------------


def passed_by_threads(new_client: Callable[[], Any], limiter: str) -> int:
    """How many of 8 threads' 10 requests each pass at once, where 20 may."""
    allow, passed = limiter_of(limiter, 20), []

    def ask() -> None:
        conn = new_client()
        for _ in range(10):
            if allow(conn, "ann"):
                passed.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    late = time.monotonic() - start  # on a slow machine buckets have leaked meanwhile
    assert 20 <= len(passed) <= 21 + (int(2 * late) if limiter in BUCKETS else 0)
    return len(passed)


@each
def test_threads_share_a_limit(limiter: str) -> None:
    passed = passed_by_threads(miniredis.Server(seed=7).client, limiter)
    assert passed == 20 or limiter in BUCKETS


# -- cluster, and real time -------------------------------------------------------------------


@each
def test_in_a_cluster(cluster: RedisCluster, limiter: str) -> None:
    for name in ("ann", "bob", "cid"):
        assert [SOUND[limiter](cluster, name) for _ in range(LIMIT + 1)] == [True] * 3 + [False]


@pytest.mark.slow
def test_in_real_time(real_time: Target) -> None:
    for name in SOUND:
        real_time.conn.flushall()  # two of them count under the same key
        passed_by_threads(real_time.new_client, name)
    for name in SOUND:
        real_time.conn.flushall()
        allow = limiter_of(name, 20)  # 20 in 10 s
        passed = []
        start = time.monotonic()
        while (now := time.monotonic() - start) < 6:
            if allow(real_time.conn, name):
                passed.append(now)
            time.sleep(0.01)
        assert 20 <= len(passed) <= 20 + 2 * 6 + 1
        assert (len(passed) > 20) == (name in BUCKETS)
