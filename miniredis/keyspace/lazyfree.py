"""Which values Redis leaves to a thread to be freed: those of more than 64 allocations.

Here the garbage collector frees everything, so only the count remains, which INFO shows as
``lazyfreed_objects``.

Redis: lazyfree.c.
"""

from __future__ import annotations

from miniredis.keyspace.object import OBJ_HASH, OBJ_LIST, OBJ_SET, OBJ_STREAM, OBJ_ZSET, RedisObject
from miniredis.keyspace.stream_object import Stream
from miniredis.structs.rax_nodes import rax_num_nodes

LAZYFREE_THRESHOLD = 64  # allocations
_TABLES = ("hashtable", "skiplist")


def lazyfree_get_free_effort(o: RedisObject) -> int:
    """About how many allocations a value is made of. O(1), O(nodes) for a stream.

    lazyfree.c: lazyfreeGetFreeEffort()
    """
    if o.type == OBJ_LIST:
        return sum(1 for _ in o.ptr.nodes())
    if o.type in (OBJ_SET, OBJ_ZSET, OBJ_HASH):
        return len(o.ptr) if o.ptr.encoding in _TABLES else 1
    return _stream_effort(o.ptr) if o.type == OBJ_STREAM else 1


def _stream_effort(stream: Stream) -> int:
    """Nodes of the tree, and for each group as many pending entries as the first one has."""
    effort = rax_num_nodes(stream.keys)
    if stream.cgroups:
        first = stream.cgroups[min(stream.cgroups)]
        effort += len(stream.cgroups) * (1 + len(first.pel))
    return effort


def is_freed_lazily(o: RedisObject) -> bool:
    """Whether a thread frees the value. lazyfree.c: freeObjAsync()"""
    return lazyfree_get_free_effort(o) > LAZYFREE_THRESHOLD
