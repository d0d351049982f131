"""Others over TCP while a script takes too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from miniredis import Server
from miniredis.net.tcp import TcpServer
from tests.real.raw import RawClient

THRESHOLD_MS = 10
LOOP = b"while true do end"
Steps = Callable[[int], None]


def against_a_server(steps: Steps) -> Server:
    """Run *steps* in a thread against a TCP server, which is checked afterwards."""
    server = Server(seed=1, busy_reply_threshold=THRESHOLD_MS)

    async def run() -> None:
        tcp = TcpServer(server)
        await tcp.start(port=0)
        await asyncio.to_thread(steps, tcp.address[1])
        server._check()
        await tcp.stop()

    coroutine: Coroutine[None, None, None] = run()
    asyncio.run(asyncio.wait_for(coroutine, 60))
    return server


@pytest.mark.parametrize(
    ("start", "kill", "wrong_kill", "text"),
    [
        ((b"EVAL", LOOP, b"0"), b"SCRIPT", b"FUNCTION", b"SCRIPT KILL or SHUTDOWN NOSAVE."),
        ((b"FCALL", b"f", b"0"), b"FUNCTION", b"SCRIPT", b"FUNCTION KILL or SHUTDOWN NOSAVE."),
    ],
)
def test_others_hear_busy_and_kill(
    start: tuple[bytes, ...], kill: bytes, wrong_kill: bytes, text: bytes
) -> None:
    def steps(port: int) -> None:
        caller, other = RawClient(port), RawClient(port)
        library = b"#!lua name=l\nredis.register_function('f', function() while true do end end)"
        other(b"FUNCTION", b"LOAD", library)
        caller.send(*start)
        caller.send(b"PING")
        busy = b"-BUSY Redis is busy running a script. You can only call " + text + b"\r\n"
        while other(b"GET", b"k") != busy:
            pass  # until it has begun, and taken too long
        assert other(b"PING") == busy
        assert other(wrong_kill, b"KILL") == busy
        assert other(b"MULTI") == b"+OK\r\n"
        assert other(b"DISCARD") == b"+OK\r\n"
        assert other(kill, b"KILL") == b"+OK\r\n"
        assert caller.read().startswith(b"-ERR Script killed by user with SCRIPT KILL...")
        assert caller.read() == b"+PONG\r\n"
        assert other(b"GET", b"k") == b"$-1\r\n"
        assert other(kill, b"KILL").startswith(b"-NOTBUSY")

    against_a_server(steps)


def test_a_writer_goes_on_until_it_ends() -> None:
    def steps(port: int) -> None:
        caller, other = RawClient(port), RawClient(port)
        script = b"redis.call('set', 'k', 1) for i = 1, 2e7 do end return redis.call('get', 'k')"
        caller.send(b"EVAL", script, b"0")
        while not other(b"PING").startswith(b"-BUSY"):
            pass
        assert other(b"SCRIPT", b"KILL").startswith(b"-UNKILLABLE")
        assert caller.read() == b"$1\r\n1\r\n"
        assert other(b"PING") == b"+PONG\r\n"

    against_a_server(steps)
