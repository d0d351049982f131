"""A database: the ``dict`` of values and the ``expires`` dict of absolute times to live.

Every key lives in ``dict``; a key with a time to live is in ``expires`` too, with the
Unix time in ms at which it dies. Look-ups for reading and for writing pass through
:meth:`RedisDb.lookup_key`, which deletes a key that has died (lazy expiry).

How often each method touches each dict matters: every touch moves a rehash by one
bucket, which decides the order inside chains and so the order of later deletions.
Where Redis touches a dict only to fetch a key or to assert something, so does this.

Redis: db.c of 7.0.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from miniredis.keyspace.notify import NOTIFY_EXPIRED, NOTIFY_KEY_MISS, NOTIFY_NEW
from miniredis.keyspace.object import OBJ_STREAM, OBJ_STRING, RedisObject
from miniredis.probe import Probe
from miniredis.structs.dict import Dict, DictEntry
from miniredis.structs.hashing import HashFunction

# Flags of lookup_key. server.h: LOOKUP_*
LOOKUP_NONE = 0
LOOKUP_NOTOUCH = 1 << 0  # leave the access time alone
LOOKUP_NONOTIFY = 1 << 1  # no keymiss event
LOOKUP_NOSTATS = 1 << 2  # count neither hit nor miss
LOOKUP_WRITE = 1 << 3  # for writing: no statistics, expired keys go even on a replica
LOOKUP_NOEXPIRE = 1 << 4  # treat an expired key as missing, but leave it
LOOKUP_UNCHECKED = 1 << 5  # the caller has asked whether it has expired; not in Redis

# Flags of expire_if_needed. server.h: EXPIRE_*
EXPIRE_FORCE_DELETE_EXPIRED = 1
EXPIRE_AVOID_DELETE_EXPIRED = 2

NO_EXPIRE = -1  # get_expire(): the key has no time to live
RANDOM_KEY_MAX_TRIES = 100  # RANDOMKEY gives up looking for a living key after so many

# Who deletes an expired key, for probes.
BY_ACCESS = "lazy"


class KeyspaceServer(Protocol):
    """What a database needs from the server it belongs to; see ``server/server.py``."""

    probe: Probe
    hash_function: HashFunction
    rng: random.Random
    mstime: int  # the cached clock in ms
    fixed_time_expire: int  # > 0: inside a command, time stands still for look-ups
    loading: bool
    masterhost: str | None
    repl_slave_ro: bool
    maxmemory_lfu: bool
    lazyfree_lazy_expire: bool
    latency_monitor_threshold: int  # ms, 0: off
    probed: bool  # somebody else than SILENT listens
    hears_expires: bool  # expire_was_set() is to be called
    notify_mask: int  # classes of keyspace events that anybody wants to hear of
    lruclock: int  # evict.c: LRU_CLOCK(), as the last cron left it
    stat_keyspace_hits: int
    stat_keyspace_misses: int
    stat_expiredkeys: int
    dirty: int
    config: Any  # parameters, for the thresholds of encodings

    def now_ms(self) -> int: ...
    def lru_clock(self) -> int: ...
    def touch_lfu(self, o: RedisObject) -> None: ...
    def expire_was_set(self, db: RedisDb, key: bytes, when: int) -> None: ...
    def serving_master(self) -> bool: ...
    def check_client_pause_timeout_and_return_if_paused(self) -> bool: ...
    def notify_keyspace_event(self, type: int, event: bytes, key: bytes, dbid: int) -> None: ...
    def signal_modified_key(self, db: RedisDb, key: bytes, *, by_server: bool = False) -> None: ...
    def propagate_deletion(self, db: RedisDb, key: bytes, lazy: bool) -> None: ...
    def signal_key_as_ready(self, db: RedisDb, key: bytes, type: int) -> None: ...
    def time_expire_del(self, delete: Callable[[], object]) -> None: ...


class RedisDb:
    """One numbered database. server.h: redisDb

    ``dict`` and ``expires`` are :class:`~miniredis.structs.dict.Dict`; both are laid out
    by the same hash function, so a key's bucket in the smaller table is its bucket in
    the larger one, masked. ``avg_ttl`` (ms) and ``expires_cursor`` belong to the active
    expire cycle. ``watched_keys`` maps a key to its watchers, see ``server/multi.py``;
    ``blocking_keys`` to the clients that wait for it, in the order in which they came, and
    ``ready_keys`` are those of them that will be served: ``server/blocked.py``. ``signals``:
    somebody must be told of a changed key, by ``signal_modified_key()``.
    """

    __slots__ = (
        "avg_ttl",
        "blocking_keys",
        "dict",
        "expires",
        "expires_cursor",
        "id",
        "ready_keys",
        "server",
        "signals",
        "watched_keys",
    )

    dict_type: type[Dict] = Dict
    #: Whether SET with a time leaves the old time to be overwritten. Until 7.0 it goes first.
    set_updates_expire = False
    #: Whether DEL is done with a key that it finds expired. Until 7.2 it deletes once more.
    expired_is_deleted = False
    #: Whether RENAME takes the old name away before it adds the new one.
    rename_deletes_first = False

    def __init__(self, id: int, server: KeyspaceServer) -> None:
        self.id = id
        self.server = server
        self.dict = self.dict_type(server.hash_function, server.rng)
        self.expires = self.dict_type(server.hash_function, server.rng)
        self.dict.on_rehash = self._rehash_hook("dict")
        self.expires.on_rehash = self._rehash_hook("expires")
        self.avg_ttl = 0
        self.expires_cursor = 0
        self.watched_keys: dict[bytes, list[Any]] = {}
        self.signals = False
        self.blocking_keys: dict[bytes, dict[Any, None]] = {}
        self.ready_keys: set[bytes] = set()

    def _rehash_hook(self, table: str) -> Callable[[int, int], None]:
        server, dbid = self.server, self.id

        def rehash_started(old_size: int, new_size: int) -> None:
            if server.probed:
                server.probe.rehash_started(dbid, table, old_size, new_size)

        return rehash_started

    def __len__(self) -> int:
        """Number of keys, dead ones included. DBSIZE"""
        return len(self.dict)

    def __repr__(self) -> str:
        return f"<RedisDb {self.id}: {len(self.dict)} keys, {len(self.expires)} with a TTL>"

    # -- looking up -----------------------------------------------------------------

    def lookup_key(self, key: bytes, flags: int = LOOKUP_NONE) -> RedisObject | None:
        """The value of *key*, or None; a key past its time is deleted and missing. O(1).

        Counts a hit or a miss, fires ``keymiss`` and updates the access time unless a
        flag says otherwise. With LOOKUP_WRITE nothing is counted, and on a writable
        replica an expired key is deleted too.

        db.c: lookupKey()
        """
        server = self.server
        d, expires = self.dict, self.expires
        # Every command comes through here: what find() and expire_if_needed() amount to in
        # the usual case, no rehash under way and the key alive, is written out.
        entry = d.index.get(key) if d.rehashidx < 0 else d.find(key)
        if (
            entry is not None
            and expires.index
            and not (
                d.rehashidx < 0
                and expires.rehashidx < 0
                and ((ttl := expires.index.get(key)) is None or server.mstime <= ttl.val)
                and server.fixed_time_expire
            )
        ):
            expire_flags = 0
            if flags & LOOKUP_WRITE and not (server.masterhost and server.repl_slave_ro):
                expire_flags |= EXPIRE_FORCE_DELETE_EXPIRED
            if flags & LOOKUP_NOEXPIRE:
                expire_flags |= EXPIRE_AVOID_DELETE_EXPIRED
            if not flags & LOOKUP_UNCHECKED and self.expire_found_if_needed(key, expire_flags):
                entry = None
        if entry is None:
            self._miss(key, flags)
            return None
        o: RedisObject = entry.val
        if not flags & LOOKUP_NOTOUCH:
            if server.maxmemory_lfu:
                server.touch_lfu(o)
            else:
                o.lru = server.lruclock
        if not flags & (LOOKUP_NOSTATS | LOOKUP_WRITE):
            server.stat_keyspace_hits += 1
        return o

    def _miss(self, key: bytes, flags: int) -> None:
        """Tell and count that a look-up found nothing."""
        if not flags & (LOOKUP_NONOTIFY | LOOKUP_WRITE):
            self.notify(NOTIFY_KEY_MISS, b"keymiss", key)
        if not flags & (LOOKUP_NOSTATS | LOOKUP_WRITE):
            self.server.stat_keyspace_misses += 1

    def lookup_key_read(self, key: bytes) -> RedisObject | None:
        """Look *key* up for reading. db.c: lookupKeyRead()"""
        return self.lookup_key(key, LOOKUP_NONE)

    def lookup_key_write(self, key: bytes) -> RedisObject | None:
        """Look *key* up before changing it. db.c: lookupKeyWrite()"""
        return self.lookup_key(key, LOOKUP_WRITE)

    # -- writing --------------------------------------------------------------------

    def add(self, key: bytes, val: RedisObject) -> None:
        """Insert a key that is not there; fires ``new``. db.c: dbAdd()"""
        entry = self.dict.add(key, val)
        assert entry is not None, f"add() of existing key {key!r}"
        if self.blocking_keys:
            self.server.signal_key_as_ready(self, key, val.type)
        if self.server.notify_mask & NOTIFY_NEW:
            self.notify(NOTIFY_NEW, b"new", key)

    def overwrite(self, key: bytes, val: RedisObject) -> None:
        """Give an existing key another value; its TTL stays. db.c: dbOverwrite()"""
        d = self.dict
        if d.rehashidx >= 0:
            d.rehash_step_for(key)
        entry = d.index[key]
        if self.server.maxmemory_lfu:
            val.lru = entry.val.lru
        if self.blocking_keys and entry.val.type == OBJ_STREAM:
            self.server.signal_key_as_ready(self, key, OBJ_STREAM)
        entry.val = val

    def set_key(
        self,
        key: bytes,
        val: RedisObject,
        *,
        keepttl: bool = False,
        exists: bool | None = None,
        signal: bool = True,
    ) -> None:
        """Set *key* to *val*, whatever was there; its TTL goes unless *keepttl*. O(1).

        *exists* spares a look-up when the caller has made it.

        db.c: setKey()
        """
        if exists is None:
            exists = self.lookup_key(key, LOOKUP_WRITE) is not None
        if exists:
            self.overwrite(key, val)
        else:
            self.add(key, val)
        if not keepttl:
            self.remove_expire(key)
        if signal and self.signals:
            self.server.signal_modified_key(self, key)

    def delete(self, key: bytes) -> bool:
        """Remove *key* from both dicts; whether it was there. O(1) plus freeing.

        db.c: dbGenericDelete(), behind dbSyncDelete(), dbAsyncDelete() and dbDelete()
        """
        if self.expires.index:
            self.expires.delete(key)
        entry = self.dict.delete(key)
        if self.blocking_keys and entry is not None and entry.val.type == OBJ_STREAM:
            self.server.signal_key_as_ready(self, key, OBJ_STREAM)  # for XREADGROUP
        return entry is not None

    def empty(self) -> int:
        """Drop everything; the number of keys dropped. db.c: emptyDbStructure()"""
        removed = len(self.dict)
        self.dict.empty()
        self.expires.empty()
        self.avg_ttl = 0
        self.expires_cursor = 0
        return removed

    def update_signals(self, all_keys: bool) -> None:
        """Note whether anybody is to be told of changed keys, of watched ones or *all_keys*."""
        self.signals = all_keys or bool(self.watched_keys)

    def swap(self, other: RedisDb) -> None:
        """Exchange contents with *other*; watchers stay where they are. db.c: dbSwapDatabases()

        The state of the active cycle moves with the keys.
        """
        for name in ("dict", "expires", "avg_ttl", "expires_cursor"):
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, theirs)
            setattr(other, name, mine)
        for db in (self, other):
            db.dict.on_rehash = db._rehash_hook("dict")
            db.expires.on_rehash = db._rehash_hook("expires")

    # -- times to live ----------------------------------------------------------------

    def get_expire(self, key: bytes) -> int:
        """The Unix time in ms at which *key* dies, or NO_EXPIRE (-1). db.c: getExpire()

        Redis asserts here that the key is in the main dict as well, in every build: one
        more step of its rehash.
        """
        if not self.expires.index:
            return NO_EXPIRE
        entry = self.expires.find(key)
        if entry is None:
            return NO_EXPIRE
        if self.dict.rehashidx >= 0:
            self.dict.rehash_step_for(key)
        when: int = entry.val
        return when

    def set_expire(self, key: bytes, when: int) -> None:
        """Let *key*, which must exist, die at the Unix time *when* (ms). db.c: setExpire()

        The expires dict shares the key object of the main dict, which is looked up for it.
        """
        d = self.dict
        if d.rehashidx >= 0:
            d.rehash_step_for(key)
        main = d.index[key]
        entry = self.expires.add(main.key, when, main.hash)
        if entry is None:
            self.expires.index[key].val = when
        if self.server.hears_expires:
            self.server.expire_was_set(self, key, when)

    #: The same for a key that the running command has just written. Not to cost a call it is
    #: the same function: a subclass that replaces one says what becomes of the other.
    set_expire_by_link = set_expire

    def remove_expire(self, key: bytes) -> bool:
        """Make *key* persistent; whether it had a TTL. db.c: removeExpire()

        Looks the key up in the main dict first, as Redis's assertion does.
        """
        if self.dict.rehashidx >= 0:
            self.dict.rehash_step_for(key)
        expires = self.expires
        if not expires.index or expires.delete(key) is None:
            return False
        if self.server.probed:
            self.server.probe.expire_removed(self.id, key)
        return True

    def key_is_expired(self, key: bytes) -> bool:
        """Whether the time of *key* has passed: now > when, strictly. db.c: keyIsExpired()

        Inside a command time stands still: the cached clock is used, which the outermost
        command set when it began. So a key cannot die between two look-ups of one
        command or of one transaction.
        """
        when = self.get_expire(key)
        if when < 0 or self.server.loading:
            return False
        server = self.server
        now = server.mstime if server.fixed_time_expire else server.now_ms()
        return now > when

    def expire_if_needed(self, key: bytes, flags: int = 0) -> bool:
        """Whether *key* counts as missing because its time has passed; deletes it then.

        Not deleted, though missing: on a replica (its primary decides; unless FORCE), with
        AVOID, and while clients are paused. On a replica the primary's own link sees the
        key as it is.

        db.c: expireIfNeeded()
        """
        if not self.key_is_expired(key):
            return False
        server = self.server
        if server.masterhost is not None:
            if server.serving_master():
                return False
            if not flags & EXPIRE_FORCE_DELETE_EXPIRED:
                return True
        if flags & EXPIRE_AVOID_DELETE_EXPIRED:
            return True
        if server.check_client_pause_timeout_and_return_if_paused():
            return True
        self.delete_expired_key_and_propagate(key, BY_ACCESS)
        return True

    #: The same for a key that a look-up has just found; see ``set_expire_by_link``.
    expire_found_if_needed = expire_if_needed

    def delete_expired_key_and_propagate(self, key: bytes, by: str) -> None:
        """Delete a key whose time has passed, with every effect in Redis's order.

        1. delete from ``expires``, then from ``dict``; 2. event ``expired``; 3. watchers
        become dirty; 4. DEL or UNLINK is queued for replicas and the append-only file;
        5. ``expired_keys`` counts. *by* says who found it, for probes.

        db.c: deleteExpiredKeyAndPropagate()
        """
        server = self.server
        if server.probed:
            when = self.expires.index[key].val
            server.probe.key_expired(self.id, key, when, server.now_ms(), by)
        if server.latency_monitor_threshold:
            server.time_expire_del(lambda: self.delete(key))
        else:
            self.delete(key)
        self.notify(NOTIFY_EXPIRED, b"expired", key)
        server.signal_modified_key(self, key, by_server=True)
        server.propagate_deletion(self, key, server.lazyfree_lazy_expire)
        server.stat_expiredkeys += 1

    # -- walking ----------------------------------------------------------------------

    def random_key(self) -> bytes | None:
        """A random key that has not expired, or None if there is none. db.c: dbRandomKey()

        Expired keys that are picked are deleted on the way. Differs from Redis, which
        loops for ever when clients are paused and all keys have expired (nothing deletes
        them and its clock stands still): after 100 tries the last pick is returned, as
        Redis does on a replica.
        """
        allvolatile = len(self.dict) == len(self.expires)
        maxtries = RANDOM_KEY_MAX_TRIES
        while True:
            entry = self.dict.get_fair_random_key()
            if entry is None:
                return None
            if not self.expires.index or self.expires.find(entry.key) is None:
                return entry.key
            held = self.server.masterhost is not None or (
                self.server.check_client_pause_timeout_and_return_if_paused()
            )
            maxtries -= 1
            if allvolatile and held and maxtries == 0:
                return entry.key
            if not self.expire_if_needed(entry.key):
                return entry.key

    def entries(self) -> Iterator[DictEntry]:
        """All entries in bucket order, with the rehash paused. dict.c: dictGetSafeIterator()"""
        self.dict.pauserehash += 1
        try:
            yield from self.dict.entries()
        finally:
            self.dict.pauserehash -= 1

    def notify(self, type: int, event: bytes, key: bytes) -> None:
        """Fire a keyspace event if its class is on or a probe listens. notify.c"""
        server = self.server
        if server.notify_mask & type:
            server.notify_keyspace_event(type, event, key, self.id)

    # -- invariants ---------------------------------------------------------------------

    def _check(self) -> None:
        """Assert that dicts and values are sound and that every TTL belongs to a key."""
        self.dict._check()
        self.expires._check()
        for key, entry in self.dict.index.items():
            o: RedisObject = entry.val
            if o.type != OBJ_STRING:
                o.ptr._check()
                assert len(o.ptr) or o.type == OBJ_STREAM, f"{key!r} holds nothing"
        for key, entry in self.expires.index.items():
            main = self.dict.index.get(key)
            assert main is not None, f"{key!r} has a TTL but no value"
            assert main.key is entry.key, f"{key!r}: expires has a copy of the key"
            assert isinstance(entry.val, int)
