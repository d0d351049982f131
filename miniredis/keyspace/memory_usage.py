"""The byte model behind MEMORY USAGE: what a value would take in redis-server.

Python's own memory is another matter; this is the sum of the allocations that Redis makes
for the same value on a 64-bit machine with jemalloc: structures, buckets, and each string
or listpack in its size class (``structs/jemalloc.py``). As Redis, it looks at the first
*samples* elements of a hash table, sorted set, list or stream and takes the rest to be like
them.

A worked example, ``SET key value``: the object header with the string inside it, 16 + 3 + 5 +
1 = 25 bytes, takes 32; the key, 1 + 3 + 1 = 5, takes 8; its entry in the dict 24: 64 bytes.

Where it differs from a real server, and why:

* A string that has grown (APPEND, SETRANGE) has room to spare there, up to as much again as
  its length. How much depends on its history, which is not kept: here it has none.
* The height of a member's node in a skiplist is drawn at random there. Here each takes the
  mean, 53.3 bytes: large sorted sets come out right, five samples may be off by some per cent.
* A list is never compressed here.
* Which elements are the first depends on the layout of a hash table.

Redis: ``objectComputeSize()`` in object.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Any

from miniredis.keyspace.hash_object import HashObject
from miniredis.keyspace.list_object import ListObject
from miniredis.keyspace.listpack_size import listpack_bytes
from miniredis.keyspace.object import (
    OBJ_HASH,
    OBJ_LIST,
    OBJ_SET,
    OBJ_STREAM,
    OBJ_STRING,
    OBJ_ZSET,
    RedisObject,
    object_encoding,
)
from miniredis.keyspace.set_object import SetObject
from miniredis.keyspace.stream_object import Stream
from miniredis.structs.dict import Dict
from miniredis.structs.double import d2string
from miniredis.structs.jemalloc import malloc_size, sds_size
from miniredis.structs.rax_nodes import rax_num_nodes

OBJ_COMPUTE_SIZE_DEF_SAMPLES = 5  # elements looked at

# sizeof() of the structures of 7.0 on a 64-bit machine, in bytes.
SIZEOF_ROBJ = 16
SIZEOF_DICT_ENTRY = 24
SIZEOF_DICT = 56
SIZEOF_POINTER = 8
SIZEOF_QUICKLIST = 40
SIZEOF_QUICKLIST_NODE = 40
SIZEOF_ZSET = 16
SIZEOF_ZSKIPLIST = 32
SIZEOF_STREAM = 80
SIZEOF_STREAM_ID = 16
SIZEOF_STREAM_CG = 40
SIZEOF_STREAM_NACK = 24
SIZEOF_STREAM_CONSUMER = 24
SIZEOF_RAX_NODE = 4
RAX_NODE_OVERHEAD = 30 * 8  # object.c: a constant found by trying
EMBSTR_OVERHEAD = 16 + 3 + 1  # object header, header of the string, NUL

SKIPLIST_HEADER = malloc_size(24 + 32 * 16)  # 32 levels
# 24 bytes and 16 for each level: 48 with one level, and with probability 1/4 another 16,
# and so on; t_zset.c: zslRandomLevel()
SKIPLIST_NODE = 48 + 16 / 3
STREAM_LISTPACK_MAX_PRE_ALLOCATE = 4096  # bytes that a stream's new node gets at once


def memory_usage(key: bytes, o: RedisObject, samples: int = OBJ_COMPUTE_SIZE_DEF_SAMPLES) -> int:
    """Bytes of *key* with its value *o* and the entry of both in the keyspace.

    *samples* is at least 1. O(samples); a small hash or sorted set O(N), a stream
    O(nodes + pending entries). object.c: memoryCommand()
    """
    return object_compute_size(o, samples) + sds_size(len(key)) + SIZEOF_DICT_ENTRY


def object_compute_size(o: RedisObject, samples: int) -> int:
    """Bytes of a value, its header included. object.c: objectComputeSize()"""
    if o.type == OBJ_STRING:
        return _string(o)
    return SIZEOF_ROBJ + _SIZES[o.type](o.ptr, samples)


def _string(o: RedisObject) -> int:
    encoding = object_encoding(o)
    if encoding == "int":
        return SIZEOF_ROBJ
    if encoding == "embstr":
        return malloc_size(EMBSTR_OVERHEAD + len(o.ptr))
    return SIZEOF_ROBJ + sds_size(len(o.ptr))


def _mean(sizes: Iterable[float], samples: int, count: int) -> int:
    """*count* times the mean of the first *samples* of *sizes*."""
    found = list(islice(sizes, samples))
    return int(sum(found) / len(found) * count) if found else 0


def _table(d: Dict) -> int:
    return SIZEOF_DICT + SIZEOF_POINTER * d.slots()


def _list(value: ListObject, samples: int) -> int:
    nodes = (SIZEOF_QUICKLIST_NODE + malloc_size(node.sz) for node in value.nodes())
    return SIZEOF_QUICKLIST + _mean(nodes, samples, value.len)


def _set(value: SetObject, samples: int) -> int:
    if value.intset is not None:
        return malloc_size(value.intset.blob_len())
    assert value.ht is not None
    members = (SIZEOF_DICT_ENTRY + sds_size(len(entry.key)) for entry in value.ht.entries())
    return _table(value.ht) + _mean(members, samples, len(value))


def _hash(value: HashObject, samples: int) -> int:
    if value.listpack is not None:
        return malloc_size(listpack_bytes(chain.from_iterable(value.listpack.items())))
    assert value.ht is not None
    fields = (
        SIZEOF_DICT_ENTRY + sds_size(len(entry.key)) + sds_size(len(entry.val))
        for entry in value.ht.entries()
    )
    return _table(value.ht) + _mean(fields, samples, len(value))


def _zset(value: Any, samples: int) -> int:
    if value.encoding == "listpack":
        elements = chain.from_iterable((member, d2string(score)) for score, member in value)
        return malloc_size(listpack_bytes(elements))
    members = (SIZEOF_DICT_ENTRY + sds_size(len(member)) + SKIPLIST_NODE for _, member in value)
    fixed = SIZEOF_ZSET + SIZEOF_ZSKIPLIST + _table(value.dict) + SKIPLIST_HEADER
    return fixed + _mean(members, samples, len(value))


def _rax(keys: list[int]) -> int:
    """object.c: streamRadixTreeMemoryUsage()"""
    node = SIZEOF_RAX_NODE + RAX_NODE_OVERHEAD
    return len(keys) * SIZEOF_STREAM_ID + rax_num_nodes(keys) * node


def _stream(value: Stream, samples: int) -> int:
    nodes = [malloc_size(node.lp_bytes) for node in islice(value.nodes, samples)]
    if value.nodes:
        # The node that is being filled was given room for more.
        room = max(value.nodes[-1].lp_bytes, STREAM_LISTPACK_MAX_PRE_ALLOCATE)
        last = malloc_size(room)
        if len(value.nodes) <= len(nodes):
            nodes[-1] = last
        else:
            nodes = [sum(nodes) // len(nodes) * (len(value.nodes) - 1), last]
    return SIZEOF_STREAM + _rax(value.keys) + sum(nodes) + _groups(value)


def _groups(value: Stream) -> int:
    size = 0
    for group in value.cgroups.values():
        pending = len(group.pel) * SIZEOF_STREAM_NACK
        size += SIZEOF_STREAM_CG + _rax(list(group.pel)) + pending
        for consumer in group.consumers.values():
            size += SIZEOF_STREAM_CONSUMER + len(consumer.name) + _rax(list(consumer.pel))
    return size


_SIZES: dict[int, Callable[[Any, int], int]] = {
    OBJ_LIST: _list,
    OBJ_SET: _set,
    OBJ_HASH: _hash,
    OBJ_ZSET: _zset,
    OBJ_STREAM: _stream,
}
