"""FAILOVER; what it starts is told in ``server/failover.py``.

Redis: replication.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

ONLINE = "online"


@dataclass(slots=True)
class _Options:
    target: tuple[str, int] | None = None
    timeout_ms: int = 0
    force: bool = False


def _parse(args: tuple[bytes, ...]) -> _Options:
    options = _Options()
    rest = list(args)
    while rest:
        option = word(rest.pop(0))
        if option == b"timeout" and rest and not options.timeout_ms:
            options.timeout_ms = get_long_long(rest.pop(0))
            if options.timeout_ms <= 0:
                raise CommandError("ERR FAILOVER timeout must be greater than 0")
        elif option == b"to" and len(rest) > 1 and options.target is None:
            host, port = rest.pop(0), rest.pop(0)
            name = c_string(host).decode("utf-8", "surrogateescape")
            options.target = (name, get_long_long(port))
        elif option == b"force" and not options.force:
            options.force = True
        else:
            raise syntax_error()
    return options


@command("failover", arity=-1, flags="admin noscript stale", group="server", since="6.2.0")
def failover(c: Client, *args: bytes) -> Reply:
    """FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]

    Hands the duty of the primary over to a replica that has everything.

    replication.c: failoverCommand()
    """
    server = c.server
    running = server.repl.failover
    if len(args) == 1 and word(args[0]) == b"abort":
        if not running.active:
            raise CommandError("ERR No failover in progress.")
        running.abort()
        return OK
    options = _parse(args)
    if running.active:
        raise CommandError("ERR FAILOVER already in progress.")
    if server.masterhost is not None:
        raise CommandError("ERR FAILOVER is not valid when server is a replica.")
    if not server.repl.slaves:
        raise CommandError("ERR FAILOVER requires connected replicas.")
    if options.force and not (options.timeout_ms and options.target):
        raise CommandError(
            "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
        )
    if options.target is not None:
        slave = running.find(options.target)
        if slave is None:
            raise CommandError("ERR FAILOVER target HOST and PORT is not a replica.")
        if slave.replstate != ONLINE:
            raise CommandError("ERR FAILOVER target replica is not online.")
    running.begin(options.target, options.timeout_ms, options.force)
    return OK
