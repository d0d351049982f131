"""Rate limiters: at most so many requests in so much time.

A limiter answers one question, "may this request go on?", and must answer it for all
application servers together; so its state is in Redis. All functions take the *name* of
what is limited (a user, an address), limits as whole numbers and times in seconds.

Naive versions read, decide and write in separate commands. The sound ones decide in one
script, by the server's clock: clients' clocks do not matter, nothing comes between, and a
client that dies leaves no half of a decision behind.

Every key dies by itself when nobody asks any more, and holds what its docstring says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from patterns.clock import Clock

US_PER_SECOND = 1_000_000
MS_PER_SECOND = 1_000

# The start of scripts that need the time: the server's, in whole µs. Such a number has 16
# digits; Lua's own conversion writes 14, so what is stored goes through text().
NOW = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function text(number) return string.format('%.0f', number) end
"""


# -- fixed window ---------------------------------------------------------------------


def one_per_window(conn: Any, name: str, window: float) -> bool:
    """Let one request pass in *window* seconds: SET NX PX, one atomic command.

    The simplest limiter, for limit 1 (a code by SMS at most once a minute). O(1).
    """
    return bool(conn.set(f"limit:once:{name}", 1, nx=True, px=_ms(window)))


def fixed_window_naive(conn: Any, name: str, limit: int, window: float) -> bool:
    """INCR, and EXPIRE if the counter was new. Two commands.

    How it fails: a client that dies between the two leaves a counter without a time to
    live. Once it has reached *limit* the name is locked out for ever.
    """
    key = f"limit:fixed:{name}"
    count = conn.incr(key)
    if count == 1:
        conn.pexpire(key, _ms(window))
    return bool(count <= limit)


def fixed_window_set_nx_naive(conn: Any, name: str, limit: int, window: float) -> bool:
    """SET 0 NX PX to open the window, then INCR. Two commands.

    A crash between them does no harm now, but time does: if the window ends after SET has
    found the old counter there and before INCR, then INCR makes a counter without a time
    to live. The same lock-out, only rarer.
    """
    key = f"limit:fixed:{name}"
    conn.set(key, 0, nx=True, px=_ms(window))
    return bool(conn.incr(key) <= limit)


def fixed_window_set_nx(conn: Any, name: str, limit: int, window: float) -> bool:
    """The same two commands in MULTI: no key expires between commands of a transaction.

    At most *limit* requests pass in a window, which begins with its first request. Across
    the edge of two windows twice *limit* can pass in a moment. Memory: one counter. O(1).
    """
    key = f"limit:fixed:{name}"
    pipe = conn.pipeline(transaction=True)
    pipe.set(key, 0, nx=True, px=_ms(window))
    pipe.incr(key)
    return bool(pipe.execute()[-1] <= limit)


FIXED_WINDOW = """
local count = redis.call('INCR', KEYS[1])
if count == 1 or redis.call('PTTL', KEYS[1]) == -1 then  -- new, or left by the naive one
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return count <= tonumber(ARGV[1]) and 1 or 0
"""


def fixed_window(conn: Any, name: str, limit: int, window: float) -> bool:
    """INCR and EXPIRE in one script; it also mends a counter that has lost its time to live.

    Promises and limits are those of :func:`fixed_window_set_nx`. O(1).
    """
    return bool(conn.eval(FIXED_WINDOW, 1, f"limit:fixed:{name}", limit, _ms(window)))


# -- sliding window -------------------------------------------------------------------


def sliding_window_naive(
    conn: Any, name: str, limit: int, window: float, clock: Clock = time
) -> bool:
    """Trim, count, and add if there is room: three commands, by the client's clock.

    How it fails: two clients count before either adds, and both pass. A client whose clock
    is ahead trims entries that still count. Requests of one instant have the same member,
    the instant, and count once.
    """
    key, now = f"limit:sliding:{name}", clock.time()
    conn.zremrangebyscore(key, "-inf", now - window)
    if conn.zcard(key) >= limit:
        return False
    conn.zadd(key, {repr(now): now})
    conn.pexpire(key, _ms(window))
    return True


