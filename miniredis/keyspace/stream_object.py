"""The value of a stream: entries in nodes sorted by ID, and consumer groups.

Redis keeps the nodes in a radix tree; here they stand in a sorted list, in which the node
of an ID is found by bisection, O(log N), and a node is added at the end or taken from the
front.

Redis: t_stream.c.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.rdb import (
    rdb_saved_len_size,
    rdb_saved_string_len,
)
from miniredis.keyspace.stream_group import StreamCG
from miniredis.keyspace.stream_id import MAX_ID, MAX_SEQ, MIN_ID, SEQ_BITS
from miniredis.keyspace.stream_node import Fields, StreamNode

if TYPE_CHECKING:
    from miniredis.keyspace.value import ValueServer

STREAM_LISTPACK_MAX_SIZE = 1 << 30  # bytes of a node, and of the strings of one entry
RAX_KEY_SIZE = 17  # bytes of a node's ID in a file
EntryPosition = tuple[StreamNode, int]


class Stream:
    """A stream. stream.h: stream

    ``nodes`` are sorted by the IDs of their first entries, ``keys``. ``first_id`` is the
    first living entry's ID, 0 if there is none; ``last_id`` the highest ever given out;
    ``max_deleted_entry_id`` the highest that XDEL removed; ``entries_added`` counts all
    entries ever added.
    """

    __slots__ = (
        "cgroups",
        "entries_added",
        "first_id",
        "keys",
        "last_id",
        "length",
        "max_deleted_entry_id",
        "nodes",
    )

    encoding = "stream"

    def __init__(self) -> None:
        self.keys: list[int] = []
        self.nodes: list[StreamNode] = []
        self.length = 0
        self.first_id = 0
        self.last_id = 0
        self.max_deleted_entry_id = 0
        self.entries_added = 0
        self.cgroups: dict[bytes, StreamCG] = {}

    def __len__(self) -> int:
        """Number of living entries."""
        return self.length

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[tuple[int, Fields]]:
        return self.range()

    # -- adding ---------------------------------------------------------------------

    def append(self, id: int, fields: Fields, max_bytes: int, max_entries: int) -> None:
        """Add an entry whose *id* is above ``last_id``. O(log nodes + fields).

        A new node is begun when the last one would exceed *max_bytes* or has
        *max_entries*, tombstones included; 0 means no limit.

        t_stream.c: streamAppendItem()
        """
        node = self.nodes[-1] if self.nodes else None
        if node is not None:
            if not 0 < max_bytes <= STREAM_LISTPACK_MAX_SIZE:
                max_bytes = STREAM_LISTPACK_MAX_SIZE
            if node.lp_bytes + sum(map(len, fields)) >= max_bytes or (
                max_entries and len(node.ids) >= max_entries
            ):
                node = None
        if node is None:
            node = StreamNode(fields)
            self._insert_node(id, node)
        node.append(id, fields)
        self.length += 1
        self.entries_added += 1
        self.last_id = id
        if self.length == 1:
            self.first_id = id

    def _insert_node(self, key: int, node: StreamNode) -> None:
        if not self.keys or key > self.keys[-1]:
            self.keys.append(key)
            self.nodes.append(node)
            return
        # Only after XSETID has gone back below the ID of a tombstone.
        at = bisect_left(self.keys, key)
        if self.keys[at] == key:
            self.nodes[at] = node
        else:
            insort(self.keys, key)
            self.nodes.insert(at, node)

    # -- walking --------------------------------------------------------------------

    def positions(
        self, start: int = MIN_ID, end: int = MAX_ID, rev: bool = False, tombstones: bool = False
    ) -> Iterator[EntryPosition]:
        """Where the entries from *start* to *end* are, both included; O(log N) to begin.

        The stream must not change meanwhile. t_stream.c: streamIteratorGetID()
        """
        # The node that begins at or before the edge; from there on, or all nodes.
        first = bisect_right(self.keys, end if rev else start) - 1
        if rev:
            if end == MIN_ID or first < 0:
                first = len(self.nodes) - 1
            nodes = range(first, -1, -1)
        else:
            nodes = range(max(first, 0), len(self.nodes))
        for i in nodes:
            node = self.nodes[i]
            ids, dead = node.ids, node.dead
            for position in node.backward(end) if rev else node.forward(start):
                id = ids[position]
                if (dead[position] and not tombstones) or (id > end if rev else id < start):
                    continue
                if id < start if rev else id > end:
                    return
                yield node, position

    def range(
        self, start: int = MIN_ID, end: int = MAX_ID, rev: bool = False
    ) -> Iterator[tuple[int, Fields]]:
        """ID, and fields and values, of the entries from *start* to *end*."""
        for node, position in self.positions(start, end, rev):
            yield node.ids[position], node.entries[position]

    def get(self, id: int) -> Fields | None:
        """Fields and values of one entry. O(log N)."""
        for node, position in self.positions(id, id):
            return node.entries[position]
        return None

    def last_valid_id(self) -> int:
        """The ID of the last living entry; there must be one. streamLastValidID()"""
        return self.edge_id(first=False)

    def edge_id(self, first: bool, tombstones: bool = False) -> int:
        """The ID of the first or last entry; the opposite extreme if there is none.

        t_stream.c: streamGetEdgeID()
        """
        for node, position in self.positions(rev=not first, tombstones=tombstones):
            return node.ids[position]
        return MAX_ID if first else MIN_ID

    # -- deleting -------------------------------------------------------------------

    def delete(self, id: int) -> bool:
        """Make the entry *id* a tombstone; whether it was there. O(log N).

        A node whose last living entry goes, goes too. t_stream.c: streamDeleteItem()
        """
        for node, position in self.positions(id, id):
            if node.live == 1:
                at = bisect_left(self.keys, node.ids[0])
                del self.keys[at], self.nodes[at]
            else:
                node.bury(position)
            self.length -= 1
            return True
        return False

    def delete_ids(self, ids: list[int]) -> int:
        """Delete entries; how many there were. O(log N) each. t_stream.c: xdelCommand()"""
        deleted, first_gone = 0, False
        for id in ids:
            if self.delete(id):
                first_gone |= id == self.first_id
                self.max_deleted_entry_id = max(self.max_deleted_entry_id, id)
                deleted += 1
        if deleted and not self.length:
            self.first_id = 0
        elif first_gone:
            self.first_id = self.edge_id(first=True)
        return deleted

    def trim(
        self, maxlen: int | None = None, minid: int = 0, approx: bool = False, limit: int = 0
    ) -> int:
        """Delete the oldest entries; how many.

        Down to *maxlen* entries or, if that is None, those below *minid*. With *approx*
        only whole nodes, up to the first one that has something to keep; a *limit* other
        than 0 is never exceeded. O(nodes deleted), plus the entries of one node.

        t_stream.c: streamTrim()
        """
        deleted = whole = 0
        for node in self.nodes:
            if maxlen is not None and self.length <= maxlen:
                break
            if limit and deleted + node.live > limit:
                break
            if maxlen is not None:
                remove_node = self.length - node.live >= maxlen
            else:
                remove_node = node.ids[-1] < minid
            if not remove_node:
                if not approx:
                    deleted += self._trim_node(node, maxlen, minid)
                break
            self.length -= node.live
            deleted += node.live
            whole += 1
        del self.nodes[:whole], self.keys[:whole]
        if not self.length:
            self.first_id = 0
        elif deleted:
            self.first_id = self.edge_id(first=True)
        return deleted

    def _trim_node(self, node: StreamNode, maxlen: int | None, minid: int) -> int:
        """Make tombstones of what is to go of one node; it stays even without a living entry."""
        deleted = 0
        for position, id in enumerate(node.ids):
            if self.length <= maxlen if maxlen is not None else id >= minid:
                break
            if not node.dead[position]:
                node.bury(position)
                self.length -= 1
                deleted += 1
        return deleted

    # -- how far a group has read ---------------------------------------------------

    def has_tombstones_after(self, start: int) -> bool:
        """Whether XDEL may have left a gap at or after *start*. streamRangeHasTombstones()"""
        if not self.length or not self.max_deleted_entry_id:
            return False
        if self.first_id > self.max_deleted_entry_id:
            return False
        return start <= self.max_deleted_entry_id

    def estimate_distance_from_first_ever_entry(self, id: int) -> int | None:
        """How many entries were ever added up to *id*; None if that cannot be told. O(1).

        It can for the last ID, and, if nothing was deleted from the middle, for the first
        entry and for IDs before it.

        t_stream.c: streamEstimateDistanceFromFirstEverEntry()
        """
        if not self.entries_added:
            return 0
        if (not self.length and id <= self.last_id) or id == self.last_id:
            return self.entries_added
        if id > self.last_id:
            return None
        if not self.max_deleted_entry_id or self.max_deleted_entry_id < self.first_id:
            if id < self.first_id:
                return self.entries_added - self.length
            if id == self.first_id:
                return self.entries_added - self.length + 1
        return None

    def lag(self, group: StreamCG) -> int | None:
        """How many entries *group* has yet to read; None if that cannot be told. O(1).

        t_stream.c: streamReplyWithCGLag()
        """
        if not self.entries_added:
            return 0
        read = group.entries_read
        if read is None or self.has_tombstones_after(group.last_id):
            read = self.estimate_distance_from_first_ever_entry(group.last_id)
        return None if read is None else self.entries_added - read

    # -- as a value of the keyspace ---------------------------------------------------

    def copy(self, rng: random.Random | None = None) -> Stream:
        """An equal stream, groups included. O(N). t_stream.c: streamDup()"""
        other = Stream()
        other.keys = self.keys.copy()
        other.nodes = [node.copy() for node in self.nodes]
        for name in ("length", "first_id", "last_id", "max_deleted_entry_id", "entries_added"):
            setattr(other, name, getattr(self, name))
        other.cgroups = {name: group.copy() for name, group in self.cgroups.items()}
        return other

    def reloaded(self, server: ValueServer) -> Stream:
        """Itself: a file holds the nodes as they are."""
        return self

    def add_to_digest(self, digest: Digest) -> None:
        """Mix in IDs, fields and values; groups do not count. O(N). debug.c"""
        for id, fields in self.range():
            digest.mix(b"%d.%d" % (id >> SEQ_BITS, id & MAX_SEQ))
            for part in fields:
                digest.mix(part)

    def rdb_saved_len(self) -> int:
        """Bytes in a file, nothing compressed. O(nodes + pending). rdb.c: rdbSaveObject()"""
        size = rdb_saved_len_size(len(self.nodes))
        for node in self.nodes:
            bytes = node.lp_bytes
            size += RAX_KEY_SIZE + rdb_saved_len_size(bytes) + bytes
        size += rdb_saved_len_size(self.length) + rdb_saved_len_size(self.entries_added)
        for id in (self.last_id, self.first_id, self.max_deleted_entry_id):
            size += rdb_saved_id_len(id)
        size += rdb_saved_len_size(len(self.cgroups))
        for name, group in self.cgroups.items():
            size += rdb_saved_string_len(name) + rdb_saved_id_len(group.last_id)
            size += group.rdb_saved_len()
        return size

    def _check(self) -> None:
        """Assert the invariants."""
        assert self.keys == [node.ids[0] for node in self.nodes]
        assert self.keys == sorted(set(self.keys))
        for node in self.nodes:
            node._check()
        assert self.length == sum(node.live for node in self.nodes)
        ids = [id for id, _ in self.range()]
        assert len(ids) <= self.length and ids == sorted(set(ids))
        for group in self.cgroups.values():
            group._check()


def rdb_saved_id_len(id: int) -> int:
    """Bytes of an ID that is saved as two numbers."""
    return rdb_saved_len_size(id >> SEQ_BITS) + rdb_saved_len_size(id & MAX_SEQ)
