"""The digest by which DEBUG compares values whatever their encoding and order.

A value adds its parts to a :class:`Digest`. Parts without an order are combined by
exclusive or, which does not mind the order; parts with one are mixed in, each changing
what the ones before have left.

Redis: ``xorDigest()``, ``mixDigest()`` in debug.c.
"""

from __future__ import annotations

from hashlib import sha1

DIGEST_BYTES = 20


def _sha1(data: bytes) -> int:
    return int.from_bytes(sha1(data, usedforsecurity=False).digest(), "big")


class Digest:
    """160 bits, zero at first."""

    __slots__ = ("bits",)

    def __init__(self) -> None:
        self.bits = 0

    def xor(self, data: bytes) -> None:
        """Add a part whose place among others does not matter. debug.c: xorDigest()"""
        self.bits ^= _sha1(data)

    def mix(self, data: bytes) -> None:
        """Add a part whose place matters. debug.c: mixDigest()"""
        self.xor(data)
        self.bits = _sha1(self.raw())

    def raw(self) -> bytes:
        """The 20 bytes."""
        return self.bits.to_bytes(DIGEST_BYTES, "big")

    def hex(self) -> bytes:
        """The 40 digits that DEBUG replies."""
        return self.raw().hex().encode()
