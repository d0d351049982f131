"""REPLICAOF, SLAVEOF, ROLE, WAIT and REPLCONF.

Differs from Redis: an address is found only among servers that were made as replicas of
one another in this process; any other is a machine that does not answer.

Redis: replication.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import INT_MAX, c_string, get_long_long
from miniredis.commands.client_flags import CLIENT_MULTI, CLIENT_SLAVE
from miniredis.commands.table import command
from miniredis.commands.timeout import get_timeout_in_ms
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import NO_REPLY, OK, Reply, Status
from miniredis.structs.words import split_args

if TYPE_CHECKING:
    from miniredis.server.client import Client

PORT_MAX = 65535
NET_HOST_STR_LEN = 256  # bytes of an address, with the zero at its end


def _replicaof(c: Client, host: bytes, port: bytes) -> Reply:
    """replication.c: replicaofCommand()"""
    repl, server = c.server.repl, c.server
    if c_string(host).lower() == b"no" and c_string(port).lower() == b"one":
        repl.unset_master()
        return OK
    if c.flags & CLIENT_SLAVE:
        raise CommandError("ERR Command is not valid when client is a replica.")
    number = _port(port)
    name = c_string(host).decode("utf-8", "surrogateescape")
    if (
        server.masterhost is not None
        and server.masterhost.lower() == name.lower()
        and repl.masterport == number
    ):
        return Status(b"OK Already connected to specified master")
    repl.set_master(name, number)
    return OK


def _port(text: bytes) -> int:
    """object.c: getRangeLongFromObjectOrReply()"""
    try:
        number = get_long_long(text)
    except CommandError:
        number = -1
    if not 0 <= number <= PORT_MAX:
        raise CommandError("ERR Invalid master port")
    return number


@command(
    "replicaof",
    arity=3,
    flags="admin noscript stale no_async_loading",
    group="server",
    since="5.0.0",
)
def replicaof(c: Client, host: bytes, port: bytes) -> Reply:
    """REPLICAOF host port | NO ONE

    Makes the server a replica of another, or a primary.

    replication.c: replicaofCommand()
    """
    return _replicaof(c, host, port)


@command(
    "slaveof",
    arity=3,
    flags="admin noscript stale no_async_loading",
    group="server",
    since="1.0.0",
)
def slaveof(c: Client, host: bytes, port: bytes) -> Reply:
    """SLAVEOF host port | NO ONE

    The old name of REPLICAOF.

    replication.c: replicaofCommand()
    """
    return _replicaof(c, host, port)


@command(
    "role",
    arity=1,
    flags="noscript loading stale fast",
    acl="admin dangerous",
    group="server",
    since="2.8.12",
)
def role(c: Client) -> Reply:
    """ROLE

    Whether the server is a primary or a replica, and how far the stream is.

    replication.c: roleCommand()
    """
    return c.server.repl.role()


@command(
    "wait",
    arity=3,
    flags="noscript",
    acl="connection",
    tips="request_policy:all_shards response_policy:agg_min",
    group="generic",
    since="3.0.0",
)
def wait(c: Client, numreplicas: bytes, timeout: bytes) -> Reply:
    """WAIT numreplicas timeout

    Waits until so many replicas have this connection's writes, or for *timeout* ms; 0 is
    for ever. Answers how many have them.

    replication.c: waitCommand()
    """
    server = c.server
    waits = server.repl.waits
    if server.masterhost is not None:
        raise CommandError(
            "ERR WAIT cannot be used with replica instances. Please also note that since "
            "Redis 4.0 if a replica is configured to be writable (which is not the default) "
            "writes to replicas are just local and are not propagated."
        )
    wanted = get_long_long(numreplicas)
    end = get_timeout_in_ms(c, timeout)
    acks = waits.count_acks_by_offset(c.woff)
    if acks >= wanted or c.flags & CLIENT_MULTI:
        return acks
    # What a client waits for is kept in 32 bits.
    wanted = (wanted + INT_MAX + 1) % (2 * (INT_MAX + 1)) - INT_MAX - 1
    return waits.block(c, wanted, end)


@command(
    "replconf",
    arity=-1,
    flags="admin noscript loading stale allow_busy",
    group="server",
    since="3.0.0",
)
def replconf(c: Client, *options: bytes) -> Reply:
    """REPLCONF [option value ...]

    What a replica tells its primary of itself, and the primary asks in the stream.

    Only GETACK has an effect, on a replica: it answers at once how far it is. The others
    are checked and forgotten, because no replica attaches by a connection.

    replication.c: replconfCommand()
    """
    if len(options) % 2:
        raise syntax_error()
    for name, value in zip(options[::2], options[1::2], strict=True):
        option = c_string(name).lower()
        if option == b"ack":
            return NO_REPLY
        if option == b"getack":
            c.server.repl.send_ack()
            return NO_REPLY
        _check_replconf(option, c_string(name), value)
    return OK


def _check_replconf(option: bytes, name: bytes, value: bytes) -> None:
    """Raise the error of an option that is unknown or has a bad value."""
    if option == b"listening-port":
        get_long_long(value)
    elif option == b"ip-address":
        if len(value) >= NET_HOST_STR_LEN:
            raise CommandError(
                "ERR REPLCONF ip-address provided by replica instance is too long: "
                f"{len(value)} bytes"
            )
    elif option == b"rdb-only":
        if not 0 <= get_long_long(value) <= 1:
            raise CommandError("ERR value is out of range, value must between 0 and 1")
    elif option == b"rdb-filter-only":
        words = split_args(value)
        if words is None:
            raise CommandError("ERR Missing rdb-filter-only values")
        for word in words:
            if word.lower() != b"functions":
                raise CommandError(b"ERR Unsupported rdb-filter-only option: " + word)
    elif option != b"capa":
        raise CommandError(b"ERR Unrecognized REPLCONF option: " + name)
