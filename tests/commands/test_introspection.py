"""COMMAND, CONFIG, INFO, TIME and MONITOR as one client sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.commands.command_cmds import command_info
from miniredis.commands.index import MODULES_OF
from miniredis.commands.key_specs import get_keys_from_command_with_specs
from miniredis.commands.table import (
    Command,
    KeySpec,
    every_command,
    lookup_by_name,
    lookup_container,
)
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, OK, SetReply, Status, Verbatim
from miniredis.server.client import Client
from miniredis.server.server import Server

START_MS = 1_391_234_400_000
Call = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    return Server(clock=VirtualClock(START_MS), seed=1)


def caller(c: Client) -> Call:
    return lambda *words: c.server.process_command(c, [str(word).encode() for word in words])


@pytest.fixture
def call(server: Server) -> Call:
    return caller(server.create_client())


def statuses(reply: SetReply) -> list[bytes]:
    assert all(isinstance(item, Status) for item in reply.items)
    return [item.text for item in reply.items]


# -- COMMAND --------------------------------------------------------------------------------


def test_command_lists_every_row_once(call: Call) -> None:
    names = [row[0] for row in call("COMMAND")]
    assert names == list(MODULES_OF)
    assert call("COMMAND", "COUNT") == len(names)
    assert [row[0] for row in call("COMMAND", "INFO")] == names
    assert list(call("COMMAND", "DOCS")) == names


def test_command_list_goes_into_containers(call: Call) -> None:
    names = call("COMMAND", "LIST")
    assert names == [row.name.encode() for row in every_command()]
    assert names.index(b"config|get") > names.index(b"config")


def test_command_info_of_a_writing_command(call: Call) -> None:
    [row] = call("COMMAND", "INFO", "Set")
    name, arity, flags, first, last, step, acl, tips, specs, subcommands = row
    assert (name, arity, first, last, step) == (b"set", -3, 1, 1, 1)
    assert statuses(flags) == [b"write", b"denyoom"]
    assert statuses(acl) == [b"@write", b"@string", b"@slow"]
    assert tips.items == [] and isinstance(subcommands, SetReply)
    [spec] = specs.items
    assert statuses(spec[b"flags"]) == [b"RW", b"access", b"update", b"variable_flags"]


def test_command_info_hides_may_replicate() -> None:
    row = row_with(flags="fast may_replicate")
    assert statuses(command_info(row)[2]) == [b"fast"]


def test_docs_tell_what_is_deprecated(call: Call) -> None:
    docs = call("COMMAND", "DOCS", "getset", "nope")
    assert list(docs) == [b"getset"]
    assert statuses(docs[b"getset"][b"doc_flags"]) == [b"deprecated"]
    assert docs[b"getset"][b"deprecated_since"] == b"6.2.0"


def test_docs_nest_subcommands(call: Call) -> None:
    docs = call("COMMAND", "DOCS", "slowlog")[b"slowlog"]
    assert docs[b"complexity"] == b"Depends on subcommand."
    assert docs[b"subcommands"][b"slowlog|len"][b"since"] == b"2.2.12"


def test_docs_of_monitor_have_no_complexity(call: Call) -> None:
    assert b"complexity" not in call("COMMAND", "DOCS", "monitor")[b"monitor"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (b"GET", "get"),
        (b"Config|Get", "config|get"),
        (b"config|nope", None),
        (b"", None),
        (b"get|x", None),
        (b"config|get|x", None),
    ],
)
def test_lookup_by_name(name: bytes, found: str | None) -> None:
    row = lookup_by_name(name)
    assert (row and row.name) == found


def row_with(*specs: KeySpec, flags: str = "", getkeys: Any = None) -> Command:
    return Command(
        name="test",
        proc=None,
        arity=-1,
        flags=frozenset(flags.split()),
        keys=(0, 0, 0),
        key_specs=specs,
        acl=(),
        tips=(),
        group="generic",
        since="1.0.0",
        complexity="",
        summary="",
        getkeys=getkeys,
    )


@pytest.mark.parametrize(
    ("spec", "words", "positions"),
    [
        (KeySpec("RO", index=1), "t a b", [1]),
        (KeySpec("RO", index=1, lastkey=-1), "t a b c", [1, 2, 3]),
        (KeySpec("RO", index=1, lastkey=-1, keystep=2), "t a 1 b 2", [1, 3]),
        (KeySpec("RO", index=1, lastkey=-2), "t a b timeout", [1, 2]),
        (KeySpec("RO", index=1), "t", []),
        (KeySpec("RO", index=1, keynumidx=0, firstkey=1), "t 2 a b c", [2, 3]),
        (KeySpec("RO", index=2, keynumidx=0, firstkey=1), "t script 0 arg", []),
        (KeySpec("RO", index=1, keynumidx=0, firstkey=1), "t 3 a b", []),
        (KeySpec("RO", index=1, keynumidx=0, firstkey=1), "t x a", []),
        (KeySpec("RO", index=1, keynumidx=0, firstkey=1), "t -1 a", []),
        (KeySpec("RO", index=1, keynumidx=5, firstkey=1), "t 1 a", []),
        (KeySpec("RO", keyword="store", startfrom=2), "t a STORE b", [3]),
        (KeySpec("RO", keyword="store", startfrom=2), "t a", []),
        (KeySpec("RO", keyword="keys", startfrom=-2, lastkey=-1), "t x keys a b keys c", [6]),
        (
            KeySpec("RO", keyword="streams", startfrom=1, lastkey=-1, limit=2),
            "t count 1 streams a b 0 0",
            [4, 5],
        ),
        (KeySpec("RO", unknown=True), "t a", []),
        (KeySpec("RO not_key", index=1), "t a", []),
    ],
)
def test_key_specs(spec: KeySpec, words: str, positions: list[int]) -> None:
    found = get_keys_from_command_with_specs(row_with(spec), words.encode().split())
    assert found == [(position, spec.flags) for position in positions]


def test_getkeys_helps_where_specs_do_not_tell() -> None:
    incomplete = KeySpec("RO incomplete", index=1)
    argv = b"t a b".split()
    assert get_keys_from_command_with_specs(row_with(incomplete), argv) == []
    row = row_with(incomplete, getkeys=lambda argv: [(len(argv) - 1, "OW")])
    assert get_keys_from_command_with_specs(row, argv) == [(2, "OW")]


def test_getkeysandflags_of_set_depend_on_get(call: Call) -> None:
    [[key, flags]] = call("COMMAND", "GETKEYSANDFLAGS", "SET", "k", "get")
    assert (key, statuses(flags)) == (b"k", [b"OW", b"update"])
    [[_, flags]] = call("COMMAND", "GETKEYSANDFLAGS", "SET", "k", "v", "EX", "9", "GET")
    assert statuses(flags) == [b"RW", b"access", b"update"]


# -- CONFIG ---------------------------------------------------------------------------------


def test_config_set_takes_effect(server: Server, call: Call) -> None:
    assert call("CONFIG", "SET", "hz", "50", "notify-keyspace-events", "Ex") is OK
    assert (server.hz, call("CONFIG", "GET", "hz")) == (50, {b"hz": b"50"})
    assert isinstance(call("CONFIG", "SET", "hz", "20", "hz", "30"), CommandError)
    assert server.config.hz == 50


def test_resetstat_counts_itself(call: Call) -> None:
    call("GET", "k")
    call("NOPE")
    call("CONFIG", "RESETSTAT")
    text = call("INFO", "commandstats", "errorstats", "latencystats").text.decode()
    assert "cmdstat_config|resetstat:calls=1" in text
    assert "cmdstat_get" not in text and "errorstat" not in text
    assert "latency_percentiles_usec_get" not in text


# -- the rest -------------------------------------------------------------------------------


def test_info_is_verbatim_text(call: Call) -> None:
    reply = call("INFO", "cluster")
    assert isinstance(reply, Verbatim) and reply.format == b"txt"
    assert reply.text == b"# Cluster\r\ncluster_enabled:0\r\n"


def test_time_is_a_fresh_reading(server: Server, call: Call) -> None:
    assert call("TIME") == [b"1391234400", b"0"]
    server.clock.spend_ns(1_500_000_000)
    assert call("TIME") == [b"1391234401", b"500000"]


def test_monitor_hears_what_others_do_from_then_on(server: Server, call: Call) -> None:
    watcher = server.create_client(addr="127.0.0.1:7001")
    call("SET", "before", "1")
    assert caller(watcher)("MONITOR") is OK
    call("SELECT", "2")
    call("SET", "k", 'a "b"')
    call("CONFIG", "GET", "hz")  # administration is not shown
    lines = [message.text.decode() for message in watcher.outbox]
    assert lines == [
        '1391234400.000000 [2 127.0.0.1:0] "SELECT" "2"',
        '1391234400.000000 [2 127.0.0.1:0] "SET" "k" "a \\"b\\""',
    ]


def test_monitor_again_says_nothing(server: Server) -> None:
    watcher = server.create_client()
    assert caller(watcher)("MONITOR") is OK
    assert caller(watcher)("MONITOR") is NO_REPLY
    assert server.monitors == [watcher]
    server.free_client(watcher)
    assert server.monitors == []


@pytest.mark.parametrize("name", ["COMMAND", "CONFIG", "SLOWLOG", "LATENCY", "DEBUG"])
def test_help_explains_each_subcommand(call: Call, name: str) -> None:
    heading, *lines = [line.text.decode() for line in call(name, "HELP")]
    assert heading.startswith(f"{name} <subcommand> ")
    usages, meanings = lines[::2], lines[1::2]
    assert all(not usage.startswith(" ") for usage in usages)
    assert all(meaning.startswith("    ") for meaning in meanings)
    assert usages[-1] == "HELP"
    row = lookup_container(name.lower().encode())
    assert row is not None
    for sub in row.subcommands:
        assert any(usage.split()[0].lower().encode() == sub for usage in usages)


@pytest.mark.parametrize(
    "argv", [[b"PING\0"], [b"CONFIG\0", b"GET", b"hz"], [b"CONFIG", b"GET\0", b"hz"]]
)
def test_names_are_looked_up_whole(argv: list[bytes]) -> None:
    """In Redis a name with a NUL is found or not by chance; here never."""
    server = Server()
    reply = server.process_command(server.create_client(), argv)
    assert isinstance(reply, CommandError)
    assert reply.text.startswith(b"ERR unknown ")
