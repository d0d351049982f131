"""Counters: INCR, DECR and their kin on strings that hold numbers.

Redis: t_string.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.t_string import get_string
from miniredis.commands.table import command
from miniredis.errors import CommandError, not_a_float, wrong_type
from miniredis.keyspace.db import LOOKUP_WRITE
from miniredis.keyspace.notify import NOTIFY_STRING
from miniredis.keyspace.object import (
    LLONG_MAX,
    LLONG_MIN,
    OBJ_SHARED_INTEGERS,
    OBJ_STRING,
    RedisObject,
    fixed_string_encoding,
)
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def incr_decr(c: Client, key: bytes, incr: int) -> int:
    """Behind INCR, DECR, INCRBY and DECRBY; the time to live stays.

    t_string.c: incrDecrCommand()
    """
    db, server = c.db, c.server
    o = db.lookup_key(key, LOOKUP_WRITE)
    if o is None:
        value = incr
        db.add(key, RedisObject(OBJ_STRING, b"%d" % value, server.new_object_lru))
    else:
        if o.type != OBJ_STRING:
            raise wrong_type()
        old = get_long_long(o.ptr)
        value = old + incr
        if not LLONG_MIN <= value <= LLONG_MAX:
            raise CommandError("ERR increment or decrement would overflow")
        # Redis changes an integer object of its own in place. One below 10,000 is shared and
        # gets replaced, for which the key is looked up once more: that moves a rehash.
        if (
            o.encoding is not None
            or 0 <= value < OBJ_SHARED_INTEGERS
            or 0 <= old < OBJ_SHARED_INTEGERS
        ):
            o.encoding = None
            if db.dict.rehashidx >= 0:
                db.dict.rehash_step_for(key)
        o.ptr = b"%d" % value
    if db.signals:
        server.signal_modified_key(db, key)
    if server.notify_mask & NOTIFY_STRING:
        db.notify(NOTIFY_STRING, b"incrby", key)
    server.dirty += 1
    return value


@command(
    "incr",
    arity=2,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="string",
    since="1.0.0",
)
def incr(c: Client, key: bytes) -> Reply:
    """INCR key

    Adds one to the integer that a key holds; a missing key counts as 0.

    t_string.c: incrCommand()
    """
    return incr_decr(c, key, 1)


@command(
    "decr",
    arity=2,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="string",
    since="1.0.0",
)
def decr(c: Client, key: bytes) -> Reply:
    """DECR key

    Takes one from the integer that a key holds; a missing key counts as 0.

    t_string.c: decrCommand()
    """
    return incr_decr(c, key, -1)


@command(
    "incrby",
    arity=3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="string",
    since="1.0.0",
)
def incrby(c: Client, key: bytes, increment: bytes) -> Reply:
    """INCRBY key increment

    Adds an integer to the one that a key holds.

    t_string.c: incrbyCommand()
    """
    return incr_decr(c, key, get_long_long(increment))


@command(
    "decrby",
    arity=3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="string",
    since="1.0.0",
)
def decrby(c: Client, key: bytes, decrement: bytes) -> Reply:
    """DECRBY key decrement

    Takes an integer from the one that a key holds.

    t_string.c: decrbyCommand()
    """
    amount = get_long_long(decrement)
    if amount == LLONG_MIN:
        raise CommandError("ERR decrement would overflow")
    return incr_decr(c, key, -amount)


@command(
    "incrbyfloat",
    arity=3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="string",
    since="2.6.0",
)
def incrbyfloat(c: Client, key: bytes, increment: bytes) -> Reply:
    """INCRBYFLOAT key increment

    Adds to the number that a key holds, in extended precision; the time to live stays.

    t_string.c: incrbyfloatCommand()
    """
    # Not before it is needed: exact fractions take 2 ms to import.
    from miniredis.structs.long_double import (
        INFINITY,
        MINUS_INFINITY,
        ld2string_human,
        round_long_double,
        string2ld,
    )

    db = c.db
    o = db.lookup_key_write(key)
    value = string2ld(get_string(o) or b"") if o is not None else string2ld(b"0")
    if value is None:
        raise not_a_float()
    amount = string2ld(increment)
    if amount is None:
        raise not_a_float()
    infinite = {INFINITY, MINUS_INFINITY} & {value, amount}
    total = None if infinite else round_long_double(value + amount)
    if total is None:
        raise CommandError("ERR increment would produce NaN or Infinity")
    text = ld2string_human(total)
    new = RedisObject(OBJ_STRING, text, c.server.new_object_lru, fixed_string_encoding(text))
    if o is None:
        db.add(key, new)
    else:
        db.overwrite(key, new)
    c.server.signal_modified_key(db, key)
    db.notify(NOTIFY_STRING, b"incrbyfloat", key)
    c.server.dirty += 1
    c.rewrite(b"SET", key, text, b"KEEPTTL")
    return text
