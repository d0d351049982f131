"""Locks: one client at a time.

Three steps, as courses take them. :func:`acquire_lock` blocks for ever once a holder has
crashed. :func:`acquire_lock_with_timeout` mends that with EXPIRE, and leaves a gap between
two commands. :class:`Lock` closes it: one script takes the lock, its lease and a fencing
token together. Waiting is spinning in all three: ask, sleep a millisecond, ask again.

A lease is a promise of the server's clock alone. A holder that stalls (garbage collector,
swapped out, cut off) learns too late that its lease is over; the fencing token is for that.

Commands: SET NX PX, SETNX, EXPIRE, GET, DEL, WATCH, EVAL. Each is O(1).
"""

from __future__ import annotations

import math
import time
import uuid
from types import TracebackType
from typing import Any

from redis import Redis
from redis.exceptions import WatchError

from patterns.client import AnyClient
from patterns.clock import Clock
from patterns.text import same

RETRY_S = 0.001  # between two attempts to get a lock
NO_TTL = -1  # what TTL says of a key that never expires
MS_PER_S = 1000

# KEYS: the lock, the counter of tokens. ARGV: identifier, lease in ms.
# The token is drawn in the same step: who gets the lock later has the greater one.
ACQUIRE = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return redis.call('INCR', KEYS[2])
end
return nil
"""

# KEYS: the lock. ARGV: identifier. Compare and delete in one step.
RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
"""

