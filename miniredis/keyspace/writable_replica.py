"""Keys with a TTL that clients of a writable replica have written.

How it works. A replica deletes nothing by itself: the DEL comes from its primary. But the
primary knows nothing of keys that a client wrote to the replica (``replica-read-only
no``). So the replica remembers the name of each key to which a client, not the link,
gives a TTL, with one bit for each database. Every cron takes random names out of these
and deletes what has died.

Why so. Remembering names costs memory only where the feature is used, and a name whose
key got another TTL, or none, or was deleted, is simply dropped when it is met.

Its limits: databases above 63 have no bit, so their keys stay. A run ends after four keys
that are not due, so among many living names the dead wait for their luck. The names of a
database that is flushed alone, or exchanged by SWAPDB, stay remembered. While clients are
paused these keys are deleted all the same; nobody asks.

A worked example: a client writes ``a`` (dies at 50 ms) and ``b`` (at 1 s); two names are
remembered. The cron at 101 ms picks, say, ``b``: not due, 1. ``b`` again: 2. ``a``: dead,
deleted, its name forgotten. ``b``: 3. ``b``: 4, enough. INFO now shows
``slave_expires_tracked_keys:1``.

Redis: ``expireSlaveKeys()``, ``rememberSlaveKeyWithExpire()`` in expire.c.
"""

from __future__ import annotations

from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.expire import ExpireServer
from miniredis.structs.dict import Dict

MAX_DBID = 63  # the last database that has a bit
NOT_DUE_ENOUGH = 3  # a run ends when it has met more living keys than this
TIME_CHECK_CYCLES = 64  # the clock is looked at every so many names
TIME_LIMIT_MS = 1  # ... and more than this ends the run
BY_REPLICA = "replica"  # who deleted, for probes


class SlaveKeysWithExpire:
    """The remembered names of one server: key -> bits of the databases."""

    def __init__(self, server: ExpireServer) -> None:
        self.server = server
        self._new_dict()

    def _new_dict(self) -> None:
        self.dict = Dict(self.server.hash_function, self.server.rng)

    def __len__(self) -> int:
        """INFO ``slave_expires_tracked_keys``. expire.c: getSlaveKeyWithExpireCount()"""
        return len(self.dict)

    def remember(self, db: RedisDb, key: bytes) -> None:
        """A client gave *key* a TTL on this writable replica. O(1).

        expire.c: rememberSlaveKeyWithExpire()
        """
        if db.id > MAX_DBID:
            return
        entry = self.dict.add(key, 0) or self.dict.index[key]
        entry.val |= 1 << db.id

    def flush(self) -> None:
        """Forget all, because all keys go. expire.c: flushSlaveKeysWithExpireList()"""
        self._new_dict()

    def expire(self) -> None:
        """Delete what has died among random remembered keys.

        All of a run compare with the time at its start. expire.c: expireSlaveKeys()
        """
        names, server = self.dict, self.server
        cycles = noexpire = 0
        start_ms = server.now_ms()
        while names.index:
            entry = names.get_random_key()
            assert entry is not None
            still = self._bits_not_due(entry.key, entry.val, start_ms)
            noexpire += still.bit_count()
            if still:
                entry.val = still
            else:
                names.delete(entry.key)
            cycles += 1
            if noexpire > NOT_DUE_ENOUGH:
                break
            if cycles % TIME_CHECK_CYCLES == 0 and server.now_ms() - start_ms > TIME_LIMIT_MS:
                break
        server.propagate_pending_commands()

    def _bits_not_due(self, key: bytes, bits: int, now_ms: int) -> int:
        """Delete *key* where it has died; the bits of the databases where it has time left."""
        server, still = self.server, 0
        for db in server.databases[: MAX_DBID + 1]:
            if not bits >> db.id & 1:
                continue
            expire = db.expires.find(key)
            if expire is None:
                continue
            if now_ms > expire.val:
                db.delete_expired_key_and_propagate(key, BY_REPLICA)
                server.clock.spend_ns(server.cost.deleted_ns)
            else:
                still |= 1 << db.id
        return still
