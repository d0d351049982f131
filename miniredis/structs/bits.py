"""Bits of a byte string: counting, searching, combining, and integers of any width.

Bit 0 is the most significant bit of byte 0. Strings of hundreds of megabytes are worked
on in chunks, each by a few calls that run in C: a Python integer counts and combines the
bits of a whole chunk, and comparing a chunk with one of equal bytes skips it.

Redis: redisPopcount(), redisBitpos() and the bitfield functions in bitops.c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Buffer = bytes | bytearray
IntOperation = Callable[[int, int], int]

BITS_PER_BYTE = 8
CHUNK_BYTES = 1 << 16  # worked on at once; large enough for C, small enough for a cache
_INVERT = bytes(255 - byte for byte in range(256))
_U64 = (1 << 64) - 1


def popcount(data: Buffer, first: int, last: int) -> int:
    """Number of ones among the bits *first* to *last* of *data*, both included.

    The bits must exist. O(bits). Redis: redisPopcount()
    """
    if first > last:
        return 0
    start, end = first >> 3, last >> 3
    count = 0
    for at in range(start, end + 1, CHUNK_BYTES):
        count += int.from_bytes(data[at : min(at + CHUNK_BYTES, end + 1)], "little").bit_count()
    count -= (data[start] >> (BITS_PER_BYTE - (first & 7))).bit_count()
    return count - (data[end] & ((1 << (7 - (last & 7))) - 1)).bit_count()


def bitpos(data: Buffer, bit: int, first: int, last: int) -> int | None:
    """The first position from *first* to *last*, both included, that holds *bit*; or None.

    The bits must exist. O(bits). Redis: redisBitpos()
    """
    if first > last:
        return None
    start, end = first >> 3, last >> 3
    skip = 0 if bit else 0xFF
    # Bits outside the range are made such that they are not found.
    head = 0xFF >> (first & 7)
    tail = 0xFF << (7 - (last & 7)) & 0xFF
    at = start
    while at <= end:
        if start < at < end:
            at = _skip_equal(data, skip, at, end)
        mask = (head if at == start else 0xFF) & (tail if at == end else 0xFF)
        found = (data[at] ^ skip) & mask
        if found:
            return at * BITS_PER_BYTE + BITS_PER_BYTE - found.bit_length()
        at += 1
    return None


def _skip_equal(data: Buffer, byte: int, start: int, end: int) -> int:
    """The position of the first byte from *start* on that is not *byte*, or *end*."""
    equal = bytes([byte])
    chunk = equal * CHUNK_BYTES
    at = start
    while at + CHUNK_BYTES <= end and data[at : at + CHUNK_BYTES] == chunk:
        at += CHUNK_BYTES
    part = data[at : min(at + CHUNK_BYTES, end)]
    return at + len(part) - len(part.lstrip(equal))


def combine(sources: Sequence[Buffer], operation: IntOperation) -> bytes:
    """*operation* (and, or, xor of integers) over all *sources*, byte by byte.

    Shorter sources are padded with zeros. O(bytes of all sources).
    """
    size = max(map(len, sources))
    result = bytearray()
    for at in range(0, size, CHUNK_BYTES):
        value = int.from_bytes(sources[0][at : at + CHUNK_BYTES], "little")
        for source in sources[1:]:
            value = operation(value, int.from_bytes(source[at : at + CHUNK_BYTES], "little"))
        result += value.to_bytes(min(CHUNK_BYTES, size - at), "little")
    return bytes(result)


def invert(data: Buffer) -> bytes:
    """*data* with every bit flipped. O(bytes)."""
    return bytes(data.translate(_INVERT))


# -- integers of any width --------------------------------------------------------------


def get_unsigned(data: Buffer, offset: int, bits: int) -> int:
    """The *bits* bits from *offset* on as an unsigned integer; zero beyond the end.

    The first bit is the most significant one: of 0b00000001 0b01110000, the 5 bits from
    offset 7 on are 0b10111 = 23. O(1). Redis: getUnsignedBitfield()
    """
    start, end = offset >> 3, (offset + bits + 7) >> 3
    part = data[start:end]
    value = int.from_bytes(part, "big") << BITS_PER_BYTE * (end - start - len(part))
    return value >> (BITS_PER_BYTE * end - offset - bits) & ((1 << bits) - 1)


def get_signed(data: Buffer, offset: int, bits: int) -> int:
    """The same in two's complement. O(1). Redis: getSignedBitfield()"""
    return to_signed(get_unsigned(data, offset, bits), bits)


def set_bits(data: bytearray, offset: int, bits: int, value: int) -> None:
    """Store the low *bits* bits of *value* from *offset* on; the bytes must exist. O(1).

    Redis: setUnsignedBitfield(), setSignedBitfield()
    """
    start, end = offset >> 3, (offset + bits + 7) >> 3
    shift = BITS_PER_BYTE * end - offset - bits
    mask = (1 << bits) - 1
    old = int.from_bytes(data[start:end], "big")
    new = old & ~(mask << shift) | (value & mask) << shift
    data[start:end] = new.to_bytes(end - start, "big")


def to_signed(value: int, bits: int) -> int:
    """The low *bits* bits of *value* read in two's complement. O(1)."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned_overflow(value: int, incr: int, bits: int) -> int:
    """1 if *value* + *incr* is too large for *bits* bits, -1 if it is negative, else 0.

    *value* is taken modulo 2^64, as C does with a negative one. O(1).
    Redis: checkUnsignedBitfieldOverflow()
    """
    value &= _U64
    largest = (1 << bits) - 1
    if value > largest or incr > largest - value:
        return 1
    return -1 if incr < -value else 0


def signed_overflow(value: int, incr: int, bits: int) -> int:
    """1 if *value* + *incr* is too large for *bits* signed bits, -1 if too small, else 0.

    The room above is computed in 64 bits, as in C: for a *value* near -2^63 that does not
    fit it overflows, and the answer is 1. O(1). Redis: checkSignedBitfieldOverflow()
    """
    largest = (1 << (bits - 1)) - 1
    least = -largest - 1
    room = to_signed(largest - value, 64)
    if value > largest or (bits != 64 and incr > room) or (value >= 0 and incr > 0 and incr > room):
        return 1
    room = least - value
    if value < least or (bits != 64 and incr < room) or (value < 0 and incr < 0 and incr < room):
        return -1
    return 0
