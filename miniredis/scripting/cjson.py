"""The library ``cjson``: JSON as lua-cjson 2.1.0 writes and reads it.

What is particular about it: a table with the keys 1...n is an array, an empty one an
object; a table with a hole so large that most would be null is refused; null is a value of
its own, ``cjson.null``; slashes are escaped; numbers have 14 digits.

Redis: deps/lua/src/lua_cjson.c
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from miniredis.scripting.arguments import check_integer, check_string, type_name
from miniredis.scripting.errors import ScriptError, argument_error

if TYPE_CHECKING:
    from miniredis.scripting.lua import Lua

_ESCAPES = {
    0x08: b"\\b",
    0x09: b"\\t",
    0x0A: b"\\n",
    0x0C: b"\\f",
    0x0D: b"\\r",
    0x22: b'\\"',
    0x2F: b"\\/",
    0x5C: b"\\\\",
}
_ESCAPES |= {c: b"\\u%04x" % c for c in (*range(32), 127) if c not in _ESCAPES}
_TO_ESCAPE = re.compile(rb'[\x00-\x1f"/\\\x7f]')
_UNESCAPES = {
    b'"': b'"',
    b"\\": b"\\",
    b"/": b"/",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"f": b"\f",
    b"r": b"\r",
}
# What strtod() takes: decimal, hexadecimal with or without an exponent, inf, nan.
_NUMBER = re.compile(
    rb"[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    rb"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf(?:inity)?|nan))"
)
_STRICT_OUT = re.compile(rb"\+|-?0[xX0-9]|-?(?i:inf|nan)")
_PLAIN = re.compile(rb'[^"\\\x00]+')
_HEX4 = re.compile(rb"[0-9a-fA-F]{4}")
_BLANK = re.compile(rb"[ \t\n\r]*")
_SINGLE = {
    b"{": "T_OBJ_BEGIN",
    b"}": "T_OBJ_END",
    b"[": "T_ARR_BEGIN",
    b"]": "T_ARR_END",
    b":": "T_COLON",
    b",": "T_COMMA",
}


@dataclass(slots=True)
class _Value:
    """Something that is still to be written."""

    value: Any


class Cjson:
    """The library of one interpreter, with its settings."""

    def __init__(self, lua: Lua) -> None:
        self.lua = lua
        self.sparse_convert = False
        self.sparse_ratio = 2
        self.sparse_safe = 10
        self.encode_max_depth = 1000
        self.decode_max_depth = 1000
        self.precision = 14
        self.keep_buffer = True
        self.encode_invalid: bool | str = False  # "null": as null
        self.decode_invalid = True

    def functions(self) -> dict[str, Callable[..., Any]]:
        """For the table ``cjson``."""
        return {
            "encode": self.encode,
            "decode": self.decode,
            "encode_sparse_array": self.encode_sparse_array,
            "encode_max_depth": self._depth_setting("encode_max_depth"),
            "decode_max_depth": self._depth_setting("decode_max_depth"),
            "encode_number_precision": self._precision_setting,
            "encode_keep_buffer": self._switch("keep_buffer", "encode_keep_buffer"),
            "encode_invalid_numbers": self._switch(
                "encode_invalid", "encode_invalid_numbers", null=True
            ),
            "decode_invalid_numbers": self._switch("decode_invalid", "decode_invalid_numbers"),
        }

    # -- writing ------------------------------------------------------------------------

    def encode(self, *args: Any) -> bytes:
        """A value as JSON."""
        if len(args) != 1:
            raise argument_error(1, "encode", "expected 1 argument")
        # Tables may be nested deeper than Python's stack: a stack of our own holds of each
        # open table what is still to be written.
        out: list[bytes] = []
        stack: list[Iterator[bytes | _Value]] = [iter((_Value(args[0]),))]
        while stack:
            part = next(stack[-1], None)
            if part is None:
                stack.pop()
            elif part.__class__ is _Value:
                value = part.value
                if self.lua.kind(value) == "table":
                    if len(stack) > self.encode_max_depth:
                        raise ScriptError(f"Cannot serialise, excessive nesting ({len(stack)})")
                    stack.append(self._table(value))
                else:
                    out.append(self._scalar(value))
            else:
                assert isinstance(part, bytes)
                out.append(part)
        return b"".join(out)

    def _scalar(self, value: Any) -> bytes:
        if isinstance(value, bytes):
            return _quoted(value)
        if value is True or value is False:
            return b"true" if value else b"false"
        kind = self.lua.kind(value)
        if kind == "number":
            return self._number(value)
        if kind == "nil" or (kind == "userdata" and self.lua.is_null(value)):
            return b"null"
        raise ScriptError(f"Cannot serialise {kind}: type not supported")

    def _table(self, table: Any) -> Iterator[bytes | _Value]:
        items = self.lua.items(table)
        length = self._array_length([key for key, _ in items])
        if length > 0:
            elements = dict(items)
            for i in range(1, length + 1):
                yield b"," if i > 1 else b"["
                yield _Value(elements.get(i))
            yield b"]"
            return
        yield b"{"
        for n, (key, value) in enumerate(items):
            comma = b"," if n else b""
            kind = self.lua.kind(key)
            if kind == "string":
                yield comma + _quoted(key) + b":"
            elif kind == "number":
                yield comma + b'"' + self._number(key) + b'":'
            else:
                raise ScriptError(f"Cannot serialise {kind}: table key must be a number or string")
            yield _Value(value)
        yield b"}"

    def _array_length(self, keys: list[Any]) -> int:
        """The greatest index if all keys are whole and positive, else -1."""
        longest = 0
        for key in keys:
            if self.lua.kind(key) != "number" or key.__class__ is not int or key < 1:
                return -1
            longest = max(longest, key)
        if 0 < self.sparse_ratio * len(keys) < longest and longest > self.sparse_safe:
            if not self.sparse_convert:
                raise ScriptError("Cannot serialise table: excessively sparse array")
            return -1
        return longest

    def _number(self, number: float) -> bytes:
        if not math.isfinite(number):
            if self.encode_invalid is False:
                raise ScriptError("Cannot serialise number: must not be NaN or Inf")
            if self.encode_invalid == "null":
                return b"null"
            if math.isnan(number):
                return b"nan"
        return b"%.*g" % (self.precision, number)

    # -- reading ------------------------------------------------------------------------

    def decode(self, *args: Any) -> Any:
        """The value that a JSON text stands for."""
        if len(args) != 1:
            raise argument_error(1, "decode", "expected 1 argument")
        text = check_string(args, 1, "decode")
        if len(text) >= 2 and 0 in text[:2]:
            raise ScriptError("JSON parser does not support UTF-16 or UTF-32")
        return _Reader(self, text).read()

    # -- settings -----------------------------------------------------------------------

    def encode_sparse_array(self, *args: Any) -> Any:
        """Get or set whether, from which ratio and from which length on."""
        if len(args) > 3:
            raise argument_error(4, "encode_sparse_array", "found too many arguments")
        if args and args[0] is not None:
            self.sparse_convert = _option(args, 1, "encode_sparse_array") is True
        self.sparse_ratio = _bounded(args, 2, "encode_sparse_array", self.sparse_ratio, 0)
        self.sparse_safe = _bounded(args, 3, "encode_sparse_array", self.sparse_safe, 0)
        return self.sparse_convert, self.sparse_ratio, self.sparse_safe

    def _depth_setting(self, name: str) -> Callable[..., int]:
        def setting(*args: Any) -> int:
            if len(args) > 1:
                raise argument_error(2, name, "found too many arguments")
            setattr(self, name, _bounded(args, 1, name, getattr(self, name), 1))
            return int(getattr(self, name))

        return setting

    def _precision_setting(self, *args: Any) -> int:
        name = "encode_number_precision"
        if len(args) > 1:
            raise argument_error(2, name, "found too many arguments")
        self.precision = _bounded(args, 1, name, self.precision, 1, 14)
        return self.precision

    def _switch(self, attribute: str, name: str, null: bool = False) -> Callable[..., Any]:
        def setting(*args: Any) -> Any:
            if len(args) > 1:
                raise argument_error(2, name, "found too many arguments")
            if args and args[0] is not None:
                setattr(self, attribute, _option(args, 1, name, null))
            value = getattr(self, attribute)
            return value.encode() if isinstance(value, str) else value

        return setting


class _Reader:
    """One text being read. *pos* is where the next token begins."""

    def __init__(self, json: Cjson, text: bytes) -> None:
        self.json = json
        self.lua = json.lua
        self.text = text + b"\0"
        self.pos = 0
        self.at = 0  # where the current token begins

    def read(self) -> Any:
        value = self.value(*self.token())
        kind, found = self.token()
        if kind != "T_END":
            self.fail("the end", kind, found)
        return value

    def fail(self, expected: str, kind: str, found: Any) -> NoReturn:
        what = found if kind == "T_ERROR" else kind
        raise ScriptError(f"Expected {expected} but found {what} at character {self.at + 1}")

    def error(self, reason: str, at: int | None = None) -> tuple[str, Any]:
        self.at = self.pos if at is None else at
        return "T_ERROR", reason

    def token(self) -> tuple[str, Any]:
        """The kind and value of the next token; the position moves past it."""
        text = self.text
        blank = _BLANK.match(text, self.pos)
        assert blank is not None
        self.pos = self.at = blank.end()
        first = text[self.pos : self.pos + 1]
        kind = _SINGLE.get(first)
        if kind is not None:
            self.pos += 1
            return kind, None
        if first == b"\0":
            return "T_END", None  # a NUL ends the text for C, whatever follows
        if first == b'"':
            return self.string()
        strict = not self.json.decode_invalid
        odd = _STRICT_OUT.match(text, self.pos) is not None
        if first == b"-" or first.isdigit():
            if strict and odd:
                return self.error("invalid number")
            return self.number()
        for word, kind, value in (
            (b"true", "T_BOOLEAN", True),
            (b"false", "T_BOOLEAN", False),
            (b"null", "T_NULL", None),
        ):
            if text.startswith(word, self.pos):
                self.pos += len(word)
                return kind, value
        if not strict and odd and first in b"+iInN":
            return self.number()
        return self.error("invalid token")

    def number(self) -> tuple[str, Any]:
        match = _NUMBER.match(self.text, self.pos)
        if match is None:
            return self.error("invalid number")
        self.pos = match.end()
        word = match[0]
        if b"x" in word.lower():
            return "T_NUMBER", float.fromhex(word.decode())
        return "T_NUMBER", float(word)

    def string(self) -> tuple[str, Any]:
        text, pos = self.text, self.pos + 1
        parts: list[bytes] = []
        while True:
            plain = _PLAIN.match(text, pos)
            if plain is not None:
                parts.append(plain[0])
                pos = plain.end()
            byte = text[pos : pos + 1]
            if byte == b'"':
                self.pos = pos + 1
                return "T_STRING", b"".join(parts)
            if byte == b"\0":
                return self.error("unexpected end of string", pos)
            escape = text[pos + 1 : pos + 2]
            if escape == b"u":
                code = self.unicode(pos)
                if code is None:
                    return self.error("invalid unicode escape code", pos)
                char, pos = code
                parts.append(char)
            elif escape in _UNESCAPES:
                parts.append(_UNESCAPES[escape])
                pos += 2
            else:
                return self.error("invalid escape code", pos)

    def unicode(self, pos: int) -> tuple[bytes, int] | None:
        """The character at ``\\uXXXX``, or a pair of them, and the position after it."""
        match = _HEX4.match(self.text, pos + 2)
        if match is None:
            return None
        code, pos = int(match[0], 16), pos + 6
        if 0xD800 <= code < 0xE000:
            low = _HEX4.match(self.text, pos + 2)
            if code >= 0xDC00 or self.text[pos : pos + 2] != b"\\u" or low is None:
                return None
            second = int(low[0], 16)
            if not 0xDC00 <= second < 0xE000:
                return None
            code, pos = ((code & 0x3FF) << 10 | second & 0x3FF) + 0x10000, pos + 6
        return chr(code).encode(), pos

    def value(self, kind: str, found: Any) -> Any:
        """The value that begins with a token.

        ``opened`` holds the arrays and objects that have begun: of each what it has so far
        and, in an object, the key that waits for its value.
        """
        opened: list[_Open] = []
        while True:
            if kind == "T_OBJ_BEGIN" or kind == "T_ARR_BEGIN":
                self.check_depth(len(opened) + 1)
                container = _Open(kind == "T_OBJ_BEGIN")
                opened.append(container)
                kind, found = self.token()
                if kind != container.end:
                    if container.is_object:
                        kind, found = self.key(container, kind, found)
                    continue
                value = self.closed(opened.pop())
            elif kind in ("T_STRING", "T_NUMBER", "T_BOOLEAN"):
                value = found
            elif kind == "T_NULL":
                value = self.lua.null
            else:
                self.fail("value", kind, found)
            while opened:
                container = opened[-1]
                container.add(value)
                kind, found = self.token()
                if kind != container.end:
                    break
                value = self.closed(opened.pop())
            else:
                return value
            if kind != "T_COMMA":
                expected = "comma or object end" if container.is_object else "comma or array end"
                self.fail(expected, kind, found)
            kind, found = self.token()
            if container.is_object:
                kind, found = self.key(container, kind, found)

    def key(self, container: _Open, kind: str, found: Any) -> tuple[str, Any]:
        """Note the key of an object; the token after the colon."""
        if kind != "T_STRING":
            self.fail("object key string", kind, found)
        container.key = found
        kind, found = self.token()
        if kind != "T_COLON":
            self.fail("colon", kind, found)
        return self.token()

    def closed(self, container: _Open) -> Any:
        if container.is_object:
            return self.lua.map_of(container.pairs)
        return self.lua.table_of(container.items)

    def check_depth(self, depth: int) -> None:
        if depth > self.json.decode_max_depth:
            raise ScriptError(
                f"Found too many nested data structures ({depth}) at character {self.pos}"
            )


class _Open:
    """An array or object that has begun."""

    __slots__ = ("end", "is_object", "items", "key", "pairs")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.end = "T_OBJ_END" if is_object else "T_ARR_END"
        self.items: list[Any] = []
        self.pairs: list[tuple[bytes, Any]] = []
        self.key = b""

    def add(self, value: Any) -> None:
        if self.is_object:
            self.pairs.append((self.key, value))
        else:
            self.items.append(value)


def _quoted(text: bytes) -> bytes:
    return b'"' + _TO_ESCAPE.sub(lambda m: _ESCAPES[m[0][0]], text) + b'"'


def _option(args: tuple[Any, ...], position: int, name: str, null: bool = False) -> bool | str:
    value = args[position - 1]
    if isinstance(value, bool):
        return value
    if value == b"on":
        return True
    if value == b"off":
        return False
    if null and value == b"null":
        return "null"
    if isinstance(value, bytes):
        raise argument_error(position, name, f"invalid option '{value.decode('latin-1')}'")
    raise argument_error(position, name, f"string expected, got {type_name(args, position)}")


def _bounded(
    args: tuple[Any, ...], position: int, name: str, old: int, least: int, most: int = 2**31 - 1
) -> int:
    if position > len(args) or args[position - 1] is None:
        return old
    value = check_integer(args, position, name)
    if not least <= value <= most:
        raise argument_error(position, name, f"expected integer between {least} and {most}")
    return value
