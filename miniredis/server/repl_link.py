"""The link between a replica and its primary, both in this process.

Redis has a socket here, over which the replica asks, the primary answers with a data set
or with what was missed, and then sends its stream for ever. Here the request takes no
time and each message, either way, takes ``link_delay_ms`` of the clock.

Redis: replication.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miniredis.commands.client_flags import CLIENT_SLAVE, CLIENT_UNAUTHENTICATED
from miniredis.keyspace.rdb import SavedDb, rdb_save_db
from miniredis.server.channel import Channel
from miniredis.server.repl_master_link import MasterLink
from miniredis.server.repl_slave import ONLINE, Slave

if TYPE_CHECKING:
    from miniredis.server.repl_backlog import ReplBacklog
    from miniredis.server.server import Server

LOCALHOST = "127.0.0.1"


class FullResync(NamedTuple):
    """The whole data set, as it was when the replica asked. ``+FULLRESYNC`` and the file."""

    replid: str
    offset: int
    databases: list[SavedDb]
    repl_stream_db: int  # the database that the stream goes on in
    functions: list[bytes]  # the code of each library


class Continue(NamedTuple):
    """The replica has all but some of the stream, which follows. ``+CONTINUE``"""

    replid: str


class StreamCommand(NamedTuple):
    """A command of the replication stream and its size in bytes."""

    argv: list[bytes]
    size: int


class Ack(NamedTuple):
    """``REPLCONF ACK``: the replica has applied the stream up to *offset*."""

    offset: int


class Hangup:
    """The other end has closed the connection."""

    __slots__ = ()


class ReplLink(Slave, MasterLink):
    """One connection, seen from both ends."""

    def __init__(self, master: Server, replica: Server) -> None:
        super().__init__(
            master.create_client(
                f"{LOCALHOST}:{replica.config.port}", f"{LOCALHOST}:{master.config.port}"
            )
        )
        self.master = master
        self.replica = replica
        self.host = LOCALHOST
        self.port: int = replica.config.port
        self.slave.flags = self.slave.flags & ~CLIENT_UNAUTHENTICATED | CLIENT_SLAVE
        self.slave.on_close = self.close_from_master
        self.to_replica = Channel(replica, replica.repl.message_from_master)
        self.to_master = Channel(master, lambda message: master.repl.message_from(self, message))

    def to_slave(self, message: FullResync | Continue | StreamCommand | Hangup) -> None:
        """Send the replica something."""
        self.to_replica.send(message, self.replica.repl.link_delay_us)

    def send_data_set(self, offset: int, repl_stream_db: int) -> None:
        master = self.master
        saved = [rdb_save_db(db, copy=True) for db in master.databases]
        libraries = master.scripting.functions.libraries.values()
        functions = [library.code for library in libraries]
        self.to_slave(FullResync(master.replid, offset, saved, repl_stream_db, functions))

    def send_missed(self, backlog: ReplBacklog, psync_offset: int) -> None:
        self.replstate = ONLINE
        self.repl_ack_time = self.master.repl.unixtime()
        self.to_slave(Continue(self.master.replid))
        for argv, size in backlog.since(psync_offset):
            self.to_slave(StreamCommand(argv, size))

    def send_command(self, argv: Sequence[bytes], size: int) -> None:
        self.to_slave(StreamCommand(list(argv), size))

    def ack(self, offset: int) -> None:
        """Tell the primary how far the replica is. replication.c: replicationSendAck()"""
        self.to_master.send(Ack(offset), self.replica.repl.link_delay_us)

    def hold(self) -> None:
        self.to_replica.held = True

    def release(self) -> None:
        self.to_replica.release()

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
