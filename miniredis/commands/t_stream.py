"""Streams: XADD, XLEN, XRANGE, XDEL, XTRIM, XSETID.

Redis: t_stream.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.stream_args import (
    AddTrimArgs,
    get_stream,
    parse_add_or_trim_args,
    parse_end,
    parse_start,
    parse_strict_id,
)
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, no_such_key, syntax_error
from miniredis.keyspace.notify import NOTIFY_STREAM
from miniredis.keyspace.object import OBJ_STREAM, RedisObject
from miniredis.keyspace.stream_id import MAX_ID, MAX_SEQ, SEQ_BITS, format_id, next_id
from miniredis.keyspace.stream_object import STREAM_LISTPACK_MAX_SIZE, Stream
from miniredis.reply import NULL_ARRAY, OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def create_stream(c: Client, key: bytes) -> Stream:
    """Add an empty stream as the value of *key*. object.c: createStreamObject()"""
    s = Stream()
    c.db.add(key, RedisObject(OBJ_STREAM, s, c.server.new_object_lru))
    return s


def reply_with_range(
    s: Stream, start: int, end: int = MAX_ID, count: int = 0, rev: bool = False
) -> list[Reply]:
    """Entries as replies show them; all of them if *count* is 0. O(log N + entries).

    t_stream.c: streamReplyWithRange()
    """
    entries: list[Reply] = []
    for id, fields in s.range(start, end, rev):
        entries.append([format_id(id), list(fields)])
        if len(entries) == count:
            break
    return entries


def _too_small() -> CommandError:
    return CommandError(
        "ERR The ID specified in XADD is equal or smaller than the target stream top item"
    )


def _too_large() -> CommandError:
    return CommandError("ERR Elements are too large to be stored")


def _new_entry_id(c: Client, s: Stream, args: AddTrimArgs) -> int:
    """The ID of the entry to be added. t_stream.c: streamAppendItem()"""
    if args.id is None:
        id = next_id(s.last_id, c.server.now_ms())
    elif not args.seq_given and args.id >> SEQ_BITS == s.last_id >> SEQ_BITS:
        if s.last_id & MAX_SEQ == MAX_SEQ:
            raise _too_large()  # no errno is set: Redis reports what it finds there
        id = s.last_id + 1
    else:
        id = args.id
    if id is None or id <= s.last_id:
        raise _too_small()
    return id


def _rewrite(c: Client, s: Stream, args: AddTrimArgs, id: int | None) -> None:
    """Propagate what was done: the ID that was made, and the exact place of the cut.

    Approximate trimming depends on nodes, which a replica may have cut otherwise.
    t_stream.c: streamRewriteApproxSpecifier(), streamRewriteTrimArgument()
    """
    if not c.server.propagation.targets:
        return
    argv = list(c.argv)
    if args.approx:
        argv[args.strategy_arg - 1] = b"="
        if args.maxlen is not None:
            argv[args.strategy_arg] = b"%d" % s.length
        else:
            argv[args.strategy_arg] = format_id(s.edge_id(first=True, tombstones=True))
    if id is not None and not args.seq_given:
        argv[args.position] = format_id(id)
    c.rewrite(*argv)


@command(
    "xadd",
    arity=-5,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    specs=(KeySpec("RW update", index=1, notes="Deletes too when it trims"),),
    tips="nondeterministic_output",
    group="stream",
    since="5.0.0",
    complexity="O(1) when adding a new entry, O(N) when trimming N entries",
)
def xadd(c: Client, key: bytes, *args: bytes) -> Reply:
    """XADD key [NOMKSTREAM] [MAXLEN | MINID [= | ~] threshold [LIMIT count]] * | id
    field value [field value ...]

    Adds an entry to a stream, which is created if missing, and may trim it; answers with
    the entry's ID. An ID is above all earlier ones; ``ms-*`` leaves the sequence to the
    server, ``*`` both parts.

    t_stream.c: xaddCommand()
    """
    parsed = parse_add_or_trim_args(c, xadd=True)
    fields = tuple(c.argv[parsed.position + 1 :])
    if len(fields) < 2 or len(fields) % 2:
        raise c.wrong_arity()
    if parsed.id == 0 and parsed.seq_given:
        raise CommandError("ERR The ID specified in XADD must be greater than 0-0")
    db, server = c.db, c.server
    s = get_stream(db.lookup_key_write(key))
    if s is None:
        if parsed.no_mkstream:
            return None
        s = create_stream(c, key)
    if s.last_id == MAX_ID:
        raise CommandError(
            "ERR The stream has exhausted the last possible ID, unable to add more items"
        )
    id = _new_entry_id(c, s, parsed)
    if sum(map(len, fields)) > STREAM_LISTPACK_MAX_SIZE:
        raise _too_large()
    config = server.config
    s.append(id, fields, config.stream_node_max_bytes, config.stream_node_max_entries)
    server.signal_modified_key(db, key)
    db.notify(NOTIFY_STREAM, b"xadd", key)
    server.dirty += 1
    if parsed.trims and parsed.trim(s):
        db.notify(NOTIFY_STREAM, b"xtrim", key)
    _rewrite(c, s, parsed, id)
    server.signal_key_as_ready(db, key, OBJ_STREAM)
    return format_id(id)


@command(
    "xtrim",
    arity=-4,
    flags="write",
    keys=(1, 1, 1),
    access="RW delete",
    tips="nondeterministic_output",
    group="stream",
    since="5.0.0",
    complexity="O(N), with N being the number of evicted entries",
)
def xtrim(c: Client, key: bytes, *args: bytes) -> Reply:
    """XTRIM key MAXLEN | MINID [= | ~] threshold [LIMIT count]

    Deletes the oldest entries, down to a length or up to an ID. With ``~`` only whole
    nodes go, which costs less; how many went is the reply.

    t_stream.c: xtrimCommand()
    """
    parsed = parse_add_or_trim_args(c, xadd=False)
    s = get_stream(c.db.lookup_key_write(key))
    if s is None:
        return 0
    deleted = parsed.trim(s)
    if deleted:
        c.db.notify(NOTIFY_STREAM, b"xtrim", key)
        _rewrite(c, s, parsed, None)
        c.server.signal_modified_key(c.db, key)
        c.server.dirty += deleted
    return deleted


@command(
    "xlen",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="stream",
    since="5.0.0",
)
def xlen(c: Client, key: bytes) -> Reply:
    """XLEN key

    Number of entries of a stream.

    t_stream.c: xlenCommand()
    """
    s = get_stream(c.db.lookup_key_read(key))
    return 0 if s is None else s.length


def _xrange(
    c: Client, key: bytes, start: bytes, end: bytes, options: tuple[bytes, ...], rev: bool
) -> Reply:
    """t_stream.c: xrangeGenericCommand()"""
    first, last = parse_start(start), parse_end(end)
    count: int | None = None
    for i in range(0, len(options), 2):
        if word(options[i]) != b"count" or i + 1 == len(options):
            raise syntax_error()
        count = max(get_long_long(options[i + 1]), 0)
    s = get_stream(c.db.lookup_key_read(key))
    if s is None:
        return []
    return NULL_ARRAY if count == 0 else reply_with_range(s, first, last, count or 0, rev)


@command(
    "xrange",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="stream",
    since="5.0.0",
    complexity="O(N) with N being the number of elements returned, after O(log M) to find them",
)
def xrange(c: Client, key: bytes, start: bytes, end: bytes, *options: bytes) -> Reply:
    """XRANGE key start end [COUNT count]

    Entries by ID, both ends included unless preceded by a parenthesis; ``-`` and ``+``
    are the first and last one.

    t_stream.c: xrangeCommand()
    """
    return _xrange(c, key, start, end, options, rev=False)


@command(
    "xrevrange",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="stream",
    since="5.0.0",
    complexity="O(N) with N being the number of elements returned, after O(log M) to find them",
)
def xrevrange(c: Client, key: bytes, end: bytes, start: bytes, *options: bytes) -> Reply:
    """XREVRANGE key end start [COUNT count]

    Entries by ID, the last one first.

    t_stream.c: xrevrangeCommand()
    """
    return _xrange(c, key, start, end, options, rev=True)


@command(
    "xdel",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW delete",
    group="stream",
    since="5.0.0",
    complexity="O(1) for each single item to delete in the stream, after O(log N) to find it",
)
def xdel(c: Client, key: bytes, *ids: bytes) -> Reply:
    """XDEL key id [id ...]

    Deletes entries; how many there were.

    t_stream.c: xdelCommand()
    """
    s = get_stream(c.db.lookup_key_write(key))
    if s is None:
        return 0
    deleted = s.delete_ids([parse_strict_id(id) for id in ids])
    if deleted:
        c.server.signal_modified_key(c.db, key)
        c.db.notify(NOTIFY_STREAM, b"xdel", key)
        c.server.dirty += deleted
    return deleted


@command(
    "xsetid",
    arity=-3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW update",
    group="stream",
    since="5.0.0",
)
def xsetid(c: Client, key: bytes, last_id: bytes, *options: bytes) -> Reply:
    """XSETID key last-id [ENTRIESADDED entries_added] [MAXDELETEDID max_deleted_entry_id]

    Sets the highest ID that a stream has given out, and counters; replication uses it.

    t_stream.c: xsetidCommand()
    """
    id = parse_strict_id(last_id)
    entries_added: int | None = None
    max_deleted = 0
    for i in range(0, len(options), 2):
        option = word(options[i])
        if option not in (b"entriesadded", b"maxdeletedid") or i + 1 == len(options):
            raise syntax_error()
        if option == b"entriesadded":
            entries_added = get_long_long(options[i + 1])
            if entries_added < 0:
                raise CommandError("ERR entries_added must be positive")
        else:
            max_deleted = parse_strict_id(options[i + 1])
            if id < max_deleted:
                raise CommandError(
                    "ERR The ID specified in XSETID is smaller than the provided "
                    "max_deleted_entry_id"
                )
    s = get_stream(c.db.lookup_key_write(key))
    if s is None:
        raise no_such_key()
    if s.length:
        if id < s.last_valid_id():
            raise CommandError(
                "ERR The ID specified in XSETID is smaller than the target stream top item"
            )
        if entries_added is not None and s.length > entries_added:
            raise CommandError(
                "ERR The entries_added specified in XSETID is smaller than the target stream length"
            )
    s.last_id = id
    if entries_added is not None:
        s.entries_added = entries_added
    s.max_deleted_entry_id = max_deleted or s.max_deleted_entry_id
    c.server.dirty += 1
    c.db.notify(NOTIFY_STREAM, b"xsetid", key)
    return OK
