"""CLIENT KILL: closing connections.

Redis: ``clientCommand()`` in networking.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import miniredis.commands.client_cmds  # noqa: F401  (declares CLIENT)
from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.client_flags import CLIENT_CLOSE_AFTER_REPLY
from miniredis.commands.client_info import client_type, type_by_name
from miniredis.commands.subcommands import one_line
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


@command(
    "client|kill",
    arity=-3,
    flags="admin noscript loading stale",
    group="connection",
    since="2.4.0",
    complexity="O(N) in the number of clients",
)
def client_kill(c: Client, _: bytes, *args: bytes) -> Reply:
    """CLIENT KILL ip:port | [ID client-id] | [TYPE NORMAL | MASTER | SLAVE | REPLICA | PUBSUB]
        | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME yes/no] [...]

    Closes connections: one by its address, or all that meet every condition.

    networking.c: clientCommand()
    """
    old_form = len(args) == 1
    filters = {b"addr": c_string(args[0])} if old_form else _kill_filters(c, args)
    skipme = filters.pop(b"skipme", b"no" if old_form else b"yes") == b"yes"
    killed = 0
    for other in list(c.server.clients.values()):
        if (other is c and skipme) or not _matches(other, filters):
            continue
        killed += 1
        if other is c:
            c.flags |= CLIENT_CLOSE_AFTER_REPLY
        else:
            c.server.kill_client(other)
    if not old_form:
        return killed
    if not killed:
        raise CommandError("ERR No such client")
    return OK


def _kill_filters(c: Client, args: tuple[bytes, ...]) -> dict[bytes, bytes]:
    """The conditions by name, checked one by one; the last of a name counts."""
    filters: dict[bytes, bytes] = {}
    for i in range(0, len(args), 2):
        name = word(args[i])
        check = _FILTERS.get(name)
        if check is None or i + 1 == len(args):
            raise syntax_error()
        filters[name] = check(args[i + 1])
        if name == b"user" and args[i + 1] not in c.server.acl.users:
            raise CommandError(one_line(b"ERR No such user '%s'" % c_string(args[i + 1])))
    return filters


def _filter_id(value: bytes) -> bytes:
    try:
        id = get_long_long(value)
    except CommandError:
        id = 0
    if id < 1:
        raise CommandError("ERR client-id should be greater than 0")
    return value


def _filter_skipme(value: bytes) -> bytes:
    answer = word(value)
    if answer not in (b"yes", b"no"):
        raise syntax_error()
    return answer


_FILTERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"id": _filter_id,
    b"type": type_by_name,
    b"addr": c_string,
    b"laddr": c_string,
    b"user": bytes,  # which exists, see _kill_filters()
    b"skipme": _filter_skipme,
}


def _matches(c: Client, filters: dict[bytes, bytes]) -> bool:
    facts = {
        b"id": b"%d" % c.id,
        b"type": client_type(c),
        b"user": c.user,
        b"addr": c.addr.encode(),
        b"laddr": c.laddr.encode(),
    }
    return all(facts[name] == value for name, value in filters.items())
