"""Taking over what another consumer has not acknowledged: XCLAIM, XAUTOCLAIM.

What is propagated is an XCLAIM for each entry, which gives it to its new owner with time
and count as they are now.

Redis: xclaimCommand() and xautoclaimCommand() in t_stream.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, get_range_long, word
from miniredis.commands.stream_args import (
    error_format,
    get_stream,
    lookup_group,
    parse_start,
    parse_strict_id,
)
from miniredis.commands.stream_read import (
    lookup_or_create_consumer,
    propagate_group_id,
    propagate_xclaim,
)
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.object import LLONG_MAX
from miniredis.keyspace.stream_group import StreamCG, StreamConsumer, StreamNACK
from miniredis.keyspace.stream_id import format_id
from miniredis.keyspace.stream_object import Stream
from miniredis.reply import Reply
from miniredis.structs.bits import to_signed

if TYPE_CHECKING:
    from miniredis.server.client import Client

LLONG_BITS = 64
NOT_GIVEN = -1
ID_BYTES = 16
ALLOCATABLE_BYTES = 1 << 46  # beyond it the real server gets no memory, on 64-bit Linux
XAUTOCLAIM_COUNT = 100  # entries claimed at most, if not told otherwise
ATTEMPTS_FACTOR = 10  # entries looked at at most, for each that may be claimed


def _get_number(arg: bytes, what: str) -> int:
    try:
        return get_long_long(arg)
    except CommandError:
        raise CommandError(f"ERR Invalid {what}") from None


@dataclass(slots=True)
class _Claim:
    """One XCLAIM or XAUTOCLAIM at work."""

    c: Client
    key: bytes
    groupname: bytes
    s: Stream
    group: StreamCG
    name: bytes
    justid: bool = False
    consumer: StreamConsumer | None = None  # looked up, or created, for the first entry

    def forget(self, id: int, shown: bytes, nack: StreamNACK) -> None:
        """Drop a pending entry that was deleted from the stream."""
        propagate_xclaim(self.c, self.key, self.group, self.groupname, shown, nack)
        self.c.server.dirty += 1
        self.group.acknowledge(id)

    def take(self, id: int, shown: bytes, nack: StreamNACK, time_ms: int, count: int) -> Reply:
        """Give an entry to the consumer; its reply. *count* is NOT_GIVEN to count up."""
        c, group = self.c, self.group
        if self.consumer is None:
            self.consumer, _ = lookup_or_create_consumer(c, group, self.name, self.key)
        nack.delivery_time = time_ms
        if count != NOT_GIVEN:
            nack.delivery_count = count
        elif not self.justid:
            nack.delivery_count += 1
        group.give(id, nack, self.consumer)
        propagate_xclaim(c, self.key, group, self.groupname, shown, nack)
        c.server.dirty += 1
        if self.justid:
            return format_id(id)
        fields = self.s.get(id)
        assert fields is not None
        return [format_id(id), list(fields)]


@dataclass(slots=True)
class _ClaimOptions:
    force: bool = False
    justid: bool = False
    delivery_time: int = NOT_GIVEN  # Unix ms
    retry_count: int = NOT_GIVEN
    last_id: int = 0


def _parse_claim_options(options: tuple[bytes, ...], now: int) -> _ClaimOptions:
    """What follows the IDs of XCLAIM."""
    parsed = _ClaimOptions()
    i = 0
    while i < len(options):
        option = word(options[i])
        argument = options[i + 1] if i + 1 < len(options) else None
        i += 2
        if option == b"force":
            parsed.force = True
            i -= 1
        elif option == b"justid":
            parsed.justid = True
            i -= 1
        elif option == b"idle" and argument is not None:
            idle = _get_number(argument, "IDLE option argument for XCLAIM")
            parsed.delivery_time = to_signed(now - idle, LLONG_BITS)
        elif option == b"time" and argument is not None:
            parsed.delivery_time = _get_number(argument, "TIME option argument for XCLAIM")
        elif option == b"retrycount" and argument is not None:
            retries = _get_number(argument, "RETRYCOUNT option argument for XCLAIM")
            parsed.retry_count = max(retries, NOT_GIVEN)
        elif option == b"lastid" and argument is not None:
            parsed.last_id = parse_strict_id(argument)
        else:
            raise error_format(b"ERR Unrecognized XCLAIM option '%s'", options[i - 2])
    return parsed


def _leading_ids(args: tuple[bytes, ...]) -> list[int]:
    """The IDs that *args* begins with; what is none begins the options."""
    ids: list[int] = []
    for arg in args:
        try:
            ids.append(parse_strict_id(arg))
        except CommandError:
            break
    return ids


@command(
    "xclaim",
    arity=-6,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    tips="nondeterministic_output",
    group="stream",
    since="5.0.0",
    complexity="O(log N) with N being the number of pending entries of the group",
)
def xclaim(
    c: Client,
    key: bytes,
    groupname: bytes,
    consumername: bytes,
    min_idle_time: bytes,
    *args: bytes,
) -> Reply:
    """XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms]
        [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]

    Makes a consumer the owner of pending entries that have been idle for long enough, and
    answers with them.

    t_stream.c: xclaimCommand()
    """
    s = get_stream(c.db.lookup_key_read(key))
    group = lookup_group(s, key, groupname)
    assert s is not None
    minidle = max(_get_number(min_idle_time, "min-idle-time argument for XCLAIM"), 0)
    ids = _leading_ids(args)
    now = c.server.now_ms()
    options = _parse_claim_options(args[len(ids) :], now)
    moved = options.last_id > group.last_id
    if moved:
        group.last_id = options.last_id
    time_ms = options.delivery_time
    if not 0 <= time_ms <= now:
        time_ms = now
    claim = _Claim(c, key, groupname, s, group, consumername, options.justid)
    replies: list[Reply] = []
    for id, shown in zip(ids, args, strict=False):
        nack: StreamNACK | None = group.pel.get(id)
        if s.get(id) is None:
            if nack is not None:
                claim.forget(id, shown, nack)
                moved = False
            continue
        if nack is None:
            if not options.force:
                continue
            nack = group.pel[id] = StreamNACK(None, now)
        elif minidle and now - nack.delivery_time < minidle:
            continue
        replies.append(claim.take(id, shown, nack, time_ms, options.retry_count))
        moved = False  # XCLAIM tells it too
    if moved:
        propagate_group_id(c, key, group, groupname)
        c.server.dirty += 1
    c.prevent_command_propagation()
    return replies


@command(
    "xautoclaim",
    arity=-6,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW delete",
    tips="nondeterministic_output",
    group="stream",
    since="6.2.0",
    complexity="O(1) if COUNT is small.",
)
def xautoclaim(
    c: Client,
    key: bytes,
    groupname: bytes,
    consumername: bytes,
    min_idle_time: bytes,
    start: bytes,
    *options: bytes,
) -> Reply:
    """XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]

    Makes a consumer the owner of pending entries, from an ID on, that have been idle for
    long enough. Answers with the ID to go on with, the entries, and the IDs of entries that
    were deleted and are pending no more.

    t_stream.c: xautoclaimCommand()
    """
    o = c.db.lookup_key_read(key)
    minidle = max(_get_number(min_idle_time, "min-idle-time argument for XAUTOCLAIM"), 0)
    first = parse_start(start)
    count, justid = _parse_autoclaim_options(options)
    s = get_stream(o)
    group = lookup_group(s, key, groupname)
    assert s is not None
    if count * ID_BYTES > ALLOCATABLE_BYTES:
        raise CommandError(
            "ERR Insufficient memory, failed allocating transient memory, COUNT too high."
        )
    claim = _Claim(c, key, groupname, s, group, consumername, justid)
    now = c.server.now_ms()
    pel = group.pel
    ids = pel.keys()
    at = pel.bisect_left(first)
    attempts = count * ATTEMPTS_FACTOR
    replies: list[Reply] = []
    deleted: list[Reply] = []
    while attempts and count and at < len(ids):
        attempts -= 1
        id = ids[at]
        nack: StreamNACK = pel[id]
        if s.get(id) is None:
            claim.forget(id, format_id(id), nack)
            deleted.append(format_id(id))
            count -= 1
            continue
        at += 1
        if not minidle or now - nack.delivery_time >= minidle:
            replies.append(claim.take(id, format_id(id), nack, now, NOT_GIVEN))
            count -= 1
    c.prevent_command_propagation()
    return [format_id(ids[at] if at < len(ids) else 0), replies, deleted]


def _parse_autoclaim_options(options: tuple[bytes, ...]) -> tuple[int, bool]:
    """COUNT and JUSTID."""
    count, justid = XAUTOCLAIM_COUNT, False
    i = 0
    while i < len(options):
        option = word(options[i])
        if option == b"count" and i + 1 < len(options):
            most = LLONG_MAX // max(ID_BYTES, ATTEMPTS_FACTOR)
            count = get_range_long(options[i + 1], 1, most, "COUNT must be > 0")
            i += 1
        elif option == b"justid":
            justid = True
        else:
            raise syntax_error()
        i += 1
    return count, justid
