"""ZSCAN and ZRANDMEMBER: walking over a sorted set, and picking from it at random.

Redis: t_zset.c, ``lpRandomPairs*()`` in listpack.c.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miniredis.commands.args import get_range_long, word
from miniredis.commands.scanning import empty_scan, parse_scan_cursor, scan_generic
from miniredis.commands.t_hash_walk import throw_out_random_entries
from miniredis.commands.t_zset import lookup_zset_read
from miniredis.commands.t_zset_ranges import reply_pairs
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.object import LLONG_MAX
from miniredis.keyspace.zset_object import Zset, ZsetSkiplist
from miniredis.reply import Reply
from miniredis.structs.dict import Dict
from miniredis.structs.ranked_list import Pair

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

# A set less than so many times as large as the sample is copied and thinned out.
ZRANDMEMBER_SUB_STRATEGY_MUL = 3


def _random_pair(zset: Zset, server: Server) -> Pair:
    """Some member, each as likely as any other or, of a skiplist, nearly. O(1).

    t_zset.c: zsetTypeRandomElement()
    """
    if isinstance(zset, ZsetSkiplist):
        entry = zset.dict.get_fair_random_key()
        assert entry is not None
        return entry.val, entry.key
    at = server.rng.randrange(len(zset))
    return zset.pairs(at, at + 1)[0]


def _thinned_out(zset: Zset, count: int, server: Server) -> Iterator[Pair]:
    """All but as many members, removed at random; in the order of a hash table."""
    d = Dict(server.hash_function, server.rng)
    d.expand(len(zset))
    for score, member in reversed(zset):
        d.add(member, score)
    throw_out_random_entries(d, len(d) - count)
    return ((entry.val, entry.key) for entry in d.entries())


def _random_pairs_unique(zset: Zset, count: int, server: Server) -> Iterator[Pair]:
    """*count* different members of a listpack in its order, in one walk.

    Each member is taken with the probability that is left: members still wanted, divided
    by members still to come. Of 4 members 2 are wanted: the first is taken with 2/4. If it
    was, the second is taken with 1/3, else with 2/3; either way that is 1/2 altogether.
    listpack.c: lpRandomPairsUnique()
    """
    remaining, left = count, len(zset)
    for pair in zset:
        if not remaining:
            return
        if server.rng.random() <= remaining / left:
            remaining -= 1
            yield pair
        left -= 1


def _gathered(zset: Zset, count: int, server: Server) -> list[Pair]:
    """*count* different members of a large skiplist in the order in which they are drawn."""
    found: dict[bytes, Pair] = {}
    while len(found) < count:
        pair = _random_pair(zset, server)
        found.setdefault(pair[1], pair)
    return list(found.values())


def _zrandmember_with_count(c: Client, key: bytes, count: int, withscores: bool) -> Reply:
    """A negative *count* draws each time from all members, so that some may come twice.

    t_zset.c: zrandmemberWithCountCommand()
    """
    zset = lookup_zset_read(c, key)
    if zset is None or count == 0:
        return []
    server, size = c.server, len(zset)
    if count < 0 or count == 1:
        pairs = (_random_pair(zset, server) for _ in range(abs(count)))
        return reply_pairs(c, pairs, withscores)
    if count >= size:
        return reply_pairs(c, reversed(zset), withscores)
    if count * ZRANDMEMBER_SUB_STRATEGY_MUL > size:
        return reply_pairs(c, _thinned_out(zset, count, server), withscores)
    if isinstance(zset, ZsetSkiplist):
        return reply_pairs(c, _gathered(zset, count, server), withscores)
    return reply_pairs(c, _random_pairs_unique(zset, count, server), withscores)


@command(
    "zrandmember",
    arity=-2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="sorted-set",
    since="6.2.0",
    complexity="O(N) in the number of members replied",
)
def zrandmember(c: Client, key: bytes, *args: bytes) -> Reply:
    """ZRANDMEMBER key [count [WITHSCORES]]

    A random member, or several: different ones, or with a negative count possibly the same.

    t_zset.c: zrandmemberCommand()
    """
    if args:
        count = get_range_long(args[0], -LLONG_MAX, LLONG_MAX)
        if len(args) > 2 or (len(args) == 2 and word(args[1]) != b"withscores"):
            raise syntax_error()
        withscores = len(args) == 2
        if withscores and abs(count) > LLONG_MAX // 2:
            raise CommandError("ERR value is out of range")
        return _zrandmember_with_count(c, key, count, withscores)
    zset = lookup_zset_read(c, key)
    return None if zset is None else _random_pair(zset, c.server)[1]


@command(
    "zscan",
    arity=-3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="sorted-set",
    since="2.8.0",
    complexity="O(1) for each call, O(N) for the whole walk",
)
def zscan(c: Client, key: bytes, cursor: bytes, *args: bytes) -> Reply:
    """ZSCAN key cursor [MATCH pattern] [COUNT count]

    Walks over members and scores in steps; a small set comes at once.

    t_zset.c: zscanCommand()
    """
    position = parse_scan_cursor(cursor)
    zset = lookup_zset_read(c, key)
    return empty_scan() if zset is None else scan_generic(zset, position, args)
