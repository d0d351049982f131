"""Commands about the connection itself: PING, HELLO, AUTH, SELECT, RESET, QUIT.

Redis: server.c, networking.c, acl.c, db.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_int, get_long_long, word
from miniredis.commands.client_flags import (
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_MASTER,
    CLIENT_MONITOR,
    CLIENT_PUBSUB,
    CLIENT_REPLY_OFF,
    CLIENT_REPLY_SKIP_NEXT,
    CLIENT_SLAVE,
    CLIENT_UNAUTHENTICATED,
)
from miniredis.commands.pubsub import pubsub_unsubscribe_all
from miniredis.commands.subcommands import one_line
from miniredis.commands.table import command
from miniredis.errors import CommandError, db_out_of_range, syntax_error, wrong_arity
from miniredis.reply import OK, PONG, Reply, Status

if TYPE_CHECKING:
    from miniredis.server.client import Client

REDIS_VERSION = "7.0.15"  # the version whose behaviour is reproduced
_ALWAYS = "noscript loading stale fast no_auth allow_busy"
OPTIONS_FROM = 2  # position in HELLO's arguments, the name included, of the first option
_WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled."


@command(
    "ping",
    arity=-1,
    flags="fast",
    group="connection",
    since="1.0.0",
    tips="request_policy:all_shards response_policy:all_succeeded",
)
def ping(c: Client, *message: bytes) -> Reply:
    """PING [message]

    Answers PONG, or with the message; to a RESP2 subscriber in the shape of a message.

    server.c: pingCommand()
    """
    if len(message) > 1:
        raise wrong_arity(c.fullname())
    if c.flags & CLIENT_PUBSUB and c.resp == 2:
        return [b"pong", message[0] if message else b""]
    return message[0] if message else PONG


@command("echo", arity=2, flags="loading stale fast", group="connection", since="1.0.0")
def echo(c: Client, message: bytes) -> Reply:
    """ECHO message

    Answers with the message.

    server.c: echoCommand()
    """
    return message


@command("select", arity=2, flags="loading stale fast", group="connection", since="1.0.0")
def select(c: Client, index: bytes) -> Reply:
    """SELECT index

    Uses another database from now on.

    db.c: selectCommand()
    """
    if not c.select_db(get_int(index)):
        raise db_out_of_range()
    return OK


def authenticate(c: Client, username: bytes, password: bytes) -> None:
    """Become another user, or raise the error for a wrong password."""
    if not c.server.acl.authenticate(c, username, password):
        raise CommandError(_WRONGPASS)


def set_default_auth(c: Client) -> None:
    """Make *c* the default user, who may have to show a password first.

    networking.c: clientSetDefaultAuth()
    """
    c.user = b"default"
    if c.server.acl.default_needs_password():
        c.flags |= CLIENT_UNAUTHENTICATED
    else:
        c.flags &= ~CLIENT_UNAUTHENTICATED


@command(
    "auth",
    arity=-2,
    flags=_ALWAYS,
    group="connection",
    since="1.0.0",
    complexity="O(N) in the passwords of the user",
)
def auth(c: Client, *args: bytes) -> Reply:
    """AUTH [username] password

    Shows the password that requirepass demands.

    acl.c: authCommand()
    """
    if len(args) > 2:
        raise syntax_error()
    for position in range(1, len(c.argv)):
        c.redact(position)
    if len(args) == 1 and b"nopass" in c.server.acl.default.flags:
        raise CommandError(
            "ERR AUTH <password> called without any password configured for the default user. "
            "Are you sure your configuration is correct?"
        )
    username = args[0] if len(args) == 2 else b"default"
    authenticate(c, username, args[-1])
    return OK


def set_client_name(c: Client, name: bytes) -> None:
    """Name the connection; no spaces, no line ends. networking.c: clientSetName()"""
    if any(not 0x21 <= byte <= 0x7E for byte in name):
        raise CommandError(
            "ERR Client names cannot contain spaces, newlines or special characters."
        )
    c.name = name


@command("hello", arity=-1, flags=_ALWAYS, group="connection", since="6.0.0")
def hello(c: Client, *args: bytes) -> Reply:
    """HELLO [protover [AUTH username password] [SETNAME clientname]]

    Chooses the protocol version, and tells about the server.

    networking.c: helloCommand()
    """
    version = 0
    if args:
        try:
            version = get_long_long(args[0])
        except CommandError:
            raise CommandError("ERR Protocol version is not an integer or out of range") from None
        if not 2 <= version <= 3:
            raise CommandError("NOPROTO unsupported protocol version")
    _hello_options(c, args[1:])
    if c.flags & CLIENT_UNAUTHENTICATED:
        raise CommandError(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
            "HELLO AUTH <user> <pass> option can be used to authenticate the client and select "
            "the RESP protocol version at the same time"
        )
    if version:
        c.resp = version
    return {
        b"server": b"redis",
        b"version": REDIS_VERSION.encode(),
        b"proto": c.resp,
        b"id": c.id,
        b"mode": b"standalone",
        b"role": b"master" if c.server.masterhost is None else b"replica",
        b"modules": [],
    }


def _hello_options(c: Client, args: tuple[bytes, ...]) -> None:
    """Obey the options one by one; those before a wrong one have had their effect."""
    i = 0
    while i < len(args):
        option, rest = word(args[i]), len(args) - i - 1
        if option == b"auth" and rest >= 2:
            position = i + OPTIONS_FROM
            c.redact(position + 1)
            c.redact(position + 2)
            authenticate(c, args[i + 1], args[i + 2])
            i += 3
        elif option == b"setname" and rest >= 1:
            set_client_name(c, args[i + 1])
            i += 2
        else:
            text = b"ERR Syntax error in HELLO option '%s'" % c_string(args[i])
            raise CommandError(one_line(text))


@command("quit", arity=-1, flags=_ALWAYS, group="connection", since="1.0.0")
def quit_(c: Client, *_: bytes) -> Reply:
    """QUIT

    Answers OK and closes the connection.

    server.c: quitCommand()
    """
    c.flags |= CLIENT_CLOSE_AFTER_REPLY
    return OK


@command("reset", arity=1, flags=_ALWAYS, group="connection", since="6.2.0")
def reset(c: Client) -> Reply:
    """RESET

    Makes the connection as it was when it began: database 0, RESP2, no name, no
    transaction, no subscriptions, not authenticated.

    networking.c: resetCommand(), clearClientConnectionState()
    """
    server = c.server
    if c.flags & CLIENT_MONITOR:
        server.stop_monitoring(c)
        c.flags &= ~(CLIENT_MONITOR | CLIENT_SLAVE)
    if c.flags & (CLIENT_SLAVE | CLIENT_MASTER):
        raise CommandError("ERR can only reset normal client connections")
    server.tracking.disable(c)
    c.select_db(0)
    c.resp = 2
    set_default_auth(c)
    c.discard_transaction()
    pubsub_unsubscribe_all(c)
    c.name = b""
    # CLIENT NO-EVICT stays, and so does a SKIP that silences this very command.
    c.flags &= ~(CLIENT_REPLY_OFF | CLIENT_REPLY_SKIP_NEXT)
    return Status(b"RESET")
