"""What is known to fail, in ``expected.toml``, and how a run differs from it.

An entry names a unit, a test, its state and the reason. Tests of one name and block are one
entry. Only the reasons are written by hand; the rest comes from a run (``--write``).
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.output import BLOCK, DONE_UNIT, ERR, HANG, OK, SKIPPED, Unit

EXPECTED = Path(__file__).parent / "expected.toml"
CUT = "(an error outside of a test)"
UNEXPLAINED = "?"
# Why the suite itself skips a test, with any server.
SKIPS = {
    "Not supported on external server": "needs a server that the suite starts itself",
    "Tag: slow denied": "slow: not run with `--tags=-slow`",
    "large memory flag not provided": "needs `--large-memory`",
}
HEADER = """\
# Tests of Redis's suite that fail or are skipped, and why. Made by
# `python -m tests.conformance PATH --write`; the reasons are written by hand and kept.
"""
Key = tuple[str, str, str]  # unit, test, state


@dataclass(frozen=True, slots=True)
class Entry:
    """A test that does not pass. *times* counts blocks without a name that are alike."""

    unit: str
    test: str
    state: str
    reason: str
    times: int = 1

    @property
    def key(self) -> Key:
        return (self.unit, self.test, self.state)


def load(path: Path = EXPECTED) -> tuple[dict[str, int], list[Entry]]:
    """The totals of the run that made the file, and its entries."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return data.get("totals", {}), [Entry(**entry) for entry in data.get("entry", [])]


def not_passed(units: list[Unit], known: list[Entry] = ()) -> list[Entry]:  # type: ignore[assignment]
    """Entries for all that did not pass in *units*, with the reasons of *known*."""
    reasons = {entry.key: entry.reason for entry in known}
    counts: Counter[Key] = Counter()
    told: dict[Key, str] = {}
    for unit in units:
        found = [(t.name, t.state, t.why) for t in unit.tests if t.state in (ERR, HANG, SKIPPED)]
        found += [(CUT, ERR, why) for why in unit.cut]
        if unit.ended != DONE_UNIT:
            found.append((CUT, unit.ended, unit.why))
        for name, state, why in found:
            if name == BLOCK:
                name = f"{BLOCK[:-1]}: {SKIPS.get(why, why)})"
            key = (unit.name, name, state)
            counts[key] += 1
            told.setdefault(key, why)
    return [
        Entry(*key, reasons.get(key) or SKIPS.get(told[key], UNEXPLAINED), n)
        for key, n in counts.items()
    ]


def compare(units: list[Unit], known: list[Entry]) -> tuple[list[Key], list[Key]]:
    """What does not pass and is not in *known*; what is in *known* and passes.

    Entries of units that did not run are not judged.
    """
    now = {entry.key for entry in not_passed(units)}
    then = {entry.key for entry in known}
    ran = {unit.name for unit in units}
    return sorted(now - then), sorted(key for key in then - now if key[0] in ran)


def totals(units: list[Unit]) -> dict[str, int]:
    counts = {state: sum(unit.count(state) for unit in units) for state in (OK, ERR, SKIPPED, HANG)}
    return {
        "units": len(units),
        **counts,
        "cut": sum(len(unit.cut) for unit in units),
        "aborted": sum(unit.ended != DONE_UNIT for unit in units),
    }


def dump(units: list[Unit], known: list[Entry]) -> str:
    """The text of ``expected.toml`` for *units*, with the reasons of *known*."""
    lines = [HEADER, "[totals]"]
    lines += [f"{name} = {n}" for name, n in totals(units).items()]
    for entry in not_passed(units, known):
        lines += ["", "[[entry]]"]
        for name in ("unit", "test", "state", "reason"):
            lines.append(f"{name} = {_string(getattr(entry, name))}")
        if entry.times > 1:
            lines.append(f"times = {entry.times}")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    """A basic string of TOML; JSON's escapes are among its own."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
