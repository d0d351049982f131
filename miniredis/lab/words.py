"""Numbers in sentences."""

from __future__ import annotations


def count(n: int, noun: str, plural: str | None = None) -> str:
    """*n* things: ``1 key``, ``2 keys``, ``1,000 keys``. *plural* is for odd nouns."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
