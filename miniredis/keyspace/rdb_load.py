"""Values from the bytes of RDB files and of DUMP, also those of older servers.

What is small was saved in the form in which Redis had it in memory; whether it stays in
that form, today's configuration decides. All is checked before it becomes a value.

Differs from Redis: it checks as with ``sanitize-dump-payload yes`` whatever the
configuration says, as damaged values could do nothing but crash later; and a listpack that
holds an integer as a string is packed anew.

Redis: ``rdbLoadObject()`` in rdb.c, ``verifyDumpPayload()`` in cluster.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from miniredis.keyspace.hash_object import HashObject
from miniredis.keyspace.list_object import ListObject, ListServer, create_list_object
from miniredis.keyspace.listpack_size import listpack_bytes
from miniredis.keyspace.object import (
    OBJ_HASH,
    OBJ_SET,
    OBJ_STREAM,
    OBJ_STRING,
    OBJ_ZSET,
    RedisObject,
)
from miniredis.keyspace.quicklist import QuickListNode
from miniredis.keyspace.rdb_load_stream import load_stream
from miniredis.keyspace.rdb_reader import RdbEmptyKeyError, RdbError, RdbReader
from miniredis.keyspace.rdb_types import (
    DUMP_CRC_SIZE,
    DUMP_FOOTER_SIZE,
    DUMP_VERSION_SIZE,
    QUICKLIST_NODE_CONTAINER_PACKED,
    QUICKLIST_NODE_CONTAINER_PLAIN,
    RDB_TYPE_HASH,
    RDB_TYPE_HASH_LISTPACK,
    RDB_TYPE_HASH_ZIPLIST,
    RDB_TYPE_HASH_ZIPMAP,
    RDB_TYPE_LIST,
    RDB_TYPE_LIST_QUICKLIST,
    RDB_TYPE_LIST_QUICKLIST_2,
    RDB_TYPE_LIST_ZIPLIST,
    RDB_TYPE_SET,
    RDB_TYPE_SET_INTSET,
    RDB_TYPE_STREAM_LISTPACKS,
    RDB_TYPE_STREAM_LISTPACKS_2,
    RDB_TYPE_STRING,
    RDB_TYPE_ZSET,
    RDB_TYPE_ZSET_2,
    RDB_TYPE_ZSET_LISTPACK,
    RDB_TYPE_ZSET_ZIPLIST,
    RDB_VERSION,
)
from miniredis.keyspace.set_object import SetObject
from miniredis.keyspace.value import ValueServer
from miniredis.keyspace.zset_object import Zset, ZsetListpack, ZsetSkiplist, skiplist_of
from miniredis.structs.crc64 import crc64
from miniredis.structs.double import strtod
from miniredis.structs.intset import Intset
from miniredis.structs.listpack import listpack_decode
from miniredis.structs.ranked_list import Pair
from miniredis.structs.ziplist import ziplist_decode, zipmap_decode


class LoadServer(ValueServer, ListServer, Protocol):
    """What values need of the server that they are loaded into."""


def verify_dump_payload(payload: bytes) -> bool:
    """Whether version and checksum are right. O(bytes). cluster.c: verifyDumpPayload()"""
    if len(payload) < DUMP_FOOTER_SIZE:
        return False
    body, crc = payload[:-DUMP_CRC_SIZE], payload[-DUMP_CRC_SIZE:]
    if int.from_bytes(body[-DUMP_VERSION_SIZE:], "little") > RDB_VERSION:
        return False
    return crc64(0, body) == int.from_bytes(crc, "little")


def load_dump_payload(payload: bytes, server: LoadServer) -> RedisObject:
    """The value in a payload whose checksum was verified; RdbError if it is damaged.

    Bytes behind the value are not looked at. O(N), for sorted sets O(N log N).
    """
    return rdb_load_object(payload[0], RdbReader(payload, 1), server)


def rdb_load_object(type: int, rdb: RdbReader, server: LoadServer) -> RedisObject:
    """The value of the given RDB type that comes next; RdbError if there is none.

    An empty value is an error too. rdb.c: rdbLoadObject()
    """
    loader = _LOADERS.get(type)
    if loader is None:
        raise RdbError(f"type {type} is unknown")
    try:
        return loader(rdb, server)
    except RdbError:
        raise
    except ValueError as error:  # a listpack, an intset, a duplicate
        raise RdbError(str(error)) from error


def _load_string(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return RedisObject(OBJ_STRING, rdb.string(), server.new_object_lru)


# -- lists --------------------------------------------------------------------------------


def _load_list(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _list_of((rdb.string() for _ in range(rdb.len())), server)


def _load_list_ziplist(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _list_of(ziplist_decode(rdb.string()), server)


def _list_of(elements: Iterable[bytes], server: LoadServer) -> RedisObject:
    """A list that is pushed together anew."""
    o = create_list_object(server)
    for element in elements:
        o.ptr.push_tail(element)
    return _not_empty(o)


def _load_quicklist(rdb: RdbReader, server: LoadServer) -> RedisObject:
    """Before Redis 7: all nodes are ziplists."""
    o = create_list_object(server)
    for _ in range(rdb.len()):
        _append_node(o.ptr, ziplist_decode(rdb.string()))
    return _not_empty(o)


def _load_quicklist_2(rdb: RdbReader, server: LoadServer) -> RedisObject:
    """Nodes stay as they are, whatever today's limits."""
    o = create_list_object(server)
    for _ in range(rdb.len()):
        container = rdb.number()
        data = rdb.string()
        if container == QUICKLIST_NODE_CONTAINER_PACKED:
            _append_node(o.ptr, listpack_decode(data))
        elif container == QUICKLIST_NODE_CONTAINER_PLAIN and data:
            value: ListObject = o.ptr
            value.link(value.tail, QuickListNode((data,), len(data), plain=True), after=True)
            value.count += 1
        else:
            raise RdbError("a node of a list is neither plain nor packed, or empty")
    return _not_empty(o)


