"""The near end of a connection without a wire: what is the same with and without asyncio.

Redis: networking.c, with a queue for a socket.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from redis.exceptions import ConnectionError

from miniredis.errors import MAX_CLIENTS_REACHED, CommandError, ServerClosedError
from miniredis.net.values import as_read, to_exception, to_python
from miniredis.reply import NO_REPLY, Interleaved, Push, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server as BaseServer

CLOSED_BY_SERVER = "Connection closed by server."

# A command name as redis-py passes it ("CONFIG GET") as its words.
_names: dict[str, tuple[bytes, ...]] = {}
_NAMES_MAX = 10_000  # names remembered; a client that makes up names must not fill memory


def _split_name(name: str) -> tuple[bytes, ...]:
    words = tuple(name.encode().split()) or (name.encode(),)
    if len(_names) < _NAMES_MAX:
        _names[name] = words
    return words


class Session:
    """Commands as bytes into a server, its replies in order out of a queue.

    Meant to stand before one of redis-py's connection classes. There is a server-side client
    while it is connected. Replies wait in the queue until they are read, so that pipelines and
    pub/sub find them in order. Queue and outbox of the client are moved under the server's
    lock only: one thread may wait for messages while another sends commands.
    """

    # Of redis-py's connection.
    db: Any
    encoder: Any
    protocol: Any
    username: Any
    password: Any
    client_name: Any

    server: BaseServer
    client: Client | None

    def _open_session(self, server: BaseServer) -> None:
        """Set up what belongs to the session; redis-py's part is there already."""
        self.server = server
        self.client = None
        self._replies: deque[Reply] = deque()
        self._hung_up = False  # the server closed the connection; nobody has noticed yet
        self._is_utf8 = self.encoder.encoding.lower().replace("-", "") == "utf8"
        self.undecoded = not self.encoder.decode_responses  # strings are delivered as bytes
        self._plain = self._is_utf8 and self.encoder.encoding_errors == "strict"

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("server", hex(id(self.server))), ("db", self.db)]

    # -- connecting -------------------------------------------------------------------

    @property
    def is_connected(self) -> bool:
        return self.client is not None

    def _new_client(self) -> Client:
        server = self.server
        try:
            with server.lock:
                if server.client_limit_reached():
                    raise to_exception(CommandError(MAX_CLIENTS_REACHED))
                client = server.create_client()
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        client.on_close = _weakly(self)
        client.on_output = self._output_listener()
        return client

    def _output_listener(self) -> Callable[[], None]:
        """What the server calls, under its lock, when it has put something into the outbox."""
        return self.server.unblocked.notify_all

    def _greeting(self, credentials: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """The commands with which a connection begins. The protocol is simply chosen."""
        assert self.client is not None
        if credentials:
            yield ("AUTH", *credentials)
        self.client.resp = int(self.protocol)
        if self.client_name:
            yield ("CLIENT SETNAME", self.client_name)
        if self.db:
            yield ("SELECT", self.db)

    def _own_credentials(self) -> tuple[str, ...]:
        """User name and password as AUTH takes them; nothing if there are none."""
        if not (self.username or self.password):
            return ()
        return (*((self.username,) if self.username else ()), self.password or "")

    def closed_by_server(self) -> None:
        """The server has hung up; whoever uses the connection next gets to know."""
        self.client = None
        self._hung_up = True

    def hang_up(self) -> None:
        """Give the server-side client back."""
        client, self.client = self.client, None
        self._replies.clear()
        if client is not None:
            self.server.free_client(client)

    def __del__(self) -> None:
        # The garbage collector may come by in the middle of a command.
        client = self.__dict__.get("client")
        if client is not None:
            self.server.free_client_async(client)

    # -- sending ----------------------------------------------------------------------

    def encode_args(self, args: tuple[Any, ...]) -> list[bytes]:
        """Arguments as bytes, by redis-py's rules; ``DataError`` for other types."""
        try:
            name = args[0]
        except IndexError:  # redis-py's own error, but with a reason
            raise IndexError("execute_command() takes a command and its arguments") from None
        if name.__class__ is str:
            words = _names.get(name) or _split_name(name)
            argv = [*words]
        else:
            argv = [self.encoder.encode(name)]
        plain = self._plain
        for arg in args[1:]:
            kind = arg.__class__
            if kind is bytes:
                argv.append(arg)
            elif kind is str and plain:
                argv.append(arg.encode())
            elif kind is int:
                argv.append(b"%d" % arg)
            else:
                argv.append(bytes(self.encoder.encode(arg)))
        return argv

    def pack_command(self, *args: Any) -> list[list[bytes]]:
        return [self.encode_args(args)]

    def pack_commands(self, commands: Iterable[tuple[Any, ...]]) -> list[list[bytes]]:
        return [self.encode_args(args) for args in commands]

    def open_turn(self) -> None:
        """What follows is sent at once, as a pipeline is: one turn of the event loop."""
        if self.client is not None:
            self.client.turn_open = True

    def end_turn(self) -> None:
        """All that was sent at once has run."""
        if self.client is not None:
            self.client.turn_open = False
        self.server.end_turn()

    def queue(self, reply: Reply) -> None:
        """Queue what a command that has just run sent: messages first, then its *reply*."""
        with self.server.lock:
            client = self.client
            if client is not None:
                self._take_output(client)
            if reply is not NO_REPLY:
                self._replies.append(reply)
            if client is not None and client.close_after_reply:
                self._close_after_replies()
            self.server.unblocked.notify_all()  # another thread may be listening

    def _close_after_replies(self) -> None:
        """The server hangs up once its replies are sent (QUIT, CLIENT KILL of oneself)."""
        client, self.client = self.client, None
        self._hung_up = True
        if client is not None:
            self.server.free_client(client)

    def _take_output(self, client: Client) -> None:
        """Move messages from the outbox into the queue; the caller holds the lock."""
        outbox = client.outbox
        while outbox:
            item = outbox.popleft()
            if item.__class__ is Interleaved:
                try:
                    self._replies.extend(as_read(item, client.resp))
                except ConnectionError:
                    self.hang_up()
                    raise
            elif item is not NO_REPLY:
                self._replies.append(item)

    # -- receiving --------------------------------------------------------------------

    def take_reply(self, reply: Reply) -> Reply:
        """What a client on a wire reads after a command that has just answered *reply*.

        That is *reply*, unless the command answered by messages, by silence or by hanging
        up: then the first that it sent, which under RESP3 is no message if there is
        anything else; ``NO_REPLY`` if it sent nothing.
        """
        self.queue(reply)
        replies = self._replies
        with self.server.lock:
            if int(self.protocol) == 3 and any(item.__class__ is not Push for item in replies):
                while replies[0].__class__ is Push:
                    self.hear(replies.popleft())
            return replies.popleft() if replies else NO_REPLY

    def take_unread(self) -> list[Reply]:
        """Everything that waits to be read."""
        found = list(self._replies)
        self._replies.clear()
        return found

    def put_back(self, replies: list[Reply]) -> None:
        """Let *replies* wait to be read."""
        self._replies.extend(replies)

    def forget_unread(self, pooled: bool) -> None:
        """What was not read is in the way of the next reply.

        Messages go to their handlers, as RESP3 tells them from replies. Else a *pooled*
        connection is closed, as redis-py's pool does with one that has data when it is taken
        out again.
        """
        if int(self.protocol) == 3 and all(item.__class__ is Push for item in self._replies):
            while self._replies:
                self.hear(self._replies.popleft())
        elif pooled and self._replies:
            self.hang_up()

    def settle(self, reply: Reply) -> Any:
        """The value of a command that has just answered *reply*; an error as exception value.

        None if the command sent nothing, for which a client on a wire would wait for ever.
        """
        found = self.take_reply(reply)
        return None if found is NO_REPLY else self.convert(found)

    def hear(self, message: Reply, disable_decoding: bool = False) -> Any:
        """Give a RESP3 message to its handler; what that returns."""
        raise NotImplementedError

    def convert(self, reply: Reply, disable_decoding: bool = False) -> Any:
        """*reply* as redis-py's parser would deliver it; errors as exception values."""
        client = self.client
        resp = int(self.protocol) if client is None else client.resp
        if disable_decoding or not self.encoder.decode_responses:
            if reply.__class__ is list:
                return [
                    item if item.__class__ is bytes else to_python(item, resp, _as_it_is)
                    for item in reply
                ]
            return to_python(reply, resp, _as_it_is)
        return to_python(reply, resp, self.encoder.decode)


def _as_it_is(value: bytes) -> bytes:
    return value


def _weakly(connection: Session) -> Callable[[], None]:
    """``connection.closed_by_server`` for the server to call, without keeping it alive."""
    ref = weakref.ref(connection)

    def closed_by_server() -> None:
        found = ref()
        if found is not None:
            found.closed_by_server()

    return closed_by_server
