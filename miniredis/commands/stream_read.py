"""XREAD and XREADGROUP: entries of several streams after given IDs.

A consumer of a group asks for ``>``, what nobody of the group has been given, or for an
ID: then it gets what it was given after that ID and has not acknowledged.

XREADGROUP is not propagated itself. What it changed is: XCLAIM for each entry delivered,
and XGROUP for what XCLAIM does not say.

Who waits is served when the stream changes, see ``server/blocked.py``.

Redis: xreadCommand() and streamReplyWithRange() in t_stream.c.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.blocking import BLOCKED_STREAM
from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING, CLIENT_SCRIPT
from miniredis.commands.stream_args import error_format, get_stream, parse_strict_id
from miniredis.commands.t_stream import reply_with_range
from miniredis.commands.table import KeySpec, command
from miniredis.commands.timeout import get_timeout_in_ms
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_STREAM
from miniredis.keyspace.object import RedisObject
from miniredis.keyspace.stream_group import StreamCG, StreamConsumer, StreamNACK
from miniredis.keyspace.stream_id import MAX_ID, format_id
from miniredis.keyspace.stream_object import Stream
from miniredis.reply import BLOCKED, NULL_ARRAY, MapReply, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

NEW_ENTRIES = MAX_ID  # stands for the ID ``>``
XREAD_BLOCKED_DEFAULT_COUNT = 1000  # entries given at most to one who has waited


@dataclass(slots=True)
class ReadArgs:
    """What XREAD and XREADGROUP are told.

    ``timeout`` is when BLOCK ends in Unix ms, 0 for never and None without BLOCK; ``ids``
    are the IDs after which each of ``keys`` is read, ``groups`` the group of each.
    """

    timeout: int | None = None
    count: int = 0
    group: bytes | None = None
    consumer: bytes = b""
    noack: bool = False
    keys: list[bytes] = field(default_factory=list)
    id_args: list[bytes] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    groups: list[StreamCG] = field(default_factory=list)


# -- propagation --------------------------------------------------------------------------


def propagate_xclaim(
    c: Client, key: bytes, group: StreamCG, groupname: bytes, id: bytes, nack: StreamNACK
) -> None:
    """Tell replicas who has which entry. t_stream.c: streamPropagateXCLAIM()"""
    if not c.server.propagation.targets:
        return
    assert nack.consumer is not None
    argv = [b"XCLAIM", key, groupname, nack.consumer.name, b"0", id]
    argv += [b"TIME", b"%d" % nack.delivery_time, b"RETRYCOUNT", b"%d" % nack.delivery_count]
    argv += [b"FORCE", b"JUSTID", b"LASTID", format_id(group.last_id)]
    c.also_propagate(*argv)


def propagate_group_id(c: Client, key: bytes, group: StreamCG, groupname: bytes) -> None:
    """Tell replicas how far a group has read. t_stream.c: streamPropagateGroupID()"""
    read = -1 if group.entries_read is None else group.entries_read
    argv = [b"XGROUP", b"SETID", key, groupname, format_id(group.last_id)]
    c.also_propagate(*argv, b"ENTRIESREAD", b"%d" % read)


def lookup_or_create_consumer(
    c: Client, group: StreamCG, name: bytes, key: bytes
) -> tuple[StreamConsumer, bool]:
    """A consumer, seen now, and whether it had to be created. streamCreateConsumer()"""
    now = c.server.now_ms()
    consumer = group.lookup_consumer(name, now)
    if consumer is not None:
        return consumer, False
    consumer = group.consumers[name] = StreamConsumer(name, now)
    c.server.dirty += 1
    c.db.notify(NOTIFY_STREAM, b"xgroup-createconsumer", key)
    return consumer, True


# -- delivering ---------------------------------------------------------------------------


def deliver_new_entries(
    c: Client, key: bytes, s: Stream, group: StreamCG, consumer: StreamConsumer, args: ReadArgs
) -> list[Reply]:
    """Give a consumer what nobody of its group has been given. O(log N + entries log P).

    t_stream.c: streamReplyWithRange() with a group
    """
    assert args.group is not None
    entries: list[Reply] = []
    now = c.server.now_ms()
    moved = False
    for id, fields in s.range(group.last_id + 1):
        if group.entries_read is not None and not s.has_tombstones_after(id):
            group.entries_read += 1
        elif s.entries_added:
            group.entries_read = s.estimate_distance_from_first_ever_entry(id)
        group.last_id = id
        moved = True
        shown = format_id(id)
        entries.append([shown, list(fields)])
        if not args.noack:
            nack = group.deliver(id, consumer, now)
            propagate_xclaim(c, key, group, args.group, shown, nack)
        if len(entries) == args.count:
            break
    if args.noack and moved:
        propagate_group_id(c, key, group, args.group)
    return entries


def reply_with_history(
    c: Client, s: Stream, consumer: StreamConsumer, start: int, count: int
) -> list[Reply]:
    """What a consumer was given from the ID *start* on, and has not acknowledged.

    An entry that was deleted meanwhile has a null instead of fields. O(entries log N).
    t_stream.c: streamReplyWithRangeFromConsumerPEL()
    """
    entries: list[Reply] = []
    now = c.server.now_ms()
    for id in consumer.pel.irange(start):
        if count and len(entries) == count:
            break
        fields = s.get(id)
        if fields is None:
            entries.append([format_id(id), NULL_ARRAY])
            continue
        nack = consumer.pel[id]
        nack.delivery_time = now
        nack.delivery_count += 1
        entries.append([format_id(id), list(fields)])
    return entries


def _consumer(c: Client, key: bytes, group: StreamCG, args: ReadArgs) -> StreamConsumer:
    """Who reads. With NOACK nothing else would tell replicas of a new consumer."""
    consumer, created = lookup_or_create_consumer(c, group, args.consumer, key)
    if created and args.noack:
        assert args.group is not None
        c.also_propagate(b"XGROUP", b"CREATECONSUMER", key, args.group, consumer.name)
    return consumer


def serve_group(
    c: Client, key: bytes, s: Stream, group: StreamCG, id: int, args: ReadArgs
) -> Reply:
    """The entries of one stream for a consumer of a group, who is created if missing."""
    consumer = _consumer(c, key, group, args)
    if id == NEW_ENTRIES:
        entries = deliver_new_entries(c, key, s, group, consumer, args)
    else:
        entries = reply_with_history(c, s, consumer, id + 1, args.count)
    c.server.dirty += 1
    return entries


def reply_of_streams(c: Client, found: list[tuple[bytes, Reply]]) -> Reply:
    """Names of streams and their entries: pairs in RESP2, a map in RESP3."""
    return MapReply(found) if c.resp == 3 else [list(pair) for pair in found]


# -- arguments ----------------------------------------------------------------------------


def _only_for_groups(option: str) -> CommandError:
    return CommandError(
        f"ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
    )


def _parse(c: Client, is_group: bool) -> ReadArgs:
    """Read the options, up to keys and IDs. t_stream.c: xreadCommand()"""
    argv, args = c.argv, ReadArgs()
    i = 1
    while i < len(argv):
        option, more = word(argv[i]), len(argv) - i - 1
        if option == b"block" and more:
            if c.flags & CLIENT_SCRIPT:
                raise error_format(
                    b"ERR %s command is not allowed with BLOCK option from scripts", argv[0]
                )
            args.timeout = get_timeout_in_ms(c, argv[i + 1])
            i += 1
        elif option == b"count" and more:
            args.count = max(get_long_long(argv[i + 1]), 0)
            i += 1
        elif option == b"streams" and more:
            if more % 2:
                raise CommandError(
                    "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' "
                    "must be specified."
                )
            args.keys = argv[i + 1 : i + 1 + more // 2]
            args.id_args = argv[i + 1 + more // 2 :]
            break
        elif option == b"group" and more >= 2:
            if not is_group:
                raise _only_for_groups("GROUP")
            args.group, args.consumer = argv[i + 1], argv[i + 2]
            i += 2
        elif option == b"noack":
            if not is_group:
                raise _only_for_groups("NOACK")
            args.noack = True
        else:
            raise syntax_error()
        i += 1
    if not args.keys:
        raise syntax_error()
    if is_group and args.group is None:
        raise CommandError("ERR Missing GROUP option for XREADGROUP")
    return args


def _resolve_ids(c: Client, args: ReadArgs) -> None:
    """Find groups and read IDs: ``$`` is the last one that there is now."""
    for key, arg in zip(args.keys, args.id_args, strict=True):
        s = get_stream(c.db.lookup_key_read(key))
        if args.group is not None:
            group = None if s is None else s.cgroups.get(args.group)
            if group is None:
                raise error_format(
                    b"NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with "
                    b"GROUP option",
                    key,
                    args.group,
                )
            args.groups.append(group)
        given = c_string(arg)
        if given == b"$":
            if args.group is not None:
                raise CommandError(
                    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to "
                    "read the history of this consumer by specifying a proper ID, or use the "
                    "> ID to get new messages. The $ ID would just return an empty result set."
                )
            args.ids.append(0 if s is None else s.last_id)
        elif given == b">":
            if args.group is None:
                raise CommandError(
                    "ERR The > ID can be specified only when calling XREADGROUP using the "
                    "GROUP <group> <consumer> option."
                )
            args.ids.append(NEW_ENTRIES)
        else:
            args.ids.append(parse_strict_id(arg))


def _serve(c: Client, args: ReadArgs) -> list[tuple[bytes, Reply]]:
    """The streams that have something to deliver now, with their entries."""
    found: list[tuple[bytes, Reply]] = []
    for i, (key, id) in enumerate(zip(args.keys, args.ids, strict=True)):
        s = get_stream(c.db.lookup_key_read(key))
        if s is None:
            continue
        if args.groups:
            group = args.groups[i]
            if id == NEW_ENTRIES and not (s.length and s.last_valid_id() > group.last_id):
                continue
            found.append((key, serve_group(c, key, s, group, id, args)))
        elif s.length and s.last_valid_id() > id:
            found.append((key, reply_with_range(s, id + 1, count=args.count)))
    return found


def _serve_blocked(args: ReadArgs, c: Client, o: RedisObject, key: bytes) -> Reply:
    """The reply of a client that has waited, now that *key* has changed; or BLOCKED.

    What counts is the stream's last ID, even if its entry has been deleted since: the
    client gets no entries then. A group is looked up anew, for those who were served
    before have moved it. blocked.c: serveClientsBlockedOnStreamKey()
    """
    s: Stream = o.ptr
    group: StreamCG | None = None
    id = args.ids[args.keys.index(key)]
    if args.group is not None:
        group = s.cgroups.get(args.group)
        if group is None:
            raise CommandError(
                "NOGROUP the consumer group this client was blocked on no longer exists"
            )
        id = group.last_id
    if s.last_id <= id:
        return BLOCKED
    if group is None:
        entries = reply_with_range(s, id + 1, count=args.count)
    else:
        consumer = _consumer(c, key, group, args)
        entries = deliver_new_entries(c, key, s, group, consumer, args)
    return reply_of_streams(c, [(key, entries)])


def _stream_gone() -> CommandError:
    return CommandError("UNBLOCKED the stream key no longer exists")


def _xread(c: Client, is_group: bool) -> Reply:
    """t_stream.c: xreadCommand()"""
    args = _parse(c, is_group)
    _resolve_ids(c, args)
    found = _serve(c, args)
    c.prevent_command_propagation()
    if found:
        return reply_of_streams(c, found)
    if args.timeout is None or c.flags & CLIENT_DENY_BLOCKING:
        return NULL_ARRAY
    args.count = args.count or XREAD_BLOCKED_DEFAULT_COUNT
    return c.block_for_keys(
        BLOCKED_STREAM,
        args.keys,
        args.timeout,
        partial(_serve_blocked, args),
        gone=_stream_gone if is_group else None,
    )


@command(
    "xread",
    arity=-4,
    flags="readonly blocking movablekeys",
    specs=(KeySpec("RO access", keyword="STREAMS", startfrom=1, lastkey=-1, limit=2),),
    group="stream",
    since="5.0.0",
    complexity="For each stream: O(N) in the number of entries returned",
)
def xread(c: Client, *args: bytes) -> Reply:
    """XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]

    Entries of several streams after given IDs; ``$`` stands for the last ID that there is
    now. With BLOCK the client waits if there are none.

    t_stream.c: xreadCommand()
    """
    return _xread(c, is_group=False)


@command(
    "xreadgroup",
    arity=-7,
    flags="write blocking movablekeys",
    specs=(KeySpec("RO access", keyword="STREAMS", startfrom=4, lastkey=-1, limit=2),),
    group="stream",
    since="5.0.0",
    complexity="For each stream: O(M) in the number of entries returned",
)
def xreadgroup(c: Client, *args: bytes) -> Reply:
    """XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK]
    STREAMS key [key ...] id [id ...]

    Entries of several streams for a consumer of a group: with the ID ``>`` those that were
    given to nobody of the group yet, else those that this consumer has not acknowledged.

    t_stream.c: xreadCommand()
    """
    return _xread(c, is_group=True)
