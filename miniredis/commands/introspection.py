"""INFO, TIME and MONITOR. COMMAND, CONFIG, LATENCY and SLOWLOG have modules of their own.

Redis: server.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING, CLIENT_MONITOR, CLIENT_SLAVE
from miniredis.commands.table import command
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, OK, Reply, Verbatim

if TYPE_CHECKING:
    from miniredis.server.client import Client

US_PER_SECOND = 1_000_000


@command(
    "info",
    arity=-1,
    flags="loading stale",
    acl="dangerous",
    tips="nondeterministic_output request_policy:all_shards response_policy:special",
    group="server",
    since="1.0.0",
)
def info(c: Client, *sections: bytes) -> Reply:
    """INFO [section [section ...]]

    Tells about the state of the server, by default in all sections but the long ones.

    server.c: infoCommand()
    """
    return Verbatim(c.server.info(sections))


@command(
    "time",
    arity=1,
    flags="loading stale fast",
    tips="nondeterministic_output",
    group="server",
    since="2.6.0",
)
def time(c: Client) -> Reply:
    """TIME

    Tells the server's time: Unix seconds, and µs within the second.

    server.c: timeCommand()
    """
    return [b"%d" % part for part in divmod(c.server.clock.us(), US_PER_SECOND)]


@command(
    "monitor",
    arity=1,
    flags="admin noscript loading stale",
    group="server",
    since="1.0.0",
    complexity="",
)
def monitor(c: Client) -> Reply:
    """MONITOR

    Streams every command that the server runs to this client from now on.

    server.c: monitorCommand()
    """
    if c.flags & CLIENT_DENY_BLOCKING:
        raise CommandError("ERR MONITOR isn't allowed for DENY BLOCKING client")
    if c.flags & CLIENT_SLAVE:
        return NO_REPLY  # a monitor already; Redis says nothing either
    c.flags |= CLIENT_SLAVE | CLIENT_MONITOR
    c.server.start_monitoring(c)
    return OK
