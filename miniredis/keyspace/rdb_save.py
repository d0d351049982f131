"""Values as bytes, in the format of RDB files and of DUMP.

Every small value is one string, in the form in which Redis has it in memory; a large one
is a count and its elements. Strings are packed where possible: integers into 1, 2 or 4 bytes,
and what is longer than 20 bytes with LZF. So ``SET k 1000`` is dumped as

    00        type: string
    c1 e803   an integer of 16 bits
    0a00      version of the format
    ........  checksum, 8 bytes

Redis: ``rdbSave*()`` in rdb.c, ``createDumpPayload()`` in cluster.c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from miniredis.keyspace.hash_object import HashObject
from miniredis.keyspace.list_object import ListObject
from miniredis.keyspace.object import OBJ_STRING, RedisObject, string2ll
from miniredis.keyspace.rdb import (
    RDB_6BITLEN_LIMIT,
    RDB_14BITLEN_LIMIT,
    RDB_32BITLEN_LIMIT,
)
from miniredis.keyspace.rdb_types import (
    DOUBLE_FORMAT,
    DUMP_CRC_SIZE,
    DUMP_VERSION_SIZE,
    MS_SIZE,
    QUICKLIST_NODE_CONTAINER_PACKED,
    QUICKLIST_NODE_CONTAINER_PLAIN,
    RDB_14BITLEN,
    RDB_32BITLEN,
    RDB_64BITLEN,
    RDB_ENC_BYTES,
    RDB_ENC_LZF,
    RDB_ENCVAL,
    RDB_LENERR,
    RDB_TYPE_HASH,
    RDB_TYPE_HASH_LISTPACK,
    RDB_TYPE_LIST_QUICKLIST_2,
    RDB_TYPE_SET,
    RDB_TYPE_SET_INTSET,
    RDB_TYPE_STREAM_LISTPACKS_2,
    RDB_TYPE_STRING,
    RDB_TYPE_ZSET_2,
    RDB_TYPE_ZSET_LISTPACK,
    RDB_VERSION,
    STREAM_ID_SIZE,
    STREAM_ITEM_FLAG_DELETED,
    STREAM_ITEM_FLAG_SAMEFIELDS,
)
from miniredis.keyspace.set_object import SetObject
from miniredis.keyspace.stream_group import StreamCG
from miniredis.keyspace.stream_id import MAX_SEQ, SEQ_BITS
from miniredis.keyspace.stream_node import StreamNode, id_difference
from miniredis.keyspace.stream_object import Stream
from miniredis.keyspace.zset_object import ZsetListpack, ZsetSkiplist
from miniredis.structs.crc64 import crc64
from miniredis.structs.listpack import listpack_encode
from miniredis.structs.lzf import lzf_compress

INTEGER_MAX_DIGITS = 11  # bytes of the longest string that is tried as an integer
COMPRESS_MIN = 20  # bytes of the longest string that is not tried to be compressed
COMPRESS_GAIN = 4  # bytes that compression must save


class RdbWriter:
    """Bytes that grow. *compression* is the configuration's ``rdbcompression``."""

    __slots__ = ("compression", "out")

    def __init__(self, compression: bool = True) -> None:
        self.out = bytearray()
        self.compression = compression

    def len(self, length: int) -> None:
        """A length or other number of up to 64 bits, in 1, 2, 5 or 9 bytes. rdbSaveLen()"""
        if length < RDB_6BITLEN_LIMIT:
            self.out.append(length)
        elif length < RDB_14BITLEN_LIMIT:
            self.out += (RDB_14BITLEN << 14 | length).to_bytes(2, "big")
        elif length < RDB_32BITLEN_LIMIT:
            self.out.append(RDB_32BITLEN)
            self.out += length.to_bytes(4, "big")
        else:
            self.out.append(RDB_64BITLEN)
            self.out += length.to_bytes(8, "big")

    def string(self, value: bytes | bytearray) -> None:
        """A string, packed if possible. O(len). rdb.c: rdbSaveRawString()"""
        number = string2ll(bytes(value)) if len(value) <= INTEGER_MAX_DIGITS else None
        if number is not None:
            for encoding, size in RDB_ENC_BYTES.items():
                if -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1:
                    self.out.append(RDB_ENCVAL << 6 | encoding)
                    self.out += number.to_bytes(size, "little", signed=True)
                    return
        if self.compression and len(value) > COMPRESS_MIN:
            packed = lzf_compress(value, len(value) - COMPRESS_GAIN)
            if packed is not None:
                self.out.append(RDB_ENCVAL << 6 | RDB_ENC_LZF)
                self.len(len(packed))
                self.len(len(value))
                self.out += packed
                return
        self.len(len(value))
        self.out += value

    def double(self, value: float) -> None:
        """rdb.c: rdbSaveBinaryDoubleValue()"""
        self.out += struct.pack(DOUBLE_FORMAT, value)

    def ms(self, time: int) -> None:
        """A time in Unix ms. rdb.c: rdbSaveMillisecondTime()"""
        self.out += time.to_bytes(MS_SIZE, "little", signed=True)

    def raw_id(self, id: int) -> None:
        """The ID of an entry as a pending one's."""
        self.out += id.to_bytes(STREAM_ID_SIZE, "big")

    def id(self, id: int) -> None:
        """The ID of an entry as two numbers."""
        self.len(id >> SEQ_BITS)
        self.len(id & MAX_SEQ)


