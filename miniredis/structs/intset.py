"""A sorted array of integers, all of the same width: the small set of numbers.

Redis: intset.c.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from random import Random

INTSET_ENC_INT16, INTSET_ENC_INT32, INTSET_ENC_INT64 = 2, 4, 8  # bytes of a number
INTSET_HEADER_SIZE = 8  # bytes: the width and the length, 32 bits each


def value_encoding(value: int) -> int:
    """The least width in bytes that holds *value*. intset.c: _intsetValueEncoding()"""
    for width in (INTSET_ENC_INT16, INTSET_ENC_INT32):
        if -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1:
            return width
    return INTSET_ENC_INT64


class Intset:
    """Distinct signed 64-bit integers in ascending order.

    ``encoding`` is the width of every number in bytes. The first number that needs more
    widens them all, and nothing makes them narrow again: of 1, 2 and 70000 each takes 4
    bytes, also after 70000 has gone.

    Differs from Redis: the numbers are in a Python list, so that width is only noted.
    """

    __slots__ = ("encoding", "values")

    def __init__(self) -> None:
        self.encoding = INTSET_ENC_INT16
        self.values: list[int] = []

    def __len__(self) -> int:
        """intset.c: intsetLen()"""
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        """In ascending order."""
        return iter(self.values)

    def find(self, value: int) -> bool:
        """Whether *value* is there. O(log N). intset.c: intsetFind()"""
        values = self.values
        at = bisect_left(values, value)
        return at < len(values) and values[at] == value

    def add(self, value: int) -> bool:
        """Insert *value*; False if it is there already. O(N), for what follows moves up.

        intset.c: intsetAdd()
        """
        values = self.values
        at = bisect_left(values, value)
        if at < len(values) and values[at] == value:
            return False
        values.insert(at, value)
        self.encoding = max(self.encoding, value_encoding(value))
        return True

    def remove(self, value: int) -> bool:
        """Take *value* out; False if it is not there. O(N). intset.c: intsetRemove()"""
        values = self.values
        at = bisect_left(values, value)
        if at == len(values) or values[at] != value:
            return False
        del values[at]
        return True

    def random(self, rng: Random) -> int:
        """Any number, each as likely as the others; the set must not be empty. O(1).

        intset.c: intsetRandom()
        """
        return self.values[rng.randrange(len(self.values))]

    def blob_len(self) -> int:
        """Bytes that Redis keeps it in. intset.c: intsetBlobLen()"""
        return INTSET_HEADER_SIZE + self.encoding * len(self.values)

    def blob(self) -> bytes:
        """The bytes that Redis keeps it in: width, length, numbers, all little endian. O(N)."""
        width = self.encoding
        return b"".join(
            (
                width.to_bytes(4, "little"),
                len(self.values).to_bytes(4, "little"),
                *(value.to_bytes(width, "little", signed=True) for value in self.values),
            )
        )

    @classmethod
    def of_blob(cls, blob: bytes) -> Intset:
        """The intset that is kept in *blob*; ValueError if that is none, or empty. O(N).

        intset.c: intsetValidateIntegrity()
        """
        width = int.from_bytes(blob[:4], "little")
        if width not in (INTSET_ENC_INT16, INTSET_ENC_INT32, INTSET_ENC_INT64):
            raise ValueError(f"an intset has numbers of 2, 4 or 8 bytes, not {width}")
        length = int.from_bytes(blob[4:INTSET_HEADER_SIZE], "little")
        if not length or len(blob) != INTSET_HEADER_SIZE + length * width:
            raise ValueError(f"an intset of {length} numbers does not take {len(blob)} bytes")
        values = [
            int.from_bytes(blob[at : at + width], "little", signed=True)
            for at in range(INTSET_HEADER_SIZE, len(blob), width)
        ]
        if any(a >= b for a, b in pairwise(values)):
            raise ValueError("the numbers of an intset ascend")
        intset = cls()
        intset.encoding, intset.values = width, values
        return intset

    def copy(self) -> Intset:
        """Another one of the same numbers and width. O(N)."""
        other = Intset()
        other.encoding = self.encoding
        other.values = self.values.copy()
        return other

    def _check(self) -> None:
        """Assert that the numbers ascend, and that each fits the width."""
        values = self.values
        assert all(a < b for a, b in pairwise(values)), "not ascending"
        assert all(value_encoding(value) <= self.encoding for value in values), "too wide"
        assert self.encoding in (INTSET_ENC_INT16, INTSET_ENC_INT32, INTSET_ENC_INT64)
