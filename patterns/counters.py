"""Counters: how often something happened, by slots of time; and three plain ones.

A counter is kept in several precisions at once: one hash for each, whose fields are the
beginnings of slots (Unix seconds) and whose values are counts. All hashes are listed in a
sorted set, all with score 0 and so in the order of their names, for a cleaner to walk
through. The cleaner keeps the newest 120 slots of each.

    known:                {"1:hits": 0, "5:hits": 0, ...}
    count:5:hits          {"1700000000": "45", "1700000005": "28", ...}
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import redis

from patterns.clock import Clock
from patterns.text import as_text

PRECISIONS = (1, 5, 60, 300, 3600, 18_000, 86_400)  # lengths of slots in seconds
SAMPLE_COUNT = 120  # slots kept of each
KNOWN = "known:"
CLEAN_EVERY_S = 60
LOOK_EVERY_S = 1  # how soon a cleaner that sleeps notices that it is to stop
DAY_S = 86_400


def count_key(name: str, precision: int) -> str:
    """The hash of one counter in one precision."""
    return f"count:{precision}:{name}"


# -- counters by slots of time --------------------------------------------------------------------


def update_counter(
    conn: Any, name: str, count: int = 1, now: float | None = None, clock: Clock = time
) -> None:
    """Count *count* at the instant *now* (Unix seconds; the clock's if None). O(precisions)

    One transaction: a counter that has a slot is always among those known.
    """
    now = clock.time() if now is None else now
    with conn.pipeline() as pipe:
        for precision in PRECISIONS:
            slot = int(now // precision) * precision
            pipe.zadd(KNOWN, {f"{precision}:{name}": 0})
            pipe.hincrby(count_key(name, precision), str(slot), count)
        pipe.execute()


def get_counter(conn: Any, name: str, precision: int) -> list[tuple[int, int]]:
    """Slots as (beginning in Unix seconds, count), oldest first. O(slots)

    ``ValueError`` for a precision that is not kept.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {PRECISIONS} (seconds), got {precision!r}")
    slots = conn.hgetall(count_key(name, precision))
    return sorted((int(slot), int(count)) for slot, count in slots.items())


def clean_counter(conn: Any, known: str, now: float) -> None:
    """Forget the old slots of one counter, named as in ``known:``; and it, if none is left.

    *now* is the cleaner's time in Unix seconds. A counter that is written while it is about to
    be forgotten is kept: WATCH sees the write, and the next round looks again.
    """
    left, _ = _drop_old_slots(conn, known, now)
    if left:
        return
    with conn.pipeline() as pipe:
        try:
            pipe.watch(f"count:{known}")
            if pipe.hlen(f"count:{known}"):
                return
            pipe.multi()
            pipe.zrem(KNOWN, known)
            pipe.execute()
        except redis.WatchError:
            return


def clean_counter_naive(conn: Any, known: str, now: float) -> None:
    """The same without WATCH.

    How it fails: an update between HLEN and ZREM makes a counter that lives but is not known
    any more, so its old slots are never cleaned; nothing repairs it until the next update.
    """
    left, _ = _drop_old_slots(conn, known, now)
    if not left and not conn.hlen(f"count:{known}"):
        conn.zrem(KNOWN, known)


def _drop_old_slots(conn: Any, known: str, now: float) -> tuple[int, int]:
    """Drop slots that ended before the newest 120; how many are left, how many went."""
    precision = int(known.split(":", 1)[0])
    slots = sorted(int(slot) for slot in conn.hkeys(f"count:{known}"))
    old = slots[: bisect_right(slots, now - SAMPLE_COUNT * precision)]
    if old:
        conn.hdel(f"count:{known}", *map(str, old))
    return len(slots) - len(old), len(old)


def clean_counters(
    conn: Any,
    quit: Callable[[], bool],
    clock: Clock = time,
    clean: Callable[[Any, str, float], None] = clean_counter,
) -> int:
    """Clean all counters every minute until ``quit()`` is true; the number of rounds.

    A precision of some minutes is looked at only every so many rounds. Ends within a second of
    being told, in the middle of a round after the counter at hand. Several cleaners at once
    do no harm.
    """
    rounds = 0
    while not quit():
        began = clock.time()
        index = 0
        while not quit():
            found = conn.zrange(KNOWN, index, index)
            if not found:
                break
            known = as_text(found[0])
            index += 1
            if rounds % max(int(known.split(":", 1)[0]) // CLEAN_EVERY_S, 1) == 0:
                clean(conn, known, clock.time())
                if conn.zscore(KNOWN, known) is None:
                    index -= 1  # the next one has moved up
        rounds += 1
        while not quit() and clock.time() - began < CLEAN_EVERY_S:
            clock.sleep(LOOK_EVERY_S)
    return rounds


# -- plain ones -----------------------------------------------------------------------------------


def count_visit(conn: Any, user: str, now: float | None = None, clock: Clock = time) -> int:
    """Count a visit of *user* today, by UTC; how many it makes. INCR, O(1)"""
    return int(conn.incr(_visits_key(user, clock.time() if now is None else now)))


def visits(conn: Any, user: str, now: float | None = None, clock: Clock = time) -> int:
    """Visits of *user* on the day of *now* (Unix seconds), by UTC. GET, O(1)"""
    return int(conn.get(_visits_key(user, clock.time() if now is None else now)) or 0)


def _visits_key(user: str, now: float) -> str:
    return f"visits:{user}:{datetime.fromtimestamp(now, UTC):%Y-%m-%d}"


def count_in_interval(conn: Any, name: str, interval: int = 60, clock: Clock = time) -> int:
    """Count in the current interval of so many seconds; how many there are in it. O(1)

    The key carries the interval's beginning, so a new interval begins at 0, and dies one
    interval after its end. INCR and EXPIRE are one transaction.
    """
    key = _interval_key(name, interval, clock)
    with conn.pipeline() as pipe:
        pipe.incr(key)
        pipe.expire(key, 2 * interval)
        return int(pipe.execute()[0])


def count_in_interval_naive(conn: Any, name: str, interval: int = 60, clock: Clock = time) -> int:
    """INCR, then EXPIRE if it was the first.

    How it fails: a crash between the two leaves a key that never dies.
    """
    key = _interval_key(name, interval, clock)
    count = int(conn.incr(key))
    if count == 1:
        conn.expire(key, 2 * interval)
    return count


def _interval_key(name: str, interval: int, clock: Clock) -> str:
    if interval < 1:
        raise ValueError(f"interval must be 1 second or more, got {interval!r}")
    return f"interval:{name}:{int(clock.time() // interval) * interval}"


def read_and_reset(conn: Any, key: str) -> int:
    """The count of a plain counter, which begins at 0 again. GETDEL, O(1)

    Before Redis 6.2: ``GETSET key 0``, which leaves a key behind.
    """
    return int(conn.getdel(key) or 0)


def read_and_reset_naive(conn: Any, key: str) -> int:
    """GET, then DEL.

    How it fails: what is counted between the two is deleted and was never read.
    """
    count = int(conn.get(key) or 0)
    conn.delete(key)
    return count
