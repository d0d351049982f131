"""CLIENT: looking at connections, naming, silencing and pausing them.

Redis: ``clientCommand()`` in networking.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.client_flags import (
    CLIENT_NO_EVICT,
    CLIENT_REPLY_OFF,
    CLIENT_REPLY_SKIP,
    CLIENT_REPLY_SKIP_NEXT,
)
from miniredis.commands.client_info import client_info, client_type, type_by_name
from miniredis.commands.connection import set_client_name
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.table import command, container
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.object import LLONG_MIN
from miniredis.reply import NO_REPLY, OK, Reply, Verbatim

if TYPE_CHECKING:
    from miniredis.server.client import Client

_FLAGS = "noscript loading stale"
_ADMIN = "admin noscript loading stale"

container("client", group="connection", since="2.4.0", summary="Commands about connections.")


@command("client|id", arity=2, flags=_FLAGS, group="connection", since="5.0.0")
def client_id(c: Client, _: bytes) -> Reply:
    """CLIENT ID

    The number of this connection.

    networking.c: clientCommand()
    """
    return c.id


@command(
    "client|info",
    arity=2,
    flags=_FLAGS,
    tips="nondeterministic_output",
    group="connection",
    since="6.2.0",
)
def client_info_command(c: Client, _: bytes) -> Reply:
    """CLIENT INFO

    What is known about this connection.

    networking.c: clientCommand()
    """
    return Verbatim(client_info(c) + b"\n")


@command(
    "client|list",
    arity=-2,
    flags=_ADMIN,
    tips="nondeterministic_output",
    group="connection",
    since="2.4.0",
    complexity="O(N) in the number of clients",
)
def client_list(c: Client, _: bytes, *args: bytes) -> Reply:
    """CLIENT LIST [TYPE NORMAL | MASTER | REPLICA | PUBSUB] [ID client-id [client-id ...]]

    One line about each connection.

    networking.c: clientCommand()
    """
    clients = list(c.server.clients.values())
    option = word(args[0]) if args else b""
    if len(args) == 2 and option == b"type":
        type = type_by_name(args[1])
        clients = [other for other in clients if client_type(other) == type]
    elif len(args) > 1 and option == b"id":
        ids = [_client_id(arg) for arg in args[1:]]
        clients = [c.server.clients[id] for id in ids if id in c.server.clients]
    elif args:
        raise syntax_error()
    return Verbatim(b"".join(client_info(other) + b"\n" for other in clients))


def _client_id(arg: bytes) -> int:
    try:
        return get_long_long(arg)
    except CommandError:
        raise CommandError("ERR Invalid client ID") from None


@command("client|setname", arity=3, flags=_FLAGS, group="connection", since="2.6.9")
def client_setname(c: Client, _: bytes, name: bytes) -> Reply:
    """CLIENT SETNAME connection-name

    Names this connection.

    networking.c: clientCommand()
    """
    set_client_name(c, name)
    return OK


@command("client|getname", arity=2, flags=_FLAGS, group="connection", since="2.6.9")
def client_getname(c: Client, _: bytes) -> Reply:
    """CLIENT GETNAME

    The name of this connection, if it has one.

    networking.c: clientCommand()
    """
    return c.name or None


def wrap_long_long(number: int) -> int:
    """*number* as it fits into 64 bits with a sign."""
    return (number - LLONG_MIN) % 2**64 + LLONG_MIN


@command("client|pause", arity=-3, flags=_ADMIN, group="connection", since="2.9.50")
def client_pause(c: Client, _: bytes, timeout: bytes, *mode: bytes) -> Reply:
    """CLIENT PAUSE timeout [WRITE | ALL]

    Holds the commands of all clients back for so many ms, or only those that write.

    networking.c: clientCommand()
    """
    if len(mode) > 1:
        raise subcommand_syntax_error(c.argv)
    which = word(mode[0]) if mode else b"all"
    if which not in (b"write", b"all"):
        raise CommandError("ERR CLIENT PAUSE mode must be WRITE or ALL")
    try:
        ms = get_long_long(timeout)
    except CommandError:
        raise CommandError("ERR timeout is not an integer or out of range") from None
    if ms < 0:
        raise CommandError("ERR timeout is negative")
    # A sum beyond 64 bits wraps in Redis too: such a pause is over before it begins.
    end = wrap_long_long(ms + c.server.now_ms()) if ms else 0
    c.server.pause_clients(end, write_only=which == b"write")
    return OK


@command(
    "client|unpause",
    arity=2,
    flags=_ADMIN,
    group="connection",
    since="6.2.0",
    complexity="O(N) in the number of clients held",
)
def client_unpause(c: Client, _: bytes) -> Reply:
    """CLIENT UNPAUSE

    Ends a pause.

    networking.c: clientCommand()
    """
    c.server.pause.unpause()
    return OK


@command("client|reply", arity=3, flags=_FLAGS, group="connection", since="3.2.0")
def client_reply(c: Client, _: bytes, mode: bytes) -> Reply:
    """CLIENT REPLY ON | OFF | SKIP

    Whether this connection gets replies; SKIP leaves out the next one.

    networking.c: clientCommand()
    """
    switch = word(mode)
    if switch == b"on":
        c.flags &= ~(CLIENT_REPLY_SKIP | CLIENT_REPLY_OFF)
        return OK
    if switch == b"off":
        c.flags |= CLIENT_REPLY_OFF
    elif switch == b"skip":
        if not c.flags & CLIENT_REPLY_OFF:
            c.flags |= CLIENT_REPLY_SKIP_NEXT
    else:
        raise syntax_error()
    return NO_REPLY


@command("client|no-evict", arity=3, flags=_ADMIN, group="connection", since="7.0.0")
def client_no_evict(c: Client, _: bytes, mode: bytes) -> Reply:
    """CLIENT NO-EVICT ON | OFF

    Protects this connection when clients use too much memory.

    networking.c: clientCommand()
    """
    switch = word(mode)
    if switch == b"on":
        c.flags |= CLIENT_NO_EVICT
    elif switch == b"off":
        c.flags &= ~CLIENT_NO_EVICT
    else:
        raise syntax_error()
    return OK


@command(
    "client|unblock",
    arity=-3,
    flags=_ADMIN,
    group="connection",
    since="5.0.0",
    complexity="O(log N) in the number of clients; here O(1)",
)
def client_unblock(c: Client, _: bytes, id: bytes, *reason: bytes) -> Reply:
    """CLIENT UNBLOCK client-id [TIMEOUT | ERROR]

    Ends the wait of a client in a blocking command; 1 if it did wait, else 0.

    A command held back by CLIENT PAUSE does not count: Redis 7.0 crashes when told to
    unblock it, Redis 7.2 answers 0 like this.

    networking.c: clientCommand()
    """
    if len(reason) > 1:
        raise subcommand_syntax_error(c.argv)
    why = word(reason[0]) if reason else b"timeout"
    if why not in (b"timeout", b"error"):
        raise CommandError("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
    target = c.server.clients.get(get_long_long(id))
    if target is None:
        return 0
    return int(c.server.blocking.unblock_by_command(target, error=why == b"error"))


@command("client|help", arity=2, flags="loading stale", group="connection", since="5.0.0")
def client_help(c: Client, _: bytes) -> Reply:
    """CLIENT HELP

    What CLIENT can do.

    networking.c: clientCommand()
    """
    return c.help(
        ("CACHING (YES|NO)", "Whether the keys of the next command are tracked."),
        ("GETREDIR", "Client that gets the invalidation messages, -1 for none."),
        ("GETNAME", "Name of this connection."),
        ("ID", "Number of this connection."),
        ("INFO", "All that is known about this connection."),
        ("KILL <ip:port>", "Close the connection from that address."),
        (
            "KILL <option> <value> [<option> <value> [...]]",
            "Close all connections that meet every condition:",
            "* ADDR (<ip:port>|<unixsocket>:0)",
            "  The far end.",
            "* LADDR (<ip:port>|<unixsocket>:0)",
            "  The near end.",
            "* TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
            "  The class of client.",
            "* USER <username>",
            "  Who is logged in.",
            "* SKIPME (YES|NO)",
            "  Spare this connection, which is the default.",
        ),
        (
            "LIST [options ...]",
            "A line about each connection, or about some:",
            "* TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
            "  Those of a class.",
        ),
        ("UNPAUSE", "End a pause."),
        ("PAUSE <timeout> [WRITE|ALL]", "Hold all commands, or only writes, for <timeout> ms."),
        ("REPLY (ON|OFF|SKIP)", "Whether this connection gets replies."),
        ("SETNAME <name>", "Name this connection."),
        ("UNBLOCK <clientid> [TIMEOUT|ERROR]", "End the wait of a client."),
        (
            "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
            "         [OPTIN] [OPTOUT] [NOLOOP]",
            "Tell this connection when a key that it has read changes.",
        ),
        ("TRACKINGINFO", "How keys are tracked for this connection."),
        ("NO-EVICT (ON|OFF)", "Protect this connection from eviction."),
    )
