"""Adding to sorted sets, which begin as a listpack and may outgrow it.

Redis: ``zsetAdd()`` in t_zset.c.
"""

from __future__ import annotations

from miniredis.keyspace.object import OBJ_ZSET, RedisObject
from miniredis.keyspace.value import ValueServer
from miniredis.keyspace.zset_object import Zset, ZsetListpack, ZsetSkiplist, skiplist_of

# Options of zset_add(). server.h: ZADD_IN_*
ZADD_IN_NONE = 0
ZADD_IN_INCR = 1 << 0  # add to the score there is
ZADD_IN_NX = 1 << 1  # only members that are not there
ZADD_IN_XX = 1 << 2  # only members that are there
ZADD_IN_GT = 1 << 3  # only to a higher score
ZADD_IN_LT = 1 << 4  # only to a lower score

# What zset_add() did. server.h: ZADD_OUT_*
ZADD_OUT_NOP = 1 << 0  # nothing, because of an option
ZADD_OUT_NAN = 1 << 1  # nothing, the score would be no number
ZADD_OUT_ADDED = 1 << 2
ZADD_OUT_UPDATED = 1 << 3


def create_zset_object(
    server: ValueServer, size_hint: int, member_len: int, lru: int
) -> RedisObject:
    """An empty sorted set that begins as a listpack if its first member fits into one.

    *size_hint* is the number of elements that are sure to come, *member_len* the bytes of
    the first. t_zset.c: zaddGenericCommand(), zrangeResultBeginStore()
    """
    config = server.config
    ptr: Zset
    if size_hint > config.zset_max_listpack_entries or member_len > config.zset_max_listpack_value:
        ptr = ZsetSkiplist.of(server)
    else:
        ptr = ZsetListpack()
    return RedisObject(OBJ_ZSET, ptr, lru)


def zset_add(
    o: RedisObject, score: float, member: bytes, flags: int, server: ValueServer
) -> tuple[int, float]:
    """Add *member* or change its score; what was done, and the score it has now.

    *flags* are ZADD_IN_*, the result ZADD_OUT_* (0: it had this score already). A listpack
    that the member does not fit into becomes a skiplist. O(log N). t_zset.c: zsetAdd()
    """
    zset: Zset = o.ptr
    current = zset.score(member)
    if current is None:
        if flags & ZADD_IN_XX:
            return ZADD_OUT_NOP, score
        if zset.__class__ is ZsetListpack:
            config = server.config
            if (
                len(zset.order) >= config.zset_max_listpack_entries
                or len(member) > config.zset_max_listpack_value
            ):
                o.ptr = zset = skiplist_of(zset, server)
                zset.score(member)  # Redis looks again, which moves a rehash
        zset.insert(score, member)
        return ZADD_OUT_ADDED, score
    if flags:
        if flags & ZADD_IN_NX:
            return ZADD_OUT_NOP, current
        if flags & ZADD_IN_INCR:
            score += current
            if score != score:
                return ZADD_OUT_NAN, score
        if (flags & ZADD_IN_LT and score >= current) or (flags & ZADD_IN_GT and score <= current):
            return ZADD_OUT_NOP, score
    if score == current:
        return 0, score
    zset.update_score(member, current, score)
    return ZADD_OUT_UPDATED, score
