"""The table ``redis`` that scripts find, one for each interpreter.

Redis: script_lua.c ``luaRegisterRedisAPI()``, eval.c ``scriptingInit()``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from miniredis.commands.client_flags import PROPAGATE_AOF, PROPAGATE_REPL
from miniredis.commands.table import lookup
from miniredis.errors import CommandError
from miniredis.scripting.arguments import number_text, parse_number, tostring
from miniredis.scripting.convert import error_text, to_lua
from miniredis.scripting.errors import RedisError
from miniredis.scripting.lua import Lua

if TYPE_CHECKING:
    from miniredis.server.script import Scripting, ScriptRun

PROPAGATE_NONE = 0
LL_DEBUG, LL_VERBOSE, LL_NOTICE, LL_WARNING = range(4)
REDIS_VERSION_NUM = 0x0007000F


class RedisApi:
    """What a script of *scripting* may call. ``lua`` is its interpreter."""

    def __init__(self, scripting: Scripting, for_eval: bool = True) -> None:
        self.scripting = scripting
        self.for_eval = for_eval  # functions have no debugger
        self.lua = Lua(self)

    def interrupt(self) -> str | None:
        """Asked now and then by a running script: why it must end, or None."""
        return self.scripting.interrupt()

    def redis_functions(self) -> dict[str, Callable[..., Any]]:
        """By name; script_lua.c: luaRegisterRedisAPI(), eval.c: scriptingInit()."""
        only_eval: dict[str, Callable[..., Any]] = {
            "breakpoint": lambda *_: False,
            "debug": lambda *_: None,
            "replicate_commands": lambda *_: True,
        }
        return {
            **(only_eval if self.for_eval else {}),
            "call": self._redis_call,
            "pcall": self._redis_pcall,
            "log": self._redis_log,
            "setresp": self._redis_setresp,
            "sha1hex": _redis_sha1hex,
            "error_reply": self._redis_error_reply,
            "status_reply": self._redis_status_reply,
            "set_repl": self._redis_set_repl,
            "acl_check_cmd": self._redis_acl_check_cmd,
        }

    def redis_values(self) -> dict[str, Any]:
        """Constants of the table ``redis``."""
        return {
            "LOG_DEBUG": LL_DEBUG,
            "LOG_VERBOSE": LL_VERBOSE,
            "LOG_NOTICE": LL_NOTICE,
            "LOG_WARNING": LL_WARNING,
            "REPL_NONE": PROPAGATE_NONE,
            "REPL_AOF": PROPAGATE_AOF,
            "REPL_SLAVE": PROPAGATE_REPL,
            "REPL_REPLICA": PROPAGATE_REPL,
            "REPL_ALL": PROPAGATE_AOF | PROPAGATE_REPL,
            "REDIS_VERSION": b"7.0.15",
            "REDIS_VERSION_NUM": REDIS_VERSION_NUM,
        }

    def _redis_call(self, *args: Any) -> Any:
        reply = self._command(args, "call")
        if reply.__class__ is CommandError:
            raise RedisError(error_text(reply.text), counted=True)
        return self._to_lua(reply)

    def _redis_pcall(self, *args: Any) -> Any:
        try:
            return self._to_lua(self._command(args, "pcall"))
        except RedisError as error:
            return self.lua.field(b"err", error.message)

    def _command(self, args: tuple[Any, ...], name: str) -> Any:

        self._need_run("call/pcall")
        if not args:
            raise RedisError("ERR Please specify at least one argument for this redis lib call")
        argv = []
        for arg in args:
            kind = arg.__class__
            if kind is bytes:
                argv.append(arg)
            elif kind is int or kind is float:
                argv.append(number_text(arg))
            else:
                raise RedisError("ERR Lua redis lib command arguments must be strings or integers")
        return self.scripting.call(argv)

    def _to_lua(self, reply: Any) -> Any:
        if reply.__class__ is bytes or reply.__class__ is int:
            return reply

        return to_lua(self.lua, reply, self.scripting.client.resp)

    def _need_run(self, name: str) -> ScriptRun:
        if self.scripting.running is None:
            raise RedisError(f"ERR redis.{name} can only be called inside a script invocation")
        return self.scripting.running

    def _redis_log(self, *args: Any) -> None:
        if len(args) < 2:
            raise RedisError("ERR redis.log() requires two arguments or more.")
        level = _number(args[0])
        if level is None:
            raise RedisError("ERR First argument must be a number (log level).")
        if not LL_DEBUG <= level <= LL_WARNING:
            raise RedisError("ERR Invalid debug level.")
        words = [_text(arg) for arg in args[1:]]
        text = b" ".join(word for word in words if word is not None)
        self.scripting.log.append((int(level), text))

    def _redis_setresp(self, *args: Any) -> None:
        self._need_run("setresp")
        if len(args) != 1:
            raise RedisError("ERR redis.setresp() requires one argument.")
        resp = int(_number(args[0]) or 0)
        if resp not in (2, 3):
            raise RedisError("ERR RESP version must be 2 or 3.")
        self.scripting.client.resp = resp

    def _redis_error_reply(self, *args: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], bytes):
            return self.lua.field(b"err", b"ERR wrong number or type of arguments")
        # A leading minus may stand or not; without a code it gets one.
        text = args[0].removeprefix(b"-")
        code, space, rest = text.partition(b" ")
        if not space:
            code, rest = b"ERR", text
        return self.lua.field(b"err", code + b" " + rest.strip(b"\r\n"))

    def _redis_status_reply(self, *args: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], bytes):
            return self.lua.field(b"err", b"ERR wrong number or type of arguments")
        return self.lua.field(b"ok", args[0])

    def _redis_set_repl(self, *args: Any) -> None:
        run = self._need_run("set_repl")
        if len(args) != 1:
            raise RedisError("ERR redis.set_repl() requires two arguments.")
        flags = int(_number(args[0]) or 0)
        if flags & ~(PROPAGATE_AOF | PROPAGATE_REPL):
            raise RedisError(
                "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."
            )
        run.repl = flags

    def _redis_acl_check_cmd(self, *args: Any) -> bool:
        run = self._need_run("acl_check_cmd")
        argv = [_text(arg) for arg in args]
        if not argv:
            raise RedisError("ERR Please specify at least one argument for this redis lib call")
        words = [word for word in argv if word is not None]
        if len(words) != len(argv):
            raise RedisError("ERR Lua redis lib command arguments must be strings or integers")
        cmd = lookup(words)
        if cmd is None:
            raise RedisError("ERR Invalid command passed to redis.acl_check_cmd()")
        return self.scripting.server.acl.check(run.caller, cmd, words) is None


def _number(value: Any) -> float | None:
    """lua_tonumber()"""
    if isinstance(value, bytes):
        return parse_number(value)
    return value if value.__class__ in (int, float) else None


def _text(value: Any) -> bytes | None:
    """lua_tolstring()"""
    if value.__class__ in (int, float):
        return tostring(value)
    return value if isinstance(value, bytes) else None


def _redis_sha1hex(*args: Any) -> bytes:
    if len(args) != 1:
        raise RedisError("ERR wrong number of arguments")
    return hashlib.sha1(_text(args[0]) or b"").hexdigest().encode()
