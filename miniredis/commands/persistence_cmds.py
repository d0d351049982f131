"""SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF: the same as on a server with files, without them.

What they make is kept in memory, see ``server/persistence.py`` and ``server/aof.py``. It is
made before the command replies, so no background work is ever in progress.

Redis: rdb.c, aof.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import word
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import OK, Reply, Status

if TYPE_CHECKING:
    from miniredis.server.client import Client


@command(
    "save",
    arity=1,
    flags="admin noscript no_async_loading no_multi",
    group="server",
    since="1.0.0",
    complexity="O(N) in the bytes of all keys and values",
)
def save(c: Client) -> Reply:
    """SAVE

    Saves the data set while everybody waits.

    rdb.c: saveCommand()
    """
    persistence = c.server.persistence
    persistence.rdb_saves += 1
    try:
        persistence.save()
    except OSError:
        raise CommandError("ERR") from None
    return OK


@command(
    "bgsave",
    arity=-1,
    flags="admin noscript no_async_loading",
    group="server",
    since="1.0.0",
)
def bgsave(c: Client, *args: bytes) -> Reply:
    """BGSAVE [SCHEDULE]

    Saves the data set; a real server does so in the background.

    rdb.c: bgsaveCommand()
    """
    if args and (len(args) != 1 or word(args[0]) != b"schedule"):
        raise syntax_error()
    persistence = c.server.persistence
    if c.server.in_exec:
        persistence.schedule_bgsave()
        return Status(b"Background saving scheduled")
    if not persistence.bgsave():
        raise CommandError("ERR")
    return Status(b"Background saving started")


@command(
    "lastsave",
    arity=1,
    flags="loading stale fast",
    acl="admin dangerous",
    tips="nondeterministic_output",
    group="server",
    since="1.0.0",
)
def lastsave(c: Client) -> Reply:
    """LASTSAVE

    When the data set was saved last, in Unix seconds; before that, when the server began.

    rdb.c: lastsaveCommand()
    """
    return c.server.lastsave


@command(
    "bgrewriteaof",
    arity=1,
    flags="admin noscript no_async_loading",
    group="server",
    since="1.0.0",
)
def bgrewriteaof(c: Client) -> Reply:
    """BGREWRITEAOF

    Makes the append-only file as short as it can be.

    aof.c: bgrewriteaofCommand()
    """
    aof = c.server.persistence.aof
    if c.server.in_exec:
        aof.schedule_rewrite()
        return Status(b"Background append only file rewriting scheduled")
    aof.rewrite()
    return Status(b"Background append only file rewriting started")
