"""One Lua 5.1 interpreter in a sandbox, with the globals that Redis gives to scripts.

How it works. lupa runs a true Lua 5.1. ``prelude.lua`` takes away what could leave the
sandbox, adds the libraries, locks the globals and hands back a few functions; Python
calls scripts through them. Libraries are Python functions behind C closures, so that Lua
takes them for functions of its own and counts their frames as Redis's do.

Its limits: a script can use :data:`MAX_MEMORY` bytes, then it fails with ``not enough
memory``. An object of Python never reaches a script: arguments and results are strings,
numbers, booleans, nil and tables.

Redis: script_lua.c, ``luaRegisterRedisAPI()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Any, Protocol

from lupa.lua51 import LuaRuntime, lua_type

from miniredis.scripting.bitlib import BIT
from miniredis.scripting.cjson import Cjson
from miniredis.scripting.cmsgpack import Cmsgpack
from miniredis.scripting.errors import RedisError, ScriptError
from miniredis.scripting.mathlib import MathRandom
from miniredis.scripting.structlib import STRUCT

MAX_MEMORY = 512 * 2**20  # bytes of one interpreter
ARGUMENTS_AT_ONCE = 200  # of a Lua function, far below its limit
PRELUDE = "prelude.lua"

#: A function that a library offers to scripts.
HostFunction = Callable[..., Any]


class Host(Protocol):
    """Whose interpreter it is."""

    def interrupt(self) -> str | None:
        """Called now and then while a script runs: why it must end, or None."""
        ...

    def redis_functions(self) -> Mapping[str, HostFunction]:
        """The functions of the global table ``redis``."""
        ...

    def redis_values(self) -> Mapping[str, Any]:
        """Its other fields."""
        ...


class Lua:
    """An interpreter. Values of Lua's tables are reached through its methods."""

    def __init__(self, host: Host, extra: Mapping[str, HostFunction] | None = None) -> None:
        self.host = host
        self.crash: BaseException | None = None  # an error of ours, not of the script
        self.runtime = LuaRuntime(
            encoding=None,
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_filter=_no_attributes,
            max_memory=MAX_MEMORY,
        )
        self.random = MathRandom()
        libraries = {
            "redis": dict(host.redis_functions()),
            "cjson": Cjson(self).functions(),
            "cmsgpack": Cmsgpack(self).functions(),
            "struct": STRUCT,
            "bit": BIT,
            "math": self.random.functions(),
        }
        plain = {
            "redis": dict(host.redis_values()),
            "cjson": {"_NAME": b"cjson", "_VERSION": b"2.1.0"},
            "cmsgpack": {
                "_NAME": b"cmsgpack",
                "_VERSION": b"lua-cmsgpack 0.4.0",
                "_COPYRIGHT": b"Copyright (C) 2012, Salvatore Sanfilippo",
                "_DESCRIPTION": b"MessagePack C implementation for Lua",
            },
        }
        entry = self._run_prelude(libraries, plain)
        self.compile_function = entry[b"compile"]
        self.eval_function = entry[b"eval"]
        self.call_function = entry[b"call"]
        self.load_function = entry[b"load"]
        self.shape = entry[b"shape"]
        self.slice = entry[b"slice"]
        self.field = entry[b"field"]
        self._list, self._append, self._set = entry[b"list"], entry[b"append"], entry[b"set"]
        self.null, self.is_null = entry[b"null"], entry[b"is_null"]

    def _run_prelude(self, libraries: dict[str, Any], plain: dict[str, Any]) -> Any:
        source = resources.files("miniredis.scripting").joinpath(PRELUDE).read_bytes()
        host = {
            "describe": self.describe,
            "interrupt": self.interrupt,
            "new_cjson": lambda: self._nested(Cjson(self).functions()),
        }
        load = self.runtime.eval(
            b"function(s, ...) return assert(loadstring(s, '@prelude'))(...) end"
        )
        return load(source, self._nested(host), self._nested(libraries), self._nested(plain))

    def _nested(self, tree: Mapping[str, Any]) -> Any:
        table = self.runtime.table()
        for key, value in tree.items():
            inner = self._nested(value) if isinstance(value, dict) else value
            table[key.encode()] = inner
        return table

    # -- called by the prelude -----------------------------------------------------------

    def describe(self, error: Any) -> Any:
        """What a Python exception that reached Lua means: its kind, message, ``counted``."""
        if isinstance(error, RedisError):
            return b"table", error.message, error.counted
        if isinstance(error, ScriptError):
            return b"string", error.message, False
        if isinstance(error, BaseException):
            self.crash = error
            return b"string", b"internal error", False
        return None

    def interrupt(self) -> bytes | None:
        """The count hook of a running script: the error with which it must end, or None."""
        try:
            reason = self.host.interrupt()
        except BaseException as error:
            self.crash = error
            return b"ERR interrupted"
        return None if reason is None else reason.encode()

    # -- scripts ---------------------------------------------------------------------------

    def compile(self, source: bytes, name: bytes) -> Any:
        """The function that *source* defines; :class:`ScriptError` if it is not Lua."""
        function = self.compile_function(source, name)
        if isinstance(function, tuple):
            raise ScriptError(function[1])
        return function

    def run(self, entry: Any, function: Any, keys: list[bytes], argv: list[bytes]) -> Any:
        """Call *function* through *entry*; what the prelude's ``ended()`` returns, a tuple.

        An error of Python's that is none of the script's is raised here.
        """
        try:
            result = entry(function, self.table_of(keys), self.table_of(argv))
        finally:
            crash, self.crash = self.crash, None
        if crash is not None:
            raise crash
        return result if isinstance(result, tuple) else (result,)

    def load(self, function: Any, redis: Mapping[str, Any]) -> None:
        """Run the code of a library with only *redis* to call. :class:`ScriptError` on errors."""
        try:
            result = self.load_function(function, self._nested(redis))
        finally:
            crash, self.crash = self.crash, None
        if crash is not None:
            raise crash
        if result is not True:
            raise ScriptError(result[1])

    # -- values ----------------------------------------------------------------------------

    def table_of(self, items: list[Any]) -> Any:
        """A new table with *items* at 1, 2, ... None ends it as nil would."""
        if len(items) <= ARGUMENTS_AT_ONCE:
            return self._list(*items)
        table = self._list()
        for start in range(0, len(items), ARGUMENTS_AT_ONCE):
            self._append(table, start, *items[start : start + ARGUMENTS_AT_ONCE])
        return table

    def map_of(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        """A new table of keys and values."""
        table = self._list()
        for key, value in pairs:
            self._set(table, key, value)
        return table

    def items(self, table: Any) -> list[tuple[Any, Any]]:
        """Keys and values of a table in the order of Lua's ``next``, read raw."""
        return list(table.items())

    def elements(self, table: Any, count: int) -> list[Any]:
        """The elements 1 to *count*."""
        found: list[Any] = []
        for first in range(1, count + 1, ARGUMENTS_AT_ONCE):
            last = min(first + ARGUMENTS_AT_ONCE - 1, count)
            piece = self.slice(table, first, last)
            found.extend(piece if isinstance(piece, tuple) else (piece,))
        return found

    @staticmethod
    def kind(value: Any) -> str:
        """Lua's name for the type of a value that came from Lua."""
        if value is None:
            return "nil"
        if value is True or value is False:
            return "boolean"
        if isinstance(value, bytes):
            return "string"
        if isinstance(value, int | float):
            return "number"
        return lua_type(value) or "userdata"


def _no_attributes(obj: object, name: object, setting: bool) -> Any:
    raise AttributeError("scripts do not see objects of Python")


__all__ = ["HostFunction", "Lua"]
