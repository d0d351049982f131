"""How many bytes an allocation really takes: the size classes of jemalloc, and of strings.

jemalloc rounds every request up to a class: 8, then multiples of 16 up to 128, then four
classes for each doubling (160 192 224 256, 320 384 448 512, ...).

An sds, Redis's string, has a header that grows with its length, and a NUL after it.

Redis: ``zmalloc_size()`` in zmalloc.c, ``sdsReqType()`` in sds.c.
"""

from __future__ import annotations

SMALLEST = 8  # bytes
QUANTUM = 16  # bytes between two classes up to 128
CLASSES_OF_A_DOUBLING = 4

# (length from which on, bytes of the header): sds.h, SDS_TYPE_5 to SDS_TYPE_64
_SDS_HEADERS = ((1 << 32, 17), (1 << 16, 9), (1 << 8, 5), (1 << 5, 3), (1, 1), (0, 3))
_NUL = 1


def malloc_size(size: int) -> int:
    """Bytes that an allocation of *size* bytes takes; *size* is at least 1. O(1).

    100 takes 112, 129 takes 160.
    """
    if size <= SMALLEST:
        return SMALLEST
    doubling = 1 << (size - 1).bit_length() >> 1  # the largest power of two below size
    step = max(QUANTUM, doubling // CLASSES_OF_A_DOUBLING)
    return -(-size // step) * step


def sds_size(length: int) -> int:
    """Bytes that a string of *length* bytes takes, never having been changed. O(1).

    sds.c: sdsAllocSize(), zmalloc_size()
    """
    header = next(header for least, header in _SDS_HEADERS if length >= least)
    return malloc_size(header + length + _NUL)
