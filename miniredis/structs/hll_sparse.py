"""Runs of equal registers: the sparse form of a HyperLogLog, for few elements.

After the header come opcodes that together stand for all 16384 registers, in order:

    00xxxxxx            ZERO    x+1 registers are 0         (1...64)
    01xxxxxx yyyyyyyy   XZERO   xy+1 registers are 0        (1...16384)
    1vvvvvxx            VAL     x+1 registers are v+1       (1...4 of value 1...32)

To change many registers at once the opcodes are taken apart into two lists, the opcodes
and the first register of each, in which the one for a register is found by bisection.

An empty HyperLogLog is one XZERO:16384, two bytes. Setting register 1000 to 3 splits it
into XZERO:1000 VAL:3,1 XZERO:15383, five bytes. A value above 32, or a string longer than
hll-sparse-max-bytes, makes it dense for good.

Redis: hllSparseSet() and hllSparseToDense() in hyperloglog.c.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from miniredis.structs.hll_dense import HLL_HDR_SIZE, HLL_REGISTERS, pack_registers

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

# What SparseEditor.set() answers.
INVALID = -1
PROMOTE = 2

# An opcode in a list is its byte, XZERO this plus its length less 1.
_XZERO = 256
_XZERO_BYTES = re.compile(rb"[\x40-\x7f](?s:.)?")


def _span(op: int) -> int:
    if op >= _XZERO:
        return op - _XZERO + 1
    return (op & 3) + 1 if op & HLL_SPARSE_VAL_BIT else op + 1


_SPANS = [_span(op) for op in range(_XZERO + HLL_REGISTERS)]  # the length of each one's run


def _value(op: int) -> int:
    """The value of an opcode's registers."""
    return (op >> 2 & 0x1F) + 1 if HLL_SPARSE_VAL_BIT <= op < _XZERO else 0


_VALUES = [_value(op) for op in range(len(_SPANS))]

# The registers that an opcode of one byte stands for.
_RUNS = [bytes([_value(op)]) * _SPANS[op] for op in range(_XZERO)]


def _val(value: int, length: int) -> int:
    return (value - 1) << 2 | (length - 1) | HLL_SPARSE_VAL_BIT


def _zeros(length: int) -> int:
    """The opcode for a run of zeros, as short as possible."""
    return length - 1 if length <= HLL_SPARSE_ZERO_MAX_LEN else _XZERO + length - 1


def _parse(hll: bytes | bytearray) -> tuple[list[int], bool]:
    """All opcodes, and whether the last one is an XZERO whose second byte is missing.

    That counts as 0, as C's NUL does. O(bytes).
    """
    ops: list[int] = []
    body = hll[HLL_HDR_SIZE:]
    at, cut = 0, False
    for found in _XZERO_BYTES.finditer(body):
        start, end = found.span()
        ops += body[at:start]
        cut = end - start == 1
        low = 0 if cut else body[start + 1]
        ops.append(_XZERO + ((body[start] & 0x3F) << 8 | low))
        at = end
    ops += body[at:]
    return ops, cut


def opcodes(hll: bytes | bytearray) -> Iterator[tuple[str, int, int]]:
    """Of each opcode: ``z``, ``Z`` or ``v``, the value of its registers, and how many."""
    for op in _parse(hll)[0]:
        value = _VALUES[op]
        yield "v" if value else "Z" if op >= _XZERO else "z", value, _SPANS[op]


def sparse_registers(hll: bytes | bytearray) -> bytes | None:
    """All registers, a byte each; None if the opcodes do not stand for exactly all.

    O(registers). Redis: the loops of hllMerge() and hllSparseToDense()
    """
    body = bytes(hll[HLL_HDR_SIZE:])
    runs: list[bytes] = []
    at = 0
    for found in _XZERO_BYTES.finditer(body):
        start, at = at, found.end()
        runs += map(_RUNS.__getitem__, body[start : found.start()])
        if at - found.start() == 1:  # cut off
            return _registers(_parse(hll)[0])
        runs.append(bytes(((body[at - 2] & 0x3F) << 8 | body[at - 1]) + 1))
    runs += map(_RUNS.__getitem__, body[at:])
    registers = b"".join(runs)
    if len(registers) == HLL_REGISTERS:
        return registers
    return _registers(_parse(hll)[0])  # there is something wrong with it


