"""XINFO: the inside of streams, groups and consumers.

Redis: xinfoCommand() in t_stream.c.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.stream_args import error_format, get_stream
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.t_stream import reply_with_range
from miniredis.commands.table import command, container
from miniredis.errors import no_such_key
from miniredis.keyspace.stream_group import StreamCG, StreamConsumer
from miniredis.keyspace.stream_id import format_id
from miniredis.keyspace.stream_object import Stream
from miniredis.reply import Reply
from miniredis.structs.rax_nodes import rax_num_nodes

if TYPE_CHECKING:
    from miniredis.server.client import Client

FULL_COUNT = 10  # entries shown of each list, if not told otherwise

container("xinfo", group="stream", since="5.0.0", summary="Tells about the inside of streams.")


def _lookup_stream(c: Client, key: bytes) -> Stream:
    s = get_stream(c.db.lookup_key_read(key))
    if s is None:
        raise no_such_key()
    return s


def _groups(s: Stream) -> Iterable[tuple[bytes, StreamCG]]:
    """All groups by name."""
    return sorted(s.cgroups.items())


@command(
    "xinfo|consumers",
    arity=4,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="stream",
    since="5.0.0",
)
def xinfo_consumers(c: Client, _: bytes, key: bytes, groupname: bytes) -> Reply:
    """XINFO CONSUMERS key groupname

    The consumers of a group: how many entries each has, and the ms since it was seen.

    t_stream.c: xinfoCommand()
    """
    group = _lookup_stream(c, key).cgroups.get(groupname)
    if group is None:
        raise error_format(b"NOGROUP No such consumer group '%s' for key name '%s'", groupname, key)
    now = c.server.now_ms()
    return [
        {
            b"name": consumer.name,
            b"pending": len(consumer.pel),
            b"idle": max(now - consumer.seen_time, 0),
        }
        for consumer in group.sorted_consumers()
    ]


@command(
    "xinfo|groups",
    arity=3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO access",
    group="stream",
    since="5.0.0",
)
def xinfo_groups(c: Client, _: bytes, key: bytes) -> Reply:
    """XINFO GROUPS key

    The groups of a stream, and how far each has read.

    t_stream.c: xinfoCommand()
    """
    s = _lookup_stream(c, key)
    return [
        {
            b"name": name,
            b"consumers": len(group.consumers),
            b"pending": len(group.pel),
            b"last-delivered-id": format_id(group.last_id),
            b"entries-read": group.entries_read,
            b"lag": s.lag(group),
        }
        for name, group in _groups(s)
    ]


@command(
    "xinfo|stream",
    arity=-3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO access",
    group="stream",
    since="5.0.0",
    complexity="O(1), here O(N) in the nodes of the stream",
)
def xinfo_stream(c: Client, _: bytes, key: bytes, *options: bytes) -> Reply:
    """XINFO STREAM key [FULL [COUNT count]]

    Sizes and IDs of a stream; with FULL also entries, groups, consumers and what is
    pending, COUNT of each, all if it is 0.

    t_stream.c: xinfoReplyWithStreamInfo()
    """
    s = _lookup_stream(c, key)
    count = FULL_COUNT
    if options:
        words = [word(option) for option in options[:2]]
        if words not in ([b"full"], [b"full", b"count"]) or len(options) not in (1, 3):
            raise subcommand_syntax_error(c.argv)
        if len(options) == 3:
            count = get_long_long(options[2])
            count = FULL_COUNT if count < 0 else count
    info: dict[Reply, Reply] = {
        b"length": s.length,
        b"radix-tree-keys": len(s.nodes),
        b"radix-tree-nodes": rax_num_nodes(s.keys),
        b"last-generated-id": format_id(s.last_id),
        b"max-deleted-entry-id": format_id(s.max_deleted_entry_id),
        b"entries-added": s.entries_added,
        b"recorded-first-entry-id": format_id(s.first_id),
    }
    if options:
        info[b"entries"] = reply_with_range(s, 0, count=count)
        info[b"groups"] = [_full_group(s, name, group, count) for name, group in _groups(s)]
        return info
    info[b"groups"] = len(s.cgroups)
    for name, rev in ((b"first-entry", False), (b"last-entry", True)):
        found = reply_with_range(s, 0, count=1, rev=rev)
        info[name] = found[0] if found else None
    return info


def _full_group(s: Stream, name: bytes, group: StreamCG, count: int) -> Reply:
    most = count or None
    return {
        b"name": name,
        b"last-delivered-id": format_id(group.last_id),
        b"entries-read": group.entries_read,
        b"lag": s.lag(group),
        b"pel-count": len(group.pel),
        b"pending": [
            [format_id(id), nack.consumer.name, nack.delivery_time, nack.delivery_count]
            for id, nack in islice(group.pel.items(), most)
        ],
        b"consumers": [_full_consumer(one, most) for one in group.sorted_consumers()],
    }


def _full_consumer(consumer: StreamConsumer, most: int | None) -> Reply:
    return {
        b"name": consumer.name,
        b"seen-time": consumer.seen_time,
        b"pel-count": len(consumer.pel),
        b"pending": [
            [format_id(id), nack.delivery_time, nack.delivery_count]
            for id, nack in islice(consumer.pel.items(), most)
        ],
    }


@command("xinfo|help", arity=2, flags="loading stale", group="stream", since="5.0.0")
def xinfo_help(c: Client, _: bytes) -> Reply:
    """XINFO HELP

    What XINFO can tell.

    t_stream.c: xinfoCommand()
    """
    return c.help(
        ("CONSUMERS <key> <groupname>", "Consumers of a group."),
        ("GROUPS <key>", "Groups of a stream."),
        ("STREAM <key> [FULL [COUNT <count>]", "Sizes and IDs, or all, of a stream."),
    )
