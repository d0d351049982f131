"""Logs: the newest messages, and how often each came, hour by hour.

:func:`log_recent` keeps the newest hundred in a list. :func:`log_common` counts equal messages
in a sorted set for the running hour; the first message of a new hour puts the old hour's
counts aside, under WATCH, so that of many clients just one does it.

Keys: ``recent:{name}:{severity}``, and ``common:{name}:{severity}`` with ``:start``, the hour
it counts, ``:last``, the counts of the hour before, and ``:pstart``, which hour that was. For one
server: redis-py's client of a cluster refuses RENAME in a pipeline.

Commands: LPUSH, LTRIM, ZINCRBY, RENAME, WATCH. Each is O(1), or O(log n) for n messages.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import Any, NamedTuple

from redis.exceptions import WatchError

from patterns.clock import Clock
from patterns.text import as_text

DEBUG, INFO, WARNING = logging.DEBUG, logging.INFO, logging.WARNING
ERROR, CRITICAL = logging.ERROR, logging.CRITICAL

#: The severities by number, as in Python's ``logging``.
SEVERITY: dict[int, str] = {
    DEBUG: "debug",
    INFO: "info",
    WARNING: "warning",
    ERROR: "error",
    CRITICAL: "critical",
}

RECENT_MAX = 100  # messages kept in a list
RETRY_S = 0.001  # between two attempts to count a message


class Hour(NamedTuple):
    """An hour's messages: when it began (UTC, ISO 8601) and how often each came, most first."""

    start: str | None
    counts: dict[str, int]


def severity_name(severity: int | str) -> str:
    """The name of a severity given by number or, in any case, by name.

    ``ValueError`` for one that does not exist: a list that nobody reads is a log lost.
    """
    name = SEVERITY.get(severity) if isinstance(severity, int) else severity.lower()
    if name is None or name not in SEVERITY.values():
        known = ", ".join(f"{number} {name}" for number, name in SEVERITY.items())
        raise ValueError(f"severity must be one of {known}; got {severity!r}")
    return name


def recent_key(name: str, severity: int | str = INFO) -> str:
    """The key of the list of newest messages."""
    return f"recent:{name}:{severity_name(severity)}"


def common_key(name: str, severity: int | str = INFO) -> str:
    """The key of the counts of the running hour."""
    return f"common:{name}:{severity_name(severity)}"


