"""A listpack: small elements in one block of memory, as it stands in a dump.

Six bytes of header (all bytes, 32 bits; elements, 16 bits; both little endian), the elements,
and FF. An element is its encoding, its data, and the length of both written
backwards, for reading from the end:

    0xxxxxxx                 integer from 0 to 127
    10LLLLLL data            string of up to 63 bytes
    110xxxxx x               integer of 13 bits
    1110LLLL L data          string of up to 4095 bytes
    F0 LLLL data             string with a length of 32 bits
    F1 F2 F3 F4              integer of 16, 24, 32, 64 bits

``5`` and ``ab`` make ``0d000000 0200 05 01 82 6162 03 ff``.

Redis: listpack.c.
"""

from __future__ import annotations

from collections.abc import Iterable

HDR_SIZE = 6  # bytes before the first element; LP_HDR_SIZE
EOF_BYTE = 0xFF  # LP_EOF
NUMELE_UNKNOWN = 0xFFFF  # so many elements or more; LP_HDR_NUMELE_UNKNOWN
_MAX_DIGITS = 20  # bytes of the longest integer
_FIRST_OF_INTEGER = frozenset(b"-0123456789")
_INTEGERS = ((0xF1, 2), (0xF2, 3), (0xF3, 4), (0xF4, 8))  # encoding, bytes
_INTEGER_WIDTH = dict(_INTEGERS)
_BACKLEN_LIMITS = (128, 16383, 2097151, 268435455)  # sizes from which it takes 2...5 bytes


class ListpackError(ValueError):
    """The bytes are no listpack."""


def listpack_encode(elements: Iterable[bytes | int]) -> bytes:
    """The listpack of *elements*; strings that are integers are packed as such. O(N).

    listpack.c: lpAppend()
    """
    out = bytearray(HDR_SIZE)
    count = 0
    for element in elements:
        count += 1
        entry = _encode(element)
        out += entry
        out += _backlen(len(entry))
    out.append(EOF_BYTE)
    out[:4] = len(out).to_bytes(4, "little")
    out[4:6] = min(count, NUMELE_UNKNOWN).to_bytes(2, "little")
    return bytes(out)


def _encode(element: bytes | int) -> bytes:
    """listpack.c: lpEncodeGetType(), lpEncodeString()"""
    number = element if isinstance(element, int) else _integer(element)
    if number is not None:
        return _encode_integer(number)
    assert isinstance(element, bytes)
    length = len(element)
    if length < 1 << 6:
        return bytes((0x80 | length,)) + element
    if length < 1 << 12:
        return bytes((0xE0 | length >> 8, length & 0xFF)) + element
    return b"\xf0" + length.to_bytes(4, "little") + element


def _integer(element: bytes) -> int | None:
    """*element* as an integer of 64 bits if it is exactly one. listpack.c: lpStringToInt64()"""
    if not 0 < len(element) <= _MAX_DIGITS or element[0] not in _FIRST_OF_INTEGER:
        return None
    try:
        number = int(element)
    except ValueError:
        return None
    return number if b"%d" % number == element and -(1 << 63) <= number < 1 << 63 else None


def _encode_integer(number: int) -> bytes:
    """listpack.c: lpEncodeIntegerGetType()"""
    if 0 <= number < 1 << 7:
        return bytes((number,))
    if -(1 << 12) <= number < 1 << 12:
        number &= (1 << 13) - 1
        return bytes((0xC0 | number >> 8, number & 0xFF))
    for encoding, width in _INTEGERS:
        if -(1 << 8 * width - 1) <= number < 1 << 8 * width - 1:
            return bytes((encoding,)) + number.to_bytes(width, "little", signed=True)
    raise AssertionError("no integer of 64 bits")


def _backlen(size: int) -> bytes:
    """*size* in groups of 7 bits, highest first; all but the first have their top bit set.

    listpack.c: lpEncodeBacklen()
    """
    groups = 1 + sum(size >= limit for limit in _BACKLEN_LIMITS)
    return bytes(
        (size >> 7 * i & 0x7F) | (0 if i == groups - 1 else 0x80) for i in reversed(range(groups))
    )


def listpack_decode(lp: bytes) -> list[bytes]:
    """The elements, integers as text.

    Everything is checked, as Redis does with ``sanitize-dump-payload yes``. Raises
    ListpackError. O(N). listpack.c: lpValidateIntegrity(), lpValidateNext()
    """
    size = len(lp)
    if size < HDR_SIZE + 1 or int.from_bytes(lp[:4], "little") != size or lp[-1] != EOF_BYTE:
        raise ListpackError("header or end of a listpack are wrong")
    elements = []
    at, end = HDR_SIZE, size - 1
    while at < end:
        element, length = _decode(lp, at, end)
        backlen = _backlen(length)
        if lp[at + length : at + length + len(backlen)] != backlen:
            raise ListpackError(f"lengths of the element at byte {at} differ")
        elements.append(element)
        at += length + len(backlen)
    count = int.from_bytes(lp[4:6], "little")
    if at != end or count not in (len(elements), NUMELE_UNKNOWN):
        raise ListpackError("a listpack does not end where it should")
    return elements


def _decode(lp: bytes, at: int, end: int) -> tuple[bytes, int]:
    """The element at *at*, and its size without the length at its end. listpack.c: lpGet()"""
    first = lp[at]
    if first < 0x80:
        return b"%d" % first, 1
    if first < 0xC0:
        return _string(lp, at + 1, first & 0x3F, end), 1 + (first & 0x3F)
    second = lp[at + 1]  # at the worst the FF at the end
    if first < 0xE0:
        number = (first & 0x1F) << 8 | second
        return b"%d" % (number - (1 << 13) if number >> 12 else number), 2
    if first < 0xF0:
        length = (first & 0x0F) << 8 | second
        return _string(lp, at + 2, length, end), 2 + length
    if first == 0xF0:
        length = int.from_bytes(lp[at + 1 : at + 5], "little")
        return _string(lp, at + 5, length, end), 5 + length
    width = _INTEGER_WIDTH.get(first)
    if width is None:
        raise ListpackError(f"encoding {first:#x} of an element is unknown")
    data = _string(lp, at + 1, width, end)
    return b"%d" % int.from_bytes(data, "little", signed=True), 1 + width


def _string(lp: bytes, at: int, length: int, end: int) -> bytes:
    if at + length > end:
        raise ListpackError("an element is longer than its listpack")
    return lp[at : at + length]
