"""Cost models as small TOML files, which ``miniredis calibrate`` writes.

The table ``[cost]`` holds fields of :class:`~miniredis.clock.CostModel`; those left out
keep their defaults. Other tables say where the numbers come from and are not read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from miniredis.clock import CostModel

COST_FIELDS = tuple(field.name for field in fields(CostModel))

Facts = Mapping[str, Mapping[str, str | int | float]]


def read_cost(path: Path) -> CostModel:
    """The cost model in the file *path*.

    ``ValueError`` says what is wrong with the file: no TOML, no table ``[cost]``, a name
    that is no field, a value that is no whole number of ns. ``OSError`` if it cannot be read.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    cost = content.get("cost")
    if not isinstance(cost, dict):
        raise ValueError(f"{path} has no table [cost]")
    for name in cost:
        if name not in COST_FIELDS:
            raise ValueError(f"{path}: [cost] has no {name!r}; it takes {', '.join(COST_FIELDS)}")
    try:
        return CostModel(**cost)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def cost_toml(cost: CostModel, facts: Facts, assumed: frozenset[str] = frozenset()) -> str:
    """The text of a cost file. *facts* are further tables; *assumed* names unmeasured fields."""
    lines = ["# Cost model for miniredis, in ns; see CostModel in miniredis/clock.py.", "[cost]"]
    for name, value in asdict(cost).items():
        note = "  # not measured: the default" if name in assumed else ""
        lines.append(f"{name} = {value}{note}")
    for table, entries in facts.items():
        lines += ["", f"[{table}]"]
        lines += [f"{name} = {_toml_value(value)}" for name, value in entries.items()]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
