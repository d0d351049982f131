"""Caches: what is slow to make is kept for a while; pages, data, and sessions.

A cache in front of a database fails in three classic ways, and each has its remedy here:

- *avalanche*: many entries were made at once and die at once; a TTL with jitter;
- *stampede*: a popular entry dies and everybody loads it; one loads, the others wait, and a
  popular entry is loaded anew before it dies;
- *penetration*: what does not exist is never found, so it is asked for again each time; that
  it does not exist is kept too, for a shorter while.

Both keys of an entry, and so an entry's scripts, are in one slot of a cluster.
"""

from __future__ import annotations

import random
import secrets
import time
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from patterns.clock import Clock
from patterns.text import as_text

MS_PER_SECOND = 1_000
POLL_S = 0.02  # between two looks of those who wait for another's load
FOUND, EMPTY = "+", "-"  # the first letter of an entry: a value follows, or there is none
Loader = Callable[[], str | None]

# KEYS: entry, lock. ARGV: refresh when so many ms are left, token, lease in ms. One look:
# a value that lives long enough is fresh; else whoever gets the lock loads; the others take
# the old value if there is one, and wait if there is not.
ASK = """
local entry = redis.call('GET', KEYS[1])
if entry and redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then return {'have', entry} end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then return {'load', entry or ''} end
return entry and {'have', entry} or {'wait', ''}
"""

# KEYS: entry, lock. ARGV: token, entry, TTL in ms. Who has lost the lock stores nothing: the
# lease is over, or the entry was invalidated while we read the old state of the database.
STORE = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""

# KEYS: lock. ARGV: token.
GIVE_UP = """
return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0
"""


class DataCache:
    """Values by name, loaded when they are missing.

    *ttl*, *empty_ttl*, *refresh_before* and *lease* are seconds, *jitter* is a part of the
    TTL, either way. A load that takes longer than *lease* may be done by another as well.
    """

    def __init__(
        self,
        conn: Any,
        ttl: float = 300,
        *,
        jitter: float = 0.1,
        empty_ttl: float = 30,
        refresh_before: float = 0,
        lease: float = 10,
        clock: Clock = time,
        rng: random.Random | None = None,
    ) -> None:
        if not (ttl > 0 and empty_ttl > 0 and lease > 0 and 0 <= jitter < 1):
            raise ValueError("ttl, empty_ttl and lease must be above 0 s, jitter from 0 to below 1")
        if not 0 <= refresh_before < ttl * (1 - jitter):
            raise ValueError("refresh_before must be shorter than the shortest ttl")
        self.conn, self.clock, self.rng = conn, clock, rng or random.Random()
        self.ttl, self.jitter, self.empty_ttl = ttl, jitter, empty_ttl
        self.refresh_before, self.lease = refresh_before, lease

    def get_naive(self, key: str, loader: Loader) -> str | None:
        """GET; on a miss load, and SET with the same TTL for all.

        How it fails: when a popular entry dies everybody loads it at once; entries that were
        made together die together; None is never kept; and a slow loader writes over the
        entry with what the database had before it was changed and invalidated.
        """
        entry = self.conn.get(self._keys(key)[0])
        if entry is not None:
            return _value(entry)
        value = loader()
        if value is not None:
            self.conn.set(self._keys(key)[0], FOUND + value, px=_ms(self.ttl))
        return value

    def get(self, key: str, loader: Loader) -> str | None:
        """The value of *key*; None if *loader* says that there is none. O(1).

        One client calls *loader*, the others wait for it. If it dies, the next goes on after
        the lease. If it raises, the error is raised here and another client tries.
        """
        keys, token = self._keys(key), str(uuid.uuid4())
        while True:
            what, entry = self.conn.eval(
                ASK, 2, *keys, _ms(self.refresh_before), token, _ms(self.lease)
            )
            if as_text(what) == "have":
                return _value(entry)
            if as_text(what) == "load":
                return self._load(keys, token, loader)
            self.clock.sleep(POLL_S)

    def _load(self, keys: tuple[str, str], token: str, loader: Loader) -> str | None:
        try:
            value = loader()
        except Exception:
            self.conn.eval(GIVE_UP, 1, keys[1], token)
            raise
        entry = EMPTY if value is None else FOUND + value
        ttl = self.empty_ttl if value is None else self.ttl
        self.conn.eval(STORE, 2, *keys, token, entry, _ms(self.jittered(ttl)))
        return value

    def jittered(self, ttl: float) -> float:
        """*ttl*, longer or shorter by up to the part *jitter* of it."""
        return ttl * self.rng.uniform(1 - self.jitter, 1 + self.jitter)

    def invalidate(self, key: str) -> None:
        """Forget *key*, after the database was changed. O(1).

        Loads that are under way store nothing: they may have read what was there before.
        """
        self.conn.delete(*self._keys(key))

    @staticmethod
    def _keys(key: str) -> tuple[str, str]:
        return f"cache:{{{key}}}", f"cache:{{{key}}}:loading"