# -- types ------------------------------------------------------------------------------


def _save_list(rdb: RdbWriter, value: ListObject) -> None:
    rdb.len(value.len)
    for node in value.nodes():
        if node.plain:
            rdb.len(QUICKLIST_NODE_CONTAINER_PLAIN)
            rdb.string(node.entries[0])
        else:
            rdb.len(QUICKLIST_NODE_CONTAINER_PACKED)
            rdb.string(listpack_encode(node.entries))


def _save_set(rdb: RdbWriter, value: SetObject) -> None:
    if value.intset is not None:
        rdb.string(value.intset.blob())
        return
    rdb.len(len(value))
    for member in value:
        rdb.string(member)


def _save_hash(rdb: RdbWriter, value: HashObject) -> None:
    parts = chain.from_iterable(value.items())
    if value.listpack is not None:
        rdb.string(listpack_encode(parts))
        return
    rdb.len(len(value))
    for part in parts:
        rdb.string(part)


def _save_zset_listpack(rdb: RdbWriter, value: ZsetListpack) -> None:
    rdb.string(listpack_encode(chain.from_iterable(value.scan_items(None))))


def _save_zset_skiplist(rdb: RdbWriter, value: ZsetSkiplist) -> None:
    """From the highest score to the lowest, so that each is the first when it is loaded."""
    rdb.len(len(value))
    for score, member in reversed(value):
        rdb.string(member)
        rdb.double(score)


def _save_stream(rdb: RdbWriter, value: Stream) -> None:
    rdb.len(len(value.nodes))
    for node in value.nodes:
        rdb.string(node.ids[0].to_bytes(STREAM_ID_SIZE, "big"))
        rdb.string(listpack_encode(stream_node_elements(node)))
    rdb.len(value.length)
    for id in (value.last_id, value.first_id, value.max_deleted_entry_id):
        rdb.id(id)
    rdb.len(value.entries_added)
    rdb.len(len(value.cgroups))
    for name in sorted(value.cgroups):
        rdb.string(name)
        _save_group(rdb, value.cgroups[name])


