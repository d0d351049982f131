"""The list "What is not simulated, and how to tell" of docs/design.md, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

import miniredis
from miniredis.reply import Reply

DESIGN = Path(__file__).resolve().parents[2] / "docs" / "design.md"


@pytest.fixture
def ask() -> object:
    server = miniredis.Server(seed=1)
    client = server.create_client()

    def ask(*argv: str) -> Reply:
        return server.process_command(client, [word.encode() for word in argv])

    return ask


@pytest.mark.parametrize("mode", ["YES", "SYNC"])
def test_the_debugger_of_scripts(ask: object, mode: str) -> None:
    reply = ask("SCRIPT", "DEBUG", mode)  # type: ignore[operator]
    assert reply.text == b"ERR the Lua debugger is not simulated"


@pytest.mark.parametrize(("keys", "works"), [(7996, True), (7997, False)])
def test_many_arguments_of_a_script(ask: object, keys: int, works: bool) -> None:
    script = f"local a = {{}} for i = 1, {keys} do a[i] = i end return redis.call('del', unpack(a))"
    assert (ask("EVAL", script, "0") == 0) == works  # type: ignore[operator]


def test_the_line_of_an_error_in_a_tail_call(ask: object) -> None:
    assert b"on @user_script:1." in ask("EVAL", "local x = pairs(nil)", "0").text  # type: ignore[operator]
    assert b"on @user_script:1." not in ask("EVAL", "return pairs(nil)", "0").text  # type: ignore[operator]


@pytest.mark.parametrize("subcommand", ["LOAD", "SAVE"])
def test_files_of_users(subcommand: str) -> None:
    r = miniredis.Redis(server=miniredis.Server(seed=1, aclfile="users.acl"))
    with pytest.raises(redis.ResponseError, match="files of users are not simulated"):
        r.execute_command("ACL", subcommand)


def test_lolwut_does_not_draw(ask: object) -> None:
    assert ask("LOLWUT", "VERSION", "5").text == b"Redis ver. 7.0.15\n"  # type: ignore[operator]


def test_the_allocator_is_perfect(ask: object) -> None:
    stats = ask("MEMORY", "STATS")  # type: ignore[operator]
    assert stats[b"allocator.active"] == stats[b"total.allocated"]
    assert ask("MEMORY", "MALLOC-STATS") == b"Stats not supported for the current allocator"  # type: ignore[operator]


def test_a_subscription_costs_no_memory() -> None:
    r = miniredis.Redis(server=miniredis.Server(seed=1, maxmemory="100mb"))
    before = r.info("memory")["used_memory"]
    with r.pubsub() as pubsub:
        pubsub.subscribe("x" * 100_000)
        assert r.info("memory")["used_memory"] == before


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = miniredis.Server(seed=1, appendonly=True, save="1 1")
    r = server.client()
    r.set("k", "v")
    assert r.save() and r.bgsave() and r.bgrewriteaof()
    assert server.persistence.saved is not None
    assert not list(tmp_path.iterdir())
    persistence = r.info("persistence")
    assert not persistence["rdb_bgsave_in_progress"] and persistence["aof_enabled"]


@pytest.mark.parametrize("command", ["SYNC", "PSYNC ? -1"])
def test_no_replica_attaches_in_process(ask: object, command: str) -> None:
    reply = ask(*command.split())  # type: ignore[operator]
    assert reply.text == b"ERR SYNC and PSYNC need a connection over a network"


def test_every_row_is_there() -> None:
    """A row that goes must go here too."""
    text = DESIGN.read_text(encoding="utf-8")
    section = text.split("## What is not simulated")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert rows == [
        "not simulated",
        "PFSELFTEST at full length",
        "the debugger of scripts",
        "scripts: the line of an error in a tail call",
        "scripts: very many arguments",
        "BYLEX on a large sorted set whose scores differ",
        "files of ACL users",
        "files",
        "LOLWUT's drawings",
        "replicas of a server without a network",
        "memory beside keys",
        "MEMORY: the allocator",
        "client buffers",
        "COMMAND DOCS: arguments, history",
    ]
