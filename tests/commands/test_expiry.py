"""expiry.py: times to live, their rounding and their options."""

from __future__ import annotations

import pytest

from miniredis.clock import VirtualClock
from miniredis.server.server import Server
from tests.commands.conftest import START_MS, Call

NOT_AN_INTEGER = "ERR value is not an integer or out of range"
LLONG_MAX = 2**63 - 1


@pytest.mark.parametrize(
    ("left_ms", "seconds"),
    [(1, 0), (499, 0), (500, 1), (501, 1), (999, 1), (1499, 1), (1500, 2), (1501, 2), (2500, 3)],
)
def test_ttl_rounds_to_the_nearest_second(call: Call, left_ms: int, seconds: int) -> None:
    call("SET", "k", "v", "PX", left_ms)
    assert call("PTTL k") == left_ms
    assert call("TTL k") == seconds
    assert call("PEXPIRETIME k") == START_MS + left_ms
    assert call("EXPIRETIME k") == START_MS // 1000 + seconds


@pytest.mark.parametrize("command", ["TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"])
def test_without_key_or_ttl(call: Call, command: str) -> None:
    assert call(command, "k") == -2
    call("SET k v")
    assert call(command, "k") == -1


def test_a_key_lives_through_its_last_millisecond(call: Call, clock: VirtualClock) -> None:
    call("DEBUG SET-ACTIVE-EXPIRE 0")
    call("SET k v PX 100")
    clock.advance(100)
    assert call("PTTL k") == 0
    assert call("GET k") == b"v"
    clock.advance(1)
    assert call("GET k") is None


@pytest.mark.parametrize(
    ("command", "time", "dies_at"),
    [
        ("EXPIRE", 10, START_MS + 10_000),
        ("PEXPIRE", 10, START_MS + 10),
        ("EXPIREAT", START_MS // 1000 + 10, START_MS + 10_000),
        ("PEXPIREAT", START_MS + 10, START_MS + 10),
        ("PEXPIRE", LLONG_MAX - START_MS, LLONG_MAX),
    ],
)
def test_every_form_sets_an_absolute_time(
    server: Server, call: Call, command: str, time: int, dies_at: int
) -> None:
    heard: list[list[bytes]] = []
    server.add_sink(lambda _dbid, argv: heard.append(argv))
    assert call(command, "k", time) == 0
    call("SET k v")
    assert call(command, "k", time) == 1
    assert server.databases[0].get_expire(b"k") == dies_at
    assert heard[-1] == [b"PEXPIREAT", b"k", b"%d" % dies_at]


@pytest.mark.parametrize(
    ("command", "time"),
    [
        ("EXPIRE", 0),
        ("EXPIRE", -1),
        ("PEXPIRE", 0),
        ("EXPIREAT", 1),
        ("PEXPIREAT", START_MS),
        ("PEXPIREAT", -1),
    ],
)
def test_a_time_that_is_past_deletes_the_key(
    server: Server, call: Call, command: str, time: int
) -> None:
    heard: list[list[bytes]] = []
    server.add_sink(lambda _dbid, argv: heard.append(argv))
    call("SET k v")
    assert call(command, "k", time) == 1
    assert call("DBSIZE") == 0
    assert heard[-1] == [b"DEL", b"k"]
    assert server.stat_expiredkeys == 0, "deleted by a command, not expired"


@pytest.mark.parametrize(
    ("command", "time", "error"),
    [
        ("EXPIRE", "x", NOT_AN_INTEGER),
        ("EXPIRE", "1.5", NOT_AN_INTEGER),
        ("PEXPIRE", LLONG_MAX + 1, NOT_AN_INTEGER),
        ("PEXPIRE", "9" * 1_000_000, NOT_AN_INTEGER),
        ("EXPIRE", LLONG_MAX // 1000 + 1, "ERR invalid expire time in 'expire' command"),
        ("EXPIRE", -(LLONG_MAX // 1000) - 1, "ERR invalid expire time in 'expire' command"),
        ("EXPIRE", LLONG_MAX // 1000, "ERR invalid expire time in 'expire' command"),
        ("PEXPIRE", LLONG_MAX, "ERR invalid expire time in 'pexpire' command"),
        ("EXPIREAT", LLONG_MAX // 1000 + 1, "ERR invalid expire time in 'expireat' command"),
    ],
)
def test_times_that_are_refused_change_nothing(
    call: Call, command: str, time: object, error: str
) -> None:
    call("SET k v PX 100")
    assert call(command, "k", time) == error
    assert call("PTTL k") == 100


# The TTL before, the option, and what PEXPIRE k 200 then answers.
OPTIONS = [
    (None, "NX", 1),
    (None, "XX", 0),
    (None, "GT", 0),  # no TTL counts as for ever
    (None, "LT", 1),
    (None, "XX LT", 0),
    (100, "NX", 0),
    (100, "XX", 1),
    (100, "GT", 1),
    (100, "LT", 0),
    (100, "XX GT", 1),
    (200, "GT", 0),  # equal is neither
    (200, "LT", 0),
    (300, "GT", 0),
    (300, "LT", 1),
    (300, "lt xx LT", 1),
]


@pytest.mark.parametrize(("before", "options", "done"), OPTIONS)
def test_options(call: Call, before: int | None, options: str, done: int) -> None:
    call("SET k v") if before is None else call("SET", "k", "v", "PX", before)
    assert call("PEXPIRE", "k", 200, *options.split()) == done
    assert call("PTTL k") == (200 if done else before or -1)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["NX", "XX"], "ERR NX and XX, GT or LT options at the same time are not compatible"),
        (["LT", "NX"], "ERR NX and XX, GT or LT options at the same time are not compatible"),
        (["GT", "LT"], "ERR GT and LT options at the same time are not compatible"),
        (["FOO", "GT"], "ERR Unsupported option FOO"),
        ([b"a\0b"], "ERR Unsupported option a"),
    ],
)
def test_options_that_are_refused(call: Call, options: list[object], error: str) -> None:
    assert call("EXPIRE", "missing", "not a number", *options) == error


def test_persist(server: Server, call: Call) -> None:
    assert call("PERSIST k") == 0
    call("SET k v")
    assert call("PERSIST k") == 0
    call("EXPIRE k 100")
    assert call("PERSIST k") == 1
    assert call("TTL k") == -1
    assert not server.databases[0].expires.index


def test_events(server: Server, call: Call) -> None:
    listener = server.create_client()
    server.process_command(listener, [b"PSUBSCRIBE", b"__keyevent*"])
    listener.outbox.clear()
    call("CONFIG SET notify-keyspace-events KEA")
    for command in ("SET k v", "EXPIRE k 10", "PERSIST k", "PERSIST k", "EXPIRE k 0", "EXPIRE k 1"):
        call(command)
    events = [message.items[2].split(b":")[1] for message in listener.outbox]
    assert events == [b"set", b"expire", b"persist", b"del"]
