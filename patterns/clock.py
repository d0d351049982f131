"""What a pattern asks of time: ``.time()`` and ``.sleep()``, both in seconds.

The standard ``time`` module will do, and is the default everywhere. A virtual clock with
the same two functions makes an hour pass at once.
"""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Anything with the two functions of the ``time`` module that patterns use."""

    def time(self) -> float:
        """Unix time in seconds."""

    def sleep(self, seconds: float, /) -> None:
        """Wait *seconds*."""
