"""SLOWLOG: reading the log of slow commands.

Redis: ``slowlogCommand()`` in slowlog.c.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.table import command, container
from miniredis.errors import CommandError
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

DEFAULT_COUNT = 10  # entries that SLOWLOG GET shows
ALL = -1

container("slowlog", group="server", since="2.2.12", summary="Commands of the slow log.")


@command(
    "slowlog|get",
    arity=-2,
    flags="admin loading stale",
    tips="request_policy:all_nodes nondeterministic_output",
    group="server",
    since="2.2.12",
    complexity="O(N) in the number of entries shown",
)
def slowlog_get(c: Client, _: bytes, *args: bytes) -> Reply:
    """SLOWLOG GET [count]

    Shows the newest entries: number, Unix time, µs, arguments, address and name of the client.

    slowlog.c: slowlogCommand()
    """
    if len(args) > 1:
        raise subcommand_syntax_error(c.argv)
    log = c.server.slowlog.entries
    count = _count(args[0]) if args else DEFAULT_COUNT
    return [
        [entry.id, entry.time, entry.duration, entry.argv, entry.peerid, entry.cname]
        for entry in islice(log, len(log) if count == ALL else min(count, len(log)))
    ]


def _count(arg: bytes) -> int:
    try:
        count = get_long_long(arg)
    except CommandError:
        count = ALL - 1
    if count < ALL:
        raise CommandError("ERR count should be greater than or equal to -1")
    return count


@command(
    "slowlog|len",
    arity=2,
    flags="admin loading stale",
    tips="request_policy:all_nodes response_policy:agg_sum nondeterministic_output",
    group="server",
    since="2.2.12",
)
def slowlog_len(c: Client, _: bytes) -> Reply:
    """SLOWLOG LEN

    Tells how many entries the slow log has.

    slowlog.c: slowlogCommand()
    """
    return len(c.server.slowlog.entries)


@command(
    "slowlog|reset",
    arity=2,
    flags="admin loading stale",
    tips="request_policy:all_nodes response_policy:all_succeeded",
    group="server",
    since="2.2.12",
    complexity="O(N) in the number of entries",
)
def slowlog_reset(c: Client, _: bytes) -> Reply:
    """SLOWLOG RESET

    Forgets all entries; the numbers of later ones go on.

    slowlog.c: slowlogReset()
    """
    c.server.slowlog.reset()
    return OK


@command(
    "slowlog|help",
    arity=2,
    flags="loading stale",
    group="server",
    since="6.2.0",
)
def slowlog_help(c: Client, _: bytes) -> Reply:
    """SLOWLOG HELP

    Shows the subcommands.

    slowlog.c: slowlogCommand()
    """
    return c.help(
        ("GET [<count>]", "The newest <count> entries, by default 10; -1 for all."),
        ("LEN", "How many entries there are."),
        ("RESET", "Forget all entries."),
    )
