"""One TCP connection: requests in, replies out, never waiting for the far end.

A client that breaks the protocol, sends half a request or vanishes costs only its own
connection. What the kernel does not take at once is kept until the socket can be written to.

Redis: networking.c, ``readQueryFromClient()``, ``writeToClient()``, ``freeClient()``.
"""

from __future__ import annotations

import logging
import socket
from selectors import EVENT_READ, EVENT_WRITE
from typing import Protocol

from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_CLOSE_AFTER_REPLY,
)
from miniredis.commands.client_info import client_type
from miniredis.errors import MAX_CLIENTS_REACHED, CommandError, ServerClosedError
from miniredis.net.resp import ProtocolError, RequestParser, encode_reply
from miniredis.reply import BLOCKED, NO_REPLY, Reply
from miniredis.server.checks import auth_required, reset_client, set_protocol_error
from miniredis.server.client import Client
from miniredis.server.reply_buffer import ReplyBuffer
from miniredis.server.server import Server

READ_BYTES = 64 * 1024  # at most in one go, so that nobody keeps the others waiting
READING_STOPS_BYTES = 64 * 1024 * 1024  # of unread output: the client must read first
READING_RESUMES_BYTES = READING_STOPS_BYTES // 4
NO_MORE_COMMANDS = CLIENT_BLOCKED | CLIENT_CLOSE_AFTER_REPLY
_logger = logging.getLogger("miniredis")


class Owner(Protocol):
    """What a connection asks of the server that has accepted it."""

    server: Server

    def watch(self, connection: ClientConnection, sock: socket.socket, events: int) -> None:
        """Call ``handle_events`` when *sock* is ready for *events*; 0: never again."""
        ...

    def wake(self, connection: ClientConnection) -> None:
        """Call ``flush`` soon; may be called from any thread."""
        ...

    def gone(self, connection: ClientConnection) -> None:
        """The connection's client was freed."""
        ...

    def time_s(self) -> int:
        """Whole seconds of a clock that is never set."""
        ...