def _append_node(value: ListObject, elements: list[bytes]) -> None:
    """quicklist.c: quicklistAppendListpack()"""
    if elements:
        value.link(value.tail, QuickListNode(elements, listpack_bytes(elements)), after=True)
        value.count += len(elements)


def _not_empty(o: RedisObject) -> RedisObject:
    if not len(o.ptr):
        raise RdbEmptyKeyError("the value is empty")
    return o


# -- sets and hashes ------------------------------------------------------------------------


def _load_set(rdb: RdbReader, server: LoadServer) -> RedisObject:
    size = rdb.len()
    value = SetObject.of_members((rdb.string() for _ in range(size)), size, server)
    return _not_empty(RedisObject(OBJ_SET, value, server.new_object_lru))


def _load_intset(rdb: RdbReader, server: LoadServer) -> RedisObject:
    value = SetObject.of_intset(Intset.of_blob(rdb.string()), server)
    return RedisObject(OBJ_SET, value, server.new_object_lru)


def _load_hash(rdb: RdbReader, server: LoadServer) -> RedisObject:
    size = rdb.len(least_size=2)
    pairs = ((rdb.string(), rdb.string()) for _ in range(size))
    value = HashObject.of_pairs(pairs, size, server)
    return _not_empty(RedisObject(OBJ_HASH, value, server.new_object_lru))


