"""The redis-py client without a wire.

:class:`Redis` is a ``redis.Redis`` whose connections lead into a :class:`Server` of the
same process. Everything of redis-py works on it: pipelines, locks, scripts, pub/sub. A
plain command takes a short way past pool, packing and parsing.

Differs from a remote client: one call is one turn of the server's event loop; arguments
such as ``host`` and ``port`` are accepted and mean nothing.
"""

from __future__ import annotations

import threading
from functools import update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import redis
from redis.client import EMPTY_RESPONSE, NEVER_DECODE
from redis.client import Pipeline as RedisPipeline
from redis.connection import ConnectionPool
from redis.exceptions import ConnectionError, ExecAbortError, ResponseError, WatchError

from miniredis.errors import CommandError
from miniredis.net.arguments import checked_pool, named_arguments, new_pool, url_arguments
from miniredis.net.connection import InProcessConnection
from miniredis.net.dial import dial
from miniredis.net.session import CLOSED_BY_SERVER
from miniredis.net.values import to_exception
from miniredis.reply import NO_REPLY, Push, Reply, Status
from miniredis.server.client import Client
from miniredis.server.server import Server as BaseServer

if TYPE_CHECKING:
    from miniredis.net.async_client import Redis as AsyncRedis

# Options that tell the client something and are not for callbacks.
_HINTS = frozenset({"keys", NEVER_DECODE, EMPTY_RESPONSE})


class _Lease:
    """A thread's connection for plain commands; goes back to its pool when the thread ends."""

    __slots__ = ("connection", "pool")

    def __init__(self, pool: ConnectionPool, connection: InProcessConnection) -> None:
        self.pool = pool
        self.connection = connection

    def __del__(self) -> None:
        self.pool.release(cast(Any, self.connection))


class _Local(threading.local):
    """What each thread has for itself. ``connection`` is the lease's, one step nearer."""

    connection: InProcessConnection | None = None
    lease: _Lease | None = None