class ClientConnection:
    """The near end of a connection. ``client`` is None once it was freed.

    ``is_waiting``: the owner was told to wake it. ``running``: a command of ours runs; it
    may be a slow script in the middle of which other connections are served.
    """

    __slots__ = (
        "_closing",
        "_events",
        "_socket",
        "_soft_limit_since",
        "_unsent",
        "client",
        "is_waiting",
        "owner",
        "parser",
        "running",
        "server",
    )

    def __init__(self, owner: Owner, sock: socket.socket) -> None:
        self.owner = owner
        self.server = owner.server
        self.client: Client | None = None
        self.parser = RequestParser(self.server.config.proto_max_bulk_len)
        self.is_waiting = self.running = False
        self._socket = sock
        self._unsent = bytearray()
        self._events = 0
        self._closing = False  # once all is sent
        self._soft_limit_since: int | None = None  # in s of the owner's clock

    def begin(self) -> bool:
        """Make a client and read from it; False if there are too many of them."""
        sock = self._socket
        sock.setblocking(False)
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.server.client_limit_reached():
            self._write([b"-%s\r\n" % MAX_CLIENTS_REACHED.encode()])
            self.hang_up()
            return False
        try:
            names = _address(sock.getpeername()), _address(sock.getsockname())
        except OSError:  # it has gone already
            self.hang_up(abort=True)
            return False
        try:
            self.client = self.server.create_client(*names)
        except ServerClosedError:
            self.hang_up(abort=True)
            return False
        self.client.on_wire = self.client.turn_open = True
        self.client.reply_buffer = ReplyBuffer(self.server.now_ms())
        self.client.on_output = self._output_came
        self.client.on_close = self._killed
        self._watch(EVENT_READ)
        return True

    # -- input --------------------------------------------------------------------------

    def handle_events(self, mask: int) -> None:
        """The socket is ready. In the middle of an own command it has to wait."""
        if self.running or not self._events:
            return
        if mask & EVENT_WRITE and self._events & EVENT_WRITE:
            self._send_unsent()
        if mask & EVENT_READ and self._events & EVENT_READ:
            self._read()

    def _read(self) -> None:
        """networking.c: readQueryFromClient()"""
        try:
            data = self._socket.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return  # somebody else has read it, see TcpServer.serve_while_blocked()
        except OSError:
            self.hang_up(abort=True)
            return
        if not data:
            self.hang_up()
            return
        server, client = self.server, self.client
        server.stat_net_input_bytes += len(data)
        server.stat_total_reads_processed += 1
        if client is not None and client.flags & CLIENT_CLOSE_AFTER_REPLY:
            return  # silenced when it should have been hung up on: nobody reads it any more
        self.parser.feed(data)
        self.process()

    def process(self) -> None:
        """Run the requests that are complete, and send what comes of them at once."""
        client = self.client
        if client is None:
            return
        out: list[bytes] = []
        self.running = True
        try:
            if client.outbox:
                self._drain(client, out)  # in the protocol of before what now comes
            self._run_requests(client, out)
        except ServerClosedError:
            self.hang_up(abort=True)
            return
        finally:
            self.running = False
        if self.client is None:  # killed by its own command, with its server
            self._close()
            return
        if out:
            self._write(out)
        if not self.server.scripting.is_timed_out:
            self.server.end_turn()
        if client.flags and client.close_after_reply:
            self.hang_up()

    def _run_requests(self, client: Client, out: list[bytes]) -> None:
        """networking.c: processInputBuffer()"""
        server, parser = self.server, self.parser
        while not client.flags & NO_MORE_COMMANDS:
            argv: list[bytes] | None
            if client.flags or not parser.ready:
                parser.unauthenticated = auth_required(client)
                parser.max_bulk_len = server.config.proto_max_bulk_len
                try:
                    argv = parser.next_request()
                except ProtocolError as error:
                    self._reply(
                        client, out, set_protocol_error(client, CommandError(f"ERR {error}"))
                    )
                    return
                if argv is None:
                    return
                if not argv:
                    reset_client(client)
                    server.repl.empty_request(client)
                    continue
            else:
                argv = parser.ready.popleft()
            reply = server.process_command(client, argv)
            if reply.__class__ is bytes and not client.outbox:
                out.append(b"$%d\r\n%s\r\n" % (len(reply), reply))
            else:
                self._reply(client, out, reply)

    def _reply(self, client: Client, out: list[bytes], reply: Reply) -> None:
        if client.outbox:
            self._drain(client, out)
        if reply is not BLOCKED and reply is not NO_REPLY:
            out.append(encode_reply(reply, client.resp))

    # -- output -------------------------------------------------------------------------

    def _drain(self, client: Client, out: list[bytes]) -> None:
        while client.outbox:
            out.append(encode_reply(client.outbox.popleft(), client.resp))

    def _output_came(self) -> None:
        """Something was put into the outbox: send it in this turn of the loop."""
        if not self.is_waiting:
            self.is_waiting = True
            self.owner.wake(self)

    def flush(self) -> None:
        """Send the outbox, then go on with requests that had to wait; or close."""
        self.is_waiting = False
        if self.client is None and not self._closing:
            self._close()
        else:
            self.process()

    def _write(self, out: list[bytes]) -> None:
        """networking.c: writeToClient()"""
        data = out[0] if len(out) == 1 else b"".join(out)
        self.server.stat_net_output_bytes += len(data)
        self.server.stat_total_writes_processed += 1
        if self.client is not None and self.client.reply_buffer is not None:
            self.client.reply_buffer.note(len(data))
        if self._unsent:
            self._unsent += data
        else:
            try:
                sent = self._socket.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError:
                self.hang_up(abort=True)
                return
            if sent == len(data):
                self._soft_limit_since = None
                return
            self._unsent += memoryview(data)[sent:]
        self._watch_unsent()
        if self._output_limit_reached(len(self._unsent)):
            _logger.warning("%r closed: its output buffer has reached a limit", self.client)
            self.hang_up(abort=True)

    def _send_unsent(self) -> None:
        """The far end has read: send more. networking.c: sendReplyToClient()"""
        try:
            sent = self._socket.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.hang_up(abort=True)
            return
        del self._unsent[:sent]
        if self._closing and not self._unsent:
            self._close()
        else:
            self._watch_unsent()

    def _watch_unsent(self) -> None:
        """Write on when possible; who does not read its output is not read from either."""
        unsent = len(self._unsent)
        events = EVENT_WRITE if unsent else 0
        least = READING_STOPS_BYTES if self._events & EVENT_READ else READING_RESUMES_BYTES
        if unsent < least and not self._closing:
            events |= EVENT_READ
        self._watch(events)

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

    # -- the end ------------------------------------------------------------------------

    def _watch(self, events: int) -> None:
        if events != self._events:
            self._events = events
            self.owner.watch(self, self._socket, events)

    def _killed(self) -> None:
        """The server has freed the client; perhaps from another thread, so close later."""
        self.client = None
        self._output_came()

    def hang_up(self, abort: bool = False) -> None:
        """Close the connection once its output is sent, or at once if *abort*."""
        client, self.client = self.client, None
        if client is not None:
            self.server.free_client(client)
        if self._unsent and not abort:
            self._closing = True
            self._watch_unsent()
        else:
            self._close()
        self.owner.gone(self)

    def _close(self) -> None:
        self._unsent.clear()
        self._watch(0)
        self._socket.close()
        self.owner.gone(self)


def _address(name: object) -> str:
    """A socket name as Redis shows it, e.g. ``127.0.0.1:6379``."""
    if isinstance(name, tuple):
        host, port = name[0], name[1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return "?:0"
