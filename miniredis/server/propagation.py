"""What replicas and the append-only file are told.

Commands that changed something are queued, in the form that means the same at any time
and place (``SET k v PX 100`` becomes ``SET k v PXAT <ms>``), and flushed at the end of
the outermost call: one alone as it is, several between MULTI and EXEC. Each has a target:
the append-only file, the replicas, or both. What nobody listens to is not queued at all.

Redis: ``alsoPropagate()``, ``propagateNow()``, ``propagatePendingCommands()`` in server.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import PROPAGATE_AOF, PROPAGATE_BOTH, PROPAGATE_REPL
from miniredis.commands.table import Command

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

Sink = Callable[[int, list[bytes]], None]


# Commands that run others: only what these change is told. preventCommandPropagation()
EFFECTS_ONLY = frozenset({"exec", "eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"})


class Propagation:
    """The queue of one server and its listeners.

    ``sinks`` hear what an append-only file would be told. Replicas are fed through
    ``server.repl``; a probe hears both.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sinks: list[Sink] = []
        self.targets = 0  # PROPAGATE_* that anybody listens to
        self.ops: list[tuple[int, list[bytes], int]] = []  # server.h: also_propagate

    @property
    def active(self) -> bool:
        """Whether anybody listens."""
        return self.targets != 0

    def add_sink(self, sink: Sink) -> None:
        """Call *sink* with (database, argv) for everything propagated from now on."""
        self.sinks.append(sink)
        self.server.update_listeners()

    def remove_sink(self, sink: Sink) -> None:
        """Call *sink* no more; harmless if it was not called."""
        if sink in self.sinks:
            self.sinks.remove(sink)
            self.server.update_listeners()

    def update_targets(self, probed: bool) -> None:
        """Note who listens. A replica propagates nothing to replicas: it passes its
        primary's stream on as it came. server.c: shouldPropagate()
        """
        self.targets = 0
        if self.sinks or probed:
            self.targets |= PROPAGATE_AOF
        if self.server.masterhost is None and (probed or self.server.repl.has_listeners()):
            self.targets |= PROPAGATE_REPL

    def also_propagate(self, dbid: int, argv: list[bytes], target: int = PROPAGATE_BOTH) -> None:
        """Queue a command, if any of its targets listens. server.c: alsoPropagate()"""
        if target & self.targets:
            self.ops.append((dbid, argv, target))

    def after_call(self, c: Client, cmd: Command, argv: list[bytes], dirty: bool) -> None:
        """Queue the command that ran, if it changed anything; flush after the outermost."""
        target = PROPAGATE_BOTH if dirty else c.force_propagation
        target &= c.propagates
        if target and cmd.name not in EFFECTS_ONLY:
            instead = argv if c.rewritten is None else c.rewritten
            if instead:
                self.also_propagate(c.db.id, instead, target)
        c.rewritten = None
        c.force_propagation = 0
        if not self.server.fixed_time_expire and self.ops:
            # Commands that may meet any key are not made a transaction: the keys they
            # found expired have nothing to do with each other.
            self.flush(transaction=len(self.ops) > 1 and not cmd.touches_arbitrary_keys)

    def flush(self, transaction: bool) -> None:
        """Send all that is queued. server.c: propagatePendingCommands()

        MULTI goes to the database of the first command and EXEC to that of the last, so
        that no SELECT stands between a bracket and what it brackets.
        """
        ops, self.ops = self.ops, []
        if transaction:
            self.propagate_now(ops[0][0], [b"MULTI"], PROPAGATE_BOTH)
        for dbid, argv, target in ops:
            self.propagate_now(dbid, argv, target)
        if transaction:
            self.propagate_now(ops[-1][0], [b"EXEC"], PROPAGATE_BOTH)

    def propagate_now(self, dbid: int, argv: list[bytes], target: int) -> None:
        """Tell the listeners of *target*. server.c: propagateNow()"""
        target &= self.targets
        if target & PROPAGATE_AOF:
            for sink in self.sinks:
                sink(dbid, argv)
        if target & PROPAGATE_REPL:
            self.server.repl.feed_slaves(dbid, argv)
        if target and self.server.probed:
            self.server.probe.propagated(dbid, argv)
