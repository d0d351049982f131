"""ASKING, READONLY, READWRITE: what clients of a cluster say, to a server that is in none.

Redis: cluster.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.table import command
from miniredis.errors import CommandError
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

NO_CLUSTER = "ERR This instance has cluster support disabled"


@command("asking", arity=1, flags="fast", acl="connection", group="cluster", since="3.0.0")
def asking(c: Client) -> Reply:
    """ASKING

    Announces a command that another node has sent here; an error without a cluster.

    cluster.c: askingCommand()
    """
    raise CommandError(NO_CLUSTER)


@command(
    "readonly",
    arity=1,
    flags="loading stale fast",
    acl="connection",
    group="cluster",
    since="3.0.0",
)
def readonly(c: Client) -> Reply:
    """READONLY

    Lets a connection read from replicas of a cluster; an error without one.

    cluster.c: readonlyCommand()
    """
    raise CommandError(NO_CLUSTER)


@command(
    "readwrite",
    arity=1,
    flags="loading stale fast",
    acl="connection",
    group="cluster",
    since="3.0.0",
)
def readwrite(c: Client) -> Reply:
    """READWRITE

    Takes READONLY back; an error without a cluster.

    cluster.c: readwriteCommand()
    """
    raise CommandError(NO_CLUSTER)
