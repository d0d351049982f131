"""What a ``Server`` offers about replication: roles, the link, the stream to read.

:class:`ReplicationApi` is a base of ``Server``; the work is done in ``replication.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from miniredis.server.command_stream import AppendOnlyStream, CommandStream
from miniredis.server.propagation import Propagation
from miniredis.server.repl_family import US_PER_MS, check_primary, delay_us
from miniredis.server.repl_link import LOCALHOST

if TYPE_CHECKING:
    from miniredis.server.replication import Replication
    from miniredis.server.server import Server


class ReplicationApi:
    """Base of ``Server``; the attributes below are its."""

    lock: threading.RLock
    propagation: Propagation
    repl: Replication
    unblocked: threading.Condition
    on_time_event: Callable[[], None] | None = None  # called when a nearer event was planned

    def _check_open(self) -> None:
        raise NotImplementedError

    def family_next_event_us(self) -> int | None:
        """The instant, in µs, of the next event of any server of the family.

        For what waits in real time: a replica that nobody asks would else take in nothing.
        """
        peers = self.repl.peers
        if len(peers) == 1:
            return peers[0].next_event_us()
        events = [peer.next_event_us() for peer in peers]
        return min((us for us in events if us is not None), default=None)

    def process_family_events(self) -> None:
        """Run what is due on every server of the family. Not for a virtual clock, which
        drives each of them at its own instant.
        """
        for peer in list(self.repl.peers):
            peer.process_events()

    def wake(self) -> None:
        """An event nearer than all others was planned: whoever waits must look again."""
        self.unblocked.notify_all()
        if self.on_time_event is not None:
            self.on_time_event()

    @property
    def link_delay_ms(self) -> float:
        """How long a message to or from the primary takes, in ms of the clock, 0 or more.

        May be set at any time; what is under way is not overtaken.
        """
        return self.repl.link_delay_us / US_PER_MS

    @link_delay_ms.setter
    def link_delay_ms(self, ms: float) -> None:
        self.repl.link_delay_us = delay_us(ms)

    def replicate(self, primary: Server) -> None:
        """Become a replica of *primary*, from now on, as REPLICAOF does.

        Both must have been made with ``replica_of`` of one family; ``ValueError`` if not.
        Its data set arrives after ``link_delay_ms``. replication.c: replicationSetMaster()
        """
        with self.lock:
            self._check_open()
            check_primary(cast("Server", self), primary)
            self.repl.set_master(LOCALHOST, primary.config.port)

    def promote(self) -> None:
        """Become a primary, as REPLICAOF NO ONE does; the duty to expire keys begins here.

        replication.c: replicationUnsetMaster()
        """
        with self.lock:
            self._check_open()
            self.repl.unset_master()

    def append_only_stream(self) -> CommandStream:
        """Listen to what this server would append to its file from now on, SELECT included.

        Of a replica these are the commands of its primary, and what its own clients change
        if they may. aof.c: feedAppendOnlyFile()
        """
        with self.lock:
            stream = AppendOnlyStream()
            self.propagation.add_sink(stream.feed)
            stream.when_closed(lambda: self.propagation.remove_sink(stream.feed))
            return stream

    def replication_stream(self) -> CommandStream:
        """Listen to what replicas of this server are sent from now on, as one of them.

        Unlike the append-only file it has PUBLISH, and a PING every ten seconds. That of a
        replica is its primary's, passed on. replication.c: replicationFeedSlaves()
        """
        with self.lock:
            stream = CommandStream()
            self.repl.add_stream(stream.append)
            stream.when_closed(lambda: self.repl.remove_stream(stream.append))
            return stream
