"""RESP, the protocol of Redis, without any I/O: parsing requests, encoding replies.

Redis: networking.c (``processInlineBuffer``, ``processMultibulkBuffer``, ``addReply*``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain

from miniredis.errors import CommandError
from miniredis.keyspace.object import string2ll
from miniredis.reply import (
    Attributed,
    BigNumber,
    HumanDouble,
    InProtocol,
    Interleaved,
    MapReply,
    NoReply,
    NullArray,
    Push,
    Reply,
    SetReply,
    Status,
    Verbatim,
    Wire,
)
from miniredis.structs.double import d2string, d2string_human
from miniredis.structs.words import split_args

PROTO_INLINE_MAX_SIZE = 64 * 1024  # bytes of an inline command, or of a count
PROTO_MAX_BULK_LEN = 512 * 1024 * 1024  # bytes of one argument, by default
MULTIBULK_MAX = 2**31 - 1  # arguments
UNAUTH_MULTIBULK_MAX = 10  # arguments of a client that has not authenticated
UNAUTH_BULK_MAX = 16384  # bytes of such a client's argument
COMPACT_BYTES = 64 * 1024  # consumed bytes that are worth moving the rest of a buffer
LINE_END = b"\r\n"
MANY_ARGUMENTS = 65  # from here on a request is split in pieces
# The usual counts of arguments, and the usual lengths, as they are written.
COUNTS = {b"*%d" % n: n for n in range(1, MANY_ARGUMENTS)}
LENGTHS = [b"$%d" % n for n in range(1024)]

_Items = tuple[Iterator[Reply], int]  # replies to be written, and in which protocol


class ProtocolError(Exception):
    """The client broke the protocol; the text is sent as an error, then it is hung up on.

    Bytes of the client in the text that are no UTF-8 stand as surrogates.
    """


class RequestParser:
    """Turns bytes as they come into requests, each a list of arguments.

    Feed it any pieces with :meth:`feed` and take requests with :meth:`next_request`.
    ``max_bulk_len`` and ``unauthenticated`` may be changed between requests.

    ``ready`` holds requests that were taken apart at once. Who knows that the client is
    authenticated may take them from there.
    """

    __slots__ = (
        "_argv",
        "_buffer",
        "_bulklen",
        "_many",
        "_multibulklen",
        "_pos",
        "_searched",
        "max_bulk_len",
        "ready",
        "unauthenticated",
    )

    def __init__(self, max_bulk_len: int = PROTO_MAX_BULK_LEN) -> None:
        self.max_bulk_len = max_bulk_len
        self.unauthenticated = False
        self.ready: deque[list[bytes]] = deque()
        self._buffer = bytearray()
        self._pos = 0
        self._searched = 0  # up to here there is no line end after _pos
        self._multibulklen = 0
        self._bulklen = -1
        self._argv: list[bytes] = []
        self._many = False  # the request has many arguments, and all so far were as usual

    def feed(self, data: bytes) -> None:
        """Add bytes that have arrived. O(bytes)"""
        if self._pos == len(self._buffer) and not self._multibulklen:
            data = self._split(data)
            if not data:
                return
        if self._pos > COMPACT_BYTES or self._pos == len(self._buffer):
            self._compact()
        self._buffer += data

    def _split(self, data: bytes) -> bytes:
        """Take requests off *data* in one go, as far as they are as usual; what is left.

        Most input is whole requests of few short arguments. Split at the line ends, one of
        them is a count, then a length and an argument in turn:

            *2 | $3 | GET | $1 | k

        Whatever does not fit that (an argument with a line end in it, a strange number, an
        inline command, a piece of a request) is left to the careful way, from the beginning of
        its request.
        """
        if len(data) > self.max_bulk_len:
            return data
        parts = data.split(LINE_END)
        i, last = 0, len(parts) - 1
        while i < last:
            count = COUNTS.get(parts[i])
            if count is None:
                break
            end = i + 1 + 2 * count
            if end > last:
                break
            argv = parts[i + 2 : end : 2]
            try:
                if [LENGTHS[len(arg)] for arg in argv] != parts[i + 1 : end : 2]:
                    break
            except IndexError:  # a long argument
                break
            self.ready.append(argv)
            i = end
        if i == last:
            return parts[last]
        return LINE_END.join(parts[i:]) if i else data

    def _usual_request(self) -> list[bytes]:
        """The next of ``ready``, whose arguments are short enough for anybody."""
        argv = self.ready.popleft()
        if self.unauthenticated and len(argv) > UNAUTH_MULTIBULK_MAX:
            raise ProtocolError("Protocol error: unauthenticated multibulk length")
        return argv

    def next_request(self) -> list[bytes] | None:
        """The next complete request, or None until more bytes come.

        An empty request (``*0``, an empty line) is an empty list. Raises ProtocolError; the
        parser is of no use afterwards.
        """
        if self.ready:
            return self._usual_request()
        if self._multibulklen or self._buffer.startswith(b"*", self._pos):
            return self._multibulk()
        if self._pos < len(self._buffer):
            return self._inline()
        return None

    def _line_end(self, char: bytes) -> int:
        """Position of *char* from the current one on, or -1; what was searched is not again.

        Redis searches with strchr(), which sees nothing past a NUL byte: a line that holds
        one never ends.
        """
        start = max(self._searched, self._pos)
        end = self._buffer.find(char, start)
        nul = self._buffer.find(b"\0", start, len(self._buffer) if end < 0 else end)
        if nul >= 0:
            self._searched = nul
            return -1
        self._searched = len(self._buffer) if end < 0 else 0
        return end

    def _inline(self) -> list[bytes] | None:
        end = self._line_end(b"\n")
        if end < 0:
            if len(self._buffer) - self._pos > PROTO_INLINE_MAX_SIZE:
                raise ProtocolError("Protocol error: too big inline request")
            return None
        line = bytes(self._buffer[self._pos : end])
        argv = split_args(line.removesuffix(b"\r"))
        if argv is None:
            raise ProtocolError("Protocol error: unbalanced quotes in request")
        self._pos = end + 1
        return argv

    def _count_line(self, too_big: str) -> bytes | None:
        """A line ``*3`` or ``$5`` without its end, consumed; None if it is incomplete."""
        end = self._line_end(b"\r")
        if end < 0:
            if len(self._buffer) - self._pos > PROTO_INLINE_MAX_SIZE:
                raise ProtocolError(f"Protocol error: {too_big}")
            return None
        if end + 2 > len(self._buffer):
            return None
        line = bytes(self._buffer[self._pos : end])
        self._pos = end + 2
        return line

    def _multibulk(self) -> list[bytes] | None:
        """A request as array of bulk strings; an empty list for an empty or null one."""
        if not self._multibulklen:
            line = self._count_line("too big mbulk count string")
            if line is None:
                return None
            count = string2ll(line[1:])
            if count is None or count > MULTIBULK_MAX:
                raise ProtocolError("Protocol error: invalid multibulk length")
            if count > UNAUTH_MULTIBULK_MAX and self.unauthenticated:
                raise ProtocolError("Protocol error: unauthenticated multibulk length")
            if count <= 0:
                return []
            self._multibulklen = count
            self._many = count >= MANY_ARGUMENTS and self.max_bulk_len >= len(LENGTHS)
        while self._multibulklen:
            if self._many and self._bulklen < 0:
                self._many = self._split_arguments()
                if not self._multibulklen:
                    break
            if self._bulklen < 0 and not self._bulk_length():
                return None
            end = self._pos + self._bulklen
            if len(self._buffer) < end + 2:
                return None
            self._argv.append(bytes(self._buffer[self._pos : end]))
            self._pos = end + 2
            self._bulklen = -1
            self._multibulklen -= 1
        argv, self._argv, self._many = self._argv, [], False
        return argv

    def _split_arguments(self) -> bool:
        """Take arguments of a long request off the buffer in one go, as :meth:`_split` does.

        False if there is one that does not fit: then it is not tried again.
        """
        self._compact()
        parts = bytes(self._buffer).split(LINE_END)
        end = min(self._multibulklen, (len(parts) - 1) // 2) * 2
        arguments = parts[1:end:2]
        try:
            usual = [LENGTHS[len(arg)] for arg in arguments] == parts[0:end:2]
        except IndexError:
            return False
        if usual:
            self._argv += arguments
            self._multibulklen -= len(arguments)
            self._pos = sum(map(len, parts[:end])) + len(LINE_END) * end
        return usual

    def _compact(self) -> None:
        """Forget what was consumed."""
        del self._buffer[: self._pos]
        self._searched = max(self._searched - self._pos, 0)
        self._pos = 0

    def _bulk_length(self) -> bool:
        start = self._pos
        line = self._count_line("too big bulk count string")
        if line is None:
            return False
        if self._buffer[start] != 0x24:  # '$'
            char = self._buffer[start : start + 1].decode("utf-8", "surrogateescape")
            raise ProtocolError(f"Protocol error: expected '$', got '{char}'")
        length = string2ll(line[1:])
        if length is None or not 0 <= length <= self.max_bulk_len:
            raise ProtocolError("Protocol error: invalid bulk length")
        if length > UNAUTH_BULK_MAX and self.unauthenticated:
            raise ProtocolError("Protocol error: unauthenticated bulk length")
        self._bulklen = length
        return True


def encode_reply(reply: Reply, resp: int) -> bytes:
    """*reply* on the wire in protocol version *resp*. Linear in its size."""
    kind = reply.__class__
    if kind is Status:
        return b"+%s\r\n" % reply.text
    if kind is int:
        return b":%d\r\n" % reply
    out: list[bytes] = []
    _append(out, reply, resp)
    return out[0] if len(out) == 1 else b"".join(out)


def _append(out: list[bytes], reply: Reply, resp: int) -> None:
    """Without recursion, as scripts can return thousands of arrays in each other."""
    stack: list[_Items] = [(iter((reply,)), resp)]
    while stack:
        items, resp = stack[-1]
        for item in items:
            kind = item.__class__
            if kind is bytes:
                out.append(b"$%d\r\n%s\r\n" % (len(item), item))
            elif kind is int:
                out.append(b":%d\r\n" % item)
            elif kind is Status:
                out.append(b"+%s\r\n" % item.text)
            elif item is None:
                out.append(b"$-1\r\n" if resp == 2 else b"_\r\n")
            elif kind is list:
                out.append(b"*%d\r\n" % len(item))
                stack.append((iter(item), resp))
                break
            elif kind is CommandError:
                text = item.text.replace(b"\r", b" ").replace(b"\n", b" ")
                out.append(b"-%s\r\n" % text)
            elif (inner := _append_rare(out, item, resp)) is not None:
                stack.append(inner)
                break
        else:
            stack.pop()


def _append_rare(out: list[bytes], reply: Reply, resp: int) -> _Items | None:
    """The kinds that differ between the protocols; what is in them and still to be written."""
    kind = reply.__class__
    if kind is Wire:
        out.append(reply.data)
        return None
    if kind is dict or kind is MapReply:
        pairs = reply.items() if kind is dict else reply.pairs
        out.append(b"*%d\r\n" % (2 * len(pairs)) if resp == 2 else b"%%%d\r\n" % len(pairs))
        return chain.from_iterable(pairs), resp
    if kind is SetReply or kind is Push:
        sign = b"*" if resp == 2 else (b"~" if kind is SetReply else b">")
        out.append(b"%s%d\r\n" % (sign, len(reply.items)))
        return iter(reply.items), resp
    if kind is Attributed:
        if resp == 2:
            return iter((reply.reply,)), resp
        out.append(b"|%d\r\n" % len(reply.attributes))
        pairs = reply.attributes.items()
        return chain(chain.from_iterable(pairs), (reply.reply,)), resp
    if kind is Interleaved:
        out.append(b"*%d\r\n" % reply.count)
        return iter(reply.items), resp
    if kind is InProtocol:
        return iter((reply.reply,)), reply.resp
    if kind is not NoReply:
        out.append(_rare_scalar(reply, resp))
    return None


def _rare_scalar(reply: Reply, resp: int) -> bytes:
    kind = reply.__class__
    if kind is bool:
        return b":%d\r\n" % reply if resp == 2 else (b"#t\r\n" if reply else b"#f\r\n")
    if kind is float or kind is HumanDouble:
        text = d2string(reply) if kind is float else d2string_human(reply.value)
        return _bulk(text) if resp == 2 else b",%s\r\n" % text
    if kind is NullArray:
        return b"*-1\r\n" if resp == 2 else b"_\r\n"
    if kind is Verbatim:
        if resp == 2:
            return _bulk(reply.text)
        return b"=%d\r\n%s:%s\r\n" % (len(reply.text) + 4, reply.format, reply.text)
    if kind is BigNumber:
        return _bulk(reply.digits) if resp == 2 else b"(%s\r\n" % reply.digits
    raise TypeError(f"not a reply: {reply!r}")


def _bulk(text: bytes) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(text), text)
