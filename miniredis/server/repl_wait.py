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

from miniredis.commands.client_flags import CLIENT_BLOCKED, CLIENT_CLOSE_AFTER_REPLY
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, Reply
from miniredis.server.checks import reply_is_wanted
from miniredis.server.repl_link import ONLINE

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

GETACK = (b"REPLCONF", b"GETACK", b"*")


class Wait(NamedTuple):
    """What a client waits for. server.h: blockingState"""

    reploffset: int
    numreplicas: int
    timeout_ms: int  # Unix time in ms; 0: for ever


class ClientsWaitingAcks:
    """Those that wait on one server, the latest first. server.h: clients_waiting_acks"""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.waiting: dict[Client, Wait] = {}
        self.get_ack_from_slaves = False  # replicas are to be asked when no pause holds it

    @property
    def busy(self) -> bool:
        """Whether a turn of the event loop has anything to do here."""
        return bool(self.waiting) or self.get_ack_from_slaves

    def count_acks_by_offset(self, offset: int) -> int:
        """Replicas that have applied at least *offset* bytes of the stream, as far as they
        have said so. O(replicas). replication.c: replicationCountAcksByOffset()
        """
        slaves = self.server.repl.slaves
        return sum(link.replstate == ONLINE and link.repl_ack_off >= offset for link in slaves)

    def block(self, c: Client, reploffset: int, numreplicas: int, timeout_ms: int) -> None:
        """Let *c* wait until *numreplicas* have *reploffset* bytes of the stream or the Unix
        time *timeout_ms* (0: for ever), and ask the replicas. blocked.c: blockClient()
        """
        self.waiting[c] = Wait(reploffset, numreplicas, timeout_ms)
        c.woff = self.server.repl.master_repl_offset  # without the question to the replicas
        c.flags |= CLIENT_BLOCKED
        self.get_ack_from_slaves = True
        self._send_getack()
        self.server.update_gates()

    def before_sleep(self) -> None:
        """Answer those whose time is over, then those whose replicas have answered.

        The newest are looked at first. server.c: beforeSleep()
        """
        now_ms = self.server.now_ms()
        for c, wait in reversed(list(self.waiting.items())):
            if 0 < wait.timeout_ms < now_ms:
                self.unblock(c, self.count_acks_by_offset(wait.reploffset))
        last_offset = last_numreplicas = 0
        for c, wait in reversed(list(self.waiting.items())):
            if last_offset >= wait.reploffset and last_numreplicas >= wait.numreplicas > 0:
                # Who waited for more has been answered; he who waits for less hears the same.
                self.unblock(c, last_numreplicas)
                continue
            acks = self.count_acks_by_offset(wait.reploffset)
            if acks >= wait.numreplicas:
                last_offset, last_numreplicas = wait.reploffset, acks
                self.unblock(c, acks)
        if self.get_ack_from_slaves:
            self._send_getack()

    def _send_getack(self) -> None:
        """Ask all replicas how far they are, unless clients are paused: the stream must not
        grow then. replication.c: sendGetackToReplicas()
        """
        if self.server.check_client_pause_timeout_and_return_if_paused():
            return
        self.get_ack_from_slaves = False
        repl = self.server.repl
        repl.feed_slaves(repl.slaveseldb, list(GETACK))
        self.server.update_gates()

    def unblock(self, c: Client, reply: Reply) -> None:
        """Answer a client that waits. blocked.c: unblockClient()"""
        self.forget(c)
        c.push(reply if reply_is_wanted(c) else NO_REPLY)
        self.server.unblocked.notify_all()

    def unblock_by_hand(self, c: Client, error: bool) -> bool:
        """CLIENT UNBLOCK: as if the time were over, or with an error; whether *c* did wait."""
        wait = self.waiting.get(c)
        if wait is None:
            return False
        reply: Reply = self.count_acks_by_offset(wait.reploffset)
        if error:
            reply = CommandError("UNBLOCKED client unblocked via CLIENT UNBLOCK")
            self.server.count_error(reply)
        self.unblock(c, reply)
        return True

    def disconnect_all(self) -> None:
        """The server becomes a replica: nobody may wait any more.

        blocked.c: disconnectAllBlockedClients()
        """
        for c in list(self.waiting):
            error = CommandError(
                "UNBLOCKED force unblock from blocking operation, "
                "instance state changed (master -> replica?)"
            )
            self.server.count_error(error)
            c.flags |= CLIENT_CLOSE_AFTER_REPLY
            self.unblock(c, error)

    def forget(self, c: Client) -> None:
        """*c* waits no longer, or has gone."""
        if self.waiting.pop(c, None) is not None:
            c.flags &= ~CLIENT_BLOCKED
            self.server.update_gates()

    def _check(self) -> None:
        """Assert that who waits is blocked, and on a primary."""
        for c in self.waiting:
            assert c.blocked and c.id in self.server.clients
        assert not self.waiting or self.server.masterhost is None
