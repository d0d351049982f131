"""The data set as commands that make it: a rewritten append-only file without RDB preamble.

Each key becomes one or more commands of up to 64 elements, and PEXPIREAT if it has a time
to live. A list of 100 elements is two RPUSH.

Redis: ``rewriteAppendOnlyFileRio()`` and ``rewrite*Object()`` in aof.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from miniredis.keyspace.object import (
    OBJ_HASH,
    OBJ_LIST,
    OBJ_SET,
    OBJ_STREAM,
    OBJ_STRING,
    OBJ_ZSET,
    RedisObject,
)
from miniredis.keyspace.stream_group import StreamCG
from miniredis.keyspace.stream_id import format_id
from miniredis.keyspace.stream_object import Stream
from miniredis.server.command_stream import select_command

if TYPE_CHECKING:
    from miniredis.server.server import Server

AOF_REWRITE_ITEMS_PER_CMD = 64
Commands = Iterator[list[bytes]]


def rewrite_append_only_file(server: Server) -> Commands:
    """Commands that make all of *server*'s data in an empty one. O(elements)."""
    for library in server.scripting.functions.libraries.values():
        yield [b"FUNCTION", b"LOAD", library.code]
    for db in server.databases:
        if not len(db.dict):
            continue
        yield select_command(db.id)
        expires = db.expires.index
        for entry in db.entries():
            yield from rewrite_object(entry.key, entry.val)
            when = expires.get(entry.key)
            if when is not None:
                yield [b"PEXPIREAT", entry.key, b"%d" % when.val]


def rewrite_object(key: bytes, o: RedisObject) -> Commands:
    """Commands that make one value."""
    return _REWRITERS[o.type](key, o.ptr)


def _in_parts(name: bytes, key: bytes, items: Iterable[tuple[bytes, ...]]) -> Commands:
    """*name* with all items, as many in each command as Redis puts there."""
    left = iter(items)
    while part := list(islice(left, AOF_REWRITE_ITEMS_PER_CMD)):
        yield [name, key, *chain.from_iterable(part)]


def _rewrite_string(key: bytes, value: Any) -> Commands:
    yield [b"SET", key, bytes(value)]


def _rewrite_list(key: bytes, value: Any) -> Commands:
    return _in_parts(b"RPUSH", key, ((element,) for element in value))


def _rewrite_set(key: bytes, value: Any) -> Commands:
    return _in_parts(b"SADD", key, ((member,) for member in value))


def _rewrite_hash(key: bytes, value: Any) -> Commands:
    return _in_parts(b"HMSET", key, value.items())


def _rewrite_zset(key: bytes, value: Any) -> Commands:
    """One that has a table in the order of its buckets, others by score."""
    table = value.scan_table()
    pairs = value if table is None else ((e.val, e.key) for e in table.entries())
    return _in_parts(b"ZADD", key, ((b"%.17g" % score, member) for score, member in pairs))


def _rewrite_stream(key: bytes, value: Stream) -> Commands:
    """aof.c: rewriteStreamObject()"""
    for id, fields in value:
        yield [b"XADD", key, format_id(id), *fields]
    if not value.length:
        yield [b"XADD", key, b"MAXLEN", b"0", b"0-1", b"x", b"y"]  # trimmed at once
    yield [
        b"XSETID",
        key,
        format_id(value.last_id),
        b"ENTRIESADDED",
        b"%d" % value.entries_added,
        b"MAXDELETEDID",
        format_id(value.max_deleted_entry_id),
    ]
    for name in sorted(value.cgroups):
        yield from _rewrite_group(key, name, value.cgroups[name])


def _rewrite_group(key: bytes, name: bytes, group: StreamCG) -> Commands:
    read = -1 if group.entries_read is None else group.entries_read
    yield [
        b"XGROUP",
        b"CREATE",
        key,
        name,
        format_id(group.last_id),
        b"ENTRIESREAD",
        b"%d" % read,
    ]
    for consumer in group.sorted_consumers():
        if not consumer.pel:
            yield [b"XGROUP", b"CREATECONSUMER", key, name, consumer.name]
        for id, nack in consumer.pel.items():
            yield [
                b"XCLAIM",
                key,
                name,
                consumer.name,
                b"0",
                format_id(id),
                b"TIME",
                b"%d" % nack.delivery_time,
                b"RETRYCOUNT",
                b"%d" % nack.delivery_count,
                b"JUSTID",
                b"FORCE",
            ]


_REWRITERS: dict[int, Callable[[bytes, Any], Commands]] = {
    OBJ_STRING: _rewrite_string,
    OBJ_LIST: _rewrite_list,
    OBJ_SET: _rewrite_set,
    OBJ_HASH: _rewrite_hash,
    OBJ_ZSET: _rewrite_zset,
    OBJ_STREAM: _rewrite_stream,
}
