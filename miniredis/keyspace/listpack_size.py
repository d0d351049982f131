"""How many bytes a listpack takes, worked out without making one.

Redis: ``lpEncodeGetType()``, ``lpEncodeBacklen()`` in listpack.c.
"""

from __future__ import annotations

from collections.abc import Iterable

from miniredis.keyspace.object import LONG_MAX_DIGITS, string2ll

LP_HDR_SIZE = 6  # bytes before the first element
LP_EOF_SIZE = 1  # byte after the last one
LISTPACK_MAX_SAFETY_SIZE = 1 << 30  # bytes beyond which nothing is added

_INT_SIZES = (  # bytes of an integer element that is at least -end and below end
    (1 << 12, 2),
    (1 << 15, 3),
    (1 << 23, 4),
    (1 << 31, 5),
    (1 << 63, 9),
)
_STRING_6BIT, _STRING_12BIT = 1 << 6, 1 << 12  # lengths from which the header grows
_FIRST_OF_INTEGER = frozenset(b"-0123456789")
_BACKLEN_LIMITS = (128, 16383, 2097151, 268435455)  # sizes from which it takes 2...5 bytes


def encoded_size(element: bytes) -> int:
    """Bytes of the element itself: integers are packed, strings have a header of 1, 2 or 5.

    listpack.c: lpEncodeGetType()
    """
    number = string2ll(element)
    if number is None:
        length = len(element)
        return length + (1 if length < _STRING_6BIT else 2 if length < _STRING_12BIT else 5)
    if 0 <= number <= 127:
        return 1
    for end, size in _INT_SIZES:
        if -end <= number < end:
            return size
    raise AssertionError("no integer of 64 bits")


def entry_size(element: bytes) -> int:
    """The same, and its length written backwards, by which a listpack is read from its end.

    listpack.c: lpEncodeBacklen()
    """
    length = len(element)
    if 0 < length < _STRING_6BIT and (
        length > LONG_MAX_DIGITS or element[0] not in _FIRST_OF_INTEGER
    ):
        return length + 2  # the usual string; every push comes through here
    size = encoded_size(element)
    if size < _BACKLEN_LIMITS[0]:
        return size + 1
    return size + 1 + sum(size >= limit for limit in _BACKLEN_LIMITS)


def listpack_bytes(elements: Iterable[bytes]) -> int:
    """Bytes of a listpack of *elements*. O(N). listpack.c: lpBytes()"""
    return LP_HDR_SIZE + sum(map(entry_size, elements)) + LP_EOF_SIZE
