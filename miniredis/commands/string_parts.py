"""Commands on parts of a string: SETRANGE, GETRANGE, APPEND, STRLEN.

Redis: t_string.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.t_string import get_string
from miniredis.commands.table import command
from miniredis.errors import CommandError, wrong_type
from miniredis.keyspace.notify import NOTIFY_STRING
from miniredis.keyspace.object import LLONG_MAX, OBJ_STRING, RedisObject, object_encoding
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def check_string_length(c: Client, size: int, append: int) -> None:
    """Refuse strings longer than proto-max-bulk-len. t_string.c: checkStringLength()"""
    total = size + append
    if total > c.server.config.proto_max_bulk_len or total > LLONG_MAX:
        raise CommandError("ERR string exceeds maximum allowed size (proto-max-bulk-len)")


def unshare_string_value(c: Client, key: bytes, o: RedisObject) -> bytearray:
    """The value of *key* as bytes that may be changed in place.

    The first change gives the key a new, raw object unless it is raw already, later ones
    work on that one. db.c: dbUnshareStringValue()
    """
    if o.ptr.__class__ is bytearray:
        pass
    elif object_encoding(o) == "raw":
        o.ptr, o.encoding = bytearray(o.ptr), "raw"
    else:
        o = RedisObject(OBJ_STRING, bytearray(o.ptr), c.server.new_object_lru, "raw")
        c.db.overwrite(key, o)
    value: bytearray = o.ptr
    return value


@command(
    "setrange",
    arity=4,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="RW update",
    group="string",
    since="2.2.0",
    complexity="O(1) for short values; else O(M) in the length of the value",
)
def setrange(c: Client, key: bytes, offset: bytes, value: bytes) -> Reply:
    """SETRANGE key offset value

    Overwrites part of a string, filling up with zero bytes where it is too short.

    t_string.c: setrangeCommand()
    """
    start = get_long_long(offset)
    if start < 0:
        raise CommandError("ERR offset is out of range")
    db = c.db
    o = db.lookup_key_write(key)
    if o is None:
        if not value:
            return 0
        check_string_length(c, start, len(value))
        target = bytearray(start + len(value))
        db.add(key, RedisObject(OBJ_STRING, target, c.server.new_object_lru, "raw"))
    else:
        if o.type != OBJ_STRING:
            raise wrong_type()
        if not value:
            return len(o.ptr)
        check_string_length(c, start, len(value))
        target = unshare_string_value(c, key, o)
    if len(target) < start:
        target.extend(bytes(start - len(target)))
    target[start : start + len(value)] = value
    c.server.signal_modified_key(db, key)
    db.notify(NOTIFY_STRING, b"setrange", key)
    c.server.dirty += 1
    return len(target)


def _getrange(c: Client, key: bytes, start: bytes, end: bytes) -> Reply:
    first, last = get_long_long(start), get_long_long(end)
    value = get_string(c.db.lookup_key_read(key)) or b""
    if first < 0 and last < 0 and first > last:
        return b""
    if first < 0:
        first = max(first + len(value), 0)
    if last < 0:
        last = max(last + len(value), 0)
    return value[first : last + 1]


@command(
    "getrange",
    arity=4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="string",
    since="2.4.0",
    complexity="O(N) in the length of the reply",
)
def getrange(c: Client, key: bytes, start: bytes, end: bytes) -> Reply:
    """GETRANGE key start end

    Part of a string, both ends included; negative positions count from the end.

    t_string.c: getrangeCommand()
    """
    return _getrange(c, key, start, end)


@command(
    "substr",
    arity=4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="string",
    since="1.0.0",
    complexity="O(N) in the length of the reply",
)
def substr(c: Client, key: bytes, start: bytes, end: bytes) -> Reply:
    """SUBSTR key start end

    The old name of GETRANGE.

    t_string.c: getrangeCommand()
    """
    return _getrange(c, key, start, end)


@command(
    "append",
    arity=3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW insert",
    group="string",
    since="2.0.0",
    complexity="O(1) amortized, for short values",
)
def append(c: Client, key: bytes, value: bytes) -> Reply:
    """APPEND key value

    Adds to the end of a string, or creates it; answers with the new length.

    t_string.c: appendCommand()
    """
    db = c.db
    o = db.lookup_key_write(key)
    if o is None:
        db.add(key, RedisObject(OBJ_STRING, value, c.server.new_object_lru))
        length = len(value)
    else:
        if o.type != OBJ_STRING:
            raise wrong_type()
        check_string_length(c, len(o.ptr), len(value))
        target = unshare_string_value(c, key, o)
        target.extend(value)
        length = len(target)
    c.server.signal_modified_key(db, key)
    db.notify(NOTIFY_STRING, b"append", key)
    c.server.dirty += 1
    return length


@command(
    "strlen",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="string",
    since="2.2.0",
)
def strlen(c: Client, key: bytes) -> Reply:
    """STRLEN key

    The length of the string that a key holds, in bytes.

    t_string.c: strlenCommand()
    """
    o = c.db.lookup_key_read(key)
    if o is None:
        return 0
    if o.type != OBJ_STRING:
        raise wrong_type()
    return len(o.ptr)
