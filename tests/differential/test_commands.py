"""The scripts of ``command_scripts.py`` on miniredis and on a frozen real server.

After every command the replies are the same bytes, and so are the keyspace events; after
every script so are all values, encodings and times to live.
"""

from __future__ import annotations

import re
import shlex

import pytest

from tests.differential import c_habits, command_scripts
from tests.differential.pair import Pair, Step

SCRIPTS = command_scripts.SCRIPTS | c_habits.SCRIPTS
LLONG_MIN, LLONG_MAX = -(2**63), 2**63 - 1


def parse(line: str, now_ms: int) -> Step:
    """A line of a script as a step, with what stands in braces filled in."""
    if line.startswith("@"):
        return int(line[1:])
    which = 1 if line.startswith("b: ") else 0
    values = {
        "{now}": str(now_ms),
        "{now_s}": str(now_ms // 1000),
        "{max}": str(LLONG_MAX),
        "{min}": str(LLONG_MIN),
        "{long}": "x" * 300,
        "{nul}": "\0",
        "{nl}": "\n",
    }
    words = shlex.split(line.removeprefix("b: "))
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    words = [re.sub(r"\{(.)\*(\d+)\}", lambda m: m[1] * int(m[2]), word) for word in words]
    return which, tuple(word.encode() for word in words)


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: Pair, name: str, resp: int) -> None:
    pair.start(resp)
    for line in SCRIPTS[name].strip().splitlines():
        pair.step(parse(line.strip(), pair.frozen.ms))
    pair.compare_all()
