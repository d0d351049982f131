"""Reply values as redis-py's parsers would deliver them.

The in-process client sends nothing over a wire; these functions stand in for encoding a
reply and parsing it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from redis._parsers.base import BaseParser
from redis.exceptions import ConnectionError

from miniredis.errors import CommandError
from miniredis.reply import (
    Attributed,
    BigNumber,
    HumanDouble,
    InProtocol,
    Interleaved,
    MapReply,
    NullArray,
    Push,
    Reply,
    SetReply,
    Status,
    Verbatim,
)
from miniredis.structs.double import d2string_human

Decode = Callable[[bytes], Any]


def as_read(reply: Interleaved, resp: int) -> list[Reply]:
    """What a client reads when *reply* is on the wire: its array, and messages.

    The first ``count`` items are taken for the elements, whatever they are; RESP3 knows
    messages from replies. What follows is read afterwards. ``ConnectionError`` if there
    are too few: a client on a wire would wait for ever.
    """
    messages = [item for item in reply.items if _is_message(item, resp)]
    items = [item for item in reply.items if not _is_message(item, resp)]
    if len(items) < reply.count:
        raise ConnectionError(
            f"EXEC announced {reply.count} replies and sent {len(items)}: a command in the "
            "transaction has no reply of its own (SUBSCRIBE under RESP3, CLIENT REPLY OFF)"
        )
    return [*messages, items[: reply.count], *items[reply.count :]]


def _is_message(item: Reply, resp: int) -> bool:
    """Whether a client that reads *item* knows it as a message out of band."""
    while item.__class__ is InProtocol:
        item, resp = item.reply, item.resp
    return resp == 3 and item.__class__ is Push


def to_exception(error: CommandError) -> Exception:
    """The redis-py exception for an error reply, chosen by its code."""
    text = error.text.decode("utf-8", "replace").replace("\r", " ").replace("\n", " ")
    exception: Exception = BaseParser.parse_error(text)
    return exception


def to_python(reply: Reply, resp: int, decode: Decode) -> Any:
    """*reply* as redis-py's parser for protocol *resp* delivers it.

    *decode* is applied to every string. Errors become exceptions, as values.
    """
    kind = reply.__class__
    if kind is bytes:
        return decode(reply)
    if kind is int or reply is None:
        return reply
    if kind is list:  # of strings most of the time, so that case is written out
        try:
            return [
                decode(item) if item.__class__ is bytes else to_python(item, resp, decode)
                for item in reply
            ]
        except RecursionError:
            return _deep_list(reply, resp, decode)
    if kind is Status:
        return decode(reply.text)
    if kind is CommandError:
        return to_exception(reply)
    if kind is dict:
        return _map(reply.items(), resp, decode)
    if kind is MapReply:
        return _map(reply.pairs, resp, decode)
    if kind is SetReply or kind is Push:
        return [to_python(item, resp, decode) for item in reply.items]
    if kind is bool:
        return reply if resp == 3 else int(reply)
    if kind is float:
        return reply if resp == 3 else decode(b"%.17g" % reply)
    if kind is HumanDouble:
        return reply.value if resp == 3 else decode(d2string_human(reply.value))
    if kind is Verbatim:
        return decode(reply.text)
    if kind is BigNumber:
        return int(reply.digits) if resp == 3 else decode(reply.digits)
    if kind is Attributed:
        return to_python(reply.reply, resp, decode)
    if kind is NullArray:
        return None
    if kind is Interleaved:  # within EXEC's reply
        items = [item for item in reply.items if not _is_message(item, resp)]
        return [to_python(item, resp, decode) for item in items[: reply.count]]
    if kind is InProtocol:
        return to_python(reply.reply, reply.resp, decode)
    raise TypeError(f"not a reply: {reply!r}")


def _deep_list(reply: list[Reply], resp: int, decode: Decode) -> list[Any]:
    """As above without recursion: scripts can return thousands of arrays in each other."""
    result: list[Any] = []
    stack = [(iter(reply), result)]
    while stack:
        items, out = stack[-1]
        for item in items:
            if item.__class__ is list:
                inner: list[Any] = []
                out.append(inner)
                stack.append((iter(item), inner))
                break
            out.append(to_python(item, resp, decode))
        else:
            stack.pop()
    return result


def _map(items: Iterable[tuple[Reply, Reply]], resp: int, decode: Decode) -> Any:
    pairs = [(to_python(key, resp, decode), to_python(value, resp, decode)) for key, value in items]
    if resp == 3:
        return dict(pairs)
    return [item for pair in pairs for item in pair]
