"""Parameter types of the command line."""

from __future__ import annotations

import re
from typing import Any

import click

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\Z")
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Duration(click.ParamType[int]):
    """A time such as ``500ms``, ``10s``, ``2m``, ``1h``, ``7d``, as whole ms."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        match = _DURATION.match(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no time; write e.g. 500ms, 10s, 2m, 1h or 7d", param, ctx)
        ms = round(float(match[1]) * _UNITS_MS[match[2]])
        if not 1 <= ms <= 10**15:
            self.fail(f"{value!r} is out of range: 1 ms to 10^15 ms", param, ctx)
        return ms
