"""The list "What is not simulated, and how to tell" of docs/design.md, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

import miniredis
from miniredis.errors import CommandError
from miniredis.reply import Reply

DESIGN = Path(__file__).resolve().parents[2] / "docs" / "design.md"


@pytest.fixture
def ask() -> object:
    server = miniredis.Server(seed=1)
    client = server.create_client()

    def ask(*argv: str) -> Reply:
        return server.process_command(client, [word.encode() for word in argv])

    return ask


@pytest.mark.parametrize(
    "command",
    [
        "MIGRATE h 1 k 0 10",
        "ACL WHOAMI",
        "SAVE",
        "BGSAVE",
        "BGREWRITEAOF",
        "LASTSAVE",
        "CLUSTER INFO",
        "MODULE LIST",
        "SHUTDOWN",
        "PSYNC ? -1",
        "SYNC",
        "FAILOVER",
        "MEMORY USAGE k",
    ],
)
def test_unknown_commands(ask: object, command: str) -> None:
    reply = ask(*command.split())  # type: ignore[operator]
    assert isinstance(reply, CommandError)
    assert reply.text.startswith(b"ERR unknown command"), reply


@pytest.mark.parametrize("command", ["FUNCTION DUMP", "FUNCTION RESTORE x", "CLIENT TRACKING ON"])
def test_unknown_subcommands(ask: object, command: str) -> None:
    reply = ask(*command.split())  # type: ignore[operator]
    assert isinstance(reply, CommandError)
    assert reply.text.startswith(b"ERR unknown subcommand"), reply


@pytest.mark.parametrize("mode", ["YES", "SYNC"])
def test_the_debugger_of_scripts(ask: object, mode: str) -> None:
    reply = ask("SCRIPT", "DEBUG", mode)  # type: ignore[operator]
    assert reply.text == b"ERR the Lua debugger is not simulated"


def test_the_line_of_an_error_in_a_tail_call(ask: object) -> None:
    assert b"on @user_script:1." in ask("EVAL", "local x = pairs(nil)", "0").text  # type: ignore[operator]
    assert b"on @user_script:1." not in ask("EVAL", "return pairs(nil)", "0").text  # type: ignore[operator]


def test_no_key_is_evicted_and_no_command_refused() -> None:
    r = miniredis.Redis(
        server=miniredis.Server(seed=1, maxmemory=1, maxmemory_policy="allkeys-lru")
    )
    for i in range(100):
        r.set(f"k{i}", "v")
    assert r.dbsize() == 100


def test_every_row_is_there() -> None:
    """A row that goes must go here too."""
    text = DESIGN.read_text(encoding="utf-8")
    section = text.split("## What is not simulated")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert rows == [
        "not simulated",
        "MIGRATE",
        "PFSELFTEST at full length",
        "the debugger of scripts",
        "FUNCTION DUMP and RESTORE",
        "scripts: deep replies",
        "scripts: the line of an error in a tail call",
        "scripts that take too long over TCP",
        "BYLEX on a large sorted set whose scores differ",
        "ACL users",
        "persistence, cluster, modules, SHUTDOWN",
        "replicas in other processes: PSYNC, SYNC, FAILOVER",
        "eviction",
        "CLIENT TRACKING",
        "MEMORY",
        "client buffers",
        "COMMAND DOCS: arguments, history",
    ]
