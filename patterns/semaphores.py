"""Semaphores: at most so many clients at once.

Four steps. :func:`acquire_semaphore` keeps holders in a sorted set by the time of their own
clocks, and so a slow clock jumps the queue. :func:`acquire_fair_semaphore` orders them by a
counter of the server; between counting and entering there is a race, which
:func:`acquire_semaphore_with_lock` closes by a lock. Client clocks still decide when a holder
has had its time. :class:`Semaphore` asks the server's clock, all in one script.

Commands: ZADD, ZRANK, ZREM, ZREMRANGEBYSCORE, ZINTERSTORE, INCR, TIME, EVAL. With n holders
O(log n), where ZINTERSTORE copies all: O(n log n). n is about the limit.
"""

from __future__ import annotations

import time
import uuid
from types import TracebackType
from typing import Any

from redis import Redis

from patterns.client import AnyClient
from patterns.clock import Clock
from patterns.locks import Lock

RETRY_S = 0.001  # between two attempts to get in
LOCK_WAIT_S = 0.01  # for the lock inside acquire_semaphore_with_lock
LOCK_TIMEOUT_S = 10
MS_PER_S = 1000

# KEYS: the holders, scored by the last ms of their leases; the counter.
# ARGV: identifier, limit, lease in ms. The number of this entry, or nil if all are taken.
ACQUIRE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    return nil
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
return redis.call('INCR', KEYS[2])
"""

# KEYS: the holders. ARGV: identifier, new lease in ms. A lease that is over is not revived.
REFRESH = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not last or tonumber(last) < now then
    return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return 1
"""

