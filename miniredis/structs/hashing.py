"""Hash functions for :class:`miniredis.structs.dict.Dict`.

A hash function takes the key's bytes and returns a non-negative int; a dict takes its
low bits as the bucket number. Both functions here depend on their seed and the key
alone, so a run is the same on every machine (Python's own ``hash(bytes)`` is drawn anew
in every process).

Redis: siphash.c, ``dictSetHashFunctionSeed``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

HashFunction = Callable[[bytes], int]

_MASK64 = 0xFFFF_FFFF_FFFF_FFFF
# An odd 64-bit constant: 2^64 divided by the golden ratio (Knuth's multiplicative hashing).
_GOLDEN64 = 0x9E37_79B9_7F4A_7C15


def fast_hash(seed: int) -> HashFunction:
    """A quick seeded hash: CRC-32 of the key, spread by a multiplication.

    CRC-32 runs in C but is linear: keys that differ in a pattern hash to a pattern. The
    multiplication modulo 2^64 carries every input bit upwards, and the bits from 29 on
    depend on all of them. SipHash in pure Python costs some 6 µs a key, this 0.13 µs.

    Not for keys chosen by an enemy: two keys with equal CRC-32 always share a bucket.
    """
    crc32 = zlib.crc32
    start = (seed * _GOLDEN64 >> 17) & 0xFFFF_FFFF
    multiplier = (_GOLDEN64 ^ (seed << 1)) & _MASK64 | 1

    def hash_bytes(key: bytes) -> int:
        return (crc32(key, start) * multiplier & _MASK64) >> 29

    return hash_bytes


class SipHash:
    """SipHash-1-2 with a 16-byte key, the hash that Redis uses since 4.0.

    Calling it with a key's bytes gives the 64-bit hash. *compression_rounds* and
    *finalization_rounds* default to Redis's 1 and 2; the published SipHash has 2 and 4.
    """

    def __init__(
        self, seed: bytes, compression_rounds: int = 1, finalization_rounds: int = 2
    ) -> None:
        if len(seed) != 16:
            raise ValueError(f"SipHash needs a seed of 16 bytes, got {len(seed)}")
        self.k0 = int.from_bytes(seed[:8], "little")
        self.k1 = int.from_bytes(seed[8:], "little")
        self.compression_rounds = compression_rounds
        self.finalization_rounds = finalization_rounds

    def __call__(self, key: bytes) -> int:
        """The 64-bit hash of *key*. siphash.c: siphash()"""
        v = (
            self.k0 ^ 0x736F6D6570736575,
            self.k1 ^ 0x646F72616E646F6D,
            self.k0 ^ 0x6C7967656E657261,
            self.k1 ^ 0x7465646279746573,
        )
        whole = len(key) & ~7
        words = [int.from_bytes(key[i : i + 8], "little") for i in range(0, whole, 8)]
        # The last word holds what is left over and, in its top byte, the length.
        words.append(int.from_bytes(key[whole:], "little") | (len(key) & 0xFF) << 56)
        for word in words:
            v = (v[0], v[1], v[2], v[3] ^ word)
            for _ in range(self.compression_rounds):
                v = _sip_round(*v)
            v = (v[0] ^ word, v[1], v[2], v[3])
        v = (v[0], v[1], v[2] ^ 0xFF, v[3])
        for _ in range(self.finalization_rounds):
            v = _sip_round(*v)
        return v[0] ^ v[1] ^ v[2] ^ v[3]


def _rotl(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & _MASK64


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & _MASK64
    v1 = _rotl(v1, 13) ^ v0
    v0 = _rotl(v0, 32)
    v2 = (v2 + v3) & _MASK64
    v3 = _rotl(v3, 16) ^ v2
    v0 = (v0 + v3) & _MASK64
    v3 = _rotl(v3, 21) ^ v0
    v2 = (v2 + v1) & _MASK64
    v1 = _rotl(v1, 17) ^ v2
    v2 = _rotl(v2, 32)
    return v0, v1, v2, v3
