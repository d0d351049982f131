"""What functions of the host raise into a running script."""

from __future__ import annotations


class ScriptError(Exception):
    """An error inside Lua: a string that begins with the place, as luaL_error() makes it."""

    def __init__(self, message: bytes | str) -> None:
        self.message = message.encode() if isinstance(message, str) else message
        super().__init__(self.message.decode("utf-8", "replace"))


class RedisError(ScriptError):
    """An error of the redis.* functions: a table whose field ``err`` is the message.

    *counted* says that INFO's statistics know of it already. script_lua.c: luaPushError()
    """

    def __init__(self, message: bytes | str, counted: bool = False) -> None:
        super().__init__(message)
        self.counted = counted


def argument_error(number: int, function: str, reason: str) -> ScriptError:
    """lauxlib.c: luaL_argerror()"""
    return ScriptError(f"bad argument #{number} to '{function}' ({reason})")
