"""Checking what a script hands to a library function, with Lua's texts.

Redis: lauxlib.c, ``luaL_check*()``.
"""

from __future__ import annotations

from typing import Any

from miniredis.scripting.errors import argument_error

INT_MIN = -(2**63)  # what C makes of a number that no 64-bit integer holds


def type_name(args: tuple[Any, ...], position: int) -> str:
    """What error texts call an argument."""
    if position > len(args):
        return "no value"
    value = args[position - 1]
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, bytes):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return type_of_object(value)


def type_of_object(value: Any) -> str:
    """Lua's name for the type of a value that is no simple one."""
    from lupa.lua51 import lua_type  # not at import time: most servers run no script

    return lua_type(value) or "userdata"


def check_number(args: tuple[Any, ...], position: int, function: str) -> float:
    """A number, or a string that reads as one. luaL_checknumber()"""
    value = args[position - 1] if position <= len(args) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, bytes):
        number = parse_number(value)
        if number is not None:
            return number
    raise argument_error(position, function, f"number expected, got {type_name(args, position)}")


def check_string(args: tuple[Any, ...], position: int, function: str) -> bytes:
    """A string, or a number as Lua prints it. luaL_checklstring()"""
    value = args[position - 1] if position <= len(args) else None
    if isinstance(value, bytes):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return tostring(value)
    raise argument_error(position, function, f"string expected, got {type_name(args, position)}")


def check_integer(
    args: tuple[Any, ...], position: int, function: str, default: int | None = None
) -> int:
    """A number, cut to an integer. luaL_checkinteger(), luaL_optinteger()"""
    if default is not None and (position > len(args) or args[position - 1] is None):
        return default
    return to_integer(check_number(args, position, function))


def to_integer(number: float) -> int:
    """A double as C's cast makes a 64-bit integer of it."""
    if number.__class__ is int:
        integer = int(number)
    elif number != number or number in (float("inf"), float("-inf")):
        return INT_MIN
    else:
        integer = int(number)
    return integer if INT_MIN <= integer < 2**63 else INT_MIN


def number_text(number: float) -> bytes:
    """A number as Redis turns it into an argument: ``%.17g``. script_lua.c"""
    if number.__class__ is int and -(10**15) < number < 10**15:
        return b"%d" % number
    return b"%.17g" % number


def tostring(number: float) -> bytes:
    """A number as Lua's tostring() prints it: ``%.14g``."""
    if number != number:
        return b"-nan" if str(number).startswith("-") else b"nan"
    return ("%.14g" % number).encode()


def parse_number(text: bytes) -> float | None:
    """A number as Lua reads it from a string: decimal or hexadecimal, blanks around."""
    text = text.strip(b" \t\n\v\f\r")
    try:
        if text[:2].lower() == b"0x":
            return int(text, 16)
        if b"_" in text:
            return None
        number = float(text)
    except ValueError:
        return None
    return number
