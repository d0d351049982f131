"""RESP without a network: parsing requests cut anywhere, limits, encoding replies."""

from __future__ import annotations

import inspect
import math
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from miniredis import reply as reply_module
from miniredis.errors import CommandError
from miniredis.net.resp import ProtocolError, RequestParser, encode_reply
from miniredis.reply import (
    BLOCKED,
    NO_REPLY,
    NULL_ARRAY,
    OK,
    Attributed,
    BigNumber,
    Blocked,
    HumanDouble,
    InProtocol,
    Interleaved,
    MapReply,
    Push,
    Reply,
    SetReply,
    Status,
    Verbatim,
    Wire,
)
from miniredis.structs.double import d2string
from miniredis.structs.words import split_args

KIB_64 = 64 * 1024
MIB_512 = 512 * 1024 * 1024
Outcome = tuple[list[list[bytes]], str | None]


def take_all(parser: RequestParser) -> Outcome:
    """The requests that are complete, and the text of the error that ended them if any.

    Empty ones are left out.
    """
    requests: list[list[bytes]] = []
    try:
        while (request := parser.next_request()) is not None:
            if request:
                requests.append(request)
    except ProtocolError as error:
        return requests, str(error)
    return requests, None


def parse(*pieces: bytes, parser: RequestParser | None = None) -> Outcome:
    """What a parser makes of *pieces* when it is asked after each."""
    parser = parser or RequestParser()
    requests: list[list[bytes]] = []
    for piece in pieces:
        parser.feed(piece)
        more, error = take_all(parser)
        requests += more
        if error is not None:
            return requests, error
    return requests, None


def multibulk(argv: list[bytes]) -> bytes:
    head = b"*%d\r\n" % len(argv)
    return head + b"".join(b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in argv)


def cut(data: bytes, points: list[int]) -> list[bytes]:
    """*data* in pieces that begin at *points*, each taken modulo the length."""
    ends = sorted({point % (len(data) + 1) for point in points} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(ends)]


# --- Any requests, cut anywhere ---------------------------------------------------------

BARE = bytes(b for b in range(0x21, 0x100) if b not in b"\"'*")
arguments = st.binary(max_size=12) | st.sampled_from(
    [b"", b"\r\n", b"\0", b"*1\r\n$1\r\n", b'"', b"'", b"\\", b"\\x41", b"\\'", b"\xff", b"a b"]
)
argvs = st.lists(arguments, min_size=1, max_size=5)
cut_points = st.lists(st.integers(0, 10_000), max_size=20)
nothings = st.sampled_from([b"", b"", b"\r\n", b"\n", b" \t\r\n", b"*0\r\n", b"*-1\r\n"])
spaces = st.sampled_from([b" ", b"  ", b"\t", b" \v\f\r "])


