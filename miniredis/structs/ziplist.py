"""Ziplists and zipmaps: what older servers packed small values into. They are only read.

A ziplist has a header of ten bytes (all bytes and offset of the last element, 32 bits each;
elements, 16 bits), elements and FF. Each begins with the size of the one before it.

Redis: ziplist.c, zipmap.c.
"""

from __future__ import annotations

HEADER_SIZE = 10  # bytes
END_BYTE = 0xFF
COUNT_UNKNOWN = 0xFFFF
BIG_LENGTH = 0xFE  # a length of 32 bits follows
BIG_PREVLEN_SIZE = 5  # bytes of a size that does not fit into one
_INTEGERS = {0xC0: 2, 0xD0: 4, 0xE0: 8, 0xF0: 3, 0xFE: 1}  # encoding: bytes
_IMMEDIATE_MIN, _IMMEDIATE_MAX = 0xF1, 0xFD  # integers from 0 to 12 in the encoding itself
_ZIPMAP_SMALLEST = 2  # bytes


class ZiplistError(ValueError):
    """The bytes are no ziplist, or no zipmap."""


def ziplist_decode(zl: bytes) -> list[bytes]:
    """The elements, integers as text. Raises ZiplistError. O(N).

    ziplist.c: ziplistValidateIntegrity(), ziplistGet()
    """
    size = len(zl)
    if (
        size < HEADER_SIZE + 1
        or int.from_bytes(zl[:4], "little") != size
        or zl[-1] != END_BYTE
        or int.from_bytes(zl[4:8], "little") > size - 1
    ):
        raise ZiplistError("header or end of a ziplist are wrong")
    elements: list[bytes] = []
    at, last, last_size = HEADER_SIZE, None, 0
    while zl[at] != END_BYTE:
        start = at
        previous, at = _previous_size(zl, at)
        if previous != last_size:
            raise ZiplistError(f"the element before byte {start} has another size")
        element, at = _element(zl, at)
        if at >= size:
            raise ZiplistError("an element is longer than its ziplist")
        elements.append(element)
        last, last_size = start, at - start
    if at != size - 1 or (last is not None and last != int.from_bytes(zl[4:8], "little")):
        raise ZiplistError("a ziplist does not end where it should")
    if int.from_bytes(zl[8:10], "little") not in (len(elements), COUNT_UNKNOWN):
        raise ZiplistError("a ziplist has another number of elements")
    return elements


def _previous_size(zl: bytes, at: int) -> tuple[int, int]:
    """The size that an element says the one before it has, and where it goes on."""
    if zl[at] < BIG_LENGTH:
        return zl[at], at + 1
    at += BIG_PREVLEN_SIZE
    if at >= len(zl):
        raise ZiplistError("an element is longer than its ziplist")
    return int.from_bytes(zl[at - BIG_PREVLEN_SIZE + 1 : at], "little"), at


def _element(zl: bytes, at: int) -> tuple[bytes, int]:
    """The element whose encoding is at *at*, and where it ends. ziplist.c: zipEntrySafe()"""
    encoding = zl[at]
    if encoding < 0x40:
        start, length = at + 1, encoding
    elif encoding < 0x80:
        start, length = at + 2, int.from_bytes(zl[at : at + 2], "big") & 0x3FFF
    elif encoding < 0xC0:
        start, length = at + 5, int.from_bytes(zl[at + 1 : at + 5], "big")
    elif _IMMEDIATE_MIN <= encoding <= _IMMEDIATE_MAX:
        return b"%d" % (encoding - _IMMEDIATE_MIN), at + 1
    elif encoding in _INTEGERS:
        start, end = at + 1, at + 1 + _INTEGERS[encoding]
        return b"%d" % int.from_bytes(zl[start:end], "little", signed=True), end
    else:
        raise ZiplistError(f"encoding {encoding:#x} of an element is unknown")
    return zl[start : start + length], start + length


def zipmap_decode(zm: bytes) -> list[tuple[bytes, bytes]]:
    """The pairs of a hash of Redis 2.4. Raises ZiplistError. O(N).

    A count, then for each pair: length and bytes of the field, length of the value, unused
    bytes behind it, its bytes; and FF. zipmap.c: zipmapValidateIntegrity()
    """
    if len(zm) < _ZIPMAP_SMALLEST or zm[-1] != END_BYTE:
        raise ZiplistError("no end of a zipmap")
    pairs = []
    at = 1
    while zm[at] != END_BYTE:
        length, at = _zipmap_length(zm, at)
        field = zm[at : at + length]
        length, at = _zipmap_length(zm, at + length)
        free = zm[at]
        at += 1
        pairs.append((field, zm[at : at + length]))
        at += length + free
        if at >= len(zm):
            raise ZiplistError("a pair is longer than its zipmap")
    if not pairs or (zm[0] < BIG_LENGTH and zm[0] != len(pairs)):
        raise ZiplistError("a zipmap has another number of pairs")
    return pairs


def _zipmap_length(zm: bytes, at: int) -> tuple[int, int]:
    """zipmap.c: zipmapDecodeLength()"""
    if at < len(zm):
        length, after = zm[at], at + 1
        if length >= BIG_LENGTH:
            after = at + 5
            length = int.from_bytes(zm[at + 1 : after], "little")
        if after < len(zm):
            return length, after
    raise ZiplistError("a pair is longer than its zipmap")
