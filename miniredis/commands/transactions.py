"""MULTI, EXEC, DISCARD, WATCH, UNWATCH.

The machinery is in ``server/multi.py``.

Redis: multi.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_DIRTY_CAS, CLIENT_MULTI
from miniredis.commands.table import command
from miniredis.errors import CommandError
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

_FLAGS = "noscript loading stale fast allow_busy"


@command("multi", arity=1, flags=_FLAGS, group="transactions", since="1.2.0")
def multi(c: Client) -> Reply:
    """MULTI

    Begins a transaction: commands are queued until EXEC.

    multi.c: multiCommand()
    """
    if c.flags & CLIENT_MULTI:
        raise CommandError("ERR MULTI calls can not be nested")
    c.flags |= CLIENT_MULTI
    return OK


@command(
    "exec",
    arity=1,
    flags="noscript loading stale skip_slowlog",
    group="transactions",
    since="1.2.0",
    complexity="That of the queued commands",
)
def exec_(c: Client) -> Reply:
    """EXEC

    Runs the queued commands with nothing in between; nil if a watched key changed.

    multi.c: execCommand()
    """
    return c.exec()


@command(
    "discard",
    arity=1,
    flags=_FLAGS,
    group="transactions",
    since="2.0.0",
    complexity="O(N) in the number of queued commands",
)
def discard(c: Client) -> Reply:
    """DISCARD

    Forgets the queued commands and the watched keys.

    multi.c: discardCommand()
    """
    if not c.flags & CLIENT_MULTI:
        raise CommandError("ERR DISCARD without MULTI")
    c.discard_transaction()
    return OK


@command(
    "watch",
    arity=-2,
    flags=_FLAGS,
    keys=(1, -1, 1),
    access="RO",
    group="transactions",
    since="2.2.0",
    complexity="O(1) for each key",
)
def watch(c: Client, *keys: bytes) -> Reply:
    """WATCH key [key ...]

    Makes the next EXEC fail if one of the keys changes before it.

    multi.c: watchCommand()
    """
    if c.flags & CLIENT_MULTI:
        raise CommandError("ERR WATCH inside MULTI is not allowed")
    # A client that is dirty already fails anyway.
    if not c.flags & CLIENT_DIRTY_CAS:
        for key in keys:
            c.watch_for_key(key)
    return OK


@command("unwatch", arity=1, flags=_FLAGS, group="transactions", since="2.2.0")
def unwatch(c: Client) -> Reply:
    """UNWATCH

    Watches nothing any more.

    multi.c: unwatchCommand()
    """
    c.unwatch_all_keys()
    c.flags &= ~CLIENT_DIRTY_CAS
    return OK
