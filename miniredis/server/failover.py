"""FAILOVER: a primary hands its duty over to one of its replicas, and loses no write.

How it works. The primary pauses writing clients and waits until a replica has said that it
has the whole stream. Then it becomes a replica of that one, asking for the history by
``PSYNC <id> <offset> FAILOVER``; so asked, the other becomes a primary, and clients may
write again: they are told to go there.

A worked example: a replica 50 ms away that acknowledges once a second, FAILOVER after a
write at 0 ms. The write is there at 50 ms; the next acknowledgement, sent at 900 ms, is
here at 950 ms. Both change roles at that moment.

Its limits are Redis's: a replica that never catches up keeps the writers waiting, for ever
unless TIMEOUT is given. Without TIMEOUT the primary goes on to send pings, every second
while it waits; a slow replica whose acknowledgement always just misses the last ping never
has everything. Differs from Redis: the end of a failover ends a CLIENT PAUSE too.

Redis: ``failoverCommand()``, ``updateFailoverStatus()`` in replication.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.keyspace.object import LLONG_MAX
from miniredis.server.pause import CLIENT_PAUSE_WRITE
from miniredis.server.repl_slave import Slave

if TYPE_CHECKING:
    from miniredis.server.server import Server

# server.h: failover_state, named as INFO does
NO_FAILOVER = "no-failover"
WAIT_FOR_SYNC = "waiting-for-sync"
IN_PROGRESS = "failover-in-progress"


class Failover:
    """The failover of one server. ``target`` is an address, None: any replica."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.state = NO_FAILOVER
        self.target: tuple[str, int] | None = None
        self.end_time = 0  # Unix ms, 0: never
        self.force = False

    def find(self, target: tuple[str, int]) -> Slave | None:
        """The replica at an address. replication.c: findReplica()"""
        slaves = self.server.repl.slaves
        return next((slave for slave in slaves if (slave.host, slave.port) == target), None)

    def begin(self, target: tuple[str, int] | None, timeout_ms: int, force: bool) -> None:
        """Pause the writers and wait for a replica. replication.c: failoverCommand()"""
        server = self.server
        self.target = target
        self.end_time = server.now_ms() + timeout_ms if timeout_ms else 0
        self.force = force
        self.state = WAIT_FOR_SYNC
        server.pause.pause(LLONG_MAX, CLIENT_PAUSE_WRITE)

    def update(self) -> None:
        """Look whether a replica has everything. replication.c: updateFailoverStatus()"""
        if self.state != WAIT_FOR_SYNC:
            return
        if self.end_time and self.end_time <= self.server.mstime:
            if self.force:
                self._go()
            else:
                self.abort()
            return
        slaves = self.server.repl.slaves
        if self.target is not None:
            found = self.find(self.target)
            slaves = [] if found is None else [found]
        for slave in slaves:
            if slave.repl_ack_off == self.server.repl.master_repl_offset:
                self.target = (slave.host, slave.port)
                self._go()
                return

    def _go(self) -> None:
        assert self.target is not None
        self.state = IN_PROGRESS
        self.server.repl.set_master(*self.target)

    @property
    def active(self) -> bool:
        """Whether a failover is going on."""
        return self.state != NO_FAILOVER

    @property
    def in_progress(self) -> bool:
        """Whether the other one is to be asked to become a primary."""
        return self.state == IN_PROGRESS

    def answered(self, accepted: bool) -> None:
        """The other one has taken over, or refuses. slaveTryPartialResynchronization()"""
        if self.state == IN_PROGRESS:
            self._clear() if accepted else self.abort()

    def abort(self) -> None:
        """Stay a primary, or become one again. replication.c: abortFailover()"""
        if not self.active:
            return
        was_replica = self.state == IN_PROGRESS
        self._clear()
        if was_replica:
            self.server.repl.unset_master()

    def _clear(self) -> None:
        """replication.c: clearFailoverState()"""
        self.state = NO_FAILOVER
        self.target = None
        self.end_time = 0
        self.force = False
        self.server.pause.unpause()
