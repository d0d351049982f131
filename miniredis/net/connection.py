"""A redis-py connection that leads into a server of the same process."""

from __future__ import annotations

from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError
from redis.retry import Retry

from miniredis.errors import ServerClosedError
from miniredis.net.push import PushHandlers
from miniredis.net.session import CLOSED_BY_SERVER, Session
from miniredis.reply import BLOCKED, NO_REPLY, Push, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server as BaseServer
from miniredis.server.waiting import US_PER_SECOND, let_time_pass, wait_for_reply

RETRIES = 3  # as often as redis-py itself, but at once: nobody has to come up again


class InProcessConnection(Session, AbstractConnection):
    """A redis-py connection that hands commands to a server directly.

    Whoever reads what has not come yet makes time pass: ``server/waiting.py``.
    """

    def __init__(self, server: BaseServer, **kwargs: Any) -> None:
        if kwargs.get("retry") is None:
            kwargs["retry"] = Retry(NoBackoff(), RETRIES)
        AbstractConnection.__init__(self, **kwargs)
        self._parser = PushHandlers()  # the name by which redis-py finds it
        self._open_session(server)

    # -- connecting -------------------------------------------------------------------

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

    def on_connect(self) -> None:
        """Authenticate, choose protocol and database, set the name."""
        provider = self.credential_provider
        credentials = self._own_credentials() if provider is None else provider.get_credentials()
        for args in self._greeting(credentials):
            self.send_command(*args)
            self.read_response()

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        """Give the server-side client back."""
        self.hang_up()

    def check_health(self) -> None:
        """Nothing can have happened to a call within the process."""

    def _connect(self) -> None:  # pragma: no cover - abstract in redis-py, never called here
        raise NotImplementedError

    def _host_error(self) -> str:
        return "in-process"

    # -- sending ----------------------------------------------------------------------

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
        self.queue(self.process(argv))

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.submit(self.encode_args(args))

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

    def hear(self, message: Reply, disable_decoding: bool = False) -> Any:
        return self._parser.handle_push_response(self.convert(message, disable_decoding))
