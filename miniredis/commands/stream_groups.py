"""Consumer groups: XGROUP, XACK, XPENDING.

Redis: t_stream.c.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.stream_args import (
    error_format,
    get_stream,
    lookup_group,
    parse_end,
    parse_id,
    parse_start,
    parse_strict_id,
)
from miniredis.commands.stream_read import lookup_or_create_consumer
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.t_stream import create_stream
from miniredis.commands.table import command, container
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_STREAM
from miniredis.keyspace.object import OBJ_STREAM
from miniredis.keyspace.stream_group import StreamCG
from miniredis.keyspace.stream_id import format_id
from miniredis.keyspace.stream_object import Stream
from miniredis.reply import NULL_ARRAY, OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

ENTRIES_READ_UNKNOWN = -1  # stream.h: SCG_INVALID_ENTRIES_READ

container("xgroup", group="stream", since="5.0.0", summary="Manages consumer groups of streams.")


def _parse_options(
    c: Client, options: tuple[bytes, ...], mkstream_allowed: bool
) -> tuple[bool, int | None]:
    """MKSTREAM, and ENTRIESREAD (None if it is not known) of CREATE and SETID."""
    mkstream, entries_read = False, ENTRIES_READ_UNKNOWN
    i = 0
    while i < len(options):
        option = word(options[i])
        if mkstream_allowed and option == b"mkstream":
            mkstream = True
            i += 1
        elif option == b"entriesread" and i + 1 < len(options):
            entries_read = get_long_long(options[i + 1])
            if entries_read < ENTRIES_READ_UNKNOWN:
                raise CommandError("ERR value for ENTRIESREAD must be positive or -1")
            i += 2
        else:
            raise subcommand_syntax_error(c.argv)
    return mkstream, None if entries_read == ENTRIES_READ_UNKNOWN else entries_read


def _lookup_stream(c: Client, key: bytes) -> Stream:
    """The stream of *key*, which must exist."""
    s = get_stream(c.db.lookup_key_write(key))
    if s is None:
        raise CommandError(
            "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may "
            "want to use the MKSTREAM option to create an empty stream automatically."
        )
    return s


def _group_of(s: Stream, key: bytes, groupname: bytes) -> StreamCG:
    group = s.cgroups.get(groupname)
    if group is None:
        raise error_format(b"NOGROUP No such consumer group '%s' for key name '%s'", groupname, key)
    return group


@command(
    "xgroup|create",
    arity=-5,
    flags="write denyoom",
    keys=(2, 2, 1),
    access="RW insert",
    group="stream",
    since="5.0.0",
)
def xgroup_create(
    c: Client, _: bytes, key: bytes, groupname: bytes, last_id: bytes, *options: bytes
) -> Reply:
    """XGROUP CREATE key groupname id | $ [MKSTREAM] [ENTRIESREAD entries_read]

    Creates a consumer group that reads after an ID; ``$`` is the last one that there is.

    t_stream.c: xgroupCommand()
    """
    mkstream, entries_read = _parse_options(c, options, mkstream_allowed=True)
    s = get_stream(c.db.lookup_key_write(key)) if mkstream else _lookup_stream(c, key)
    if len(c.argv) > 8:
        raise subcommand_syntax_error(c.argv)
    newest = 0 if s is None else s.last_id
    id = newest if c_string(last_id) == b"$" else parse_strict_id(last_id)
    if s is None:
        s = create_stream(c, key)
        c.server.signal_modified_key(c.db, key)
    if groupname in s.cgroups:
        raise CommandError("BUSYGROUP Consumer Group name already exists")
    s.cgroups[groupname] = StreamCG(id, entries_read)
    c.server.dirty += 1
    c.db.notify(NOTIFY_STREAM, b"xgroup-create", key)
    return OK


@command(
    "xgroup|setid",
    arity=-5,
    flags="write",
    keys=(2, 2, 1),
    access="RW update",
    group="stream",
    since="5.0.0",
)
def xgroup_setid(
    c: Client, _: bytes, key: bytes, groupname: bytes, last_id: bytes, *options: bytes
) -> Reply:
    """XGROUP SETID key groupname id | $ [ENTRIESREAD entries_read]

    Lets a consumer group go on after another ID.

    t_stream.c: xgroupCommand()
    """
    entries_read = _parse_options(c, options, mkstream_allowed=False)[1]
    s = _lookup_stream(c, key)
    group = _group_of(s, key, groupname)
    if len(c.argv) not in (5, 7):
        raise subcommand_syntax_error(c.argv)
    group.last_id = s.last_id if c_string(last_id) == b"$" else parse_id(last_id)
    group.entries_read = entries_read
    c.server.dirty += 1
    c.db.notify(NOTIFY_STREAM, b"xgroup-setid", key)
    return OK


@command(
    "xgroup|destroy",
    arity=4,
    flags="write",
    keys=(2, 2, 1),
    access="RW delete",
    group="stream",
    since="5.0.0",
    complexity="O(N) in the number of pending entries of the group",
)
def xgroup_destroy(c: Client, _: bytes, key: bytes, groupname: bytes) -> Reply:
    """XGROUP DESTROY key groupname

    Removes a consumer group, with all that is pending.

    t_stream.c: xgroupCommand()
    """
    s = _lookup_stream(c, key)
    if s.cgroups.pop(groupname, None) is None:
        return 0
    c.server.dirty += 1
    c.db.notify(NOTIFY_STREAM, b"xgroup-destroy", key)
    # Whoever waits for entries of the group is to be told.
    c.server.signal_key_as_ready(c.db, key, OBJ_STREAM)
    return 1


@command(
    "xgroup|createconsumer",
    arity=5,
    flags="write denyoom",
    keys=(2, 2, 1),
    access="RW insert",
    group="stream",
    since="6.2.0",
)
def xgroup_createconsumer(
    c: Client, _: bytes, key: bytes, groupname: bytes, consumername: bytes
) -> Reply:
    """XGROUP CREATECONSUMER key groupname consumername

    Creates a consumer of a group; 0 if there is one of that name.

    t_stream.c: xgroupCommand()
    """
    group = _group_of(_lookup_stream(c, key), key, groupname)
    if consumername in group.consumers:
        return 0
    lookup_or_create_consumer(c, group, consumername, key)
    return 1


@command(
    "xgroup|delconsumer",
    arity=5,
    flags="write",
    keys=(2, 2, 1),
    access="RW delete",
    group="stream",
    since="5.0.0",
)
def xgroup_delconsumer(
    c: Client, _: bytes, key: bytes, groupname: bytes, consumername: bytes
) -> Reply:
    """XGROUP DELCONSUMER key groupname consumername

    Removes a consumer and forgets what it has not acknowledged; how many entries these were.

    t_stream.c: xgroupCommand()
    """
    group = _group_of(_lookup_stream(c, key), key, groupname)
    consumer = group.lookup_consumer(consumername)
    if consumer is None:
        return 0
    pending = len(consumer.pel)
    group.delete_consumer(consumer)
    c.server.dirty += 1
    c.db.notify(NOTIFY_STREAM, b"xgroup-delconsumer", key)
    return pending


@command("xgroup|help", arity=2, flags="loading stale", group="stream", since="5.0.0")
def xgroup_help(c: Client, _: bytes) -> Reply:
    """XGROUP HELP

    What XGROUP can do.

    t_stream.c: xgroupCommand()
    """
    return c.help(
        (
            "CREATE <key> <groupname> <id|$> [option]",
            "Create a consumer group. Options:",
            "* MKSTREAM",
            "  Create an empty stream if there is none.",
            "* ENTRIESREAD entries_read",
            "  Set how many entries were read, for replication.",
        ),
        ("CREATECONSUMER <key> <groupname> <consumer>", "Create a consumer."),
        ("DELCONSUMER <key> <groupname> <consumer>", "Remove a consumer."),
        ("DESTROY <key> <groupname>", "Remove a group."),
        (
            "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
            "Let a group go on after another ID.",
        ),
    )


@command(
    "xack",
    arity=-4,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    group="stream",
    since="5.0.0",
    complexity="O(1) for each message ID processed, O(log P) here",
)
def xack(c: Client, key: bytes, groupname: bytes, *ids: bytes) -> Reply:
    """XACK key group id [id ...]

    Acknowledges entries, which are pending no more; how many were.

    t_stream.c: xackCommand()
    """
    s = get_stream(c.db.lookup_key_read(key))
    group = None if s is None else s.cgroups.get(groupname)
    if group is None:
        return 0
    parsed = [parse_strict_id(id) for id in ids]
    acknowledged = sum(map(group.acknowledge, parsed))
    c.server.dirty += acknowledged
    return acknowledged


def _pending_summary(group: StreamCG) -> Reply:
    """How many, from where to where, and how many each consumer has. O(consumers)."""
    pel = group.pel
    if not pel:
        return [0, None, None, NULL_ARRAY]
    owners = [
        [consumer.name, b"%d" % len(consumer.pel)]
        for consumer in group.sorted_consumers()
        if consumer.pel
    ]
    first, last = pel.peekitem(0)[0], pel.peekitem(-1)[0]
    return [len(pel), format_id(first), format_id(last), owners]


@command(
    "xpending",
    arity=-3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="stream",
    since="5.0.0",
    complexity="O(N) with N being the number of elements returned or skipped by IDLE",
)
def xpending(c: Client, key: bytes, groupname: bytes, *args: bytes) -> Reply:
    """XPENDING key group [[IDLE min-idle-time] start end count [consumer]]

    What was delivered to a group and not acknowledged: a summary or, for a range, each
    entry with its consumer, the ms since it was delivered and how often it was.

    t_stream.c: xpendingCommand()
    """
    if args and not 3 <= len(args) <= 6:
        raise syntax_error()
    minidle = start = end = count = 0
    consumername: bytes | None = None
    if args:
        if word(args[0]) == b"idle":
            minidle = get_long_long(args[1])
            if len(args) < 5:
                raise syntax_error()
            args = args[2:]
        count = max(get_long_long(args[2]), 0)
        start, end = parse_start(args[0]), parse_end(args[1])
        if len(args) > 3:
            consumername = args[3]
    s = get_stream(c.db.lookup_key_read(key))
    group = lookup_group(s, key, groupname)
    if len(c.argv) == 3:
        return _pending_summary(group)
    pel = group.pel
    if consumername is not None:
        consumer = group.lookup_consumer(consumername)
        if consumer is None:
            return []
        pel = consumer.pel
    now = c.server.now_ms()
    found = (
        [
            format_id(id),
            pel[id].consumer.name,
            max(now - pel[id].delivery_time, 0),
            pel[id].delivery_count,
        ]
        for id in (pel.irange(start, end) if start <= end else ())
        if not minidle or now - pel[id].delivery_time >= minidle
    )
    return list(islice(found, count))
