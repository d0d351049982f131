"""Parameter types of the command line."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from miniredis.lab.workload import MAX_TTL_MS

LONGEST_NUMBER = 99  # letters; a time written with more is out of range
LONGEST_SHOWN = 40  # letters of what was typed, in a message

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)\Z")
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Duration(click.ParamType[int]):
    """A time such as ``500ms``, ``10s``, ``2m``, ``1h``, ``7d``, as whole ms."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        text = str(value).strip()
        match = _DURATION.match(text)
        if match is None:
            self.fail(f"{shown(text)} is no time; write e.g. 500ms, 10s, 2m, 1h or 7d", param, ctx)
        ms = 0
        if len(text) <= LONGEST_NUMBER:
            ms = round(Decimal(match[1]) * _UNITS_MS[match[2]])
        if not 1 <= ms <= MAX_TTL_MS:
            self.fail(f"{shown(text)} is out of range: 1 ms to 10^15 ms", param, ctx)
        return ms


class FilePath(click.ParamType[Path]):
    """The name of a file; not an empty one."""

    name = "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        if isinstance(value, Path):
            return value
        if not value:
            self.fail("a file name is needed, not an empty one", param, ctx)
        return Path(value)


def shown(text: str, longest: int = LONGEST_SHOWN) -> str:
    """*text* in quotes for a message, cut if it is long."""
    return repr(text if len(text) <= longest else text[: longest - 3] + "...")
