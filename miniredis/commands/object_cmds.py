"""OBJECT: how a value is represented, and when it was last used.

Redis: ``objectCommand()`` in object.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.table import command, container
from miniredis.errors import CommandError
from miniredis.keyspace.db import LOOKUP_NONOTIFY, LOOKUP_NOTOUCH
from miniredis.keyspace.object import (
    RedisObject,
    estimate_object_idle_time,
    lfu_decr_and_return,
    lfu_get_time_in_minutes,
    object_encoding,
    refcount,
)
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

container("object", group="generic", since="2.2.3", summary="Tells about the inside of a value.")


def _lookup(c: Client, key: bytes) -> RedisObject | None:
    """object.c: objectCommandLookup()"""
    return c.db.lookup_key(key, LOOKUP_NOTOUCH | LOOKUP_NONOTIFY)


@command(
    "object|encoding",
    arity=3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO",
    tips="nondeterministic_output",
    group="generic",
    since="2.2.3",
)
def object_encoding_command(c: Client, _: bytes, key: bytes) -> Reply:
    """OBJECT ENCODING key

    The representation of a value in memory, e.g. embstr.

    object.c: objectCommand()
    """
    o = _lookup(c, key)
    return None if o is None else object_encoding(o).encode()


@command(
    "object|refcount",
    arity=3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO",
    tips="nondeterministic_output",
    group="generic",
    since="2.2.3",
)
def object_refcount(c: Client, _: bytes, key: bytes) -> Reply:
    """OBJECT REFCOUNT key

    References to a value: 1, or a very large number for a shared small integer.

    object.c: objectCommand()
    """
    o = _lookup(c, key)
    return None if o is None else refcount(o)


@command(
    "object|idletime",
    arity=3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO",
    tips="nondeterministic_output",
    group="generic",
    since="2.2.3",
)
def object_idletime(c: Client, _: bytes, key: bytes) -> Reply:
    """OBJECT IDLETIME key

    Seconds since a value was last used.

    object.c: objectCommand()
    """
    o = _lookup(c, key)
    if o is None:
        return None
    if c.server.maxmemory_lfu:
        raise CommandError(
            "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that "
            "when switching between policies at runtime LRU and LFU data will take some time "
            "to adjust."
        )
    return estimate_object_idle_time(o, c.server.lru_clock()) // 1000


@command(
    "object|freq",
    arity=3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO",
    tips="nondeterministic_output",
    group="generic",
    since="4.0.0",
)
def object_freq(c: Client, _: bytes, key: bytes) -> Reply:
    """OBJECT FREQ key

    The logarithmic access counter of a value, under an LFU policy.

    object.c: objectCommand()
    """
    o = _lookup(c, key)
    if o is None:
        return None
    if not c.server.maxmemory_lfu:
        raise CommandError(
            "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please "
            "note that when switching between policies at runtime LRU and LFU data will take "
            "some time to adjust."
        )
    minutes = lfu_get_time_in_minutes(c.server.mstime // 1000)
    return lfu_decr_and_return(o, minutes, c.server.config.lfu_decay_time)


@command(
    "object|help",
    arity=2,
    flags="loading stale",
    group="generic",
    since="6.2.0",
)
def object_help(c: Client, _: bytes) -> Reply:
    """OBJECT HELP

    What OBJECT can tell.

    object.c: objectCommand()
    """
    return c.help(
        ("ENCODING <key>", "How the value is kept in memory."),
        ("FREQ <key>", "Access counter under an LFU policy."),
        ("IDLETIME <key>", "Seconds since the last access."),
        ("REFCOUNT <key>", "References to the value."),
    )
