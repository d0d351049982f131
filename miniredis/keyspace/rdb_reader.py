"""Reading the bytes that ``rdb_save.py`` writes, and never more than there are.

Redis: ``rdbLoad*()`` in rdb.c.
"""

from __future__ import annotations

import struct

from miniredis.keyspace.rdb_types import (
    DOUBLE_FORMAT,
    DOUBLE_SIZE,
    MS_SIZE,
    RDB_6BITLEN,
    RDB_14BITLEN,
    RDB_32BITLEN,
    RDB_64BITLEN,
    RDB_ENC_BYTES,
    RDB_ENC_LZF,
    RDB_ENCVAL,
    RDB_LENERR,
    STREAM_ID_SIZE,
)
from miniredis.keyspace.stream_id import SEQ_BITS
from miniredis.structs.double import strtod
from miniredis.structs.lzf import lzf_decompress

_LZF_MAX_RATIO = 264  # bytes that at most come from one compressed byte


class RdbError(ValueError):
    """The bytes are no value. Redis: ``rdbLoadObject`` returning NULL."""


class RdbEmptyKeyError(RdbError):
    """A value without elements, which no key may hold. rdb.c: RDB_LOAD_ERR_EMPTY_KEY"""


class RdbReader:
    """*data* from the byte *at* on. All methods raise RdbError when bytes are missing."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def raw(self, size: int) -> bytes:
        """The next *size* bytes. O(size). rio.h: rioRead()"""
        end = self.at + size
        if end > len(self.data):
            raise RdbError("the dump ends too early")
        chunk = self.data[self.at : end]
        self.at = end
        return chunk

    def byte(self) -> int:
        """The next byte."""
        return self.raw(1)[0]

    def _len(self) -> tuple[int, bool]:
        """A length, and whether it is an encoding instead. rdb.c: rdbLoadLenByRef()"""
        first = self.byte()
        kind = first >> 6
        if kind == RDB_ENCVAL:
            return first & 0x3F, True
        if kind == RDB_6BITLEN:
            return first, False
        if kind == RDB_14BITLEN:
            return (first & 0x3F) << 8 | self.byte(), False
        if first == RDB_32BITLEN:
            return int.from_bytes(self.raw(4), "big"), False
        if first == RDB_64BITLEN:
            return int.from_bytes(self.raw(8), "big"), False
        raise RdbError(f"a length begins with {first:#x}")

    def number(self) -> int:
        """A number of up to 64 bits."""
        return self._len()[0]

    def len(self, least_size: int = 1) -> int:
        """How many elements follow that take *least_size* bytes or more each.

        What cannot be there is refused before room is made for it. rdb.c: rdbLoadLen()
        """
        count = self.number()
        if count == RDB_LENERR or count * least_size > len(self.data) - self.at:
            raise RdbError(f"{count} elements do not fit into the dump")
        return count

    def string(self) -> bytes:
        """A string, unpacked; an integer as text. rdb.c: rdbGenericLoadStringObject()"""
        length, encoded = self._len()
        if not encoded:
            return self.raw(length)
        if length in RDB_ENC_BYTES:
            packed = self.raw(RDB_ENC_BYTES[length])
            return b"%d" % int.from_bytes(packed, "little", signed=True)
        if length == RDB_ENC_LZF:
            return self._lzf_string()
        raise RdbError(f"encoding {length} of a string is unknown")

    def _lzf_string(self) -> bytes:
        """rdb.c: rdbLoadLzfStringObject()"""
        compressed_size, size = self.number(), self.number()
        compressed = self.raw(compressed_size)
        if not size:
            return b""  # Redis takes the 0 of a failure for the length
        if size > compressed_size * _LZF_MAX_RATIO:
            raise RdbError(f"{compressed_size} compressed bytes do not make {size}")
        value = lzf_decompress(compressed, size)
        if value is None:
            raise RdbError("compressed bytes are damaged")
        return value

    def double(self) -> float:
        """rdb.c: rdbLoadBinaryDoubleValue()"""
        value: float = struct.unpack(DOUBLE_FORMAT, self.raw(DOUBLE_SIZE))[0]
        return value

    def text_double(self) -> float:
        """A score as written before Redis 4. rdb.c: rdbLoadDoubleValue()"""
        length = self.byte()
        special = {253: float("nan"), 254: float("inf"), 255: float("-inf")}.get(length)
        if special is not None:
            return special
        value, size = strtod(self.raw(length))
        if not size:
            raise RdbError("a score is no number")
        return value

    def ms(self) -> int:
        """A time in Unix ms. rdb.c: rdbLoadMillisecondTime()"""
        return int.from_bytes(self.raw(MS_SIZE), "little", signed=True)

    def raw_id(self) -> int:
        """The ID of a pending entry."""
        return int.from_bytes(self.raw(STREAM_ID_SIZE), "big")

    def id(self) -> int:
        """An ID that was saved as two numbers."""
        ms = self.number()
        return ms << SEQ_BITS | self.number()
