"""The library ``struct``: packing numbers and strings into bytes by a format.

Options: ``b``/``B``, ``h``/``H``, ``l``/``L``, ``T``, ``i``/``I`` with a size, ``f``, ``d``,
``s`` (ends with NUL), ``c`` with a length (``c0``: the length was the value before), ``x``;
``<``, ``>`` and ``!`` set byte order and alignment, which is 1 until then.

Redis: deps/lua/src/lua_struct.c
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from miniredis.scripting.arguments import (
    check_integer,
    check_number,
    check_string,
    to_integer,
)
from miniredis.scripting.errors import ScriptError, argument_error

MAXINTSIZE = 32  # bytes
MAXALIGN = 8  # bytes
INT_MAX = 2**31 - 1
_SIZES = {"b": 1, "h": 2, "l": 8, "t": 8, "f": 4, "d": 8, "x": 1}


@dataclass(slots=True)
class _Item:
    option: str
    size: int
    little: bool
    align: int

    def padding(self, position: int) -> int:
        """Bytes to the next multiple of the size, which the alignment limits."""
        if self.size == 0 or self.option == "c":
            return 0
        size = min(self.size, self.align)
        return (size - (position & (size - 1))) & (size - 1)


def _parse(format: bytes, function: str) -> Iterator[_Item]:
    """The options of a format, one after the other. NUL ends it."""
    text = format.split(b"\0", 1)[0].decode("latin-1")
    pos, little, align = 0, True, 1

    def number(default: int) -> int:
        nonlocal pos
        begin = pos
        while pos < len(text) and text[pos] in "0123456789":
            pos += 1
            if int(text[begin:pos]) > INT_MAX:
                raise ScriptError("integral size overflow")
        return int(text[begin:pos]) if pos > begin else default

    while pos < len(text):
        option = text[pos]
        pos += 1
        if option in "bBhHlLTfdx":
            yield _Item(option, _SIZES[option.lower()], little, align)
        elif option in "iI":
            size = number(4)
            if size > MAXINTSIZE:
                raise ScriptError(f"integral size {size} is larger than limit of {MAXINTSIZE}")
            yield _Item(option, size, little, align)
        elif option == "c":
            yield _Item(option, number(1), little, align)
        elif option == "s":
            yield _Item(option, 0, little, align)
        elif option in "<>":
            little = option == "<"
        elif option == "!":
            align = number(MAXALIGN)
            if align <= 0 or align & (align - 1):
                raise ScriptError(f"alignment {align} is not a power of 2")
        elif option != " ":
            raise argument_error(1, function, f"invalid format option '{option}'")


def pack(*args: Any) -> bytes:
    """The arguments after the format as bytes."""
    out = bytearray()
    arg = 2
    for item in _parse(check_string(args, 1, "pack"), "pack"):
        out += bytes(item.padding(len(out)))
        option = item.option
        if option == "x":
            out.append(0)
        elif option in "fd":
            out += _float(check_number(args, arg, "pack"), item)
            arg += 1
        elif option in "cs":
            text = check_string(args, arg, "pack")
            arg += 1
            size = item.size or len(text)
            if len(text) < size:
                raise argument_error(arg, "pack", "string too short")
            out += text[:size]
            if option == "s":
                out.append(0)
        else:
            value = to_integer_modulo(check_number(args, arg, "pack"))
            arg += 1
            piece = (value & (1 << 8 * item.size) - 1).to_bytes(item.size, "little")
            out += piece if item.little else piece[::-1]
    return bytes(out)


def to_integer_modulo(number: float) -> int:
    """A double as C's cast to an unsigned 64-bit integer, negative ones by way of signed."""
    if number < 0:
        return to_integer(number) % 2**64
    integer = int(number) if number == number and number != float("inf") else 0
    return integer if integer < 2**64 else 0


def _float(number: float, item: _Item) -> bytes:
    order = "<" if item.little else ">"
    try:
        return struct.pack(order + item.option, number)
    except OverflowError:
        return struct.pack(order + item.option, float("inf") if number > 0 else float("-inf"))


def unpack(*args: Any) -> tuple[Any, ...]:
    """The values in a string, and the position after the last."""
    format = check_string(args, 1, "unpack")
    data = check_string(args, 2, "unpack")
    pos = check_integer(args, 3, "unpack", 1) - 1
    if pos < 0:
        raise argument_error(3, "unpack", "offset must be 1 or greater")
    values: list[Any] = []
    for item in _parse(format, "unpack"):
        pos += item.padding(pos)
        option, size = item.option, item.size
        _check_length(data, pos, size)
        if option in "fd":
            order = "<" if item.little else ">"
            values.append(struct.unpack_from(order + option, data, pos)[0])
        elif option == "c":
            if size == 0:
                if not values or isinstance(values[-1], bytes):
                    raise ScriptError("format 'c0' needs a previous size")
                size = int(values.pop())
                _check_length(data, pos, size)
            values.append(data[pos : pos + size])
        elif option == "s":
            end = data.find(b"\0", pos)
            if end < 0:
                raise ScriptError("unfinished string in data")
            values.append(data[pos:end])
            size = end - pos + 1
        elif option != "x":
            piece = data[pos : pos + size]
            order = "little" if item.little else "big"
            values.append(_integer(int.from_bytes(piece, order), size, option.islower()))  # type: ignore[arg-type]
        pos += size
    return (*values, pos + 1)


def _integer(value: int, size: int, signed: bool) -> float:
    """What C's 64-bit arithmetic makes of an integer of *size* bytes."""
    value %= 2**64
    if signed and size > 0 and value >> (min(8 * size, 64) - 1) & 1:
        value -= 1 << min(8 * size, 64)
    return value if abs(value) < 2**53 else float(value)


def _check_length(data: bytes, pos: int, size: int) -> None:
    if not (0 <= size <= len(data) and pos <= len(data) - size):
        raise argument_error(2, "unpack", "data string too short")


def size(*args: Any) -> int:
    """The length of what a format packs."""
    pos = 0
    for item in _parse(check_string(args, 1, "size"), "size"):
        pos += item.padding(pos)
        if item.option == "s":
            raise argument_error(1, "size", "option 's' has no fixed size")
        if item.option == "c" and item.size == 0:
            raise argument_error(1, "size", "option 'c0' has no fixed size")
        pos += item.size
    return pos


STRUCT: dict[str, Any] = {"pack": pack, "unpack": unpack, "size": size}
