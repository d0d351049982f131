"""Read-only pictures of a server's state.

Nothing here moves a rehash, touches an access time or deletes a key, so looking does not
change what is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from miniredis.keyspace.db import RedisDb
from miniredis.server.server import Server
from miniredis.structs.dict import Dict


@dataclass(frozen=True, slots=True)
class TablePicture:
    """A dict as it lies in memory: for each table its buckets, each a chain of keys."""

    used: tuple[int, int]
    size: tuple[int, int]
    rehashidx: int
    buckets: tuple[list[list[bytes]], list[list[bytes]]]


@dataclass(frozen=True, slots=True)
class DbPicture:
    """Counts of one database at one instant (Unix ms)."""

    now_ms: int
    keys: int
    expires: int
    dead: int  # past their time and still held
    avg_ttl: int
    expires_cursor: int


def picture_of_table(d: Dict) -> TablePicture:
    """The layout of *d*. O(N)."""
    tables: list[list[list[bytes]]] = []
    for table in d.ht_table:
        chains = []
        for head in table:
            chain = []
            entry = head
            while entry is not None:
                chain.append(entry.key)
                entry = entry.next
            chains.append(chain)
        tables.append(chains)
    return TablePicture(
        (d.ht_used[0], d.ht_used[1]),
        (len(d.ht_table[0]), len(d.ht_table[1])),
        d.rehashidx,
        (tables[0], tables[1]),
    )


def picture_of_db(server: Server, db: RedisDb) -> DbPicture:
    """The counts of *db* now. O(N) in the keys with a TTL."""
    with server.lock:
        now = server.clock.ms()
        dead = sum(now > entry.val for entry in db.expires.index.values())
        return DbPicture(now, len(db), len(db.expires), dead, db.avg_ttl, db.expires_cursor)
