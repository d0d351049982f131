"""What a ``Server`` and its methods accept from a Python caller, said in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from miniredis.clock import Clock, CostModel, SkewedClock
from miniredis.keyspace.expire import StaleGate


def check_clock(clock: object) -> None:
    """``TypeError`` unless a server can run on *clock*."""
    if isinstance(clock, SkewedClock):
        raise TypeError("a Server needs the true clock; a SkewedClock is for its clients")
    if not isinstance(clock, Clock):
        raise TypeError(f"clock must be a SystemClock or VirtualClock, not {clock!r}")


def check_options(
    seed: object, cost: object, hash_function: object, stale_gate: object, record_history: object
) -> None:
    """``TypeError`` for an argument of ``Server`` that is none of what it may be."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise TypeError(f"seed must be an int or None, not {seed!r}")
    if cost is not None and not isinstance(cost, CostModel):
        raise TypeError(f"cost must be a miniredis.CostModel or None, not {cost!r}")
    if hash_function is not None and not callable(hash_function):
        raise TypeError(
            f"hash_function must be a function of bytes to int or None, not {hash_function!r}"
        )
    if not isinstance(stale_gate, StaleGate):
        gates = ", ".join(f"StaleGate.{gate.name}" for gate in StaleGate)
        raise TypeError(f"stale_gate must be one of {gates}, not {stale_gate!r}")
    if not isinstance(record_history, bool):
        raise TypeError(f"record_history must be a bool, not {record_history!r}")


def check_database(number: object, databases: int) -> None:
    """``TypeError`` or ``ValueError`` unless there is a database of this number."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"a database is an int from 0 to {databases - 1}, not {number!r}")
    if not 0 <= number < databases:
        raise ValueError(f"database {number!r} does not exist: 0...{databases - 1}")


def section_names(sections: Sequence[bytes | str]) -> list[bytes]:
    """Sections of INFO as bytes; ``TypeError`` if they are no list of names."""
    if isinstance(sections, (str, bytes)):
        raise TypeError(f"info() takes a list of sections such as [{sections!r}]")
    names = [name.encode() if isinstance(name, str) else name for name in sections]
    for name in names:
        if not isinstance(name, bytes):
            raise TypeError(f"a section of INFO is bytes or str, not {name!r}")
    return names


def refuse_copy(server: Any) -> NoReturn:
    """Copying would give two servers that share keys, clients and lock."""
    raise TypeError(
        f"a {type(server).__name__} cannot be copied or pickled; make another one, and fill it "
        "by commands"
    )
