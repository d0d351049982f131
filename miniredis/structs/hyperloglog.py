"""HyperLogLog: how many different elements were seen, in 12 kB and within 0.81 %.

How it works. Each element is hashed to 64 random bits. 14 of them choose one of 16384
registers; the register keeps the longest run of zeros, counted up to and with the first
one, that the other 50 bits of any of its elements began with. A run of length k comes
once in 2^k elements, so the registers tell how many *different* elements there were:
seeing one again changes nothing. Two HyperLogLogs are merged by taking the larger value of
each register.

Example: a hash that ends in ...0100 | 00000000000011 goes to register 3 (the low 14
bits); what is left ends in 100, so the first one is at place 3, and register 3 becomes 3
unless it was higher.

The estimate is that of Otmar Ertl (arXiv:1702.01284), which needs the histogram of the
register values only and no correction for small or large numbers. Its standard error is
1.04 / sqrt(16384) = 0.81 %.

The value is a string: ``HYLL``, a byte for the encoding, three zero bytes, the cached
cardinality (8 bytes, the highest bit says that it is out of date), then the registers, see
``hll_dense.py`` and ``hll_sparse.py``.

Redis: hyperloglog.c.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from miniredis.structs.hll_dense import (
    HLL_DENSE_SIZE,
    HLL_HDR_SIZE,
    HLL_P,
    HLL_REGISTER_MAX,
    HLL_REGISTERS,
    dense_registers,
    hll_dense_set,
)
from miniredis.structs.hll_sparse import (
    CACHE_AT,
    CACHE_INVALID,
    ENCODING_AT,
    HLL_DENSE,
    HLL_MAX_ENCODING,
    HLL_SPARSE,
    HLL_SPARSE_VAL_MAX_VALUE,
    HLL_SPARSE_XZERO_BIT,
    INVALID,
    PROMOTE,
    SparseEditor,
    hll_sparse_to_dense,
    sparse_histogram,
    sparse_registers,
)
from miniredis.structs.murmur import murmur_hash_64a

Hll = bytes | bytearray

HLL_Q = 64 - HLL_P  # bits of a hash in which zeros are counted
HLL_P_MASK = HLL_REGISTERS - 1
HLL_ALPHA_INF = 0.721347520444481703680  # 0.5 / ln 2
HLL_SEED = 0xADC83B19
_MAGIC = b"HYLL"
_HIGH_BITS = int.from_bytes(b"\x80" * HLL_REGISTERS, "little")
_NO_ESTIMATE = 1 << 63  # what C makes of one that does not fit 63 bits


def create_hll() -> bytearray:
    """An empty one, which is sparse. Redis: createHLLObject()"""
    header = _MAGIC + bytes([HLL_SPARSE]) + bytes(HLL_HDR_SIZE - 5)
    last = HLL_REGISTERS - 1
    return bytearray(header + bytes([last >> 8 | HLL_SPARSE_XZERO_BIT, last & 0xFF]))


def is_hll(value: Hll) -> bool:
    """Whether *value* looks like one; a sparse one may still be invalid. O(1).

    Redis: isHLLObjectOrReply()
    """
    if len(value) < HLL_HDR_SIZE or value[: len(_MAGIC)] != _MAGIC:
        return False
    encoding = value[ENCODING_AT]
    return encoding <= HLL_MAX_ENCODING and (encoding != HLL_DENSE or len(value) == HLL_DENSE_SIZE)


def hll_pat_len(element: bytes) -> tuple[int, int]:
    """The register of *element*, and the place of the first one in the rest of its hash.

    O(bytes). Redis: hllPatLen()
    """
    h = murmur_hash_64a(element, HLL_SEED)
    rest = h >> HLL_P | 1 << HLL_Q
    return h & HLL_P_MASK, (rest & -rest).bit_length()


def hll_set_all(
    hll: bytearray, registers: Iterable[tuple[int, int]], sparse_max_bytes: int
) -> tuple[int, bool]:
    """Raise registers, given as (number, value), in place.

    How many were lower, and whether the value is valid: if not, some may have been raised.
    A sparse one becomes dense if a value or its size demands it. O(1) for each register
    if dense; else O(log opcodes) for each, and O(opcodes) once.
    """
    updated = 0
    remaining = iter(registers)
    if hll[ENCODING_AT] == HLL_SPARSE:
        editor = SparseEditor(hll, sparse_max_bytes)
        for index, count in remaining:
            large = count > HLL_SPARSE_VAL_MAX_VALUE
            changed = PROMOTE if large else editor.set(index, count)
            if changed == PROMOTE:
                editor.write()
                if not hll_sparse_to_dense(hll):
                    return updated, False
                updated += hll_dense_set(hll, index, count)
                break
            if changed == INVALID:
                editor.write()
                return updated, False
            updated += changed
        else:
            editor.write()
    for index, count in remaining:
        updated += hll_dense_set(hll, index, count)
    return updated, True


def hll_add_all(
    hll: bytearray, elements: Iterable[bytes], sparse_max_bytes: int
) -> tuple[int, bool]:
    """Count *elements*; answers as :func:`hll_set_all` does. Redis: hllAdd()"""
    return hll_set_all(hll, map(hll_pat_len, elements), sparse_max_bytes)


def hll_registers(hll: Hll) -> bytes | None:
    """All registers, a byte each; None if the value is invalid. O(registers)."""
    return dense_registers(hll) if hll[ENCODING_AT] == HLL_DENSE else sparse_registers(hll)


class RegisterUnion:
    """The larger ones of the registers of several HyperLogLogs.

    All registers are one large number, a byte each. They are below 128: with the high bit of
    every byte of one number set, subtracting another borrows from no neighbour, and leaves that
    bit set where the first is not the smaller one. So all is done in C. Redis: hllMerge()
    """

    __slots__ = ("_number",)

    def __init__(self) -> None:
        self._number = 0

    def add(self, hll: Hll) -> bool:
        """Take in the registers of *hll*; False if it is invalid. O(registers)."""
        registers = hll_registers(hll)
        if registers is None:
            return False
        other = int.from_bytes(registers, "little")
        mine = self._number
        if mine:
            at_least = ((mine | _HIGH_BITS) - other) & _HIGH_BITS
            mask = at_least - (at_least >> 7)  # 0x7f where mine is not smaller, else 0
            other ^= (mine ^ other) & mask
        self._number = other
        return True

    def registers(self) -> bytes:
        """The union, a byte each."""
        return self._number.to_bytes(HLL_REGISTERS, "little")


def hll_histogram(hll: Hll) -> list[int] | None:
    """How many registers have each value from 0 to 63; None if *hll* is invalid.

    O(registers) if dense, else O(opcodes).
    Redis: hllDenseRegHisto(), hllSparseRegHisto()
    """
    if hll[ENCODING_AT] == HLL_DENSE:
        return register_histogram(dense_registers(hll))
    histogram = sparse_histogram(hll)
    if histogram is not None:
        histogram += [0] * (HLL_REGISTER_MAX + 1 - len(histogram))
    return histogram


def register_histogram(registers: bytes) -> list[int]:
    """The same of registers that stand in a byte each. Redis: hllRawRegHisto()"""
    histogram = [0] * (HLL_REGISTER_MAX + 1)
    missing = len(registers)
    for value in range(HLL_REGISTER_MAX + 1):
        histogram[value] = registers.count(value)
        missing -= histogram[value]
        if not missing:
            break
    return histogram


def hll_count(histogram: list[int]) -> int:
    """The estimated number of different elements. O(1). Redis: hllCount()"""
    m = float(HLL_REGISTERS)
    z = m * _tau((m - histogram[HLL_Q + 1]) / m)
    for j in range(HLL_Q, 0, -1):
        z += histogram[j]
        z *= 0.5
    z += m * _sigma(histogram[0] / m)
    estimate = HLL_ALPHA_INF * m * m / z if z else math.inf
    if estimate >= _NO_ESTIMATE:
        return _NO_ESTIMATE
    whole = math.floor(estimate)
    return whole + (estimate - whole >= 0.5)


def _sigma(x: float) -> float:
    """x + x^2 + 2 x^4 + 4 x^8 + ..., the share of registers that are still 0. hllSigma()"""
    if x == 1.0:
        return math.inf
    y, z, previous = 1.0, x, -1.0
    while z != previous:
        x *= x
        previous = z
        z += x * y
        y += y
    return z


def _tau(x: float) -> float:
    """The counterpart of :func:`_sigma` for registers that are full. hllTau()"""
    if x in (0.0, 1.0):
        return 0.0
    y, z, previous = 1.0, 1 - x, -1.0
    while z != previous:
        x = math.sqrt(x)
        previous = z
        y *= 0.5
        z -= (1 - x) ** 2 * y
    return z / 3


def cached_cardinality(hll: Hll) -> int | None:
    """The cached estimate, or None if it is out of date. Redis: HLL_VALID_CACHE"""
    if hll[CACHE_AT + 7] & CACHE_INVALID:
        return None
    return int.from_bytes(hll[CACHE_AT : CACHE_AT + 8], "little")


def cache_cardinality(hll: bytearray, cardinality: int) -> None:
    """Store an estimate in the value itself."""
    hll[CACHE_AT : CACHE_AT + 8] = cardinality.to_bytes(8, "little")