SLIDING_WINDOW = (
    NOW
    + """
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now - window))
local count = redis.call('ZCARD', KEYS[1])
if count >= limit then return 0 end
-- The member must be new even if two requests, or a clock put back, show the same instant.
repeat
    count = count + 1
until redis.call('ZADD', KEYS[1], 'NX', text(now), text(now) .. '-' .. count) == 1
redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
return 1
"""
)


def sliding_window(conn: Any, name: str, limit: int, window: float) -> bool:
    """At most *limit* requests pass in any *window* seconds, wherever the window begins.

    A sorted set holds the instants of the requests that passed, at most *limit* of them:
    refused requests are not written down, so hammering costs no memory and does not
    prolong the wait. O(log *limit*), and O(1) for each instant trimmed.
    """
    return bool(conn.eval(SLIDING_WINDOW, 1, f"limit:sliding:{name}", limit, _us(window)))


# -- token bucket, filled by a timer ----------------------------------------------------


def take_token(conn: Any, name: str) -> bool:
    """Take a token from the bucket: LPOP, one atomic command. False if it is empty."""
    return conn.lpop(_bucket(name)) is not None


def fill_bucket_naive(conn: Any, name: str, tokens: int = 1) -> None:
    """What a timer does in textbooks: RPUSH *tokens*.

    How it fails: nobody looks whether the bucket is full. Overnight the list grows without
    bound, and in the morning as large a burst passes. Two timers fill twice as fast.
    """
    conn.rpush(_bucket(name), *["token"] * tokens)


FILL_BUCKET = (
    NOW
    + """
local capacity, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
local since = tonumber(redis.call('GET', KEYS[2]) or text(now - capacity * interval))
local due = math.floor((now - since) / interval)  -- tokens since the last filling
if due < 1 then return 0 end
local room = capacity - redis.call('LLEN', KEYS[1])
for _ = 1, math.min(due, room) do redis.call('RPUSH', KEYS[1], 'token') end
-- What did not fit is lost; the part of a token that is not due yet is kept. The memory of
-- the last filling may die when it would fill the whole bucket anyway.
local full_ms = math.ceil(capacity * interval / 1000)
redis.call('SET', KEYS[2], text(since + due * interval), 'PX', full_ms)
return math.max(math.min(due, room), 0)
"""
)


def fill_bucket(conn: Any, name: str, capacity: int, rate: float) -> int:
    """Put in what is due since the last filling at *rate* tokens a second; returns how many.

    A new bucket is filled whole. However many timers call this, they fill it no faster. If
    none calls for *g* seconds, tokens of that time come late: in any *t* seconds at most
    *capacity* + *rate* · (*t* + *g*) + 1 requests pass. If none calls any more, none pass.

    Memory: at most *capacity* list entries, for ever if the bucket is not used.
    Cluster-safe: both keys share a slot. O(tokens put in).
    """
    keys = _bucket(name), _bucket(name) + ":filled"
    return int(conn.eval(FILL_BUCKET, 2, *keys, capacity, _leak_us(capacity, rate)))


