"""Others over TCP while a script takes too long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from miniredis import Server, SystemClock
from miniredis.net.tcp import TcpServer
from tests.real.raw import RawClient

TIMEOUT_S = 20
LOOP = b"while true do end"
LIBRARY = b"#!lua name=l\nredis.register_function('f', function() while true do end end)"
BUSY = b"-BUSY Redis is busy running a script. You can only call %s or SHUTDOWN NOSAVE.\r\n"
BUSY_EVAL, BUSY_FUNCTION = BUSY % b"SCRIPT KILL", BUSY % b"FUNCTION KILL"
# A script of this kind ends when the test says so, whatever the machine's speed.
WRITES_AND_LASTS = b"redis.call('set', 'k', 1) while not redis.call('get', 'end') do end return 7"
OK = b"+OK\r\n"


class Busy:
    """A TCP server on whose loop scripts may be slow. Steps of a test run in its own thread."""

    def __init__(self, clock: SystemClock | None = None) -> None:
        self.server = Server(clock, seed=1, busy_reply_threshold=1, enable_debug_command="yes")
        self.tcp = TcpServer(self.server)
        self.slow = threading.Event()  # a script has taken too long
        self.errors: list[object] = []
        self.clients: list[RawClient] = []
        ready = threading.Event()
        self.server.scripting.while_blocked.append(self.slow.set)

        async def run() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: self.errors.append(context))
            await self.tcp.start(port=0)
            ready.set()
            await self.tcp.finished.wait()

        self.thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        self.thread.start()
        assert ready.wait(TIMEOUT_S)

    def client(self) -> RawClient:
        self.clients.append(RawClient(self.tcp.address[1]))
        return self.clients[-1]

    def start(self, *argv: bytes) -> RawClient:
        """A client whose command has taken too long."""
        caller = self.client()
        self.slow.clear()
        caller.send(*argv)
        assert self.slow.wait(TIMEOUT_S), "the script did not become slow"
        return caller

    def end_writer(self) -> None:
        """Let a script WRITES_AND_LASTS end."""
        with self.server.lock:
            db = self.server.databases[0]
            db.add(b"end", db.dict.find(b"k").val)  # type: ignore[union-attr]

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        self.server.close()
        self.thread.join(TIMEOUT_S)
        assert not self.thread.is_alive(), "the loop did not end"
        assert not self.errors


@pytest.fixture
def busy() -> Iterator[Busy]:
    busy = Busy()
    yield busy
    busy.stop()


@pytest.mark.parametrize(
    ("start", "kill", "wrong_kill", "heard"),
    [
        ((b"EVAL", LOOP, b"0"), b"SCRIPT", b"FUNCTION", BUSY_EVAL),
        ((b"FCALL", b"f", b"0"), b"FUNCTION", b"SCRIPT", BUSY_FUNCTION),
    ],
)
def test_others_hear_busy_and_kill(
    busy: Busy, start: tuple[bytes, ...], kill: bytes, wrong_kill: bytes, heard: bytes
) -> None:
    other = busy.client()
    other(b"FUNCTION", b"LOAD", LIBRARY)
    caller = busy.start(*start)
    caller.send(b"PING")
    assert other(b"GET", b"k") == heard
    assert other(b"PING") == heard
    assert other(wrong_kill, b"KILL") == heard
    assert other(kill, b"KILL") == OK
    assert caller.read().startswith(b"-ERR Script killed by user with SCRIPT KILL...")
    assert caller.read() == b"+PONG\r\n"
    assert other(b"GET", b"k") == b"$-1\r\n"
    assert other(kill, b"KILL").startswith(b"-NOTBUSY")


def test_what_may_be_sent_meanwhile(busy: Busy) -> None:
    caller = busy.start(b"EVAL", LOOP, b"0")
    other = busy.client()  # who connects meanwhile is served too
    assert other(b"HELLO", b"3").startswith(b"%7\r\n")
    assert other(b"AUTH", b"x").startswith(b"-ERR AUTH <password> called without any password")
    assert other(b"WATCH", b"k") == OK
    assert other(b"UNWATCH") == OK
    assert other(b"MULTI") == OK
    assert other(b"DISCARD") == OK
    assert other(b"MULTI") == OK
    assert other(b"SET", b"k", b"v") == BUSY_EVAL
    assert other(b"EXEC").startswith(b"-EXECABORT")
    assert other(b"RESET") == b"+RESET\r\n"
    assert other(b"SHUTDOWN") == BUSY_EVAL
    assert other(b"SHUTDOWN", b"ABORT") == b"-ERR No shutdown in progress.\r\n"
    assert other(b"SCRIPT", b"KILL") == OK
    assert caller.read().startswith(b"-ERR Script killed by user")
    assert other(b"GET", b"k") == b"$-1\r\n"


def test_a_writer_cannot_be_killed(busy: Busy) -> None:
    caller, other = busy.start(b"EVAL", WRITES_AND_LASTS, b"0"), busy.client()
    assert other(b"SCRIPT", b"KILL").startswith(b"-UNKILLABLE Sorry the script already executed")
    assert other(b"PING") == BUSY_EVAL
    busy.end_writer()
    assert caller.read() == b":7\r\n"
    assert other(b"PING") == b"+PONG\r\n"


def test_a_script_in_a_transaction(busy: Busy) -> None:
    caller, other = busy.client(), busy.client()
    assert caller(b"MULTI") == OK
    assert caller(b"SET", b"a", b"1") == b"+QUEUED\r\n"
    assert caller(b"EVAL", LOOP, b"0") == b"+QUEUED\r\n"
    assert caller(b"GET", b"a") == b"+QUEUED\r\n"
    caller.send(b"EXEC")
    assert busy.slow.wait(TIMEOUT_S)
    assert other(b"GET", b"a") == BUSY_EVAL
    assert other(b"SCRIPT", b"KILL") == OK
    reply = caller.read()
    assert reply.startswith(b"*3\r\n+OK\r\n-ERR Script killed by user with SCRIPT KILL...")
    assert reply.endswith(b"\r\n$1\r\n1\r\n")


def test_who_waits_for_a_key_is_served_after_the_script(busy: Busy) -> None:
    """Neither the push nor the command of another may serve it in the middle."""
    waiting, other = busy.client(), busy.client()
    waiting.send(b"BLPOP", b"list", b"0")
    while not busy.server.blocked_clients:
        other(b"PING")
    caller = busy.start(b"EVAL", b"redis.call('rpush', 'list', 'x') " + WRITES_AND_LASTS, b"0")
    assert other(b"PING") == BUSY_EVAL
    assert waiting.is_silent()
    busy.end_writer()
    assert caller.read() == b":7\r\n"
    assert waiting.read() == b"*2\r\n$4\r\nlist\r\n$1\r\nx\r\n"


def test_propagation_waits_for_the_end(busy: Busy) -> None:
    stream = busy.server.append_only_stream()
    caller, other = busy.start(b"EVAL", WRITES_AND_LASTS, b"0"), busy.client()
    for _ in range(3):
        assert other(b"MULTI") == OK
        assert other(b"DISCARD") == OK
    assert not stream.commands
    busy.end_writer()
    assert caller.read() == b":7\r\n"
    assert stream.lines() == ["SELECT 0", "set k 1"]


def test_no_time_event_runs_meanwhile(busy: Busy) -> None:
    other = busy.client()
    assert other(b"CONFIG", b"SET", b"hz", b"500") == OK
    caller = busy.start(b"EVAL", WRITES_AND_LASTS, b"0")
    crons = busy.server.cronloops
    due_us = busy.server.el.next_us or 0
    while busy.server.clock.us() <= due_us:
        assert other(b"PING") == BUSY_EVAL
    assert other(b"PING") == BUSY_EVAL
    assert busy.server.cronloops == crons
    busy.end_writer()
    assert caller.read() == b":7\r\n"
    while busy.server.cronloops == crons:
        assert other(b"PING") == b"+PONG\r\n"


def test_the_caller_may_leave(busy: Busy) -> None:
    caller, other = busy.start(b"EVAL", WRITES_AND_LASTS, b"0"), busy.client()
    caller.close()
    assert other(b"PING") == BUSY_EVAL
    busy.end_writer()
    while other(b"CLIENT", b"LIST").count(b"id=") != 1:
        pass
    assert other(b"GET", b"k") == b"$1\r\n1\r\n"


def test_the_others_may_leave_and_break_the_protocol(busy: Busy) -> None:
    watcher = busy.client()
    busy.start(b"EVAL", LOOP, b"0")
    for noise in (b"*2\r\n$3\r\nGET\r\n$1", b"*x\r\n", b"PING\r\nQUIT\r\n", b""):
        other = busy.client()
        other.socket.sendall(noise)
        other.close()
        assert watcher(b"PING") == BUSY_EVAL
    assert watcher(b"SCRIPT", b"KILL") == OK
    while watcher(b"CLIENT", b"LIST").count(b"id=") != 2:
        pass


def test_shutdown_nosave_ends_script_and_server(busy: Busy) -> None:
    caller, other = busy.start(b"EVAL", WRITES_AND_LASTS, b"0"), busy.client()
    other.send(b"SHUTDOWN", b"NOSAVE")
    for client in (caller, other):
        with pytest.raises(ConnectionError):
            client.read()
    busy.thread.join(TIMEOUT_S)
    assert not busy.thread.is_alive()
    with pytest.raises(ConnectionRefusedError):
        busy.client()


def test_a_signal_ends_a_script_that_does_not_end(busy: Busy) -> None:
    caller = busy.start(b"EVAL", b"while true do pcall(redis.call, 'nosuch') end", b"0")
    busy.tcp.interrupt()
    with pytest.raises(ConnectionError):
        caller.read()
    busy.thread.join(TIMEOUT_S)
    assert not busy.thread.is_alive()


def test_a_client_in_this_process_runs_the_script(busy: Busy) -> None:
    """Its thread lets the loop's thread in, which goes on as always."""
    r = busy.server.client()
    failed: list[Exception] = []

    def call() -> None:
        try:
            r.eval("while true do end", 0)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert busy.slow.wait(TIMEOUT_S)
    other = busy.client()
    assert other(b"PING") == BUSY_EVAL
    assert other(b"SCRIPT", b"KILL") == OK
    thread.join(TIMEOUT_S)
    assert "Script killed by user" in str(failed[0])
    assert other(b"PING") == b"+PONG\r\n"


