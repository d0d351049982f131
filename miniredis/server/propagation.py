"""What replicas and the append-only file would be told.

Commands that changed something are queued, in the form that means the same at any time
and place (``SET k v PX 100`` becomes ``SET k v PXAT <ms>``), and flushed at the end of
the outermost call: one alone as it is, several between MULTI and EXEC. Listeners are
sinks; without one nothing is queued at all.

Redis: ``alsoPropagate()``, ``propagatePendingCommands()`` in server.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.commands.table import Command

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server


# Commands that run others: only what these change is told. preventCommandPropagation()
EFFECTS_ONLY = frozenset({"exec", "eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"})


class Propagation:
    """The queue of one server and its sinks."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sinks: list[Callable[[int, list[bytes]], None]] = []
        self.active = False  # whether anybody listens; kept by Server.update_listeners()
        self.ops: list[tuple[int, list[bytes]]] = []  # server.h: also_propagate

    def add_sink(self, sink: Callable[[int, list[bytes]], None]) -> None:
        """Call *sink* with (database, argv) for everything propagated from now on."""
        self.sinks.append(sink)
        self.server.update_listeners()

    def also_propagate(self, dbid: int, argv: list[bytes]) -> None:
        """Queue a command. server.c: alsoPropagate()"""
        self.ops.append((dbid, argv))

    def after_call(self, c: Client, cmd: Command, argv: list[bytes], dirty: bool) -> None:
        """Queue the command that ran, if it changed anything; flush after the outermost."""
        if (dirty or c.force_propagation) and cmd.name not in EFFECTS_ONLY and c.propagates:
            instead = argv if c.rewritten is None else c.rewritten
            if instead:
                self.also_propagate(c.db.id, instead)
        c.rewritten = None
        c.force_propagation = False
        if not self.server.fixed_time_expire and self.ops:
            # Commands that may meet any key are not made a transaction: the keys they
            # found expired have nothing to do with each other.
            self.flush(transaction=len(self.ops) > 1 and not cmd.touches_arbitrary_keys)

    def flush(self, transaction: bool) -> None:
        """Send all that is queued. server.c: propagatePendingCommands()"""
        ops, self.ops = self.ops, []
        if transaction:
            ops = [(ops[0][0], [b"MULTI"]), *ops, (ops[-1][0], [b"EXEC"])]
        for dbid, argv in ops:
            for sink in self.sinks:
                sink(dbid, argv)
            if self.server.probed:
                self.server.probe.propagated(dbid, argv)
