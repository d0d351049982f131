"""RESP, the protocol of Redis, without any I/O: parsing requests, encoding replies.

Redis: networking.c (``processInlineBuffer``, ``processMultibulkBuffer``, ``addReply*``).
"""

from __future__ import annotations

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


class ProtocolError(Exception):
    """The client broke the protocol; the text is sent as an error, then it is hung up on.

    Bytes of the client in the text that are no UTF-8 stand as surrogates.
    """


class RequestParser:
    """Turns bytes as they come into requests, each a list of arguments.

    Feed it any pieces with :meth:`feed` and take requests with :meth:`next_request`.
    ``max_bulk_len`` and ``unauthenticated`` may be changed between requests.
    """

    def __init__(self, max_bulk_len: int = PROTO_MAX_BULK_LEN) -> None:
        self.max_bulk_len = max_bulk_len
        self.unauthenticated = False
        self._buffer = bytearray()
        self._pos = 0
        self._searched = 0  # up to here there is no line end after _pos
        self._multibulklen = 0
        self._bulklen = -1
        self._argv: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Add bytes that have arrived."""
        if self._pos > COMPACT_BYTES or self._pos == len(self._buffer):
            del self._buffer[: self._pos]
            self._searched = max(self._searched - self._pos, 0)
            self._pos = 0
        self._buffer += data

    def next_request(self) -> list[bytes] | None:
        """The next complete request, or None until more bytes come.

        An empty request (``*0``, an empty line) is an empty list. Raises ProtocolError; the
        parser is of no use afterwards.
        """
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
        while self._multibulklen:
            if self._bulklen < 0 and not self._bulk_length():
                return None
            end = self._pos + self._bulklen
            if len(self._buffer) < end + 2:
                return None
            self._argv.append(bytes(self._buffer[self._pos : end]))
            self._pos = end + 2
            self._bulklen = -1
            self._multibulklen -= 1
        argv, self._argv = self._argv, []
        return argv

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
    out: list[bytes] = []
    _append(out, reply, resp)
    return b"".join(out)


def _append(out: list[bytes], reply: Reply, resp: int) -> None:
    kind = reply.__class__
    if kind is bytes:
        out.append(b"$%d\r\n%s\r\n" % (len(reply), reply))
    elif kind is int:
        out.append(b":%d\r\n" % reply)
    elif kind is Status:
        out.append(b"+%s\r\n" % reply.text)
    elif reply is None:
        out.append(b"$-1\r\n" if resp == 2 else b"_\r\n")
    elif kind is list:
        out.append(b"*%d\r\n" % len(reply))
        for item in reply:
            _append(out, item, resp)
    elif kind is CommandError:
        text = reply.text.replace(b"\r", b" ").replace(b"\n", b" ")
        out.append(b"-%s\r\n" % text)
    else:
        _append_rare(out, reply, resp)


def _append_rare(out: list[bytes], reply: Reply, resp: int) -> None:
    """The kinds that differ between the protocols."""
    kind = reply.__class__
    if kind is Wire:
        out.append(reply.data)
    elif kind is dict:
        out.append(b"*%d\r\n" % (2 * len(reply)) if resp == 2 else b"%%%d\r\n" % len(reply))
        for key, value in reply.items():
            _append(out, key, resp)
            _append(out, value, resp)
    elif kind is MapReply:
        pairs = reply.pairs
        out.append(b"*%d\r\n" % (2 * len(pairs)) if resp == 2 else b"%%%d\r\n" % len(pairs))
        for pair in pairs:
            for item in pair:
                _append(out, item, resp)
    elif kind is SetReply or kind is Push:
        sign = b"*" if resp == 2 else (b"~" if kind is SetReply else b">")
        out.append(b"%s%d\r\n" % (sign, len(reply.items)))
        for item in reply.items:
            _append(out, item, resp)
    elif kind is Attributed:
        if resp == 3:
            out.append(b"|%d\r\n" % len(reply.attributes))
            for pair in reply.attributes.items():
                for item in pair:
                    _append(out, item, resp)
        _append(out, reply.reply, resp)
    elif kind is Interleaved:
        out.append(b"*%d\r\n" % reply.count)
        for item in reply.items:
            _append(out, item, resp)
    elif kind is bool:
        out.append(b":%d\r\n" % reply if resp == 2 else (b"#t\r\n" if reply else b"#f\r\n"))
    elif kind is float:
        text = d2string(reply)
        _append(out, text, 2) if resp == 2 else out.append(b",%s\r\n" % text)
    elif kind is NullArray:
        out.append(b"*-1\r\n" if resp == 2 else b"_\r\n")
    elif kind is Verbatim:
        if resp == 2:
            _append(out, reply.text, 2)
        else:
            out.append(b"=%d\r\n%s:%s\r\n" % (len(reply.text) + 4, reply.format, reply.text))
    elif kind is HumanDouble:
        text = d2string_human(reply.value)
        _append(out, text, 2) if resp == 2 else out.append(b",%s\r\n" % text)
    elif kind is BigNumber:
        _append(out, reply.digits, 2) if resp == 2 else out.append(b"(%s\r\n" % reply.digits)
    elif kind is InProtocol:
        _append(out, reply.reply, reply.resp)
    elif kind is not NoReply:
        raise TypeError(f"not a reply: {reply!r}")
