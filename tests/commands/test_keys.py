"""keys.py, object_cmds.py, scanning.py: commands on keys whatever they hold."""

from __future__ import annotations

import pytest

from miniredis.clock import VirtualClock
from miniredis.server.server import Server
from tests.commands.conftest import Call


@pytest.mark.parametrize("command", ["DEL", "UNLINK"])
def test_deleting_counts_what_lived(
    server: Server, call: Call, clock: VirtualClock, command: str
) -> None:
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("MSET a 1 b 2")
    call("SET dead x PX 1")
    clock.advance(2)
    assert call(f"{command} a a b dead missing") == 2
    assert call("DBSIZE") == 0
    assert server.stat_expiredkeys == 1, "the dead key went as expired"


def test_exists_counts_each_mention(call: Call) -> None:
    call("SET a 1")
    assert call("EXISTS a a b") == 2
    assert call("TOUCH a a b") == 2


@pytest.mark.parametrize(
    ("command", "reply", "there"),
    [
        ("RENAME a b", "OK", {"b": b"1"}),
        ("RENAME a c", "OK", {"b": b"2", "c": b"1"}),
        ("RENAME a a", "OK", {"a": b"1", "b": b"2"}),
        ("RENAME x y", "ERR no such key", {"a": b"1", "b": b"2"}),
        ("RENAME x x", "ERR no such key", {"a": b"1", "b": b"2"}),
        ("RENAMENX a b", 0, {"a": b"1", "b": b"2"}),
        ("RENAMENX a a", 0, {"a": b"1", "b": b"2"}),
        ("RENAMENX a c", 1, {"b": b"2", "c": b"1"}),
        ("COPY a b", 0, {"a": b"1", "b": b"2"}),
        ("COPY a b REPLACE", 1, {"a": b"1", "b": b"1"}),
        ("COPY a c", 1, {"a": b"1", "b": b"2", "c": b"1"}),
        (
            "COPY a a",
            "ERR source and destination objects are the same",
            {"a": b"1", "b": b"2"},
        ),
        ("COPY a a DB 1", 1, {"a": b"1", "b": b"2"}),
        ("COPY a b DB 99", "ERR DB index is out of range", {"a": b"1", "b": b"2"}),
        ("MOVE a 1", 1, {"b": b"2"}),
        ("MOVE a 0", "ERR source and destination objects are the same", {"a": b"1", "b": b"2"}),
        ("MOVE x 1", 0, {"a": b"1", "b": b"2"}),
    ],
)
def test_moving_about(call: Call, command: str, reply: object, there: dict[str, bytes]) -> None:
    call("MSET a 1 b 2")
    assert call(command) == reply
    assert {key: call("GET", key) for key in "abc" if call("EXISTS", key)} == there


@pytest.mark.parametrize("command", ["RENAME a b", "COPY a b REPLACE"])
def test_the_time_to_live_goes_along(call: Call, command: str) -> None:
    call("SET a 1 PX 500")
    call("SET b 2 PX 900")
    call(command)
    assert call("PTTL b") == 500
    call("PERSIST a")
    call("SET c 3")
    call("RENAME c b")
    assert call("PTTL b") == -1, "also when there is none"


def test_swapdb_moves_everything(server: Server, call: Call) -> None:
    call("SET a 1 PX 500")
    assert call("SWAPDB 0 1") == "OK"
    assert (server.dbsize(0), server.dbsize(1)) == (0, 1)
    call("SELECT 1")
    assert call("PTTL a") == 500
    assert call("SWAPDB 0 16") == "ERR DB index is out of range"
    assert call("SWAPDB x 1") == "ERR invalid first DB index"
    assert call("SWAPDB 0 x") == "ERR invalid second DB index"


@pytest.mark.parametrize(
    ("command", "left"), [("FLUSHDB", (0, 1)), ("FLUSHALL", (0, 0)), ("FLUSHALL async", (0, 0))]
)
def test_flushing(server: Server, call: Call, command: str, left: tuple[int, int]) -> None:
    call("SET a 1 EX 1")
    call("SELECT 1")
    call("SET b 1 EX 1")
    call("SELECT 0")
    assert call(command) == "OK"
    assert (server.dbsize(0), server.dbsize(1)) == left
    assert call("FLUSHDB NOW") == "ERR syntax error"


def test_scan_returns_every_key_that_lives(call: Call, clock: VirtualClock) -> None:
    for i in range(300):
        call(f"SET k{i} v")
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("SET dead x PX 1")
    clock.advance(2)
    cursor, found = b"0", []
    while True:
        cursor, keys = call("SCAN", cursor, "COUNT", 7)
        found += keys
        if cursor == b"0":
            break
    assert sorted(found) == sorted(b"k%d" % i for i in range(300))
    assert call("SCAN 0 COUNT 1000 MATCH k1? TYPE string")[1].__len__() == 10
    assert call("SCAN 0 TYPE hash")[1] == []
    assert call("SCAN x") == "ERR invalid cursor"
    assert call("SCAN 0 COUNT 0") == "ERR syntax error"


def test_keys_matches_globs(call: Call) -> None:
    call("MSET hello 1 hallo 2 hxllo 3 [x] 4")
    assert sorted(call("KEYS h[ae]llo")) == [b"hallo", b"hello"]
    assert sorted(call("KEYS h[^e]llo")) == [b"hallo", b"hxllo"]
    assert call("KEYS", rb"\[x]") == [b"[x]"]
    assert len(call("KEYS *")) == 4


def test_randomkey_deletes_the_dead_it_meets(
    server: Server, call: Call, clock: VirtualClock
) -> None:
    assert call("RANDOMKEY") is None
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("SET a 1 PX 1")
    call("SET b 1 PX 1")
    clock.advance(2)
    assert call("RANDOMKEY") is None
    assert server.dbsize(0) == 0


def test_object_tells_idle_time_without_touching(call: Call, clock: VirtualClock) -> None:
    call("SET k v")
    clock.advance(5_200)  # accesses are dated by the last cron
    assert call("OBJECT IDLETIME k") == 5
    assert call("OBJECT IDLETIME k") == 5
    call("GET k")
    assert call("OBJECT IDLETIME k") == 0
    assert call("OBJECT IDLETIME missing") is None
    assert call("OBJECT FREQ k").startswith("ERR An LFU maxmemory policy is not selected")
    assert call("OBJECT REFCOUNT k") == 1
    call("SET n 9999")
    assert call("OBJECT REFCOUNT n") == 2**31 - 1
