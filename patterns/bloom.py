"""A Bloom filter: a set that is small, and sometimes wrongly says yes.

*m* bits, all 0. Each item has *k* positions among them, given by a hash. To add it, set them;
it may be in the set if they are all set. What was added is always found. What was not is
found, wrongly, if others happen to have set all its bits: with the error rate at most when
as many items were added as expected.

For *n* items and error rate *p* the fewest bits are needed with k = −log2 p positions. That is
rounded, and then m = −k · n / ln(1 − p^(1/k)) bits keep the error rate. A small example:
n = 1,000 and p = 0.01 give k = 7 and m = 9,593 bits, that is 1,200 bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from patterns.text import as_bytes, as_text

MAX_BITS = 2**32  # a Redis string is at most 512 MB
BATCH = 1_000  # items of which a pipeline asks or tells at once
BITS_PER_BYTE = 8
HASH_BYTES = 16


@dataclass(frozen=True)
class Parameters:
    """What all clients of a filter have to agree on."""

    bits: int  # m
    hashes: int  # k
    expected: int  # n
    error_rate: float  # p

    @classmethod
    def of(cls, expected: int, error_rate: float) -> Parameters:
        """The smallest filter. ``ValueError`` for numbers that make none."""
        if expected < 1 or not 0 < error_rate < 1:
            raise ValueError(
                "a filter expects 1 item or more and an error rate between 0 and 1,"
                f" got {expected!r} and {error_rate!r}"
            )
        hashes = max(round(-math.log2(error_rate)), 1)
        # After n items a bit is still 0 with probability e^(−k·n/m); all k of an item that was
        # not added are 1 with probability (1 − e^(−k·n/m))^k, which is to be p.
        bits = math.ceil(-hashes * expected / math.log(1 - error_rate ** (1 / hashes)))
        if bits > MAX_BITS:
            raise ValueError(f"this filter needs {bits:,} bits; a Redis string has {MAX_BITS:,}")
        return cls(bits, hashes, expected, error_rate)

    @property
    def memory_bytes(self) -> int:
        """The length of the bits as a string."""
        return -(-self.bits // BITS_PER_BYTE)

    def positions(self, item: str | bytes) -> list[int]:
        """The *k* bits of *item*: two hashes of 64 bits, the second added again and again.

        Not Python's ``hash()``, which differs from process to process.
        """
        digest = hashlib.blake2b(as_bytes(item), digest_size=HASH_BYTES).digest()
        half = HASH_BYTES // 2
        first, step = int.from_bytes(digest[:half]), int.from_bytes(digest[half:]) | 1
        return [(first + i * step) % self.bits for i in range(self.hashes)]


# KEYS: parameters, bits. ARGV: parameters, number of the last bit. Whoever is first decides,
# and takes the memory at once: a string that grows bit by bit is given twice what it needs.
INIT = """
if not redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SETBIT', KEYS[2], ARGV[2], 0)
return 1
"""


class BloomFilter:
    """A filter in Redis. Both keys carry the hash tag ``{name}``: one slot of a cluster.

    A client reads the parameters once; do not delete a filter while others use it.
    """

    def __init__(self, conn: Any, name: str) -> None:
        self.conn = conn
        self.params_key, self.bits_key = f"{{{name}}}:bloom", f"{{{name}}}:bits"
        self._parameters: Parameters | None = None

    def try_init(self, expected: int, error_rate: float) -> bool:
        """Make the filter; False if there is one, whose parameters then hold. O(bits)."""
        p = Parameters.of(expected, error_rate)
        text = f"{p.bits} {p.hashes} {p.expected} {p.error_rate!r}"
        keys = self.params_key, self.bits_key
        return bool(self.conn.eval(INIT, 2, *keys, text, p.bits - 1))

    @property
    def parameters(self) -> Parameters:
        """Those that the filter was made with. ``LookupError`` if there is no filter."""
        if self._parameters is None:
            text = self.conn.get(self.params_key)
            if text is None:
                raise LookupError(f"no filter {self.params_key!r}: try_init() makes one")
            bits, hashes, expected, error_rate = as_text(text).split()
            self._parameters = Parameters(int(bits), int(hashes), int(expected), float(error_rate))
        return self._parameters

    def add(self, item: str | bytes) -> bool:
        """Add *item*; False if it was, or seemed to be, there already. O(hashes)."""
        return self.add_many([item]) == 1

    def add_many(self, items: Iterable[str | bytes]) -> int:
        """Add all *items*; returns how many were new. Each is added whole. O(items · hashes)."""
        every, new = list(items), 0
        hashes = self.parameters.hashes
        for start in range(0, len(every), BATCH):
            pipe = self.conn.pipeline(transaction=True)
            for item in every[start : start + BATCH]:
                for position in self.parameters.positions(item):
                    pipe.setbit(self.bits_key, position, 1)
            was = pipe.execute()
            new += sum(not all(was[i : i + hashes]) for i in range(0, len(was), hashes))
        return new

    def contains(self, item: str | bytes) -> bool:
        """Whether *item* is in the set: no is certain, yes may be wrong. O(hashes)."""
        pipe = self.conn.pipeline(transaction=False)
        for position in self.parameters.positions(item):
            pipe.getbit(self.bits_key, position)
        return all(pipe.execute())

    def contains_many(self, items: Sequence[str | bytes]) -> list[bool]:
        """:meth:`contains` of each. Asks for the next bit only of those still in question."""
        found = [True] * len(items)
        positions = [self.parameters.positions(item) for item in items]
        for number in range(self.parameters.hashes):
            open_ = [i for i, yes in enumerate(found) if yes]
            for start in range(0, len(open_), BATCH):
                some = open_[start : start + BATCH]
                pipe = self.conn.pipeline(transaction=False)
                for i in some:
                    pipe.getbit(self.bits_key, positions[i][number])
                for i, bit in zip(some, pipe.execute(), strict=True):
                    found[i] = bool(bit)
        return found

    def approximate_count(self) -> int:
        """How many different items were added, about: −m / k · ln(1 − set bits / m).

        Of a filter in which every bit is set, the number at which one was still 0. O(bits).
        """
        p = self.parameters
        set_bits = min(int(self.conn.bitcount(self.bits_key)), p.bits - 1)
        return round(-p.bits / p.hashes * math.log(1 - set_bits / p.bits))

    def delete(self) -> None:
        """Delete the filter."""
        self._parameters = None
        self.conn.unlink(self.params_key, self.bits_key)


class BloomFilterNaive(BloomFilter):
    """Each client has the parameters from its own configuration.

    How it fails: a client that was configured otherwise, or whose programmer has rounded
    otherwise, looks at other bits, and does not find what was added. The one promise of a
    Bloom filter is broken.
    """

    def __init__(self, conn: Any, name: str, expected: int, error_rate: float) -> None:
        super().__init__(conn, name)
        self._parameters = Parameters.of(expected, error_rate)
