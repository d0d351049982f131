"""An asyncio client with the face of a plain one, so that the same tests can run on both."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from miniredis import Server

# Protocols, and whether the client is for asyncio: parameters of fixtures.
KINDS = [(2, False), (3, False), (2, True), (3, True)]
PLAIN = (bytes, str, int, float, bool, type(None), list, tuple, dict, set)


class InLoop:
    """*target* with each coroutine run to its end in a loop of its own, one at a time."""

    def __init__(self, target: Any, loop: asyncio.AbstractEventLoop, lock: Any) -> None:
        self.__dict__.update(_target=target, _loop=loop, _lock=lock)

    def _wrap(self, value: Any) -> Any:
        if inspect.isawaitable(value) and not hasattr(value, "execute_command"):
            return self._wrap(self._run(value))
        if isinstance(value, AsyncIterator):
            return self._iterate(value)
        if value is self._target:
            return self  # as a pipeline does, of which calls are chained
        if callable(value) and not isinstance(value, type):
            return lambda *args, **kwargs: self._wrap(value(*map(self._inner, args), **kwargs))
        plain = isinstance(value, (*PLAIN, type, Exception)) or inspect.isfunction(value)
        return value if plain else InLoop(value, self._loop, self._lock)

    def _inner(self, arg: Any) -> Any:
        """What is given to the client: functions get the plain face of what they get."""
        if inspect.isfunction(arg):
            return lambda *args: arg(*map(self._wrap_argument, args))
        return arg

    def _wrap_argument(self, arg: Any) -> Any:
        return arg if isinstance(arg, PLAIN) else _Nested(arg)

    def _run(self, awaitable: Any) -> Any:
        async def wait() -> Any:
            return await awaitable

        with self._lock:
            return self._loop.run_until_complete(wait())

    def _iterate(self, iterator: AsyncIterator[Any]) -> Iterator[Any]:
        while True:
            try:
                yield self._run(iterator.__anext__())
            except StopAsyncIteration:
                return

    def __getattr__(self, name: str) -> Any:
        return self._wrap(getattr(self._target, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InLoop) and self._target is other._target

    def __hash__(self) -> int:
        return id(self._target)

    def __len__(self) -> int:
        return len(self._target)

    def __enter__(self) -> InLoop:
        self._run(self._target.__aenter__())
        return self

    def __exit__(self, *error: Any) -> None:
        self._run(self._target.__aexit__(*error))

    def close(self) -> None:
        self._run(self._target.aclose())


class _Nested:
    """A pipeline inside of ``transaction()``, whose function may only queue commands."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


class Loop:
    """An event loop that makes such clients, until :meth:`close`."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.lock = threading.Lock()

    def client(self, make: Callable[..., Any], **kwargs: Any) -> Any:
        found = InLoop(make(**kwargs), self.loop, self.lock)
        if kwargs.get("single_connection_client"):
            found.initialize()
        return found

    def close(self) -> None:
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


@contextmanager
def client_of(server: Server, kind: tuple[int, bool], **kwargs: Any) -> Iterator[Any]:
    """A client of *server* of one of the ``KINDS``."""
    protocol, is_async = kind
    if not is_async:
        yield server.client(protocol=protocol, **kwargs)
        return
    loop = Loop()
    yield loop.client(server.async_client, protocol=protocol, **kwargs)
    loop.close()
