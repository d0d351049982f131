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
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlparse

import redis
from redis.client import EMPTY_RESPONSE, NEVER_DECODE
from redis.client import Pipeline as RedisPipeline
from redis.connection import ConnectionPool
from redis.exceptions import ExecAbortError, ResponseError, WatchError

from miniredis.errors import CommandError
from miniredis.net.connection import InProcessConnection
from miniredis.net.values import to_exception
from miniredis.reply import NO_REPLY, Reply, Status
from miniredis.server.server import Server as BaseServer

URL_SCHEME = "miniredis"

# Pool settings that mean something without a socket.
_POOL_SETTINGS = frozenset(
    [
        "db",
        "username",
        "password",
        "client_name",
        "encoding",
        "encoding_errors",
        "decode_responses",
        "protocol",
        "legacy_responses",
        "health_check_interval",
        "retry_on_error",
        "retry",
        "max_connections",
        "credential_provider",
        "redis_connect_func",
    ]
)

# Options that tell the client something and are not for callbacks.
_HINTS = frozenset({"keys", NEVER_DECODE, EMPTY_RESPONSE})


class _Local(threading.local):
    """Each thread's connection for plain commands."""

    connection: InProcessConnection | None = None


class Redis(redis.Redis):
    """A ``redis.Redis`` on a server in this process.

    *server* is the :class:`Server` to use; without one the client gets a server of its
    own under the system clock. All other arguments are redis-py's; those about sockets
    are accepted and ignored.
    """

    def __init__(
        self,
        *args: Any,
        server: BaseServer | None = None,
        connection_pool: ConnectionPool | None = None,
        single_connection_client: bool = False,
        **kwargs: Any,
    ) -> None:
        if server is not None and not isinstance(server, BaseServer):
            raise TypeError(f"server must be a miniredis.Server, not {server!r}")
        if connection_pool is None:
            settings = {k: v for k, v in kwargs.items() if k in _POOL_SETTINGS}
            if len(args) > 2:  # redis.Redis(host, port, db, ...)
                settings.setdefault("db", args[2])
            connection_pool = ConnectionPool(
                connection_class=InProcessConnection, server=server or Server(), **settings
            )
        self.server: BaseServer = connection_pool.connection_kwargs["server"]
        self._local = _Local()
        super().__init__(
            connection_pool=connection_pool, single_connection_client=single_connection_client
        )

    @classmethod
    def from_url(cls, url: str, *, server: BaseServer | None = None, **kwargs: Any) -> Redis:
        """A client for ``miniredis://[user:password@]/[db][?option=value]``.

        Without *server* it gets a server of its own. ``ValueError`` for another scheme.
        """
        parts = urlparse(url)
        if parts.scheme != URL_SCHEME:
            raise ValueError(
                f"a miniredis URL begins with {URL_SCHEME}://, not {parts.scheme}:// "
                "(redis.Redis.from_url connects to real servers)"
            )
        options: dict[str, Any] = {k: v[-1] for k, v in parse_qs(parts.query).items()}
        if "decode_responses" in options:
            options["decode_responses"] = options["decode_responses"].lower() in (
                "1",
                "true",
                "yes",
            )
        for name in ("db", "protocol", "max_connections"):
            if name in options:
                options[name] = int(options[name])
        path = parts.path.strip("/")
        if path:
            if not path.isdigit():
                raise ValueError(f"the path of a miniredis URL is a database number, not {path!r}")
            options.setdefault("db", int(path))
        if parts.username:
            options["username"] = unquote(parts.username)
        if parts.password:
            options["password"] = unquote(parts.password)
        return cls(server=server, **{**options, **kwargs})

    def _thread_connection(self) -> InProcessConnection:
        """This thread's connection for plain commands."""
        connection = self._local.connection
        if connection is None:
            connection = cast(InProcessConnection, self.connection_pool.make_connection())
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
        """Give the connections back. The server goes on."""
        connection, self._local.connection = self._local.connection, None
        if connection is not None:
            connection.disconnect()
        super().close()


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
        with self.server.lock:
            replies = [process(argv) for argv in batch]
        responses = [
            self._response(connection, reply, args[0], options)
            for reply, (args, options) in zip(replies, commands, strict=True)
        ]
        if raise_on_error:
            self.raise_first_error(commands, responses)
        return responses

    def _run_transaction(
        self, connection: InProcessConnection, commands: Any, raise_on_error: bool
    ) -> list[Any]:
        batch = [connection.encode_args(args) for args, _ in commands]
        process = connection.process
        with self.server.lock:
            first = process([b"MULTI"])
            queued = [process(argv) for argv in batch]
            replies = process([b"EXEC"])
        if replies.__class__ is not list:
            self._raise_failed_exec(connection, first, queued, replies, commands)
        if len(replies) != len(commands):
            raise ResponseError("Wrong number of response items from pipeline execution")
        self.watching = False
        responses = [
            self._response(connection, reply, args[0], options)
            for reply, (args, options) in zip(replies, commands, strict=True)
        ]
        if raise_on_error:
            self.raise_first_error(commands, responses)
        return responses

    def _raise_failed_exec(
        self,
        connection: InProcessConnection,
        first: Reply,
        queued: Any,
        reply: Reply,
        commands: Any,
    ) -> None:
        """Raise why EXEC did not run the commands: an error while queueing goes first."""
        response = connection.settle(reply)
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
        raise ResponseError("EXEC of a pipeline was answered by messages to its own client")

    def _response(
        self, connection: InProcessConnection, reply: Reply, name: Any, options: dict[str, Any]
    ) -> Any:
        """The value that the caller gets for one command; an error as exception value."""
        kind = reply.__class__
        if kind is Status and connection.undecoded:
            value = reply.text
        elif kind is int or reply is None:
            value = reply
        elif kind is CommandError:
            return options.get(EMPTY_RESPONSE) or to_exception(reply)
        else:
            value = connection.convert(reply, NEVER_DECODE in options)
        callback = self.response_callbacks.get(name)
        if callback is None:
            return value
        if options:
            options = {k: v for k, v in options.items() if k not in _HINTS}
        return callback(value, **options)


class Server(BaseServer):
    __doc__ = BaseServer.__doc__

    def client(self, **kwargs: Any) -> Redis:
        """A redis-py client of this server; arguments as for :class:`Redis`.

        Any number may be made, each with its own connections and state.
        """
        return Redis(server=self, **kwargs)


__all__ = ["Pipeline", "Redis", "Server"]
