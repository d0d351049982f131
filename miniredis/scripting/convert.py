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

# What Redis's conversion has on its Lua stack for each level of a reply, and how much it can
# have: so 7,994 arrays may stand in each other, but 2,664 sets. luaconf.h: LUAI_MAXCSTACK
LUA_STACK_MAX = 7995
ARRAY_SLOTS, SET_SLOTS, MAP_KEY_SLOTS, MAP_VALUE_SLOTS = 1, 3, 4, 3
_SCALARS = frozenset([bytes, type(None), bool, int, float])
_Job = tuple[Any, int, list[Reply], int]  # value, depth, and the place of its reply
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


def to_reply(lua: Lua, value: Any, resp: int) -> Reply:
    """The reply for what a script returned; *resp* is the protocol it has chosen.

    An error is a value here, whoever raises or counts it. Without recursion: each job names a
    value, how deep it stands, and where its reply belongs. O(elements).
    """
    result: list[Reply] = [None]
    jobs: list[_Job] = [(value, 0, result, 0)]
    maps: list[tuple[MapReply, list[Reply]]] = []
    while jobs:
        value, depth, place, index = jobs.pop()
        if depth >= LUA_STACK_MAX:
            place[index] = CommandError("ERR reached lua stack limit")
        elif value.__class__ in _SCALARS:
            place[index] = _scalar(value, resp)
        elif lua.kind(value) == "table":
            place[index] = _table(lua, value, depth, jobs, maps)
    for reply, flat in maps:
        reply.pairs.extend(zip(flat[::2], flat[1::2], strict=True))
    return result[0]


def _scalar(value: Any, resp: int) -> Reply:
    kind = value.__class__
    if kind is bool:
        if resp == 3:
            return value
        return 1 if value else None
    return to_integer(value) if kind is int or kind is float else value


def _table(
    lua: Lua,
    table: Any,
    depth: int,
    jobs: list[_Job],
    maps: list[tuple[MapReply, list[Reply]]],
) -> Reply:
    """The reply for a table, empty if it is a container: *jobs* gets what will be in it."""
    shape = lua.shape(table)
    name, *content = shape if isinstance(shape, tuple) else (shape,)
    if name == b"array" or name == b"long":
        items = content if name == b"array" else lua.elements(table, content[0])
        array: list[Reply] = [None] * len(items)
        jobs.extend((item, depth + ARRAY_SLOTS, array, i) for i, item in enumerate(items))
        return array
    if name == b"map":
        pairs = lua.items(content[0])
        flat: list[Reply] = [None] * (2 * len(pairs))
        for i, (key, value) in enumerate(pairs):
            jobs.append((key, depth + MAP_KEY_SLOTS, flat, 2 * i))
            jobs.append((value, depth + MAP_VALUE_SLOTS, flat, 2 * i + 1))
        maps.append((MapReply([]), flat))
        return maps[-1][0]
    if name == b"set":
        keys = [key for key, _ in lua.items(content[0])]
        members: list[Reply] = [None] * len(keys)
        jobs.extend((key, depth + SET_SLOTS, members, i) for i, key in enumerate(keys))
        return SetReply(members)
    return _tagged(name, content)


def _tagged(name: bytes, content: list[Any]) -> Reply:
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
    assert name == b"verbatim"
    return Verbatim(content[1], content[0])
