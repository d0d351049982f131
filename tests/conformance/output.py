"""What ``runtest`` prints, as results of tests.

Each line about a test begins with its state in brackets. An error may go on over several
lines, up to the next line in brackets. With ``--durable`` an error outside of any test does
not end the unit, but cuts short the block of tests it happens in; it is told by the name of
the unit's file, which is missing.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field

LINE = re.compile(r"^\[(?:\S+ )?(?P<kind>[\w ]+)\]: ?(?P<text>.*)$")
DONE = re.compile(r"^\[\d+/\d+ done\]: ")
COLOR = re.compile(r"\x1b\[[0-9;]*m")
TOOK = re.compile(r" \(\d+ ms\)$")
IN_FILE = re.compile(r"^(?P<name>.*) in tests/\S+\.tcl$")
# Why a test or a block is left out, with the test's name before it.
IGNORED = re.compile(
    r"^(?:(?P<name>.*): )?(?P<why>Tag: \S.*|Not supported \S.*|large memory flag not provided)$"
)
RUNNING = re.compile(r"=> \(IN PROGRESS\) (?P<name>.*)$")
THE_END = "The End"
# As a block skipped for its tags has no name, this stands for it.
BLOCK = "(a block of tests)"

OK, ERR, SKIPPED, HANG = "ok", "err", "skipped", "hang"
DONE_UNIT, ABORTED, TIMED_OUT, NO_SERVER = "done", "aborted", "time limit", "no server"


@dataclass
class Test:
    """One test: its name, its state, and why it failed or was skipped."""

    __test__ = False  # for pytest

    name: str
    state: str
    why: str = ""


@dataclass
class Unit:
    """One unit: its tests in the order they ran, and how it ended.

    ``ended`` is ``done``, ``aborted`` (an error outside of a test), ``time limit`` or ``no
    server``; ``why`` says more. ``cut`` are the errors that ended a block of tests.
    """

    name: str
    tests: list[Test] = field(default_factory=list)
    ended: str = ABORTED
    why: str = ""
    cut: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, state: str) -> int:
        return sum(test.state == state for test in self.tests)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def parse(unit: str, text: str) -> Unit:
    """The results of one run of *unit* whose output is *text*.

    A test that was running when the suite gave up waiting is the last one, a ``hang``.
    """
    found = Unit(unit)
    why: list[str] | None = None  # lines of the error that is being read
    for raw in COLOR.sub("", text).split("\n"):
        line = LINE.match(raw)
        if why is not None and line is None and THE_END not in raw and not DONE.match(raw):
            why.append(raw)
            continue
        if why is not None:
            _add_error(found, why)
            why = None
        if THE_END in raw:
            found.ended = DONE_UNIT if found.why == "" else found.ended
            break
        if (running := RUNNING.search(raw)) and found.why == "no progress":
            found.tests.append(Test(running["name"], HANG, found.why))
        if line is None:
            continue
        kind, rest = line["kind"], line["text"]
        if kind == "ok":
            found.tests.append(Test(TOOK.sub("", rest), OK))
        elif kind == "err":
            why = [rest]
        elif kind == "skip":
            found.tests.append(Test(rest, SKIPPED, "asked for"))
        elif kind == "ignore":
            ignored = IGNORED.match(rest)
            name, reason = (ignored["name"], ignored["why"]) if ignored else (None, rest)
            found.tests.append(Test(name or BLOCK, SKIPPED, reason))
        elif kind == "exception":
            found.why = rest
        elif kind == "TIMEOUT":
            found.why = "no progress"
    if why is not None:
        _add_error(found, why)
    return found


def _add_error(unit: Unit, lines: list[str]) -> None:
    in_file = IN_FILE.match(lines[0])
    if in_file is None:
        unit.cut.append("\n".join(lines).strip())
    else:
        unit.tests.append(Test(in_file["name"], ERR, "\n".join(lines[1:]).strip()))