def _load_hash_listpack(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _packed_hash(_pairs(listpack_decode(rdb.string())), server)


def _load_hash_ziplist(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _packed_hash(_pairs(ziplist_decode(rdb.string())), server)


def _load_hash_zipmap(rdb: RdbReader, server: LoadServer) -> RedisObject:
    """The only packed hash whose longest element is looked at too."""
    pairs = zipmap_decode(rdb.string())
    o = _packed_hash(pairs, server)
    longest = max(len(part) for pair in pairs for part in pair)
    if o.ptr.listpack is not None and longest > server.config.hash_max_listpack_value:
        o.ptr.convert(server)
    return o


def _packed_hash(pairs: list[tuple[bytes, bytes]], server: LoadServer) -> RedisObject:
    value = HashObject.of_listpack(_distinct(pairs), server)
    return _not_empty(RedisObject(OBJ_HASH, value, server.new_object_lru))


def _pairs(elements: list[bytes]) -> list[tuple[bytes, bytes]]:
    return list(zip(elements[::2], elements[1::2], strict=True))  # ValueError if odd


def _distinct(pairs: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    distinct = dict(pairs)
    if len(distinct) != len(pairs):
        raise RdbError("a field or member comes twice")
    return distinct


# -- sorted sets ----------------------------------------------------------------------------


def _load_zset(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _load_zset_pairs(rdb, server, rdb.text_double)


def _load_zset_2(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _load_zset_pairs(rdb, server, rdb.double)


def _load_zset_pairs(rdb: RdbReader, server: LoadServer, score: Callable[[], float]) -> RedisObject:
    size = rdb.len(least_size=2)

    def pairs() -> Iterator[Pair]:
        for _ in range(size):
            member = rdb.string()
            yield _number(score()), member

    value = ZsetSkiplist.of_saved(pairs(), size, server)
    return _not_empty(RedisObject(OBJ_ZSET, value, server.new_object_lru))


def _number(score: float) -> float:
    if score != score:
        raise RdbError("a score is NaN")
    return score


def _load_zset_listpack(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _packed_zset(listpack_decode(rdb.string()), server)


def _load_zset_ziplist(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return _packed_zset(ziplist_decode(rdb.string()), server)


def _packed_zset(elements: list[bytes], server: LoadServer) -> RedisObject:
    """Members and the texts of their scores."""
    texts = _distinct(_pairs(elements))
    pairs = sorted((_number(strtod(text)[0]), member) for member, text in texts.items())
    value: Zset = ZsetListpack(pairs)
    if len(value) > server.config.zset_max_listpack_entries:
        value = skiplist_of(value, server)
    return _not_empty(RedisObject(OBJ_ZSET, value, server.new_object_lru))


# -- streams ----------------------------------------------------------------------------------


def _load_stream(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return RedisObject(OBJ_STREAM, load_stream(rdb, old=True), server.new_object_lru)


def _load_stream_2(rdb: RdbReader, server: LoadServer) -> RedisObject:
    return RedisObject(OBJ_STREAM, load_stream(rdb), server.new_object_lru)


_LOADERS: dict[int, Callable[[RdbReader, LoadServer], RedisObject]] = {
    RDB_TYPE_STRING: _load_string,
    RDB_TYPE_LIST: _load_list,
    RDB_TYPE_SET: _load_set,
    RDB_TYPE_ZSET: _load_zset,
    RDB_TYPE_HASH: _load_hash,
    RDB_TYPE_ZSET_2: _load_zset_2,
    RDB_TYPE_HASH_ZIPMAP: _load_hash_zipmap,
    RDB_TYPE_LIST_ZIPLIST: _load_list_ziplist,
    RDB_TYPE_SET_INTSET: _load_intset,
    RDB_TYPE_ZSET_ZIPLIST: _load_zset_ziplist,
    RDB_TYPE_HASH_ZIPLIST: _load_hash_ziplist,
    RDB_TYPE_LIST_QUICKLIST: _load_quicklist,
    RDB_TYPE_STREAM_LISTPACKS: _load_stream,
    RDB_TYPE_HASH_LISTPACK: _load_hash_listpack,
    RDB_TYPE_ZSET_LISTPACK: _load_zset_listpack,
    RDB_TYPE_LIST_QUICKLIST_2: _load_quicklist_2,
    RDB_TYPE_STREAM_LISTPACKS_2: _load_stream_2,
}
