"""Sorted sets: adding and removing members, their scores and ranks, counting.

Redis: t_zset.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_double, word
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error, wrong_type
from miniredis.keyspace.db import LOOKUP_WRITE
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_ZSET
from miniredis.keyspace.object import OBJ_ZSET
from miniredis.keyspace.zset_add import (
    ZADD_IN_GT,
    ZADD_IN_INCR,
    ZADD_IN_LT,
    ZADD_IN_NONE,
    ZADD_IN_NX,
    ZADD_IN_XX,
    ZADD_OUT_ADDED,
    ZADD_OUT_NAN,
    ZADD_OUT_NOP,
    ZADD_OUT_UPDATED,
    create_zset_object,
    zset_add,
)
from miniredis.keyspace.zset_object import (
    Zset,
)
from miniredis.keyspace.zset_ranges import (
    ZLexRangeSpec,
    ZRangeSpec,
    zsl_parse_lex_range,
    zsl_parse_range,
)
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

_CH = 1 << 5  # reply with the number of members changed, not only of those added
_OPTIONS = {
    b"nx": ZADD_IN_NX,
    b"xx": ZADD_IN_XX,
    b"ch": _CH,
    b"incr": ZADD_IN_INCR,
    b"gt": ZADD_IN_GT,
    b"lt": ZADD_IN_LT,
}


def lookup_zset_read(c: Client, key: bytes) -> Zset | None:
    """The sorted set at *key* for reading, None of a missing one; WRONGTYPE of others."""
    o = c.db.lookup_key(key)
    if o is None:
        return None
    if o.type != OBJ_ZSET:
        raise wrong_type()
    zset: Zset = o.ptr
    return zset


def lookup_zset_write(c: Client, key: bytes) -> Zset | None:
    """The same before changing it."""
    o = c.db.lookup_key(key, LOOKUP_WRITE)
    if o is None:
        return None
    if o.type != OBJ_ZSET:
        raise wrong_type()
    zset: Zset = o.ptr
    return zset


def parse_range(min: bytes, max: bytes) -> ZRangeSpec:
    """A range of scores, or the error for ends that are no numbers."""
    spec = zsl_parse_range(min, max)
    if spec is None:
        raise CommandError("ERR min or max is not a float")
    return spec


def parse_lex_range(min: bytes, max: bytes) -> ZLexRangeSpec:
    """A range of members, or the error for ends that are none."""
    spec = zsl_parse_lex_range(min, max)
    if spec is None:
        raise CommandError("ERR min or max not valid string range item")
    return spec


def _parse_zadd(args: tuple[bytes, ...], flags: int) -> tuple[int, tuple[bytes, ...]]:
    """The options among *args* added to *flags*, and the scores and members after them."""
    i = 0
    while i < len(args) and (option := _OPTIONS.get(word(args[i]))) is not None:
        flags |= option
        i += 1
    pairs = args[i:] if i else args
    if len(pairs) % 2 or not pairs:
        raise syntax_error()
    if flags:
        nx, gt, lt = flags & ZADD_IN_NX, flags & ZADD_IN_GT, flags & ZADD_IN_LT
        if nx and flags & ZADD_IN_XX:
            raise CommandError("ERR XX and NX options at the same time are not compatible")
        if (gt and nx) or (lt and nx) or (gt and lt):
            raise CommandError("ERR GT, LT, and/or NX options at the same time are not compatible")
        if flags & ZADD_IN_INCR and len(pairs) > 2:
            raise CommandError("ERR INCR option supports a single increment-element pair")
    return flags, pairs


def zadd_generic(c: Client, key: bytes, args: tuple[bytes, ...], flags: int) -> Reply:
    """Behind ZADD and ZINCRBY: all scores are read before anything is changed.

    t_zset.c: zaddGenericCommand()
    """
    flags, pairs = _parse_zadd(args, flags)
    scores = [get_double(text) for text in pairs[::2]]
    db, server = c.db, c.server
    o = db.lookup_key(key, LOOKUP_WRITE)
    incr = flags & ZADD_IN_INCR
    if o is None:
        if flags & ZADD_IN_XX:
            return None if incr else 0
        o = create_zset_object(server, 1, len(pairs[1]), server.new_object_lru)
        db.add(key, o)
    elif o.type != OBJ_ZSET:
        raise wrong_type()
    added = updated = done = 0
    score = 0.0
    for given, member in zip(scores, pairs[1::2], strict=True):
        done, score = zset_add(o, given, member, flags, server)
        if done & ZADD_OUT_ADDED:
            added += 1
        elif done & ZADD_OUT_UPDATED:
            updated += 1
        elif done & ZADD_OUT_NAN:
            raise CommandError("ERR resulting score is not a number (NaN)")
    if added or updated:
        server.dirty += added + updated
        if db.signals:
            server.signal_modified_key(db, key)
        if server.notify_mask & NOTIFY_ZSET:
            db.notify(NOTIFY_ZSET, b"zincr" if incr else b"zadd", key)
    if incr:
        return None if done & ZADD_OUT_NOP else score
    return added + updated if flags & _CH else added


@command(
    "zadd",
    arity=-4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW update",
    group="sorted-set",
    since="1.2.0",
    complexity="O(log(N)) for each member added, in the size of the set",
)
def zadd(c: Client, key: bytes, *args: bytes) -> Reply:
    """ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]

    Adds members with their scores, or changes the scores of members.

    t_zset.c: zaddCommand()
    """
    return zadd_generic(c, key, args, ZADD_IN_NONE)


@command(
    "zincrby",
    arity=4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="sorted-set",
    since="1.2.0",
    complexity="O(log(N)) in the size of the set",
)
def zincrby(c: Client, key: bytes, *args: bytes) -> Reply:
    """ZINCRBY key increment member

    Adds to the score of a member; a missing one counts as 0.

    t_zset.c: zincrbyCommand()
    """
    return zadd_generic(c, key, args, ZADD_IN_INCR)


@command(
    "zrem",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW delete",
    group="sorted-set",
    since="1.2.0",
    complexity="O(M*log(N)) for M members of a set of N",
)
def zrem(c: Client, key: bytes, *members: bytes) -> Reply:
    """ZREM key member [member ...]

    Removes members; a set that has become empty is deleted.

    t_zset.c: zremCommand()
    """
    db = c.db
    zset = lookup_zset_write(c, key)
    if zset is None:
        return 0
    deleted = 0
    for member in members:
        deleted += zset.delete(member)
        if not len(zset):
            db.delete(key)
            break
    if deleted:
        db.notify(NOTIFY_ZSET, b"zrem", key)
        if not len(zset):
            db.notify(NOTIFY_GENERIC, b"del", key)
        c.server.signal_modified_key(db, key)
        c.server.dirty += deleted
    return deleted


@command(
    "zcard",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="sorted-set",
    since="1.2.0",
)
def zcard(c: Client, key: bytes) -> Reply:
    """ZCARD key

    The number of members of a sorted set.

    t_zset.c: zcardCommand()
    """
    zset = lookup_zset_read(c, key)
    return 0 if zset is None else len(zset)


@command(
    "zscore",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="1.2.0",
)
def zscore(c: Client, key: bytes, member: bytes) -> Reply:
    """ZSCORE key member

    The score of a member.

    t_zset.c: zscoreCommand()
    """
    zset = lookup_zset_read(c, key)
    return None if zset is None else zset.score(member)


@command(
    "zmscore",
    arity=-3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="6.2.0",
    complexity="O(N) in the number of members asked for",
)
def zmscore(c: Client, key: bytes, *members: bytes) -> Reply:
    """ZMSCORE key member [member ...]

    The scores of several members; nil for one that is not there.

    t_zset.c: zmscoreCommand()
    """
    zset = lookup_zset_read(c, key)
    return [None if zset is None else zset.score(member) for member in members]


@command(
    "zrank",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.0.0",
    complexity="O(log(N))",
)
def zrank(c: Client, key: bytes, member: bytes) -> Reply:
    """ZRANK key member

    How many members come before this one, from the lowest score.

    t_zset.c: zrankCommand()
    """
    zset = lookup_zset_read(c, key)
    return None if zset is None else zset.rank(member)


@command(
    "zrevrank",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.0.0",
    complexity="O(log(N))",
)
def zrevrank(c: Client, key: bytes, member: bytes) -> Reply:
    """ZREVRANK key member

    How many members come after this one, up to the highest score.

    t_zset.c: zrevrankCommand()
    """
    zset = lookup_zset_read(c, key)
    rank = None if zset is None else zset.rank(member)
    return None if zset is None or rank is None else len(zset) - 1 - rank


@command(
    "zcount",
    arity=4,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.0.0",
    complexity="O(log(N)) in the size of the set",
)
def zcount(c: Client, key: bytes, min: bytes, max: bytes) -> Reply:
    """ZCOUNT key min max

    How many members have a score in a range.

    t_zset.c: zcountCommand()
    """
    spec = parse_range(min, max)
    zset = lookup_zset_read(c, key)
    if zset is None:
        return 0
    start, stop = zset.score_bounds(spec)
    return stop - start


@command(
    "zlexcount",
    arity=4,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.8.9",
    complexity="O(log(N)) in the size of the set",
)
def zlexcount(c: Client, key: bytes, min: bytes, max: bytes) -> Reply:
    """ZLEXCOUNT key min max

    How many members are in a range of members, all scores being the same.

    t_zset.c: zlexcountCommand()
    """
    spec = parse_lex_range(min, max)
    zset = lookup_zset_read(c, key)
    if zset is None:
        return 0
    start, stop = zset.lex_bounds(spec)
    return stop - start
