"""Numbers in sentences."""

from __future__ import annotations


def count(n: int, noun: str, plural: str | None = None) -> str:
    """*n* things: ``1 key``, ``2 keys``, ``1,000 keys``. *plural* is for odd nouns."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def milliseconds(ms: int | None) -> str:
    """A time within a run, None being one that the run did not see: ``1,234 ms``."""
    return "not within the run" if ms is None else f"{ms:,} ms"
