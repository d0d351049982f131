"""Reading the arguments of stream commands: IDs, intervals, how to trim; finding streams.

Redis: streamParseIDOrReply() and its like in t_stream.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.client_flags import CLIENT_MASTER
from miniredis.commands.subcommands import one_line
from miniredis.errors import CommandError, syntax_error, wrong_type
from miniredis.keyspace.object import LLONG_MAX, OBJ_STREAM, RedisObject
from miniredis.keyspace.stream_group import StreamCG
from miniredis.keyspace.stream_id import MAX_ID, MAX_SEQ, MIN_ID, stream_id
from miniredis.keyspace.stream_object import Stream

if TYPE_CHECKING:
    from miniredis.server.client import Client

STREAM_ID_MAX_LEN = 127  # bytes of an ID's text
TRIM_NODES = 100  # nodes that approximate trimming removes at most, unless LIMIT is given
TRIM_LIMIT_DEFAULT = 10_000  # entries, if nodes have no limit of entries
TRIM_LIMIT_MAX = 1_000_000  # entries
_UNSIGNED = re.compile(rb"[ \t\n\v\f\r]*([+-]?)([0-9]+)")


def _string2ull(text: bytes) -> int | None:
    """*text* as an unsigned 64-bit integer, or None.

    Spaces before it, a sign and leading zeros are allowed, and ``-01`` is the largest
    number, but ``-1`` is refused: what looks like a signed integer is read as one first.
    util.c: string2ull()
    """
    found = _UNSIGNED.fullmatch(text)
    if found is None:
        return None
    number = int(found[2])
    if number > MAX_SEQ:
        return None
    if found[1] == b"-":
        if text == b"-%d" % number and number <= LLONG_MAX + 1:
            return None
        return -number & MAX_SEQ
    return number


def invalid_stream_id() -> CommandError:
    """The error for what is no ID."""
    return CommandError("ERR Invalid stream ID specified as stream command argument")


def parse_id_and_star(arg: bytes, missing_seq: int = 0, star: bool = True) -> tuple[int, bool]:
    """``ms-seq``, ``ms`` or, with *star*, ``ms-*`` as an ID; whether the sequence is given.

    t_stream.c: streamGenericParseIDOrReply()
    """
    if len(arg) > STREAM_ID_MAX_LEN:
        raise invalid_stream_id()
    text, dash, rest = c_string(arg).partition(b"-")
    ms = _string2ull(text)
    if dash and star and rest == b"*":
        seq, seq_given = 0, False
    else:
        number = _string2ull(rest) if dash else missing_seq
        if number is None:
            raise invalid_stream_id()
        seq, seq_given = number, True
    if ms is None:
        raise invalid_stream_id()
    return stream_id(ms, seq), seq_given


def parse_strict_id(arg: bytes, missing_seq: int = 0) -> int:
    """``ms-seq`` or ``ms`` as an ID. t_stream.c: streamParseStrictIDOrReply()"""
    return parse_id_and_star(arg, missing_seq, star=False)[0]


def parse_id(arg: bytes, missing_seq: int = 0) -> int:
    """The same, or ``-`` and ``+`` for the extremes. t_stream.c: streamParseIDOrReply()"""
    text = c_string(arg) if len(arg) <= STREAM_ID_MAX_LEN else arg
    if text == b"-":
        return MIN_ID
    return MAX_ID if text == b"+" else parse_strict_id(arg, missing_seq)


def parse_interval_id(arg: bytes, missing_seq: int) -> tuple[int, bool]:
    """The end of a range, and whether it is excluded by a parenthesis.

    t_stream.c: streamParseIntervalIDOrReply()
    """
    if len(arg) > 1 and arg[:1] == b"(":
        return parse_strict_id(arg[1:], missing_seq), True
    return parse_id(arg, missing_seq), False


def parse_start(arg: bytes) -> int:
    """The first ID of a range. Redis: the same lines in several commands"""
    id, excluded = parse_interval_id(arg, 0)
    if excluded and id == MAX_ID:
        raise CommandError("ERR invalid start ID for the interval")
    return id + excluded


def parse_end(arg: bytes) -> int:
    """The last ID of a range."""
    id, excluded = parse_interval_id(arg, MAX_SEQ)
    if excluded and id == MIN_ID:
        raise CommandError("ERR invalid end ID for the interval")
    return id - excluded


@dataclass(slots=True)
class AddTrimArgs:
    """What XADD and XTRIM are told. t_stream.c: streamAddTrimArgs

    ``maxlen`` or ``minid`` is set if there is trimming, and ``strategy_arg`` is then the
    position of its number. ``id`` is None for ``*``.
    """

    position: int = 0  # of the ID, for XADD
    id: int | None = None
    seq_given: bool = False
    no_mkstream: bool = False
    maxlen: int | None = None
    minid: int | None = None
    strategy_arg: int = 0
    approx: bool = False
    limit: int = 0

    @property
    def trims(self) -> bool:
        """Whether entries are to go."""
        return self.maxlen is not None or self.minid is not None

    def trim(self, s: Stream) -> int:
        """Do it; how many went."""
        return s.trim(self.maxlen, self.minid or 0, self.approx, self.limit)


def parse_add_or_trim_args(c: Client, xadd: bool) -> AddTrimArgs:
    """Read the options of the running XADD or XTRIM, up to the ID.

    t_stream.c: streamParseAddOrTrimArgsOrReply()
    """
    argv, args = c.argv, AddTrimArgs()
    limit_given = False
    i, last = 2, len(argv) - 1
    while i <= last:
        option, more = word(argv[i]), i < last
        if xadd and option == b"*":
            break
        if option in (b"maxlen", b"minid") and more:
            i = _parse_strategy(args, argv, i)
        elif option == b"limit" and more:
            args.limit = get_long_long(argv[i + 1])
            if args.limit < 0:
                raise CommandError("ERR The LIMIT argument must be >= 0.")
            limit_given = True
            i += 1
        elif xadd and option == b"nomkstream":
            args.no_mkstream = True
        elif xadd:
            args.id, args.seq_given = parse_id_and_star(argv[i])
            break
        else:
            raise syntax_error()
        i += 1
    args.position = i
    _check_limit(c, args, limit_given, xadd)
    return args


def _parse_strategy(args: AddTrimArgs, argv: list[bytes], i: int) -> int:
    """Read ``MAXLEN|MINID [=|~] threshold`` at position *i*; the position of its end."""
    if args.trims:
        raise CommandError(
            "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
        )
    option = word(argv[i])
    args.approx = False
    if i + 2 < len(argv) and c_string(argv[i + 1]) in (b"~", b"="):
        args.approx = c_string(argv[i + 1]) == b"~"
        i += 1
    args.strategy_arg = i + 1
    if option == b"maxlen":
        args.maxlen = get_long_long(argv[i + 1])
        if args.maxlen < 0:
            raise CommandError("ERR The MAXLEN argument must be >= 0.")
    else:
        args.minid = parse_strict_id(argv[i + 1])
    return i + 1


def _check_limit(c: Client, args: AddTrimArgs, limit_given: bool, xadd: bool) -> None:
    """Refuse a LIMIT where it makes no sense, and set it where it is not given."""
    if args.limit and not args.trims:
        raise CommandError(
            "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
        )
    if not xadd and not args.trims:
        raise CommandError("ERR syntax error, XTRIM must be called with a trimming strategy")
    if c.flags & CLIENT_MASTER:
        args.limit = 0
    elif limit_given:
        if not args.approx:
            raise CommandError(
                "ERR syntax error, LIMIT cannot be used without the special ~ option"
            )
    elif args.approx:
        limit = TRIM_NODES * c.server.config.stream_node_max_entries
        if not 0 < limit <= LLONG_MAX:
            limit = TRIM_LIMIT_DEFAULT
        args.limit = min(limit, TRIM_LIMIT_MAX)


# -- streams and groups -------------------------------------------------------------------


def get_stream(o: RedisObject | None) -> Stream | None:
    """The stream of an object, None of a missing one; WRONGTYPE for other types."""
    if o is None:
        return None
    if o.type != OBJ_STREAM:
        raise wrong_type()
    s: Stream = o.ptr
    return s


def error_format(format: bytes, *words: bytes) -> CommandError:
    """An error that shows arguments, as far as C sees them."""
    return CommandError(one_line(format % tuple(map(c_string, words))))


def lookup_group(s: Stream | None, key: bytes, groupname: bytes) -> StreamCG:
    """The group, or the NOGROUP error of most commands."""
    group = None if s is None else s.cgroups.get(groupname)
    if group is None:
        raise error_format(b"NOGROUP No such key '%s' or consumer group '%s'", key, groupname)
    return group
