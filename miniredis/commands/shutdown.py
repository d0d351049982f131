"""SHUTDOWN: the end of the server.

Differs from Redis: nothing is saved, and it does not wait for replicas that lag behind.

Redis: db.c ``shutdownCommand()``, server.c ``prepareForShutdown()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import word
from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING
from miniredis.commands.table import command
from miniredis.errors import CommandError, ServerClosedError, syntax_error
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

OPTIONS = (b"nosave", b"save", b"now", b"force")


@command(
    "shutdown",
    arity=-1,
    flags="admin noscript loading stale no_multi allow_busy",
    group="server",
    since="1.0.0",
    complexity="O(N) in the number of clients; in Redis in that of keys, when it saves",
)
def shutdown(c: Client, *options: bytes) -> Reply:
    """SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]

    Closes the server: all its clients lose their connections, a TCP server ends.

    db.c: shutdownCommand()
    """
    words = {word(option) for option in options}
    abort = b"abort" in words
    words.discard(b"abort")
    if not words.issubset(OPTIONS) or (abort and words) or {b"nosave", b"save"} <= words:
        raise syntax_error()
    if abort:
        raise CommandError("ERR No shutdown in progress.")
    if b"now" not in words and c.flags & CLIENT_DENY_BLOCKING:
        raise CommandError(
            "ERR SHUTDOWN without NOW or ABORT isn't allowed for DENY BLOCKING client"
        )
    scripting = c.server.scripting
    if b"nosave" not in words and scripting.is_timed_out:
        raise scripting.busy_error()
    c.server.close()
    raise ServerClosedError("this miniredis server was closed")  # it sends no reply
