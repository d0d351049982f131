"""SHUTDOWN: the end of the server.

Redis: ``shutdownCommand()`` in db.c, ``prepareForShutdown()`` in server.c.
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

_OPTIONS = frozenset({b"nosave", b"save", b"now", b"force", b"abort"})


@command(
    "shutdown",
    arity=-1,
    flags="admin noscript loading stale no_multi allow_busy",
    group="server",
    since="1.0.0",
    complexity="O(N) when saving, N being the number of keys; here O(1)",
)
def shutdown(c: Client, *args: bytes) -> Reply:
    """SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]

    Closes all connections and ends the server, whose data is gone then.

    Differs from Redis: nothing is saved, and lagging replicas are not waited for.

    Raises ``ServerClosedError``, by which the transport knows. db.c: shutdownCommand()
    """
    options = {word(arg) for arg in args}
    if not options <= _OPTIONS or {b"save", b"nosave"} <= options:
        raise syntax_error()
    if b"abort" in options:
        if len(options) > 1:
            raise syntax_error()
        raise CommandError("ERR No shutdown in progress.")
    server = c.server
    if b"now" not in options and c.flags & CLIENT_DENY_BLOCKING:
        raise CommandError(
            "ERR SHUTDOWN without NOW or ABORT isn't allowed for DENY BLOCKING client"
        )
    if b"nosave" not in options and server.scripting.is_timed_out:
        raise server.scripting.busy_error()
    server.close()
    raise ServerClosedError("SHUTDOWN has closed this miniredis server")
