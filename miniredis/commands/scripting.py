"""EVAL and its kin, and SCRIPT.

The machinery is in ``server/script.py``, the interpreter in ``scripting/``.

Redis: eval.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miniredis.commands.args import get_long_long, word
from miniredis.commands.table import KeySpec, command, container
from miniredis.errors import CommandError
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

SHA1_HEX_LEN = 40
_FLAGS = "noscript stale skip_monitor may_replicate no_mandatory_keys movablekeys"
_RO_FLAGS = "noscript stale skip_monitor no_mandatory_keys movablekeys readonly"
ANY_USE = "What the code does to them is not known, so the most is assumed"
_DEPENDS = "That of the script"


def keynum_spec(access: str, notes: str = "") -> tuple[KeySpec, ...]:
    """The keys after ``numkeys``, which stands second."""
    return (KeySpec(access, index=2, keynumidx=0, firstkey=1, notes=notes),)


def split_keys(numkeys: bytes, args: tuple[bytes, ...]) -> tuple[list[bytes], list[bytes]]:
    """Keys and other arguments; errors as of EVAL and FCALL."""
    n = get_long_long(numkeys)
    if n > len(args):
        raise CommandError("ERR Number of keys can't be greater than number of args")
    if n < 0:
        raise CommandError("ERR Number of keys can't be negative")
    return list(args[:n]), list(args[n:])


def eval_generic(c: Client, script: bytes, numkeys: bytes, args: Any, ro: bool) -> Reply:
    """Behind EVAL and EVAL_RO. eval.c: evalGenericCommand()"""
    c.feed_monitors()
    keys, argv = split_keys(numkeys, args)
    scripting = c.server.scripting
    return scripting.eval(c, scripting.load(script), keys, argv, ro)


def evalsha_generic(c: Client, sha: bytes, numkeys: bytes, args: Any, ro: bool) -> Reply:
    """Behind EVALSHA and EVALSHA_RO."""
    c.feed_monitors()
    scripting = c.server.scripting
    if len(sha) != SHA1_HEX_LEN:
        raise no_script()
    keys, argv = split_keys(numkeys, args)
    script = scripting.find(sha)
    if script is None:
        raise no_script()
    return scripting.eval(c, script, keys, argv, ro)


def no_script() -> CommandError:
    """Redis: shared.noscripterr"""
    return CommandError("NOSCRIPT No matching script. Please use EVAL.")


@command(
    "eval",
    arity=-3,
    flags=_FLAGS,
    specs=keynum_spec("RW access update", ANY_USE),
    group="scripting",
    since="2.6.0",
    complexity=_DEPENDS,
)
def eval_(c: Client, script: bytes, numkeys: bytes, *args: bytes) -> Reply:
    """EVAL script numkeys [key [key ...]] [arg [arg ...]]

    Runs a Lua script, which finds its keys in KEYS and its arguments in ARGV.

    eval.c: evalCommand()
    """
    return eval_generic(c, script, numkeys, args, ro=False)


@command(
    "eval_ro",
    arity=-3,
    flags=_RO_FLAGS,
    specs=keynum_spec("RO access", ANY_USE),
    group="scripting",
    since="7.0.0",
    complexity=_DEPENDS,
)
def eval_ro(c: Client, script: bytes, numkeys: bytes, *args: bytes) -> Reply:
    """EVAL_RO script numkeys [key [key ...]] [arg [arg ...]]

    Runs a Lua script that may not write.

    eval.c: evalRoCommand()
    """
    return eval_generic(c, script, numkeys, args, ro=True)


@command(
    "evalsha",
    arity=-3,
    flags=_FLAGS,
    specs=keynum_spec("RW access update"),
    group="scripting",
    since="2.6.0",
    complexity=_DEPENDS,
)
def evalsha(c: Client, sha1: bytes, numkeys: bytes, *args: bytes) -> Reply:
    """EVALSHA sha1 numkeys [key [key ...]] [arg [arg ...]]

    Runs a script of the cache.

    eval.c: evalShaCommand()
    """
    return evalsha_generic(c, sha1, numkeys, args, ro=False)


@command(
    "evalsha_ro",
    arity=-3,
    flags=_RO_FLAGS,
    specs=keynum_spec("RO access"),
    group="scripting",
    since="7.0.0",
    complexity=_DEPENDS,
)
def evalsha_ro(c: Client, sha1: bytes, numkeys: bytes, *args: bytes) -> Reply:
    """EVALSHA_RO sha1 numkeys [key [key ...]] [arg [arg ...]]

    Runs a script of the cache that may not write.

    eval.c: evalShaRoCommand()
    """
    return evalsha_generic(c, sha1, numkeys, args, ro=True)


container("script", group="scripting", since="2.6.0", summary="Commands of the cache of scripts.")


@command(
    "script|load",
    arity=3,
    flags="noscript stale",
    tips="request_policy:all_nodes response_policy:all_succeeded",
    group="scripting",
    since="2.6.0",
    complexity="O(N) in the length of the script",
)
def script_load(c: Client, _: bytes, script: bytes) -> Reply:
    """SCRIPT LOAD script

    Compiles a script into the cache and tells its SHA-1.

    eval.c: scriptCommand()
    """
    return c.server.scripting.load(script).sha


@command(
    "script|exists",
    arity=-3,
    flags="noscript",
    tips="request_policy:all_shards response_policy:agg_logical_and",
    group="scripting",
    since="2.6.0",
    complexity="O(N) in the number of scripts asked for",
)
def script_exists(c: Client, _: bytes, *sha1: bytes) -> Reply:
    """SCRIPT EXISTS sha1 [sha1 ...]

    Tells of each SHA-1 whether the cache has its script.

    eval.c: scriptCommand()
    """
    find = c.server.scripting.find
    return [int(find(sha) is not None) for sha in sha1]


@command(
    "script|flush",
    arity=-2,
    flags="noscript",
    tips="request_policy:all_nodes response_policy:all_succeeded",
    group="scripting",
    since="2.6.0",
    complexity="O(N) in the number of scripts",
)
def script_flush(c: Client, _: bytes, *mode: bytes) -> Reply:
    """SCRIPT FLUSH [ASYNC | SYNC]

    Empties the cache.

    eval.c: scriptCommand()
    """
    if len(mode) > 1 or (mode and word(mode[0]) not in (b"sync", b"async")):
        raise CommandError("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
    c.server.scripting.flush()
    return OK


@command(
    "script|kill",
    arity=2,
    flags="noscript allow_busy",
    tips="request_policy:all_shards response_policy:one_succeeded",
    group="scripting",
    since="2.6.0",
)
def script_kill(c: Client, _: bytes) -> Reply:
    """SCRIPT KILL

    Ends the script that runs, unless it has written.

    script.c: scriptKill()
    """
    c.server.scripting.kill(is_eval=True)
    return OK


@command("script|debug", arity=3, flags="noscript", group="scripting", since="3.2.0")
def script_debug(c: Client, _: bytes, mode: bytes) -> Reply:
    """SCRIPT DEBUG YES | SYNC | NO

    Switches the debugger, which is not simulated: only NO is possible.

    eval.c: scriptCommand()
    """
    option = word(mode)
    if option == b"no":
        return OK
    if option in (b"yes", b"sync"):
        raise CommandError("ERR the Lua debugger is not simulated")
    raise CommandError("ERR Use SCRIPT DEBUG YES/SYNC/NO")


@command("script|help", arity=2, flags="loading stale", group="scripting", since="5.0.0")
def script_help(c: Client, _: bytes) -> Reply:
    """SCRIPT HELP

    Explains the subcommands.

    eval.c: scriptCommand()
    """
    return c.help(
        ("DEBUG (YES|SYNC|NO)", "Switch the debugger for scripts."),
        ("EXISTS <sha1> [<sha1> ...]", "Tell which scripts the cache has."),
        ("FLUSH [ASYNC|SYNC]", "Empty the cache of scripts."),
        ("KILL", "End the running script."),
        ("LOAD <script>", "Put a script into the cache without running it."),
    )
