"""What a primary does for its replicas: the data set once, then the stream.

Redis: the half "MASTER" of replication.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_CLOSE_AFTER_REPLY, CLIENT_SLAVE
from miniredis.server.command_stream import resp_command_size, select_command
from miniredis.server.failover import Failover
from miniredis.server.repl_backlog import ReplBacklog
from miniredis.server.repl_link import Ack, Hangup
from miniredis.server.repl_slave import ONLINE, Slave
from miniredis.server.repl_socket import SlaveOptions, SocketSlave
from miniredis.server.repl_wait import ClientsWaitingAcks
from miniredis.server.stats import NO_ID

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

US_PER_SECOND = 1_000_000
FULL_RESYNC = "?"  # asked for instead of a replication id: nothing to go on from


class MasterSide:
    """Replicas of one server and the stream that they are fed.

    ``master_repl_offset`` counts the bytes of the stream, ever. ``slaveseldb`` is the
    database in which it stands; -1: the next command needs a SELECT. ``replid2`` is the id
    under which the history was known up to ``second_replid_offset``. ``streams`` hear what
    replicas are sent.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.slaves: list[Slave] = []
        self.streams: list[Callable[[list[bytes]], None]] = []
        self.backlog: ReplBacklog | None = None
        self.master_repl_offset = 0
        self.slaveseldb = -1
        self.replid2 = NO_ID
        self.second_replid_offset = -1
        self.good_slaves_count = 0
        self.waits = ClientsWaitingAcks(server)
        self.failover = Failover(server)
        self.no_slaves_since = server.us // US_PER_SECOND  # Unix seconds

    def unixtime(self) -> int:
        """The cached clock in seconds."""
        return self.server.us // US_PER_SECOND

    def has_history(self) -> bool:
        """Whether a file says where the stream stands. rdb.c: rdbPopulateSaveInfo()"""
        return self.backlog is not None

    def has_listeners(self) -> bool:
        """Whether anybody is fed, or might come back for what was missed."""
        return self.backlog is not None or bool(self.slaves or self.streams)

    def add_stream(self, stream: Callable[[list[bytes]], None]) -> None:
        """Let *stream* hear what replicas are sent; it begins with a SELECT."""
        self.streams.append(stream)
        self.slaveseldb = -1
        self.server.update_listeners()

    def remove_stream(self, stream: Callable[[list[bytes]], None]) -> None:
        """Let *stream* hear no more."""
        if stream in self.streams:
            self.streams.remove(stream)
            self.server.update_listeners()

    # -- a replica comes ---------------------------------------------------------------

    def sync(self, link: Slave, replid: str, psync_offset: int) -> None:
        """Answer a replica that asks to go on from byte *psync_offset* of history *replid*.

        replication.c: syncCommand()
        """
        backlog = self.backlog
        partial = backlog is not None and self._may_go_on(backlog, replid, psync_offset)
        if partial:
            assert backlog is not None
            self.server.stat_sync_partial_ok += 1
            self.slaves.append(link)
            link.send_missed(backlog, psync_offset)
        else:
            self.server.stat_sync_partial_err += not replid.startswith(FULL_RESYNC)
            self._full_resync(link)
        self.refresh_good_slaves_count()
        self.server.update_listeners()

    def sync_socket(self, c: Client, replid: str | None, psync_offset: int) -> None:
        """Make a client a replica; *replid* is None if it only knows SYNC.

        One that wants the file alone gets it and is no replica. replication.c: syncCommand()
        """
        slave = SocketSlave(c, psync=replid is not None)
        if slave.options.rdb_only:
            slave.send_data_set(self.master_repl_offset, self.repl_stream_db())
            c.flags = c.flags & ~CLIENT_SLAVE | CLIENT_CLOSE_AFTER_REPLY
            return
        self.sync(slave, FULL_RESYNC if replid is None else replid, psync_offset)

    def options_of(self, c: Client) -> SlaveOptions:
        """What REPLCONF has told of a client, to be added to."""
        if c.slave_options is None:
            c.slave_options = SlaveOptions()
        return c.slave_options

    def ack_from(self, c: Client, offset: int) -> None:
        """A replica says how far it is: REPLCONF ACK. replication.c: replconfCommand()"""
        for link in self.slaves:
            if link.slave is c:
                self.message_from(link, Ack(max(offset, link.repl_ack_off)))

    def empty_request(self, c: Client) -> None:
        """An empty line shows that a replica lives, while it loads the file.

        networking.c: processInlineBuffer()
        """
        if c.flags & CLIENT_SLAVE:
            for link in self.slaves:
                if link.slave is c:
                    link.repl_ack_time = self.unixtime()

    def _may_go_on(self, backlog: ReplBacklog, replid: str, psync_offset: int) -> bool:
        """Whether the replica needs only what it has missed.

        replication.c: masterTryPartialResynchronization()
        """
        replid = replid.lower()
        old = replid == self.replid2 and psync_offset <= self.second_replid_offset
        return (replid == self.server.replid or old) and backlog.holds(psync_offset)

    def _full_resync(self, link: Slave) -> None:
        """Send the data set as it is now. The stream begins anew with a SELECT."""
        self.server.stat_sync_full += 1
        if self.backlog is None:
            # A new history: without a backlog the old one was not counted.
            self.server.change_replication_id()
            self.clear_replication_id2()
            self.backlog = ReplBacklog(self.master_repl_offset)
        repl_stream_db = self.repl_stream_db()
        self.slaveseldb = -1
        self.slaves.append(link)
        link.send_data_set(self.master_repl_offset, repl_stream_db)

    def repl_stream_db(self) -> int:
        """The database in which the stream stands. rdb.c: rdbPopulateSaveInfo()"""
        return max(self.slaveseldb, 0)

    # -- the stream --------------------------------------------------------------------

    def feed_slaves(self, dbid: int, argv: list[bytes]) -> None:
        """Send a command to all replicas. O(replicas). replication.c: replicationFeedSlaves()"""
        if self.server.masterhost is not None or not self.has_listeners():
            return
        if dbid != self.slaveseldb:
            self._feed(select_command(dbid))
            self.slaveseldb = dbid
        self._feed(list(argv))

    def _feed(self, argv: list[bytes]) -> None:
        self.feed_buffer(argv, resp_command_size(argv))

    def feed_buffer(self, argv: list[bytes], size: int) -> None:
        """Append *size* bytes to the stream. replication.c: feedReplicationBuffer()"""
        for stream in self.streams:
            stream(argv)
        if self.backlog is None:
            return
        self.master_repl_offset += size
        self.backlog.feed(argv, size, self.server.config.repl_backlog_size)
        for link in self.slaves:
            self.server.stat_net_repl_output_bytes += size
            link.send_command(argv, size)

    def message_from(self, link: Slave, message: Ack | Hangup) -> None:
        """A replica has said something."""
        if isinstance(message, Hangup):
            self.server.kill_client(link.slave)
            return
        link.repl_ack_off = message.offset
        link.repl_ack_time = self.server.clock.us() // US_PER_SECOND
        link.replstate = ONLINE
        self.refresh_good_slaves_count()

    # -- a replica goes ----------------------------------------------------------------

    def slave_freed(self, c: Client) -> None:
        """The connection of a replica is closed. networking.c: freeClient()"""
        links = [link for link in self.slaves if link.slave is c]
        for link in links:
            self.slaves.remove(link)
            if not self.slaves:
                self.no_slaves_since = self.unixtime()
            self.refresh_good_slaves_count()
            self.server.update_listeners()

    def disconnect_slaves(self) -> None:
        """Make all replicas ask anew. replication.c: disconnectSlaves()"""
        for link in list(self.slaves):
            self.server.kill_client(link.slave)

    # -- every second --------------------------------------------------------------------

    def refresh_good_slaves_count(self) -> None:
        """Count replicas that have answered lately. replication.c: refreshGoodSlavesCount()"""
        config = self.server.config
        if not config.min_replicas_to_write or not config.min_replicas_max_lag:
            return
        self.good_slaves_count = sum(
            link.replstate == ONLINE
            and self.unixtime() - link.repl_ack_time <= config.min_replicas_max_lag
            for link in self.slaves
        )

    def good_replicas_status(self) -> bool:
        """Whether enough replicas follow for a write. replication.c: checkGoodReplicasStatus()"""
        config = self.server.config
        return (
            self.server.masterhost is not None
            or not config.min_replicas_max_lag
            or self.good_slaves_count >= config.min_replicas_to_write
        )

    def master_cron(self, loops: int) -> None:
        """PING replicas, drop silent ones and a backlog that nobody needs any more.

        replication.c: replicationCron()
        """
        config = self.server.config
        listened = self.server.masterhost is None and bool(self.slaves or self.streams)
        self.failover.update()
        if self.failover.end_time and self.server.pause.check_timeout():
            listened = False  # no ping may make the stream longer
        if listened and loops % config.repl_ping_replica_period == 0:
            self._feed([b"ping"])
        for link in list(self.slaves):
            silent = self.unixtime() - link.repl_ack_time
            if link.replstate == ONLINE and link.acknowledges and silent > config.repl_timeout:
                self.server.kill_client(link.slave)
        if self.backlog is not None and not self.slaves and self.server.masterhost is None:
            idle = self.unixtime() - self.no_slaves_since
            if config.repl_backlog_ttl and idle > config.repl_backlog_ttl:
                self.server.change_replication_id()
                self.clear_replication_id2()
                self.backlog = None
                self.server.update_listeners()
        self.refresh_good_slaves_count()

    # -- names of the history --------------------------------------------------------------

    def clear_replication_id2(self) -> None:
        """Forget the former name. replication.c: clearReplicationId2()"""
        self.replid2 = NO_ID
        self.second_replid_offset = -1

    def shift_replication_id(self) -> None:
        """Begin a history of one's own, known under the old name up to here.

        replication.c: shiftReplicationId()
        """
        self.replid2 = self.server.replid
        self.second_replid_offset = self.master_repl_offset + 1
        self.server.change_replication_id()
