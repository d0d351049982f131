"""Eviction: which keys go when memory is full, and the commands refused when none may.

Before each command, a server with ``maxmemory`` compares it with the memory used and
evicts until it is below. The best key to evict is not known; looking for it would mean
looking at all. So each round samples a few keys of every database, and the best of all
samples so far wait in a pool of 16.

How the pool works. It is sorted by score, the best key for eviction last. A score is the
idle time (LRU), 255 less the access counter (LFU), or the nearness of the end (TTL). A
sample enters if the pool has room or the sample beats the worst in it, which then leaves.
The last one is evicted, unless it is a ghost: deleted meanwhile. With ``maxmemory-samples``
5 and a pool that holds idle times [3, 9], samples 5, 2 and 12 make it [2, 3, 5, 9, 12]; 12 goes,
and 9 waits for the next round, where it competes with five new samples. So a long-idle key
that was once seen is not forgotten, which makes five samples nearly as good as many.

Limits. "Memory used" is the estimate of INFO: of the data, so many bytes a key, whatever
the value's size (``server/info_memory.py``). Work is free under a virtual clock, so the time
limit of an eviction (``maxmemory-eviction-tenacity``) is met under a system clock only.

Redis: evict.c.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from miniredis.keyspace.notify import NOTIFY_EVICTED
from miniredis.keyspace.object import (
    RedisObject,
    estimate_object_idle_time,
    lfu_decr_and_return,
    lfu_get_time_in_minutes,
)
from miniredis.server.info_memory import used_memory
from miniredis.structs.ae import AE_NOMORE

if TYPE_CHECKING:
    from miniredis.keyspace.db import RedisDb
    from miniredis.server.server import Server
    from miniredis.structs.dict import Dict, DictEntry

EVPOOL_SIZE = 16  # candidates that are remembered
KEYS_BETWEEN_CHECKS = 16  # evicted, before the time limit is looked at
LFU_MAX = 255  # of an access counter
ULLONG_MAX = (1 << 64) - 1

# The time limit in µs: linear up to this tenacity, then 15 % more for each step, then none.
LINEAR_TENACITY = 10
LINEAR_STEP_US = 50
GROWTH = 1.15
NO_LIMIT_TENACITY = 100


class EvictResult(Enum):
    """What came of an attempt to get below ``maxmemory``. server.h: EVICT_*"""

    OK = "ok"
    RUNNING = "running"  # the time is up; a time event goes on
    FAIL = "fail"  # memory is full and nothing may go


class Candidate:
    """A key in the pool. evict.c: evictionPoolEntry"""

    __slots__ = ("dbid", "idle", "key")

    def __init__(self, idle: int, dbid: int, key: bytes) -> None:
        self.idle = idle
        self.dbid = dbid
        self.key = key


class EvictionPool:
    """The best keys for eviction among all that were sampled, best last."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []

    def offer(self, idle: int, dbid: int, key: bytes) -> None:
        """Let a sampled key in if there is room or it beats the worst. O(EVPOOL_SIZE)

        One that ties with others stands before them, so it goes after them.

        evict.c: evictionPoolPopulate()
        """
        pool = self.candidates
        k = 0
        while k < len(pool) and pool[k].idle < idle:
            k += 1
        if len(pool) == EVPOOL_SIZE:
            if k == 0:
                return
            del pool[0]
            k -= 1
        pool.insert(k, Candidate(idle, dbid, key))

    def take(self) -> Candidate | None:
        """Take the best one out; None if the pool is empty."""
        return self.candidates.pop() if self.candidates else None

    def _check(self) -> None:
        """Assert that the pool is sorted and no larger than it may be."""
        idles = [candidate.idle for candidate in self.candidates]
        assert idles == sorted(idles)
        assert len(idles) <= EVPOOL_SIZE


