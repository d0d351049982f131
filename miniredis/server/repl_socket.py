"""A replica at the other end of a connection: a real redis-server, or another simulator.

The replica asks with PSYNC (or with SYNC, as very old ones and tools do) and gets, over the
same connection,

    +FULLRESYNC <id> <offset>       what the history is called, and where it stands
    $<bytes>\\r\\n<RDB file>         the data set
    *2 SELECT 0 *3 SET k v ...      the stream, for ever

In return it tells once a second, by ``REPLCONF ACK <offset>``, how far it is.

Differs from Redis: the file is made while everybody waits and sent at once, as with
``repl-diskless-sync no``, without the wait for a child process or for more replicas; it is
not compressed.

Redis: ``syncCommand()``, ``replconfCommand()`` in replication.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_SLAVE
from miniredis.reply import Wire
from miniredis.server.command_stream import resp_command
from miniredis.server.repl_slave import ONLINE, Slave

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.repl_backlog import ReplBacklog


@dataclass(slots=True)
class SlaveOptions:
    """What REPLCONF told of a client that is going to be a replica. server.h: client

    ``data`` and ``functions``: whether it wants these parts of the file. ``rdb_only``: it
    wants the file and no stream.
    """

    listening_port: int = 0
    ip_address: str = ""
    capa_eof: bool = False
    capa_psync2: bool = False
    rdb_only: bool = False
    data: bool = True
    functions: bool = True

    @property
    def filtered(self) -> bool:
        """Whether only a part of the data set is wanted."""
        return not (self.data and self.functions)


class SocketSlave(Slave):
    """The replica behind a client. *psync*: it understands more than SYNC.

    One that sent SYNC never acknowledges, so its silence means nothing.
    """

    def __init__(self, slave: Client, psync: bool) -> None:
        super().__init__(slave)
        self.options = slave.slave_options or SlaveOptions()
        self.acknowledges = psync
        self.host = self.options.ip_address or slave.addr.rpartition(":")[0].strip("[]")
        self.port = self.options.listening_port
        slave.flags |= CLIENT_SLAVE

    def _send(self, data: bytes) -> None:
        self.slave.push(Wire(data))

    def send_data_set(self, offset: int, repl_stream_db: int) -> None:
        server, options = self.slave.server, self.options
        if self.acknowledges:
            self._send(b"+FULLRESYNC %s %d\r\n" % (server.replid.encode(), offset))
        data = server.persistence.rdb(
            data=options.data, functions=options.functions, compress=False
        )
        self._send(b"$%d\r\n" % len(data) + data)
        self._online()

    def send_missed(self, backlog: ReplBacklog, psync_offset: int) -> None:
        if self.options.capa_psync2:
            self._send(b"+CONTINUE %s\r\n" % self.slave.server.replid.encode())
        else:
            self._send(b"+CONTINUE\r\n")
        self._send(backlog.bytes_since(psync_offset))
        self._online()

    def _online(self) -> None:
        self.replstate = ONLINE
        self.repl_ack_time = self.slave.server.repl.unixtime()

    def send_command(self, argv: Sequence[bytes], size: int) -> None:
        self._send(resp_command(argv))