# KEYS: the holders. ARGV: identifier. Whether the lease still ran.
RELEASE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
return (last and tonumber(last) >= now) and 1 or 0
"""


class SemaphoreLostError(Exception):
    """The lease ran out while the semaphore was thought to be held."""


def semaphore_key(semname: str) -> str:
    """The key of the holders. The braces make the name its hash tag in a cluster."""
    return f"semaphore:{{{semname}}}"


# -- the first step: by the clocks of the clients --------------------------------------------


def acquire_semaphore(
    conn: Redis, semname: str, limit: int = 5, timeout: float = 10, clock: Clock = time
) -> str | None:
    """Enter with the time of our clock; ours if our rank is below *limit*. Identifier or None.

    Holds while all clocks agree and no two are in the same microsecond: then the identifiers
    decide which is first. A client whose clock is slow enters with a lower rank and
    takes a place that another already has: more than *limit* hold. One whose clock is fast
    throws others out before *timeout* seconds have passed.
    """
    key = semaphore_key(semname)
    identifier = str(uuid.uuid4())
    now = clock.time()
    pipe = conn.pipeline()
    pipe.zremrangebyscore(key, "-inf", now - timeout)
    pipe.zadd(key, {identifier: now})
    pipe.zrank(key, identifier)
    if pipe.execute()[-1] < limit:
        return identifier
    conn.zrem(key, identifier)
    return None


def release_semaphore(conn: Redis, semname: str, identifier: str) -> bool:
    """Leave; False if we had lost our place, having had our time."""
    return bool(conn.zrem(semaphore_key(semname), identifier))


# -- the second step: by a counter of the server ---------------------------------------------


def acquire_fair_semaphore(
    conn: Redis, semname: str, limit: int = 5, timeout: float = 10, clock: Clock = time
) -> str | None:
    """Enter with the next number of a counter; ours if our rank is below *limit*.

    The times stay in a sorted set of their own, for who has had its time; ZINTERSTORE takes
    those out of the owners. So a slow clock gains nothing.

    Two flaws remain. Between INCR and ZADD another may count after us and enter before us;
    then we enter below it, and both hold (:func:`acquire_semaphore_with_lock`). And a
    clock that is fast by d seconds ends leases d seconds early.
    """
    key = semaphore_key(semname)
    owner, counter = f"{key}:owner", f"{key}:counter"
    identifier = str(uuid.uuid4())
    now = clock.time()
    pipe = conn.pipeline()
    pipe.zremrangebyscore(key, "-inf", now - timeout)
    pipe.zinterstore(owner, {owner: 1, key: 0})
    pipe.incr(counter)
    number = pipe.execute()[-1]
    pipe.zadd(key, {identifier: now})
    pipe.zadd(owner, {identifier: number})
    pipe.zrank(owner, identifier)
    if pipe.execute()[-1] < limit:
        return identifier
    release_fair_semaphore(conn, semname, identifier)
    return None


def release_fair_semaphore(conn: Redis, semname: str, identifier: str) -> bool:
    """Leave; False if we had lost our place, having had our time."""
    key = semaphore_key(semname)
    pipe = conn.pipeline()
    pipe.zrem(key, identifier)
    pipe.zrem(f"{key}:owner", identifier)
    return bool(pipe.execute()[0])


def refresh_fair_semaphore(conn: Redis, semname: str, identifier: str, clock: Clock = time) -> bool:
    """Have our time begin anew; False if we had lost our place, which this does not give back."""
    key = semaphore_key(semname)
    pipe = conn.pipeline()
    pipe.zadd(key, {identifier: clock.time()}, xx=True)  # only if it is there
    pipe.zscore(key, identifier)
    return pipe.execute()[-1] is not None


def refresh_fair_semaphore_naive(
    conn: Redis, semname: str, identifier: str, clock: Clock = time
) -> bool:
    """ZADD, and if that made a new entry, take it away again.

    Fails so: if we crash between the two, a place that was lost has an entry again.
    """
    if conn.zadd(semaphore_key(semname), {identifier: clock.time()}):
        release_fair_semaphore(conn, semname, identifier)
        return False
    return True


def acquire_semaphore_with_lock(
    conn: Redis, semname: str, limit: int = 5, timeout: float = 10, clock: Clock = time
) -> str | None:
    """:func:`acquire_fair_semaphore` under a lock, so that counting and entering are one.

    None also if the lock was not to be had within 10 ms: ask again. Never more than *limit*
    hold for *timeout* less the spread of the clocks, while nobody stalls for longer than
    the lock's lease of 10 s inside it.
    """
    lock = Lock(conn, semaphore_key(semname), LOCK_TIMEOUT_S, LOCK_WAIT_S, clock)
    if not lock.acquire():
        return None
    try:
        return acquire_fair_semaphore(conn, semname, limit, timeout, clock)
    finally:
        lock.release()


# -- the sound one ---------------------------------------------------------------------------


class Semaphore:
    """At most *limit* holders, each for *timeout* seconds unless it refreshes its lease.

    Every decision is one script and only the server's clock counts, so clients' clocks and
    stalls change nothing. A holder that crashes gives its place back when its lease ends. A
    holder that stalls learns too late that it has lost its place, as with any lease.

    Both keys carry the hash tag ``{name}``, so it works in a cluster. Who asks first gets in:
    nobody queues.
    """

    def __init__(
        self,
        conn: AnyClient,
        name: str,
        limit: int = 5,
        timeout: float = 10,
        acquire_timeout: float = 10,
        clock: Clock = time,
    ) -> None:
        if limit < 1:
            raise ValueError(f"limit must be 1 or more, got {limit!r}")
        self.lease_ms = round(timeout * MS_PER_S)
        if self.lease_ms < 1:
            raise ValueError(f"timeout must be 0.001 s or more, got {timeout!r}")
        self.conn: Any = conn
        self.key = semaphore_key(name)
        self.limit = limit
        self.acquire_timeout = acquire_timeout
        self.clock = clock
        self.identifier: str | None = None
        #: Which acquisition this is, counted by the server. None before the first.
        self.number: int | None = None

    def acquire(self, acquire_timeout: float | None = None) -> bool:
        """Get in, trying for *acquire_timeout* seconds; 0 tries once. Whether we are in."""
        wait = self.acquire_timeout if acquire_timeout is None else acquire_timeout
        identifier = str(uuid.uuid4())
        keys = (self.key, f"{self.key}:counter")
        end = self.clock.time() + wait
        while True:
            number = self.conn.eval(ACQUIRE, 2, *keys, identifier, self.limit, self.lease_ms)
            if number is not None:
                self.identifier, self.number = identifier, int(number)
                return True
            if self.clock.time() >= end:
                return False
            self.clock.sleep(RETRY_S)

    def release(self) -> bool:
        """Leave; whether our lease still ran. ``RuntimeError`` if we are not in."""
        identifier, self.identifier = self._ours(), None
        return bool(self.conn.eval(RELEASE, 1, self.key, identifier))

    def refresh(self) -> bool:
        """Let the lease begin anew; False if it was over, which this does not change."""
        return bool(self.conn.eval(REFRESH, 1, self.key, self._ours(), self.lease_ms))

    def _ours(self) -> str:
        if self.identifier is None:
            raise RuntimeError("this semaphore is not acquired")
        return self.identifier

    def __enter__(self) -> Semaphore:
        if not self.acquire():
            raise TimeoutError(f"{self.key} was full for {self.acquire_timeout} s")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.release() and kind is None:
            raise SemaphoreLostError(f"the lease of {self.key} ended before its work did")
