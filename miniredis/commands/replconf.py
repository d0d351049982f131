"""SYNC, PSYNC and REPLCONF: what a replica says to its primary over its connection.

Redis: replication.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.client_flags import CLIENT_SLAVE
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import NO_REPLY, OK, Reply
from miniredis.structs.words import split_args

if TYPE_CHECKING:
    from miniredis.server.client import Client

NET_HOST_STR_LEN = 256  # bytes of an address, with the zero at its end
FAILOVER_WORD = 2  # place of PSYNC's third argument


def _sync(c: Client, args: tuple[bytes, ...]) -> Reply:
    """replication.c: syncCommand()"""
    repl = c.server.repl
    if c.flags & CLIENT_SLAVE:
        return NO_REPLY
    if len(args) > FAILOVER_WORD and word(args[FAILOVER_WORD]) == b"failover":
        if c.server.masterhost is None:
            raise CommandError("ERR PSYNC FAILOVER can't be sent to a master.")
        if c_string(args[0]).lower() != c.server.replid.encode():
            raise CommandError("ERR PSYNC FAILOVER replid must match my replid.")
        repl.unset_master()
    if repl.failover.active:
        raise CommandError("NOMASTERLINK Can't SYNC while failing over")
    if not repl.serves_replicas():
        raise CommandError("NOMASTERLINK Can't SYNC while not connected with my master")
    if not c.on_wire:
        raise CommandError("ERR SYNC and PSYNC need a connection over a network")
    if c.outbox:
        raise CommandError("ERR SYNC and PSYNC are invalid with pending output")
    options = c.slave_options
    if options is not None and options.filtered and not options.capa_eof:
        raise CommandError("ERR Filtered replica requires EOF capability")
    if not args:
        repl.sync_socket(c, None, -1)
    else:
        offset = get_long_long(args[1])
        repl.sync_socket(c, c_string(args[0]).decode("latin-1"), offset)
    return NO_REPLY


@command(
    "sync",
    arity=1,
    flags="admin noscript no_async_loading no_multi",
    group="server",
    since="1.0.0",
    complexity="",
)
def sync(c: Client) -> Reply:
    """SYNC

    Makes the connection one of a replica: it gets all data, then every change.

    replication.c: syncCommand()
    """
    return _sync(c, ())


@command(
    "psync",
    arity=-3,
    flags="admin noscript no_async_loading no_multi",
    group="server",
    since="2.8.0",
    complexity="",
)
def psync(c: Client, *args: bytes) -> Reply:
    """PSYNC replicationid offset

    SYNC of a replica that may already have the history up to a place.

    replication.c: syncCommand()
    """
    return _sync(c, args)


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

    replication.c: replconfCommand()
    """
    if len(options) % 2:
        raise syntax_error()
    for name, value in zip(options[::2], options[1::2], strict=True):
        option = c_string(name).lower()
        if option == b"ack":
            if c.flags & CLIENT_SLAVE:
                _ack(c, value)
            return NO_REPLY
        if option == b"getack":
            c.server.repl.send_ack()
            return NO_REPLY
        _set_option(c, option, c_string(name), value)
    return OK


def _ack(c: Client, value: bytes) -> None:
    try:
        offset = get_long_long(value)
    except CommandError:
        return
    c.server.repl.ack_from(c, offset)


def _set_option(c: Client, option: bytes, name: bytes, value: bytes) -> None:
    """Note an option, or raise its error."""
    options = c.server.repl.options_of(c)
    if option == b"listening-port":
        options.listening_port = get_long_long(value)
    elif option == b"ip-address":
        if len(value) >= NET_HOST_STR_LEN:
            raise CommandError(
                "ERR REPLCONF ip-address provided by replica instance is too long: "
                f"{len(value)} bytes"
            )
        options.ip_address = value.decode("utf-8", "surrogateescape")
    elif option == b"capa":
        capability = word(value)
        options.capa_eof |= capability == b"eof"
        options.capa_psync2 |= capability == b"psync2"
    elif option == b"rdb-only":
        number = get_long_long(value)
        if not 0 <= number <= 1:
            raise CommandError("ERR value is out of range, value must between 0 and 1")
        options.rdb_only = number == 1
    elif option == b"rdb-filter-only":
        _filter(c, value)
    else:
        raise CommandError(b"ERR Unrecognized REPLCONF option: " + name)


def _filter(c: Client, value: bytes) -> None:
    """Leave all parts out of the file but those named."""
    options = c.server.repl.options_of(c)
    words = split_args(value)
    if words is None:
        raise CommandError("ERR Missing rdb-filter-only values")
    options.data = options.functions = False
    for part in words:
        if part.lower() != b"functions":
            raise CommandError(b"ERR Unsupported rdb-filter-only option: " + part)
        options.functions = True