def stream_node_elements(node: StreamNode) -> Iterator[bytes | int]:
    """The elements of a node's listpack; see ``stream_node.py`` for what they mean.

    t_stream.c: streamAppendItem()
    """
    yield node.live
    yield node.tombstones
    yield len(node.master_fields)
    yield from node.master_fields
    yield 0
    master = node.ids[0]
    for id, fields, dead in zip(node.ids, node.entries, node.dead, strict=True):
        same = fields[::2] == node.master_fields
        flags = STREAM_ITEM_FLAG_SAMEFIELDS if same else 0
        yield flags | STREAM_ITEM_FLAG_DELETED if dead else flags
        yield id_difference(id >> SEQ_BITS, master >> SEQ_BITS)
        yield id_difference(id & MAX_SEQ, master & MAX_SEQ)
        values = fields[1::2]
        elements = 3 + len(values)
        if same:
            yield from values
        else:
            yield len(values)
            yield from fields
            elements += len(values) + 1
        yield elements


def _save_group(rdb: RdbWriter, group: StreamCG) -> None:
    """A consumer group without its name. rdb.c: rdbSaveStreamPEL(), rdbSaveStreamConsumers()"""
    rdb.id(group.last_id)
    rdb.len(RDB_LENERR if group.entries_read is None else group.entries_read)
    rdb.len(len(group.pel))
    for id, nack in group.pel.items():
        rdb.raw_id(id)
        rdb.ms(nack.delivery_time)
        rdb.len(nack.delivery_count)
    rdb.len(len(group.consumers))
    for consumer in group.sorted_consumers():
        rdb.string(consumer.name)
        rdb.ms(consumer.seen_time)
        rdb.len(len(consumer.pel))
        for id in consumer.pel:
            rdb.raw_id(id)


_SAVERS: dict[type, Callable[[RdbWriter, Any], None]] = {
    ListObject: _save_list,
    SetObject: _save_set,
    HashObject: _save_hash,
    ZsetListpack: _save_zset_listpack,
    ZsetSkiplist: _save_zset_skiplist,
    Stream: _save_stream,
}

_TYPES: dict[tuple[type, str], int] = {
    (ListObject, "quicklist"): RDB_TYPE_LIST_QUICKLIST_2,
    (SetObject, "intset"): RDB_TYPE_SET_INTSET,
    (SetObject, "hashtable"): RDB_TYPE_SET,
    (HashObject, "listpack"): RDB_TYPE_HASH_LISTPACK,
    (HashObject, "hashtable"): RDB_TYPE_HASH,
    (ZsetListpack, "listpack"): RDB_TYPE_ZSET_LISTPACK,
    (ZsetSkiplist, "skiplist"): RDB_TYPE_ZSET_2,
    (Stream, "stream"): RDB_TYPE_STREAM_LISTPACKS_2,
}


def rdb_object_type(o: RedisObject) -> int:
    """The byte before the value. O(1). rdb.c: rdbSaveObjectType()"""
    if o.type == OBJ_STRING:
        return RDB_TYPE_STRING
    return _TYPES[o.ptr.__class__, o.ptr.encoding]


def rdb_save_object(o: RedisObject, compression: bool = True) -> bytes:
    """The value without its type. O(bytes). rdb.c: rdbSaveObject()"""
    rdb = RdbWriter(compression)
    rdb_save_value(rdb, o)
    return bytes(rdb.out)


def rdb_save_value(rdb: RdbWriter, o: RedisObject) -> None:
    """Write the value without its type. O(bytes)."""
    if o.type == OBJ_STRING:
        rdb.string(o.ptr)
    else:
        _SAVERS[o.ptr.__class__](rdb, o.ptr)


def create_dump_payload(o: RedisObject, compression: bool = True) -> bytes:
    """What DUMP replies: type, value, version, checksum. O(bytes).

    cluster.c: createDumpPayload()
    """
    payload = bytes((rdb_object_type(o),)) + rdb_save_object(o, compression)
    payload += RDB_VERSION.to_bytes(DUMP_VERSION_SIZE, "little")
    return payload + crc64(0, payload).to_bytes(DUMP_CRC_SIZE, "little")
