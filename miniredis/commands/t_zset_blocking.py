"""Sorted sets: popping members, and waiting while there are none.

A command that finds a set does at once what ZPOPMIN, ZPOPMAX or ZMPOP does. Otherwise it
waits, see ``server/blocked.py``, and is served by a function made here.

Redis: ``blockingGenericZpopCommand()`` in t_zset.c, blocked.c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from miniredis.commands.blocking import BLOCKED_ZSET
from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING
from miniredis.commands.t_zset import lookup_zset_write
from miniredis.commands.t_zset_pop import (
    ZPOP_NAMES,
    ZSET_MAX,
    ZSET_MIN,
    nested_reply,
    parse_zmpop,
    pop_pairs,
)
from miniredis.commands.table import KeySpec, command
from miniredis.commands.timeout import get_timeout_in_seconds
from miniredis.keyspace.object import RedisObject
from miniredis.keyspace.zset_object import Zset
from miniredis.reply import NULL_ARRAY, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

#: Pops from a set that has members: the reply, and the command that replicas are told.
_Pop = Callable[["Client", bytes, Zset], tuple[Reply, list[bytes]]]


def _pop_one(where: int, c: Client, key: bytes, zset: Zset) -> tuple[Reply, list[bytes]]:
    """BZPOPMIN and BZPOPMAX: key, member and score, in one array in both protocols."""
    [(score, member)] = pop_pairs(c, key, zset, where, 1)
    return [key, member, score], [ZPOP_NAMES[where], key]


def _pop_some(
    where: int, count: int, c: Client, key: bytes, zset: Zset
) -> tuple[Reply, list[bytes]]:
    """BZMPOP."""
    pairs = pop_pairs(c, key, zset, where, count)
    return nested_reply(key, pairs), [ZPOP_NAMES[where], key, b"%d" % len(pairs)]


def _serve(pop: _Pop, c: Client, o: RedisObject, key: bytes) -> Reply:
    """Serve a client that has waited. blocked.c: serveClientsBlockedOnSortedSetKey()"""
    zset = lookup_zset_write(c, key)
    assert zset is not None
    reply, propagated = pop(c, key, zset)
    c.also_propagate(*propagated)
    return reply


def _bzpop(c: Client, keys: Sequence[bytes], timeout: bytes, pop: _Pop) -> Reply:
    """t_zset.c: blockingGenericZpopCommand()"""
    until = get_timeout_in_seconds(c, timeout)
    for key in keys:
        zset = lookup_zset_write(c, key)
        if zset is not None:
            reply, propagated = pop(c, key, zset)
            c.rewrite(*propagated)
            return reply
    if c.flags & CLIENT_DENY_BLOCKING:
        return NULL_ARRAY
    return c.block_for_keys(BLOCKED_ZSET, keys, until, partial(_serve, pop))


@command(
    "bzpopmin",
    arity=-3,
    flags="write noscript blocking fast",
    keys=(1, -2, 1),
    access="RW access delete",
    group="sorted-set",
    since="5.0.0",
    complexity="O(log(N)) in the size of the set",
)
def bzpopmin(c: Client, *args: bytes) -> Reply:
    """BZPOPMIN key [key ...] timeout

    Takes the member with the lowest score from the first set that exists; waits up to so
    many seconds for one, for ever if 0.

    t_zset.c: bzpopminCommand()
    """
    return _bzpop(c, args[:-1], args[-1], partial(_pop_one, ZSET_MIN))


@command(
    "bzpopmax",
    arity=-3,
    flags="write noscript blocking fast",
    keys=(1, -2, 1),
    access="RW access delete",
    group="sorted-set",
    since="5.0.0",
    complexity="O(log(N)) in the size of the set",
)
def bzpopmax(c: Client, *args: bytes) -> Reply:
    """BZPOPMAX key [key ...] timeout

    Takes the member with the highest score from the first set that exists; waits up to so
    many seconds for one, for ever if 0.

    t_zset.c: bzpopmaxCommand()
    """
    return _bzpop(c, args[:-1], args[-1], partial(_pop_one, ZSET_MAX))


@command(
    "bzmpop",
    arity=-5,
    flags="write blocking movablekeys",
    specs=(KeySpec("RW access delete", index=2, keynumidx=0, firstkey=1),),
    group="sorted-set",
    since="7.0.0",
    complexity="O(K) + O(M*log(N)) for K keys and M members of a set of N",
)
def bzmpop(c: Client, timeout: bytes, *args: bytes) -> Reply:
    """BZMPOP timeout numkeys key [key ...] MIN | MAX [COUNT count]

    Takes members from the first set that exists; waits up to so many seconds for one.

    t_zset.c: bzmpopCommand()
    """
    keys, where, count = parse_zmpop(args)
    return _bzpop(c, keys, timeout, partial(_pop_some, where, count))
