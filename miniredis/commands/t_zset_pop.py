"""Taking the lowest or highest members out of sorted sets.

Redis: ``genericZpopCommand()``, ``zmpopGenericCommand()`` in t_zset.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from miniredis.commands.args import get_positive_long, get_range_long, word
from miniredis.commands.t_zset import lookup_zset_write
from miniredis.commands.t_zset_ranges import reply_pairs
from miniredis.commands.table import KeySpec, command
from miniredis.errors import syntax_error
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_ZSET
from miniredis.keyspace.object import LLONG_MAX
from miniredis.keyspace.zset_object import Zset
from miniredis.reply import NULL_ARRAY, Reply
from miniredis.structs.ranked_list import Pair

if TYPE_CHECKING:
    from miniredis.server.client import Client

ZSET_MIN, ZSET_MAX = 0, 1  # which end; server.h
_EVENTS = (b"zpopmin", b"zpopmax")
ZPOP_NAMES = (b"ZPOPMIN", b"ZPOPMAX")


def pop_pairs(c: Client, key: bytes, zset: Zset, where: int, count: int) -> list[Pair]:
    """Take up to *count* pairs, at least 1, out of a set that has any; nearest the end first.

    Events and everything else that goes with it included, but for propagation.
    O(log(N)*M). t_zset.c: genericZpopCommand()
    """
    db, server = c.db, c.server
    length = len(zset)
    count = min(count, length)
    if where == ZSET_MIN:
        pairs = list(zset.pairs(0, count))
    else:
        pairs = list(zset.pairs(length - count, length, reverse=True))
    for _, member in pairs:
        zset.delete(member)
    server.dirty += count
    db.notify(NOTIFY_ZSET, _EVENTS[where], key)
    server.signal_modified_key(db, key)
    if not len(zset):
        db.delete(key)
        db.notify(NOTIFY_GENERIC, b"del", key)
    return pairs


def _zpop(c: Client, key: bytes, args: tuple[bytes, ...], where: int) -> Reply:
    """t_zset.c: zpopMinMaxCommand()"""
    if len(args) > 1:
        raise syntax_error()
    count = get_positive_long(args[0]) if args else 1
    zset = lookup_zset_write(c, key)
    if zset is None or count == 0:
        return []
    pairs = pop_pairs(c, key, zset, where, count)
    if args:
        return reply_pairs(c, pairs, withscores=True)
    [(score, member)] = pairs
    return [member, score]


@command(
    "zpopmin",
    arity=-2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access delete",
    group="sorted-set",
    since="5.0.0",
    complexity="O(log(N)*M) for M members of a set of N",
)
def zpopmin(c: Client, key: bytes, *args: bytes) -> Reply:
    """ZPOPMIN key [count]

    Removes the members with the lowest scores and replies them.

    t_zset.c: zpopminCommand()
    """
    return _zpop(c, key, args, ZSET_MIN)


@command(
    "zpopmax",
    arity=-2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access delete",
    group="sorted-set",
    since="5.0.0",
    complexity="O(log(N)*M) for M members of a set of N",
)
def zpopmax(c: Client, key: bytes, *args: bytes) -> Reply:
    """ZPOPMAX key [count]

    Removes the members with the highest scores and replies them.

    t_zset.c: zpopmaxCommand()
    """
    return _zpop(c, key, args, ZSET_MAX)


def parse_zmpop(args: Sequence[bytes]) -> tuple[Sequence[bytes], int, int]:
    """Keys, which end, and how many of the arguments from the number of keys on.

    t_zset.c: zmpopGenericCommand()
    """
    numkeys = get_range_long(args[0], 1, LLONG_MAX, "numkeys should be greater than 0")
    if numkeys + 1 >= len(args):
        raise syntax_error()
    side = word(args[numkeys + 1])
    if side not in (b"min", b"max"):
        raise syntax_error()
    options = args[numkeys + 2 :]
    count = 1
    if options:
        if len(options) == 1 or word(options[0]) != b"count":
            raise syntax_error()
        count = get_range_long(options[1], 1, LLONG_MAX, "count should be greater than 0")
        if len(options) > 2:
            raise syntax_error()
    return args[1 : numkeys + 1], ZSET_MIN if side == b"min" else ZSET_MAX, count


def nested_reply(key: bytes, pairs: list[Pair]) -> Reply:
    """The reply of ZMPOP and BZMPOP: key, and an array of arrays in both protocols."""
    return [key, [[member, score] for score, member in pairs]]


@command(
    "zmpop",
    arity=-4,
    flags="write movablekeys",
    specs=(KeySpec("RW access delete", index=1, keynumidx=0, firstkey=1),),
    group="sorted-set",
    since="7.0.0",
    complexity="O(K) + O(M*log(N)) for K keys and M members of a set of N",
)
def zmpop(c: Client, *args: bytes) -> Reply:
    """ZMPOP numkeys key [key ...] MIN | MAX [COUNT count]

    Removes members with the lowest or highest scores from the first set that is there.

    t_zset.c: zmpopCommand()
    """
    keys, where, count = parse_zmpop(args)
    for key in keys:
        zset = lookup_zset_write(c, key)
        if zset is not None:
            pairs = pop_pairs(c, key, zset, where, count)
            # Replicas are told what was popped, not where it was searched.
            c.rewrite(ZPOP_NAMES[where], key, b"%d" % len(pairs))
            return nested_reply(key, pairs)
    return NULL_ARRAY
