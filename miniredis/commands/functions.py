"""FUNCTION and FCALL.

The machinery is in ``server/functions.py``.

Redis: functions.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.scripting import ANY_USE, keynum_spec
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.table import command, container
from miniredis.errors import CommandError
from miniredis.keyspace.rdb_functions import create_functions_payload, load_functions_payload
from miniredis.keyspace.rdb_load import verify_dump_payload
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.reply import OK, Reply, SetReply, Status
from miniredis.scripting.flags import SCRIPT_FLAGS
from miniredis.structs.glob import stringmatch

if TYPE_CHECKING:
    from miniredis.server.client import Client

RESTORE_POLICIES = (b"append", b"replace", b"flush")
_FLAGS = "noscript stale skip_monitor may_replicate no_mandatory_keys movablekeys"
_RO_FLAGS = "noscript stale skip_monitor no_mandatory_keys movablekeys readonly"
_ALL_SHARDS = "request_policy:all_shards response_policy:all_succeeded"


def fcall_generic(c: Client, name: bytes, numkeys: bytes, args: Any, ro: bool) -> Reply:
    """Behind FCALL and FCALL_RO. functions.c: fcallCommandGeneric()"""
    c.feed_monitors()
    scripting = c.server.scripting
    function = scripting.functions.find(name)
    if function is None:
        raise CommandError("ERR Function not found")
    try:
        n = get_long_long(numkeys)
    except CommandError:
        raise CommandError("ERR Bad number of keys provided") from None
    if n > len(args):
        raise CommandError("ERR Number of keys can't be greater than number of args")
    if n < 0:
        raise CommandError("ERR Number of keys can't be negative")
    return scripting.fcall(c, function, list(args[:n]), list(args[n:]), ro)


@command(
    "fcall",
    arity=-3,
    flags=_FLAGS,
    specs=keynum_spec("RW access update", ANY_USE),
    group="scripting",
    since="7.0.0",
    complexity="That of the function",
)
def fcall(c: Client, function: bytes, numkeys: bytes, *args: bytes) -> Reply:
    """FCALL function numkeys [key [key ...]] [arg [arg ...]]

    Runs a function of a library with keys and arguments.

    functions.c: fcallCommand()
    """
    return fcall_generic(c, function, numkeys, args, ro=False)


@command(
    "fcall_ro",
    arity=-3,
    flags=_RO_FLAGS,
    specs=keynum_spec("RO access", ANY_USE),
    group="scripting",
    since="7.0.0",
    complexity="That of the function",
)
def fcall_ro(c: Client, function: bytes, numkeys: bytes, *args: bytes) -> Reply:
    """FCALL_RO function numkeys [key [key ...]] [arg [arg ...]]

    Runs a function that may not write.

    functions.c: fcallroCommand()
    """
    return fcall_generic(c, function, numkeys, args, ro=True)


container(
    "function", group="scripting", since="7.0.0", summary="Commands of libraries of functions."
)


@command(
    "function|load",
    arity=-3,
    flags="write denyoom noscript",
    tips=_ALL_SHARDS,
    group="scripting",
    since="7.0.0",
    complexity="O(1) but for the code itself",
)
def function_load(c: Client, _: bytes, *args: bytes) -> Reply:
    """FUNCTION LOAD [REPLACE] function-code

    Loads a library and tells its name.

    functions.c: functionLoadCommand()
    """
    *options, code = args
    replace = False
    for option in options:
        if word(option) != b"replace":
            raise CommandError(b"ERR Unknown option given: " + c_string(option))
        replace = True
    name = c.server.scripting.functions.load(code, replace)
    c.server.dirty += 1
    return name


@command(
    "function|delete",
    arity=3,
    flags="write noscript",
    tips=_ALL_SHARDS,
    group="scripting",
    since="7.0.0",
)
def function_delete(c: Client, _: bytes, library_name: bytes) -> Reply:
    """FUNCTION DELETE library-name

    Forgets a library and its functions.

    functions.c: functionDeleteCommand()
    """
    c.server.scripting.functions.delete(library_name)
    c.server.dirty += 1
    return OK


@command(
    "function|flush",
    arity=-2,
    flags="write noscript",
    tips=_ALL_SHARDS,
    group="scripting",
    since="7.0.0",
    complexity="O(N) in the number of functions",
)
def function_flush(c: Client, _: bytes, *mode: bytes) -> Reply:
    """FUNCTION FLUSH [ASYNC | SYNC]

    Forgets all libraries.

    functions.c: functionFlushCommand()
    """
    if len(mode) > 1:
        raise subcommand_syntax_error(c.argv)
    if mode and word(mode[0]) not in (b"sync", b"async"):
        raise CommandError("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
    c.server.scripting.functions.flush()
    c.server.dirty += 1
    return OK


@command(
    "function|dump",
    arity=2,
    flags="noscript",
    group="scripting",
    since="7.0.0",
    complexity="O(N) in the bytes of the libraries",
)
def function_dump(c: Client, _: bytes) -> Reply:
    """FUNCTION DUMP

    All libraries as bytes, for FUNCTION RESTORE.

    functions.c: functionDumpCommand()
    """
    libraries = c.server.scripting.functions.libraries.values()
    codes = (library.code for library in libraries)
    return create_functions_payload(codes, c.server.config.rdbcompression)


@command(
    "function|restore",
    arity=-3,
    flags="write denyoom noscript",
    tips=_ALL_SHARDS,
    group="scripting",
    since="7.0.0",
    complexity="O(N) in the number of functions, but for the code itself",
)
def function_restore(c: Client, _: bytes, payload: bytes, *policy: bytes) -> Reply:
    """FUNCTION RESTORE serialized-value [FLUSH | APPEND | REPLACE]

    Loads the libraries that FUNCTION DUMP has returned, all or none: beside those that there
    are (APPEND, the default), also in the place of some (REPLACE) or of all (FLUSH).

    functions.c: functionRestoreCommand()
    """
    if len(policy) > 1:
        raise subcommand_syntax_error(c.argv)
    chosen = word(policy[0]) if policy else b"append"
    if chosen not in RESTORE_POLICIES:
        raise CommandError(
            "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."
        )
    if not verify_dump_payload(payload):
        raise CommandError("ERR DUMP payload version or checksum are wrong")
    functions = c.server.scripting.functions
    try:
        functions.restore(load_functions_payload(payload), chosen)
    except RdbError as error:
        raise CommandError(f"ERR {error}") from None
    c.server.dirty += 1
    return OK


@command(
    "function|list",
    arity=-2,
    flags="noscript",
    tips="nondeterministic_output_order",
    group="scripting",
    since="7.0.0",
    complexity="O(N) in the number of functions",
)
def function_list(c: Client, _: bytes, *args: bytes) -> Reply:
    """FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]

    Describes the libraries and their functions.

    functions.c: functionListCommand()
    """
    with_code, pattern = False, None
    words = list(args)
    while words:
        option = words.pop(0)
        if not with_code and word(option) == b"withcode":
            with_code = True
        elif pattern is None and word(option) == b"libraryname":
            if not words:
                raise CommandError("ERR library name argument was not given")
            pattern = words.pop(0)
        else:
            raise CommandError(b"ERR Unknown argument " + c_string(option))
    return [
        _describe(library, with_code)
        for library in c.server.scripting.functions.libraries.values()
        if pattern is None or stringmatch(pattern, library.name, nocase=True)
    ]


def _describe(library: Any, with_code: bool) -> dict[bytes, Reply]:
    described: dict[bytes, Reply] = {
        b"library_name": library.name,
        b"engine": b"LUA",
        b"functions": [
            {
                b"name": function.name,
                b"description": function.description,
                b"flags": SetReply([Status(f) for f in SCRIPT_FLAGS if f in function.flags]),
            }
            for function in library.functions.values()
        ],
    }
    if with_code:
        described[b"library_code"] = library.code
    return described


@command(
    "function|stats",
    arity=2,
    flags="noscript allow_busy",
    tips="nondeterministic_output request_policy:all_shards response_policy:special",
    group="scripting",
    since="7.0.0",
)
def function_stats(c: Client, _: bytes) -> Reply:
    """FUNCTION STATS

    Tells which function runs, and how many libraries and functions there are.

    functions.c: functionStatsCommand()
    """
    scripting = c.server.scripting
    run = scripting.running
    if run is not None and run.is_eval:
        raise scripting.busy_error()
    running: Reply = None
    if run is not None:
        running = {
            b"name": run.name,
            b"command": list(run.caller.argv),
            b"duration_ms": (scripting.wall.us() - run.start_us) // 1000,
        }
    functions = scripting.functions
    counts = {
        b"libraries_count": len(functions.libraries),
        b"functions_count": len(functions.functions),
    }
    return {b"running_script": running, b"engines": {b"LUA": counts}}


@command(
    "function|kill",
    arity=2,
    flags="noscript allow_busy",
    tips="request_policy:all_shards response_policy:one_succeeded",
    group="scripting",
    since="7.0.0",
)
def function_kill(c: Client, _: bytes) -> Reply:
    """FUNCTION KILL

    Ends the function that runs, unless it has written.

    script.c: scriptKill()
    """
    c.server.scripting.kill(is_eval=False)
    return OK


@command("function|help", arity=2, flags="loading stale", group="scripting", since="7.0.0")
def function_help(c: Client, _: bytes) -> Reply:
    """FUNCTION HELP

    Explains the subcommands.

    functions.c: functionHelpCommand()
    """
    return c.help(
        ("LOAD [REPLACE] <FUNCTION CODE>", "Load a library."),
        ("DELETE <LIBRARY NAME>", "Forget a library."),
        ("LIST [LIBRARYNAME PATTERN] [WITHCODE]", "Describe libraries and functions."),
        ("STATS", "Tell what runs and how much there is."),
        ("KILL", "End the running function."),
        ("FLUSH [ASYNC|SYNC]", "Forget all libraries."),
        ("DUMP", "Tell all libraries as bytes."),
        ("RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]", "Load libraries from such bytes."),
    )