class Eviction:
    """Keeps one server below its ``maxmemory``."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.pool = EvictionPool()
        self.next_db = 0  # of the random policies, which take a key of each database in turn
        self.is_running = False  # a time event goes on evicting
        self.pre_command_oom_state = False  # memory was full before the command that runs
        self._limit: int = server.config.maxmemory

    def perform_evictions(self) -> EvictResult:
        """Evict keys until memory is below ``maxmemory``, or the time is up.

        O(keys evicted * (databases * ``maxmemory-samples``)). evict.c: performEvictions()
        """
        server = self.server
        config = server.config
        if not self._is_safe():
            return EvictResult.OK
        if used_memory(server) <= config.maxmemory:
            return EvictResult.OK
        if config.maxmemory_policy == "noeviction":
            return EvictResult.FAIL
        start = server.clock.us()
        limit_us = eviction_time_limit_us(config.maxmemory_eviction_tenacity)
        freed = 0
        out_of_time = False
        while used_memory(server) > config.maxmemory:
            best = self.find_best_key()
            if best is None:
                break
            self._evict(*best)
            freed += 1
            if freed % KEYS_BETWEEN_CHECKS == 0 and server.clock.us() - start > limit_us:
                out_of_time = True
                self.start_time_proc()
                break
        server.propagate_pending_commands()
        duration = server.clock.us() - start
        server.latency_add_sample_if_needed("eviction-cycle", duration // 1000)
        if used_memory(server) <= config.maxmemory or out_of_time:
            return EvictResult.RUNNING if self.is_running else EvictResult.OK
        return EvictResult.FAIL

    def find_best_key(self) -> tuple[RedisDb, bytes] | None:
        """The key to evict next, by the policy; None if no key may go."""
        policy = self.server.config.maxmemory_policy
        if policy.endswith("random"):
            return self._random_key()
        while self._populate():
            while (candidate := self.pool.take()) is not None:
                db = self.server.databases[candidate.dbid]
                if self._eligible(db).find(candidate.key) is not None:
                    return db, candidate.key
                # Else a ghost: deleted, or made persistent, since it was sampled.
        return None

    def _populate(self) -> bool:
        """Offer samples of every database to the pool; whether there was any key.

        evict.c: evictionPoolPopulate()
        """
        found = False
        samples = self.server.config.maxmemory_samples
        for db in self.server.databases:
            d = self._eligible(db)
            if not len(d):
                continue
            found = True
            for entry in d.get_some_keys(samples):
                self.pool.offer(self._idle(db, d, entry), db.id, entry.key)
        return found

    def _idle(self, db: RedisDb, d: Dict, entry: DictEntry) -> int:
        """How good it would be to evict this key: more is better."""
        server = self.server
        policy = server.config.maxmemory_policy
        if policy == "volatile-ttl":
            return ULLONG_MAX - int(entry.val)
        found = entry if d is db.dict else db.dict.find(entry.key)
        assert found is not None
        o: RedisObject = found.val
        if policy.endswith("lru"):
            return estimate_object_idle_time(o, server.lruclock)
        minutes = lfu_get_time_in_minutes(server.mstime // 1000)
        return LFU_MAX - lfu_decr_and_return(o, minutes, server.config.lfu_decay_time)

    def _random_key(self) -> tuple[RedisDb, bytes] | None:
        databases = self.server.databases
        for _ in databases:
            self.next_db += 1
            db = databases[self.next_db % len(databases)]
            entry = self._eligible(db).get_random_key()
            if entry is not None:
                return db, entry.key
        return None

    def _eligible(self, db: RedisDb) -> Dict:
        allkeys = self.server.config.maxmemory_policy.startswith("allkeys")
        return db.dict if allkeys else db.expires

    def _evict(self, db: RedisDb, key: bytes) -> None:
        """Delete one key, with every effect in Redis's order."""
        server = self.server
        start = server.clock.us()
        db.delete(key)
        duration = server.clock.us() - start
        server.latency_add_sample_if_needed("eviction-del", duration // 1000)
        server.stat_evictedkeys += 1
        server.signal_modified_key(db, key)
        if server.notify_mask & NOTIFY_EVICTED:
            db.notify(NOTIFY_EVICTED, b"evicted", key)
        server.propagate_deletion(db, key, server.config.lazyfree_lazy_eviction)

    def _is_safe(self) -> bool:
        """Whether keys may go at all now. evict.c: isSafeToPerformEvictions()"""
        server = self.server
        if server.scripting.is_timed_out or server.loading:
            return False
        if server.masterhost is not None and server.config.replica_ignore_maxmemory:
            return False
        return not server.pause.check_timeout()

    def limit_may_have_changed(self) -> None:
        """Begin to evict if ``maxmemory`` was lowered too far. config.c: updateMaxmemory()"""
        limit, self._limit = self._limit, self.server.config.maxmemory
        if self._limit not in (0, limit) and used_memory(self.server) > self._limit:
            self.start_time_proc()

    def start_time_proc(self) -> None:
        """Evict as soon as the loop turns. evict.c: startEvictionTimeProc()"""
        if not self.is_running:
            self.is_running = True
            self.server.el.create_time_event(0, self._time_proc)

    def _time_proc(self) -> int:
        if self.perform_evictions() is EvictResult.RUNNING:
            return 0
        self.is_running = False
        return AE_NOMORE


def eviction_time_limit_us(tenacity: int) -> float:
    """How long evictions may hold up one command, µs. evict.c: evictionTimeLimitUs()

    500 µs at the default of 10, 1 ms at 15, two minutes at 99.
    """
    if tenacity <= LINEAR_TENACITY:
        return LINEAR_STEP_US * tenacity
    if tenacity < NO_LIMIT_TENACITY:
        return int(LINEAR_STEP_US * LINEAR_TENACITY * GROWTH ** (tenacity - LINEAR_TENACITY))
    return float("inf")
