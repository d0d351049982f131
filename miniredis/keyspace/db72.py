"""Databases as Redis has them from 7.2 on.

* :class:`RedisDb72`: the assertions that looked keys up once more are gone; SET with a
  time overwrites the old time instead of removing it first, so the key keeps its place
  in its chain; a key that is not there is not looked for in ``expires``.
* :class:`RedisDb74`: the same on a dict that moves the bucket it is asked for and shrinks
  when something is deleted.
* :class:`ValkeyDb`: the same on Valkey's hash table.
* :class:`RedisDb82`: a value knows its own TTL.

Redis: db.c of 7.2 and 7.4.
"""

from __future__ import annotations

from miniredis.keyspace.db import LOOKUP_NONE, LOOKUP_WRITE, NO_EXPIRE, KeyspaceServer, RedisDb
from miniredis.keyspace.object import RedisObject
from miniredis.structs.dict_versions import Dict74, Hashtable


class RedisDb72(RedisDb):
    """One numbered database of Redis 7.2."""

    __slots__ = ()

    set_updates_expire = True

    def delete(self, key: bytes) -> bool:
        """Remove *key* from both dicts; whether it was there. O(1) plus freeing.

        db.c: dbGenericDelete()
        """
        if self.dict.delete(key) is None:
            return False
        self.expires.delete(key)
        return True

    def get_expire(self, key: bytes) -> int:
        """The Unix time in ms at which *key* dies, or NO_EXPIRE (-1). db.c: getExpire()"""
        entry = self.expires.find(key)
        if entry is None:
            return NO_EXPIRE
        when: int = entry.val
        return when

    def remove_expire(self, key: bytes) -> bool:
        """Make *key* persistent; whether it had a TTL. db.c: removeExpire()"""
        return self.expires.delete(key) is not None


class RedisDb74(RedisDb72):
    """One numbered database of Redis 7.4 and 8.0."""

    __slots__ = ()

    dict_type = Dict74
    expired_is_deleted = True

    def delete(self, key: bytes) -> bool:
        """Remove *key* from both dicts; whether it was there. db.c: dbGenericDelete()"""
        main = self.dict
        assert isinstance(main, Dict74)
        if main.two_phase_unlink(key) is None:
            return False
        self.expires.delete(key)
        return True


class ValkeyDb(RedisDb74):
    """One numbered database of Valkey 8.1 and 9."""

    __slots__ = ()

    dict_type = Hashtable


class RedisDb82(RedisDb74):
    """One numbered database of Redis 8.2: a value knows its time to live.

    So a key that was found needs no look-up in ``expires`` to tell whether it has died.
    And what SET found is handed on: it writes without looking for the place again.
    """

    __slots__ = ("link_lost",)

    rename_deletes_first = True

    def __init__(self, id: int, server: KeyspaceServer) -> None:
        super().__init__(id, server)
        #: The last look-up found a dead key and deleted it, and with it the place.
        self.link_lost = False

    def lookup_key(self, key: bytes, flags: int = LOOKUP_NONE) -> RedisObject | None:
        """The value of *key*, or None. db.c: lookupKeyWriteWithLink()"""
        held = key in self.dict
        o = super().lookup_key(key, flags)
        self.link_lost = held and o is None
        return o

    def set_key(
        self,
        key: bytes,
        val: RedisObject,
        *,
        keepttl: bool = False,
        exists: bool | None = None,
        signal: bool = True,
    ) -> None:
        """Set *key* to *val* at the place that the look-up found. db.c: setKeyByLink()

        When the table has to grow for a new key, the first step of the rehash follows at
        once; otherwise ``dict`` takes none.
        """
        if exists is None:
            exists = self.lookup_key(key, LOOKUP_WRITE) is not None
        if self.link_lost:
            self.add(key, val)
        else:
            self._write_at_link(key, val, exists)
        if key in self.expires:  # holds the value too, which is another now
            if keepttl:
                self.expires.find(key)
            else:
                self.expires.delete(key)
        if signal and self.signals:
            self.server.signal_modified_key(self, key)

    def _write_at_link(self, key: bytes, val: RedisObject, exists: bool) -> None:
        main = self.dict
        if not exists and main.rehashidx < 0 and main.ht_used[0] >= len(main.ht_table[0]):
            main.expand_if_needed()
            if main.rehashidx >= 0:
                main.rehash_step_for(key)
        main.pauserehash += 1
        if exists:
            self.overwrite(key, val)
        else:
            self.add(key, val)
        main.pauserehash -= 1

    def delete(self, key: bytes) -> bool:
        """Remove *key* from both dicts; whether it was there. db.c: dbGenericDelete()"""
        main = self.dict
        assert isinstance(main, Dict74)
        if main.two_phase_unlink(key) is None:
            return False
        if key in self.expires:
            self.expires.delete(key)
        return True

    def get_expire(self, key: bytes) -> int:
        """The Unix time in ms at which *key* dies, or NO_EXPIRE (-1): read off its value."""
        entry = self.expires.index.get(key)
        if entry is None:
            return NO_EXPIRE
        when: int = entry.val
        return when

    def set_expire_by_link(self, key: bytes, when: int) -> None:
        """Let *key*, which was just written, die at *when* (ms). db.c: setExpireByLink()"""
        self.dict.pauserehash += 1
        self._set_expire(key, when)
        self.dict.pauserehash -= 1

    def set_expire(self, key: bytes, when: int) -> None:
        """Let *key* die at the Unix time *when* (ms). db.c: setExpire()"""
        if self.dict.rehashidx >= 0:
            self.dict.rehash_step_for(key)
        self.set_expire_by_link(key, when)

    def _set_expire(self, key: bytes, when: int) -> None:
        """An old time is overwritten where it is."""
        entry = self.expires.index.get(key)
        if entry is None:
            super().set_expire(key, when)
            return
        entry.val = when
        if self.server.hears_expires:
            self.server.expire_was_set(self, key, when)

    def remove_expire(self, key: bytes) -> bool:
        """Make *key* persistent; whether it had a TTL. db.c: removeExpire()"""
        expires = self.expires
        assert isinstance(expires, Dict74)
        return expires.two_phase_unlink(key) is not None

    def expire_if_needed(self, key: bytes, flags: int = 0) -> bool:
        """Whether *key*, not looked up before, has died; deletes it then."""
        self.expires.find(key)
        return super().expire_if_needed(key, flags)

    expire_found_if_needed = RedisDb.expire_if_needed
