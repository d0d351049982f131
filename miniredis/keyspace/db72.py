"""Databases as Redis has them from 7.2 on.

* :class:`RedisDb72`: the assertions that looked keys up once more are gone; SET with a
  time overwrites the old time instead of removing it first, so the key keeps its place
  in its chain; a key that is not there is not looked for in ``expires``.
* :class:`RedisDb74`: the same on a dict that moves the bucket it is asked for and shrinks
  when something is deleted.

Redis: db.c of 7.2 and 7.4.
"""

from __future__ import annotations

from miniredis.keyspace.db import NO_EXPIRE, RedisDb
from miniredis.structs.dict_versions import Dict74


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

    def delete(self, key: bytes) -> bool:
        """Remove *key* from both dicts; whether it was there. db.c: dbGenericDelete()"""
        main = self.dict
        assert isinstance(main, Dict74)
        if main.two_phase_unlink(key) is None:
            return False
        self.expires.delete(key)
        return True