@st.composite
def inline_words(draw: st.DrawFn, arg: bytes) -> bytes:
    """One of the ways to write *arg* in an inline request."""
    ways = ["double", "hex"]
    if arg and all(byte in BARE for byte in arg):
        ways.append("bare")
    # A backslash before the end or before a quote would change the meaning.
    if not set(arg) & set(b"\0\n\\"):
        ways.append("single")
    way = draw(st.sampled_from(ways))
    if way == "bare":
        return arg
    if way == "single":
        return b"'" + arg.replace(b"'", b"\\'") + b"'"
    if way == "hex":
        return b'"' + b"".join(b"\\x%02x" % byte for byte in arg) + b'"'
    special = {0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t", 0x08: b"\\b", 0x07: b"\\a", 0: b"\\x00"}
    special |= {0x22: b'\\"', 0x5C: b"\\\\"}
    return b'"' + b"".join(special.get(byte, bytes([byte])) for byte in arg) + b'"'


@st.composite
def encoded(draw: st.DrawFn) -> tuple[list[list[bytes]], bytes]:
    """Some requests, and bytes that say them in a mixture of both forms."""
    requests = draw(st.lists(argvs, max_size=6))
    data = bytearray(draw(nothings))
    for argv in requests:
        if draw(st.booleans()):
            data += multibulk(argv)
        else:
            data += draw(st.sampled_from([b"", b" "]))
            data += draw(spaces).join([draw(inline_words(arg)) for arg in argv])
            data += draw(st.sampled_from([b"\r\n", b"\n", b" \r\n"]))
        data += draw(nothings)
    return requests, bytes(data)


@given(encoded(), cut_points)
def test_requests_in_either_form_cut_anywhere(
    case: tuple[list[list[bytes]], bytes], points: list[int]
) -> None:
    requests, data = case
    assert parse(*cut(data, points)) == (requests, None)


@given(st.lists(argvs, max_size=4), st.integers(1, 7))
def test_requests_in_pieces_of_one_size(requests: list[list[bytes]], size: int) -> None:
    data = b"".join(map(multibulk, requests))
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert parse(*pieces) == (requests, None)


@settings(deadline=None)
@given(
    st.integers(60, 70) | st.just(300),
    st.lists(st.tuples(st.integers(0, 400), arguments | st.just(b"x" * 1023)), max_size=4),
    st.lists(st.tuples(st.integers(0, 400), st.just(b"x" * 1024)), max_size=1),
    cut_points,
)
def test_long_requests_cut_anywhere(
    count: int,
    short: list[tuple[int, bytes]],
    long: list[tuple[int, bytes]],
    points: list[int],
) -> None:
    """They are split in pieces, until an argument is long or has a line end in it."""
    argv = [b"%d" % i for i in range(count)]
    for at, arg in short + long:
        argv[at % count] = arg
    requests = [argv, [b"PING"], argv]
    data = b"".join(map(multibulk, requests))
    assert parse(*cut(data, [point * 7 for point in points])) == (requests, None)


def test_an_error_within_a_long_request() -> None:
    whole = multibulk([b"a"] * 100)
    for wrong, text in (
        (b"$x\r\n", BAD_BULK),
        (b"+1\r\n", "Protocol error: expected '$', got '+'"),
    ):
        assert parse(whole[:-7] + wrong) == ([], text)
        assert parse(whole[:-7], wrong) == ([], text)


FRAGMENTS = [b"*", b"$", b"-", b"0", b"1", b"2", b"\r", b"\n", b"\r\n", b" ", b'"', b"'", b"\\"]
FRAGMENTS += [b"x", b"*1\r\n", b"*2\r\n", b"$1\r\n", b"*1\r\n$4\r\nPING\r\n", b"PING\r\n"]
garbage = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b"".join)


@given(garbage, cut_points)
@example(b"*1\r\n$1\r\nx\r\n*1\r\nx\r\n", [5])
def test_where_garbage_is_cut_does_not_matter(data: bytes, points: list[int]) -> None:
    assert parse(*cut(data, points)) == parse(data)


def test_requests_larger_than_what_the_buffer_keeps() -> None:
    requests = [[b"SET", b"k%d" % i, bytes([65 + i]) * 50_000] for i in range(5)]
    data = b"".join(map(multibulk, requests)) + b"PING " + b"y" * 40_000 + b"\r\n"
    pieces = [data[i : i + 33_333] for i in range(0, len(data), 33_333)]
    assert parse(*pieces) == ([*requests, [b"PING", b"y" * 40_000]], None)


def test_an_incomplete_request_waits() -> None:
    parser = RequestParser()
    data = multibulk([b"GET", b"key"])
    for i in range(len(data) - 1):
        parser.feed(data[i : i + 1])
        assert parser.next_request() is None
    parser.feed(data[-1:])
    assert parser.next_request() == [b"GET", b"key"]
    assert parser.next_request() is None


# --- Protocol errors and lenience -------------------------------------------------------

