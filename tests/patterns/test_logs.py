"""Logs: nothing lost, the newest hundred, one rotation an hour whoever comes."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from patterns.logs import (
    CRITICAL,
    INFO,
    RECENT_MAX,
    SEVERITY,
    Hour,
    common_messages,
    hour_of,
    log_common,
    log_common_unwatched_naive,
    log_recent,
    log_recent_naive,
    recent_key,
    recent_messages,
    severity_name,
)
from patterns.text import as_text
from tests.patterns.conftest import Ahead, Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

HOUR_S = 3600
KEY = "common:web:info"


def to_next_hour(clock: Any) -> float:
    """Seconds until the hour is full."""
    return HOUR_S - float(clock.time()) % HOUR_S


# -- on every target ---------------------------------------------------------------------------


def test_the_newest_hundred(target: Target) -> None:
    for i in range(RECENT_MAX + 3):
        log_recent(target.conn, "web", f"message {i}", clock=target.clock)
    lines = recent_messages(target.conn, "web")
    assert [line.split()[-1] for line in lines] == [str(i) for i in range(102, 2, -1)]
    assert target.conn.llen("recent:web:info") == RECENT_MAX
    assert recent_messages(target.conn, "web", count=1) == lines[:1]
    with pytest.raises(ValueError, match="count"):
        recent_messages(target.conn, "web", count=0)


def test_the_time_stands_before_a_message() -> None:
    class Fixed:
        def time(self) -> float:
            return 1234567890.9

    s = Scheduler()
    log_recent(s.client(), "web", "got up", clock=Fixed())  # type: ignore[arg-type]
    assert recent_messages(s.client(), "web") == ["Fri Feb 13 23:31:30 2009 got up"]
    assert hour_of(1234567890.9) == "2009-02-13T23:00:00"


def test_severities_by_number_and_by_name(target: Target) -> None:
    for number, name in SEVERITY.items():
        for severity in (number, name, name.upper()):
            log_recent(target.conn, "web", "m", severity, clock=target.clock)
            assert log_common(target.conn, "web", "m", severity, clock=target.clock)
        assert target.conn.llen(f"recent:web:{name}") == 6
        assert common_messages(target.conn, "web", number).counts == {"m": 3}
    assert INFO == logging.INFO and CRITICAL == logging.CRITICAL


@pytest.mark.parametrize("severity", [25, 0, "loud", "", True])
def test_bad_severities_are_told(severity: Any) -> None:
    with pytest.raises(ValueError, match=r"10 debug, 20 info.*got"):
        severity_name(severity)


def test_a_pipe_of_the_caller_is_executed_with_it(target: Target) -> None:
    pipe = target.conn.pipeline()
    pipe.set("other", 1)
    log_recent(target.conn, "web", "m", pipe=pipe, clock=target.clock)
    assert target.conn.exists("other") and len(recent_messages(target.conn, "web")) == 1


def test_counts_of_the_running_hour(target: Target) -> None:
    conn, clock = target.conn, target.clock
    assert common_messages(conn, "web") == Hour(None, {})
    for message in ("b", "a", "b", "c", "b", "c"):
        assert log_common(conn, "web", message, "info", clock=clock)
    start = as_text(conn.get(f"{KEY}:start"))
    assert common_messages(conn, "web") == Hour(start, {"b": 3, "c": 2, "a": 1})
    assert list(common_messages(conn, "web", count=2).counts) == ["b", "c"]
    assert common_messages(conn, "web", last=True) == Hour(None, {})
    assert len(recent_messages(conn, "web")) == 6
    with pytest.raises(ValueError, match="count"):
        common_messages(conn, "web", count=-1)


def test_an_old_hour_is_put_aside(target: Target) -> None:
    """Also one of which only the start is left, or one long past."""
    conn, clock = target.conn, target.clock
    now = hour_of(clock.time())
    conn.set(f"{KEY}:start", "2001-09-09T01:00:00")
    conn.zadd(KEY, {"old": 7})
    assert log_common(conn, "web", "new", "info", clock=clock)
    assert common_messages(conn, "web", last=True) == Hour("2001-09-09T01:00:00", {"old": 7})
    assert common_messages(conn, "web").counts == {"new": 1}
    assert as_text(conn.get(f"{KEY}:start")) >= now
    conn.delete(KEY)
    conn.set(f"{KEY}:start", "2002-09-09T01:00:00")
    assert log_common(conn, "web", "newer", "info", clock=clock)
    assert common_messages(conn, "web", last=True) == Hour("2002-09-09T01:00:00", {})
    assert common_messages(conn, "web").counts == {"newer": 1}


def test_a_slow_clock_counts_into_the_hour_that_is(target: Target) -> None:
    conn, clock = target.conn, target.clock
    assert log_common(conn, "web", "m", "info", clock=clock)
    before = conn.get(f"{KEY}:start")
    assert log_common(conn, "web", "m", "info", clock=Ahead(clock, -5 * HOUR_S))
    assert conn.get(f"{KEY}:start") == before and not conn.exists(f"{KEY}:last")
    assert common_messages(conn, "web").counts == {"m": 2}


class Meddler:
    """A clock that, when asked, has another client write the start of the hour."""

    def __init__(self, target: Target, most: int = 10**9) -> None:
        self.base, self.other, self.left = target.clock, target.new_client(), most

    def time(self) -> float:
        if self.left:
            self.left -= 1
            self.other.set(f"{KEY}:start", "2001-09-09T01:00:00")
        return float(self.base.time())

    def sleep(self, seconds: float) -> None:
        self.base.sleep(seconds)


def test_disturbed_it_tries_again(target: Target) -> None:
    assert log_common(target.conn, "web", "m", "info", 60, Meddler(target, 9))
    assert common_messages(target.conn, "web").counts == {"m": 1}
    assert len(recent_messages(target.conn, "web")) == 1


def test_it_gives_up_at_once_and_says_so(target: Target) -> None:
    assert not log_common(target.conn, "web", "m", "info", 0, Meddler(target))
    assert not target.conn.exists(KEY, recent_key("web"))
    assert log_common(target.conn, "web", "m", "info", 0, target.clock)


def test_threads(target: Target) -> None:
    if "system" not in target.name:
        pytest.skip("several threads need a clock that moves by itself")

    def work() -> None:
        conn = target.new_client()
        for _ in range(5):
            assert log_common(conn, "web", "m", "info")

    target.conn.set(f"{KEY}:start", "2001-09-09T01:00:00")
    target.conn.zadd(KEY, {"old": 7})
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    last = common_messages(target.conn, "web", last=True).counts.get("m", 0)  # at a full hour
    assert common_messages(target.conn, "web").counts["m"] + last == 20
    assert len(recent_messages(target.conn, "web")) == 20


# -- to the millisecond --------------------------------------------------------------------------


def test_the_hour_ends_with_its_last_ms(timed: Target) -> None:
    conn, clock = timed.conn, timed.clock
    clock.sleep(to_next_hour(clock) + 1)
    first = hour_of(clock.time())
    assert log_common(conn, "web", "a", "info", clock=clock)
    clock.sleep(to_next_hour(clock) - 0.001)
    assert log_common(conn, "web", "a", "info", clock=clock)
    assert common_messages(conn, "web") == Hour(first, {"a": 2})
    clock.sleep(0.001)
    assert log_common(conn, "web", "b", "info", clock=clock)
    second = hour_of(clock.time())
    assert common_messages(conn, "web") == Hour(second, {"b": 1})
    assert common_messages(conn, "web", last=True) == Hour(first, {"a": 2})
    clock.sleep(3 * HOUR_S)  # hours without a message are left out
    assert log_common(conn, "web", "c", "info", clock=clock)
    assert common_messages(conn, "web", last=True) == Hour(second, {"b": 1})


def test_it_gives_up_after_its_timeout(timed: Target) -> None:
    before = timed.clock.time()
    assert not log_common(timed.conn, "web", "m", "info", 0.05, Meddler(timed))
    assert timed.clock.time() - before == pytest.approx(0.05, abs=0.0011)


@pytest.mark.slow
def test_giving_up_in_real_time(real_time: Target) -> None:
    before = real_time.clock.time()
    assert not log_common(real_time.conn, "web", "m", "info", 0.3, Meddler(real_time))
    assert 0.29 < real_time.clock.time() - before < 2


# -- how the naive ones fail ---------------------------------------------------------------------


def rotated_by_two(log: Any, order: str) -> tuple[Hour, Hour]:
    """The running hour and the last, after two clients at once began a new one."""
    s = Scheduler(order=order)
    log_common(s.client(), "web", "old", "info", clock=s.clock)
    s.clock.advance_to_us(s.now_us + 2 * HOUR_S * 1_000_000)
    for name in "ab":
        s.add(name, lambda actor: log(actor.conn, "web", "new", "info", clock=actor))
    conn = s.run().client()
    return common_messages(conn, "web"), common_messages(conn, "web", last=True)


def test_two_rotate_at_once_and_an_hour_is_lost() -> None:
    now, last = rotated_by_two(log_common_unwatched_naive, "abab")  # GET GET EXEC EXEC
    assert now.counts == {"new": 1} and last.counts == {"new": 1}
    assert now.start == last.start
    now, last = rotated_by_two(log_common, "ab" * 5)  # b's EXEC fails, it looks again
    assert now.counts == {"new": 2} and last.counts == {"old": 1}
    assert (now.start or "") > (last.start or "")


def test_a_crash_between_push_and_trim_leaves_one_too_many() -> None:
    def length(log: Any) -> int:
        s = Scheduler()
        for i in range(RECENT_MAX):
            log_recent(s.client(), "web", str(i), clock=s.clock)
        s.add("a", lambda actor: log(actor.conn, "web", "m", clock=actor), crash_at=2)
        s.run()
        return int(s.client().llen(recent_key("web")))

    assert length(log_recent_naive) == RECENT_MAX + 1
    assert length(log_recent) == RECENT_MAX


# -- schedules -----------------------------------------------------------------------------------

SKEW_S = 30
STORM = Chance(latency=0.01, pause=0.05, pause_s=60, crash=0.01, skew_s=SKEW_S)


def play(seed: int) -> None:
    """Four clients around two full hours: each message moves the books by just one."""
    s = Scheduler(seed, STORM, decode_responses=bool(seed % 2))
    s.clock.advance_to_us(s.now_us + round((to_next_hour(s.clock) - 1) * 1_000_000))
    look = s.client()
    logged: list[str] = []
    starts: list[str | None] = []
    before = [Hour(None, {}), Hour(None, {})]

    def check(message: str, earliest: float, latest: float) -> None:
        """That what changed since the last message is this message, and an hour perhaps."""
        now, last = common_messages(look, "web"), common_messages(look, "web", last=True)
        was_now, was_last = before
        if now.start == was_now.start:
            assert last == was_last, "the last hour was touched"
            assert now.counts == {**was_now.counts, message: was_now.counts.get(message, 0) + 1}
        else:
            assert now.start and now.start not in starts, "an hour began twice"
            assert now.start > (was_now.start or ""), "an hour began after a later one"
            assert hour_of(earliest) <= now.start <= hour_of(latest)
            assert now.counts == {message: 1}
            assert was_now.start is None or last == was_now, "an hour was lost"
            starts.append(now.start)
        before[:] = [now, last]
        logged.append(message)
        lines = [line.split()[-1] for line in recent_messages(look, "web")]
        assert lines == logged[::-1][:RECENT_MAX]

    def body(actor: Actor) -> None:
        for i in range(6):
            message, began = s.rng.choice("abc"), actor.time()
            assert log_common(actor.conn, "web", message, "info", timeout=600, clock=actor)
            check(message, began, actor.time())
            actor.sleep(s.rng.uniform(0, 1))
            if i == 2:
                actor.sleep(max(0, to_next_hour(actor) - s.rng.uniform(0, 1)))

    for name in "abcd":
        s.add(name, body)
    s.run()
    assert sum(sum(hour.counts.values()) for hour in before) <= len(logged)


def test_schedules() -> None:
    run_schedules(play)
