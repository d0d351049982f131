"""A database that looks keys up as Redis 6.0 to 6.2 did.

There the ``expires`` dict is asked before the main one, for missing keys too, and a key
found dead by a reading command is not looked up again. Which keys live and die is the
same; the steps of rehashes differ, and so, now and then, the order of later deletions.

Redis: db.c of 6.2.
"""

from __future__ import annotations

from miniredis.keyspace.db import LOOKUP_NONE, LOOKUP_UNCHECKED, LOOKUP_WRITE, RedisDb
from miniredis.keyspace.object import RedisObject


class RedisDb62(RedisDb):
    """One numbered database, with the look-ups of 6.2. server.h: redisDb"""

    __slots__ = ()

    def lookup_key(self, key: bytes, flags: int = LOOKUP_NONE) -> RedisObject | None:
        """The value of *key*, or None; a key past its time is deleted and missing. O(1).

        On a replica a writing command sees the dead key, as it did then.

        db.c: lookupKeyReadWithFlags(), lookupKeyWriteWithFlags()
        """
        if self.expire_if_needed(key) and not flags & LOOKUP_WRITE:
            self._miss(key, flags)
            return None
        return super().lookup_key(key, flags | LOOKUP_UNCHECKED)
