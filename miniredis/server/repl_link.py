"""The link between a replica and its primary, both in this process.

Redis has a socket here, over which the replica asks, the primary answers with a data set
or with what was missed, and then sends its stream for ever. Here the request takes no
time and each message, either way, takes ``link_delay_ms`` of the clock.

Redis: ``replstate``, ``repl_ack_off`` of a client in server.h; replication.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_SLAVE, CLIENT_UNAUTHENTICATED
from miniredis.keyspace.rdb import SavedDb
from miniredis.server.channel import Channel

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

LOCALHOST = "127.0.0.1"

# States of a replica as its primary sees it. replication.c: replstateToString()
SEND_BULK = "send_bulk"  # the data set is on its way
ONLINE = "online"


@dataclass(slots=True)
class FullResync:
    """The whole data set, as it was when the replica asked. ``+FULLRESYNC`` and the file."""

    replid: str
    offset: int
    databases: list[SavedDb]
    repl_stream_db: int  # the database that the stream goes on in


@dataclass(slots=True)
class Continue:
    """The replica has all but some of the stream, which follows. ``+CONTINUE``"""

    replid: str


@dataclass(slots=True)
class StreamCommand:
    """A command of the replication stream and its size in bytes."""

    argv: list[bytes]
    size: int


@dataclass(slots=True)
class Ack:
    """``REPLCONF ACK``: the replica has applied the stream up to *offset*."""

    offset: int


@dataclass(slots=True)
class Hangup:
    """The other end has closed the connection."""


class ReplLink:
    """One connection. ``slave`` is the client that the primary sees."""

    def __init__(self, master: Server, replica: Server) -> None:
        self.master = master
        self.replica = replica
        self.replstate = SEND_BULK
        self.repl_ack_off = 0
        self.repl_ack_time = 0  # Unix seconds
        self.slave: Client = master.create_client(
            f"{LOCALHOST}:{replica.config.port}", f"{LOCALHOST}:{master.config.port}"
        )
        self.slave.flags = self.slave.flags & ~CLIENT_UNAUTHENTICATED | CLIENT_SLAVE
        self.slave.on_close = self.close_from_master
        self.to_replica = Channel(replica, replica.repl.message_from_master)
        self.to_master = Channel(master, lambda message: master.repl.message_from(self, message))

    def to_slave(self, message: FullResync | Continue | StreamCommand | Hangup) -> None:
        """Send the replica something."""
        self.to_replica.send(message, self.replica.repl.link_delay_us)

    def ack(self, offset: int) -> None:
        """Tell the primary how far the replica is. replication.c: replicationSendAck()"""
        self.to_master.send(Ack(offset), self.replica.repl.link_delay_us)

    def close_from_master(self) -> None:
        """The primary hangs up: what is on its way to the replica still arrives there."""
        self.to_master.close()
        self.to_slave(Hangup())

    def close_from_replica(self) -> None:
        """The replica hangs up; the primary learns of it after the delay."""
        self.to_replica.close()
        self.to_master.send(Hangup(), self.replica.repl.link_delay_us)

    def _check(self) -> None:
        """Assert that every byte of the stream is applied, waiting, or under way."""
        self.to_replica._check()
        self.to_master._check()
        repl = self.replica.repl
        under_way = [message for _, message in self.to_replica.queue]
        if repl.link is self and repl.connected and not self.to_replica.closed:
            assert all(isinstance(message, StreamCommand) for message in under_way)
            assert repl.reploff <= repl.read_reploff
            size = sum(message.size for message in under_way)
            assert repl.read_reploff + size == self.master.repl.master_repl_offset
            assert self.repl_ack_off <= repl.reploff
