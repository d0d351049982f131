"""The checksum of a dump: CRC-64 with the polynomial that David Jones chose.

Redis: crc64.c.
"""

from __future__ import annotations

POLY_REVERSED = 0x95AC9329AC4BC9B5  # 0xad93d23594c935a9 with its 64 bits in reverse
_BYTE_VALUES = 256
_BITS_PER_BYTE = 8


def _make_table() -> tuple[int, ...]:
    table = []
    for crc in range(_BYTE_VALUES):
        for _ in range(_BITS_PER_BYTE):
            crc = crc >> 1 ^ POLY_REVERSED if crc & 1 else crc >> 1
        table.append(crc)
    return tuple(table)


_TABLE = _make_table()


def crc64(crc: int, data: bytes | bytearray) -> int:
    """The checksum of what gave *crc* (0 for nothing) followed by *data*. O(len).

    Bits are taken lowest first, nothing is inverted: ``crc64(0, b"123456789")`` is
    ``0xe9c6d914c4b8d9ca``. crc64.c: crc64()
    """
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc
