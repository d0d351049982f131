"""Serving clients over TCP with asyncio.

One thread runs everything, as in Redis: commands as they arrive, and between them the
server's time events. A client that breaks the protocol, sends half a request or vanishes
costs only its own connection.

Redis: networking.c, anet.c, the event loop of ae.c.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections import deque
from collections.abc import Callable

from miniredis.commands.client_flags import CLIENT_CLOSE_AFTER_REPLY
from miniredis.commands.client_info import client_type
from miniredis.errors import MAX_CLIENTS_REACHED, CommandError, ServerClosedError
from miniredis.net.resp import ProtocolError, RequestParser, encode_reply
from miniredis.reply import BLOCKED, NO_REPLY
from miniredis.server.checks import auth_required, reset_client, set_protocol_error
from miniredis.server.client import Client
from miniredis.server.config_types import ApplyError
from miniredis.server.reply_buffer import ReplyBuffer
from miniredis.server.server import Server

READING_STOPS_BYTES = 64 * 1024 * 1024  # of unread output: the client must read first
EVENT_SLACK_S = 0.0005  # an event found due this little too early is run all the same
_logger = logging.getLogger("miniredis")


class ClientConnection(asyncio.Protocol):
    """One TCP connection and the client at its far end."""

    def __init__(self, owner: TcpServer) -> None:
        self.owner = owner
        self.server = owner.server
        self.transport: asyncio.Transport | None = None
        self.client: Client | None = None
        self.parser = RequestParser(self.server.config.proto_max_bulk_len)
        self._soft_limit_since: int | None = None  # in s of the loop's clock

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=READING_STOPS_BYTES)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.server.client_limit_reached():
            transport.write(b"-%s\r\n" % MAX_CLIENTS_REACHED.encode())
            transport.close()
            return
        self.client = self.server.create_client(
            _address(transport.get_extra_info("peername")),
            _address(transport.get_extra_info("sockname")),
        )
        self.client.turn_open = True
        self.client.reply_buffer = ReplyBuffer(self.server.now_ms())
        self.client.on_output = self._output_came
        self.client.on_close = self._killed
        self.owner.connections.add(self)

    def data_received(self, data: bytes) -> None:
        self.server.stat_net_input_bytes += len(data)
        self.server.stat_total_reads_processed += 1
        client = self.client
        if client is not None and client.flags & CLIENT_CLOSE_AFTER_REPLY:
            return  # silenced when it should have been hung up on: nobody reads it any more
        self.parser.feed(data)
        self.process()

    def process(self) -> None:
        """Run the requests that are complete, and send what comes of them at once."""
        client, server = self.client, self.server
        out: list[bytes] = []
        if client is not None:
            self._drain(client, out)  # in the protocol of before what now comes
        while client is not None and client.takes_commands:
            self.parser.unauthenticated = auth_required(client)
            self.parser.max_bulk_len = server.config.proto_max_bulk_len
            try:
                argv = self.parser.next_request()
            except ProtocolError as error:
                reply = set_protocol_error(client, CommandError(f"ERR {error}"))
            else:
                if argv is None:
                    break
                if not argv:
                    reset_client(client)
                    continue
                try:
                    reply = server.process_command(client, argv)
                except ServerClosedError:
                    self.owner.on_closed()  # by SHUTDOWN, which has closed all connections
                    return
            self._drain(client, out)
            if reply is not BLOCKED and reply is not NO_REPLY:
                out.append(encode_reply(reply, client.resp))
        self._write(out)
        self.server.end_turn()
        if client is not None and client.close_after_reply:
            self._hang_up()
        self.owner.plan_events()

    def _drain(self, client: Client, out: list[bytes]) -> None:
        while client.outbox:
            out.append(encode_reply(client.outbox.popleft(), client.resp))

    def _output_came(self) -> None:
        """Something was put into the outbox: send it in this turn of the loop."""
        self.owner.wake(self)

    def flush(self) -> None:
        """Send the outbox, then go on with requests that had to wait."""
        client = self.client
        if client is None:
            return
        out: list[bytes] = []
        self._drain(client, out)
        self._write(out)
        self.process()

    def _write(self, out: list[bytes]) -> None:
        if out and self.transport is not None and not self.transport.is_closing():
            data = b"".join(out)
            self.server.stat_net_output_bytes += len(data)
            self.server.stat_total_writes_processed += 1
            self.transport.write(data)
            if self.client is not None and self.client.reply_buffer is not None:
                self.client.reply_buffer.note(len(data))
            out.clear()
            if self._output_limit_reached(self.transport.get_write_buffer_size()):
                _logger.warning("%r closed: its output buffer has reached a limit", self.client)
                self._hang_up(abort=True)

    def _output_limit_reached(self, unread: int) -> bool:
        """Whether the client leaves more bytes *unread* than its class is allowed.

        At once above the hard limit, and after the given seconds in a row above the soft
        one. networking.c: checkClientOutputBufferLimits()
        """
        if self.client is None:
            return False
        limits = self.server.config.client_output_buffer_limit
        hard, soft, soft_seconds = getattr(limits, client_type(self.client).decode())
        now = self.owner.time_s()
        if not soft or unread < soft:
            self._soft_limit_since = None
        elif self._soft_limit_since is None:
            self._soft_limit_since = now
        over_soft = (
            self._soft_limit_since is not None and now - self._soft_limit_since > soft_seconds
        )
        return over_soft or bool(hard and unread >= hard)

    def pause_writing(self) -> None:
        """The client does not read: take nothing more from it until it does."""
        if self.transport is not None:
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.transport is not None:
            self.transport.resume_reading()

    def _killed(self) -> None:
        self.client = None
        if self.transport is not None:
            self.transport.close()

    def _hang_up(self, abort: bool = False) -> None:
        """Close the connection once its output is sent, or at once if *abort*."""
        client, self.client = self.client, None
        if client is not None:
            self.server.free_client(client)
        if self.transport is not None:
            self.transport.abort() if abort else self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.owner.connections.discard(self)
        client, self.client = self.client, None
        if client is not None:
            self.server.free_client(client)


class TcpServer:
    """Listens for clients of *server* and runs its time events.

    ``address`` is the bound ``(host, port)`` once :meth:`start` has returned.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.connections: set[ClientConnection] = set()
        self.address: tuple[str, int] = ("", 0)
        self.on_closed: Callable[[], None] = _nothing  # called when SHUTDOWN came
        self._listener: asyncio.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._host, self._port = "", 0  # asked for
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[ClientConnection] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 6379) -> None:
        """Begin to listen. Raises OSError if the address is taken or does not exist."""
        self._loop = asyncio.get_running_loop()
        self._listener = await self._loop.create_server(lambda: ClientConnection(self), host, port)
        name = self._listener.sockets[0].getsockname()
        self.address = (name[0], name[1])
        self._host, self._port = host, self.server.config.port
        self.server.listen_on = self.listen_on
        self.server.on_time_event = self._event_planned
        self.plan_events()

    def listen_on(self, port: int) -> None:
        """CONFIG SET port: listen there instead, 0: nowhere; who is connected stays so.

        Called from any thread. Raises ``ApplyError`` if the port is taken.
        config.c: updatePort()
        """
        loop = self._loop
        if port == self._port or loop is None or loop.is_closed():
            return
        sock = None
        if port:
            try:
                sock = socket.create_server((self._host, port))
            except OSError:
                text = "Unable to listen on this port. Check server logs."
                raise ApplyError(text, "port") from None
        self._port = port
        loop.call_soon_threadsafe(self._listen_with, loop, sock)

    def _listen_with(self, loop: asyncio.AbstractEventLoop, sock: socket.socket | None) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if sock is not None:
            name = sock.getsockname()
            self.address = (name[0], name[1])
            self._opening = loop.create_task(self._accept_from(loop, sock))

    async def _accept_from(self, loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
        """Clients that come before this runs wait in the socket's queue."""
        self._listener = await loop.create_server(lambda: ClientConnection(self), sock=sock)

    def wake(self, connection: ClientConnection) -> None:
        """Flush *connection* soon; may be called from any thread."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        if not self._waiting:
            loop.call_soon_threadsafe(self._flush_waiting)
        self._waiting.append(connection)

    def _event_planned(self) -> None:
        """Another server has sent something to ours; called from any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.plan_events)

    def _flush_waiting(self) -> None:
        while self._waiting:
            self._waiting.popleft().flush()

    def time_s(self) -> int:
        """Whole seconds of the event loop's clock."""
        return 0 if self._loop is None else int(self._loop.time())

    def plan_events(self) -> None:
        """Call back when the next time event of the server, or of its family, is due."""
        next_us = self.server.family_next_event_us()
        if self._loop is None or next_us is None or self.server.closed:
            return
        delay = max(next_us - self.server.clock.us(), 0) / 1_000_000
        when = self._loop.time() + delay
        if self._timer is not None and not self._timer.cancelled():
            if abs(self._timer.when() - when) < EVENT_SLACK_S:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._run_events)

    def _run_events(self) -> None:
        self._timer = None
        self.server.process_family_events()
        self.plan_events()

    async def stop(self) -> None:
        """Close every connection and the listener."""
        if self._timer is not None:
            self._timer.cancel()
        if self._listener is not None:
            self._listener.close()
        for connection in list(self.connections):
            connection._hang_up()
        self.server.close()


def run_server(server: Server, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, then stop cleanly. Raises OSError if it can't listen."""

    async def serve() -> None:
        tcp = TcpServer(server)
        await tcp.start(host, port)
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        tcp.on_closed = stopped.set
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
        shown = f"[{tcp.address[0]}]" if ":" in tcp.address[0] else tcp.address[0]
        say(f"Ready to accept connections on {shown}:{tcp.address[1]}")
        await stopped.wait()
        await tcp.stop()

    asyncio.run(serve())


def _nothing() -> None:
    """Who serves from code of his own may not care."""


def _address(name: object) -> str:
    """A socket name as Redis shows it, e.g. ``127.0.0.1:6379``."""
    if isinstance(name, tuple):
        host, port = name[0], name[1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return "?:0"
