"""Every row of the command table is what redis-server 7.0.15 says of the command.

Of the documentation only facts are compared: summaries are the project's own, and of a
complexity the notation (``O(log(N))``), not the sentence after it. Subcommands that are
not written yet may be missing, but none may be made up.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from miniredis.commands.command_cmds import command_docs, command_info
from miniredis.commands.table import COMMANDS, Command, every_command
from tests.differential.plain_server import RealClient, RealServer, comparable, shared_real_server
from tests.docs.generated import syntax

__all__ = ["shared_real_server"]

FIELDS = [
    "name",
    "arity",
    "flags",
    "first_key",
    "last_key",
    "step",
    "acl",
    "tips",
    "key_specs",
    "subcommands",
]
# Flags that COMMAND INFO hides. commands.c: CMD_MAY_REPLICATE, CMD_TOUCHES_ARBITRARY_KEYS
MAY_REPLICATE = {"eval", "evalsha", "fcall", "pfcount", "publish", "spublish"}
TOUCHES_ARBITRARY_KEYS = {"randomkey", "scan"}
# Commands that take arguments of which COMMAND DOCS does not tell.
ARGUMENTS_NOT_TOLD = {
    "command|getkeys": "command [arg ...]",
    "command|getkeysandflags": "command [arg ...]",
    "debug": "subcommand [arg ...]",
    "replconf": "[option value ...]",
}
DOC_FIELDS = ("since", "group", "doc_flags", "deprecated_since")


def parameters() -> list[Any]:
    return [pytest.param(row, id=row.name) for row in every_command()]


@pytest.fixture(scope="module")
def ask(shared_real_server: RealServer) -> RealClient:
    client = shared_real_server.client()
    client("HELLO", "3")
    return client


def notes_masked(spec: Any) -> Any:
    """A key spec; of the remark that some have, in prose of our own, only that it is there."""
    return ("map", [(key, b"..." if key == b"notes" else value) for key, value in spec[1]])


def real_info(ask: RealClient, name: str) -> dict[str, Any]:
    row = ask("COMMAND", "INFO", name)[1][0]
    assert row is not None, f"redis-server has no command {name!r}"
    info = dict(zip(FIELDS, row[1], strict=True))
    info["key_specs"] = ("set", [notes_masked(spec) for spec in info["key_specs"][1]])
    return info


def real_docs(ask: RealClient, name: str) -> dict[str, Any]:
    [(_, docs)] = ask("COMMAND", "DOCS", name)[1]
    return {key.decode(): value for key, value in docs[1]}


@pytest.mark.parametrize("row", parameters())
def test_row_equals_command_info(ask: RealClient, row: Command) -> None:
    ours = dict(zip(FIELDS, comparable(command_info(row), resp=3)[1], strict=True))
    ours["key_specs"] = ("set", [notes_masked(spec) for spec in ours["key_specs"][1]])
    theirs = real_info(ask, row.name)
    kind, subcommands = ours.pop("subcommands")
    their_kind, their_subcommands = theirs.pop("subcommands")
    assert ours == theirs
    assert kind == their_kind
    made_up = {sub[1][0] for sub in subcommands} - {sub[1][0] for sub in their_subcommands}
    assert not made_up


@pytest.mark.parametrize("row", parameters())
def test_documentation_equals_command_docs(ask: RealClient, row: Command) -> None:
    ours = {key.decode(): comparable(value, resp=3) for key, value in command_docs(row).items()}
    theirs = real_docs(ask, row.name)
    assert {f: ours.get(f) for f in DOC_FIELDS} == {f: theirs.get(f) for f in DOC_FIELDS}
    assert big_o(ours) == big_o(theirs)
    assert ours["summary"], "every command has a summary"


def big_o(docs: dict[str, Any]) -> str | None:
    """The notation with which a complexity begins; empty if it is told in words only."""
    if "complexity" not in docs:
        return None
    found = re.match(r"O\((?:[^()]|\([^()]*\))*\)", docs["complexity"].decode())
    return found[0].replace(" ", "") if found else ""


def shown(argument: dict[str, Any]) -> str:
    """An argument of COMMAND DOCS as a piece of a syntax line.

    Of a choice that can be repeated, the repetition is written ``[...]``.
    """
    kind, flags = argument["type"], argument.get("flags", ())
    token = '""' if argument.get("token") == "" else argument.get("token", "")
    if kind == "oneof":
        text = " | ".join(map(shown, argument["arguments"]))
    elif kind == "block":
        text = " ".join(map(shown, argument["arguments"]))
    else:
        text = "" if kind == "pure-token" else argument["name"]
    again = text
    if token:
        text = f"{token} {text}".rstrip()
        again = text if "multiple_token" in flags else again
    if "multiple" in flags:
        text += " [...]" if kind == "oneof" else f" [{again} ...]"
    return f"[{text}]" if "optional" in flags else text


def plain(value: Any) -> Any:
    """A reply of a real server without the names of kinds of reply, as text."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tuple):
        kind, items = value
        if kind == "map":
            return {plain(key): plain(item) for key, item in items}
        return plain(items)
    return [plain(item) for item in value] if isinstance(value, (list, set)) else value


@pytest.mark.parametrize("row", [p for p in parameters() if p.values[0].proc is not None])
def test_syntax_equals_the_arguments_of_command_docs(ask: RealClient, row: Command) -> None:
    docs = plain(ask("COMMAND", "DOCS", row.name))[row.name]
    name = row.name.replace("|", " ").upper()
    if row.name in ARGUMENTS_NOT_TOLD:
        assert "arguments" not in docs
        assert syntax(row) == f"{name} {ARGUMENTS_NOT_TOLD[row.name]}"
    else:
        assert syntax(row) == " ".join([name, *map(shown, docs.get("arguments", []))])


@pytest.mark.parametrize("row", parameters())
def test_hidden_flags(row: Command) -> None:
    assert ("may_replicate" in row.flags) == (row.name in MAY_REPLICATE)
    assert row.touches_arbitrary_keys == (row.name in TOUCHES_ARBITRARY_KEYS)


def test_names_are_lower_case_and_found_by_them() -> None:
    for name, row in COMMANDS.items():
        assert name == name.lower() == row.name.encode()
        for sub, subrow in row.subcommands.items():
            assert subrow.name.encode() == name + b"|" + sub == (name + b"|" + sub).lower()
