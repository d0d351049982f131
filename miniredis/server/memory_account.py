"""What the data set takes, kept up to date while ``maxmemory`` is set.

redis-server asks its allocator. Here each key's bytes come from the model of MEMORY USAGE
(``keyspace/memory_usage.py``), and a command that changes a key marks it as to be measured
anew, by ``signal_modified_key()``. So a command costs one measurement for each key that it
changed, O(1) for strings and at most the usual five samples for others but small hashes
and sorted sets; without ``maxmemory`` nothing is measured at all.

Limits: keys only. Buffers of clients, scripts and the tracking table are not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.keyspace.memory_usage import (
    OBJ_COMPUTE_SIZE_DEF_SAMPLES,
    SIZEOF_DICT_ENTRY,
    SIZEOF_POINTER,
    memory_usage,
)

if TYPE_CHECKING:
    from miniredis.keyspace.db import RedisDb
    from miniredis.server.server import Server

SAMPLED_BUCKETS = 128  # of each table, to estimate what all keys take; at most twice as many
NO_SAMPLE_BYTES = 80  # of a key, if the sample found none: a short key with a short string


class MemoryAccount:
    """Bytes of every key of one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._sizes: dict[tuple[int, bytes], int] = {}
        self._sum = 0
        self._changed: set[tuple[int, bytes]] = set()
        self._stale = True  # everything is to be measured

    def begin_anew(self) -> None:
        """Databases were emptied, exchanged or loaded, or measuring begins: trust nothing."""
        self._stale = True
        self._sizes = {}
        self._changed = set()
        self._sum = 0

    def note(self, db: RedisDb, key: bytes) -> None:
        """*key* was changed, added or deleted. O(1)"""
        self._changed.add((db.id, key))

    def data_bytes(self) -> int:
        """Bytes of keys, values and tables now. O(keys changed since asked last)."""
        databases = self.server.databases
        if self._stale:
            self._stale = False
            for db in databases:
                self._changed.update((db.id, key) for key in db.dict.index)
        if self._changed:
            changed, self._changed = self._changed, set()
            for place in changed:
                self._measure(*place)
        return self._sum + sum(map(_beside_keys, databases))

    def _measure(self, dbid: int, key: bytes) -> None:
        self._sum -= self._sizes.pop((dbid, key), 0)
        # Not find(), which would move a rehash: looking changes nothing.
        entry = self.server.databases[dbid].dict.index.get(key)
        if entry is not None:
            size = memory_usage(key, entry.val, OBJ_COMPUTE_SIZE_DEF_SAMPLES)
            self._sizes[dbid, key] = size
            self._sum += size

    def _check(self) -> None:
        """Assert that what was measured is what is there, unless it was noted as changed."""
        assert self._sum == sum(self._sizes.values())
        if not self._stale:
            there = {(db.id, key) for db in self.server.databases for key in db.dict.index}
            assert there - self._changed == self._sizes.keys() - self._changed


def _beside_keys(db: RedisDb) -> int:
    """Bytes of the buckets, and of the entries of the times to live."""
    buckets = db.dict.slots() + db.expires.slots()
    return buckets * SIZEOF_POINTER + len(db.expires) * SIZEOF_DICT_ENTRY


def estimated_bytes(db: RedisDb) -> int:
    """About what a database takes, from the keys of some of its buckets.

    Keys fall into buckets at random, so buckets at a fixed distance give a random sample, and
    nothing is drawn from the server's random numbers. O(``SAMPLED_BUCKETS``)
    """
    keys = 0
    size = 0
    for table in db.dict.ht_table:
        for entry in table[:: max(len(table) // SAMPLED_BUCKETS, 1)]:
            while entry is not None:
                keys += 1
                size += memory_usage(entry.key, entry.val, OBJ_COMPUTE_SIZE_DEF_SAMPLES)
                entry = entry.next
    mean = size / keys if keys else NO_SAMPLE_BYTES
    return round(mean * len(db.dict)) + _beside_keys(db)
