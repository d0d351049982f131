"""The value of a list: a quicklist, and what commands on any type ask of it.

Redis: ``createQuicklistObject()`` in object.c, ``listType*()`` in t_list.c, and the parts
about lists in rdb.c and debug.c.
"""

from __future__ import annotations

import random
from typing import Any, Protocol

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.object import OBJ_LIST, RedisObject
from miniredis.keyspace.quicklist import QuickList
from miniredis.keyspace.rdb import rdb_saved_len_size
from miniredis.keyspace.value import ValueServer


class ListServer(Protocol):
    """What a new list needs of its server."""

    config: Any  # list_max_listpack_size, list_compress_depth
    new_object_lru: int
    quicklist_packed_threshold: int  # bytes


class ListObject(QuickList):
    """A list of bytes. In 7.0 its encoding is always ``quicklist``."""

    __slots__ = ()

    encoding = "quicklist"

    def copy(self, rng: random.Random) -> ListObject:
        """A copy with the same nodes. O(N). t_list.c: listTypeDup()"""
        copy = ListObject(self.fill, self.compress, self.packed)
        copy.copy_nodes_of(self)
        return copy

    def reloaded(self, server: ValueServer) -> ListObject:
        """The list after saving and loading: the same nodes, today's limits. O(N).

        rdb.c: rdbLoadObject()
        """
        config = server.config
        loaded = ListObject(config.list_max_listpack_size, config.list_compress_depth, self.packed)
        loaded.copy_nodes_of(self)
        return loaded

    def add_to_digest(self, digest: Digest) -> None:
        """Elements have an order. debug.c: xorObjectDigest()"""
        for element in self:
            digest.mix(element)

    def rdb_saved_len(self) -> int:
        """Bytes that it takes in a file when nothing is compressed: node by node. O(nodes).

        rdb.c: rdbSaveObject()
        """
        nodes = sum(1 + rdb_saved_len_size(node.sz) + node.sz for node in self.nodes())
        return rdb_saved_len_size(self.len) + nodes

    def debug_fields(self) -> str:
        """What DEBUG OBJECT adds for a list. O(nodes). debug.c: debugCommand()"""
        size = sum(node.sz for node in self.nodes())
        return (
            f" ql_nodes:{self.len} ql_avg_node:{self.count / self.len:.2f} "
            f"ql_listpack_max:{self.fill} ql_compressed:{int(self.compress != 0)} "
            f"ql_uncompressed_size:{size}"
        )


def create_list_object(server: ListServer) -> RedisObject:
    """An empty list with the limits of today's configuration.

    object.c: createQuicklistObject(), quicklist.c: quicklistSetOptions()
    """
    config = server.config
    value = ListObject(
        config.list_max_listpack_size,
        config.list_compress_depth,
        server.quicklist_packed_threshold,
    )
    return RedisObject(OBJ_LIST, value, server.new_object_lru)
