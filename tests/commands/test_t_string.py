"""t_string.py, counters.py, string_parts.py: what strings do to keys, times and encodings."""

from __future__ import annotations

import pytest

from miniredis.server.server import Server
from tests.commands.conftest import START_MS, Call

SYNTAX = "ERR syntax error"


@pytest.mark.parametrize(
    ("options", "reply", "value", "pttl"),
    [
        ("", "OK", b"new", -1),
        ("KEEPTTL", "OK", b"new", 5000),
        ("XX", "OK", b"new", -1),
        ("NX", None, b"old", 5000),
        ("GET", b"old", b"new", -1),
        ("NX GET", b"old", b"old", 5000),
        ("XX GET KEEPTTL", b"old", b"new", 5000),
        ("EX 2", "OK", b"new", 2000),
        ("px 7", "OK", b"new", 7),
        ("PXAT %d" % (START_MS + 9), "OK", b"new", 9),
        ("EXAT %d" % (START_MS // 1000 + 1), "OK", b"new", 1000),
        ("EX 1 EX 2", "OK", b"new", 2000),
        ("EX 1 PX 2", SYNTAX, b"old", 5000),
        ("EX 1 KEEPTTL", SYNTAX, b"old", 5000),
        ("NX XX", SYNTAX, b"old", 5000),
        ("EX", SYNTAX, b"old", 5000),
        ("PERSIST", SYNTAX, b"old", 5000),
        ("EX 0", "ERR invalid expire time in 'set' command", b"old", 5000),
        ("PX -1", "ERR invalid expire time in 'set' command", b"old", 5000),
        ("PXAT x", "ERR value is not an integer or out of range", b"old", 5000),
    ],
)
def test_set(call: Call, options: str, reply: object, value: bytes, pttl: int) -> None:
    call("SET k old PX 5000")
    assert call(f"SET k new {options}") == reply
    assert call("GET k") == value
    assert call("PTTL k") == pttl


def test_set_of_a_missing_key(call: Call) -> None:
    assert call("SET k v XX") is None
    assert call("SET k v XX GET") is None
    assert call("EXISTS k") == 0
    assert call("SET k v NX GET") is None
    assert call("GET k") == b"v"


def test_a_point_in_time_that_has_passed_is_set_all_the_same(server: Server, call: Call) -> None:
    """SET does not ask whether the time is past; the next look-up finds the key dead."""
    assert call(f"SET k v PXAT {START_MS - 1}") == "OK"
    assert server.dbsize(0) == 1
    assert call("GET k") is None
    assert server.stat_expiredkeys == 1


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("SET k v PX 100", [b"SET", b"k", b"v", b"PXAT", b"%d" % (START_MS + 100)]),
        ("SETEX k 1 v", [b"SET", b"k", b"v", b"PXAT", b"%d" % (START_MS + 1000)]),
        ("PSETEX k 1 v", [b"SET", b"k", b"v", b"PXAT", b"%d" % (START_MS + 1)]),
        ("SET k v GET", [b"SET", b"k", b"v"]),
        ("GETSET k v", [b"SET", b"k", b"v"]),
        ("GETDEL k", [b"DEL", b"k"]),
        ("GETEX k PX 100", [b"PEXPIREAT", b"k", b"%d" % (START_MS + 100)]),
        ("GETEX k PERSIST", [b"PERSIST", b"k"]),
        (f"GETEX k PXAT {START_MS}", [b"DEL", b"k"]),
        ("INCRBYFLOAT k 0.5", [b"SET", b"k", b"10.5", b"KEEPTTL"]),
        ("INCR k", [b"INCR", b"k"]),
        ("GETEX k", None),
        ("GET k", None),
        ("SETNX k v", None),
    ],
)
def test_what_replicas_are_told(
    server: Server, call: Call, command: str, told: list[bytes] | None
) -> None:
    call("SET k 10 PX 5000")
    heard: list[list[bytes]] = []
    server.add_sink(lambda _dbid, argv: heard.append(argv))
    call(command)
    assert heard == ([] if told is None else [told])


