"""Cost models as small TOML files, which ``miniredis calibrate`` writes.

The table ``[cost]`` holds fields of :class:`~miniredis.clock.CostModel`; those left out
keep their defaults. Other tables say where the numbers come from and are not read.
"""

from __future__ import annotations

import json
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


# What stands beside each number in a file: unit, meaning, and how it was measured.
_NOTES = {
    "clock_read_ns": "ns; one reading of the clock",
    "window_ns": "ns; one window of the cycle",
    "bucket_ns": "ns; visiting one bucket of the expires table",
    "sampled_ns": "ns; looking at one key. Cycle time where half of the keys live, less that "
    "where none does",
    "deleted_ns": "ns; deleting one key. Cycle time per expired key in the small table",
    "rehash_entry_ns": "ns; moving one entry. EXISTS while a full table is rehashed, less EXISTS "
    "at rest",
    "rehash_empty_ns": "ns; passing one bucket. The same while a nearly empty table is rehashed",
    "missed_ns": "ns; more for a key that no cache holds. Cycle time in the large tables, less "
    "that in the small one",
    "cold_ns": "ns; still more just after a sleep. In the default's proportion to missed_ns",
    "cached_buckets": "buckets; how large a table the caches hold. From the two large tables",
}
_ASSUMED = "ns; not measured: the default"


def cost_toml(cost: CostModel, facts: Facts, assumed: frozenset[str] = frozenset()) -> str:
    """The text of a cost file. *facts* are further tables; *assumed* names unmeasured fields."""
    lines = [
        "# What work costs a Redis server, for miniredis: ns of its time, each a whole number.",
        "# expire_cycle_cpu_milliseconds and commandstats of INFO were read around the work.",
        "[cost]",
    ]
    for name, value in asdict(cost).items():
        lines.append(f"# {_ASSUMED if name in assumed else _NOTES[name]}")
        lines.append(f"{name} = {value}")
    for table, entries in facts.items():
        lines += ["", f"[{table}]"]
        lines += [f"{name} = {_toml_value(value)}" for name, value in entries.items()]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    # A JSON string is a TOML basic string.
    return json.dumps(value, ensure_ascii=False)
