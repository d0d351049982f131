"""Feeding MONITOR: every command, with time, database and address, to whoever asked.

Redis: ``replicationFeedMonitors()`` in replication.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_REPLY_OFF, CLIENT_REPLY_SKIP
from miniredis.reply import NO_REPLY, Reply, Status
from miniredis.structs.repr import sds_cat_repr

if TYPE_CHECKING:
    from miniredis.server.client import Client


def replication_feed_monitors(c: Client, argv: list[bytes], reply: Reply) -> Reply:
    """Send a line such as ``1391234400.000000 [0 127.0.0.1:50000] "GET" "key"``.

    *reply* is what the command has answered. A monitor that runs commands itself gets the
    line after it, so then the reply is sent here and ``NO_REPLY`` returned.
    """
    server = c.server
    seconds, us = divmod(server.us, 1_000_000)
    head = b"%d.%06d [%d %s] " % (seconds, us, c.db.id, c.addr.encode())
    line = Status(head + b" ".join(sds_cat_repr(arg) for arg in c.redacted(argv)))
    for monitor in server.monitors:
        silent = monitor.flags & (CLIENT_REPLY_OFF | CLIENT_REPLY_SKIP)
        if monitor is c:
            if not silent:
                c.push(reply)
            reply = NO_REPLY
        if not silent:
            monitor.push(line)
    return reply
