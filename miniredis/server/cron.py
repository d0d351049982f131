"""The cron: what the server does ``hz`` times a second by itself.

What a run does while nothing happens is known to ``server/idle.py`` too.

Order of one run: cached time, effective hz, clients, databases (active expiry, then
resizing, then rehashing), saving that was put off, the end of a pause, replication, the
loop counter.

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

if TYPE_CHECKING:
    from miniredis.server.server import Server

CONFIG_MAX_HZ = 500
METRICS_PERIOD_MS = 100  # between two samples of each rate
MAX_CLIENTS_PER_CLOCK_TICK = 200  # more clients per tick double the effective hz
# Clients that ``timeout`` does not concern.
_MAY_BE_IDLE = CLIENT_SLAVE | CLIENT_MASTER | CLIENT_BLOCKED | CLIENT_PUBSUB
US_PER_SECOND = 1_000_000
REPLICATION_CRON_MS = 1000
FAILOVER_CRON_MS = 100


def server_cron(server: Server) -> int:
    """One run; returns the ms until the next, counted from its end. server.c: serverCron()"""
    server.update_cached_time(server.ustime())
    server.hz = effective_hz(server)
    if server.pause_cron:
        return 1000 // server.hz
    if run_with_period(server, METRICS_PERIOD_MS):
        server.track_instantaneous_metrics()
    server.refresh_lru_clock(server.ustime() // 1000)
    clients_cron(server)
    databases_cron(server)
    if server.saving_scheduled:
        server.persistence.cron()
    server.pause.check_timeout()
    failing_over = server.repl.failover.active
    if run_with_period(server, FAILOVER_CRON_MS if failing_over else REPLICATION_CRON_MS):
        server.repl.cron()
    if server.migrate_sockets.cached:
        server.migrate_sockets.close_timed_out()
    if server.tracking.tracking_clients:
        server.tracking.limit_used_slots()
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
    """Fit buffers, and close clients that have sent nothing for more than ``timeout`` seconds.

    Those that wait for something stay: replicas, monitors, subscribers, blocked clients.
    Differs from Redis, which looks at a part of the clients in each run and at all of
    them once a second: here every run looks at all.

    server.c: clientsCron(), timeout.c: clientsCronHandleTimeout()
    """
    now = server.ustime() // US_PER_SECOND
    for c in server.clients.values():
        if c.reply_buffer is not None:
            c.reply_buffer.resize(server.reply_buffers, server.mstime)
    timeout = server.config.timeout
    if not timeout:
        return
    for c in list(server.clients.values()):
        if not c.flags & _MAY_BE_IDLE and now - c.lastinteraction_us // US_PER_SECOND > timeout:
            server.kill_client(c)


def databases_cron(server: Server) -> None:
    """Expire, then resize, then rehash. server.c: databasesCron()

    A replica expires only the keys that clients wrote to it, if they may.

    A table that the cycle empties below 10 % is shrunk in the same run. How much is
    rehashed depends on the version, see ``keyspace/rehashing.py``.
    """
    if server.active_expire_enabled:
        if server.masterhost is None:
            server.expire_engine.active_expire_cycle(ACTIVE_EXPIRE_CYCLE_SLOW)
        else:
            server.slave_keys_with_expire.expire()
    dbnum = len(server.databases)
    for _ in range(min(CRON_DBS_PER_CALL, dbnum)):
        db = server.databases[server.resize_db % dbnum]
        db.dict.try_resize()
        db.expires.try_resize()
        server.resize_db += 1
    if server.activerehashing:
        server.rehash_databases(server)
