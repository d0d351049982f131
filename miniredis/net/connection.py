"""A redis-py connection that leads into a server of the same process."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, cast

import redis
from redis.connection import AbstractConnection
from redis.exceptions import (
    ConnectionError,
)

from miniredis.errors import ServerClosedError
from miniredis.net.values import as_read, to_python
from miniredis.reply import BLOCKED, NO_REPLY, Interleaved, Push, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server as BaseServer
from miniredis.server.waiting import US_PER_SECOND, let_time_pass, wait_for_reply

CLOSED_BY_SERVER = "Connection closed by server."

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
    until they are read, so that pipelines and pub/sub find them in order.
    """

    def __init__(self, server: BaseServer, **kwargs: Any) -> None:
        AbstractConnection.__init__(self, **kwargs)
        self.server = server
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
        """Get a client of the server and bring it into the state asked for."""
        if self.client is not None:
            return
        try:
            self.client = self.server.create_client()
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        self._hung_up = False
        self.client.on_close = self._closed_by_server
        self.client.on_output = self.server.unblocked.notify_all
        self._replies.clear()
        if self.redis_connect_func is not None:
            cast(Any, self.redis_connect_func)(self)
        else:
            self.on_connect()
        for ref in self._connect_callbacks:
            callback = ref()
            if callback:
                callback(self)

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

    def _closed_by_server(self) -> None:
        self.client = None
        self._hung_up = True

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        """Give the server-side client back."""
        client, self.client = self.client, None
        self._replies.clear()
        if client is not None:
            self.server.free_client(client)

    def __del__(self) -> None:
        client = self.__dict__.get("client")
        if client is not None:
            self.server.free_client(client)

    def check_health(self) -> None:
        """Nothing can have happened to a call within the process."""

    def _connect(self) -> None:  # pragma: no cover - abstract in redis-py, never called here
        raise NotImplementedError

    def _host_error(self) -> str:
        return "in-process"

    # -- sending ----------------------------------------------------------------------

    def encode_args(self, args: tuple[Any, ...]) -> list[bytes]:
        """Arguments as bytes, by redis-py's rules; ``DataError`` for other types."""
        name = args[0]
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

    def submit(self, argv: list[bytes]) -> None:
        """Run a command and queue what came of it: messages first, then the reply."""
        if self._hung_up:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        reply = self.process(argv)
        client = self.client
        if client is not None:
            self._take_output(client)
        if reply is not NO_REPLY:
            self._replies.append(reply)
        if client is not None and client.close_after_reply:
            self.disconnect_keeping_replies()

    def disconnect_keeping_replies(self) -> None:
        """The server hangs up after this reply (QUIT)."""
        replies = list(self._replies)
        self.disconnect()
        self._replies.extend(replies)

    def _take_output(self, client: Client) -> None:
        outbox = client.outbox
        while outbox:
            item = outbox.popleft()
            if item.__class__ is Interleaved:
                self._replies.extend(as_read(item, client.resp))
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
        """Whether something can be read, waiting up to *timeout* seconds of server time."""
        if self._replies or (self.client is not None and self.client.outbox):
            return True
        if timeout == 0 or self.client is None:
            return False
        return self._wait_for_output(timeout)

    def _wait_for_output(self, timeout: float | None) -> bool:
        """Let time pass until a message arrives; None waits for ever."""
        server, client = self.server, self.client
        assert client is not None
        until = None if timeout is None else server.clock.us() + round(timeout * US_PER_SECOND)
        try:
            arrived = let_time_pass(
                server, lambda: bool(client.outbox) or self.client is None, until
            )
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        if self.client is None:
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
        while True:
            if not self._replies:
                if self.client is None:
                    raise ConnectionError(CLOSED_BY_SERVER)
                if not self.client.outbox:
                    wait = timeout if isinstance(timeout, (int, float)) else None
                    if not self._wait_for_output(wait):
                        raise redis.exceptions.TimeoutError(
                            "Timeout reading from in-process server"
                        )
                self._take_output(self.client)
            reply = self._replies.popleft()
            if isinstance(reply, Push) and self.protocol == 3 and not push_request:
                continue  # a RESP3 client without a handler drops messages
            break
        value = self.convert(reply, disable_decoding)
        if isinstance(value, Exception):
            raise value
        return value

    def settle(self, reply: Reply) -> Any:
        """The value of a command that has just answered *reply*; an error as exception value.

        A command that answered by messages, with silence, or by hanging up is settled by
        what it sent; None if that is nothing.
        """
        client = self.client
        if client is not None and not client.outbox and reply is not NO_REPLY:
            return self.convert(reply)
        if client is not None:
            self._take_output(client)
        if reply is not NO_REPLY:
            self._replies.append(reply)
        if client is not None and client.close_after_reply:
            self.disconnect_keeping_replies()
        if not self._replies:
            return None
        try:
            return self.read_response(push_request=True)
        except redis.exceptions.RedisError as error:
            return error

    def convert(self, reply: Reply, disable_decoding: bool = False) -> Any:
        """*reply* as redis-py's parser would deliver it; errors as exception values."""
        if disable_decoding or not self.encoder.decode_responses:
            if reply.__class__ is list:
                resp = int(self.protocol)
                return [
                    item if item.__class__ is bytes else to_python(item, resp, _as_it_is)
                    for item in reply
                ]
            return to_python(reply, int(self.protocol), _as_it_is)
        return to_python(reply, int(self.protocol), self.encoder.decode)


def _as_it_is(value: bytes) -> bytes:
    return value
