"""The connection of a replica to a primary in another process, over TCP.

What is said, line by line (``>`` by us):

    > PING                                  +PONG
    > AUTH <masterauth>                     +OK          if there is one
    > REPLCONF listening-port <port>        +OK          errors of these two are ignored:
    > REPLCONF capa eof capa psync2         +OK          older servers do not know them
    > PSYNC <id> <offset>                   +CONTINUE, or +FULLRESYNC <id> <offset>
                                            $<bytes>\\r\\n<RDB file>
                                            the stream of commands, for ever
    > REPLCONF ACK <offset>                 once a second

The file may also come without a size, as ``$EOF:<mark>\\r\\n<file><mark>``. Single line ends
before it mean that the primary is still at work.

Redis: ``syncWithMaster()``, ``readSyncBulkPayload()`` in replication.c.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from miniredis.keyspace.rdb_reader import RdbError
from miniredis.net.resp import ProtocolError, RequestParser
from miniredis.server.command_stream import resp_command, resp_command_size
from miniredis.server.repl_link import Continue, StreamCommand
from miniredis.server.repl_master_link import MasterLink

if TYPE_CHECKING:
    from miniredis.net.tcp import TcpServer
    from miniredis.server.server import Server

EOF_MARK = b"EOF:"
EOF_MARK_SIZE = 40  # bytes. replication.c: CONFIG_RUN_ID_SIZE
LINE_MAX = 64 * 1024  # bytes of a line of the primary
US_PER_SECOND = 1_000_000
_logger = logging.getLogger("miniredis")


class LinkError(Exception):
    """The primary said something that a replica cannot go on from."""


class MasterConnection(asyncio.Protocol, MasterLink):
    """One attempt to be a replica, and, if it succeeds, the link.

    ``_state`` is the method that takes what comes next; it returns False to wait for more.
    """

    def __init__(self, owner: TcpServer, replid: str, offset: int) -> None:
        self.owner = owner
        self.server: Server = owner.server
        self.transport: asyncio.Transport | None = None
        self.lastio_us = self.server.clock.us()
        self._asked = (replid, offset)
        self._buffer = bytearray()
        self._parser = RequestParser(max_bulk_len=1 << 62)
        self._steps = self._handshake()
        self._state: Callable[[], bool] = self._read_reply
        self._closed = self._held = False
        self._size = 0  # of the file, in bytes
        self._mark = b""
        self._sync = ("", 0)  # id and offset of +FULLRESYNC

    # -- the connection ------------------------------------------------------------------------

    async def connect(self, host: str, port: int) -> None:
        """Call the primary; one that does not answer is called again by the cron."""
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self, host, port)
        except OSError as error:
            _logger.info("no connection to the primary %s:%d: %s", host, port, error)
            self._end()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._closed:
            transport.close()
            return
        with self.server.lock:
            self.server.repl.link_in_handshake(self)
        self._send(*next(self._steps))

    def data_received(self, data: bytes) -> None:
        self.lastio_us = self.server.clock.us()
        if self._closed:
            return
        self._buffer += data
        self._process()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _process(self) -> None:
        try:
            with self.server.lock:
                while not (self._closed or self._held) and self._state():
                    pass
        except (LinkError, RdbError, ProtocolError) as error:
            _logger.warning("the link to the primary is given up: %s", error)
            self._end()
        self.owner.plan_events()

    def _send(self, *argv: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(resp_command(argv))

    def _end(self) -> None:
        """The link is gone, whoever ended it."""
        if self._closed:
            return
        with self.server.lock:
            self.server.repl.link_lost(self)
        self.close_from_replica()

    # -- MasterLink ------------------------------------------------------------------------------

    def ack(self, offset: int) -> None:
        self.owner.call_soon(lambda: self._send(b"REPLCONF", b"ACK", b"%d" % offset))

    def hold(self) -> None:
        self._held = True

    def release(self) -> None:
        self._held = False
        self.owner.call_soon(self._process)

    def close_from_replica(self) -> None:
        self._closed = True
        if self.transport is not None:
            self.owner.call_soon(self.transport.close)

    def is_silent(self, now_us: int, timeout_s: int) -> bool:
        return (now_us - self.lastio_us) // US_PER_SECOND > timeout_s

    # -- before the stream -------------------------------------------------------------------------

    def _line(self) -> bytes | None:
        """The next line without its end, None until it is here."""
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > LINE_MAX:
                raise LinkError("a line without end")
            return None
        line = bytes(self._buffer[:end]).removesuffix(b"\r")
        del self._buffer[: end + 1]
        return line

    def _handshake(self) -> Generator[tuple[bytes, ...], bytes, None]:
        """What is said, each time to the reply of what was said before.

        LinkError if the reply makes it useless to go on.
        """
        config = self.server.config
        reply: bytes = yield (b"PING",)
        # A primary with a password refuses the PING, and lives.
        if not reply.startswith((b"+", b"-NOAUTH", b"-NOPERM", b"-ERR operation not permitted")):
            raise LinkError(_shown(reply))
        if config.masterauth:
            user = (config.masteruser,) if config.masteruser else ()
            reply = yield (b"AUTH", *user, config.masterauth)
            if reply.startswith(b"-"):
                raise LinkError(_shown(reply))
        port = config.replica_announce_port or self.owner.address[1]
        yield (b"REPLCONF", b"listening-port", b"%d" % port)
        if config.replica_announce_ip:
            yield (b"REPLCONF", b"ip-address", config.replica_announce_ip)
        yield (b"REPLCONF", b"capa", b"eof", b"capa", b"psync2")
        replid, offset = self._asked
        failover = self.server.repl.failover
        words = (b"FAILOVER",) if failover.in_progress else ()
        reply = yield (b"PSYNC", replid.encode(), b"%d" % offset, *words)
        failover.answered(reply.startswith((b"+FULLRESYNC", b"+CONTINUE")))
        self._psync_answered(reply)

    def _read_reply(self) -> bool:
        """The primary answers the handshake."""
        line = self._line()
        if line is None:
            return False
        if line:  # an empty one only shows that it lives
            try:
                words = self._steps.send(line)
            except StopIteration:
                return True
            self._send(*words)
        return True

    def _psync_answered(self, reply: bytes) -> None:
        """replication.c: slaveTryPartialResynchronization()"""
        words = reply.split()
        repl = self.server.repl
        if words[:1] == [b"+FULLRESYNC"] and len(words) == 3 and words[2].isdigit():
            self._sync = (words[1].decode("latin-1"), int(words[2]))
            repl.link_in_transfer(self)
            self._state = self._read_size
        elif words[:1] == [b"+CONTINUE"] and repl.cached_master is not None:
            known = repl.cached_master.replid
            replid = words[1].decode("latin-1") if len(words) > 1 else known
            repl.message_from_master(Continue(replid))
            self._state = self._read_stream
        else:
            raise LinkError(_shown(reply))

    # -- the file and the stream ---------------------------------------------------------------

    def _read_size(self) -> bool:
        """``$<bytes>`` or ``$EOF:<mark>``. replication.c: readSyncBulkPayload()"""
        line = self._line()
        if line is None:
            return False
        if not line:
            return True
        if line.startswith(b"$" + EOF_MARK) and len(line) >= 1 + len(EOF_MARK) + EOF_MARK_SIZE:
            self._mark = line[1 + len(EOF_MARK) :][:EOF_MARK_SIZE]
            self._state = self._read_marked_file
        elif line.startswith(b"$") and line[1:].isdigit():
            self._size = int(line[1:])
            self._state = self._read_file
        else:
            raise LinkError(_shown(line))
        return True

    def _read_file(self) -> bool:
        if len(self._buffer) < self._size:
            return False
        data = bytes(self._buffer[: self._size])
        del self._buffer[: self._size]
        self._load(data)
        return True

    def _read_marked_file(self) -> bool:
        """The primary says nothing after the mark until it has heard from us."""
        if not self._buffer.endswith(self._mark):
            return False
        data = bytes(self._buffer[: -len(self._mark)])
        self._buffer.clear()
        self._load(data)
        return True

    def _load(self, data: bytes) -> None:
        replid, offset = self._sync
        self._state = self._read_stream
        self.server.repl.load_file(replid, offset, data)

    def _read_stream(self) -> bool:
        """Run one command of the primary, if it is here."""
        if self._buffer:
            self._parser.feed(bytes(self._buffer))
            self._buffer.clear()
        argv = self._parser.next_request()
        if argv is None:
            return False
        if argv:
            command = StreamCommand(argv, resp_command_size(argv))
            self.server.repl.message_from_master(command)
        return True


def _shown(line: bytes) -> str:
    return f"the primary answered {line[:128].decode('utf-8', 'backslashreplace')}"
