"""Replies of commands as Lua values, and Lua values as replies.

A script sees RESP2 unless it asks for RESP3: nulls are ``false``, doubles strings, maps flat
arrays. With RESP3 what Lua has no type for is a table with one telling field: ``map``,
``set``, ``double``, ``big_number``, ``verbatim_string``.

Redis: script_lua.c, ``redisProtocolToLuaType()`` and ``luaReplyToRedisReply()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miniredis.errors import CommandError
from miniredis.reply import (
    NULL_ARRAY,
    Attributed,
    BigNumber,
    HumanDouble,
    Interleaved,
    MapReply,
    Push,
    Reply,
    SetReply,
    Status,
    Verbatim,
)
from miniredis.scripting.arguments import to_integer
from miniredis.structs.double import d2string, d2string_human

if TYPE_CHECKING:
    from miniredis.scripting.lua import Lua

#: Levels of tables in a reply. Redis ends at its Lua stack's limit, some 4,000.
MAX_REPLY_DEPTH = 300
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


def error_text(text: bytes) -> bytes:
    """An error reply as the field ``err`` has it: a lone word is no code."""
    return text if b" " in text else b"ERR " + text


def to_lua(lua: Lua, reply: Reply, resp: int) -> Any:
    """What a script gets for the reply of a command."""
    kind = reply.__class__
    if kind is bytes or kind is int:
        return reply
    if reply is None or reply is NULL_ARRAY:
        return False if resp == 2 else None
    if kind is bool:
        return reply if resp == 3 else int(reply)
    if kind is Status:
        return lua.field(b"ok", reply.text)
    if kind is list or kind is Push or kind is Interleaved:
        items = reply if kind is list else reply.items
        return lua.table_of([to_lua(lua, item, resp) for item in items])
    if kind is CommandError:
        text = error_text(reply.text)
        return lua.map_of([(b"err", text), (b"ignore_error_stats_update", True)])
    if kind is Attributed:
        return to_lua(lua, reply.reply, resp)
    if kind is bytearray or kind is memoryview:
        return bytes(reply)
    return _to_lua2(lua, reply) if resp == 2 else _to_lua3(lua, reply)


def _to_lua2(lua: Lua, reply: Reply) -> Any:
    kind = reply.__class__
    if kind is float:
        return d2string(reply)
    if kind is HumanDouble:
        return d2string_human(reply.value)
    if kind is dict or kind is MapReply:
        pairs = reply.items() if kind is dict else reply.pairs
        flat = [part for pair in pairs for part in pair]
        return lua.table_of([to_lua(lua, part, 2) for part in flat])
    if kind is SetReply:
        return lua.table_of([to_lua(lua, item, 2) for item in reply.items])
    if kind is Verbatim:
        return reply.text
    assert kind is BigNumber, reply
    return reply.digits


def _to_lua3(lua: Lua, reply: Reply) -> Any:
    kind = reply.__class__
    if kind is float:
        return lua.field(b"double", reply)
    if kind is HumanDouble:
        return lua.field(b"double", reply.value)
    if kind is dict or kind is MapReply:
        pairs = reply.items() if kind is dict else reply.pairs
        pairs = [(to_lua(lua, k, 3), to_lua(lua, v, 3)) for k, v in pairs]
        return lua.field(b"map", lua.map_of(pairs))
    if kind is SetReply:
        members = lua.map_of((to_lua(lua, item, 3), True) for item in reply.items)
        return lua.field(b"set", members)
    if kind is Verbatim:
        content = lua.map_of([(b"string", reply.text), (b"format", reply.format)])
        return lua.field(b"verbatim_string", content)
    assert kind is BigNumber, reply
    return lua.field(b"big_number", reply.digits)


def to_reply(lua: Lua, value: Any, resp: int, depth: int = 0) -> Reply:
    """The reply for what a script returned; *resp* is the protocol it has chosen.

    An error is a value here, whoever raises or counts it.
    """
    kind = value.__class__
    if kind is bytes or value is None:
        return value
    if kind is bool:
        if resp == 3:
            return value
        return 1 if value else None
    if kind is int or kind is float:
        return to_integer(value)
    if lua.kind(value) != "table":
        return None
    if depth == MAX_REPLY_DEPTH:
        return CommandError("ERR reached lua stack limit")
    shape = lua.shape(value)
    name, *content = shape if isinstance(shape, tuple) else (shape,)
    if name == b"array":
        return [to_reply(lua, item, resp, depth + 1) for item in content]
    if name == b"long":
        items = lua.elements(value, content[0])
        return [to_reply(lua, item, resp, depth + 1) for item in items]
    return _tagged(lua, name, content, resp, depth)


def _tagged(lua: Lua, name: bytes, content: list[Any], resp: int, depth: int) -> Reply:
    if name == b"err":
        error = CommandError(content[0].translate(_LINE_BREAKS))
        error.counted = content[1]
        return error
    if name == b"ok":
        return Status(content[0].translate(_LINE_BREAKS))
    if name == b"double":
        return float(content[0])
    if name == b"big_number":
        return BigNumber(content[0].translate(_LINE_BREAKS))
    if name == b"verbatim":
        return Verbatim(content[1], content[0])
    items = lua.items(content[0])
    if name == b"map":
        return MapReply(
            [
                (to_reply(lua, k, resp, depth + 1), to_reply(lua, v, resp, depth + 1))
                for k, v in items
            ]
        )
    assert name == b"set"
    return SetReply([to_reply(lua, k, resp, depth + 1) for k, _ in items])
