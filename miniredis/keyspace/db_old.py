"""Databases as Redis had them before 6.0.

* :class:`RedisDb50`, 4.0 to 5.0: time does not stand still during a command, so a key can
  die between two look-ups of one transaction. A key that expires does not make its
  watchers dirty.
* :class:`RedisDb32`, 3.2: the same, but SET and EXPIRE look for an old value first.
* :class:`RedisDb30`, 3.0: a key found dead is looked up once more.
* :class:`RedisDb28`, 2.6 to 2.8: the same on an older dict.
* :class:`RedisDb24`, 2.4: time goes by in seconds; a key lives up to a second too long.

Differs from these versions: commands that came later work, and 2.4 fires events, which
came with 2.8.

Redis: db.c of 2.4 to 5.0.
"""

from __future__ import annotations

from miniredis.keyspace.db import BY_ACCESS, LOOKUP_NONE, LOOKUP_UNCHECKED, RedisDb
from miniredis.keyspace.db62 import RedisDb62
from miniredis.keyspace.notify import NOTIFY_EXPIRED
from miniredis.keyspace.object import RedisObject
from miniredis.structs.dict_versions import Dict28, Dict32, Dict50

MS_PER_SECOND = 1000


class RedisDb50(RedisDb62):
    """One numbered database of Redis 4.0 to 5.0."""

    __slots__ = ()

    dict_type = Dict50

    def key_is_expired(self, key: bytes) -> bool:
        """Whether the time of *key* has passed by a fresh reading of the clock."""
        when = self.get_expire(key)
        return when >= 0 and not self.server.loading and self.server.now_ms() > when

    def empty(self) -> int:
        """Drop everything; the number of keys dropped. The average TTL outlives them."""
        avg_ttl = self.avg_ttl
        removed = super().empty()
        self.avg_ttl = avg_ttl
        return removed

    def delete_expired_key_and_propagate(self, key: bytes, by: str) -> None:
        """Delete a key whose time has passed, with every effect in the order of 5.0.

        The cycle: DEL is propagated, the key deleted, the event fired, the key counted.
        On access: counted, propagated, event, deleted.

        db.c: expireIfNeeded(), expire.c: activeExpireCycleTryExpire()
        """
        server = self.server
        on_access = by == BY_ACCESS
        if server.probed:
            when = self.expires.index[key].val
            server.probe.key_expired(self.id, key, when, server.now_ms(), by)
        if on_access:
            server.stat_expiredkeys += 1
        server.propagate_deletion(self, key, server.lazyfree_lazy_expire)
        if not on_access:
            self.delete(key)
        self.notify(NOTIFY_EXPIRED, b"expired", key)
        if on_access:
            self.delete(key)
        else:
            server.stat_expiredkeys += 1


class RedisDb32(RedisDb50):
    """One numbered database of Redis 3.2."""

    __slots__ = ()

    dict_type = Dict32

    def overwrite(self, key: bytes, val: RedisObject) -> None:
        """Give an existing key another value; found, tried to be added, found again.

        The attempt to add may make the table grow. db.c: dbOverwrite(), dict.c: dictReplace()
        """
        self.dict.find(key)
        self.dict.add(key, val)
        super().overwrite(key, val)

    def set_expire(self, key: bytes, when: int) -> None:
        """Let *key* die at the Unix time *when* (ms). An old time is found, not added anew.

        db.c: setExpire(), dict.c: dictReplaceRaw()
        """
        entry = self.expires.find(key)
        if entry is None:
            super().set_expire(key, when)
            return
        if self.dict.rehashidx >= 0:
            self.dict.rehash_step()
        entry.val = when
        if self.server.hears_expires:
            self.server.expire_was_set(self, key, when)

    set_expire_by_link = set_expire

    def remove_expire(self, key: bytes) -> bool:
        """Make *key* persistent; whether it had a TTL. db.c: removeExpire()"""
        if self.dict.rehashidx >= 0:
            self.dict.rehash_step()
        return self.expires.delete(key) is not None


class RedisDb30(RedisDb32):
    """One numbered database of Redis 3.0."""

    __slots__ = ()

    def lookup_key(self, key: bytes, flags: int = LOOKUP_NONE) -> RedisObject | None:
        """The value of *key*, or None; a dead key is deleted, then looked for all the same.

        db.c: lookupKeyRead(), lookupKeyWrite()
        """
        self.expire_if_needed(key)
        return RedisDb.lookup_key(self, key, flags | LOOKUP_UNCHECKED)


class RedisDb28(RedisDb30):
    """One numbered database of Redis 2.6 to 2.8."""

    __slots__ = ()

    dict_type = Dict28


class RedisDb24(RedisDb28):
    """One numbered database of Redis 2.4."""

    __slots__ = ()

    def key_is_expired(self, key: bytes) -> bool:
        """Whether the second in which *key* dies has passed."""
        when = self.get_expire(key)
        if when < 0 or self.server.loading:
            return False
        return self.server.now_ms() // MS_PER_SECOND > when // MS_PER_SECOND