TOO_BIG_INLINE = "Protocol error: too big inline request"
TOO_BIG_MBULK = "Protocol error: too big mbulk count string"
TOO_BIG_BULK = "Protocol error: too big bulk count string"
BAD_MULTIBULK = "Protocol error: invalid multibulk length"
BAD_BULK = "Protocol error: invalid bulk length"
UNAUTH_MULTIBULK = "Protocol error: unauthenticated multibulk length"
UNAUTH_BULK = "Protocol error: unauthenticated bulk length"
UNBALANCED = "Protocol error: unbalanced quotes in request"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"*\r\n", BAD_MULTIBULK),
        (b"*x\r\n", BAD_MULTIBULK),
        (b"* 1\r\n", BAD_MULTIBULK),
        (b"*1 \r\n", BAD_MULTIBULK),
        (b"*+1\r\n", BAD_MULTIBULK),
        (b"*01\r\n", BAD_MULTIBULK),
        (b"*-0\r\n", BAD_MULTIBULK),
        (b"*1_0\r\n", BAD_MULTIBULK),
        (b"*1.0\r\n", BAD_MULTIBULK),
        (b"*\n1\r\n", BAD_MULTIBULK),
        (b"**1\r\n", BAD_MULTIBULK),
        (b"*2147483648\r\n", BAD_MULTIBULK),
        (b"*9223372036854775808\r\n", BAD_MULTIBULK),
        (b"*-9223372036854775809\r\n", BAD_MULTIBULK),
        (b"*1\r\n$\r\n", BAD_BULK),
        (b"*1\r\n$x\r\n", BAD_BULK),
        (b"*1\r\n$-1\r\n", BAD_BULK),
        (b"*1\r\n$-0\r\n", BAD_BULK),
        (b"*1\r\n$+4\r\n", BAD_BULK),
        (b"*1\r\n$04\r\n", BAD_BULK),
        (b"*1\r\n$ 4\r\n", BAD_BULK),
        (b"*1\r\n$4\n\r\n", BAD_BULK),
        (b"*1\r\n$%d\r\n" % (MIB_512 + 1), BAD_BULK),
        (b"*1\r\n$9223372036854775807\r\n", BAD_BULK),
        (b"*1\r\n$99999999999999999999\r\n", BAD_BULK),
        (b"*1\r\nPING\r\n", "Protocol error: expected '$', got 'P'"),
        (b"*1\r\n:4\r\nPING\r\n", "Protocol error: expected '$', got ':'"),
        (b"*1\r\n*1\r\n$4\r\nPING\r\n", "Protocol error: expected '$', got '*'"),
        (b"*2\r\n$4\r\nECHO\r\n4\r\n", "Protocol error: expected '$', got '4'"),
        # One byte too much in an argument: the next line begins with its end.
        (b"*2\r\n$3\r\nECHO\r\n$1\r\nx\r\n", "Protocol error: expected '$', got '\n'"),
        (b"*1\r\n\r\n$4\r\nPING\r\n", "Protocol error: expected '$', got '\r'"),
        (b'PING "\r\n', UNBALANCED),
        (b"PING '\r\n", UNBALANCED),
    ],
)
def test_protocol_errors(data: bytes, text: str) -> None:
    assert parse(b"PING\r\n" + data) == ([[b"PING"]], text)
    assert parse(*(data[i : i + 1] for i in range(len(data)))) == ([], text)


@pytest.mark.parametrize(
    ("unended", "text"),
    [
        (b"x" * KIB_64, TOO_BIG_INLINE),
        (b'"' * KIB_64, TOO_BIG_INLINE),
        (b"*" + b"1" * (KIB_64 - 1), TOO_BIG_MBULK),
        (b"*" + b"\n" * (KIB_64 - 1), TOO_BIG_MBULK),
        (b"*1\r\n$" + b"1" * (KIB_64 - 1), TOO_BIG_BULK),
        (b"*1\r\n" + b"x" * KIB_64, TOO_BIG_BULK),
        (b"*2\r\n$4\r\nECHO\r\n$" + b"1" * (KIB_64 - 1), TOO_BIG_BULK),
    ],
)
def test_a_line_without_end_may_have_64_kib(unended: bytes, text: str) -> None:
    parser = RequestParser()
    assert parse(b"PING\r\n", unended, parser=parser) == ([[b"PING"]], None)
    assert parse(b"1", parser=parser) == ([], text)


def test_a_long_line_that_comes_with_its_end_is_taken() -> None:
    assert parse(b"x" * KIB_64 + b"\r\n") == ([[b"x" * KIB_64]], None)
    assert parse(b"x" * KIB_64, b"\n") == ([[b"x" * KIB_64]], None)
    assert parse(b"x" * 2 * KIB_64 + b"\n") == ([[b"x" * 2 * KIB_64]], None)


@pytest.mark.parametrize(
    "nothing", [b"*0\r\n", b"*-1\r\n", b"*-9223372036854775808\r\n", b"\r\n", b"\n", b" \t\r\n"]
)
def test_an_empty_request_is_an_empty_list(nothing: bytes) -> None:
    parser = RequestParser()
    parser.feed(nothing + b"PING\r\n" + nothing * 2)
    assert [parser.next_request() for _ in range(5)] == [[], [b"PING"], [], [], None]
    assert parse(nothing) == ([], None)
    assert parse(nothing * 3 + b"PING\r\n" + nothing) == ([[b"PING"]], None)


def test_very_many_empty_requests_are_no_deep_recursion() -> None:
    assert parse(b"*0\r\n" * 50_000 + b"PING\r\n") == ([[b"PING"]], None)
    assert parse(b"\r\n" * 50_000 + b"PING\r\n") == ([[b"PING"]], None)


