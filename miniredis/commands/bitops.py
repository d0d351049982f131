"""Bitmaps, which are strings: SETBIT, GETBIT, BITCOUNT, BITPOS, BITOP.

A string becomes a ``bytearray`` at its first SETBIT, so that setting a bit copies nothing.

Redis: bitops.c.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.string_parts import unshare_string_value
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error, wrong_type
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_STRING
from miniredis.keyspace.object import OBJ_STRING, RedisObject, string2ll
from miniredis.reply import Reply
from miniredis.structs.bits import (
    BITS_PER_BYTE,
    Buffer,
    bitpos,
    combine,
    invert,
    popcount,
    to_signed,
)

if TYPE_CHECKING:
    from miniredis.server.client import Client

C_LONG_BITS = 64
_BITOPS = {b"and": operator.and_, b"or": operator.or_, b"xor": operator.xor, b"not": None}


def get_bit_offset(c: Client, arg: bytes, bits: int = 0) -> int:
    """A bit offset that a string of the maximum size can have.

    With *bits*, ``#3`` is the offset of the fourth integer so wide.
    bitops.c: getBitOffsetFromArgument()
    """
    usehash = bits > 0 and arg[:1] == b"#"
    offset = string2ll(arg[1:] if usehash else arg)
    if offset is not None and usehash:
        offset = to_signed(offset * bits, C_LONG_BITS)  # which may overflow, as in C
    if offset is None or not 0 <= offset >> 3 < c.server.config.proto_max_bulk_len:
        raise CommandError("ERR bit offset is not an integer or out of range")
    return offset


def get_read_only_string(o: RedisObject) -> Buffer:
    """The bytes of a string object, not copied. bitops.c: getObjectReadOnlyString()"""
    if o.type != OBJ_STRING:
        raise wrong_type()
    value: Buffer = o.ptr
    return value


def lookup_string_for_bit_command(c: Client, key: bytes, maxbit: int) -> tuple[bytearray, bool]:
    """The string of *key*, made long enough for *maxbit*, and whether it had to grow.

    A missing key is created. O(1) unless the string grows.
    bitops.c: lookupStringForBitCommand()
    """
    size = (maxbit >> 3) + 1
    o = c.db.lookup_key_write(key)
    if o is None:
        o = RedisObject(OBJ_STRING, bytearray(size), c.server.new_object_lru, "raw")
        c.db.add(key, o)
        return o.ptr, True
    if o.type != OBJ_STRING:
        raise wrong_type()
    value = unshare_string_value(c, key, o)
    missing = size - len(value)
    if missing > 0:
        value.extend(bytes(missing))
    return value, missing > 0


@command(
    "setbit",
    arity=4,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="RW access update",
    group="bitmap",
    since="2.2.0",
)
def setbit(c: Client, key: bytes, offset: bytes, value: bytes) -> Reply:
    """SETBIT key offset value

    Sets or clears one bit of a string, which grows as needed; answers with the old bit.

    bitops.c: setbitCommand()
    """
    bitoffset = get_bit_offset(c, offset)
    on = string2ll(value)
    if on not in (0, 1):
        raise CommandError("ERR bit is not an integer or out of range")
    target, grown = lookup_string_for_bit_command(c, key, bitoffset)
    byte = bitoffset >> 3
    mask = 0x80 >> (bitoffset & 7)
    old = 1 if target[byte] & mask else 0
    if grown or old != on:
        if on:
            target[byte] |= mask
        else:
            target[byte] &= ~mask
        c.server.signal_modified_key(c.db, key)
        c.db.notify(NOTIFY_STRING, b"setbit", key)
        c.server.dirty += 1
    return old


@command(
    "getbit",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="bitmap",
    since="2.2.0",
)
def getbit(c: Client, key: bytes, offset: bytes) -> Reply:
    """GETBIT key offset

    One bit of a string; 0 beyond its end.

    bitops.c: getbitCommand()
    """
    bitoffset = get_bit_offset(c, offset)
    o = c.db.lookup_key_read(key)
    if o is None:
        return 0
    value = get_read_only_string(o)
    byte = bitoffset >> 3
    return value[byte] >> (7 - (bitoffset & 7)) & 1 if byte < len(value) else 0


def _is_bit(unit: bytes) -> bool:
    """Whether an index counts bits; else it counts bytes."""
    unit = word(unit)
    if unit not in (b"bit", b"byte"):
        raise syntax_error()
    return unit == b"bit"


def _bit_range(start: int, end: int, total: int, isbit: bool) -> tuple[int, int]:
    """First and last bit that indexes mean in a string of *total* bits; may be empty.

    Negative indexes count from the end; *end* is cut, *start* is not.
    """
    unit = 1 if isbit else BITS_PER_BYTE
    length = total // unit
    if start < 0:
        start = max(length + start, 0)
    if end < 0:
        end = max(length + end, 0)
    end = min(end, length - 1)
    return start * unit, end * unit + unit - 1


@command(
    "bitcount",
    arity=-2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="bitmap",
    since="2.6.0",
    complexity="O(N) in the length of the range",
)
def bitcount(c: Client, key: bytes, *args: bytes) -> Reply:
    """BITCOUNT key [start end [BYTE | BIT]]

    Number of ones in a string or in part of it, both ends included.

    The arguments are looked at only if the key exists. bitops.c: bitcountCommand()
    """
    o = c.db.lookup_key_read(key)
    if o is None:
        return 0
    value = get_read_only_string(o)
    if not args:
        return popcount(value, 0, len(value) * BITS_PER_BYTE - 1)
    if len(args) not in (2, 3):
        raise syntax_error()
    start, end = get_long_long(args[0]), get_long_long(args[1])
    if start < 0 and end < 0 and start > end:
        return 0
    isbit = len(args) == 3 and _is_bit(args[2])
    return popcount(value, *_bit_range(start, end, len(value) * BITS_PER_BYTE, isbit))


@command(
    "bitpos",
    arity=-3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="bitmap",
    since="2.8.7",
    complexity="O(N) in the length of the range",
)
def bitpos_command(c: Client, key: bytes, bit: bytes, *args: bytes) -> Reply:
    """BITPOS key bit [start [end [BYTE | BIT]]]

    Position of the first 1 or the first 0. Unless an end is given, a string without a 0
    is taken to go on with zeros.

    bitops.c: bitposCommand()
    """
    wanted = get_long_long(bit)
    if wanted not in (0, 1):
        raise CommandError("ERR The bit argument must be 1 or 0.")
    o = c.db.lookup_key_read(key)
    if o is None:
        return -1 if wanted else 0
    value = get_read_only_string(o)
    if len(args) > 3:
        raise syntax_error()
    start = get_long_long(args[0]) if args else 0
    isbit = len(args) == 3 and _is_bit(args[2])
    end = get_long_long(args[1]) if len(args) > 1 else len(value) - 1
    first, last = _bit_range(start, end, len(value) * BITS_PER_BYTE, isbit)
    if first > last:
        return -1
    position = bitpos(value, wanted, first, last)
    if position is None:
        return last + 1 if not wanted and len(args) < 2 else -1
    return position


@command(
    "bitop",
    arity=-4,
    flags="write denyoom",
    keys=(2, -1, 1),
    specs=(KeySpec("OW update", index=2), KeySpec("RO access", index=3, lastkey=-1)),
    group="bitmap",
    since="2.6.0",
    complexity="O(N) in the length of the longest string",
)
def bitop(c: Client, operation: bytes, destkey: bytes, *keys: bytes) -> Reply:
    """BITOP operation destkey key [key ...]

    Stores AND, OR, XOR or NOT of strings, the shorter ones padded with zero bytes; answers
    with the length. If all are empty, the destination is deleted.

    bitops.c: bitopCommand()
    """
    op = word(operation)
    if op not in _BITOPS:
        raise syntax_error()
    if op == b"not" and len(keys) != 1:
        raise CommandError("ERR BITOP NOT must be called with a single source key.")
    db, server = c.db, c.server
    sources = []
    for key in keys:  # a wrong type ends it before the next key is looked up
        o = db.lookup_key_read(key)
        sources.append(b"" if o is None else get_read_only_string(o))
    function = _BITOPS[op]
    result = invert(sources[0]) if function is None else combine(sources, function)
    if result:
        db.set_key(destkey, RedisObject(OBJ_STRING, result, server.new_object_lru, "raw"))
        db.notify(NOTIFY_STRING, b"set", destkey)
        server.dirty += 1
    elif db.delete(destkey):
        server.signal_modified_key(db, destkey)
        db.notify(NOTIFY_GENERIC, b"del", destkey)
        server.dirty += 1
    return len(result)
