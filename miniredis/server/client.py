"""The state of one connected client, whatever it is connected by.

A transport (``net/``) creates one with :meth:`Server.create_client`, hands its commands to
:meth:`Server.process_command` and sends what it gets back. Messages that no command
asked for wait in ``outbox``.

Redis: ``struct client`` in server.h, networking.c.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from miniredis.commands.blocking import BLOCKED_POSTPONE, BlockingState, OnTimeout, Serve
from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_MULTI,
    CLIENT_PUBSUB,
    CLIENT_REPLY_OFF,
    CLIENT_REPLY_SKIP,
    PROPAGATE_BOTH,
)
from miniredis.commands.table import Command
from miniredis.errors import CommandError, wrong_arity
from miniredis.reply import NO_REPLY, Blocked, Reply, Status
from miniredis.server.monitor import replication_feed_monitors
from miniredis.server.multi import (
    MultiState,
    WatchedKey,
    discard_transaction,
    exec_command,
    unwatch_all_keys,
    watch_for_key,
)

if TYPE_CHECKING:
    from miniredis.keyspace.db import RedisDb
    from miniredis.server.repl_socket import SlaveOptions
    from miniredis.server.reply_buffer import ReplyBuffer
    from miniredis.server.server import Server

REDACTED = b"(redacted)"  # what logs show in a secret's place


def _nothing() -> None:
    """The hook of a transport that does not care."""


class Client:
    """A client of a :class:`Server`.

    ``resp`` is the protocol version, 2 or 3. ``flags`` are those of ``client_flags.py``;
    zero means an ordinary client with nothing to ask about before a command runs.
    ``on_output`` is called, perhaps from another thread, when something was put into
    ``outbox``; ``on_close`` when another client killed this one.
    """

    __slots__ = (
        "__weakref__",
        "addr",
        "argv",
        "bpop",
        "cmd",
        "ctime_ms",
        "db",
        "duration",
        "flags",
        "force_propagation",
        "id",
        "laddr",
        "lastcmd",
        "lastinteraction_us",
        "mstate",
        "name",
        "on_close",
        "on_output",
        "on_wire",
        "outbox",
        "propagates",
        "pubsub_channels",
        "pubsub_patterns",
        "pubsub_shard_channels",
        "reply_buffer",
        "resp",
        "rewritten",
        "server",
        "shown_argv",
        "slave_options",
        "tracking_prefixes",
        "tracking_redirection",
        "turn_open",
        "user",
        "watched_keys",
        "woff",
    )

    def __init__(self, server: Server, id: int, addr: str, laddr: str) -> None:
        self.server = server
        self.id = id
        self.addr = addr
        self.laddr = laddr
        self.resp = 2
        self.db: RedisDb = server.databases[0]
        self.flags = 0
        self.name = b""
        self.user = b"default"
        self.argv: list[bytes] = []
        self.cmd: Command | None = None  # the command that runs, EXEC's queued ones too
        self.bpop: BlockingState | None = None  # what it waits for
        self.duration = 0  # µs of work of the command that waits
        self.lastcmd: Command | None = None  # the last one sent by this client
        self.force_propagation = 0  # PROPAGATE_*: told even if nothing changed
        self.propagates = PROPAGATE_BOTH  # whom its commands are told; a script may say less
        self.rewritten: list[bytes] | None = None
        # An argv with secrets and the form of it that logs may show.
        self.shown_argv: tuple[list[bytes], list[bytes]] | None = None
        self.lastinteraction_us = server.clock.us()
        self.ctime_ms = self.lastinteraction_us // 1000
        self.mstate = MultiState()
        self.watched_keys: list[WatchedKey] = []
        self.reply_buffer: ReplyBuffer | None = None  # of a client on a wire
        self.woff = 0  # length of the replication stream when the last command ended
        self.pubsub_channels: dict[bytes, None] = {}
        self.pubsub_patterns: dict[bytes, None] = {}
        self.pubsub_shard_channels: dict[bytes, None] = {}
        self.on_wire = False  # its transport can send bytes as they are: it may be a replica
        self.slave_options: SlaveOptions | None = None  # what REPLCONF told
        self.tracking_redirection = 0  # number of the client that gets its messages
        self.tracking_prefixes: dict[bytes, None] = {}
        # Whether its transport has more commands at hand and ends the turn of the event
        # loop itself, by Server.end_turn(). Else each command is a turn.
        self.turn_open = False
        self.outbox: deque[Reply] = deque()
        self.on_output: Callable[[], None] = _nothing
        self.on_close: Callable[[], None] = _nothing

    @property
    def blocked(self) -> bool:
        """Waiting for something; no further command is taken from it."""
        return bool(self.flags & CLIENT_BLOCKED)

    @property
    def held_back(self) -> bool:
        """Its command has not run yet: CLIENT PAUSE."""
        return self.bpop is not None and self.bpop.btype == BLOCKED_POSTPONE

    @property
    def takes_commands(self) -> bool:
        """Neither blocked nor about to be closed."""
        return not self.flags & (CLIENT_BLOCKED | CLIENT_CLOSE_AFTER_REPLY)

    @property
    def close_after_reply(self) -> bool:
        """The transport closes the connection once all output is sent.

        What closes it in Redis is the sending: a client that QUITs while it is silenced
        stays, deaf and mute.
        """
        return self.flags & (CLIENT_CLOSE_AFTER_REPLY | CLIENT_REPLY_OFF) == (
            CLIENT_CLOSE_AFTER_REPLY
        )

    @property
    def silenced(self) -> bool:
        """CLIENT REPLY keeps replies back, though not messages."""
        return bool(self.flags & (CLIENT_REPLY_OFF | CLIENT_REPLY_SKIP))

    @property
    def in_multi(self) -> bool:
        """Between MULTI and EXEC."""
        return bool(self.flags & CLIENT_MULTI)

    def subscription_count(self) -> int:
        """Channels and patterns, as SUBSCRIBE's reply counts them (shard channels apart)."""
        return len(self.pubsub_channels) + len(self.pubsub_patterns)

    def update_pubsub_flag(self) -> None:
        """Set or clear CLIENT_PUBSUB after a change of subscriptions."""
        if self.subscription_count() or self.pubsub_shard_channels:
            self.flags |= CLIENT_PUBSUB
        else:
            self.flags &= ~CLIENT_PUBSUB

    def select_db(self, id: int) -> bool:
        """Use database *id* from now on; False if there is none. db.c: selectDb()"""
        databases = self.server.databases
        if not 0 <= id < len(databases):
            return False
        self.db = databases[id]
        return True

    def feed_monitors(self) -> None:
        """Show the running command to monitors before the commands that it runs."""
        if self.server.monitors:
            replication_feed_monitors(self, self.argv, None)

    def rewrite(self, *argv: bytes) -> None:
        """Propagate *argv*, or nothing if empty, instead of the command as sent.

        networking.c: rewriteClientCommandVector()
        """
        if self.server.propagation.targets:
            self.rewritten = list(argv)

    def also_propagate(self, *argv: bytes) -> None:
        """Propagate *argv* too, if anybody listens. server.c: alsoPropagate()"""
        if self.server.propagation.targets:
            self.server.propagation.also_propagate(self.db.id, list(argv))

    def prevent_command_propagation(self) -> None:
        """Propagate nothing for the command itself; it has queued what is to be told instead.

        server.c: preventCommandPropagation()
        """
        self.rewrite()

    def force_command_propagation(self, target: int) -> None:
        """Tell *target* (PROPAGATE_*) of the command even if it changes nothing.

        server.c: forceCommandPropagation()
        """
        if self.server.propagation.targets:
            self.force_propagation |= target

    def exec(self) -> Reply:
        """Run the queued transaction. multi.c: execCommand()"""
        return exec_command(self)

    def discard_transaction(self) -> None:
        """Forget queue and watched keys. multi.c: discardTransaction()"""
        discard_transaction(self)

    def watch_for_key(self, key: bytes) -> None:
        """Watch *key* of the selected database. multi.c: watchForKey()"""
        watch_for_key(self, key)

    def unwatch_all_keys(self) -> None:
        """Watch nothing any more. multi.c: unwatchAllKeys()"""
        unwatch_all_keys(self)

    def block_for_keys(
        self,
        btype: int,
        keys: Iterable[bytes] | dict[bytes, Any],
        timeout: int,
        serve: Serve,
        gone: Callable[[], CommandError] | None = None,
    ) -> Blocked:
        """Wait until one of *keys* can be served; return this as the command's reply.

        *timeout* is the Unix time in ms at which the wait ends, 0: never. Keys with
        something to remember of each are given as a dict. See ``BlockingState`` for the
        rest. O(keys). blocked.c: blockForKeys()
        """
        waited_for = keys if isinstance(keys, dict) else dict.fromkeys(keys)
        state = BlockingState(btype, timeout, waited_for, serve, gone=gone)
        return self.server.blocking.block_client(self, state)

    def block_client(self, btype: int, timeout: int, on_timeout: OnTimeout) -> Blocked:
        """Wait for something that is no key (WAIT). blocked.c: blockClient()"""
        state = BlockingState(btype, timeout, on_timeout=on_timeout)
        return self.server.blocking.block_client(self, state)

    def help(self, *subcommands: tuple[str, ...]) -> Reply:
        """The reply of a HELP subcommand: of each its usage, and lines that explain it.

        networking.c: addReplyHelp()
        """
        assert self.cmd is not None
        name = self.cmd.name.split("|")[0].upper()
        lines = [f"{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"]
        for usage, *meaning in (*subcommands, ("HELP", "Prints this help.")):
            lines.append(usage)
            lines.extend(f"    {line}" for line in meaning)
        return [Status(line.encode()) for line in lines]

    def push(self, message: Reply) -> None:
        """Send something that is not the reply of a command."""
        self.outbox.append(message)
        self.on_output()

    def reply_first(self, reply: Reply) -> Reply:
        """Send the running command's *reply* now, before the events that it is going to fire.

        A client that is subscribed to its own events sees the order. To be returned by the
        command. Which commands do so, Redis's code decides; most reply last.
        """
        if not self.flags & CLIENT_PUBSUB or self.silenced:
            return reply
        self.outbox.append(reply)
        return NO_REPLY

    def fullname(self) -> str:
        """The running command's full name as error texts show it, e.g. ``config|get``."""
        assert self.cmd is not None
        return self.cmd.name

    def redact(self, position: int) -> None:
        """Keep an argument of the running command out of MONITOR and the slow log.

        networking.c: redactClientCommandArgument()
        """
        if self.shown_argv is None or self.shown_argv[0] is not self.argv:
            self.shown_argv = (self.argv, list(self.argv))
        self.shown_argv[1][position] = REDACTED

    def redacted(self, argv: list[bytes]) -> list[bytes]:
        """*argv*, a command of this client, as logs may show it."""
        if self.shown_argv is not None and self.shown_argv[0] is argv:
            return self.shown_argv[1]
        return argv

    def wrong_arity(self) -> CommandError:
        """The error for the running command's arguments being too many or too few."""
        return wrong_arity(self.fullname())

    def __repr__(self) -> str:
        return f"<Client id={self.id} addr={self.addr} db={self.db.id}>"
