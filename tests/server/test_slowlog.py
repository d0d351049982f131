"""The slow log: what is kept of a command, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.errors import CommandError
from miniredis.reply import OK
from miniredis.server.server import Server
from miniredis.server.slowlog import SlowLog

START_MS = 1_391_234_400_000
Call = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    return Server(clock=VirtualClock(START_MS), seed=1)


@pytest.fixture
def call(server: Server) -> Call:
    c = server.create_client(addr="127.0.0.1:50001")
    return lambda *words: server.process_command(c, [str(word).encode() for word in words])


def test_only_slow_commands_are_kept(call: Call) -> None:
    call("CLIENT", "SETNAME", "me")
    call("PING")
    call("DEBUG", "SLEEP", "0.01")
    call("DEBUG", "SLEEP", "0.009999")
    [[number, time, us, argv, addr, name]] = call("SLOWLOG", "GET")
    assert (number, us, argv) == (0, 10_000, [b"DEBUG", b"SLEEP", b"0.01"])
    assert START_MS // 1000 <= time <= START_MS // 1000 + 1
    assert (addr, name) == (b"127.0.0.1:50001", b"me")


def test_newest_first_and_ten_by_default(call: Call) -> None:
    call("CONFIG", "SET", "slowlog-log-slower-than", 0)
    call("SLOWLOG", "RESET")
    for i in range(15):
        call("GET", i)
    assert call("SLOWLOG", "LEN") == 16, "RESET and LEN were slow too"
    entries = call("SLOWLOG", "GET")
    assert len(entries) == 10
    assert [entry[0] for entry in entries] == sorted((e[0] for e in entries), reverse=True)
    assert len(call("SLOWLOG", "GET", 3)) == 3
    assert len(call("SLOWLOG", "GET", -1)) == 19
    assert call("SLOWLOG", "GET", 0) == []


def test_off_and_without_room(server: Server, call: Call) -> None:
    call("CONFIG", "SET", "slowlog-log-slower-than", -1)
    call("DEBUG", "SLEEP", "1")
    call("CONFIG", "SET", "slowlog-log-slower-than", 0, "slowlog-max-len", 0)
    call("DEBUG", "SLEEP", "1")
    assert len(server.slowlog.entries) == 0


def test_numbers_go_on_after_reset(call: Call) -> None:
    call("DEBUG", "SLEEP", "1")
    assert call("SLOWLOG", "RESET") is OK
    call("DEBUG", "SLEEP", "1")
    assert [entry[0] for entry in call("SLOWLOG", "GET")] == [1]


def test_old_entries_make_room() -> None:
    log = SlowLog()
    for i in range(5):
        log.push_entry([b"%d" % i], 1, 0, b"", b"", max_len=3)
    assert [entry.argv for entry in log.entries] == [[b"4"], [b"3"], [b"2"]]


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        ([b"a" * 128], [b"a" * 128]),
        ([b"a" * 130], [b"a" * 128 + b"... (2 more bytes)"]),
        ([b"x"] * 32, [b"x"] * 32),
        ([b"x"] * 33, [b"x"] * 31 + [b"... (2 more arguments)"]),
    ],
)
def test_long_arguments_are_cut(argv: list[bytes], kept: list[bytes]) -> None:
    log = SlowLog()
    log.push_entry(argv, 1, 0, b"", b"", max_len=1)
    assert log.entries[0].argv == kept


@pytest.mark.parametrize("count", ["-2", "x", "1.5", "9223372036854775808"])
def test_bad_counts(call: Call, count: str) -> None:
    reply = call("SLOWLOG", "GET", count)
    assert isinstance(reply, CommandError)
    assert reply.text == b"ERR count should be greater than or equal to -1"
