"""Serving clients over TCP, inside asyncio's loop.

One thread runs everything, as in Redis: commands as they arrive, and between them the
server's time events. All sockets are in one selector of ours, which asyncio watches as if it
were a single socket. So a turn serves all connections that are ready, and the same turn
can be made in the middle of a script that runs too long, where asyncio's own loop,
which is not reentrant, cannot: others then hear BUSY, and may end the script.

Redis: networking.c, anet.c, the event loop of ae.c.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import selectors
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable
from selectors import EVENT_READ
from typing import Any

from miniredis.errors import ServerClosedError
from miniredis.net.dial import dial
from miniredis.net.master_link import MasterConnection
from miniredis.net.tcp_connection import ClientConnection
from miniredis.server.config_types import ApplyError
from miniredis.server.repl_master_link import MasterLink
from miniredis.server.server import Server

BACKLOG = 511  # connections that wait to be accepted, as tcp-backlog has it
MAX_ACCEPTS_PER_CALL = 1000
ACCEPT_PAUSE_S = 1.0  # when the process has no file descriptor left
TURNS_AT_ONCE = 16  # before asyncio, which takes as long as a request or two, gets its turn
TURNS_WHILE_BLOCKED = 4  # of the sockets at most, each time a slow script lets others in
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
EVENT_SLACK_S = 0.0005  # an event found due this little too early is run all the same
_ADDRESSES: dict[str, Any] = {"type": socket.SOCK_STREAM, "flags": socket.AI_PASSIVE}
_logger = logging.getLogger("miniredis")


class TcpServer:
    """Listens for clients of *server* and runs its time events.

    ``address`` is the bound ``(host, port)`` once :meth:`start` has returned. Needs a loop
    and a system whose selectors have a file descriptor: Linux, macOS, BSD.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.connections: set[ClientConnection] = set()
        self.address: tuple[str, int] = ("", 0)
        self._selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self._host, self._port = "", 0  # asked for
        self._timer: asyncio.TimerHandle | None = None
        self._planned_us: int | None = None  # the event of the server that the timer is for
        self._waiting: deque[ClientConnection] = deque()
        self._wake_planned = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = 0  # in which the loop runs
        self._turning = 0  # depth of turns: 2 while a slow script lets others in
        self._interrupted = self._closed = False
        self.finished = asyncio.Event()  # the server was closed

    async def start(self, host: str = "127.0.0.1", port: int = 6379) -> None:
        """Begin to listen. Raises OSError if the address is taken or does not exist."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._listeners = await _listen(self._loop, host, port)
        self._host, self._port = host, self.server.config.port
        self._accept_from(self._listeners)
        self.server.listen_on = self.listen_on
        self._loop.add_reader(self._selector.fileno(), self._turn)
        self.server.on_time_event = self._event_planned
        self.server.repl.connector = self._call_master
        self.server.dial = dial
        self.server.scripting.while_blocked.append(self.serve_while_blocked)
        self.plan_events()

    def _accept_from(self, listeners: list[socket.socket]) -> None:
        name = listeners[0].getsockname()
        self.address = (name[0], name[1])
        for listener in listeners:
            self._selector.register(listener, EVENT_READ, self._accepter(listener))

    def listen_on(self, port: int) -> None:
        """CONFIG SET port: listen there instead, 0: nowhere; who is connected stays so.

        Called from any thread. Raises ``ApplyError`` if the port is taken.
        config.c: updatePort()
        """
        loop = self._loop
        if port == self._port or loop is None or loop.is_closed():
            return
        listeners: list[socket.socket] = []
        if port:
            try:
                listeners = _bound(socket.getaddrinfo(self._host, port, **_ADDRESSES))
            except OSError:
                text = "Unable to listen on this port. Check server logs."
                raise ApplyError(text, "port") from None
        self._port = port
        if threading.get_ident() == self._thread:
            self._listen_with(listeners)
        else:
            loop.call_soon_threadsafe(self._listen_with, listeners)

    def _listen_with(self, listeners: list[socket.socket]) -> None:
        old, self._listeners = self._listeners, listeners
        for listener in old:
            with contextlib.suppress(KeyError):  # it waits for file descriptors
                self._selector.unregister(listener)
            listener.close()
        if listeners:
            self._accept_from(listeners)

    # -- replication ------------------------------------------------------------------------

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Run *callback* in the event loop; may be called from any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(callback)

    def _call_master(self, host: str, port: int, replid: str, offset: int) -> MasterLink:
        """Be a replica of a server elsewhere; see ``server/repl_master_link.py``."""
        link = MasterConnection(self, replid, offset)
        self.call_soon(lambda: self._keep(asyncio.ensure_future(link.connect(host, port))))
        return link

    def _keep(self, task: asyncio.Task[None]) -> None:
        """Hold a reference to a task, which the loop does not, until it is done."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- what connections ask for -----------------------------------------------------------

    def watch(self, connection: ClientConnection, sock: socket.socket, events: int) -> None:
        """Tell *connection* when *sock* is ready for *events*; 0: never again."""
        if self._closed:
            return
        if not events:
            with contextlib.suppress(KeyError, ValueError):  # it was not watched, or is closed
                self._selector.unregister(sock)
            return
        try:
            self._selector.modify(sock, events, connection.handle_events)
        except KeyError:
            self._selector.register(sock, events, connection.handle_events)

    def wake(self, connection: ClientConnection) -> None:
        """Flush *connection* soon; may be called from any thread.

        First it stands in the queue, then the loop is told: the other way round, the loop
        could have looked already.
        """
        self._waiting.append(connection)
        if self._turning and threading.get_ident() == self._thread:
            return  # the turn ends with a look at the queue
        loop = self._loop
        if loop is None or loop.is_closed() or self._closed or self._wake_planned:
            return
        self._wake_planned = True
        loop.call_soon_threadsafe(self._woken)

    def gone(self, connection: ClientConnection) -> None:
        """*connection* has no client any more."""
        self.connections.discard(connection)

    def time_s(self) -> int:
        """Whole seconds of the event loop's clock."""
        return 0 if self._loop is None else int(self._loop.time())

    # -- turns of the sockets ---------------------------------------------------------------

    def _turn(self) -> None:
        """Serve every socket that is ready, then who was woken by it; some times, if need be.

        ae.c: aeProcessEvents()
        """
        for _ in range(TURNS_AT_ONCE):
            if not self._process_events():
                break
            if self._waiting:
                self._flush_waiting()
        self.plan_events()

    def _process_events(self) -> bool:
        """Whether there was anything."""
        self._turning += 1
        try:
            events = self._selector.select(0)
            for key, mask in events:
                try:
                    key.data(mask)
                except Exception as error:  # a defect of ours costs one connection only
                    self._report(key.data, error)
        finally:
            self._turning -= 1
        return bool(events)

    def _report(self, handler: Callable[[int], None], error: Exception) -> None:
        assert self._loop is not None
        context = {"message": "serving a connection failed", "exception": error}
        self._loop.call_exception_handler(context)
        connection = getattr(handler, "__self__", None)
        if isinstance(connection, ClientConnection):
            connection.hang_up(abort=True)

    def _woken(self) -> None:
        self._wake_planned = False
        self._flush_waiting()
        self.plan_events()

    def _flush_waiting(self) -> None:
        """Flush who waits for it. Who runs a command just now waits on."""
        self._turning += 1
        try:
            running = []
            while self._waiting:
                connection = self._waiting.popleft()
                if connection.running:
                    running.append(connection)
                    continue
                try:
                    connection.flush()
                except Exception as error:
                    self._report(connection.handle_events, error)
            self._waiting.extend(running)
        finally:
            self._turning -= 1

    def serve_while_blocked(self) -> None:
        """Serve the other connections while a script of one of them runs too long.

        Their time events have to wait: the keyspace must not change under the script.
        networking.c: processEventsWhileBlocked()
        """
        if threading.get_ident() != self._thread:
            return  # the script was sent by a client in this process: the loop goes on
        if self._interrupted:
            self.server.close()
            raise ServerClosedError("the server was interrupted")
        for _ in range(TURNS_WHILE_BLOCKED):
            busy = self._process_events()
            if self._waiting:
                self._flush_waiting()
            if not busy:
                break

    def _accepter(self, listener: socket.socket) -> Callable[[int], None]:
        def accept(mask: int) -> None:
            """networking.c: acceptTcpHandler()"""
            if listener.fileno() < 0:
                return  # closed in this very turn
            for _ in range(MAX_ACCEPTS_PER_CALL):
                try:
                    sock, _name = listener.accept()
                except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                    return
                except OSError as error:
                    self._accept_later(listener, error)
                    return
                connection = ClientConnection(self, sock)
                if connection.begin():
                    self.connections.add(connection)

        return accept

    def _accept_later(self, listener: socket.socket, error: OSError) -> None:
        """There are too many open files: try again in a while."""
        _logger.warning("Accepting client connection: %s", error)
        assert self._loop is not None
        self._selector.unregister(listener)

        def resume() -> None:
            if listener in self._listeners and not self._closed:
                self._selector.register(listener, EVENT_READ, self._accepter(listener))

        self._loop.call_later(ACCEPT_PAUSE_S, resume)

    # -- time events ------------------------------------------------------------------------

    def _event_planned(self) -> None:
        """Another server has sent something to ours; called from any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.plan_events)

    def plan_events(self) -> None:
        """Call back when the next time event of the server, or of its family, is due."""
        if self.server.closed:
            self._close()
            return
        next_us = self.server.family_next_event_us()
        if self._loop is None or next_us is None or next_us == self._planned_us:
            return
        self._planned_us = next_us
        delay = max(next_us - self.server.clock.us(), 0) / 1_000_000
        when = self._loop.time() + delay
        if self._timer is not None and not self._timer.cancelled():
            if abs(self._timer.when() - when) < EVENT_SLACK_S:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._run_events)

    def _run_events(self) -> None:
        self._timer = self._planned_us = None
        self._turning += 1
        try:
            self.server.process_family_events()
        finally:
            self._turning -= 1
        if self._waiting:
            self._flush_waiting()
        self.plan_events()

    # -- the end ----------------------------------------------------------------------------

    def interrupt(self) -> None:
        """End the slow script that runs, if one does, and the server with it.

        For the handler of a signal, which Python calls in the middle of a turn.
        """
        self._interrupted = self._turning > 0

    async def stop(self) -> None:
        """Close every connection, the listeners and the server. Harmless when repeated."""
        self._close()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        with contextlib.suppress(ValueError):
            self.server.scripting.while_blocked.remove(self.serve_while_blocked)
        if self._loop is not None:
            self._loop.remove_reader(self._selector.fileno())
        for listener in self._listeners:
            listener.close()
        for connection in list(self.connections):
            connection.hang_up(abort=True)
        for task in self._tasks:
            task.cancel()
        self.server.close()
        self._waiting.clear()
        self._selector.close()
        self.finished.set()


async def _listen(loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[socket.socket]:
    """A socket for each address that *host* has; all or none."""
    return _bound(await loop.getaddrinfo(host, port, **_ADDRESSES))


def _bound(found: Iterable[Any]) -> list[socket.socket]:
    """Listening sockets for what getaddrinfo() has found. anet.c: anetTcpServer()"""
    listeners: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            listener = socket.socket(family, kind, protocol)
            listeners.append(listener)
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def run_server(server: Server, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until SIGINT, SIGTERM or SHUTDOWN, then stop cleanly.

    Raises OSError if it can't listen.
    """

    async def serve() -> None:
        tcp = TcpServer(server)
        await tcp.start(host, port)
        loop = asyncio.get_running_loop()

        def stop(number: int, frame: object) -> None:
            tcp.interrupt()
            loop.call_soon_threadsafe(tcp.finished.set)

        before = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
        shown = f"[{tcp.address[0]}]" if ":" in tcp.address[0] else tcp.address[0]
        say(f"Ready to accept connections on {shown}:{tcp.address[1]}")
        try:
            await tcp.finished.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            await tcp.stop()

    asyncio.run(serve())
