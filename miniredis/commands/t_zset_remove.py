"""Removing ranges of sorted sets.

Redis: ``zremrangeGenericCommand()`` in t_zset.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.t_zset import lookup_zset_write
from miniredis.commands.t_zset_ranges import By, parse_spec, range_bounds
from miniredis.commands.table import command
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_ZSET
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def _zremrange(c: Client, key: bytes, min: bytes, max: bytes, by: By, event: bytes) -> Reply:
    """t_zset.c: zremrangeGenericCommand()"""
    spec = parse_spec(by, min, max)
    zset = lookup_zset_write(c, key)
    if zset is None:
        return 0
    start, stop = range_bounds(zset, spec)
    deleted = zset.delete_range(start, stop)
    db, server = c.db, c.server
    if not len(zset):
        db.delete(key)
    if deleted:
        server.signal_modified_key(db, key)
        db.notify(NOTIFY_ZSET, event, key)
        if not len(zset):
            db.notify(NOTIFY_GENERIC, b"del", key)
    server.dirty += deleted
    return deleted


@command(
    "zremrangebyrank",
    arity=4,
    flags="write",
    keys=(1, 1, 1),
    access="RW delete",
    group="sorted-set",
    since="2.0.0",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zremrangebyrank(c: Client, key: bytes, start: bytes, stop: bytes) -> Reply:
    """ZREMRANGEBYRANK key start stop

    Removes the members in a range of ranks.

    t_zset.c: zremrangebyrankCommand()
    """
    return _zremrange(c, key, start, stop, By.RANK, b"zremrangebyrank")


@command(
    "zremrangebyscore",
    arity=4,
    flags="write",
    keys=(1, 1, 1),
    access="RW delete",
    group="sorted-set",
    since="1.2.0",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zremrangebyscore(c: Client, key: bytes, min: bytes, max: bytes) -> Reply:
    """ZREMRANGEBYSCORE key min max

    Removes the members whose score is in a range.

    t_zset.c: zremrangebyscoreCommand()
    """
    return _zremrange(c, key, min, max, By.SCORE, b"zremrangebyscore")


@command(
    "zremrangebylex",
    arity=4,
    flags="write",
    keys=(1, 1, 1),
    access="RW delete",
    group="sorted-set",
    since="2.8.9",
    complexity="O(log(N)+M) for M members of a set of N",
)
def zremrangebylex(c: Client, key: bytes, min: bytes, max: bytes) -> Reply:
    """ZREMRANGEBYLEX key min max

    Removes the members in a range of members, all scores being the same.

    t_zset.c: zremrangebylexCommand()
    """
    return _zremrange(c, key, min, max, By.LEX, b"zremrangebylex")
