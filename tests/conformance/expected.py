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
# The counts of a unit, in this order; ``aborted`` is 1 if it did not run to its end.
COUNTS = ("ok", "err", "skipped", "hang", "cut", "aborted")
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


@dataclass(frozen=True)
class Expected:
    """What is known: the counts of each unit, and what does not pass."""

    units: dict[str, dict[str, int]]
    entries: list[Entry]

    def totals(self) -> dict[str, int]:
        """The sums over all units, and their number."""
        found = Counter[str]()
        for counts in self.units.values():
            found.update(counts)
        return {"units": len(self.units), **{name: found[name] for name in COUNTS}}


def load(path: Path = EXPECTED) -> Expected:
    """What is known; nothing if there is no such file."""
    if not path.exists():
        return Expected({}, [])
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Expected(data.get("units", {}), [Entry(**entry) for entry in data.get("entry", [])])


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


def counts(unit: Unit) -> dict[str, int]:
    """How many tests of *unit* are in each state, blocks cut short, and whether it ended early."""
    numbers = [*map(unit.count, (OK, ERR, SKIPPED, HANG)), len(unit.cut), unit.ended != DONE_UNIT]
    return dict(zip(COUNTS, map(int, numbers), strict=True))


def totals(units: list[Unit]) -> dict[str, int]:
    return Expected({unit.name: counts(unit) for unit in units}, []).totals()


def dump(units: list[Unit], known: Expected) -> str:
    """The text of ``expected.toml`` after a run of *units*, with the reasons of *known*.

    What is known of units that did not run stays as it is.
    """
    ran = {unit.name for unit in units}
    of_units = {**known.units, **{unit.name: counts(unit) for unit in units}}
    lines = [HEADER, "[units]"]
    for name in sorted(of_units):
        shown = ", ".join(f"{key} = {n}" for key, n in of_units[name].items())
        lines.append(f"{_string(name)} = {{ {shown} }}")
    entries = [entry for entry in known.entries if entry.unit not in ran]
    entries += not_passed(units, known.entries)
    for entry in sorted(entries, key=lambda entry: entry.unit):
        lines += ["", "[[entry]]"]
        for name in ("unit", "test", "state", "reason"):
            lines.append(f"{name} = {_string(getattr(entry, name))}")
        if entry.times > 1:
            lines.append(f"times = {entry.times}")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    """A basic string of TOML; JSON's escapes are among its own."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
