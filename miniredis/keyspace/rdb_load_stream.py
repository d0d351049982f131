"""Streams from the bytes of RDB files and of DUMP.

Redis: ``rdbLoadObject()`` in rdb.c, ``streamValidateListpackIntegrity()`` in t_stream.c.
"""

from __future__ import annotations

from miniredis.keyspace.object import string2ll
from miniredis.keyspace.rdb_reader import RdbError, RdbReader
from miniredis.keyspace.rdb_types import (
    RDB_LENERR,
    STREAM_ID_SIZE,
    STREAM_ITEM_FLAG_DELETED,
    STREAM_ITEM_FLAG_SAMEFIELDS,
)
from miniredis.keyspace.stream_group import StreamCG, StreamConsumer, StreamNACK
from miniredis.keyspace.stream_id import MAX_SEQ, SEQ_BITS
from miniredis.keyspace.stream_node import StreamNode
from miniredis.keyspace.stream_object import Stream
from miniredis.structs.listpack import listpack_decode

_ENTRY_ELEMENTS = 3  # flags, ms and seq, which come before fields and values


def load_stream(rdb: RdbReader, old: bool = False) -> Stream:
    """The stream that comes next; ValueError if it is damaged. O(N).

    *old* is the format before 7.0, which lacks the counters of deleted entries; they begin
    as if nothing had been deleted.
    """
    stream = Stream()
    for _ in range(rdb.len()):
        _load_node(rdb, stream)
    stream.length = rdb.number()
    stream.last_id = rdb.id()
    if old:
        stream.entries_added = stream.length
        stream.first_id = stream.edge_id(first=True)
    else:
        stream.first_id = rdb.id()
        stream.max_deleted_entry_id = rdb.id()
        stream.entries_added = rdb.number()
    if stream.length and not stream.nodes:
        raise RdbError("a stream has a length but no entries")
    for _ in range(rdb.len()):
        _load_group(rdb, stream, old)
    return stream


def _load_node(rdb: RdbReader, stream: Stream) -> None:
    key = rdb.string()
    if len(key) != STREAM_ID_SIZE:
        raise RdbError("the key of a node is no ID")
    master = int.from_bytes(key, "big")
    node = _node_of(_Elements(listpack_decode(rdb.string())), master)
    if node.ids[0] != master or master in stream.keys[-1:]:
        raise RdbError("two nodes have the same ID, or a node does not begin with its own")
    if stream.keys and master < stream.keys[-1]:
        raise RdbError("the nodes of a stream are out of order")
    stream.keys.append(master)
    stream.nodes.append(node)


class _Elements:
    """The elements of a listpack, one after the other."""

    def __init__(self, elements: list[bytes]) -> None:
        self.elements = elements
        self.at = 0

    def take(self, count: int) -> tuple[bytes, ...]:
        if not 0 <= count <= len(self.elements) - self.at:
            raise RdbError("a node of a stream ends too early")
        self.at += count
        return tuple(self.elements[self.at - count : self.at])

    def integer(self) -> int:
        number = string2ll(self.take(1)[0])
        if number is None:
            raise RdbError("a node of a stream has a string where an integer should be")
        return number


def _node_of(lp: _Elements, master: int) -> StreamNode:
    """See ``stream_node.py`` for what the elements mean."""
    live, tombstones = lp.integer(), lp.integer()
    names = lp.take(lp.integer())
    if lp.integer() != 0:
        raise RdbError("the fields of a node do not end where they should")
    node = StreamNode(tuple(part for name in names for part in (name, b"")))
    while lp.at < len(lp.elements):
        _load_entry(lp, node, master, names)
    if node.live != live or node.tombstones != tombstones or not node.ids:
        raise RdbError("a node has another number of entries")
    return node


def _load_entry(lp: _Elements, node: StreamNode, master: int, names: tuple[bytes, ...]) -> None:
    flags, ms, seq = lp.integer(), lp.integer(), lp.integer()
    elements = _ENTRY_ELEMENTS
    if flags & STREAM_ITEM_FLAG_SAMEFIELDS:
        values = lp.take(len(names))
        elements += len(values)
        fields = tuple(part for pair in zip(names, values, strict=True) for part in pair)
    else:
        count = lp.integer()
        fields = lp.take(2 * count)
        elements += len(fields) + 1
    if lp.integer() != elements:
        raise RdbError("an entry has another number of elements")
    id = ((master >> SEQ_BITS) + ms & MAX_SEQ) << SEQ_BITS | ((master & MAX_SEQ) + seq & MAX_SEQ)
    node.append(id, fields)
    if flags & STREAM_ITEM_FLAG_DELETED:
        node.bury(len(node.ids) - 1)


def _load_group(rdb: RdbReader, stream: Stream, old: bool) -> None:
    name, last_id = rdb.string(), rdb.id()
    if old:
        read = stream.estimate_distance_from_first_ever_entry(last_id)
    else:
        number = rdb.number()
        read = None if number == RDB_LENERR else number
    if name in stream.cgroups:
        raise RdbError(f"the group {name!r} comes twice")
    group = stream.cgroups[name] = StreamCG(last_id, read)
    for _ in range(rdb.len(least_size=STREAM_ID_SIZE)):
        id = rdb.raw_id()
        if id in group.pel:
            raise RdbError("an entry is pending twice")
        group.pel[id] = nack = StreamNACK(None, rdb.ms())
        nack.delivery_count = rdb.number()
    for _ in range(rdb.len()):
        _load_consumer(rdb, group)
    if any(nack.consumer is None for nack in group.pel.values()):
        raise RdbError("a pending entry has no consumer")


def _load_consumer(rdb: RdbReader, group: StreamCG) -> None:
    name = rdb.string()
    if name in group.consumers:
        raise RdbError(f"the consumer {name!r} comes twice")
    consumer = group.consumers[name] = StreamConsumer(name, rdb.ms())
    for _ in range(rdb.len(least_size=STREAM_ID_SIZE)):
        id = rdb.raw_id()
        nack = group.pel.get(id)
        if nack is None or nack.consumer is not None:
            raise RdbError("a consumer has an entry that is not pending, or another's")
        nack.consumer = consumer
        consumer.pel[id] = nack
