"""What CLIENT LIST tells of a client, and the classes of clients.

Redis: ``catClientInfoString()``, ``getClientType()`` in networking.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, word
from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_DIRTY_CAS,
    CLIENT_MASTER,
    CLIENT_MONITOR,
    CLIENT_MULTI,
    CLIENT_NO_EVICT,
    CLIENT_PUBSUB,
    CLIENT_SLAVE,
    CLIENT_TRACKING,
    CLIENT_TRACKING_BCAST,
    CLIENT_TRACKING_BROKEN_REDIR,
    CLIENT_UNBLOCKED,
)
from miniredis.commands.subcommands import one_line
from miniredis.errors import CommandError

if TYPE_CHECKING:
    from miniredis.server.client import Client

US_PER_SECOND = 1_000_000
POINTER_BYTES = 8  # of an argument's pointer, counted into the memory of a queued command
EXEC_BYTES = len(b"EXEC")  # of EXEC's arguments while it runs the queued commands

# Letters of the flags field, in Redis's order.
_FLAG_LETTERS = (
    (CLIENT_MASTER, "M"),
    (CLIENT_PUBSUB, "P"),
    (CLIENT_MULTI, "x"),
    (CLIENT_BLOCKED, "b"),
    (CLIENT_TRACKING, "t"),
    (CLIENT_TRACKING_BROKEN_REDIR, "R"),
    (CLIENT_TRACKING_BCAST, "B"),
    (CLIENT_DIRTY_CAS, "d"),
    (CLIENT_CLOSE_AFTER_REPLY, "c"),
    (CLIENT_UNBLOCKED, "u"),
    (CLIENT_NO_EVICT, "e"),
)
_TYPES = {
    b"normal": b"normal",
    b"slave": b"slave",
    b"replica": b"slave",
    b"pubsub": b"pubsub",
    b"master": b"master",
}


def client_info(c: Client) -> bytes:
    """One line about a client, without a line end. networking.c: catClientInfoString()

    There are no sockets and buffers here: ``fd`` is -1 as Redis prints it of a client
    without a connection, sizes of buffers are 0 but for ``qbuf``, the bytes in which the
    running command came or would have come, ``oll`` counts the messages that wait in the
    outbox, and ``tot-mem`` is the sum of the memory fields before it.
    """
    server = c.server
    now = server.mstime // 1000
    # A running command has just come in, whatever was noted of the one before.
    running = c is server.current_client
    idle = 0 if running else now - c.lastinteraction_us // US_PER_SECOND
    argv_mem = _argv_mem(c) if running or c.flags & CLIENT_BLOCKED else 0
    multi_mem = _multi_mem(c)
    qbuf = _request_bytes(c) if running else 0
    buffer = c.reply_buffer
    size, peak = (0, 0) if buffer is None else (buffer.size, buffer.peak)
    fields = (
        f"id={c.id} addr={c.addr} laddr={c.laddr} fd=-1 name={c.name.decode()} "
        f"age={now - c.ctime_ms // 1000} idle={idle} flags={flag_letters(c)} db={c.db.id} "
        f"sub={len(c.pubsub_channels)} psub={len(c.pubsub_patterns)} "
        f"ssub={len(c.pubsub_shard_channels)} "
        f"multi={len(c.mstate.commands) if c.flags & CLIENT_MULTI else -1} "
        f"qbuf={qbuf} qbuf-free=0 argv-mem={argv_mem} multi-mem={multi_mem} "
        f"rbs={size} rbp={peak} obl=0 oll={len(c.outbox)} omem=0 tot-mem={argv_mem + multi_mem} "
        f"events=r cmd={'NULL' if c.lastcmd is None else c.lastcmd.name} "
        f"user={c.user.decode()} redir={tracking_redirection(c)} resp={c.resp}"
    )
    return fields.encode()


def tracking_redirection(c: Client) -> int:
    """The client that gets the invalidation messages of *c*; -1 if it tracks no keys."""
    return c.tracking_redirection if c.flags & CLIENT_TRACKING else -1


def flag_letters(c: Client) -> str:
    """The state of a client in letters, N for nothing special."""
    first = ""
    if c.flags & CLIENT_SLAVE:
        first = "O" if c.flags & CLIENT_MONITOR else "S"
    return first + "".join(letter for flag, letter in _FLAG_LETTERS if c.flags & flag) or "N"


def _argv_mem(c: Client) -> int:
    """Bytes of the arguments of the command as it was sent. server.h: argv_len_sum"""
    return EXEC_BYTES if c.server.in_exec else sum(map(len, c.argv))


def _request_bytes(c: Client) -> int:
    """Bytes of the running command in RESP. server.h: querybuf"""
    argv = [b"EXEC"] if c.server.in_exec else c.argv
    count = len(b"*%d\r\n" % len(argv))
    return count + sum(len(b"$%d\r\n\r\n" % len(arg)) + len(arg) for arg in argv)


def _multi_mem(c: Client) -> int:
    """Bytes of the commands queued since MULTI. server.h: argv_len_sums"""
    return sum(len(arg) + POINTER_BYTES for _, argv in c.mstate.commands for arg in argv)


def client_type(c: Client) -> bytes:
    """The class of a client; MONITOR does not make it a replica. networking.c: getClientType()"""
    if c.flags & CLIENT_MASTER:
        return b"master"
    if c.flags & CLIENT_SLAVE and not c.flags & CLIENT_MONITOR:
        return b"slave"
    return b"pubsub" if c.flags & CLIENT_PUBSUB else b"normal"


def type_by_name(name: bytes) -> bytes:
    """The class that TYPE names; an error for an unknown one.

    networking.c: getClientTypeByName()
    """
    type = _TYPES.get(word(name))
    if type is None:
        raise CommandError(one_line(b"ERR Unknown client type '%s'" % c_string(name)))
    return type