@pytest.mark.parametrize(
    ("data", "requests"),
    [
        (b"*1\rX$4\rYPINGZZ", [[b"PING"]]),  # only the carriage return is looked at
        (b"*1\r\n$0\r\n\r\n", [[b""]]),
        (b"*1\r\n$2\r\n\r\n\r\n", [[b"\r\n"]]),
        (b"*2147483647\r\n$1\r\nx\r\n", []),
        (b"*1\r\n$%d\r\n" % MIB_512, []),
        (b"PING\n\rPING\r\n", [[b"PING"], [b"PING"]]),
        (b"PING\rPONG\r\n", [[b"PING", b"PONG"]]),
        (b" *1\r\n", [[b"*1"]]),
        (b"$4\r\nPING\r\n", [[b"$4"], [b"PING"]]),
    ],
)
def test_lenience(data: bytes, requests: list[list[bytes]]) -> None:
    assert parse(data) == (requests, None)


def unauthenticated() -> RequestParser:
    parser = RequestParser()
    parser.unauthenticated = True
    return parser


def test_limits_before_authentication() -> None:
    ten = [b"a"] * 10
    assert parse(multibulk(ten), parser=unauthenticated()) == ([ten], None)
    assert parse(b"*11\r\n", parser=unauthenticated()) == ([], UNAUTH_MULTIBULK)
    assert parse(b"*2147483648\r\n", parser=unauthenticated()) == ([], BAD_MULTIBULK)
    big = [b"b" * 16384]
    assert parse(multibulk(big), parser=unauthenticated()) == ([big], None)
    assert parse(b"*1\r\n$16385\r\n", parser=unauthenticated()) == ([], UNAUTH_BULK)
    assert parse(b"*1\r\n$-1\r\n", parser=unauthenticated()) == ([], BAD_BULK)
    words = [b"w" * 20_000] + [b"w"] * 11  # inline requests have only their own limit
    assert parse(b" ".join(words) + b"\n", parser=unauthenticated()) == ([words], None)


def test_authentication_lifts_the_limits_at_the_next_request() -> None:
    parser = unauthenticated()
    wide = [b"a"] * 11
    parser.feed(multibulk([b"AUTH", b"p"]) + multibulk(wide) + multibulk([b"b" * 16385]))
    assert parser.next_request() == [b"AUTH", b"p"]
    parser.unauthenticated = False
    assert take_all(parser) == ([wide, [b"b" * 16385]], None)


def test_max_bulk_len() -> None:
    parser = RequestParser(max_bulk_len=5)
    assert parse(multibulk([b"12345"] * 2), parser=parser) == ([[b"12345"] * 2], None)
    parser.max_bulk_len = 6
    assert parse(multibulk([b"123456"]), parser=parser) == ([[b"123456"]], None)
    assert parse(b"*1\r\n$7\r\n", parser=parser) == ([], BAD_BULK)
    # What is inline is not a bulk string.
    assert parse(b"1234567\r\n", parser=RequestParser(max_bulk_len=5)) == ([[b"1234567"]], None)


# --- Quotes in inline requests ----------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", []),
        (b" \t\v\f\r ", []),
        (b"a b  c\td", [b"a", b"b", b"c", b"d"]),
        (b"  a  ", [b"a"]),
        (b'""', [b""]),
        (b"'' \"\" ''", [b"", b"", b""]),
        (b"\"a b\" 'c d'", [b"a b", b"c d"]),
        (rb'"\n\r\t\b\a"', [b"\n\r\t\b\a"]),
        (rb'"\"\\\q\v\0"', [b'"\\qv0']),
        (rb'"\x41\xfF\x00\x0a"', [b"A\xff\x00\x0a"]),
        (rb'"\x4" "\xg1" "\x1g" "\x"', [b"x4", b"xg1", b"x1g", b"x"]),
        (rb'"\X41"', [b"X41"]),
        (rb"'\n\x41\\ '", [rb"\n\x41\\ "]),
        (rb"'it\'s' 'a\"b'", [b"it's", rb"a\"b"]),
        (b"'\"' \"'\"", [b'"', b"'"]),
        (rb"a\nb \x41", [rb"a\nb", rb"\x41"]),  # outside quotes a backslash is a letter
        (b'a"b c"', [b"ab c"]),  # a quote may open in the middle of a word
        (b"a'b' c", [b"ab", b"c"]),
        (b'"a"\tb', [b"a", b"b"]),
        (b'"a"\vb', [b"a", b"b"]),
        (b"a\vb\fc", [b"a\vb\fc"]),  # these part words only after a quote or a space
        (b"a \vb", [b"a", b"b"]),
        (b"\xa0\x85 \xff", [b"\xa0\x85", b"\xff"]),
    ],
)
def test_quotes(line: bytes, words: list[bytes]) -> None:
    assert split_args(line) == words


