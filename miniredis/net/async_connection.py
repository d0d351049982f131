"""A connection of redis-py's asyncio client that leads into a server of the same process."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, cast

from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError

from miniredis.commands.blocking import NO_TIMEOUT
from miniredis.commands.client_flags import CLIENT_MONITOR, CLIENT_PUBSUB
from miniredis.errors import ServerClosedError, WaitForeverError
from miniredis.net.async_waiting import Bell, alone, let_time_pass
from miniredis.net.connection import RETRIES
from miniredis.net.session import CLOSED_BY_SERVER, Session
from miniredis.reply import BLOCKED, NO_REPLY, Push, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server as BaseServer
from miniredis.server.waiting import PATIENCE_US, US_PER_SECOND, reply_after_waiting


class AsyncInProcessConnection(Session, AbstractConnection):  # type: ignore[misc]
    """A connection that hands commands to a server directly, and waits without blocking the loop.

    Commands sent while one of them waits are kept until it has its reply, as a server leaves
    them unread.
    """

    def __init__(self, server: BaseServer, **kwargs: Any) -> None:
        if kwargs.get("retry") is None:
            kwargs["retry"] = Retry(NoBackoff(), RETRIES)
        AbstractConnection.__init__(self, **kwargs)
        self._bell = Bell()
        self._unsent: deque[list[bytes]] = deque()
        self._unheard: deque[Any] = deque()  # messages for handlers, which must be awaited
        self._open_session(server)

    # -- connecting -------------------------------------------------------------------

    def _output_listener(self) -> Callable[[], None]:
        bell, others = self._bell, self.server.unblocked

        def output_came() -> None:
            bell.ring()
            others.notify_all()

        return output_came

    def closed_by_server(self) -> None:
        super().closed_by_server()
        self._bell.ring()

    async def connect(self) -> None:
        """Get a client of the server and bring it into the state asked for.

        Like redis-py, hangs up again if that fails.
        """
        if self.client is not None:
            return
        self._replies.clear()
        self._unsent.clear()
        self.client = self._new_client()
        self._hung_up = False
        try:
            if self.redis_connect_func is None:
                await self.on_connect()
            else:
                found = cast(Any, self.redis_connect_func)(self)
                if hasattr(found, "__await__"):
                    await found
        except BaseException:
            self.hang_up()
            raise
        for ref in self._connect_callbacks:
            callback = ref()
            if callback:
                task = cast(Any, callback)(self)
                if hasattr(task, "__await__"):
                    await task

    async def connect_check_health(self, *args: Any, **kwargs: Any) -> None:
        """As :meth:`connect`; nothing else can have happened within the process."""
        await self.connect()

    async def on_connect(self) -> None:
        """Authenticate, choose protocol and database, set the name."""
        provider = self.credential_provider
        credentials = (
            self._own_credentials() if provider is None else await provider.get_credentials_async()
        )
        for args in self._greeting(credentials):
            await self.send_command(*args)
            await self.read_response()

    def hang_up(self) -> None:
        self._unsent.clear()
        super().hang_up()

    async def disconnect(self, *args: Any, **kwargs: Any) -> None:
        """Give the server-side client back."""
        self.hang_up()

    def _close(self) -> None:
        """As :meth:`disconnect`; redis-py calls it where nothing can be awaited."""
        client, self.client = self.client, None
        if client is not None:
            self.server.free_client_async(client)

    async def check_health(self) -> None:
        """Nothing can have happened to a call within the process."""

    async def _connect(self) -> None:  # pragma: no cover - abstract in redis-py, never called
        raise NotImplementedError

    def _host_error(self) -> str:
        return "in-process"

    # -- sending ----------------------------------------------------------------------

    async def send_command(self, *args: Any, **kwargs: Any) -> None:
        await self.send_packed_command([self.encode_args(args)])

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        """Run commands, each a list of arguments; those after one that waits run later."""
        if self._hung_up:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        if self.client is None:
            await self.connect()
        self._unsent.extend(command)
        self._send()

    def _send(self) -> None:
        """Run what has been sent, up to a command that waits."""
        unsent = self._unsent
        self.open_turn()
        try:
            while unsent and self.client is not None and not self.client.blocked:
                reply = self.server.process_command(self.client, unsent.popleft())
                if reply is not BLOCKED:
                    self.queue(reply)
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        finally:
            self.end_turn()

    async def call(self, argv: list[bytes]) -> Reply:
        """Run a command, wait if it has to, and return its reply as the server gives it."""
        if self.client is None:
            await self.connect()
        client = cast(Client, self.client)
        try:
            reply = self.server.process_command(client, argv)
            if reply is BLOCKED:
                reply = await self._wait_for_reply(client)
        except ServerClosedError as error:
            raise ConnectionError(str(error)) from None
        except BaseException:
            self.hang_up()  # cancelled: the reply of what it waits for must not be read by others
            raise
        return reply

    async def _wait_for_reply(self, c: Client) -> Reply:
        """Wait until a blocked client has its reply, and return it."""
        await self._wait_while_blocked(c)
        if self.client is not c:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        return reply_after_waiting(self.server, c)

    async def _wait_while_blocked(self, c: Client) -> None:
        server, bell = self.server, self._bell

        def ready() -> bool:
            return not c.blocked or self.client is not c

        while not ready():
            state = c.bpop
            if c.held_back:  # the command, when it runs, may wait in its turn
                await let_time_pass(server, lambda: not c.held_back or ready(), bell)
            elif server.clock.virtual and state is not None and state.timeout == NO_TIMEOUT:
                until = server.clock.us() + PATIENCE_US if alone() else None
                if not await let_time_pass(server, ready, bell, until):
                    self._give_up(c)
            else:
                await let_time_pass(server, ready, bell)

    def _give_up(self, c: Client) -> None:
        if not alone():
            return  # a task that has come meanwhile may bring it
        name = "" if c.lastcmd is None else c.lastcmd.name.upper()
        self.server.kill_client(c)
        raise WaitForeverError(
            f"{name} would wait for ever: it has no time-out, the clock is virtual, this is the "
            "only task of the loop, and an hour of virtual time has brought nothing"
        )

    # -- receiving --------------------------------------------------------------------

    async def can_read(self) -> bool:
        """Whether something waits to be read. ConnectionError if the server has hung up."""
        if self._replies or (self.client is not None and self.client.outbox):
            return True
        if self._hung_up:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        return False

    async def can_read_destructive(self) -> bool:
        """The older name of :meth:`can_read`."""
        return await self.can_read()

    async def read_response(
        self,
        disable_decoding: bool = False,
        timeout: float | None = None,
        *,
        disconnect_on_error: bool = True,
        push_request: bool | None = False,
        **kwargs: Any,
    ) -> Any:
        """The next reply or message; an error reply is raised.

        None if nothing comes within *timeout* seconds of the server's time.
        """
        until = None
        if timeout is not None and timeout != math.inf:
            until = self.server.clock.us() + round(timeout * US_PER_SECOND)
        try:
            reply = await self._next_reply(until, push_request=bool(push_request))
            if reply is NO_REPLY:
                return None
            if reply.__class__ is Push and int(self.protocol) == 3:
                return await self._handle(self.convert(reply, disable_decoding))
        except BaseException:
            if disconnect_on_error:
                self.hang_up()
            raise
        value = self.convert(reply, disable_decoding)
        if isinstance(value, Exception):
            raise value
        return value

    async def _next_reply(self, until: int | None, push_request: bool) -> Reply:
        """The next reply, ``NO_REPLY`` if the instant *until* comes first."""
        while True:
            self._send()
            with self.server.lock:
                if self.client is not None and not self._replies:
                    self._take_output(self.client)
                reply = self._replies.popleft() if self._replies else NO_REPLY
            if reply is not NO_REPLY:
                if reply.__class__ is not Push or int(self.protocol) != 3 or push_request:
                    return reply
                await self._handle(self.convert(reply))
            elif not await self._wait_for_output(until, push_request):
                return NO_REPLY

    def hear(self, message: Reply, disable_decoding: bool = False) -> Any:
        """Keep a RESP3 message for :meth:`tell_handlers`."""
        self._unheard.append(self.convert(message, disable_decoding))

    async def tell_handlers(self) -> None:
        """Give the messages that came with a reply to their handlers."""
        while self._unheard:
            await self._handle(self._unheard.popleft())

    async def _handle(self, message: Any) -> Any:
        """Give a RESP3 message to its handler in redis-py's parser; what that returns."""
        return await cast(Any, self._parser).handle_push_response(message)

    async def _wait_for_output(self, until: int | None, push_request: bool) -> bool:
        """Let time pass until something can be read; False if *until* comes first."""
        client = self.client
        if client is None:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        if client.blocked and until is None:
            await self._wait_while_blocked(client)
        elif not (client.blocked or push_request or self._may_get_messages(client)):
            raise ConnectionError(
                "there is nothing to read: a command has no reply of its own (SUBSCRIBE under "
                "RESP3, CLIENT REPLY)"
            )
        elif not await let_time_pass(
            self.server,
            lambda: bool(client.outbox) or self.client is not client,
            self._bell,
            until,
        ):
            return False
        if self.client is not client and not self._replies:
            self._hung_up = False
            raise ConnectionError(CLOSED_BY_SERVER)
        return True

    def _may_get_messages(self, client: Client) -> bool:
        resp2_subscriber = int(self.protocol) == 2 and client.flags & CLIENT_PUBSUB
        return bool(resp2_subscriber or client.flags & CLIENT_MONITOR)
