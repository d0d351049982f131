"""Replication: what a replica does, and the change of roles.

A primary gives each replica its data set once, then every command that changes it, in
the form in which it means the same at any time. A replica deletes no key by itself: an
expired one answers as missing until the primary's DEL arrives. A server that becomes a
primary takes over the duty to expire; one that becomes a replica lays it down.

Servers reach each other if they were made with ``replica_of`` of one family: they share
the lock and the list of *peers*, and are told apart by their ``port``. A server behind a
TCP port reaches any other address too, by its :attr:`Replication.connector`; without one
that is a machine that does not answer, and the link stays down.

Redis: the half "SLAVE" of replication.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import (
    CLIENT_MASTER,
    CLIENT_MULTI,
    CLIENT_UNAUTHENTICATED,
)
from miniredis.errors import CommandError
from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.rdb import rdb_load_db
from miniredis.reply import BLOCKED, Reply
from miniredis.server.repl_backlog import ReplBacklog
from miniredis.server.repl_link import (
    LOCALHOST,
    Continue,
    FullResync,
    Hangup,
    ReplLink,
    StreamCommand,
)
from miniredis.server.repl_master import FULL_RESYNC, MasterSide
from miniredis.server.repl_master_link import Connector, MasterLink
from miniredis.server.repl_slave import ONLINE

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

# States of the link to the primary, as ROLE names them. server.h: REPL_STATE_*
STATE_NONE = "none"
STATE_CONNECT = "connect"  # to be connected by the next cron
STATE_CONNECTING = "connecting"  # the primary is called
STATE_HANDSHAKE = "handshake"  # has asked, and may go on where it was
STATE_TRANSFER = "sync"  # the data set is on its way
STATE_CONNECTED = "connected"

_NAMES_OF_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(slots=True)
class CachedMaster:
    """How far the stream of a lost primary was applied. server.h: cached_master"""

    replid: str
    reploff: int
    db: RedisDb


class Replication(MasterSide):
    """One for each server; ``server.masterhost`` is None while it is a primary.

    ``master`` is the client through which the primary's commands come. ``reploff`` counts
    the bytes of its stream that were applied, ``read_reploff`` those that have arrived.
    ``link_delay_us``: how long a message takes between the two, in µs.
    """

    def __init__(self, server: Server, peers: list[Server]) -> None:
        super().__init__(server)
        self.peers = peers
        self.masterport = 0
        self.link_delay_us = 0
        self.repl_state = STATE_NONE
        self.link: MasterLink | None = None
        self.connector: Connector | None = None  # of a server that has a network
        self.master: Client | None = None
        self.cached_master: CachedMaster | None = None
        self.reploff = self.read_reploff = 0
        self.down_since = 0  # Unix seconds; 0: not down
        self.cron_loops = 0
        self._unapplied: list[StreamCommand] = []  # read, but not yet part of our history

    # -- roles -------------------------------------------------------------------------

    def set_master(self, host: str, port: int, own_history: bool = True) -> None:
        """Become a replica of another server. replication.c: replicationSetMaster()

        With *own_history* it offers what it has, as the new primary may continue just that.
        """
        server = self.server
        was_master = server.masterhost is None
        server.masterhost = None  # so that losing the old primary does not reconnect to it
        self._drop_link()
        server.blocking.disconnect_all_blocked_clients()
        server.masterhost = host
        self.masterport = port
        if was_master and own_history:
            self.cached_master = CachedMaster(
                server.replid, self.master_repl_offset, server.databases[0]
            )
        self.repl_state = STATE_CONNECT
        self._role_changed()
        self.connect_with_master()

    def begin_as_replica(self, host: str, port: int) -> None:
        """A server that was started as a replica has no history to go on from."""
        with self.server.lock:
            self.set_master(host, port, own_history=False)

    def unset_master(self) -> None:
        """Become a primary; the duty to expire begins. replication.c: replicationUnsetMaster()"""
        server = self.server
        if server.masterhost is None:
            return
        server.masterhost = None
        self._drop_link()
        self.cached_master = None
        self.shift_replication_id()
        self.disconnect_slaves()
        self.repl_state = STATE_NONE
        self.slaveseldb = -1
        self.no_slaves_since = self.unixtime()
        self.down_since = 0
        self._role_changed()

    def _role_changed(self) -> None:
        server = self.server
        host = server.masterhost
        server.config.replicaof = (
            None if host is None else (host.encode("utf-8", "surrogateescape"), self.masterport)
        )
        server.update_gates()
        server.update_listeners()

    # -- the link ------------------------------------------------------------------------

    def find_peer(self, host: str, port: int) -> Server | None:
        """The server of our family at an address, or None."""
        if host.lower() not in _NAMES_OF_THIS_MACHINE:
            return None
        return next((peer for peer in self.peers if peer.config.port == port), None)

    def connect_with_master(self) -> None:
        """Ask the primary for what we lack; the cron tries again if it does not answer.

        A primary that has lost its own primary does not serve.
        replication.c: connectWithMaster(), slaveTryPartialResynchronization()
        """
        server = self.server
        if server.closing or server.masterhost is None:
            return
        self.repl_state = STATE_CONNECT
        peer = self.find_peer(server.masterhost, self.masterport)
        cached = self.cached_master
        replid, offset = (cached.replid, cached.reploff + 1) if cached else (FULL_RESYNC, -1)
        if peer is None and self.connector is not None:
            self.repl_state = STATE_CONNECTING
            self.link = self.connector(server.masterhost, self.masterport, replid, offset)
            return
        if peer is None or peer.closing:
            return
        if self.failover.in_progress:
            self._hand_over_to(peer)
        if not peer.repl.serves_replicas():
            return
        link = self.link = ReplLink(peer, server)
        full_before = peer.stat_sync_full
        peer.repl.sync(link, replid, offset)
        full = peer.stat_sync_full > full_before
        self.repl_state = STATE_TRANSFER if full else STATE_HANDSHAKE

    def _hand_over_to(self, peer: Server) -> None:
        """Ask a replica of ours to be a primary: ``PSYNC <id> <offset> FAILOVER``."""
        accepted = peer.masterhost is not None and peer.replid == self.server.replid
        if accepted:
            peer.repl.unset_master()
        self.failover.answered(accepted)

    def link_in_handshake(self, link: MasterLink) -> None:
        """The primary has taken the call."""
        if link is self.link:
            self.repl_state = STATE_HANDSHAKE

    def link_in_transfer(self, link: MasterLink) -> None:
        """The primary is going to send a file."""
        if link is self.link:
            self.repl_state = STATE_TRANSFER

    def link_lost(self, link: MasterLink) -> None:
        """The connection is gone. Before it was up, the cron tries again; else it is now."""
        if link is not self.link:
            return
        if self.master is not None:
            self._drop_link()
        else:
            self.link = None
            self.repl_state = STATE_CONNECT

    @property
    def connected(self) -> bool:
        """Whether the link to the primary is up."""
        return self.repl_state == STATE_CONNECTED

    def is_stale(self) -> bool:
        """Whether the data may be old and the operator forbids to serve such."""
        server = self.server
        return (
            server.masterhost is not None
            and not self.connected
            and not server.config.replica_serve_stale_data
        )

    def serves_replicas(self) -> bool:
        """Whether a replica may sync with us."""
        return self.server.masterhost is None or self.connected

    def repl_stream_db(self) -> int:
        if self.server.masterhost is None:
            return super().repl_stream_db()
        return 0 if self.master is None else self.master.db.id

    def _drop_link(self) -> None:
        """Hang up on the primary. replication.c: cancelReplicationHandshake(), freeClient()"""
        if self.master is not None:
            self.server.kill_client(self.master)
        elif self.link is not None:
            self.link.close_from_replica()
            self.link = None

    def master_freed(self, was_blocked: bool) -> None:
        """The connection to the primary is closed: note how far we are, and connect anew.

        What was read of an open transaction is forgotten. replication.c:
        replicationCacheMaster(), replicationHandleMasterDisconnection()
        """
        assert self.master is not None
        if not was_blocked:
            self.cached_master = CachedMaster(self.server.replid, self.reploff, self.master.db)
        self.master = None
        self._unapplied.clear()
        if self.link is not None:
            self.link.close_from_replica()
            self.link = None
        self.repl_state = STATE_CONNECT
        self.down_since = self.unixtime()
        self.connect_with_master()

    # -- what comes from the primary -------------------------------------------------------

    def message_from_master(self, message: FullResync | Continue | StreamCommand | Hangup) -> None:
        """The next message of the link is here."""
        if isinstance(message, StreamCommand):
            self._apply(message)
        elif isinstance(message, FullResync):
            self._load(message)
        elif isinstance(message, Continue):
            self._go_on(message)
        elif self.master is not None:
            self._drop_link()  # which connects anew
        else:
            self._drop_link()
            self.connect_with_master()

    def _load(self, sync: FullResync) -> None:
        """Replace all data by the primary's. replication.c: readSyncBulkPayload()

        Keys past their time are taken in: only the primary may delete them. ``avg_ttl`` and
        the cursor of the expire cycle begin at 0.
        """
        server = self.server
        self._empty()
        server.loading = True
        for code in sync.functions:
            server.scripting.functions.load(code, replace=False)
        for db, saved in zip(server.databases, sync.databases, strict=False):
            rdb_load_db(db, saved, None, server.access_time_after_load())
        server.loading = False
        server.rdb_last_load_keys_expired = 0
        server.rdb_last_load_keys_loaded = sum(len(db) for db in server.databases)
        self._begin_history(sync.replid, sync.offset, sync.repl_stream_db)

    def load_file(self, replid: str, offset: int, data: bytes) -> None:
        """Replace all data by an RDB file of the primary, and go on at byte *offset*.

        RdbError, with nothing changed, if the file is not usable. O(bytes).
        replication.c: readSyncBulkPayload()
        """
        server = self.server
        file = server.persistence.read(data)
        libraries = server.persistence.read_libraries(file)
        self._empty()
        server.loading = True
        try:
            server.persistence.load(file, libraries)
        finally:
            server.loading = False
        stream_db = file.aux.get(b"repl-stream-db", b"0")
        dbid = int(stream_db) if stream_db.isdigit() else 0
        self._begin_history(replid, offset, min(dbid, len(server.databases) - 1))

    def _empty(self) -> None:
        """Make room for the primary's data; our replicas must ask anew."""
        self.cached_master = None
        self.disconnect_slaves()
        self.server.persistence.empty()

    def _begin_history(self, replid: str, offset: int, stream_db: int) -> None:
        """Take over the primary's history. replication.c: replicationCreateMasterClient()"""
        server = self.server
        server.replid = replid
        self.master_repl_offset = offset
        self.clear_replication_id2()
        self.backlog = ReplBacklog(self.master_repl_offset)
        self._connected(server.databases[stream_db], offset)
        self.send_ack()

    def _go_on(self, reply: Continue) -> None:
        """The link is back, and nothing is lost.

        replication.c: slaveTryPartialResynchronization(), replicationResurrectCachedMaster()
        """
        cached, server = self.cached_master, self.server
        assert cached is not None
        if reply.replid != cached.replid:
            self.replid2 = cached.replid
            self.second_replid_offset = self.master_repl_offset + 1
            server.replid = reply.replid
            self.disconnect_slaves()
        self.cached_master = None
        if self.backlog is None:
            self.backlog = ReplBacklog(self.master_repl_offset)
        self._connected(cached.db, cached.reploff)

    def _connected(self, db: RedisDb, reploff: int) -> None:
        """Make the client of the primary. replication.c: replicationCreateMasterClient()"""
        server = self.server
        assert self.link is not None
        c = server.create_client(
            f"{LOCALHOST}:{self.masterport}", f"{LOCALHOST}:{server.config.port}"
        )
        c.flags = c.flags & ~CLIENT_UNAUTHENTICATED | CLIENT_MASTER
        c.db = db
        c.on_output = self._held_command_ran
        self.master = c
        self.reploff = self.read_reploff = reploff
        self.repl_state = STATE_CONNECTED
        self.down_since = 0
        server.update_listeners()

    def _apply(self, command: StreamCommand) -> None:
        """Run a command of the primary. While clients are paused it waits, like any other."""
        c, server = self.master, self.server
        assert c is not None
        self.read_reploff += command.size
        server.stat_net_repl_input_bytes += command.size
        self._unapplied.append(command)
        reply = server.process_command(c, command.argv)
        if reply is BLOCKED:
            if self.link is not None:
                self.link.hold()
            return
        self._applied(c, reply)

    def _held_command_ran(self) -> None:
        """A pause has ended and the command that it held back has run."""
        c, link = self.master, self.link
        if c is None or not c.outbox:
            return
        self._applied(c, c.outbox.pop())
        if link is not None and link is self.link:
            link.release()

    def send_ack(self) -> None:
        """Tell the primary how far we are, if there is a link. replication.c:
        replicationSendAck()
        """
        if self.master is not None and self.link is not None:
            self.link.ack(self.reploff)

    def _applied(self, c: Client, reply: Reply) -> None:
        """A command has run: it, or its whole transaction, is part of our history now.

        The stream is passed on to our own replicas as it came. networking.c:
        commandProcessed(), replication.c: replicationFeedStreamFromMasterStream()
        """
        c.outbox.clear()
        if reply.__class__ is CommandError:
            self.server.stat_unexpected_error_replies += 1
        if c is not self.master or c.flags & CLIENT_MULTI:
            return
        self.reploff = self.read_reploff
        applied, self._unapplied = self._unapplied, []
        for command in applied:
            self.feed_buffer(command.argv, command.size)

    # -- clients that are ends of links; every second ------------------------------------------

    def client_freed(self, c: Client, was_blocked: bool) -> None:
        """A client that is the end of a link is closed."""
        if c is self.master:
            self.master_freed(was_blocked)
        else:
            self.slave_freed(c)

    def cron(self) -> None:
        """Once a second. replication.c: replicationCron()"""
        master = self.master
        if master is not None:
            silent_us = self.server.us - master.lastinteraction_us
            if silent_us // 1_000_000 > self.server.config.repl_timeout:
                self.server.kill_client(master)
        link = self.link
        if link is not None and link.is_silent(self.server.us, self.server.config.repl_timeout):
            link.close_from_replica()
            self.link_lost(link)
        if self.repl_state == STATE_CONNECT:
            self.connect_with_master()
        self.send_ack()
        self.master_cron(self.cron_loops)
        self.cron_loops += 1

    def role(self) -> Reply:
        """The reply of ROLE. replication.c: roleCommand()"""
        host = self.server.masterhost
        if host is None:
            online = [
                [link.host.encode(), b"%d" % link.port, b"%d" % link.repl_ack_off]
                for link in self.slaves
                if link.replstate == ONLINE
            ]
            return [b"master", self.master_repl_offset, online]
        offset = -1 if self.master is None else self.reploff
        return [
            b"slave",
            host.encode("utf-8", "surrogateescape"),
            self.masterport,
            self.repl_state.encode(),
            offset,
        ]

    def shut_down(self) -> None:
        """The server closes: nobody of its family finds it any more."""
        self._drop_link()
        self.disconnect_slaves()
        if self.server in self.peers:
            self.peers.remove(self.server)

    def _check(self) -> None:
        """Assert that offsets, links and roles agree."""
        self.waits._check()
        if self.backlog is not None:
            self.backlog._check()
            assert self.backlog.offset + self.backlog.histlen == self.master_repl_offset + 1
        if self.master is not None:
            assert self.server.masterhost is not None and self.link is not None
            assert self.master.id in self.server.clients
            assert self.master_repl_offset == self.reploff <= self.read_reploff
        for link in self.slaves:
            assert link.slave.id in self.server.clients
            link._check()