def test_a_rewritten_form_is_not_left_over_for_the_next_command(server: Server, call: Call) -> None:
    call("SET k v PX 100")
    heard: list[list[bytes]] = []
    server.add_sink(lambda _dbid, argv: heard.append(argv))
    call("APPEND k x")
    call("SET k v PX 100")
    call("APPEND k x")
    assert heard[0] == heard[2] == [b"APPEND", b"k", b"x"]


@pytest.mark.parametrize(
    ("before", "command", "reply", "encoding"),
    [
        (None, "INCR k", 1, b"int"),
        ("9999", "INCR k", 10_000, b"int"),
        ("10000", "DECR k", 9_999, b"int"),
        ("-1", "INCRBY k 1", 0, b"int"),
        ("9223372036854775806", "INCR k", 2**63 - 1, b"int"),
        ("9223372036854775807", "INCR k", "ERR increment or decrement would overflow", b"int"),
        ("-9223372036854775808", "DECR k", "ERR increment or decrement would overflow", b"int"),
        ("1", "DECRBY k -9223372036854775808", "ERR decrement would overflow", b"int"),
        ("01", "INCR k", "ERR value is not an integer or out of range", b"embstr"),
        ("1", "INCRBY k 1.5", "ERR value is not an integer or out of range", b"int"),
        ("1", f"INCRBY k {'9' * 5000}", "ERR value is not an integer or out of range", b"int"),
        ("3", "INCRBYFLOAT k 0.1", b"3.1", b"embstr"),
        ("3", "INCRBYFLOAT k 5e3", b"5003", b"embstr"),
        ("x", "INCRBYFLOAT k 1", "ERR value is not a valid float", b"embstr"),
        ("1", "INCRBYFLOAT k inf", "ERR increment would produce NaN or Infinity", b"int"),
        ("ab", "APPEND k c", 3, b"raw"),
        (None, "APPEND k 12", 2, b"int"),
        ("hello", "SETRANGE k 1 E", 5, b"raw"),
        (None, "SETRANGE k 3 x", 4, b"raw"),
        ("hello", "SETRANGE k -1 x", "ERR offset is out of range", b"embstr"),
        ("hello", "GETRANGE k -3 -2", b"ll", b"embstr"),
        ("hello", "GETRANGE k 3 1", b"", b"embstr"),
        ("hello", "STRLEN k", 5, b"embstr"),
    ],
)
def test_counters_and_parts(
    call: Call, before: str | None, command: str, reply: object, encoding: bytes
) -> None:
    if before is not None:
        call("SET", "k", before, "PX", 5000)
    assert call(command) == reply
    assert call("OBJECT ENCODING k") == encoding
    assert call("PTTL k") == (-1 if before is None else 5000), "the time to live stays"


def test_a_counter_keeps_its_access_time_and_its_encoding_when_it_is_changed(call: Call) -> None:
    """From raw, as APPEND leaves it, INCR makes an integer again."""
    call("SET k 1")
    call("APPEND k 0")
    assert call("OBJECT ENCODING k") == b"raw"
    assert call("INCR k") == 11
    assert call("OBJECT ENCODING k") == b"int"
    call("CONFIG SET maxmemory-policy allkeys-lfu")
    call("SET n 1")
    for _ in range(3):
        call("INCR n")
    assert call("OBJECT FREQ n") >= 5


def test_several_at_once(call: Call) -> None:
    assert call("MSET a 1 b 2") == "OK"
    assert call("MSETNX b 3 c 4") == 0
    assert call("MSETNX c 3 c 4") == 1
    assert call("MGET a b c d") == [b"1", b"2", b"4", None]
    assert call("MSET a 1 b") == "ERR wrong number of arguments for 'mset' command"