# KEYS: the lock. ARGV: identifier, new lease in ms.
EXTEND = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
"""

# KEYS: a hash. ARGV: token, value. Refuses a token older than one it has seen.
WRITE_FENCED = """
local seen = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < seen then
    return 0
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2])
return 1
"""


class LockLostError(Exception):
    """The lease ran out while the lock was thought to be held."""


def lock_key(lockname: str) -> str:
    """The key of a lock. The braces make the name its hash tag in a cluster."""
    return f"lock:{{{lockname}}}"


# -- the first step: SETNX ---------------------------------------------------------------


def acquire_lock(
    conn: Redis, lockname: str, acquire_timeout: float = 10, clock: Clock = time
) -> str | None:
    """Get the lock by SETNX, trying for *acquire_timeout* seconds; its identifier or None.

    Holds while nobody crashes. The lock has no time to live: if its holder dies, nobody
    ever gets it again.
    """
    identifier = str(uuid.uuid4())
    end = clock.time() + acquire_timeout
    while True:
        if conn.setnx(lock_key(lockname), identifier):
            return identifier
        if clock.time() >= end:
            return None
        clock.sleep(RETRY_S)


def release_lock(conn: Redis, lockname: str, identifier: str) -> bool:
    """Free the lock if it is still ours; whether it was.

    WATCH makes the comparison hold until EXEC: if the lock changes hands in between, or
    expires, nothing is deleted and we look again.
    """
    key = lock_key(lockname)
    with conn.pipeline() as pipe:
        while True:
            try:
                pipe.watch(key)
                if not same(pipe.get(key), identifier):
                    return False
                pipe.multi()
                pipe.delete(key)
                pipe.execute()
                return True
            except WatchError:
                continue


def release_lock_unchecked_naive(conn: Redis, lockname: str) -> None:
    """Free the lock with DEL, whoever has it.

    Fails so: our lease is over, another has the lock, and we delete *its* lock; a third
    gets in beside it.
    """
    conn.delete(lock_key(lockname))


def release_lock_unwatched_naive(conn: Redis, lockname: str, identifier: str) -> bool:
    """Compare first, then DEL, without WATCH.

    Fails so: between GET and DEL the lease ends and another gets the lock, which DEL frees.
    """
    if not same(conn.get(lock_key(lockname)), identifier):
        return False
    conn.delete(lock_key(lockname))
    return True


def release_lock_str_naive(conn: Redis, lockname: str, identifier: str) -> bool:
    """Compare the reply with a str, as written for clients of ``decode_responses=True``.

    Fails so: another client answers in bytes, ``b"x" == "x"`` is false, and the lock is
    never freed.
    """
    key = lock_key(lockname)
    with conn.pipeline() as pipe:
        pipe.watch(key)
        if pipe.get(key) == identifier:
            pipe.multi()
            pipe.delete(key)
            pipe.execute()
            return True
        return False


# -- the second step: SETNX + EXPIRE -------------------------------------------------------


def acquire_lock_with_timeout(
    conn: Redis,
    lockname: str,
    acquire_timeout: float = 10,
    lock_timeout: float = 10,
    clock: Clock = time,
) -> str | None:
    """Get the lock by SETNX, then EXPIRE it after *lock_timeout*, rounded up to seconds.

    If the holder dies between the two, whoever waits finds a lock without a TTL and gives it
    one: a crash blocks nobody for ever.

    Still broken by a stall: we SETNX and stall; another gives our lock its TTL, which runs
    out; the other takes the lock; we wake, EXPIRE *its* lock, and believe it ours.
    """
    identifier = str(uuid.uuid4())
    key = lock_key(lockname)
    lease = math.ceil(lock_timeout)
    end = clock.time() + acquire_timeout
    while True:
        if conn.setnx(key, identifier):
            conn.expire(key, lease)
            return identifier
        if conn.ttl(key) == NO_TTL:
            conn.expire(key, lease)
        if clock.time() >= end:
            return None
        clock.sleep(RETRY_S)


# -- the sound one ---------------------------------------------------------------------------


class Lock:
    """A lock with a lease of *lock_timeout* seconds (1 ms at least), and a fencing token.

    At most one holder while its lease runs; a crashed holder blocks nobody longer than that;
    nobody frees or extends another's. As a context manager it waits ``acquire_timeout``, and
    tells by :class:`LockLostError` if the lease ended before the block did.

    Both keys carry the hash tag ``{name}``, so it works in a cluster. It is not fair. After
    a failover the new primary may not know of the lock: then two hold it, and only the token
    can tell them apart, if it was replicated.
    """

    def __init__(
        self,
        conn: AnyClient,
        name: str,
        lock_timeout: float = 10,
        acquire_timeout: float = 10,
        clock: Clock = time,
    ) -> None:
        self.conn: Any = conn
        self.key = lock_key(name)
        self.fence_key = f"{self.key}:fence"
        self.lease_ms = _lease_ms(lock_timeout)
        self.acquire_timeout = acquire_timeout
        self.clock = clock
        self.identifier: str | None = None
        #: The fencing token of the last acquisition: greater each time. None before the first.
        self.token: int | None = None

    def acquire(self, acquire_timeout: float | None = None) -> bool:
        """Get the lock, trying for *acquire_timeout* seconds; 0 tries once. Whether we have it."""
        wait = self.acquire_timeout if acquire_timeout is None else acquire_timeout
        identifier = str(uuid.uuid4())
        end = self.clock.time() + wait
        while True:
            token = self.conn.eval(ACQUIRE, 2, self.key, self.fence_key, identifier, self.lease_ms)
            if token is not None:
                self.identifier, self.token = identifier, int(token)
                return True
            if self.clock.time() >= end:
                return False
            self.clock.sleep(RETRY_S)

    def release(self) -> bool:
        """Free the lock if it is still ours; whether it was. ``RuntimeError`` if we have none."""
        identifier, self.identifier = self._ours(), None
        return bool(self.conn.eval(RELEASE, 1, self.key, identifier))

    def extend(self, lock_timeout: float | None = None) -> bool:
        """Let the lease last *lock_timeout* seconds from now; False if it was lost already."""
        lease_ms = self.lease_ms if lock_timeout is None else _lease_ms(lock_timeout)
        return bool(self.conn.eval(EXTEND, 1, self.key, self._ours(), lease_ms))

    def _ours(self) -> str:
        if self.identifier is None:
            raise RuntimeError("this lock is not acquired")
        return self.identifier

    def __enter__(self) -> Lock:
        if not self.acquire():
            raise TimeoutError(f"{self.key} was not free within {self.acquire_timeout} s")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.release() and kind is None:
            raise LockLostError(f"the lease of {self.key} ended before its work did")


def write_fenced(conn: AnyClient, key: str, token: int, value: str) -> bool:
    """Write *value* to the hash *key* unless a greater *token* was there; whether it was done.

    This is what a resource does with fencing tokens: a holder whose lease is over comes
    with an old one.
    """
    client: Any = conn
    return bool(client.eval(WRITE_FENCED, 1, key, token, value))


def acquire_token_apart_naive(
    conn: Redis, lockname: str, lock_timeout: float = 10
) -> tuple[str, int] | None:
    """SET NX PX, then INCR for the token: identifier and token, or None. Tries once.

    Fails so: we SET and stall until the lease is over; another gets the lock and draws its
    token; then we draw ours, and the late one has the greater token.
    """
    identifier = str(uuid.uuid4())
    key = lock_key(lockname)
    if not conn.set(key, identifier, nx=True, px=_lease_ms(lock_timeout)):
        return None
    token: Any = conn.incr(f"{key}:fence")
    return identifier, int(token)


def _lease_ms(lock_timeout: float) -> int:
    lease_ms = round(lock_timeout * MS_PER_S)
    if lease_ms < 1:
        raise ValueError(f"lock_timeout must be 0.001 s or more, got {lock_timeout!r}")
    return lease_ms