def hour_of(seconds: float) -> str:
    """The hour in which a Unix time lies, in UTC: ``2009-02-13T23:00:00``. Sorts as text."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:00:00")


def stamped(message: str, clock: Clock) -> str:
    """*message* behind the time, ``Fri Feb 13 23:31:30 2009`` in UTC."""
    return f"{time.asctime(time.gmtime(clock.time()))} {message}"


# -- the newest ------------------------------------------------------------------------------


def log_recent(
    conn: Any,
    name: str,
    message: str,
    severity: int | str = INFO,
    pipe: Any = None,
    clock: Clock = time,
) -> None:
    """Put *message*, with the time before it, at the head of its list; keep the newest 100.

    *pipe*, a pipeline in which commands of the caller wait, is executed together with ours.
    Without one, a transaction of our own: the list never has more than a hundred.
    """
    key = recent_key(name, severity)
    if pipe is None:
        pipe = conn.pipeline(transaction=True)
    pipe.lpush(key, stamped(message, clock))
    pipe.ltrim(key, 0, RECENT_MAX - 1)
    pipe.execute()


def log_recent_naive(
    conn: Any, name: str, message: str, severity: int | str = INFO, clock: Clock = time
) -> None:
    """LPUSH, then LTRIM, each by itself.

    Fails so: between the two, and after a crash there until somebody logs again, the list
    has more than a hundred.
    """
    key = recent_key(name, severity)
    conn.lpush(key, stamped(message, clock))
    conn.ltrim(key, 0, RECENT_MAX - 1)


def recent_messages(
    conn: Any, name: str, severity: int | str = INFO, count: int = RECENT_MAX
) -> list[str]:
    """The newest *count* messages with their times, newest first. O(count)."""
    if count < 1:
        raise ValueError(f"count must be 1 or more, got {count!r}")
    return [as_text(line) for line in conn.lrange(recent_key(name, severity), 0, count - 1)]


# -- the most common ---------------------------------------------------------------------------


def log_common(
    conn: Any,
    name: str,
    message: str,
    severity: int | str = INFO,
    timeout: float = 5,
    clock: Clock = time,
) -> bool:
    """Count *message* for this hour, and :func:`log_recent` it in the same transaction.

    The hour's start is watched: if another begins the new hour before our EXEC, nothing of
    ours is done, and we look again; after *timeout* seconds of that we give up and return
    False. At least one attempt is made. What returned True is counted once, in the running
    hour or, after the hour, in the one put aside.

    The hour is that of the client's clock. A clock that is fast begins the new hour early,
    for all; one that is slow counts into the hour that others have begun. Hours without a
    message are left out: the hour put aside is the last that had one.
    """
    key = common_key(name, severity)
    start_key = f"{key}:start"
    end = clock.time() + timeout
    while True:
        with conn.pipeline(transaction=True) as pipe:
            try:
                pipe.watch(start_key)
                started = pipe.get(start_key)
                hour = hour_of(clock.time())
                rotate = started is not None and as_text(started) < hour
                if rotate:  # without counts, as after an eviction, RENAME would fail
                    pipe.watch(key)
                    counted = pipe.exists(key)
                pipe.multi()
                if rotate:
                    _put_aside(pipe, key, bool(counted))
                if rotate or started is None:
                    pipe.set(start_key, hour)
                pipe.zincrby(key, 1, message)
                log_recent(conn, name, message, severity, pipe, clock)
                return True
            except WatchError:
                pass
        if clock.time() >= end:
            return False
        clock.sleep(RETRY_S)


def _put_aside(pipe: Any, key: str, counted: bool) -> None:
    """Queue that the running hour becomes the last one."""
    if counted:
        pipe.rename(key, f"{key}:last")
    else:
        pipe.delete(f"{key}:last")
    pipe.rename(f"{key}:start", f"{key}:pstart")


def log_common_unwatched_naive(
    conn: Any, name: str, message: str, severity: int | str = INFO, clock: Clock = time
) -> None:
    """Look which hour it is, then rotate and count, without WATCH.

    Fails so: two clients both find the old hour. The first puts its counts aside; the second
    puts the new hour, one message old, in their place, and the old hour's counts are lost.
    """
    key = common_key(name, severity)
    started, hour = conn.get(f"{key}:start"), hour_of(clock.time())
    pipe = conn.pipeline(transaction=True)
    if started is not None and as_text(started) < hour:
        _put_aside(pipe, key, True)
    pipe.set(f"{key}:start", hour)
    pipe.zincrby(key, 1, message)
    log_recent(conn, name, message, severity, pipe, clock)


def common_messages(
    conn: Any, name: str, severity: int | str = INFO, last: bool = False, count: int = 0
) -> Hour:
    """The running hour's counts, or the last one's; the *count* most common, 0 for all.

    The running hour is that of the newest message, which may be long ago: see its start.
    O(log n + count).
    """
    if count < 0:
        raise ValueError(f"count must be 0 or more, got {count!r}")
    key = common_key(name, severity)
    pipe = conn.pipeline(transaction=True)  # so that start and counts are of one hour
    pipe.get(f"{key}:pstart" if last else f"{key}:start")
    pipe.zrevrange(f"{key}:last" if last else key, 0, count - 1, withscores=True)
    start, counts = pipe.execute()
    return Hour(
        None if start is None else as_text(start),
        {as_text(message): int(times) for message, times in counts},
    )
