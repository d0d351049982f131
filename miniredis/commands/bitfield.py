"""BITFIELD: a string as an array of integers of any width.

All operations are parsed before the first is executed. Offsets count bits; an integer's
first bit is its most significant one.

Redis: ``bitfieldGeneric()`` in bitops.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.bitops import (
    get_bit_offset,
    get_read_only_string,
    lookup_string_for_bit_command,
)
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_STRING
from miniredis.keyspace.object import string2ll
from miniredis.reply import Reply
from miniredis.structs.bits import (
    Buffer,
    get_signed,
    get_unsigned,
    set_bits,
    signed_overflow,
    to_signed,
    unsigned_overflow,
)

if TYPE_CHECKING:
    from miniredis.server.client import Client

BFOVERFLOW_WRAP = b"wrap"
BFOVERFLOW_SAT = b"sat"
BFOVERFLOW_FAIL = b"fail"
MAX_SIGNED_BITS = 64
MAX_UNSIGNED_BITS = 63  # a reply can hold no larger integer
# Arguments after the name of a subcommand.
_OPERANDS = {b"get": 2, b"set": 3, b"incrby": 3}


@dataclass(frozen=True, slots=True)
class BitfieldOp:
    """One operation. bitops.c: struct bitfieldOp"""

    opcode: bytes
    signed: bool
    bits: int
    offset: int
    value: int  # that SET stores or INCRBY adds
    overflow: bytes

    def read(self, data: Buffer) -> int:
        """The integer as it is; bits beyond the end are zero."""
        get = get_signed if self.signed else get_unsigned
        return get(data, self.offset, self.bits)

    def limit(self, value: int, incr: int) -> int | None:
        """What is stored for *value* + *incr*; None if that fails.

        bitops.c: checkSignedBitfieldOverflow(), checkUnsignedBitfieldOverflow()
        """
        check = signed_overflow if self.signed else unsigned_overflow
        direction = check(value, incr, self.bits)
        if not direction:
            return value + incr
        if self.overflow == BFOVERFLOW_FAIL:
            return None
        if self.overflow == BFOVERFLOW_SAT:
            largest = (1 << self.bits - self.signed) - 1
            least = -largest - 1 if self.signed else 0
            return largest if direction > 0 else least
        if self.signed:
            return to_signed(value + incr, self.bits)
        return (value + incr) & ((1 << self.bits) - 1)


def _bitfield_type(arg: bytes) -> tuple[bool, int]:
    """Whether signed, and how many bits. bitops.c: getBitfieldTypeFromArgument()"""
    signed = arg[:1] == b"i"
    bits = string2ll(c_string(arg[1:]))
    most = MAX_SIGNED_BITS if signed else MAX_UNSIGNED_BITS
    if arg[:1] not in (b"i", b"u") or bits is None or not 1 <= bits <= most:
        raise CommandError(
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not "
            "supported but i64 is."
        )
    return signed, bits


def _parse(c: Client, args: tuple[bytes, ...]) -> list[BitfieldOp]:
    """The operations; OVERFLOW holds for those after it."""
    ops: list[BitfieldOp] = []
    overflow = BFOVERFLOW_WRAP
    i = 0
    while i < len(args):
        name = word(args[i])
        operands = args[i + 1 : i + 1 + _OPERANDS.get(name, 1)]
        if name == b"overflow" and operands:
            overflow = word(operands[0])
            if overflow not in (BFOVERFLOW_WRAP, BFOVERFLOW_SAT, BFOVERFLOW_FAIL):
                raise CommandError("ERR Invalid OVERFLOW type specified")
        elif name in _OPERANDS and len(operands) == _OPERANDS[name]:
            signed, bits = _bitfield_type(operands[0])
            offset = get_bit_offset(c, operands[1], bits)
            value = 0 if name == b"get" else get_long_long(operands[2])
            ops.append(BitfieldOp(name, signed, bits, offset, value, overflow))
        else:
            raise syntax_error()
        i += 1 + len(operands)
    return ops


def _bitfield(c: Client, key: bytes, args: tuple[bytes, ...], readonly: bool) -> Reply:
    """bitops.c: bitfieldGeneric()"""
    ops = _parse(c, args)
    writes = [op for op in ops if op.opcode != b"get"]
    if not writes:
        o = c.db.lookup_key_read(key)
        data = b"" if o is None else get_read_only_string(o)
        return [op.read(data) for op in ops]
    if readonly:
        raise CommandError("ERR BITFIELD_RO only supports the GET subcommand")
    highest = max(op.offset + op.bits - 1 for op in writes)
    target, grown = lookup_string_for_bit_command(c, key, highest)
    replies: list[int | None] = []
    changes = 0
    for op in ops:
        old = op.read(target)
        if op.opcode == b"get":
            replies.append(old)
            continue
        is_set = op.opcode == b"set"
        new = op.limit(op.value, 0) if is_set else op.limit(old, op.value)
        if new is None:
            replies.append(None)
            continue
        replies.append(old if is_set else new)
        set_bits(target, op.offset, op.bits, new)
        changes += grown or old != new
    if changes:
        c.server.signal_modified_key(c.db, key)
        c.db.notify(NOTIFY_STRING, b"setbit", key)
        c.server.dirty += changes
    return replies


@command(
    "bitfield",
    arity=-2,
    flags="write denyoom",
    keys=(1, 1, 1),
    specs=(
        KeySpec(
            "RW update access variable_flags", index=1, notes="Writes only if a subcommand does"
        ),
    ),
    group="bitmap",
    since="3.2.0",
    complexity="O(1) for each subcommand specified",
)
def bitfield(c: Client, key: bytes, *args: bytes) -> Reply:
    """BITFIELD key [GET encoding offset | [OVERFLOW WRAP | SAT | FAIL] SET encoding offset value
    | INCRBY encoding offset increment [...]]

    Reads, sets and adds to integers inside a string. An encoding is u or i and a number
    of bits; an offset is in bits, or #N for the N-th integer of that width.

    bitops.c: bitfieldCommand()
    """
    return _bitfield(c, key, args, readonly=False)


@command(
    "bitfield_ro",
    arity=-2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="bitmap",
    since="6.0.0",
    complexity="O(1) for each subcommand specified",
)
def bitfield_ro(c: Client, key: bytes, *args: bytes) -> Reply:
    """BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]

    Reads integers inside a string.

    bitops.c: bitfieldroCommand()
    """
    return _bitfield(c, key, args, readonly=True)