def bucket_timer(
    conn: Any,
    name: str,
    capacity: int,
    rate: float,
    clock: Clock = time,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Fill the bucket once for each token until *stopped()* says so. Run it in a thread."""
    while not stopped():
        fill_bucket(conn, name, capacity, rate)
        clock.sleep(1 / rate)


# -- leaky bucket -----------------------------------------------------------------------


def leaky_bucket_naive(
    conn: Any, name: str, capacity: int, rate: float, clock: Clock = time
) -> bool:
    """Read level and time, compute in the client, write back.

    How it fails: two clients read the same level, both find room, and the second writes
    over what the first has poured in. Each leaks by its own clock.
    """
    key, now = f"limit:leaky:{name}", clock.time()
    level, at = (float(value or 0) for value in conn.hmget(key, "level", "at"))
    level = max(level - (now - at) * rate, 0)
    if level + 1 > capacity:
        return False
    conn.hset(key, mapping={"level": level + 1, "at": now})
    conn.pexpire(key, _ms(capacity / rate))
    return True


LEAKY_BUCKET = (
    NOW
    + """
local capacity, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
-- The level is kept in µs of leaking that it takes to empty: whole numbers, no rounding.
local was = redis.call('HMGET', KEYS[1], 'level', 'at')
local leaked = now - tonumber(was[2] or text(now))
local level = math.max(tonumber(was[1] or '0') - math.max(leaked, 0), 0)
if level + interval > capacity * interval then return 0 end
redis.call('HSET', KEYS[1], 'level', text(level + interval), 'at', text(now))
redis.call('PEXPIRE', KEYS[1], math.ceil((level + interval) / 1000))
return 1
"""
)


def leaky_bucket(conn: Any, name: str, capacity: int, rate: float) -> bool:
    """Each request pours 1 into a bucket of *capacity* that leaks *rate* a second.

    A request that would make it overflow is refused. In any *t* seconds at most
    *capacity* + *rate* · *t* pass. Memory: a hash of two numbers. O(1).
    """
    key = f"limit:leaky:{name}"
    return bool(conn.eval(LEAKY_BUCKET, 1, key, capacity, _leak_us(capacity, rate)))


# -- GCRA -------------------------------------------------------------------------------


class Decision(NamedTuple):
    """What :func:`gcra` answers."""

    allowed: bool
    remaining: int  # requests that could follow at once
    retry_after: float  # seconds until one would be allowed; 0 if this one was
    reset_after: float  # seconds until the limiter is as if never used


GCRA = (
    NOW
    + """
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local room = now + burst * interval - tat  -- µs of the burst that are not used yet
if room < interval then return {0, 0, interval - room, tat - now} end
tat = tat + interval
redis.call('SET', KEYS[1], text(tat), 'PX', math.ceil((tat - now) / 1000))
return {1, math.floor(room / interval) - 1, 0, tat - now}
"""
)


def gcra(conn: Any, name: str, limit: int, period: float, burst: int | None = None) -> Decision:
    """The generic cell rate algorithm: *limit* requests in *period* seconds, evenly.

    One number is kept, the theoretical arrival time (TAT): when the next request would
    come if all came evenly, an *interval* = *period* / *limit* apart. A request may be
    early by *burst* - 1 intervals (*burst* is *limit* unless given).

    With limit 2 in 10 s and burst 2 the interval is 5 s. At 0 s a request passes, TAT is
    5; at once another, TAT is 10; a third would be 10 s early where 5 are allowed: refused,
    retry after 5 s. At 5 s it passes, TAT is 15.

    In any *t* seconds at most *burst* + *t* / *interval* requests pass, as with the
    buckets, but there is nothing to fill and the refused learn when to come again.
    Intervals are whole µs, rounded up. Memory: one number. O(1).
    """
    interval = _interval_us(limit, period)
    burst = limit if burst is None else burst
    if burst < 1:
        raise ValueError(f"burst must be 1 or more, got {burst}")
    allowed, remaining, retry, reset = conn.eval(GCRA, 1, f"limit:gcra:{name}", interval, burst)
    return Decision(bool(allowed), remaining, retry / US_PER_SECOND, reset / US_PER_SECOND)


# -- units --------------------------------------------------------------------------------


def _bucket(name: str) -> str:
    return f"limit:tokens:{{{name}}}"


def _ms(seconds: float) -> int:
    """Whole ms, as PX wants them; ``ValueError`` for less than one."""
    ms = round(seconds * MS_PER_SECOND)
    if ms < 1:
        raise ValueError(f"a window must last 0.001 seconds or more, got {seconds!r}")
    return ms


def _us(seconds: float) -> int:
    return _ms(seconds) * (US_PER_SECOND // MS_PER_SECOND)


def _leak_us(capacity: int, rate: float) -> int:
    """Whole µs for one token at *rate* a second, rounded up; checks both numbers."""
    if capacity < 1 or not rate > 0:
        raise ValueError(f"capacity and rate must be above 0, got {capacity!r} and {rate!r}/s")
    return _interval_us(1, 1 / rate)


def _interval_us(limit: int, period: float) -> int:
    """Whole µs between two of *limit* requests in *period* seconds, rounded up."""
    if limit < 1 or not period > 0:
        raise ValueError(f"limit and period must be above 0, got {limit!r} in {period!r} s")
    return max(-(-round(period * US_PER_SECOND) // limit), 1)