# -- pages --------------------------------------------------------------------------------------


def can_cache(url: str) -> bool:
    """Whether a page is the same for everybody: no parameter ``_`` or ``session`` in *url*."""
    names = {name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)}
    return not names & {"_", "session"}


def page_key(url: str) -> str:
    """One name for the same page: parameters in order, the fragment dropped."""
    parts = urlsplit(url)
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    return f"page:{parts.netloc}{parts.path}?{query}"


def cache_request(cache: DataCache, url: str, render: Callable[[str], str]) -> str:
    """The page at *url*, from the cache if it may be there, else rendered."""
    if not can_cache(url):
        return render(url)
    return cache.get(page_key(url), lambda: render(url)) or ""


# -- sessions -----------------------------------------------------------------------------------


class SessionsNaive:
    """Sessions in the memory of the application server.

    How it fails: the next request goes to another server, or this one is restarted, and the
    user has to log in again.
    """

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, str]] = {}

    def create(self, user: str, **fields: str) -> str:
        token = secrets.token_urlsafe()
        self.sessions[token] = {"user": user, **fields}
        return token

    def get(self, token: str) -> dict[str, str] | None:
        return self.sessions.get(token)


# KEYS: session. ARGV: TTL in ms, fields and values.
UPDATE = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
"""


class Sessions:
    """Sessions in Redis, a hash each: any application server finds them.

    A session dies *ttl* seconds after it was last asked for or changed. The token is all that
    the browser has; it is as secret as a password.
    """

    def __init__(self, conn: Any, ttl: float = 1_800) -> None:
        self.conn, self.ttl_ms = conn, _ms(ttl)

    def create(self, user: str, **fields: str) -> str:
        """A new session of *user*; returns its token."""
        token = secrets.token_urlsafe()
        pipe = self.conn.pipeline(transaction=True)
        pipe.hset(self._key(token), mapping={"user": user, **fields})
        pipe.pexpire(self._key(token), self.ttl_ms)
        pipe.execute()
        return token

    def get(self, token: str) -> dict[str, str] | None:
        """All fields, and the session lives on; None if there is none. O(fields)."""
        pipe = self.conn.pipeline(transaction=True)
        pipe.hgetall(self._key(token))
        pipe.pexpire(self._key(token), self.ttl_ms)
        fields = pipe.execute()[0]
        return {as_text(name): as_text(value) for name, value in fields.items()} or None

    def update(self, token: str, **fields: str) -> bool:
        """Change fields and leave the others; False, and nothing is made, if it is dead."""
        if not fields:
            raise ValueError("update() takes at least one field")
        flat = [text for pair in fields.items() for text in pair]
        return bool(self.conn.eval(UPDATE, 1, self._key(token), self.ttl_ms, *flat))

    def update_naive(self, token: str, **fields: str) -> bool:
        """HSET and PEXPIRE.

        How it fails: a session that has just died, or was ended by logging out, comes back
        with these fields only, without its user; after a crash between the two, for ever.
        """
        self.conn.hset(self._key(token), mapping=fields)
        return bool(self.conn.pexpire(self._key(token), self.ttl_ms))

    def end(self, token: str) -> bool:
        """Log out; False if there was no such session."""
        return bool(self.conn.delete(self._key(token)))

    @staticmethod
    def _key(token: str) -> str:
        return f"session:{token}"


def _value(entry: str | bytes) -> str | None:
    text = as_text(entry)
    return text[1:] if text.startswith(FOUND) else None


def _ms(seconds: float) -> int:
    return max(round(seconds * MS_PER_SECOND), 0)