UNBALANCED_LINES = [b'"', b"'", b'"a', b"'a", b'a"', b'"a\\"', b'"\\', rb'"\x41', b'ok "a" \'']
UNBALANCED_LINES += [b'"a"b', b"'a'b", b'"a""b"', b"'a'\"b\"", b"a 'b' c'd'e", rb"'a\'", rb"'a\\'"]


@pytest.mark.parametrize("line", UNBALANCED_LINES)
def test_unbalanced_quotes(line: bytes) -> None:
    assert split_args(line) is None


@given(st.binary())
def test_splitting_any_line_ends(line: bytes) -> None:
    words = split_args(line)
    assert words is None or sum(map(len, words)) <= len(line)


# --- Replies ----------------------------------------------------------------------------

REPLIES: list[tuple[Reply, bytes, bytes]] = [
    (b"", b"$0\r\n\r\n", b"$0\r\n\r\n"),
    (b"a\r\n\0\xff", b"$5\r\na\r\n\0\xff\r\n", b"$5\r\na\r\n\0\xff\r\n"),
    (0, b":0\r\n", b":0\r\n"),
    (-(2**63), b":-9223372036854775808\r\n", b":-9223372036854775808\r\n"),
    (None, b"$-1\r\n", b"_\r\n"),
    (NULL_ARRAY, b"*-1\r\n", b"_\r\n"),
    (OK, b"+OK\r\n", b"+OK\r\n"),
    (Status(b""), b"+\r\n", b"+\r\n"),
    (CommandError("ERR no"), b"-ERR no\r\n", b"-ERR no\r\n"),
    (CommandError(b"ERR \xff"), b"-ERR \xff\r\n", b"-ERR \xff\r\n"),
    (CommandError("ERR a\rb\nc\r\nd"), b"-ERR a b c  d\r\n", b"-ERR a b c  d\r\n"),
    ([], b"*0\r\n", b"*0\r\n"),
    (HumanDouble(1e-5), b"$7\r\n0.00001\r\n", b",0.00001\r\n"),
    (HumanDouble(0.1), b"$19\r\n0.10000000000000001\r\n", b",0.10000000000000001\r\n"),
    (
        MapReply([(b"a", 1), (b"a", None)]),
        b"*4\r\n$1\r\na\r\n:1\r\n$1\r\na\r\n$-1\r\n",
        b"%2\r\n$1\r\na\r\n:1\r\n$1\r\na\r\n_\r\n",
    ),
    ([1, b"x", None], b"*3\r\n:1\r\n$1\r\nx\r\n$-1\r\n", b"*3\r\n:1\r\n$1\r\nx\r\n_\r\n"),
    (True, b":1\r\n", b"#t\r\n"),
    (False, b":0\r\n", b"#f\r\n"),
    (1.5, b"$3\r\n1.5\r\n", b",1.5\r\n"),
    (math.inf, b"$3\r\ninf\r\n", b",inf\r\n"),
    (-math.inf, b"$4\r\n-inf\r\n", b",-inf\r\n"),
    (math.nan, b"$3\r\nnan\r\n", b",nan\r\n"),
    ({}, b"*0\r\n", b"%0\r\n"),
    (
        {b"k": 1, b"l": None},
        b"*4\r\n$1\r\nk\r\n:1\r\n$1\r\nl\r\n$-1\r\n",
        b"%2\r\n$1\r\nk\r\n:1\r\n$1\r\nl\r\n_\r\n",
    ),
    (SetReply([]), b"*0\r\n", b"~0\r\n"),
    (SetReply([b"a", 2]), b"*2\r\n$1\r\na\r\n:2\r\n", b"~2\r\n$1\r\na\r\n:2\r\n"),
    (Push([b"message", 1]), b"*2\r\n$7\r\nmessage\r\n:1\r\n", b">2\r\n$7\r\nmessage\r\n:1\r\n"),
    (Interleaved(1, [OK, Push([1])]), b"*1\r\n+OK\r\n*1\r\n:1\r\n", b"*1\r\n+OK\r\n>1\r\n:1\r\n"),
    (Interleaved(2, []), b"*2\r\n", b"*2\r\n"),
    (InProtocol(True, 3), b"#t\r\n", b"#t\r\n"),
    (InProtocol(InProtocol({b"k": None}, 2), 3),) + (b"*2\r\n$1\r\nk\r\n$-1\r\n",) * 2,
    (Verbatim(b"a\r\nb"), b"$4\r\na\r\nb\r\n", b"=8\r\ntxt:a\r\nb\r\n"),
    (Verbatim(b"", b"mkd"), b"$0\r\n\r\n", b"=4\r\nmkd:\r\n"),
    (
        BigNumber(b"-9223372036854775809"),
        b"$20\r\n-9223372036854775809\r\n",
        b"(-9223372036854775809\r\n",
    ),
    (HumanDouble(1e-5), b"$7\r\n0.00001\r\n", b",0.00001\r\n"),
    (HumanDouble(-0.0), b"$1\r\n0\r\n", b",0\r\n"),
    (Attributed({b"a": 1}, b"v"), b"$1\r\nv\r\n", b"|1\r\n$1\r\na\r\n:1\r\n$1\r\nv\r\n"),
    (NO_REPLY, b"", b""),
    (Wire(b"*1\r\n$4\r\nping\r\n"), b"*1\r\n$4\r\nping\r\n", b"*1\r\n$4\r\nping\r\n"),
]
NESTED: list[tuple[Reply, bytes, bytes]] = [
    ([[[]], [None]], b"*2\r\n*1\r\n*0\r\n*1\r\n$-1\r\n", b"*2\r\n*1\r\n*0\r\n*1\r\n_\r\n"),
    (
        [OK, CommandError("ERR x"), NULL_ARRAY, {b"a": {1: True}}],
        b"*4\r\n+OK\r\n-ERR x\r\n*-1\r\n*2\r\n$1\r\na\r\n*2\r\n:1\r\n:1\r\n",
        b"*4\r\n+OK\r\n-ERR x\r\n_\r\n%1\r\n$1\r\na\r\n%1\r\n:1\r\n#t\r\n",
    ),
    (
        Push([SetReply([1.0, Verbatim(b"v")]), BigNumber(b"7"), [False]]),
        b"*3\r\n*2\r\n$1\r\n1\r\n$1\r\nv\r\n$1\r\n7\r\n*1\r\n:0\r\n",
        b">3\r\n~2\r\n,1\r\n=5\r\ntxt:v\r\n(7\r\n*1\r\n#f\r\n",
    ),
]


