"""Moving buckets in the cron, so that an idle server does not keep two tables for long.

Versions differ in how far one run of the cron gets. Until 7.2 a run works on one table
only: ``expires`` has to wait until ``dict`` is done. From 7.4 on a run works on one table
after the other, until the millisecond is over. That is why the last keys of a mass expiry
wait two crons there, and one here: the cycle does not look into a table while it is
sparse, and it is sparse until it has been rehashed.

Redis: ``databasesCron()``, ``incrementallyRehash()`` in server.c, kvstore.c.
"""

from __future__ import annotations

from typing import Protocol

from miniredis.clock import Clock, CostModel
from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.expire import CRON_DBS_PER_CALL
from miniredis.structs.dict import Dict

INCREMENTAL_REHASH_MS = 1  # time one cron gives to moving buckets
INCREMENTAL_REHASHING_THRESHOLD_US = 1000  # the same from 7.4 on
REHASH_BATCH = 100  # steps between two looks at the clock


class RehashServer(Protocol):
    """What is needed of the server."""

    clock: Clock
    cost: CostModel
    databases: list[RedisDb]
    rehash_db: int  # the database to begin with

    def ustime(self) -> int: ...


def rehash_one_table(server: RehashServer) -> None:
    """Rehash the first table that needs it for about 1 ms: until 7.2.

    ``dict`` comes first; ``expires`` only when ``dict`` is not being rehashed.
    """
    dbnum = len(server.databases)
    for _ in range(min(CRON_DBS_PER_CALL, dbnum)):
        db = server.databases[server.rehash_db % dbnum]
        for d in (db.dict, db.expires):
            if d.rehashidx >= 0:
                rehash_milliseconds(server, d, INCREMENTAL_REHASH_MS)
                return
        server.rehash_db = (server.rehash_db + 1) % dbnum


def rehash_main_dict(server: RehashServer) -> None:
    """Rehash the first ``dict`` that needs it: 2.4, where ``expires`` gets no time at all."""
    for db in server.databases:
        if db.dict.rehashidx >= 0:
            rehash_milliseconds(server, db.dict, INCREMENTAL_REHASH_MS)
            return


def rehash_within_budget(server: RehashServer) -> None:
    """Rehash all tables in turn until 1000 µs are over: from 7.4 on."""
    dbnum = len(server.databases)
    left = INCREMENTAL_REHASHING_THRESHOLD_US
    for _ in range(min(CRON_DBS_PER_CALL, dbnum)):
        db = server.databases[server.rehash_db % dbnum]
        for d in (db.dict, db.expires):
            left -= rehash_microseconds(server, d, left)
            if left <= 0:
                return
        server.rehash_db = (server.rehash_db + 1) % dbnum


def rehash_milliseconds(server: RehashServer, d: Dict, ms: int) -> None:
    """Rehash in batches of 100 steps until more than *ms* have passed or all is done.

    The clock is looked at after each batch, so under a clock that stands still the whole
    table moves. dict.c: dictRehashMilliseconds()
    """
    if d.pauserehash > 0:
        return
    start_ms = server.ustime() // 1000
    while d.is_rehashing():
        _rehash_batch(server, d)
        if not d.is_rehashing() or server.ustime() // 1000 - start_ms > ms:
            return


def rehash_microseconds(server: RehashServer, d: Dict, us: int) -> int:
    """The same until *us* µs have passed; the time it took. dict.c: dictRehashMicroseconds()

    It goes by the monotonic clock, whose readings are not charged.
    """
    if d.rehashidx < 0 or d.pauserehash > 0:
        return 0
    start = server.clock.us()
    while d.is_rehashing() and server.clock.us() - start < us:
        _rehash_batch(server, d)
    return server.clock.us() - start


def _rehash_batch(server: RehashServer, d: Dict) -> None:
    """A hundred steps, and what they cost."""
    passed, moved = d.rehash_passed, d.rehash_moved
    d.rehash(REHASH_BATCH)
    cost = server.cost
    server.clock.spend_ns(cost.rehash_ns(d.rehash_passed - passed, d.rehash_moved - moved))