class SleepClock(SystemClock):
    """Sleeps until the test wakes it."""

    def __init__(self) -> None:
        self.asleep, self.wake = threading.Event(), threading.Event()

    def sleep(self, seconds: float) -> None:
        assert seconds == 1.5
        self.asleep.set()
        assert self.wake.wait(TIMEOUT_S)


def test_nobody_is_served_during_debug_sleep() -> None:
    """It is no script: others wait, and hear no BUSY."""
    clock = SleepClock()
    busy = Busy(clock)
    caller, other = busy.client(), busy.client()
    caller.send(b"DEBUG", b"SLEEP", b"1.5")
    assert clock.asleep.wait(TIMEOUT_S)
    other.send(b"PING")
    assert other.is_silent()
    clock.wake.set()
    assert caller.read() == OK
    assert other.read() == b"+PONG\r\n"
    busy.stop()


def test_a_slow_library_is_given_up_and_nobody_hears_busy(busy: Busy) -> None:
    """FUNCTION LOAD has a time limit of its own, half a second, and serves nobody meanwhile."""
    caller, other = busy.client(), busy.client()
    caller.send(b"FUNCTION", b"LOAD", b"#!lua name=l\nwhile true do end")
    other.send(b"PING")
    assert caller.read().startswith(b"-ERR Error registering functions: ")
    assert other.read() == b"+PONG\r\n"
