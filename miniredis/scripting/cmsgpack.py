"""The library ``cmsgpack``: MessagePack as lua-cmsgpack writes and reads it.

Whole numbers take the fewest bytes; a double is shortened to four bytes where that loses
nothing. A table whose keys are 1...n is an array. Below 16 levels a table becomes nil.

Redis: deps/lua/src/lua_cmsgpack.c
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from miniredis.scripting.arguments import check_integer, check_string
from miniredis.scripting.errors import ScriptError, argument_error

if TYPE_CHECKING:
    from miniredis.scripting.lua import Lua

LUACMSGPACK_MAX_NESTING = 16
_INT64 = range(-(2**63), 2**63)
_FIXED = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_STRINGS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_MAPS = {0xDE: ">H", 0xDF: ">I"}
_LENGTHS = _STRINGS | {0xDC: ">H", 0xDD: ">I"} | _MAPS


class Cmsgpack:
    """The library of one interpreter."""

    def __init__(self, lua: Lua) -> None:
        self.lua = lua

    def functions(self) -> dict[str, Callable[..., Any]]:
        """For the table ``cmsgpack``."""
        return {
            "pack": self.pack,
            "unpack": self.unpack,
            "unpack_one": self.unpack_one,
            "unpack_limit": self.unpack_limit,
        }

    # -- writing ------------------------------------------------------------------------

    def pack(self, *args: Any) -> bytes:
        """All arguments, one after the other."""
        if not args:
            raise argument_error(0, "pack", "MessagePack pack needs input.")
        out: list[bytes] = []
        for value in args:
            self._write(value, 0, out.append)
        return b"".join(out)

    def _write(self, value: Any, level: int, out: Callable[[bytes], None]) -> None:
        if isinstance(value, bytes):
            out(_string_header(len(value)) + value)
        elif value is True or value is False:
            out(b"\xc3" if value else b"\xc2")
        elif (kind := self.lua.kind(value)) == "number":
            out(_number(value))
        elif kind == "table" and level < LUACMSGPACK_MAX_NESTING:
            self._write_table(value, level, out)
        else:
            out(b"\xc0")

    def _write_table(self, table: Any, level: int, out: Callable[[bytes], None]) -> None:
        items = self.lua.items(table)
        indexes = [k for k, _ in items if k.__class__ is int and k > 0]
        if len(indexes) == len(items) and max(indexes, default=0) == len(items):
            elements = dict(items)
            out(_header(len(items), 0x90, 0xDC))
            for i in range(1, len(items) + 1):
                self._write(elements[i], level + 1, out)
            return
        out(_header(len(items), 0x80, 0xDE))
        for key, value in items:
            self._write(key, level + 1, out)
            self._write(value, level + 1, out)

    # -- reading ------------------------------------------------------------------------

    def unpack(self, *args: Any) -> Any:
        """All values of a string."""
        return self._unpack(check_string(args, 1, "unpack"), None, 0)

    def unpack_one(self, *args: Any) -> Any:
        """Where to go on, or -1, and the value at an offset."""
        text = check_string(args, 1, "unpack_one")
        return self._unpack(text, 1, check_integer(args, 2, "unpack_one", 0))

    def unpack_limit(self, *args: Any) -> Any:
        """Where to go on, or -1, and up to *limit* values from an offset on."""
        text = check_string(args, 1, "unpack_limit")
        limit = check_integer(args, 2, "unpack_limit")
        return self._unpack(text, limit, check_integer(args, 3, "unpack_limit", 0))

    def _unpack(self, text: bytes, limit: int | None, offset: int) -> Any:
        if offset < 0 or (limit is not None and limit < 0):
            raise ScriptError(
                f"Invalid request to unpack with offset of {offset} and limit of {len(text)}."
            )
        if offset > len(text):
            raise ScriptError(f"Start offset {offset} greater than input length {len(text)}.")
        if limit == 0 and offset == 0:
            limit = None  # the call that asks for nothing means all, as in C
            values, _ = self._read_all(text, offset, None)
            return tuple(values)
        values, pos = self._read_all(text, offset, limit)
        if limit is None:
            return tuple(values)
        return (-1 if pos == len(text) else pos, *values)

    def _read_all(self, text: bytes, pos: int, limit: int | None) -> tuple[list[Any], int]:
        values: list[Any] = []
        try:
            while pos < len(text) and (limit is None or len(values) < limit):
                value, pos = self._read(text, pos)
                values.append(value)
        except (IndexError, struct.error):
            raise ScriptError("Missing bytes in input.") from None
        return values, pos

    def _read(self, text: bytes, pos: int) -> tuple[Any, int]:
        """The value at *pos* and the position after it, whatever its depth."""
        opened: list[_Open] = []
        while True:
            value, pos = self._token(text, pos)
            if value.__class__ is _Open and value.left:
                opened.append(value)
                continue
            while True:
                if value.__class__ is _Open:
                    value = self._closed(value)
                if not opened:
                    return value, pos
                opened[-1].items.append(value)
                opened[-1].left -= 1
                if opened[-1].left:
                    break
                value = opened.pop()

    def _token(self, text: bytes, pos: int) -> tuple[Any, int]:
        """A number, string, ... or the beginning of an array or map."""
        first = text[pos]
        pos += 1
        if first < 0x80:
            return first, pos
        if first >= 0xE0:
            return first - 0x100, pos
        if first < 0xA0:
            is_map = first < 0x90
            return _Open(is_map, (first & 0xF) << is_map), pos
        if first < 0xC0:
            return _read_string(text, pos, first & 0x1F)
        if first in _FIXED:
            return _FIXED[first], pos
        format = _LENGTHS.get(first) or _NUMBERS.get(first)
        if format is None:
            raise ScriptError("Bad data format in input.")
        (number,) = struct.unpack_from(format, text, pos)
        pos += struct.calcsize(format)
        if first in _NUMBERS:
            return float(number) if first == 0xCF else number, pos
        if first in _STRINGS:
            return _read_string(text, pos, number)
        is_map = first in _MAPS
        return _Open(is_map, number << is_map), pos

    def _closed(self, container: _Open) -> Any:
        items = container.items
        if not container.is_map:
            return self.lua.table_of(items)
        for key in items[::2]:
            if key is None:
                raise ScriptError("table index is nil")
            if key != key:
                raise ScriptError("table index is NaN")
        return self.lua.map_of(zip(items[::2], items[1::2], strict=True))


class _Open:
    """An array or map that has begun: what it has, and how many values are to come."""

    __slots__ = ("is_map", "items", "left")

    def __init__(self, is_map: bool, left: int) -> None:
        self.is_map = is_map
        self.left = left
        self.items: list[Any] = []


def _read_string(text: bytes, pos: int, length: int) -> tuple[bytes, int]:
    if pos + length > len(text):
        raise IndexError
    return text[pos : pos + length], pos + length


def _number(number: float) -> bytes:
    if number.__class__ is int or (number.is_integer() and int(number) in _INT64):
        return _integer(int(number))
    try:
        short = struct.pack(">f", number)
    except OverflowError:
        return b"\xcb" + struct.pack(">d", number)
    if struct.unpack(">f", short)[0] == number:
        return b"\xca" + short
    return b"\xcb" + struct.pack(">d", number)


def _integer(n: int) -> bytes:
    if -32 <= n <= 0x7F:
        return struct.pack(">b", n)
    if n >= 0:
        choices = ((0xFF, 0xCC), (0xFFFF, 0xCD), (0xFFFF_FFFF, 0xCE), (2**64 - 1, 0xCF))
        code = next(code for most, code in choices if n <= most)
    else:
        choices = ((-(2**7), 0xD0), (-(2**15), 0xD1), (-(2**31), 0xD2), (-(2**63), 0xD3))
        code = next(code for least, code in choices if n >= least)
    return bytes((code,)) + struct.pack(_NUMBERS[code], n)


def _string_header(length: int) -> bytes:
    if length < 32:
        return bytes((0xA0 | length,))
    if length <= 0xFF:
        return struct.pack(">BB", 0xD9, length)
    if length <= 0xFFFF:
        return struct.pack(">BH", 0xDA, length)
    return struct.pack(">BI", 0xDB, length)


def _header(length: int, fix: int, code: int) -> bytes:
    if length <= 15:
        return bytes((fix | length,))
    if length <= 0xFFFF:
        return struct.pack(">BH", code, length)
    return struct.pack(">BI", code + 1, length)
