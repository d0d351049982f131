"""MurmurHash64A, with which a HyperLogLog spreads its elements.

It must be this function: the registers it leads to are part of the stored value, which
servers exchange.

Redis: MurmurHash64A() in hyperloglog.c.
"""

from __future__ import annotations

from struct import unpack_from

_M = 0xC6A4A7935BD1E995
_R = 47
_U64 = (1 << 64) - 1


def murmur_hash_64a(key: bytes, seed: int) -> int:
    """The 64-bit hash of *key*. O(bytes), about 1 µs for a short key."""
    size = len(key)
    h = (seed ^ size * _M) & _U64
    words = size >> 3
    for k in unpack_from(f"<{words}Q", key):
        k = k * _M & _U64
        k = (k ^ k >> _R) * _M
        h = (h ^ k) * _M & _U64
    if size & 7:
        h = (h ^ int.from_bytes(key[words * 8 :], "little")) * _M & _U64
    h = (h ^ h >> _R) * _M & _U64
    return h ^ h >> _R
