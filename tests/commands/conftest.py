"""What tests of commands share: a server in virtual time, and a client called with words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from miniredis.clock import FREE, VirtualClock
from miniredis.server.server import Server

START_MS = 1_391_234_400_000
Call = Callable[..., Any]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START_MS)


@pytest.fixture
def server(clock: VirtualClock) -> Iterator[Server]:
    server = Server(clock=clock, seed=1, cost=FREE)
    yield server
    server._check()


@pytest.fixture
def call(server: Server) -> Call:
    """``call("SET k v")`` or ``call("SET", key, value)``: the reply, an error as its text."""
    client = server.create_client()

    def run(*words: object) -> Any:
        if len(words) == 1 and isinstance(words[0], str):
            words = tuple(words[0].split())
        argv = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        reply = server.process_command(client, argv)
        server._check()
        return reply.text.decode() if hasattr(reply, "text") else reply

    return run
