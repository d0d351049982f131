"""What saving a data set and loading it again does to it, without a file.

The tables are rebuilt at their final size, from the order in which the old ones are
walked. Keys past their time are written, but not taken in again by a primary. Access
times survive only under an LRU or LFU policy.

Redis: ``rdbSaveDb()`` and ``rdbLoadRioWithLoadingCtx()`` in rdb.c.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from miniredis.keyspace.db import NO_EXPIRE, RedisDb
from miniredis.keyspace.object import OBJ_STRING, RedisObject, string2ll
from miniredis.keyspace.value import ValueServer

RDB_6BITLEN_LIMIT = 1 << 6  # bytes; a shorter string has its length in one byte
RDB_14BITLEN_LIMIT = 1 << 14  # in two
RDB_32BITLEN_LIMIT = 1 << 32  # in five, a longer one in nine


@dataclass(slots=True)
class SavedDb:
    """A database as a file would hold it: keys in order, and hints of the table sizes.

    ``keys`` are (key, value, Unix ms at which it dies or NO_EXPIRE).
    """

    keys: list[tuple[bytes, RedisObject, int]]
    db_size: int
    expires_size: int


def rdb_save_db(db: RedisDb, *, copy: bool = False) -> SavedDb:
    """All of *db*, in the order of its buckets. O(keys). rdb.c: rdbSaveDb()

    *copy* the values, O(elements), if *db* may change before they are loaded.
    """
    expires = db.expires.index
    keys = []
    for entry in db.entries():
        expire = expires.get(entry.key)
        value = _copied(entry.val) if copy else entry.val
        keys.append((entry.key, value, NO_EXPIRE if expire is None else expire.val))
    return SavedDb(keys, len(db.dict), len(db.expires))


def rdb_load_db(
    db: RedisDb,
    saved: SavedDb,
    now_ms: int | None,
    access_time: Callable[[RedisObject], int] | None = None,
) -> int:
    """Fill *db*, which must be empty; how many keys were skipped as dead. O(keys).

    Each table gets its final size at once, the smallest power of two that is not below
    the hint, so no rehash follows. Dead is what dies before *now_ms*, strictly, unless
    this is a replica; None skips nothing. *access_time* tells the ``lru`` field of a value
    from the old one; None takes the values as they are, they were read from a file.

    rdb.c: rdbLoadRioWithLoadingCtx()
    """
    if saved.db_size:
        db.dict.expand(saved.db_size)
        db.expires.expand(saved.expires_size)
    if db.server.masterhost is not None:
        now_ms = None
    skipped = 0
    for key, old, when in saved.keys:
        if now_ms is not None and when != NO_EXPIRE and when < now_ms:
            skipped += 1
            continue
        value = old if access_time is None else _loaded(old, access_time(old), db.server)
        entry = db.dict.add(key, value)
        assert entry is not None, f"{key!r} was saved twice"
        if db.server.probed:
            db.server.probe.key_loaded(db.id, key)
        if when != NO_EXPIRE:
            db.set_expire(key, when)
    return skipped


def _copied(o: RedisObject) -> RedisObject:
    """The value as it is now, whatever becomes of it."""
    if o.type == OBJ_STRING:
        return RedisObject(OBJ_STRING, bytes(o.ptr), o.lru)
    return RedisObject(o.type, o.ptr.copy(random.Random(0)), o.lru)


def _loaded(old: RedisObject, lru: int, server: ValueServer) -> RedisObject:
    """The value as it is read again: a string forgets that it was ever changed in place.

    What becomes of the encoding and order of others, the value knows.
    """
    if old.type == OBJ_STRING:
        return RedisObject(OBJ_STRING, bytes(old.ptr), lru)
    return RedisObject(old.type, old.ptr.reloaded(server), lru)


def rdb_saved_len_size(length: int) -> int:
    """Bytes that a length takes in a file. O(1). rdb.c: rdbSaveLen()"""
    if length < RDB_6BITLEN_LIMIT:
        return 1
    if length < RDB_14BITLEN_LIMIT:
        return 2
    return 5 if length < RDB_32BITLEN_LIMIT else 9


def rdb_saved_string_len(value: bytes) -> int:
    """Bytes that a string value takes in a file when it is not compressed. O(digits).

    Integers of up to 32 bits are packed; all else is its length and its bytes.
    rdb.c: rdbSaveStringObject()
    """
    number = string2ll(value)
    if number is not None:
        for size in (1, 2, 4):
            if -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1:
                return 1 + size
    return rdb_saved_len_size(len(value)) + len(value)