def _registers(ops: list[int]) -> bytes | None:
    registers = b"".join([_RUNS[op] if op < _XZERO else bytes(op - _XZERO + 1) for op in ops])
    if len(registers) <= HLL_REGISTERS:
        return registers if len(registers) == HLL_REGISTERS else None
    # What follows a full set of registers is overlooked if it begins with a VAL.
    ends = list(accumulate(map(_SPANS.__getitem__, ops)))
    full = bisect_right(ends, HLL_REGISTERS)
    if not full or ends[full - 1] != HLL_REGISTERS or not _VALUES[ops[full]]:
        return None
    return registers[:HLL_REGISTERS]


def sparse_histogram(hll: bytes | bytearray) -> list[int] | None:
    """How many registers have each value from 0 to 32; None as above. O(opcodes).

    Redis: hllSparseRegHisto()
    """
    histogram = [0] * (HLL_SPARSE_VAL_MAX_VALUE + 1)
    for op in _parse(hll)[0]:
        histogram[_VALUES[op]] += _SPANS[op]
    return histogram if sum(histogram) == HLL_REGISTERS else None


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


class SparseEditor:
    """Changes registers of a sparse HyperLogLog; :meth:`write` puts the result into it.

    *max_bytes* is how long the string may become, with its header.
    """

    __slots__ = ("changed", "cut", "firsts", "hll", "max_bytes", "ops", "size", "total")

    def __init__(self, hll: bytearray, max_bytes: int) -> None:
        self.hll = hll
        self.max_bytes = max_bytes
        self.ops, self.cut = _parse(hll)
        self.size = len(hll)
        self.firsts = list(accumulate(map(_SPANS.__getitem__, self.ops), initial=0))
        self.total = self.firsts.pop()  # registers
        self.changed = False

    def set(self, index: int, count: int) -> int:
        """Raise register *index* to *count*, at most 32.

        1 if it was lower, 0 if not, PROMOTE if the string would be too long, INVALID if
        there is no such register. O(log opcodes), and moving the rest of the lists.

        Redis: hllSparseSet()
        """
        if index >= self.total:
            return INVALID
        at = bisect_right(self.firsts, index) - 1
        op, first = self.ops[at], self.firsts[at]
        old = _VALUES[op]
        if old >= count:
            return 0
        # The registers before, the register, those after: up to three opcodes for the one.
        before, after = index - first, first + _SPANS[op] - 1 - index
        new, firsts = [_val(count, 1)], [index]
        if before:
            new.insert(0, _val(old, before) if old else _zeros(before))
            firsts.insert(0, first)
        if after:
            new.append(_val(old, after) if old else _zeros(after))
            firsts.append(index + 1)
        growth = -1 if op < _XZERO else -2
        for part in new:
            growth += 1 if part < _XZERO else 2
        if growth > 0 and self.size + growth > self.max_bytes:
            return PROMOTE
        self.ops[at : at + 1] = new
        self.firsts[at : at + 1] = firsts
        self.size += growth
        self._merge_values(max(at - 1, 0))
        self.changed = True
        return 1

    def _merge_values(self, at: int) -> None:
        """Join VAL opcodes of one value from *at* on, as far as a change can have made such."""
        ops = self.ops
        for _ in range(MERGE_SCAN_OPCODES):
            if at + 1 >= len(ops):
                break
            value = _VALUES[ops[at]]
            if value and value == _VALUES[ops[at + 1]]:
                length = _SPANS[ops[at]] + _SPANS[ops[at + 1]]
                if length <= HLL_SPARSE_VAL_MAX_LEN:
                    # The joined one may join the next.
                    ops[at : at + 2] = [_val(value, length)]
                    del self.firsts[at + 1]
                    self.size -= 1
                    continue
            at += 1

    def write(self) -> None:
        """Store what was changed; the cached cardinality is out of date then. O(opcodes)."""
        if not self.changed:
            return
        ops, body, start = self.ops, bytearray(), 0
        for at in [i for i, op in enumerate(ops) if op >= _XZERO]:
            length = ops[at] - _XZERO
            body += bytes(ops[start:at])
            body += bytes([length >> 8 | HLL_SPARSE_XZERO_BIT, length & 0xFF])
            start = at + 1
        body += bytes(ops[start:])
        self.hll[HLL_HDR_SIZE:] = body[:-1] if self.cut else body
        invalidate_cache(self.hll)
