"""Runs of equal registers: the sparse form of a HyperLogLog, for few elements.

After the header come opcodes that together stand for all 16384 registers, in order:

    00xxxxxx            ZERO    x+1 registers are 0         (1...64)
    01xxxxxx yyyyyyyy   XZERO   xy+1 registers are 0        (1...16384)
    1vvvvvxx            VAL     x+1 registers are v+1       (1...4 of value 1...32)

An empty HyperLogLog is one XZERO:16384, two bytes. Setting register 1000 to 3 splits it
into XZERO:1000 VAL:3,1 XZERO:15383, five bytes. A value above 32, or a string longer than
hll-sparse-max-bytes, makes it dense for good.

Redis: hllSparseSet() and hllSparseToDense() in hyperloglog.c.
"""

from __future__ import annotations

from collections.abc import Iterator

from miniredis.structs.hll_dense import (
    HLL_HDR_SIZE,
    HLL_REGISTERS,
    hll_dense_set,
    pack_registers,
)

HLL_DENSE = 0
HLL_SPARSE = 1
HLL_MAX_ENCODING = 1
ENCODING_AT = 4  # the byte of the header that tells the encoding
CACHE_AT = 8  # eight bytes: the cached cardinality, little end first
CACHE_INVALID = 1 << 7  # in the last of them

HLL_SPARSE_XZERO_BIT = 0x40
HLL_SPARSE_VAL_BIT = 0x80
HLL_SPARSE_VAL_MAX_VALUE = 32
HLL_SPARSE_VAL_MAX_LEN = 4
HLL_SPARSE_ZERO_MAX_LEN = 64
MERGE_SCAN_OPCODES = 5  # looked at after a change, for neighbours that can be merged


def _span(op: int) -> int:
    if op & HLL_SPARSE_VAL_BIT:
        return (op & 3) + 1
    return 0 if op & HLL_SPARSE_XZERO_BIT else op + 1


# The length of the run that an opcode's first byte tells; 0 for XZERO, which has two.
_SPANS = bytes(map(_span, range(256)))


def _xzero_len(hll: bytes | bytearray, at: int) -> int:
    """Length of the XZERO at *at*; a missing second byte counts as 0, as C's NUL does."""
    low = hll[at + 1] if at + 1 < len(hll) else 0
    return ((hll[at] & 0x3F) << 8 | low) + 1


def _val(value: int, length: int) -> int:
    return (value - 1) << 2 | (length - 1) | HLL_SPARSE_VAL_BIT


def _zeros(length: int) -> bytes:
    """The opcode for a run of zeros, as short as possible."""
    if length > HLL_SPARSE_ZERO_MAX_LEN:
        return bytes([(length - 1) >> 8 | HLL_SPARSE_XZERO_BIT, (length - 1) & 0xFF])
    return bytes([length - 1])


def opcodes(hll: bytes | bytearray) -> Iterator[tuple[str, int, int]]:
    """Of each opcode: ``z``, ``Z`` or ``v``, the value of its registers, and how many."""
    at = HLL_HDR_SIZE
    while at < len(hll):
        op = hll[at]
        if op & HLL_SPARSE_VAL_BIT:
            yield "v", (op >> 2 & 0x1F) + 1, _SPANS[op]
        elif op & HLL_SPARSE_XZERO_BIT:
            yield "Z", 0, _xzero_len(hll, at)
            at += 1
        else:
            yield "z", 0, _SPANS[op]
        at += 1


def sparse_registers(hll: bytes | bytearray) -> bytes | None:
    """All registers, a byte each; None if the opcodes do not stand for exactly all.

    O(registers). Redis: the loops of hllMerge() and hllSparseToDense()
    """
    registers = bytearray()
    for kind, value, length in opcodes(hll):
        if len(registers) + length > HLL_REGISTERS:
            # What follows a full set of registers is overlooked if it begins with a VAL.
            if kind == "v":
                break
            return None
        registers += bytes([value]) * length
    return bytes(registers) if len(registers) == HLL_REGISTERS else None


def hll_sparse_to_dense(hll: bytearray) -> bool:
    """Make a sparse HyperLogLog dense in place; False if it is invalid. O(registers).

    Redis: hllSparseToDense()
    """
    if hll[ENCODING_AT] == HLL_DENSE:
        return True
    registers = sparse_registers(hll)
    if registers is None:
        return False
    hll[HLL_HDR_SIZE:] = pack_registers(registers)
    hll[ENCODING_AT] = HLL_DENSE
    return True


def invalidate_cache(hll: bytearray) -> None:
    """Mark the cached cardinality as out of date. Redis: HLL_INVALIDATE_CACHE"""
    hll[CACHE_AT + 7] |= CACHE_INVALID


def _find_opcode(hll: bytearray, index: int) -> tuple[int, int, int, int] | None:
    """Where the opcode of register *index* is, its first register, its run length, and where
    the opcode before it is (0 if there is none). O(opcodes)."""
    at, prev, first, end = HLL_HDR_SIZE, 0, 0, len(hll)
    spans = _SPANS
    while at < end:
        span = spans[hll[at]]
        width = 1
        if not span:
            span, width = _xzero_len(hll, at), 2
        if index < first + span:
            return at, first, span, prev
        prev = at
        at += width
        first += span
    return None


def hll_sparse_set(hll: bytearray, index: int, count: int, max_bytes: int) -> int:
    """Raise register *index* to *count* in place.

    1 if it was lower, 0 if not, -1 if the string is invalid. The string becomes dense if
    the value or the size (*max_bytes*, with the header) demands it. O(opcodes).

    Redis: hllSparseSet()
    """
    if count > HLL_SPARSE_VAL_MAX_VALUE:
        return _promote(hll, index, count)
    found = _find_opcode(hll, index)
    if found is None:
        return -1
    at, first, span, prev = found
    op = hll[at]
    old_value = (op >> 2 & 0x1F) + 1 if op & HLL_SPARSE_VAL_BIT else 0
    if old_value >= count:
        return 0
    # The registers before, the register, those after: up to three opcodes for the one.
    before, after = index - first, first + span - 1 - index
    if old_value:
        new = bytearray([_val(old_value, before)] if before else b"")
        new.append(_val(count, 1))
        new += bytes([_val(old_value, after)] if after else b"")
    else:
        new = bytearray(_zeros(before) if before else b"")
        new.append(_val(count, 1))
        new += _zeros(after) if after else b""
    width = 1 if _SPANS[op] else 2
    if len(new) > width and len(hll) + len(new) - width > max_bytes:
        return _promote(hll, index, count)
    hll[at : at + width] = new
    _merge_values(hll, prev or HLL_HDR_SIZE)
    invalidate_cache(hll)
    return 1


def _promote(hll: bytearray, index: int, count: int) -> int:
    return hll_dense_set(hll, index, count) if hll_sparse_to_dense(hll) else -1


def _merge_values(hll: bytearray, at: int) -> None:
    """Join VAL opcodes of one value from *at* on, as far as a change can have made such."""
    scanlen = MERGE_SCAN_OPCODES
    while at < len(hll) and scanlen:
        scanlen -= 1
        op = hll[at]
        if not op & HLL_SPARSE_VAL_BIT:
            at += 1 if _SPANS[op] else 2
            continue
        if at + 1 < len(hll) and hll[at + 1] & 0xFC == op & 0xFC:
            length = _SPANS[op] + _SPANS[hll[at + 1]]
            if length <= HLL_SPARSE_VAL_MAX_LEN:
                hll[at : at + 2] = bytes([_val((op >> 2 & 0x1F) + 1, length)])
                continue  # the joined one may join the next
        at += 1
