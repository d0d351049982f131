"""DEBUG: looking into the server, and disturbing it on purpose.

Left out are subcommands that crash the server, and those about files, replicas, the
allocator or types of values that this server does not have.

Differs from Redis: a RELOAD or LOADAOF that cannot load leaves everything as it was.

Redis: ``debugCommand()`` in debug.c.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.clock import NS_PER_US
from miniredis.commands.args import get_long_long, word
from miniredis.commands.debug_protocol import debug_protocol
from miniredis.commands.debug_values import (
    debug_digest,
    debug_digest_value,
    debug_htstats_key,
    debug_quicklist_packed_threshold,
)
from miniredis.commands.subcommands import one_line, subcommand_syntax_error
from miniredis.commands.table import command
from miniredis.errors import CommandError, no_such_key
from miniredis.keyspace.object import (
    LLONG_MAX,
    OBJ_LIST,
    OBJ_STRING,
    RedisObject,
    estimate_object_idle_time,
    object_encoding,
    refcount,
)
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.keyspace.rdb_save import rdb_save_object
from miniredis.reply import OK, Reply, Status, Verbatim
from miniredis.structs.c_numbers import atoi, strtod
from miniredis.structs.dict_stats import dict_get_stats

if TYPE_CHECKING:
    from miniredis.server.client import Client

US_PER_SECOND = 1_000_000
ARGUMENTS_MAX = 2**31 - 1  # of one command
SLEEP_MAX_US = 10**15  # some 31 years; nothing sleeps for longer here
_logger = logging.getLogger("miniredis")


@dataclass(frozen=True, slots=True)
class _Subcommand:
    run: Callable[..., Reply]
    least: int  # arguments after the subcommand's name
    most: int
    usage: str
    meaning: str


_SUBCOMMANDS: dict[bytes, _Subcommand] = {}
_NOT_IN_HELP = frozenset({b"set-disable-deny-scripts"})  # Redis's tests know it


def _subcommand(
    usage: str, meaning: str, least: int, most: int | None = None
) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
    """Declare the decorated function; the name is the first word of *usage*."""

    def register(run: Callable[..., Reply]) -> Callable[..., Reply]:
        name = usage.split()[0].lower().encode()
        at_most = least if most is None else most
        _SUBCOMMANDS[name] = _Subcommand(run, least, at_most, usage, meaning)
        return run

    return register


@command(
    "debug",
    arity=-2,
    flags="admin noscript loading stale",
    group="server",
    since="1.0.0",
    complexity="Depends on subcommand.",
)
def debug(c: Client, name: bytes, *args: bytes) -> Reply:
    """DEBUG subcommand [arg ...]

    Looks into the server, or disturbs it, for tests.

    debug.c: debugCommand()
    """
    name = word(name)
    if name == b"help" and not args:
        shown = (sub for name, sub in _SUBCOMMANDS.items() if name not in _NOT_IN_HELP)
        return c.help(*((sub.usage, sub.meaning) for sub in shown))
    sub = _SUBCOMMANDS.get(name)
    if sub is None or not sub.least <= len(args) <= sub.most:
        raise subcommand_syntax_error(c.argv)
    return sub.run(c, *args)


# -- time -------------------------------------------------------------------------------


@_subcommand("SET-ACTIVE-EXPIRE <0|1>", "Stop or resume the active expire cycle.", 1)
def _set_active_expire(c: Client, on: bytes) -> Reply:
    c.server.active_expire_enabled = atoi(on) != 0
    return OK


@_subcommand("PAUSE-CRON <0|1>", "Stop or resume the cron.", 1)
def _pause_cron(c: Client, on: bytes) -> Reply:
    c.server.pause_cron = atoi(on) != 0
    return OK


@_subcommand("SLEEP <seconds>", "Do nothing for so long; decimals are allowed.", 1)
def _sleep(c: Client, seconds: bytes) -> Reply:
    """The server stands still: no time event runs meanwhile, under any clock."""
    us = strtod(seconds) * US_PER_SECOND
    if 1 <= us < LLONG_MAX:  # C makes a negative number of what is larger, and of NaN
        whole_us = int(min(us, SLEEP_MAX_US))
        clock = c.server.clock
        if clock.virtual:
            clock.spend_ns(whole_us * NS_PER_US)
        else:
            clock.sleep(whole_us / US_PER_SECOND)
    return OK


@_subcommand(
    "REPLYBUFFER PEAK-RESET-TIME <NEVER||RESET|time>",
    "Choose after how many ms a peak is forgotten; or RESIZING <0|1>, whether to resize.",
    2,
)
def _reply_buffer(c: Client, option: bytes, value: bytes) -> Reply:
    buffers = c.server.reply_buffers
    if word(option) == b"resizing":
        buffers.resizing = atoi(value) != 0
    elif word(option) != b"peak-reset-time":
        raise subcommand_syntax_error(c.argv)
    elif word(value) == b"never":
        buffers.keep_peaks()
    elif word(value) == b"reset":
        buffers.forget_peaks()
    else:
        buffers.peak_reset_time = get_long_long(value)
    return OK


# -- the data set -----------------------------------------------------------------------


@_subcommand("OBJECT <key>", "Show how a value is stored, even a dead one.", 1)
def _object(c: Client, key: bytes) -> Reply:
    entry = c.db.dict.find(key)
    if entry is None:
        raise no_such_key()
    o: RedisObject = entry.val
    size = len(rdb_save_object(o, c.server.config.rdbcompression))
    idle_seconds = estimate_object_idle_time(o, c.server.lru_clock()) // 1000
    text = (
        f"Value at:{id(o):#x} refcount:{refcount(o)} encoding:{object_encoding(o)} "
        f"serializedlength:{size} "
        f"lru:{o.lru} lru_seconds_idle:{idle_seconds}"
    )
    if o.type == OBJ_LIST:
        text += o.ptr.debug_fields()
    return Status(text.encode())


@_subcommand("HTSTATS <dbid>", "Show size and chains of the tables of a database.", 1)
def _htstats(c: Client, dbid: bytes) -> Reply:
    """O(buckets + keys)."""
    id = get_long_long(dbid)
    if not 0 <= id < len(c.server.databases):
        raise CommandError("ERR Out of range database")
    db = c.server.databases[id]
    text = f"[Dictionary HT]\n{dict_get_stats(db.dict)}[Expires HT]\n{dict_get_stats(db.expires)}"
    return Verbatim(text.encode())


@_subcommand(
    "POPULATE <count> [<prefix>] [<size>]",
    "Create string keys key:0, key:1, ..., without telling replicas.",
    1,
    3,
)
def _populate(c: Client, count: bytes, prefix: bytes = b"key", size: bytes = b"0") -> Reply:
    """Keys that exist stay as they are; a *size* pads values with NULs or cuts them."""
    keys = _positive(count)
    c.db.dict.expand(keys)
    length = _positive(size)
    for i in range(keys):
        key = b"%s:%d" % (prefix, i)
        if c.db.lookup_key_write(key) is not None:
            continue
        value = b"value:%d" % i
        if length:
            value = value[:length].ljust(length, b"\0")
        c.db.add(key, RedisObject(OBJ_STRING, value, c.server.lru_clock()))
        c.server.signal_modified_key(c.db, key)
    return OK


def _positive(arg: bytes) -> int:
    try:
        number = get_long_long(arg)
    except CommandError:
        number = -1
    if number < 0:
        raise CommandError("ERR value is out of range, must be positive")
    return number


@_subcommand(
    "RELOAD [option ...]",
    "Save the data set and load it again; options: NOSAVE, NOFLUSH, MERGE.",
    0,
    ARGUMENTS_MAX,
)
def _reload(c: Client, *options: bytes) -> Reply:
    """Tables get their final size and keys their order anew; dead keys go without an event.

    NOSAVE loads what was saved before, NOFLUSH keeps what is there, MERGE lets loaded keys
    take the place of others.
    """
    given = {word(option) for option in options}
    if not given <= {b"merge", b"noflush", b"nosave"}:
        raise CommandError("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
    try:
        c.server.persistence.reload(
            save=b"nosave" not in given, flush=b"noflush" not in given, merge=b"merge" in given
        )
    except OSError:
        raise CommandError("ERR") from None
    except RdbError:
        raise CommandError("ERR Error trying to load the RDB dump") from None
    return OK


@_subcommand("LOADAOF", "Load the append-only file again: rebuild the data set as that would.", 0)
def _loadaof(c: Client) -> Reply:
    """A real server without such a file ends; here the data stays."""
    try:
        c.server.persistence.aof.load()
    except RdbError as error:
        raise CommandError(f"ERR Error trying to load the append-only file: {error}") from None
    return OK


# -- the rest ---------------------------------------------------------------------------


@_subcommand("CHANGE-REPL-ID", "Draw a new replication id.", 0)
def _change_repl_id(c: Client) -> Reply:
    c.server.change_replication_id()
    return OK


@_subcommand("SET-DISABLE-DENY-SCRIPTS <0|1>", "Let scripts run commands not meant for them.", 1)
def _set_disable_deny_scripts(c: Client, on: bytes) -> Reply:
    """Those with the flag ``noscript``; server.h: script_disable_deny_script"""
    c.server.scripting.deny_scripts = atoi(on) == 0
    return OK


@_subcommand("ERROR <string>", "Reply with an error of this text.", 1)
def _error(c: Client, text: bytes) -> Reply:
    """Returned, not raised: the statistics of errors do not count it."""
    return CommandError(one_line(text))


@_subcommand("LOG <message>", "Write a message to the server's log.", 1)
def _log(c: Client, message: bytes) -> Reply:
    """The log is Python's, under the name ``miniredis``."""
    _logger.warning("DEBUG LOG: %s", message.decode("utf-8", "replace"))
    return OK


_subcommand("DIGEST", "Digest of all keys and values, whatever their encodings.", 0)(debug_digest)
_subcommand("DIGEST-VALUE <key> [<key> ...]", "Digests of some values.", 0, ARGUMENTS_MAX)(
    debug_digest_value
)
_subcommand("HTSTATS-KEY <key>", "Show size and chains of a value's hash table.", 1)(
    debug_htstats_key
)
_subcommand(
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "Give elements of so many bytes a node of their own; 0: 1 GB, as usual.",
    1,
)(debug_quicklist_packed_threshold)
_subcommand("PROTOCOL <type>", "Reply with a test value of a type of the protocol.", 1)(
    debug_protocol
)
