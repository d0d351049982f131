"""Ranges of sorted sets: reading them and storing them.

ZRANGE does what six older commands did; all of them come together in :func:`_zrange`.

Redis: t_zset.c.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.t_zset import (
    lookup_zset_read,
    parse_lex_range,
    parse_range,
)
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_ZSET
from miniredis.keyspace.zset_add import (
    ZADD_IN_NONE,
    create_zset_object,
    zset_add,
)
from miniredis.keyspace.zset_object import (
    Zset,
)
from miniredis.keyspace.zset_ranges import ZLexRangeSpec, ZRangeSpec
from miniredis.reply import Reply
from miniredis.structs.ranked_list import Pair

if TYPE_CHECKING:
    from miniredis.server.client import Client


class By(Enum):
    """What the ends of a range mean. t_zset.c: zrange_type"""

    RANK = 0
    SCORE = 1
    LEX = 2


#: Ranks (start, end), both included and possibly negative, or a range of scores or members.
Spec = tuple[int, int] | ZRangeSpec | ZLexRangeSpec
NO_LIMIT = -1


def reply_pairs(c: Client, pairs: Iterable[Pair], withscores: bool) -> list[Reply]:
    """Members as a reply; with scores flat in RESP2 and one array each in RESP3."""
    if not withscores:
        return [member for _, member in pairs]
    if c.resp > 2:
        return [[member, score] for score, member in pairs]
    flat: list[Reply] = []
    for score, member in pairs:
        flat += (member, score)
    return flat


def rank_bounds(length: int, start: int, end: int) -> tuple[int, int]:
    """The ranks [start, stop) for two ends, both included; negative ones count from the
    end of *length* members. ``rank_bounds(5, -2, -1)`` is ``(3, 5)``.
    """
    if start < 0:
        start = max(start + length, 0)
    if end < 0:
        end += length
    if start > end or start >= length:
        return 0, 0
    return start, min(end + 1, length)


def parse_spec(by: By, min: bytes, max: bytes) -> Spec:
    if by is By.RANK:
        return get_long_long(min), get_long_long(max)
    return parse_range(min, max) if by is By.SCORE else parse_lex_range(min, max)


def range_bounds(zset: Zset, spec: Spec, reverse: bool = False) -> tuple[int, int]:
    """The ranks [start, stop), counted from the lowest score, that *spec* means. O(log N)."""
    if isinstance(spec, ZRangeSpec):
        return zset.score_bounds(spec)
    if isinstance(spec, ZLexRangeSpec):
        return zset.lex_bounds(spec, reverse)
    length = len(zset)
    start, stop = rank_bounds(length, *spec)
    return (length - stop, length - start) if reverse else (start, stop)


def _limited(start: int, stop: int, offset: int, limit: int, reverse: bool) -> tuple[int, int]:
    """LIMIT applied to the ranks [start, stop), from the end that comes first.

    A negative offset leaves nothing, a negative limit everything.
    """
    if offset < 0 or offset >= stop - start:
        return 0, 0
    count = stop - start - offset
    if 0 <= limit < count:
        count = limit
    if reverse:
        return stop - offset - count, stop - offset
    return start + offset, start + offset + count


class _Options:
    """The optional arguments of ZRANGE and its kin."""

    __slots__ = ("by", "limit", "offset", "reverse", "withscores")

    def __init__(
        self, args: tuple[bytes, ...], by: By | None, reverse: bool | None, store: bool
    ) -> None:
        """*by* and *reverse* are None where options choose them, each once only."""
        self.withscores = False
        self.offset, self.limit = 0, NO_LIMIT
        j = 0
        while j < len(args):
            option = word(args[j])
            if option == b"withscores" and not store:
                self.withscores = True
            elif option == b"limit" and j + 2 < len(args):
                self.offset, self.limit = get_long_long(args[j + 1]), get_long_long(args[j + 2])
                j += 2
            elif option == b"rev" and reverse is None:
                reverse = True
            elif option == b"bylex" and by is None:
                by = By.LEX
            elif option == b"byscore" and by is None:
                by = By.SCORE
            else:
                raise syntax_error()
            j += 1
        self.by = by or By.RANK
        self.reverse = bool(reverse)
        if self.limit != NO_LIMIT and self.by is By.RANK:
            raise CommandError(
                "ERR syntax error, LIMIT is only supported in combination with "
                "either BYSCORE or BYLEX"
            )
        if self.withscores and self.by is By.LEX:
            raise CommandError(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
            )


def _select(zset: Zset, spec: Spec, options: _Options) -> tuple[int, Iterable[Pair]]:
    """How many members are in the range, and they in the order asked for."""
    start, stop = range_bounds(zset, spec, options.reverse)
    if options.by is not By.RANK:
        start, stop = _limited(start, stop, options.offset, options.limit, options.reverse)
    return stop - start, zset.pairs(start, stop, options.reverse)


def _zrange(
    c: Client,
    key: bytes,
    min: bytes,
    max: bytes,
    args: tuple[bytes, ...],
    by: By | None = None,
    reverse: bool | None = None,
) -> Reply:
    """t_zset.c: zrangeGenericCommand(), for a reply"""
    if not args and by is None:  # by ranks from the front, the usual case
        first, last = get_long_long(min), get_long_long(max)
        zset = lookup_zset_read(c, key)
        if zset is None:
            return []
        start, stop = rank_bounds(len(zset), first, last)
        return zset.members(start, stop)
    options = _Options(args, by, reverse, store=False)
    if options.reverse and options.by is not By.RANK:
        min, max = max, min
    spec = parse_spec(options.by, min, max)
    zset = lookup_zset_read(c, key)
    if zset is None:
        return []
    return reply_pairs(c, _select(zset, spec, options)[1], options.withscores)


@command(
    "zrange",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="1.2.0",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrange(c: Client, key: bytes, min: bytes, max: bytes, *args: bytes) -> Reply:
    """ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]

    Members in a range of ranks, or of scores or members; with REV from the other end.

    t_zset.c: zrangeCommand()
    """
    return _zrange(c, key, min, max, args)


@command(
    "zrevrange",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="1.2.0",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrevrange(c: Client, key: bytes, start: bytes, stop: bytes, *args: bytes) -> Reply:
    """ZREVRANGE key start stop [WITHSCORES]

    Members in a range of ranks, counted from the highest score.

    t_zset.c: zrevrangeCommand()
    """
    return _zrange(c, key, start, stop, args, By.RANK, True)


@command(
    "zrangebyscore",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="1.0.5",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrangebyscore(c: Client, key: bytes, min: bytes, max: bytes, *args: bytes) -> Reply:
    """ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]

    Members whose score is in a range.

    t_zset.c: zrangebyscoreCommand()
    """
    return _zrange(c, key, min, max, args, By.SCORE, False)


@command(
    "zrevrangebyscore",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.2.0",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrevrangebyscore(c: Client, key: bytes, max: bytes, min: bytes, *args: bytes) -> Reply:
    """ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count]

    Members whose score is in a range, from the highest.

    t_zset.c: zrevrangebyscoreCommand()
    """
    return _zrange(c, key, max, min, args, By.SCORE, True)


@command(
    "zrangebylex",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.8.9",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrangebylex(c: Client, key: bytes, min: bytes, max: bytes, *args: bytes) -> Reply:
    """ZRANGEBYLEX key min max [LIMIT offset count]

    Members in a range of members, all scores being the same.

    t_zset.c: zrangebylexCommand()
    """
    return _zrange(c, key, min, max, args, By.LEX, False)


@command(
    "zrevrangebylex",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="sorted-set",
    since="2.8.9",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrevrangebylex(c: Client, key: bytes, max: bytes, min: bytes, *args: bytes) -> Reply:
    """ZREVRANGEBYLEX key max min [LIMIT offset count]

    Members in a range of members from the last to the first, all scores being the same.

    t_zset.c: zrevrangebylexCommand()
    """
    return _zrange(c, key, max, min, args, By.LEX, True)


@command(
    "zrangestore",
    arity=-5,
    flags="write denyoom",
    keys=(1, 2, 1),
    specs=(KeySpec("OW update", index=1), KeySpec("RO access", index=2)),
    group="sorted-set",
    since="6.2.0",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zrangestore(c: Client, dst: bytes, src: bytes, min: bytes, max: bytes, *args: bytes) -> Reply:
    """ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]

    Stores the members that ZRANGE would reply, instead of what the other key held.

    t_zset.c: zrangestoreCommand()
    """
    options = _Options(args, None, None, store=True)
    if options.reverse and options.by is not By.RANK:
        min, max = max, min
    spec = parse_spec(options.by, min, max)
    zset = lookup_zset_read(c, src)
    if zset is None:
        return delete_destination(c, dst)
    count, pairs = _select(zset, spec, options)
    if not count:
        return delete_destination(c, dst)
    server = c.server
    # Only for ranks is the number of members known beforehand.
    hint = count if options.by is By.RANK else 0
    o = create_zset_object(server, hint, 0, server.new_object_lru)
    for score, member in pairs:
        zset_add(o, score, member, ZADD_IN_NONE, server)
    c.db.set_key(dst, o)
    c.db.notify(NOTIFY_ZSET, b"zrangestore", dst)
    server.dirty += 1
    return count


def delete_destination(c: Client, dst: bytes) -> int:
    """What storing an empty result does: the key goes. Replies 0."""
    if c.db.delete(dst):
        c.server.signal_modified_key(c.db, dst)
        c.db.notify(NOTIFY_GENERIC, b"del", dst)
        c.server.dirty += 1
    return 0