@pytest.mark.parametrize(("reply", "resp2", "resp3"), REPLIES + NESTED)
def test_encode_reply(reply: Reply, resp2: bytes, resp3: bytes) -> None:
    assert encode_reply(reply, 2) == resp2
    assert encode_reply(reply, 3) == resp3
    assert encode_reply([reply, 1], 2) == b"*2\r\n" + resp2 + b":1\r\n"
    assert encode_reply({b"k": reply}, 3) == b"%1\r\n$1\r\nk\r\n" + resp3


def test_every_kind_of_reply_is_in_the_table() -> None:
    kinds = {type(reply) for reply, _, _ in REPLIES}
    named = {
        value
        for _, value in inspect.getmembers(reply_module, inspect.isclass)
        if value.__module__ == reply_module.__name__
    }
    assert named - kinds == {Blocked}
    plain = {bytes, int, type(None), list, float, bool, dict, CommandError}
    assert kinds - named == plain


@pytest.mark.parametrize("resp", [2, 3])
@pytest.mark.parametrize("value", [BLOCKED, "text", (1,), object(), [1, "text"]])
def test_what_is_no_reply_is_not_sent(value: object, resp: int) -> None:
    with pytest.raises(TypeError, match="not a reply"):
        encode_reply(value, resp)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, b"0"),
        (-0.0, b"-0"),
        (3.0, b"3"),
        (0.1, b"0.10000000000000001"),
        (1e16, b"10000000000000000"),
        (1e17, b"1e+17"),
        (1e-4, b"0.0001"),
        (1e-5, b"1.0000000000000001e-05"),
        (5e-324, b"4.9406564584124654e-324"),
        (1.7976931348623157e308, b"1.7976931348623157e+308"),
    ],
)
def test_d2string(value: float, text: bytes) -> None:
    assert d2string(value) == text


@given(st.floats(allow_nan=False))
def test_doubles_keep_their_value(value: float) -> None:
    text = d2string(value)
    assert float(text) == value
    assert encode_reply(value, 3) == b",%s\r\n" % text
    assert encode_reply(value, 2) == encode_reply(text, 2)
