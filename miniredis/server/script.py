"""Running scripts: the cache of EVAL, and the commands that a script calls.

A script is one command to everybody else: nothing comes in between, and the commands that
it calls see one instant. They are run for a client of their own, with checks that differ
from those of a client's commands. What is told to replicas are the effects, between MULTI
and EXEC, not the script.

A script that takes longer than ``busy-reply-threshold`` is asked now and then whether
it shall end; meanwhile other clients are served again and hear BUSY, but for SCRIPT KILL.

Redis: script.c, eval.c, script_lua.c.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from miniredis.clock import SystemClock
from miniredis.commands.client_flags import (
    CLIENT_DENY_BLOCKING,
    CLIENT_MULTI,
    CLIENT_SCRIPT,
    PROPAGATE_BOTH,
)
from miniredis.commands.table import Command, lookup
from miniredis.errors import CommandError
from miniredis.scripting.convert import to_reply
from miniredis.scripting.errors import ScriptError
from miniredis.scripting.flags import (
    ALLOW_OOM,
    NO_WRITES,
    ScriptFlags,
    extract_shebang_flags,
)
from miniredis.server.client import Client
from miniredis.server.functions import Function, Functions
from miniredis.server.script_replica import refused_command, refused_stale, refused_writer

if TYPE_CHECKING:
    from miniredis.scripting.lua import Lua
    from miniredis.server.server import Server

PROPAGATE_NONE = 0
BUSY_POLL_S = 0.001  # how long others may run at each look of a script that is too slow
SCRIPT_NAME = b"@user_script"
ERROR_TEXT_LEN = 100  # bytes of an error that is no table

SLOW_EVAL = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
SLOW_FUNCTION = (
    "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
)


@dataclass(slots=True)
class LuaScript:
    """A script of the cache, compiled. eval.c: luaScript"""

    sha: bytes
    body: bytes
    flags: ScriptFlags
    function: Any


class ScriptRun:
    """One run of a script or function. script.h: scriptRunCtx"""

    __slots__ = (
        "allow_oom",
        "cached_ms",
        "caller",
        "is_eval",
        "killed",
        "name",
        "read_only",
        "repl",
        "start_us",
        "timed_out",
        "wrote",
    )

    def __init__(self, caller: Client, name: bytes, flags: ScriptFlags, ro: bool, is_eval: bool):
        self.caller = caller
        self.name = name
        self.is_eval = is_eval
        self.read_only = ro or NO_WRITES in flags
        self.allow_oom = ALLOW_OOM in flags
        self.repl = PROPAGATE_BOTH
        self.start_us = 0
        self.cached_ms = 0  # the clock of look-ups outside
        self.timed_out = False
        self.killed = False
        self.wrote = False


class Scripting:
    """The scripts of one server. The interpreter is made when the first one comes."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.scripts: dict[bytes, LuaScript] = {}  # by the SHA-1 of the body, in hexadecimal
        self._by_body: dict[bytes, LuaScript] = {}  # the same, to save computing the SHA-1
        self.running: ScriptRun | None = None
        self.deny_scripts = True  # False after DEBUG SET-DISABLE-DENY-SCRIPTS 1
        self.log: list[tuple[int, bytes]] = []  # what redis.log() was told, and how grave
        self.while_blocked: list[Callable[[], None]] = []  # transports that must be turned
        self._lua: Lua | None = None
        self._client: Client | None = None
        self.wall = SystemClock()  # a script's time is the machine's, whatever the server's
        self.functions = Functions(self)

    @property
    def lua(self) -> Lua:
        """The interpreter for EVAL."""
        if self._lua is None:
            from miniredis.server.script_api import RedisApi  # lupa is loaded with it

            self._lua = RedisApi(self).lua
        return self._lua

    @property
    def client(self) -> Client:
        """The client for which a script's commands run. Redis: lua_client"""
        if self._client is None:
            self._client = Client(self.server, 0, "lua", "")
            self._client.flags = CLIENT_SCRIPT | CLIENT_DENY_BLOCKING
        return self._client

    @property
    def is_timed_out(self) -> bool:
        """Whether a script runs that has taken too long. script.c: scriptIsTimedout()"""
        return self.running is not None and self.running.timed_out

    # -- the cache ----------------------------------------------------------------------

    def load(self, body: bytes) -> LuaScript:
        """Compile a script, unless it is known. eval.c: luaCreateFunction()"""
        script = self._by_body.get(body)
        if script is None:
            sha = hashlib.sha1(body).hexdigest().encode()
            flags, skipped = extract_shebang_flags(body)
            try:
                function = self.lua.compile(body[skipped:], SCRIPT_NAME)
            except ScriptError as error:
                text = b"ERR Error compiling script (new function): " + error.message
                raise CommandError(text.replace(b"\r", b" ").replace(b"\n", b" ")) from None
            script = LuaScript(sha, body, flags, function)
            self.scripts[sha] = self._by_body[body] = script
        return script

    def find(self, sha: bytes) -> LuaScript | None:
        """The script with this SHA-1, in any case."""
        return self.scripts.get(sha.lower())

    def flush(self) -> None:
        """Forget all scripts and begin with a new interpreter. eval.c: scriptingReset()"""
        self.scripts.clear()
        self._by_body.clear()
        self._lua = None

    # -- running ------------------------------------------------------------------------

    def eval(
        self, c: Client, script: LuaScript, keys: list[bytes], argv: list[bytes], ro: bool
    ) -> Any:
        """Run a script for a client; its reply. eval.c: evalGenericCommand()"""
        run = ScriptRun(c, script.sha, script.flags, ro, is_eval=True)
        lua = self.lua
        return self.run(run, script.flags, lua, lua.eval_function, script.function, keys, argv)

    def fcall(
        self, c: Client, function: Function, keys: list[bytes], argv: list[bytes], ro: bool
    ) -> Any:
        """Run a function for a client; its reply. functions.c: fcallCommandGeneric()"""
        run = ScriptRun(c, function.name, function.flags, ro, is_eval=False)
        lua = self.functions.lua
        callback = function.callback
        return self.run(run, function.flags, lua, lua.call_function, callback, keys, argv)

    def run(
        self,
        run: ScriptRun,
        flags: ScriptFlags,
        lua: Lua,
        entry: Any,
        function: Any,
        keys: list[bytes],
        argv: list[bytes],
    ) -> Any:
        """Call a Lua function in the context *run*. script_lua.c: luaCallFunction()"""

        self.prepare_for_run(run, flags)
        client = self.client
        try:
            ok, *result = lua.run(entry, function, keys, argv)
            if not ok:
                return self.failure(run, *result)
            reply = to_reply(lua, result[0] if result else None, client.resp)
        finally:
            self.reset_run()
        if reply.__class__ is CommandError:
            raise reply
        if reply.__class__ is list and self._count_errors(reply):
            cmd = run.caller.cmd
            if cmd is not None:
                self.server.command_stats[cmd].failed_calls += 1
        return reply

    def _count_errors(self, reply: list[Any]) -> bool:
        """Count the errors inside an array that a script has returned; whether there are any."""
        found = False
        for item in reply:
            if item.__class__ is list:
                found |= self._count_errors(item)
            elif item.__class__ is CommandError:
                found = True
                if not item.counted:
                    self.server.count_error(item)
        return found

    def prepare_for_run(self, run: ScriptRun, flags: ScriptFlags) -> None:
        """Check what the script has declared, and make it the running one.

        script.c: scriptPrepareForRun()
        """
        server, caller = self.server, run.caller
        refused = refused_stale(server, flags) or refused_writer(server, caller, flags)
        if refused is not None:
            raise refused
        client = self.client
        client.db, client.resp = caller.db, 2
        client.flags |= caller.flags & CLIENT_MULTI
        client.propagates = PROPAGATE_BOTH
        run.start_us = self.wall.us()
        self.running = run
        # Until 7.0 look-ups of a script see the time at which it began, even inside EXEC.
        run.cached_ms = server.mstime
        if not server.ttl_clock_frozen:
            server.mstime = server.now_ms()

    def reset_run(self) -> None:
        """No script runs any more. script.c: scriptResetRun()"""
        run, self.running = self.running, None
        self.client.flags &= ~CLIENT_MULTI
        if run is not None:
            self.server.mstime = run.cached_ms
            if run.timed_out:
                self.server.update_gates()

    def failure(
        self,
        run: ScriptRun,
        message: bytes | None,
        source: bytes | None = None,
        line: bytes | None = None,
        counted: bool = False,
    ) -> CommandError:
        """The reply for an error that no script caught. script_lua.c: luaCallFunction()"""
        if message is None:
            # No table: the handler of errors did not run, as when memory is used up.
            what = (source or b"execution failure")[:ERROR_TEXT_LEN]
            message = b"ERR Error running script %s, %s" % (run.name, what)
        elif source is not None and line is not None:
            message += b" script: %s, on %s:%s." % (run.name, source, line)
        error = CommandError(message.replace(b"\r", b" ").replace(b"\n", b" "))
        error.counted = counted
        raise error

    def interrupt(self) -> str | None:
        """Called now and then from inside a script: why it must end, or None.

        script.c: scriptInterrupt()
        """
        run = self.running
        if run is None:
            return self.functions.interrupt()
        if not run.timed_out:
            threshold = self.server.config.busy_reply_threshold
            if not threshold or self.wall.us() - run.start_us < threshold * 1000:
                return None
            run.timed_out = True
            self.server.update_gates()
        self.process_events_while_blocked()
        return "ERR Script killed by user with SCRIPT KILL..." if run.killed else None

    def process_events_while_blocked(self) -> None:
        """Let other clients speak in the middle of a script.

        networking.c: processEventsWhileBlocked()
        """
        server = self.server
        saved = server.current_client, server.fixed_time_expire, server.in_exec
        mstime = server.mstime
        server.current_client, server.fixed_time_expire, server.in_exec = None, 0, False
        try:
            for turn in self.while_blocked:
                turn()
            server.unblocked.wait(BUSY_POLL_S)  # gives the lock away
        finally:
            server.current_client, server.fixed_time_expire, server.in_exec = saved
            server.mstime = mstime

    def kill(self, is_eval: bool) -> None:
        """Ask the running script to end. script.c: scriptKill()"""
        run = self.running
        if run is None:
            raise CommandError("NOTBUSY No scripts in execution right now.")
        if run.wrote:
            raise CommandError(
                "UNKILLABLE Sorry the script already executed write commands against the "
                "dataset. You can either wait the script termination or kill the server in a "
                "hard way using the SHUTDOWN NOSAVE command."
            )
        if is_eval != run.is_eval:
            raise self.busy_error()
        run.killed = True

    def busy_error(self) -> CommandError:
        """What others hear while a slow script runs."""
        assert self.running is not None
        return CommandError(SLOW_EVAL if self.running.is_eval else SLOW_FUNCTION)

    # -- the commands of a script -------------------------------------------------------

    def call(self, argv: list[bytes]) -> Any:
        """Run a command for the running script; its reply, which may be an error.

        script.c: scriptCall()
        """
        run, c, server = self.running, self.client, self.server
        assert run is not None
        cmd = lookup(argv)
        error = self._refusal(run, cmd, argv)
        if error is not None:
            self._count_rejected(cmd, error)
            return error
        assert cmd is not None
        if cmd.is_write:
            run.wrote = True
        c.propagates = run.repl
        return server.call(c, cmd, argv)

    def _refusal(
        self, run: ScriptRun, cmd: Command | None, argv: list[bytes]
    ) -> CommandError | None:
        if cmd is None or (cmd.subcommands and len(argv) > 1):
            return CommandError("ERR Unknown Redis command called from script")
        if not cmd.arity_ok(len(argv)):
            return CommandError("ERR Wrong number of args calling Redis command from script")
        if self.deny_scripts and "noscript" in cmd.flags:
            return CommandError("ERR This Redis command is not allowed from script")
        return refused_command(self.server, run, cmd)

    def _count_rejected(self, cmd: Command | None, error: CommandError) -> None:
        server = self.server
        server.count_error(error)
        if cmd is not None:
            stats = server.command_stats.get(cmd) or server.new_command_stats(cmd)
            stats.rejected_calls += 1
