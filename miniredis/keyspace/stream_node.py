"""A node of a stream: up to 100 entries, which Redis packs into one listpack.

Which entries share a node decides what approximate trimming removes, and a node is full
when its bytes are, so the bytes of the listpack are counted though none is made. Its
elements are, in order:

    count deleted num-fields field-1 ... field-N 0        the master entry
    flags ms seq value-1 ... value-N lp-count             an entry with the master's fields
    flags ms seq N field-1 value-1 ... lp-count           an entry with others

``ms`` and ``seq`` are differences to the master's ID, which is that of the first entry.
A deleted entry stays where it is, as a tombstone, until all of the node are deleted.

Redis: streamAppendItem() in t_stream.c.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from miniredis.keyspace.listpack_size import LP_EOF_SIZE, LP_HDR_SIZE, entry_size
from miniredis.keyspace.stream_id import MAX_SEQ, SEQ_BITS

# Fields and values alternate.
Fields = tuple[bytes, ...]

# Bytes of an integer element that is at least -end and below end, its length included.
_INTEGER_SIZES = ((1 << 12, 3), (1 << 15, 4), (1 << 23, 5), (1 << 31, 6), (1 << 63, 10))
_FLAGS_SIZE = 2  # bytes of the element for the flags, whatever they are
_FIXED_ELEMENTS = 3  # flags, ms, seq


def id_difference(a: int, b: int) -> int:
    """a - b as a signed 64-bit integer."""
    result = (a - b) & MAX_SEQ
    return result - (1 << SEQ_BITS) if result >> SEQ_BITS - 1 else result


def _integer_size(number: int) -> int:
    """Bytes of an element for *number*. listpack.c: lpEncodeIntegerGetType()"""
    if 0 <= number <= 127:
        return 2
    return next(size for end, size in _INTEGER_SIZES if -end <= number < end)


class StreamNode:
    """Some consecutive entries of a stream.

    ``ids``, ``entries`` and ``dead`` go together. IDs ascend (``ordered``) unless XSETID
    was called after the youngest entries had been deleted; entries that are alive always
    do.
    """

    __slots__ = ("body_bytes", "dead", "entries", "ids", "live", "master_fields", "ordered")

    def __init__(self, fields: Fields) -> None:
        self.master_fields: Fields = fields[::2]
        self.ids: list[int] = []
        self.entries: list[Fields] = []
        self.dead = bytearray()  # 1 for a tombstone
        self.live = 0
        self.ordered = True
        self.body_bytes = (
            LP_HDR_SIZE
            + _integer_size(len(self.master_fields))
            + sum(map(entry_size, self.master_fields))
            + _integer_size(0)
            + LP_EOF_SIZE
        )

    @property
    def lp_bytes(self) -> int:
        """Bytes of the listpack. O(1). listpack.c: lpBytes()"""
        return self.body_bytes + _integer_size(self.live) + _integer_size(self.tombstones)

    @property
    def tombstones(self) -> int:
        """Number of deleted entries that are still there."""
        return len(self.ids) - self.live

    def append(self, id: int, fields: Fields) -> None:
        """Add an entry at the end. O(fields)."""
        if self.ids and id <= self.ids[-1]:
            self.ordered = False
        master = self.ids[0] if self.ids else id
        size = (
            _FLAGS_SIZE
            + _integer_size(id_difference(id >> SEQ_BITS, master >> SEQ_BITS))
            + _integer_size(id_difference(id & MAX_SEQ, master & MAX_SEQ))
            + sum(map(entry_size, fields[1::2]))
        )
        names = self.master_fields
        elements = _FIXED_ELEMENTS + len(fields) // 2
        if fields[::2] != names:
            names = fields[::2]
            size += _integer_size(len(names)) + sum(map(entry_size, names))
            elements += len(names) + 1
        else:  # let all entries share the names
            shared = list(fields)
            shared[::2] = names
            fields = tuple(shared)
        self.body_bytes += size + _integer_size(elements)
        self.ids.append(id)
        self.entries.append(fields)
        self.dead.append(0)
        self.live += 1

    def bury(self, position: int) -> None:
        """Make a living entry a tombstone. O(1)."""
        self.dead[position] = 1
        self.live -= 1

    def forward(self, start: int) -> Iterator[int]:
        """Positions of entries that may be at or after the ID *start*, first to last."""
        return iter(range(bisect_left(self.ids, start) if self.ordered else 0, len(self.ids)))

    def backward(self, end: int) -> Iterator[int]:
        """Positions of entries that may be at or before the ID *end*, last to first."""
        last = bisect_right(self.ids, end) if self.ordered else len(self.ids)
        return iter(range(last - 1, -1, -1))

    def copy(self) -> StreamNode:
        """An equal node. O(entries)."""
        node = StreamNode.__new__(StreamNode)
        node.master_fields = self.master_fields
        node.ids = self.ids.copy()
        node.entries = self.entries.copy()
        node.dead = self.dead.copy()
        node.live = self.live
        node.ordered = self.ordered
        node.body_bytes = self.body_bytes
        return node

    def _check(self) -> None:
        assert len(self.ids) == len(self.entries) == len(self.dead) > 0
        assert self.live == self.dead.count(0)
        assert self.ordered == all(map(int.__lt__, self.ids, self.ids[1:]))
        alive = [id for id, dead in zip(self.ids, self.dead, strict=True) if not dead]
        assert alive == sorted(set(alive))
