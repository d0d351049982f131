"""redis-py's client for asyncio without a wire.

:class:`Redis` is a ``redis.asyncio.Redis`` whose connections lead into a :class:`Server` of
the same process. Pipelines, locks, scripts, pub/sub and MONITOR are redis-py's own. A command
that waits lets the event loop go on; ``net/async_waiting.py`` says how time passes meanwhile.
"""

from __future__ import annotations

import inspect
from typing import Any, cast

import redis.asyncio
from redis.asyncio.connection import ConnectionPool
from redis.client import EMPTY_RESPONSE, NEVER_DECODE

from miniredis.errors import CommandError
from miniredis.net.arguments import checked_pool, named_arguments, pool_settings, url_arguments
from miniredis.net.async_connection import AsyncInProcessConnection
from miniredis.net.client import Server
from miniredis.net.values import to_exception
from miniredis.reply import NO_REPLY, Reply
from miniredis.server.server import Server as BaseServer

# Options that tell the client something and are not for callbacks.
_HINTS = frozenset({"keys", NEVER_DECODE, EMPTY_RESPONSE})


class Redis(redis.asyncio.Redis):
    """A ``redis.asyncio.Redis`` on a server in this process.

    *server* is the :class:`Server` to use; without one the client gets a server of its own
    under the system clock. All other arguments are redis-py's; those about sockets are accepted
    and ignored. ``TypeError`` for an argument that redis-py does not know, ``ValueError`` for
    one that has no meaning here.

    The client may be made outside of a loop. Its connections belong to the loop that uses them.
    """

    def __init__(self, *, server: BaseServer | None = None, **kwargs: Any) -> None:
        if server is not None and not isinstance(server, BaseServer):
            raise TypeError(f"server must be a miniredis.Server, not {server!r}")
        arguments = named_arguments((), kwargs, redis.asyncio.Redis)
        given = arguments.pop("connection_pool", None)
        if given is None:
            settings = pool_settings(arguments, redis.asyncio.Redis)
            pool = ConnectionPool(
                connection_class=AsyncInProcessConnection,
                server=Server() if server is None else server,
                **settings,
            )
        else:
            pool = checked_pool(given, server, ConnectionPool, AsyncInProcessConnection)
        self.server: BaseServer = pool.connection_kwargs["server"]
        super().__init__(
            connection_pool=pool,
            single_connection_client=arguments.get("single_connection_client", False),
        )
        self.auto_close_connection_pool = given is None

    @classmethod
    def from_url(cls, url: str, *, server: BaseServer | None = None, **kwargs: Any) -> Redis:  # type: ignore[override]
        """A client for ``miniredis://[user:password@]/[db][?option=value]``.

        Without *server* it gets a server of its own. ``ValueError`` for another scheme, an
        unknown option or a bad value.
        """
        return cls(server=server, **{**url_arguments(url), **kwargs})

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command and return its reply, as ``redis.asyncio.Redis`` does."""
        await self.initialize()
        if not self.single_connection_client:
            pool = self.connection_pool
            connection = cast(AsyncInProcessConnection, await pool.get_connection())
            try:
                return await self._call(connection, args, options)
            finally:
                await pool.release(connection)
        async with self._single_conn_lock:
            return await self._call(cast(Any, self.connection), args, options)

    async def _call(
        self, connection: AsyncInProcessConnection, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        reply = await connection.call(connection.encode_args(args))
        value = self._value(connection, reply, options)
        await connection.tell_handlers()
        if isinstance(value, Exception):
            if EMPTY_RESPONSE in options and isinstance(value, redis.ResponseError):
                return options[EMPTY_RESPONSE]
            raise value
        callback = self.response_callbacks.get(args[0])
        if callback is None:
            return value
        value = callback(value, **{k: v for k, v in options.items() if k not in _HINTS})
        return await value if inspect.isawaitable(value) else value

    def _value(
        self, connection: AsyncInProcessConnection, reply: Reply, options: dict[str, Any]
    ) -> Any:
        """What the command's *reply* is in Python; an error as exception value."""
        client = connection.client
        if (
            client is None
            or client.outbox
            or reply is NO_REPLY
            or (client.flags and client.close_after_reply)
        ):
            value = connection.settle(reply)
            connection.forget_unread(pooled=self.connection is None)
            return value
        if reply.__class__ is CommandError:
            return to_exception(reply)
        return connection.convert(reply, NEVER_DECODE in options)


__all__ = ["Redis"]
