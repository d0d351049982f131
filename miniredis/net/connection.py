"""A redis-py connection that leads into a server of the same process."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import (
    ConnectionError,
)
from redis.retry import Retry

from miniredis.errors import MAX_CLIENTS_REACHED, CommandError, ServerClosedError
from miniredis.net.push import PushHandlers
from miniredis.net.values import as_read, to_exception, to_python
from miniredis.reply import BLOCKED, NO_REPLY, Interleaved, Push, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server as BaseServer
from miniredis.server.waiting import US_PER_SECOND, let_time_pass, wait_for_reply

CLOSED_BY_SERVER = "Connection closed by server."
RETRIES = 3  # as often as redis-py itself, but at once: nobody has to come up again

# A command name as redis-py passes it ("CONFIG GET") as its words.
_names: dict[str, tuple[bytes, ...]] = {}
_NAMES_MAX = 10_000  # names remembered; a client that makes up names must not fill memory


def _split_name(name: str) -> tuple[bytes, ...]:
    words = tuple(name.encode().split()) or (name.encode(),)
    if len(_names) < _NAMES_MAX:
        _names[name] = words
    return words


class InProcessConnection(AbstractConnection):
    """A redis-py connection that hands commands to a server directly.

    It has a server-side client of its own while it is connected. Replies wait in a queue
    until they are read, so that pipelines and pub/sub find them in order. The queue and the
    client's outbox are moved under the server's lock only: one thread may wait for messages
    while another sends commands.
    """

    def __init__(self, server: BaseServer, **kwargs: Any) -> None:
        if kwargs.get("retry") is None:
            kwargs["retry"] = Retry(NoBackoff(), RETRIES)
        AbstractConnection.__init__(self, **kwargs)
        self.server = server
        self._parser = PushHandlers()  # the name by which redis-py finds it
        self.client: Client | None = None
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

    def connect(self) -> None:
        """Get a client of the server and bring it into the state asked for.

        Like redis-py, hangs up again if that fails: a connection that is not where it was
        told to be (another database, another user) must not be used.
        """
        if self.client is not None:
            return
        self._replies.clear()
        self.client = self._new_client()
        self._hung_up = False
        try:
            if self.redis_connect_func is not None:
                cast(Any, self.redis_connect_func)(self)
            else:
                self.on_connect()
        except BaseException:
            self.disconnect()
            raise
        for ref in self._connect_callbacks:
            callback = ref()
            if callback:
                callback(self)

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
        client.on_output = server.unblocked.notify_all
        return client

    def on_connect(self) -> None:
        """Authenticate, choose protocol and database, set the name."""
        assert self.client is not None
        if self.credential_provider is not None:
            self._must("AUTH", *self.credential_provider.get_credentials())
        elif self.username or self.password:
            who = (self.username,) if self.username else ()
            self._must("AUTH", *who, self.password or "")
        self.client.resp = int(self.protocol)
        if self.client_name:
            self._must("CLIENT SETNAME", self.client_name)
        if self.db:
            self._must("SELECT", self.db)

    def _must(self, *args: Any) -> None:
        self.send_command(*args)
        self.read_response()

    def closed_by_server(self) -> None:
        """The server has hung up; whoever uses the connection next gets to know."""
        self.client = None
        self._hung_up = True

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
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

    def check_health(self) -> None:
        """Nothing can have happened to a call within the process."""

    def _connect(self) -> None:  # pragma: no cover - abstract in redis-py, never called here
        raise NotImplementedError

    def _host_error(self) -> str:
        return "in-process"

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

    def process(self, argv: list[bytes]) -> Reply:
        """Run a command on the server and return its reply as the server gives it."""
        client = self.client
        if client is None:
            self.connect()
            client = cast(Client, self.client)
        try:
            reply = self.server.process_command(client, argv)
            if reply is BLOCKED:
                reply = wait_for_reply(self.server, client)
                if self.client is None:
                    self._hung_up = False
                    raise ConnectionError(CLOSED_BY_SERVER)
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        return reply

    def open_turn(self) -> None:
        """What follows is sent at once, as a pipeline is: one turn of the event loop."""
        if self.client is not None:
            self.client.turn_open = True

    def end_turn(self) -> None:
        """All that was sent at once has run."""
        if self.client is not None:
            self.client.turn_open = False
        self.server.end_turn()

    def submit(self, argv: list[bytes]) -> None:
        """Run a command and queue what came of it: messages first, then the reply."""
        if self._hung_up:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        self.queue(self.process(argv))

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
                    self.disconnect()
                    raise
            elif item is not NO_REPLY:
                self._replies.append(item)

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.submit(self.encode_args(args))

    def pack_command(self, *args: Any) -> list[list[bytes]]:
        return [self.encode_args(args)]

    def pack_commands(self, commands: Iterable[tuple[Any, ...]]) -> list[list[bytes]]:
        return [self.encode_args(args) for args in commands]

    def send_packed_command(self, command: list[list[bytes]], check_health: bool = True) -> None:
        for argv in command:
            self.submit(argv)

    # -- receiving --------------------------------------------------------------------

    def can_read(self, timeout: float | None = 0) -> bool:
        """Whether something can be read, waiting up to *timeout* seconds of server time.

        Raises ConnectionError if the server has hung up.
        """
        if self._replies or (self.client is not None and self.client.outbox):
            return True
        if self._hung_up:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        if self.client is None:
            self.connect()
        return timeout != 0 and self._wait_for_output(timeout)

    def _wait_for_output(self, timeout: float | None) -> bool:
        """Let time pass until a message arrives; None waits for ever."""
        server, client = self.server, self.client
        if client is None:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        until = None if timeout is None else server.clock.us() + round(timeout * US_PER_SECOND)
        try:
            arrived = let_time_pass(
                server,
                lambda: bool(self._replies or client.outbox) or self.client is not client,
                until,
            )
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        if self.client is not client and not self._replies:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        return arrived

    def read_response(
        self,
        disable_decoding: bool = False,
        timeout: Any = None,
        *,
        disconnect_on_error: bool = True,
        push_request: bool | None = False,
        **kwargs: Any,
    ) -> Any:
        """The next reply or message; an error reply is raised."""
        wait = timeout if isinstance(timeout, (int, float)) else None
        while True:
            with self.server.lock:
                if self.client is not None and not self._replies:
                    self._take_output(self.client)
                reply = self._replies.popleft() if self._replies else NO_REPLY
            if reply is NO_REPLY:
                if not self._wait_for_output(wait):
                    raise redis.exceptions.TimeoutError("Timeout reading from in-process server")
            elif reply.__class__ is not Push or int(self.protocol) != 3:
                break
            else:
                value = self.hear(reply, disable_decoding)
                if push_request:
                    return value
        value = self.convert(reply, disable_decoding)
        if isinstance(value, Exception):
            raise value
        return value

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

        Messages are dropped, as RESP3 tells them from replies. Else a *pooled* connection is
        closed, as redis-py's pool does with one that has data when it is taken out again.
        """
        if int(self.protocol) == 3 and all(item.__class__ is Push for item in self._replies):
            while self._replies:
                self.hear(self._replies.popleft())
        elif pooled and self._replies:
            self.disconnect()

    def settle(self, reply: Reply) -> Any:
        """The value of a command that has just answered *reply*; an error as exception value.

        None if the command sent nothing, for which a client on a wire would wait for ever.
        """
        found = self.take_reply(reply)
        return None if found is NO_REPLY else self.convert(found)

    def hear(self, message: Reply, disable_decoding: bool = False) -> Any:
        """Give a RESP3 message to its handler; what that returns."""
        return self._parser.handle_push_response(self.convert(message, disable_decoding))

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


def _weakly(connection: InProcessConnection) -> Callable[[], None]:
    """``connection.closed_by_server`` for the server to call, without keeping it alive."""
    ref = weakref.ref(connection)

    def closed_by_server() -> None:
        found = ref()
        if found is not None:
            found.closed_by_server()

    return closed_by_server
