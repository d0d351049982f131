"""The parts of pages that are made from data.

They stand between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
``python -m tests.docs.pages --write`` writes them anew; a test fails if one is not current.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby

from miniredis.commands.command_cmds import DEPRECATED
from miniredis.commands.table import FLAGS, Command, every_command
from tests.conformance.expected import load
from tests.conformance.output import SKIPPED

PART = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# The order of the page; names as in COMMAND DOCS.
GROUPS = (
    *("generic", "string", "bitmap", "hyperloglog", "list", "set", "sorted-set", "hash", "geo"),
    *("stream", "pubsub", "transactions", "scripting", "connection", "server"),
    "cluster",
)


def with_generated_parts(text: str) -> str:
    """*text* with every generated part made anew. ``KeyError`` for one of an unknown name."""
    return PART.sub(lambda part: f"{part[1]}\n{GENERATORS[part['name']]()}\n{part[3]}", text)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def _cell(text: str) -> str:
    """*text* in a cell of a table."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


# -- docs/commands.md ----------------------------------------------------------------------


def syntax(row: Command) -> str:
    """The first line of a command's documentation: its name and arguments."""
    if row.proc is None:
        return f"{row.name.upper()} subcommand"
    return " ".join((row.proc.__doc__ or "").strip().split("\n\n")[0].split())


def module(row: Command) -> str:
    """The file under ``miniredis/`` that holds the command."""
    if row.proc is None:
        row = next(iter(row.subcommands.values()))
    assert row.proc is not None
    return "/".join(row.proc.__module__.split(".")[1:]) + ".py"


def _entry(row: Command) -> str:
    name = row.name.replace("|", " ").upper()
    flags = [flag for flag in FLAGS if flag in row.flags]
    facts = [
        f"since {row.since}",
        f"module `{module(row)}`",
        f"ACL {' '.join(f'@{word}' for word in row.acl) or 'none'}",
        f"flags {' '.join(flags) or 'none'}",
    ]
    if row.name in DEPRECATED:
        facts.insert(1, f"superseded since {DEPRECATED[row.name]}")
    if row.proc is not None:
        facts.insert(0, row.complexity)
    lines = [f"### {name}", "", f"```\n{syntax(row)}\n```", "", row.summary, ""]
    if row.subcommands:
        lines += [f"Subcommands: {', '.join(s.decode().upper() for s in sorted(row.subcommands))}."]
        lines += [""]
    lines += [f"- {_cell(fact)}" for fact in facts]
    return "\n".join(lines)


def commands() -> str:
    """Every command and subcommand, by group and name."""
    rows = sorted(every_command(), key=lambda row: (GROUPS.index(row.group), row.name))
    parts = []
    for group, found in groupby(rows, key=lambda row: row.group):
        parts.append(f"## {group}")
        parts += map(_entry, found)
    return "\n\n".join(parts) + "\n"


def command_count() -> str:
    rows = every_command()
    tops = sum("|" not in row.name for row in rows)
    return f"There are {tops} commands, with {len(rows) - tops} subcommands.\n"


# -- docs/differences.md -------------------------------------------------------------------


def suite_totals() -> str:
    """The totals of the run that made ``expected.toml``, as a sentence."""
    totals = load().totals()
    return (
        f"Of {totals['units']} units: {totals['ok']} tests pass, {totals['err']} fail, "
        f"{totals['hang']} hang, {totals['skipped']} tests and blocks of tests are skipped; "
        f"{totals['cut']} blocks are cut short and {totals['aborted']} units aborted.\n"
    )


def suite_failures() -> str:
    entries = load().entries
    rows = [
        (e.unit, _cell(e.test), e.state, _cell(e.reason)) for e in entries if e.state != SKIPPED
    ]
    return _table(["unit", "test", "state", "reason"], rows) if rows else "None.\n"


def suite_skips() -> str:
    entries = load().entries
    rows = [
        (e.unit, _cell(e.test) + (f" × {e.times}" if e.times > 1 else ""), _cell(e.reason))
        for e in entries
        if e.state == SKIPPED
    ]
    return _table(["unit", "test", "reason"], rows) if rows else "None.\n"


GENERATORS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "command-count": command_count,
    "suite-totals": suite_totals,
    "suite-failures": suite_failures,
    "suite-skips": suite_skips,
}
