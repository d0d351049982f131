"""Hashes: fields and their values under one key.

HSCAN and HRANDFIELD are in ``t_hash_walk.py``.

Redis: t_hash.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.table import command
from miniredis.errors import CommandError, not_a_float, wrong_arity, wrong_type
from miniredis.keyspace.db import LOOKUP_WRITE
from miniredis.keyspace.hash_object import HashObject
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_HASH
from miniredis.keyspace.object import LLONG_MAX, LLONG_MIN, OBJ_HASH, RedisObject, string2ll
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def hash_type_lookup_read(c: Client, key: bytes) -> HashObject | None:
    """The hash that *key* holds, None if there is no key; WRONGTYPE for other types."""
    o = c.db.lookup_key(key)
    if o is None:
        return None
    if o.type != OBJ_HASH:
        raise wrong_type()
    value: HashObject = o.ptr
    return value


def hash_type_lookup_write_or_create(c: Client, key: bytes) -> HashObject:
    """The hash that *key* holds, or a new one, already in the keyspace.

    t_hash.c: hashTypeLookupWriteOrCreate()
    """
    o = c.db.lookup_key(key, LOOKUP_WRITE)
    if o is None:
        o = RedisObject(OBJ_HASH, HashObject(), c.server.new_object_lru)
        c.db.add(key, o)
    elif o.type != OBJ_HASH:
        raise wrong_type()
    value: HashObject = o.ptr
    return value


def _changed(c: Client, key: bytes, event: bytes, changes: int) -> None:
    """What follows every change of a hash; *changes* are counted as ``server.dirty``."""
    server = c.server
    server.signal_modified_key(c.db, key)
    if server.notify_mask & NOTIFY_HASH:
        c.db.notify(NOTIFY_HASH, event, key)
    server.dirty += changes


# -- writing ------------------------------------------------------------------------------


def _hset(c: Client, key: bytes, args: tuple[bytes, ...]) -> int:
    """Set pairs of field and value; how many fields are new. t_hash.c: hsetCommand()"""
    if len(args) % 2:
        raise wrong_arity(c.fullname())
    value, server = hash_type_lookup_write_or_create(c, key), c.server
    value.try_conversion(args, server)
    created = 0
    for i in range(0, len(args), 2):
        created += value.put(args[i], args[i + 1], server)
    _changed(c, key, b"hset", len(args) // 2)
    return created


@command(
    "hset",
    arity=-4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW update",
    group="hash",
    since="2.0.0",
    complexity="O(1) for each pair",
)
def hset(c: Client, key: bytes, *args: bytes) -> Reply:
    """HSET key field value [field value ...]

    Sets fields of a hash; how many of them are new.

    t_hash.c: hsetCommand()
    """
    return _hset(c, key, args)


@command(
    "hmset",
    arity=-4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW update",
    group="hash",
    since="2.0.0",
    complexity="O(N) in the number of pairs",
)
def hmset(c: Client, key: bytes, *args: bytes) -> Reply:
    """HMSET key field value [field value ...]

    Sets fields of a hash, as HSET does; only the reply differs.

    t_hash.c: hsetCommand()
    """
    _hset(c, key, args)
    return OK


@command(
    "hsetnx",
    arity=4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW insert",
    group="hash",
    since="2.0.0",
)
def hsetnx(c: Client, key: bytes, field: bytes, value: bytes) -> Reply:
    """HSETNX key field value

    Sets a field unless the hash has it already.

    t_hash.c: hsetnxCommand()
    """
    h = hash_type_lookup_write_or_create(c, key)
    if h.get(field) is not None:
        return 0
    h.try_conversion((field, value), c.server)
    h.put(field, value, c.server)
    _changed(c, key, b"hset", 1)
    return 1


@command(
    "hincrby",
    arity=4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="hash",
    since="2.0.0",
)
def hincrby(c: Client, key: bytes, field: bytes, increment: bytes) -> Reply:
    """HINCRBY key field increment

    Adds an integer to the one that a field holds; a missing field counts as 0.

    t_hash.c: hincrbyCommand()
    """
    amount = get_long_long(increment)
    h = hash_type_lookup_write_or_create(c, key)
    old = h.get(field)
    number = 0 if old is None else string2ll(old)
    if number is None:
        raise CommandError("ERR hash value is not an integer")
    number += amount
    if not LLONG_MIN <= number <= LLONG_MAX:
        raise CommandError("ERR increment or decrement would overflow")
    h.set(field, b"%d" % number, c.server)
    _changed(c, key, b"hincrby", 1)
    return number


@command(
    "hincrbyfloat",
    arity=4,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="hash",
    since="2.6.0",
)
def hincrbyfloat(c: Client, key: bytes, field: bytes, increment: bytes) -> Reply:
    """HINCRBYFLOAT key field increment

    Adds to the number that a field holds, in extended precision.

    t_hash.c: hincrbyfloatCommand()
    """
    # Not before it is needed: exact fractions take 2 ms to import.
    from miniredis.structs.long_double import (
        INFINITY,
        MINUS_INFINITY,
        ld2string_human,
        round_long_double,
        string2ld,
    )

    infinite = (INFINITY, MINUS_INFINITY)
    amount = string2ld(increment)
    if amount is None:
        raise not_a_float()
    if amount in infinite:
        raise CommandError("ERR value is NaN or Infinity")
    h = hash_type_lookup_write_or_create(c, key)
    old = h.get(field)
    value = string2ld(b"0" if old is None else old)
    if value is None:
        raise CommandError("ERR hash value is not a float")
    total = None if value in infinite else round_long_double(value + amount)
    if total is None:
        raise CommandError("ERR increment would produce NaN or Infinity")
    text = ld2string_human(total)
    h.set(field, text, c.server)
    _changed(c, key, b"hincrbyfloat", 1)
    c.rewrite(b"HSET", key, field, text)
    return text


@command(
    "hdel",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW delete",
    group="hash",
    since="2.0.0",
    complexity="O(N) in the number of fields to delete",
)
def hdel(c: Client, key: bytes, *fields: bytes) -> Reply:
    """HDEL key field [field ...]

    Deletes fields of a hash, and the key with the last of them.

    t_hash.c: hdelCommand()
    """
    db = c.db
    o = db.lookup_key(key, LOOKUP_WRITE)
    if o is None:
        return 0
    if o.type != OBJ_HASH:
        raise wrong_type()
    h: HashObject = o.ptr
    deleted = 0
    for field in fields:
        if h.delete(field):
            deleted += 1
            if not len(h):
                db.delete(key)
                break
    if deleted:
        _changed(c, key, b"hdel", deleted)
        if not len(h):
            db.notify(NOTIFY_GENERIC, b"del", key)
    return deleted


# -- reading ------------------------------------------------------------------------------


@command(
    "hget",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="hash",
    since="2.0.0",
)
def hget(c: Client, key: bytes, field: bytes) -> Reply:
    """HGET key field

    The value of a field.

    t_hash.c: hgetCommand()
    """
    h = hash_type_lookup_read(c, key)
    return None if h is None else h.get(field)


@command(
    "hmget",
    arity=-3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="hash",
    since="2.0.0",
    complexity="O(N) in the number of fields",
)
def hmget(c: Client, key: bytes, *fields: bytes) -> Reply:
    """HMGET key field [field ...]

    The values of several fields; nil for each that is missing.

    t_hash.c: hmgetCommand()
    """
    h = hash_type_lookup_read(c, key)
    return [None if h is None else h.get(field) for field in fields]


@command(
    "hlen",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="hash",
    since="2.0.0",
)
def hlen(c: Client, key: bytes) -> Reply:
    """HLEN key

    Number of fields of a hash.

    t_hash.c: hlenCommand()
    """
    h = hash_type_lookup_read(c, key)
    return 0 if h is None else len(h)


@command(
    "hstrlen",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="hash",
    since="3.2.0",
)
def hstrlen(c: Client, key: bytes, field: bytes) -> Reply:
    """HSTRLEN key field

    Length in bytes of a field's value.

    t_hash.c: hstrlenCommand()
    """
    h = hash_type_lookup_read(c, key)
    return 0 if h is None else len(h.get(field) or b"")


@command(
    "hexists",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="hash",
    since="2.0.0",
)
def hexists(c: Client, key: bytes, field: bytes) -> Reply:
    """HEXISTS key field

    Whether a hash has a field.

    t_hash.c: hexistsCommand()
    """
    h = hash_type_lookup_read(c, key)
    return int(h is not None and h.get(field) is not None)


@command(
    "hkeys",
    arity=2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="hash",
    since="2.0.0",
    complexity="O(N) in the number of fields",
)
def hkeys(c: Client, key: bytes) -> Reply:
    """HKEYS key

    All fields of a hash.

    t_hash.c: hkeysCommand()
    """
    h = hash_type_lookup_read(c, key)
    return [] if h is None else [field for field, _ in h.items()]


@command(
    "hvals",
    arity=2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="hash",
    since="2.0.0",
    complexity="O(N) in the number of fields",
)
def hvals(c: Client, key: bytes) -> Reply:
    """HVALS key

    The values of all fields of a hash.

    t_hash.c: hvalsCommand()
    """
    h = hash_type_lookup_read(c, key)
    return [] if h is None else [value for _, value in h.items()]


@command(
    "hgetall",
    arity=2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="hash",
    since="2.0.0",
    complexity="O(N) in the number of fields",
)
def hgetall(c: Client, key: bytes) -> Reply:
    """HGETALL key

    All fields of a hash with their values.

    t_hash.c: hgetallCommand()
    """
    h = hash_type_lookup_read(c, key)
    return {} if h is None else dict(h.items())
