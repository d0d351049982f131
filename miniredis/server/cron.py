"""The cron: what the server does ``hz`` times a second by itself.

Order of one run: cached time, effective hz, clients, databases (active expiry, then
resizing, then rehashing), the end of a pause, replication, the loop counter.

Redis: ``serverCron()``, ``databasesCron()`` in server.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_MASTER,
    CLIENT_PUBSUB,
    CLIENT_SLAVE,
)
from miniredis.keyspace.expire import ACTIVE_EXPIRE_CYCLE_SLOW, CRON_DBS_PER_CALL
from miniredis.structs.dict import DICT_HT_INITIAL_SIZE, Dict

if TYPE_CHECKING:
    from miniredis.server.server import Server

CONFIG_MAX_HZ = 500
MAX_CLIENTS_PER_CLOCK_TICK = 200  # more clients per tick double the effective hz
HASHTABLE_MIN_FILL = 10  # % below which a table is shrunk
INCREMENTAL_REHASH_MS = 1  # time one cron gives to moving buckets
# Clients that ``timeout`` does not concern.
_MAY_BE_IDLE = CLIENT_SLAVE | CLIENT_MASTER | CLIENT_BLOCKED | CLIENT_PUBSUB
US_PER_SECOND = 1_000_000
REPLICATION_CRON_MS = 1000
REHASH_BATCH = 100  # steps between two looks at the clock


def server_cron(server: Server) -> int:
    """One run; returns the ms until the next, counted from its end. server.c: serverCron()"""
    server.update_cached_time(server.clock.us())
    server.hz = effective_hz(server)
    if server.pause_cron:
        return 1000 // server.hz
    if run_with_period(server, 100):
        server.track_instantaneous_metrics()
    server.refresh_lru_clock()
    clients_cron(server)
    databases_cron(server)
    server.pause.check_timeout()
    if run_with_period(server, REPLICATION_CRON_MS):
        server.repl.cron()
    server.cronloops += 1
    if server.probed:
        server.probe.cron(server.mstime, server.hz)
    return 1000 // server.hz


def effective_hz(server: Server) -> int:
    """The configured hz, doubled while there are more than 200 clients a tick.

    With hz 10 and ``dynamic-hz yes``: up to 2,009 clients 10, from 2,010 on 20.
    """
    hz: int = server.config.hz
    if server.config.dynamic_hz:
        while len(server.clients) // hz > MAX_CLIENTS_PER_CLOCK_TICK:
            hz *= 2
            if hz > CONFIG_MAX_HZ:
                return CONFIG_MAX_HZ
    return hz


def run_with_period(server: Server, ms: int) -> bool:
    """Whether a job for every *ms* milliseconds is due in this run. server.h: run_with_period"""
    tick = 1000 // server.hz
    return ms <= tick or server.cronloops % (ms // tick) == 0


def clients_cron(server: Server) -> None:
    """Close clients that have sent nothing for more than ``timeout`` seconds.

    Those that wait for something stay: replicas, monitors, subscribers, blocked clients.
    Differs from Redis, which looks at a part of the clients in each run and at all of
    them once a second: here every run looks at all.

    server.c: clientsCron(), timeout.c: clientsCronHandleTimeout()
    """
    timeout = server.config.timeout
    if not timeout:
        return
    now = server.mstime // 1000
    for c in list(server.clients.values()):
        if not c.flags & _MAY_BE_IDLE and now - c.lastinteraction_us // US_PER_SECOND > timeout:
            server.kill_client(c)


def databases_cron(server: Server) -> None:
    """Expire, then resize, then rehash. server.c: databasesCron()

    A replica expires only the keys that clients wrote to it, if they may.

    A table that the cycle empties below 10 % is shrunk in the same run. Only one table
    is rehashed per run: ``dict`` first, ``expires`` not before it is done.
    """
    if server.active_expire_enabled:
        if server.masterhost is None:
            server.expire_engine.active_expire_cycle(ACTIVE_EXPIRE_CYCLE_SLOW)
        else:
            server.slave_keys_with_expire.expire()
    dbnum = len(server.databases)
    for _ in range(min(CRON_DBS_PER_CALL, dbnum)):
        try_resize_hash_tables(server, server.resize_db % dbnum)
        server.resize_db += 1
    if not server.activerehashing:
        return
    for _ in range(min(CRON_DBS_PER_CALL, dbnum)):
        if incrementally_rehash(server, server.rehash_db):
            return
        server.rehash_db = (server.rehash_db + 1) % dbnum


def ht_needs_resize(d: Dict) -> bool:
    """Whether less than 10 % of the buckets' number is in use. server.c: htNeedsResize()"""
    size = len(d.ht_table[0]) + len(d.ht_table[1])
    return size > DICT_HT_INITIAL_SIZE and len(d.index) * 100 // size < HASHTABLE_MIN_FILL


def try_resize_hash_tables(server: Server, dbid: int) -> None:
    """Begin to shrink tables that are nearly empty. server.c: tryResizeHashTables()"""
    db = server.databases[dbid]
    if ht_needs_resize(db.dict):
        db.dict.resize()
    if ht_needs_resize(db.expires):
        db.expires.resize()


def incrementally_rehash(server: Server, dbid: int) -> bool:
    """Rehash one table of a database for about 1 ms; whether one needed it.

    server.c: incrementallyRehash()
    """
    db = server.databases[dbid]
    for d in (db.dict, db.expires):
        if d.rehashidx >= 0:
            rehash_milliseconds(server, d, INCREMENTAL_REHASH_MS)
            return True
    return False


def rehash_milliseconds(server: Server, d: Dict, ms: int) -> None:
    """Rehash in batches of 100 steps until more than *ms* have passed or all is done.

    The clock is looked at after each batch, so under a clock that stands still the whole
    table moves. dict.c: dictRehashMilliseconds()
    """
    if d.pauserehash > 0:
        return
    clock, cost = server.clock, server.cost
    start = clock.ms()
    while d.is_rehashing():
        buckets, entries = d.rehashidx, d.ht_used[0]
        size = len(d.ht_table[0])
        more = d.rehash(REHASH_BATCH)
        passed = (d.rehashidx if more else size) - buckets
        moved = entries - (d.ht_used[0] if more else 0)
        clock.spend_ns(passed * cost.rehash_empty_ns + moved * cost.rehash_entry_ns)
        if not more or clock.ms() - start > ms:
            return
