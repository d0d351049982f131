"""Clients that WAIT until enough replicas have what they wrote.

How it works. A client notes how long the stream was when its last command ended
(``Client.woff``). WAIT counts the replicas that have acknowledged at least that much. If
they are too few, the client is blocked, and every replica is asked by a ``REPLCONF GETACK
*`` in the stream itself; its answer comes one delay of the link later. With each turn of
the event loop the waiting are looked at again.

A worked example: two replicas, 20 and 300 ms away. ``SET k v`` at 0 ms, then ``WAIT 2
100``: nobody has answered yet, so the client waits. The nearer replica has applied SET
and GETACK at 20 ms; its answer is here at 40 ms: 1, too few. The time is over at 100 ms,
the next turn, here a cron, answers 1.

Its limits are Redis's: the time is looked at when the loop turns, so an idle server may
answer up to one cron late; and WAIT only counts, a write that too few replicas have is
not taken back.

Redis: ``waitCommand()``, ``processClientsWaitingReplicas()`` in replication.c, blocked.c,
timeout.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miniredis.commands.blocking import BLOCKED_WAIT, BlockingState
from miniredis.reply import BLOCKED, Blocked
from miniredis.server.repl_slave import ONLINE

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

GETACK = (b"REPLCONF", b"GETACK", b"*")


class Wait(NamedTuple):
    """What a client waits for. server.h: blockingState"""

    state: BlockingState
    reploffset: int
    numreplicas: int


class ClientsWaitingAcks:
    """Those that wait on one server, the latest last. server.h: clients_waiting_acks"""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.waiting: dict[Client, Wait] = {}
        self.get_ack_from_slaves = False  # replicas are to be asked when no pause holds it

    @property
    def busy(self) -> bool:
        """Whether anybody waits."""
        return self.server.blocking.by_type[BLOCKED_WAIT] > 0

    def count_acks_by_offset(self, offset: int) -> int:
        """Replicas that have applied at least *offset* bytes of the stream, as far as they
        have said so. O(replicas). replication.c: replicationCountAcksByOffset()
        """
        slaves = self.server.repl.slaves
        return sum(link.replstate == ONLINE and link.repl_ack_off >= offset for link in slaves)

    def block(self, c: Client, numreplicas: int, timeout: int) -> Blocked:
        """Let *c* wait until *numreplicas* have all that it has written, or until the Unix
        time *timeout* in ms (0: for ever), and ask the replicas. replication.c: waitCommand()
        """
        offset = c.woff
        c.woff = self.server.repl.master_repl_offset  # without the question to the replicas
        c.block_client(BLOCKED_WAIT, timeout, lambda c: self.count_acks_by_offset(offset))
        assert c.bpop is not None
        self._forget_those_let_go()
        self.waiting[c] = Wait(c.bpop, offset, numreplicas)
        self.get_ack_from_slaves = True
        self.send_getack_to_replicas()
        return BLOCKED

    def process_clients_waiting_replicas(self) -> None:
        """Answer those whose replicas have answered, the newest first.

        replication.c: processClientsWaitingReplicas()
        """
        self._forget_those_let_go()
        last_offset = last_numreplicas = 0
        for c, wait in reversed(list(self.waiting.items())):
            if last_offset >= wait.reploffset and last_numreplicas >= wait.numreplicas > 0:
                # Who waited for more has been answered; he who waits for less hears the same.
                acks = last_numreplicas
            else:
                acks = self.count_acks_by_offset(wait.reploffset)
                if acks < wait.numreplicas:
                    continue
                last_offset, last_numreplicas = wait.reploffset, acks
            del self.waiting[c]
            self.server.blocking.release(c, acks)

    def _forget_those_let_go(self) -> None:
        """Those that have gone, or whose wait was ended by time or by hand. O(waits)"""
        self.waiting = {c: wait for c, wait in self.waiting.items() if c.bpop is wait.state}

    def send_getack_to_replicas(self) -> None:
        """Ask all replicas how far they are, unless clients are paused: the stream must not
        grow then. replication.c: sendGetackToReplicas()
        """
        if self.server.check_client_pause_timeout_and_return_if_paused():
            return
        self.get_ack_from_slaves = False
        repl = self.server.repl
        repl.feed_slaves(repl.slaveseldb, list(GETACK))

    def _check(self) -> None:
        """Assert that who waits is known, and on a primary."""
        waiting = [c for c, wait in self.waiting.items() if c.bpop is wait.state]
        assert len(waiting) == self.server.blocking.by_type[BLOCKED_WAIT]
        assert not waiting or self.server.masterhost is None
