"""The checks that stand between a command and its execution, in Redis's order.

An ordinary client's valid command passes none of this: :meth:`Server.process_command`
comes here only when the client has a flag, the server a gate, or the command is unknown
or has a wrong number of arguments.

Redis: ``processCommand()``, ``rejectCommand()`` in server.c.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, word
from miniredis.commands.client_flags import (
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_MASTER,
    CLIENT_MULTI,
    CLIENT_PUBSUB,
    CLIENT_REPLY_OFF,
    CLIENT_REPLY_SKIP,
    CLIENT_REPLY_SKIP_NEXT,
    CLIENT_SLAVE,
    CLIENT_UNAUTHENTICATED,
)
from miniredis.commands.protected import debug_refused
from miniredis.commands.table import Command, lookup_container
from miniredis.errors import CommandError, wrong_arity
from miniredis.reply import BLOCKED, NO_REPLY, QUEUED, Reply
from miniredis.server.multi import abort_exec, flag_transaction, queue_multi_command
from miniredis.server.pause import CLIENT_PAUSE_ALL, CLIENT_PAUSE_OFF
from miniredis.server.script_flags import command_flags

if TYPE_CHECKING:
    from miniredis.server.client import Client

MAY_REPLICATE = frozenset({"write", "may_replicate"})
TOUCHES_KEYSPACE = MAY_REPLICATE | {"readonly"}
ERROR_NAME_LEN = 128  # bytes of a command's name, and of its arguments, in error texts

# Of a replica, and of a primary that lacks replicas. server.c: createSharedObjects()
READONLY = "READONLY You can't write against a read only replica."
NOREPLICAS = "NOREPLICAS Not enough good replicas to write."
MASTERDOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."

# First words of a line of HTTP: a browser was made to talk to this port.
HTTP_WORDS = frozenset({b"host:", b"post"})
# Allowed to a RESP2 client that is subscribed.
ALLOWED_IN_PUBSUB = frozenset(
    [
        "ping",
        "subscribe",
        "ssubscribe",
        "unsubscribe",
        "sunsubscribe",
        "psubscribe",
        "punsubscribe",
        "quit",
        "reset",
    ]
)


def check_command(c: Client, cmd: Command | None, argv: list[bytes]) -> Reply | None:
    """The reply that settles the command without running it, or None to run it."""
    if (
        c.flags == CLIENT_MULTI
        and cmd is not None
        and cmd.queueable
        and cmd.arity_ok(len(argv))
        and not c.server.gates
    ):
        # The usual case in a transaction, without the questions below.
        queue_multi_command(c, cmd, argv)
        return QUEUED
    if c.flags & CLIENT_CLOSE_AFTER_REPLY:
        return NO_REPLY  # what comes after a QUIT is not read. networking.c: processInputBuffer()
    if cmd is None and word(argv[0]) in HTTP_WORDS:
        # Such a request may carry commands in its body: none of them may run.
        c.server.kill_client(c)
        return NO_REPLY
    error = _find_error(c, cmd, argv)
    if error is not None:
        return reject_command(c, cmd, error)
    assert cmd is not None
    if _is_paused(c, cmd):
        c.server.pause.postpone(c)
        return BLOCKED
    if c.flags & CLIENT_MULTI and cmd.queueable:
        queue_multi_command(c, cmd, argv)
        return QUEUED
    return None


def reject_command(c: Client, cmd: Command | None, error: CommandError) -> CommandError:
    """Refuse a command: an open transaction is lost. server.c: rejectCommand()"""
    flag_transaction(c)
    server = c.server
    if cmd is not None:
        stats = server.command_stats.get(cmd) or server.new_command_stats(cmd)
        stats.rejected_calls += 1
        if cmd.name == "exec":
            error = abort_exec(c, error)
    server.count_error(error)
    return error


def _find_error(c: Client, cmd: Command | None, argv: list[bytes]) -> CommandError | None:
    if cmd is None or (cmd.subcommands and len(argv) > 1):
        return unknown_command(argv)
    if not cmd.arity_ok(len(argv)):
        return wrong_arity(cmd.name)
    if cmd.name == "debug" and (refused := debug_refused(c)) is not None:
        return refused
    if auth_required(c) and "no_auth" not in cmd.flags:
        return CommandError("NOAUTH Authentication required.")
    if c.flags & CLIENT_MULTI and "no_multi" in cmd.flags:
        return CommandError("ERR Command not allowed inside a transaction")
    if (refused := _write_refused(c, cmd)) is not None:
        return refused
    if c.flags & CLIENT_PUBSUB and c.resp == 2 and cmd.name not in ALLOWED_IN_PUBSUB:
        return CommandError(
            f"ERR Can't execute '{cmd.name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / "
            "PING / QUIT / RESET are allowed in this context"
        )
    if _is_stale(c, cmd):
        return CommandError(MASTERDOWN)
    if c.server.scripting.is_timed_out and "allow_busy" not in cmd.flags:
        return c.server.scripting.busy_error()
    if c.flags & CLIENT_SLAVE and not _flags(c, cmd).isdisjoint(TOUCHES_KEYSPACE):
        return CommandError("ERR Replica can't interact with the keyspace")
    return None


def _write_refused(c: Client, cmd: Command) -> CommandError | None:
    """Why a server that is a replica, or lacks replicas, takes no writing command."""
    server = c.server
    if server.masterhost is None and not server.config.min_replicas_to_write:
        return None
    if "write" not in _flags(c, cmd):
        return None
    if not server.repl.good_replicas_status():
        return CommandError(NOREPLICAS)
    if server.masterhost is not None and server.repl_slave_ro and not c.flags & CLIENT_MASTER:
        return CommandError(READONLY)
    return None


def _is_stale(c: Client, cmd: Command) -> bool:
    """Whether the command would read data that may be old, which the operator forbids."""
    server = c.server
    if not server.repl.is_stale():
        return False
    return any("stale" not in flags for flags in _flags_of_each(c, cmd))


def auth_required(c: Client) -> bool:
    """Whether the client must show a password first. networking.c: authRequired()"""
    return bool(c.flags & CLIENT_UNAUTHENTICATED and c.server.config.requirepass)


def _flags(c: Client, cmd: Command) -> Set[str]:
    """The flags of a command; EXEC has those of the queued commands too."""
    return frozenset().union(*_flags_of_each(c, cmd))


def _flags_of_each(c: Client, cmd: Command) -> list[frozenset[str]]:
    """The flags of a command, for EXEC followed by those of each command queued. O(N)"""
    server = c.server
    queued = c.mstate.commands if cmd.name == "exec" else []
    return [command_flags(server, row, argv) for row, argv in [(cmd, c.argv), *queued]]


def unknown_command(argv: list[bytes]) -> CommandError:
    """The error for a name that is not in the table. server.c: commandCheckExistence()"""
    name = c_string(argv[0])[:ERROR_NAME_LEN]
    if len(argv) > 1 and lookup_container(argv[0].lower()) is not None:
        text = b"ERR unknown subcommand '%s'. Try %s HELP." % (
            c_string(argv[1])[:ERROR_NAME_LEN],
            argv[0].upper(),
        )
    else:
        args = b""
        for arg in argv[1:]:
            if len(args) >= ERROR_NAME_LEN:
                break
            args += b"'%s' " % c_string(arg)[: ERROR_NAME_LEN - len(args)]
        text = b"ERR unknown command '%s', with args beginning with: %s" % (name, args)
    return CommandError(text.replace(b"\r", b" ").replace(b"\n", b" "))


def _is_paused(c: Client, cmd: Command) -> bool:
    pause = c.server.pause.type
    if pause == CLIENT_PAUSE_OFF or c.flags & CLIENT_SLAVE:  # MONITOR counts as a replica
        return False
    return pause == CLIENT_PAUSE_ALL or not _flags(c, cmd).isdisjoint(MAY_REPLICATE)


def reply_is_wanted(c: Client) -> bool:
    """Whether CLIENT REPLY lets the reply of the command just run go out.

    networking.c: prepareClientToWrite()
    """
    wanted = not c.flags & (CLIENT_REPLY_OFF | CLIENT_REPLY_SKIP)
    if not wanted and c.flags & CLIENT_CLOSE_AFTER_REPLY:
        c.flags |= CLIENT_REPLY_OFF  # see Client.close_after_reply
    reset_client(c)
    return wanted


def reset_client(c: Client) -> None:
    """A request is over, an empty one too: move CLIENT REPLY SKIP on.

    The command after it is the silent one. networking.c: resetClient()
    """
    c.flags &= ~CLIENT_REPLY_SKIP
    if c.flags & CLIENT_REPLY_SKIP_NEXT:
        c.flags |= CLIENT_REPLY_SKIP
        c.flags &= ~CLIENT_REPLY_SKIP_NEXT


def set_protocol_error(c: Client, error: CommandError) -> Reply:
    """The reply to a client that broke the protocol: *error*, and the end.

    One that is silenced gets no error, and as the end comes with its sending, neither is
    hung up on: it stays, deaf and mute. networking.c: setProtocolError()
    """
    c.server.count_error(error)
    c.flags |= CLIENT_CLOSE_AFTER_REPLY
    return error if reply_is_wanted(c) else NO_REPLY