class Redis(redis.Redis):
    """A ``redis.Redis`` on a server in this process.

    *server* is the :class:`Server` to use; without one the client gets a server of its
    own under the system clock. All other arguments are redis-py's; those about sockets
    are accepted and ignored. ``TypeError`` for an argument that redis-py does not know,
    ``ValueError`` for one that has no meaning here.
    """

    def __init__(self, *args: Any, server: BaseServer | None = None, **kwargs: Any) -> None:
        if server is not None and not isinstance(server, BaseServer):
            raise TypeError(f"server must be a miniredis.Server, not {server!r}")
        arguments = named_arguments(args, kwargs)
        given = arguments.pop("connection_pool", None)
        if given is None:
            pool = new_pool(Server() if server is None else server, arguments)
        else:
            pool = checked_pool(given, server)
        self.server: BaseServer = pool.connection_kwargs["server"]
        self._local = _Local()
        super().__init__(
            connection_pool=pool,
            single_connection_client=arguments.get("single_connection_client", False),
        )
        self.auto_close_connection_pool = given is None

    @classmethod
    def from_url(cls, url: str, *, server: BaseServer | None = None, **kwargs: Any) -> Redis:
        """A client for ``miniredis://[user:password@]/[db][?option=value]``.

        Without *server* it gets a server of its own. ``ValueError`` for another scheme, an
        unknown option or a bad value.
        """
        return cls(server=server, **{**url_arguments(url), **kwargs})

    def _thread_connection(self) -> InProcessConnection:
        """This thread's connection for plain commands, lent by the pool."""
        connection = cast(InProcessConnection, self.connection_pool.get_connection())
        self._local.lease = _Lease(self.connection_pool, connection)
        self._local.connection = connection
        return connection

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command and return its reply, as ``redis.Redis`` does."""
        connection: InProcessConnection = (
            self.connection or self._local.connection or self._thread_connection()  # type: ignore[assignment]
        )
        reply = connection.process(connection.encode_args(args))
        client = connection.client
        kind = reply.__class__
        if (
            client is None
            or client.outbox
            or reply is NO_REPLY
            or (client.flags and client.close_after_reply)
        ):
            value = connection.settle(reply)
            connection.forget_unread(pooled=self.connection is None)
            if isinstance(value, Exception):
                raise value
        elif kind is int or reply is None or (kind is bytes and connection.undecoded):
            value = reply
        elif kind is CommandError:
            if EMPTY_RESPONSE in options:
                return options[EMPTY_RESPONSE]
            raise to_exception(reply)
        elif kind is Status and connection.undecoded:
            value = reply.text
        else:
            value = connection.convert(reply, NEVER_DECODE in options)
        name = args[0]
        callback = dict.get(self.response_callbacks, name)
        if callback is None:
            if not isinstance(name, str) or name.isupper():
                return value
            callback = self.response_callbacks.get(name)
            if callback is None:
                return value
        if options:
            options = {k: v for k, v in options.items() if k not in _HINTS}
        return callback(value, **options)

    def set(
        self, name: Any, value: Any, ex: Any = None, px: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        # The usual forms take a short way past redis-py's checks of seventeen options, which
        # cost as much as the server does.
        if not args and not kwargs:
            if ex is None:
                if px is None:
                    return self.execute_command("SET", name, value)
                if px.__class__ is int:
                    return self.execute_command("SET", name, value, "PX", px)
            elif px is None and ex.__class__ is int:
                return self.execute_command("SET", name, value, "EX", ex)
        return super().set(name, value, ex, px, *args, **kwargs)

    update_wrapper(set, redis.Redis.set)  # its documentation and signature

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:
        """A pipeline of commands; a transaction unless told otherwise."""
        return Pipeline(
            self.connection_pool, self.response_callbacks, transaction, shard_hint, self._local
        )

    def close(self) -> None:
        """Close the connections. The server goes on, and so may the client."""
        connection, self._local.connection = self._local.connection, None
        self._local.lease = None
        if connection is not None:
            connection.disconnect()
        super().close()

    def __del__(self) -> None:
        """Nothing: connections end by themselves with the last that holds them."""


class Pipeline(RedisPipeline, Redis):
    """redis-py's pipeline with the commands run directly.

    Nothing can be lost on a wire, so there is no retry. Unless it watches keys, it uses
    its thread's connection, as redis-py's pool would give it.
    """

    def __init__(
        self,
        connection_pool: Any,
        response_callbacks: Any,
        transaction: Any,
        shard_hint: Any,
        local: _Local,
    ) -> None:
        RedisPipeline.__init__(self, connection_pool, response_callbacks, transaction, shard_hint)
        self.server = connection_pool.connection_kwargs["server"]
        self._local = local

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Queue a command; while keys are watched, run it at once."""
        if self.watching or args[0] == "WATCH":
            return RedisPipeline.execute_command(self, *args, **options)
        self.command_stack.append((args, options))
        return self

    def close(self) -> None:
        """Forget what is queued and watch nothing."""
        self.reset()

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Run the queued commands; their replies in order.

        The first error among them is raised, or stands in the list if *raise_on_error* is
        false. ``WatchError`` if a watched key was changed or the connection was closed.
        """
        stack = self.command_stack
        if not stack and not self.watching:
            return []
        try:
            if self.scripts:
                self.load_scripts()
            connection = cast("InProcessConnection | None", self.connection)
            if connection is None:
                connection = self._local.connection or self._thread_connection()
            elif self.watching and connection.client is None:
                raise WatchError("the connection was closed while it watched keys")
            is_transaction = self.__dict__["transaction"] or self.explicit_transaction
            run = self._run_transaction if is_transaction else self._run_pipeline
            return run(connection, stack, raise_on_error)
        finally:
            self.reset()

    def _run_pipeline(
        self, connection: InProcessConnection, commands: Any, raise_on_error: bool
    ) -> list[Any]:
        encode, process = connection.encode_args, connection.process
        # All arguments first: a bad one raises before anything has run.
        batch = [encode(args) for args, _ in commands]
        connection.connect()
        outbox = cast(Client, connection.client).outbox
        replies: list[Reply] = []
        odd = False  # whether anything but one reply to each command was sent
        with self.server.lock:
            connection.open_turn()
            for argv in batch:
                reply = process(argv)
                if outbox or reply is NO_REPLY:
                    odd = True
                    connection.queue(reply)
                    replies += connection.take_unread()
                    if connection.client is None:
                        break
                else:
                    replies.append(reply)
            connection.end_turn()
            self._notice_end(connection)
        if odd:
            self._check_count(connection, replies, len(commands))
        responses = self._responses(connection, replies, commands)
        if raise_on_error:
            self.raise_first_error(commands, responses)
        return responses

    def _check_count(
        self, connection: InProcessConnection, replies: list[Reply], expected: int
    ) -> None:
        """Leave in *replies* what redis-py would read for *expected* commands.

        ``ConnectionError`` if that is too little; a client on a wire would wait for ever.
        """
        if int(connection.protocol) == 3:
            for message in [reply for reply in replies if reply.__class__ is Push]:
                connection.hear(message)
            replies[:] = [reply for reply in replies if reply.__class__ is not Push]
        if len(replies) < expected:
            closed = connection.client is None
            connection.disconnect()
            if closed:
                raise ConnectionError(CLOSED_BY_SERVER)
            raise ConnectionError(
                f"the pipeline sent {expected} commands and got {len(replies)} replies: one of "
                "the commands has no reply of its own (SUBSCRIBE under RESP3, CLIENT REPLY)"
            )
        connection.put_back(replies[expected:])
        connection.forget_unread(pooled=self.connection is None)
        del replies[expected:]

    def _notice_end(self, connection: InProcessConnection) -> None:
        """Hang up if a command has told the server to (QUIT, CLIENT KILL of oneself)."""
        client = connection.client
        if client is not None and client.flags and client.close_after_reply:
            connection.queue(NO_REPLY)

    def _run_transaction(
        self, connection: InProcessConnection, commands: Any, raise_on_error: bool
    ) -> list[Any]:
        batch = [connection.encode_args(args) for args, _ in commands]
        process = connection.process
        with self.server.lock:
            first = process([b"MULTI"])
            connection.open_turn()
            queued = [process(argv) for argv in batch]
            replies = process([b"EXEC"])
            connection.end_turn()
            if replies.__class__ is not list:
                replies = self._unusual_exec(connection, first, queued, replies, commands)
            elif cast(Client, connection.client).flags:
                self._notice_end(connection)
        if len(replies) != len(commands):
            raise ResponseError("Wrong number of response items from pipeline execution")
        self.watching = False
        responses = self._responses(connection, replies, commands)
        if raise_on_error:
            self.raise_first_error(commands, responses)
        return responses

    def _unusual_exec(
        self,
        connection: InProcessConnection,
        first: Reply,
        queued: Any,
        reply: Reply,
        commands: Any,
    ) -> list[Reply]:
        """EXEC's replies if it sent them among messages; else raise why it has none.

        An error while queueing goes first.
        """
        found = connection.take_reply(reply)
        connection.forget_unread(pooled=self.connection is None)
        if found is NO_REPLY:
            closed = connection.client is None
            connection.disconnect()
            raise ConnectionError(CLOSED_BY_SERVER if closed else "EXEC was not answered")
        if found.__class__ is list:
            return found
        response = connection.convert(found)
        if isinstance(response, ExecAbortError):
            if first.__class__ is CommandError:
                raise to_exception(first)
            for i, error_or_queued in enumerate(queued):
                if error_or_queued.__class__ is CommandError:
                    error = to_exception(error_or_queued)
                    self.annotate_exception(error, i + 1, commands[i][0])
                    raise error
        if isinstance(response, Exception):
            raise response
        if response is None:
            raise WatchError("Watched variable changed.")
        raise ResponseError(f"EXEC was answered by {response!r}")

    def _responses(
        self, connection: InProcessConnection, replies: list[Reply], commands: Any
    ) -> list[Any]:
        """The values that the caller gets, one for each command; errors as exception values."""
        undecoded, convert = connection.undecoded, connection.convert
        callbacks = self.response_callbacks
        responses = []
        for reply, (args, options) in zip(replies, commands, strict=True):
            kind = reply.__class__
            if kind is Status and undecoded:
                value = reply.text
            elif kind is int or reply is None:
                value = reply
            elif kind is CommandError:
                responses.append(options.get(EMPTY_RESPONSE) or to_exception(reply))
                continue
            else:
                value = convert(reply, NEVER_DECODE in options)
            name = args[0]
            # As in Redis.execute_command: most names stand there as they are sent.
            callback = dict.get(callbacks, name)
            if callback is None and not (isinstance(name, str) and name.isupper()):
                callback = callbacks.get(name)
            if callback is not None:
                if options:
                    options = {k: v for k, v in options.items() if k not in _HINTS}
                value = callback(value, **options)
            responses.append(value)
        return responses


class Server(BaseServer):
    __doc__ = BaseServer.__doc__
    dial = staticmethod(dial)

    def client(self, **kwargs: Any) -> Redis:
        """A redis-py client of this server; arguments as for :class:`Redis`.

        Any number may be made, each with its own connections and state.
        """
        return Redis(server=self, **kwargs)

    def async_client(self, **kwargs: Any) -> AsyncRedis:
        """A client of this server for asyncio; arguments as for ``miniredis.asyncio.Redis``."""
        # By name: that module imports this one, and only who asks for it has to wait for it.
        module = import_module("miniredis.net.async_client")
        return cast("AsyncRedis", module.Redis(server=self, **kwargs))


__all__ = ["Pipeline", "Redis", "Server"]
