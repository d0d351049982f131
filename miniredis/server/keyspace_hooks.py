"""What the keyspace asks of the server it belongs to: the clock, effects, other databases.

:class:`KeyspaceHooks` is the part of ``Server`` that meets the protocol
:class:`~miniredis.keyspace.db.KeyspaceServer`; commands use it too.

Redis: spread over server.c, db.c, notify.c, evict.c and expire.c.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from miniredis.clock import Clock, CostModel
from miniredis.commands.client_flags import CLIENT_MASTER
from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.object import (
    LFU_INIT_VAL,
    LRU_CLOCK_MAX,
    LRU_CLOCK_RESOLUTION,
    OBJ_LIST,
    RedisObject,
    lfu_decr_and_return,
    lfu_get_time_in_minutes,
    lfu_log_incr,
)
from miniredis.keyspace.quicklist import PACKED_THRESHOLD, PACKED_THRESHOLD_MAX
from miniredis.keyspace.writable_replica import SlaveKeysWithExpire
from miniredis.probe import Probe
from miniredis.server.blocked import Blocking
from miniredis.server.config_numbers import memtoull
from miniredis.server.events import publish_keyspace_event
from miniredis.server.evict import Eviction
from miniredis.server.latency import LatencyMonitor
from miniredis.server.multi import touch_all_watched_keys_in_db, touch_watched_key
from miniredis.server.pause import CLIENT_PAUSE_ALL, CLIENT_PAUSE_WRITE, ClientPause
from miniredis.server.propagation import Propagation
from miniredis.server.script import Scripting
from miniredis.server.stats import Stats
from miniredis.server.tracking import Tracking

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server


class KeyspaceHooks(Stats):
    """Base of ``Server``; the attributes below are its."""

    blocking: Blocking
    clock: Clock
    cost: CostModel
    current_client: Client | None
    databases: list[RedisDb]
    dirty: int
    fixed_time_expire: int
    latency: LatencyMonitor
    latency_monitor_threshold: int
    loading: bool
    masterhost: str | None
    maxmemory_lfu: bool
    pause: ClientPause
    probe: Probe
    probed: bool
    propagation: Propagation
    slave_keys_with_expire: SlaveKeysWithExpire
    writable_replica: bool
    quicklist_packed_threshold: int
    lock: threading.RLock
    scripting: Scripting
    tracking: Tracking
    eviction: Eviction
    ttl_clock_frozen: bool

    # -- the clock --------------------------------------------------------------------

    def ustime(self) -> int:
        """The time in µs; reading it costs what the cost model says. server.c: ustime()

        For the work that the server does by itself. Commands are free and ask the clock.
        """
        us = self.clock.us()
        self.clock.spend_ns(self.cost.clock_read_ns)
        return us

    def now_ms(self) -> int:
        """A fresh reading of the clock in ms. Redis: mstime()"""
        return self.clock.us() // 1000

    def ttl_clock_ms(self) -> int:
        """The clock of TTL and of relative times, in ms: a fresh one until 7.0.

        From 7.2 on it is the clock of look-ups, which stands still during a command.
        server.c: commandTimeSnapshot()
        """
        return self.mstime if self.ttl_clock_frozen else self.clock.us() // 1000

    def update_cached_time(self, us: int) -> None:
        """Set the clock that stands still during a command. server.c: updateCachedTime()"""
        self.us = us
        self.mstime = us // 1000

    def refresh_lru_clock(self, now_ms: int) -> None:
        """Note the clock, in seconds that wrap after 194 days, for accesses, and
        the ``lru`` field that a new object gets.

        Under an LFU policy that field holds minutes and a counter that begins at 5, lest
        a new key be evicted at once. evict.c: getLRUClock(), object.c: createObject()
        """
        self.lruclock = now_ms // LRU_CLOCK_RESOLUTION & LRU_CLOCK_MAX
        minutes = lfu_get_time_in_minutes(now_ms // 1000)
        self.new_object_lru = minutes << 8 | LFU_INIT_VAL if self.maxmemory_lfu else self.lruclock

    def lru_clock(self) -> int:
        """The access time to note, as the last cron left it. evict.c: LRU_CLOCK()"""
        return self.lruclock

    def touch_lfu(self, o: RedisObject) -> None:
        """Count an access under an LFU policy. db.c: updateLFU()"""
        minutes = lfu_get_time_in_minutes(self.mstime // 1000)
        counter = lfu_decr_and_return(o, minutes, self.config.lfu_decay_time)
        counter = lfu_log_incr(counter, self.config.lfu_log_factor, self.rng)
        o.lru = minutes << 8 | counter

    # -- what the keyspace asks of its server -------------------------------------------

    def serving_master(self) -> bool:
        """Whether the running command comes over the link to our primary."""
        return self.current_client is not None and bool(self.current_client.flags & CLIENT_MASTER)

    def expire_was_set(self, db: RedisDb, key: bytes, when: int) -> None:
        """*key* got a TTL; a writable replica remembers what a client did. db.c: setExpire()"""
        if self.probed:
            self.probe.expire_set(db.id, key, when)
        if self.writable_replica and self.current_client is not None and not self.serving_master():
            self.slave_keys_with_expire.remember(db, key)

    def check_client_pause_timeout_and_return_if_paused(self) -> bool:
        """See ``server/pause.py``."""
        return self.pause.type != 0 and self.pause.check_timeout()

    def notify_keyspace_event(self, type: int, event: bytes, key: bytes, dbid: int) -> None:
        """Publish a keyspace event if its class is on. notify.c: notifyKeyspaceEvent()"""
        if self.probed:
            self.probe.keyspace_event(event, key, dbid)
        publish_keyspace_event(cast("Server", self), type, event, key, dbid)

    def pause_clients(self, end_ms: int, write_only: bool) -> None:
        """Hold commands back until *end_ms* (Unix ms). networking.c: pauseClients()"""
        self.pause.pause(end_ms, CLIENT_PAUSE_WRITE if write_only else CLIENT_PAUSE_ALL)

    def signal_modified_key(self, db: RedisDb, key: bytes, *, by_server: bool = False) -> None:
        """*key* was changed: whoever watches or tracks it must know. db.c: signalModifiedKey()

        *by_server*: no client did it (expiry).
        """
        touch_watched_key(db, key)
        if self.tracking.active:
            self.tracking.invalidate_key(key, None if by_server else self.running_client())
        if self.eviction.maxmemory:
            self.eviction.account.note(db, key)

    @property
    def hears_changes(self) -> bool:
        """Whether changes of all keys are to be signalled, watched or not."""
        return self.tracking.active or self.eviction.maxmemory > 0

    def update_signals(self) -> None:
        """Note in each database whether changes are to be signalled."""
        for db in self.databases:
            db.update_signals(self.hears_changes)

    def running_client(self) -> Client | None:
        """The client whose command runs; in a script the one that stands for it."""
        scripting = self.scripting
        return self.current_client if scripting.running is None else scripting.client

    def end_turn(self) -> None:
        """The transport of a client with ``turn_open`` has no more commands at hand."""
        if self.tracking.has_news:
            with self.lock:
                self.tracking.broadcast_invalidation_messages()

    def signal_key_as_ready(self, db: RedisDb, key: bytes, type: int) -> None:
        """*key* has got a value that somebody may wait for. blocked.c: signalKeyAsReady()"""
        self.blocking.signal_key_as_ready(db, key, type)

    def check_already_expired(self, when: int) -> bool:
        """Whether a time to live is past when it is set. expire.c: checkAlreadyExpired()"""
        return when <= self.ttl_clock_ms() and not self.loading and self.masterhost is None

    def empty_data(self, databases: list[RedisDb]) -> int:
        """Drop all keys of *databases*; how many there were. db.c: emptyData()"""
        for db in databases:
            self.blocking.scan_database_for_deleted_streams(db, None)
            touch_all_watched_keys_in_db(db, None)
            if self.probed:
                self.probe.emptied(db.id)
        if self.tracking.active:
            self.tracking.invalidate_keys_on_flush()
        if self.eviction.maxmemory:
            self.eviction.account.begin_anew()
        if databases is self.databases:
            self.slave_keys_with_expire.flush()
        return sum(db.empty() for db in databases)

    def access_time_after_load(self) -> Callable[[RedisObject], int]:
        """The ``lru`` field that a value gets when it is loaded, from the one it had.

        An access time is saved under an LRU policy, a counter under an LFU policy.
        rdb.c: rdbSaveKeyValuePair(), object.c: objectSetLRUOrLFU()
        """
        if self.maxmemory_lfu:
            minutes = lfu_get_time_in_minutes(self.mstime // 1000)
            decay_time = self.config.lfu_decay_time
            return lambda o: minutes << 8 | lfu_decr_and_return(o, minutes, decay_time)
        if "lru" in self.config.maxmemory_policy:
            return lambda o: o.lru
        now = self.lru_clock()
        return lambda o: now

    def swap_databases(self, db1: RedisDb, db2: RedisDb) -> None:
        """Exchange the contents of two databases. db.c: dbSwapDatabases()"""
        if db1 is not db2:
            touch_all_watched_keys_in_db(db1, db2)
            touch_all_watched_keys_in_db(db2, db1)
            self.blocking.scan_database_for_deleted_streams(db1, db2)
            self.blocking.scan_database_for_deleted_streams(db2, db1)
            db1.swap(db2)
            if self.eviction.maxmemory:
                self.eviction.account.begin_anew()
            self.blocking.scan_database_for_ready_keys(db1)
            self.blocking.scan_database_for_ready_keys(db2)
            if self.probed:
                self.probe.swapped(db1.id, db2.id)

    def set_quicklist_packed_threshold(self, size: bytes) -> bool:
        """Change it for all lists; False unless it is a memory value below some 4 GB.

        0 stands for the default. O(keys). quicklist.c: quicklistisSetPackedThreshold()
        """
        threshold = memtoull(size)
        if threshold is None or threshold > PACKED_THRESHOLD_MAX:
            return False
        self.quicklist_packed_threshold = threshold or PACKED_THRESHOLD
        for db in self.databases:
            for entry in db.dict.index.values():
                if entry.val.type == OBJ_LIST:
                    entry.val.ptr.packed = self.quicklist_packed_threshold
        return True

    def propagate_deletion(self, db: RedisDb, key: bytes, lazy: bool) -> None:
        """Queue the DEL or UNLINK of an expired key. db.c: propagateDeletion()"""
        if self.propagation.targets:
            self.propagation.also_propagate(db.id, [b"UNLINK" if lazy else b"DEL", key])

    def propagate_pending_commands(self) -> None:
        """Send what was queued, one by one. server.c: propagatePendingCommands()"""
        if self.propagation.targets and not self.fixed_time_expire:
            self.propagation.flush(transaction=False)

    def time_expire_del(self, delete: Callable[[], object]) -> None:
        """Delete an expired key under the latency monitor's eye (event ``expire-del``)."""
        start = self.ustime() // 1000
        delete()
        self.latency_add_sample_if_needed("expire-del", self.ustime() // 1000 - start)

    def latency_add_sample_if_needed(self, event: str, ms: int) -> None:
        """Tell the latency monitor, if it is on and *ms* reaches its threshold."""
        if 0 < self.latency_monitor_threshold <= ms:
            self.latency.add_sample(event, ms, self.clock.us() // 1_000_000)
