"""transactions.py: MULTI, EXEC, DISCARD and WATCH, also when watched keys die."""

from __future__ import annotations

import pytest

from miniredis.clock import VirtualClock
from miniredis.reply import NULL_ARRAY
from miniredis.server.server import Server
from tests.commands.conftest import Call


@pytest.fixture
def other(server: Server) -> Call:
    """A second client."""
    client = server.create_client()
    return lambda text: server.process_command(client, text.encode().split())


def test_queued_commands_run_together(call: Call) -> None:
    call("MULTI")
    assert call("SET k 1") == "QUEUED"
    assert call("INCR k") == "QUEUED"
    assert call("GET") == "ERR wrong number of arguments for 'get' command"
    assert call("EXEC") == "EXECABORT Transaction discarded because of previous errors."
    assert call("EXISTS k") == 0
    call("MULTI")
    call("SET k x")
    call("INCR k")
    ok, error = call("EXEC")
    assert ok.text == b"OK"
    assert error.text == b"ERR value is not an integer or out of range"
    assert call("GET k") == b"x", "an error does not undo what ran before it"


@pytest.mark.parametrize("command", ["EXEC", "DISCARD"])
def test_without_multi(call: Call, command: str) -> None:
    assert call(command) == f"ERR {command} without MULTI"


def test_in_multi(call: Call) -> None:
    call("MULTI")
    assert call("MULTI") == "ERR MULTI calls can not be nested"
    assert call("WATCH k") == "ERR WATCH inside MULTI is not allowed"
    assert call("DISCARD") == "OK"
    assert call("DISCARD") == "ERR DISCARD without MULTI"


@pytest.mark.parametrize(
    ("meanwhile", "runs"),
    [
        ("GET k", True),
        ("SET k v", False),
        ("SET k old", False),  # even to the same value
        ("EXPIRE k 100", False),
        ("DEL missing", True),
        ("SET other v", True),
        ("RENAME k z", False),
        ("FLUSHALL", False),
        ("SWAPDB 0 1", False),
        ("SWAPDB 1 2", True),
    ],
)
def test_watch(call: Call, other: Call, meanwhile: str, runs: bool) -> None:
    call("SET k old")
    call("WATCH k")
    other(meanwhile)
    call("MULTI")
    call("PING")
    assert (call("EXEC") is not NULL_ARRAY) == runs
    other("SET k again")
    call("MULTI")
    assert call("EXEC") == [], "EXEC ends the watching, whatever came of it"


def test_a_watched_key_that_dies_is_a_change(call: Call, clock: VirtualClock) -> None:
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("SET k v PX 10")
    call("WATCH k")
    clock.advance(11)
    call("MULTI")
    assert call("EXEC") is NULL_ARRAY


@pytest.mark.parametrize("who_deletes", ["nobody", "other"])
def test_a_key_dead_before_watch_may_go(
    call: Call, other: Call, clock: VirtualClock, who_deletes: str
) -> None:
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("SET k v PX 10")
    clock.advance(11)
    call("WATCH k")
    if who_deletes == "other":
        other("GET k")
    call("MULTI")
    assert call("EXEC") == []


def test_time_stands_still_inside(call: Call, server: Server, clock: VirtualClock) -> None:
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("SET k v PX 10")
    call("MULTI")
    for command in ("GET k", "DEBUG SLEEP 1", "GET k", "PTTL k"):
        call(command)
    first, _, second, pttl = call("EXEC")
    assert (first, second, pttl) == (b"v", b"v", 0)
    assert call("GET k") is None


def test_replicas_hear_a_transaction_as_one(server: Server, call: Call) -> None:
    heard: list[bytes] = []
    server.add_sink(lambda _dbid, argv: heard.append(b" ".join(argv)))
    for command in ("MULTI", "SET a 1", "GET a", "INCR a", "EXEC", "MULTI", "SET b 1", "EXEC"):
        call(command)
    assert heard == [b"MULTI", b"SET a 1", b"INCR a", b"EXEC", b"SET b 1"]
