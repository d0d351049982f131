"""CLIENT: looking at connections, closing and pausing them.

Redis: ``clientCommand()`` in networking.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_DIRTY_CAS,
    CLIENT_MONITOR,
    CLIENT_MULTI,
    CLIENT_NO_EVICT,
    CLIENT_PUBSUB,
    CLIENT_REPLY_OFF,
    CLIENT_REPLY_SKIP,
    CLIENT_REPLY_SKIP_NEXT,
)
from miniredis.commands.connection import set_client_name
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.table import command, container
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.object import LLONG_MAX
from miniredis.reply import NO_REPLY, OK, Reply, Verbatim

if TYPE_CHECKING:
    from miniredis.server.client import Client

_FLAGS = "noscript loading stale"
_ADMIN = "admin noscript loading stale"
_TYPES = (b"normal", b"master", b"slave", b"replica", b"pubsub")

# Letters of the flags field, in Redis's order; MONITOR clients count as replicas there.
_FLAG_LETTERS = (
    (CLIENT_MONITOR, "O"),
    (CLIENT_PUBSUB, "P"),
    (CLIENT_MULTI, "x"),
    (CLIENT_BLOCKED, "b"),
    (CLIENT_DIRTY_CAS, "d"),
    (CLIENT_CLOSE_AFTER_REPLY, "c"),
    (CLIENT_NO_EVICT, "e"),
)

container("client", group="connection", since="2.4.0", summary="Commands about connections.")


def client_info(c: Client) -> bytes:
    """One line about a client. networking.c: catClientInfoString()

    Buffers do not exist here; their fields are 0.
    """
    now = c.server.mstime
    flags = "".join(letter for flag, letter in _FLAG_LETTERS if c.flags & flag) or "N"
    multi = len(c.mstate.commands) if c.flags & CLIENT_MULTI else -1
    command = c.lastcmd.name if c.lastcmd is not None else "NULL"
    argv_mem = sum(len(arg) for arg in c.argv)
    multi_mem = sum(len(arg) for _, argv in c.mstate.commands for arg in argv)
    fields = (
        f"id={c.id} addr={c.addr} laddr={c.laddr} fd=-1 name={c.name.decode()} "
        f"age={(now - c.ctime_ms) // 1000} idle={(now - c.lastinteraction_ms) // 1000} "
        f"flags={flags} db={c.db.id} sub={len(c.pubsub_channels)} psub={len(c.pubsub_patterns)} "
        f"ssub={len(c.pubsub_shard_channels)} multi={multi} qbuf=0 qbuf-free=0 "
        f"argv-mem={argv_mem} multi-mem={multi_mem} rbs=0 rbp=0 obl=0 oll={len(c.outbox)} "
        f"omem=0 tot-mem={argv_mem + multi_mem} events=r cmd={command} "
        f"user={c.user.decode()} redir=-1 resp={c.resp}"
    )
    return fields.encode()


def client_type(c: Client) -> bytes:
    """The class of a client. networking.c: getClientType()"""
    if c.flags & CLIENT_MONITOR:
        return b"slave"
    return b"pubsub" if c.flags & CLIENT_PUBSUB else b"normal"


def type_by_name(name: bytes) -> bytes:
    """networking.c: getClientTypeByName()"""
    word = name.lower()
    if word not in _TYPES:
        raise CommandError(b"ERR Unknown client type '%s'" % name)
    return b"slave" if word == b"replica" else word


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
    """CLIENT LIST [TYPE type | ID id [id ...]]

    One line about each connection.

    networking.c: clientCommand()
    """
    clients = list(c.server.clients.values())
    option = args[0].lower() if args else b""
    if len(args) == 2 and option == b"type":
        type = type_by_name(args[1])
        clients = [other for other in clients if client_type(other) == type]
    elif len(args) > 1 and option == b"id":
        ids = []
        for arg in args[1:]:
            try:
                ids.append(get_long_long(arg))
            except CommandError:
                raise CommandError("ERR Invalid client ID") from None
        clients = [c.server.clients[id] for id in ids if id in c.server.clients]
    elif args:
        raise syntax_error()
    return Verbatim(b"".join(client_info(other) + b"\n" for other in clients))


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


@command(
    "client|kill",
    arity=-3,
    flags=_ADMIN,
    group="connection",
    since="2.4.0",
    complexity="O(N) in the number of clients",
)
def client_kill(c: Client, _: bytes, *args: bytes) -> Reply:
    """CLIENT KILL ip:port | [ID id] [TYPE type] [USER user] [ADDR a] [LADDR a] [SKIPME yes|no]

    Closes connections: one by its address, or all that meet every condition.

    networking.c: clientCommand()
    """
    old_form = len(args) == 1
    filters = {b"addr": args[0]} if old_form else _kill_filters(args)
    skipme = not old_form and filters.get(b"skipme", b"yes") == b"yes"
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


def _kill_filters(args: tuple[bytes, ...]) -> dict[bytes, bytes]:
    filters: dict[bytes, bytes] = {}
    for i in range(0, len(args), 2):
        option = args[i].lower()
        if i + 1 == len(args):
            raise syntax_error()
        value = args[i + 1]
        if option == b"id":
            try:
                id = get_long_long(value)
            except CommandError:
                id = 0
            if not 1 <= id <= LLONG_MAX:
                raise CommandError("ERR client-id should be greater than 0")
        elif option == b"type":
            value = type_by_name(value)
        elif option == b"user":
            if value != b"default":
                raise CommandError(b"ERR No such user '%s'" % value)
        elif option == b"skipme":
            value = value.lower()
            if value not in (b"yes", b"no"):
                raise syntax_error()
        elif option not in (b"addr", b"laddr"):
            raise syntax_error()
        filters[option] = value
    return filters


def _matches(c: Client, filters: dict[bytes, bytes]) -> bool:
    facts = {
        b"id": b"%d" % c.id,
        b"type": client_type(c),
        b"user": c.user,
        b"addr": c.addr.encode(),
        b"laddr": c.laddr.encode(),
    }
    return all(facts[name] == value for name, value in filters.items() if name != b"skipme")


@command("client|pause", arity=-3, flags=_ADMIN, group="connection", since="2.9.50")
def client_pause(c: Client, _: bytes, timeout: bytes, *mode: bytes) -> Reply:
    """CLIENT PAUSE timeout [WRITE | ALL]

    Holds the commands of all clients back for so many ms, or only those that write.

    networking.c: clientCommand()
    """
    if len(mode) > 1:
        raise subcommand_syntax_error(c.argv)
    word = mode[0].lower() if mode else b"all"
    if word not in (b"write", b"all"):
        raise CommandError("ERR CLIENT PAUSE mode must be WRITE or ALL")
    try:
        ms = get_long_long(timeout)
    except CommandError:
        raise CommandError("ERR timeout is not an integer or out of range") from None
    if ms < 0:
        raise CommandError("ERR timeout is negative")
    end = ms + c.server.now_ms()
    if end > LLONG_MAX:
        raise CommandError("ERR timeout is out of range")
    c.server.pause_clients(end, write_only=word == b"write")
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
    word = mode.lower()
    if word == b"on":
        c.flags &= ~(CLIENT_REPLY_SKIP | CLIENT_REPLY_OFF)
        return OK
    if word == b"off":
        c.flags |= CLIENT_REPLY_OFF
    elif word == b"skip":
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
    word = mode.lower()
    if word == b"on":
        c.flags |= CLIENT_NO_EVICT
    elif word == b"off":
        c.flags &= ~CLIENT_NO_EVICT
    else:
        raise syntax_error()
    return OK


@command("client|help", arity=2, flags="loading stale", group="connection", since="5.0.0")
def client_help(c: Client, _: bytes) -> Reply:
    """CLIENT HELP

    What CLIENT can do.

    networking.c: clientCommand()
    """
    return c.help(
        ("GETNAME", "Name of this connection."),
        ("ID", "Number of this connection."),
        ("INFO", "All that is known about this connection."),
        ("KILL <ip:port>", "Close the connection from that address."),
        ("KILL <option> <value> [<option> <value> [...]]", "Close all that meet the conditions."),
        ("LIST [options ...]", "A line about each connection."),
        ("NO-EVICT (ON|OFF)", "Protect this connection from eviction."),
        ("PAUSE <timeout> [WRITE|ALL]", "Hold commands back for <timeout> ms."),
        ("REPLY (ON|OFF|SKIP)", "Whether this connection gets replies."),
        ("SETNAME <name>", "Name this connection."),
        ("UNPAUSE", "End a pause."),
    )
