"""Eviction: keeping the memory below ``maxmemory`` by deleting keys, or refusing to grow.

Before a command runs, and after CONFIG SET maxmemory, memory is compared with the limit. While
there is too much, the policy picks a key, and it is deleted as an expired key would be
(DEL or UNLINK to replicas, event ``evicted``, WATCH and CLIENT TRACKING are told). If nothing
is left to be evicted, commands with the flag ``denyoom`` are refused.

**Approximate LRU.** To find the key that was not used for longest exactly, all would have
to be kept in order, which costs memory and time at each access. Redis keeps a *pool* of the
16 best candidates instead. Each time a key is wanted, ``maxmemory-samples`` (5) neighbours
of each database are looked at; those idle for longer than the least idle in a full pool get
in. The most idle of the pool goes. Keys sampled earlier stay in it, so it is much better
than the best of five.

Worked example, a pool of 3 for short, idle seconds in brackets: [a 5, b 9, c 30]. Sampled are
d 7 and e 2. e is less idle than the worst and the pool is full: dropped. d replaces a: [d 7,
b 9, c 30]. c is evicted.

The same pool serves LFU (255 - counter in place of idle time) and volatile-ttl (the sooner
it dies the better). The random policies pick from one database after the other.

Limits of the approximation: keys sampled stay in the pool with the idle time of then, and
one that was deleted or used since is a ghost that is skipped or a poor choice.

Differs from Redis, which takes a break after so many µs of work (by default 500, see
``maxmemory-eviction-tenacity``) and lets commands pass meanwhile: here work is not
interrupted, lest what is evicted depend on the speed of Python.

Redis: evict.c.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_MULTI
from miniredis.commands.table import Command
from miniredis.errors import CommandError
from miniredis.keyspace.notify import NOTIFY_EVICTED
from miniredis.keyspace.object import (
    estimate_object_idle_time,
    lfu_decr_and_return,
    lfu_get_time_in_minutes,
)
from miniredis.server.script_flags import command_flags
from miniredis.structs.ae import AE_NOMORE

if TYPE_CHECKING:
    from miniredis.keyspace.db import RedisDb
    from miniredis.server.client import Client
    from miniredis.server.memory_account import MemoryAccount
    from miniredis.server.server import Server
    from miniredis.structs.dict import Dict, DictEntry

USED_MEMORY_STARTUP = 876_288  # bytes that an empty redis-server 7.0.15 with jemalloc uses
EVPOOL_SIZE = 16  # candidates that are remembered
LFU_COUNTER_MAX = 255
TTL_MAX = (1 << 64) - 1
OOM = "OOM command not allowed when used memory > 'maxmemory'."
# Not refused between MULTI and EXEC, where all others would make the queue longer.
_NOT_QUEUED = frozenset({"exec", "discard", "quit", "reset"})


class EvictResult(Enum):
    """What came of it. evict.c: EVICT_OK, EVICT_FAIL"""

    OK = 0
    FAIL = 2  # too much memory and nothing to evict


class Eviction:
    """The eviction of one server. Costs nothing while ``maxmemory`` is 0.

    ``account`` is there while it is not.
    """

    account: MemoryAccount

    def __init__(self, server: Server) -> None:
        self.server = server
        self.maxmemory = 0  # bytes, 0: no limit
        self.out_of_memory = False  # before the running command; server.pre_command_oom_state
        self._pool: list[tuple[int, int, bytes]] = []  # (score, database, key), worst first
        self._next_db = 0
        self._running = False  # a time event is planned

    def used_memory(self) -> int:
        """Bytes in use, as far as they are counted; only while there is a limit."""
        return USED_MEMORY_STARTUP + self.account.data_bytes()

    def configure(self) -> None:
        """``maxmemory`` may have been changed. config.c: updateMaxmemory()"""
        maxmemory: int = self.server.config.maxmemory
        if maxmemory == self.maxmemory:
            return
        if not self.maxmemory:
            from miniredis.server.memory_account import MemoryAccount  # needed by few

            self.account = MemoryAccount(self.server)
        self.maxmemory = maxmemory
        self.out_of_memory = False
        self.server.update_signals()
        if maxmemory:
            self._start_time_proc()

    # -- before a command -------------------------------------------------------------

    def refuse(self, c: Client, cmd: Command) -> CommandError | None:
        """Make room; why *cmd* may not run if there is none. server.c: processCommand()"""
        server = self.server
        if server.scripting.is_timed_out:
            return None
        failed = self.perform_evictions() is EvictResult.FAIL
        if failed and self._may_grow(c, cmd):
            return CommandError(OOM)
        self.out_of_memory = failed
        return None

    def _may_grow(self, c: Client, cmd: Command) -> bool:
        if c.flags & CLIENT_MULTI and cmd.name not in _NOT_QUEUED:
            return True
        queued = c.mstate.commands if cmd.name == "exec" else []
        return any(
            "denyoom" in command_flags(self.server, row, argv)
            for row, argv in [(cmd, c.argv), *queued]
        )

    # -- evicting ---------------------------------------------------------------------

    def perform_evictions(self) -> EvictResult:
        """Delete keys until memory is below the limit, or none is left.

        evict.c: performEvictions()
        """
        server = self.server
        if not self._is_safe():
            return EvictResult.OK
        to_free = self.used_memory() - self.maxmemory
        if to_free <= 0:
            return EvictResult.OK
        policy: str = server.config.maxmemory_policy
        if policy == "noeviction":
            return EvictResult.FAIL
        start_us = server.clock.us()
        result = EvictResult.OK
        while to_free > 0:
            best = self._random_key(policy) if "random" in policy else self._best_key(policy)
            if best is None:
                result = EvictResult.FAIL
                break
            to_free -= self._evict(*best)
        server.propagate_pending_commands()
        server.latency_add_sample_if_needed(
            "eviction-cycle", (server.clock.us() - start_us) // 1000
        )
        return result

    def _is_safe(self) -> bool:
        """evict.c: isSafeToPerformEvictions()"""
        server = self.server
        if not self.maxmemory or server.scripting.is_timed_out or server.loading:
            return False
        if server.masterhost is not None and server.config.replica_ignore_maxmemory:
            return False
        return not server.check_client_pause_timeout_and_return_if_paused()

    def _evict(self, db: RedisDb, key: bytes) -> int:
        """Delete *key* with all effects; the bytes that this frees."""
        server = self.server
        before = self.account.data_bytes()
        start_us = server.clock.us()
        db.delete(key)
        server.latency_add_sample_if_needed("eviction-del", (server.clock.us() - start_us) // 1000)
        server.stat_evictedkeys += 1
        server.signal_modified_key(db, key, by_server=True)
        db.notify(NOTIFY_EVICTED, b"evicted", key)
        server.propagate_deletion(db, key, server.config.lazyfree_lazy_eviction)
        return before - self.account.data_bytes()

    def _start_time_proc(self) -> None:
        """Evict in the next turn of the event loop. evict.c: startEvictionTimeProc()"""
        if not self._running:
            self._running = True
            self.server.el.create_time_event(0, self._time_proc)

    def _time_proc(self) -> int:
        """evict.c: evictionTimeProc()"""
        self._running = False
        self.perform_evictions()
        return AE_NOMORE

    # -- which key --------------------------------------------------------------------

    def _candidates(self, db: RedisDb, policy: str) -> Dict:
        return db.dict if policy.startswith("allkeys") else db.expires

    def _random_key(self, policy: str) -> tuple[RedisDb, bytes] | None:
        """A random key of the next database that has any."""
        databases = self.server.databases
        for _ in databases:
            self._next_db += 1
            db = databases[self._next_db % len(databases)]
            entry = self._candidates(db, policy).get_random_key()
            if entry is not None:
                return db, entry.key
        return None

    def _best_key(self, policy: str) -> tuple[RedisDb, bytes] | None:
        """The best of the pool, after new samples have got in."""
        databases = self.server.databases
        while any(self._candidates(db, policy).index for db in databases):
            for db in databases:
                if self._candidates(db, policy).index:
                    self._populate_pool(db, policy)
            while self._pool:
                _, dbid, key = self._pool.pop()
                entry = self._candidates(databases[dbid], policy).find(key)
                if entry is not None:
                    return databases[dbid], entry.key
        return None

    def _populate_pool(self, db: RedisDb, policy: str) -> None:
        """Sample some keys of *db*; the better ones get into the pool.

        evict.c: evictionPoolPopulate()
        """
        pool = self._pool
        samples = self._candidates(db, policy).get_some_keys(self.server.config.maxmemory_samples)
        for entry in samples:
            score = self._score(db, entry, policy)
            place = bisect_left(pool, score, key=lambda candidate: candidate[0])
            if len(pool) == EVPOOL_SIZE:
                if place == 0:
                    continue
                del pool[0]
                place -= 1
            pool.insert(place, (score, db.id, entry.key))

    def _score(self, db: RedisDb, entry: DictEntry, policy: str) -> int:
        """The higher, the sooner a key should go."""
        server = self.server
        if policy == "volatile-ttl":
            return TTL_MAX - int(entry.val)
        if not policy.startswith("allkeys"):
            main = db.dict.find(entry.key)
            assert main is not None
            entry = main
        if policy.endswith("lru"):
            return estimate_object_idle_time(entry.val, server.lru_clock())
        minutes = lfu_get_time_in_minutes(server.mstime // 1000)
        counter = lfu_decr_and_return(entry.val, minutes, server.config.lfu_decay_time)
        return LFU_COUNTER_MAX - counter

    def _check(self) -> None:
        """Assert that the pool is in order and that the account is right."""
        assert len(self._pool) <= EVPOOL_SIZE
        scores = [score for score, _, _ in self._pool]
        assert scores == sorted(scores)
        if self.maxmemory:
            self.account._check()
