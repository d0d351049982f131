"""What a demonstration plays on: a server, clients of it, clocks, and a place to talk.

The demonstration does not know whether the server is a simulator in virtual time or a real
one: it waits by ``stage.clock.sleep`` and says by ``stage.say``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import redis

from patterns.clock import Clock

PREFIX = "demo:"


@dataclass
class Stage:
    """A server and its time.

    ``new_client`` makes a client with ``decode_responses`` on; ``clock`` is the true time;
    ``say`` prints a line, with the time since the beginning before it.
    """

    new_client: Callable[[], redis.Redis]
    clock: Clock
    print: Callable[[str], None] = print
    virtual: bool = True
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock.time()

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return self.clock.time() - self.started

    def say(self, text: str) -> None:
        """Print *text* with the time before it."""
        self.print(f"{self.now:8.3f} s  {text}")

    def skewed(self, seconds: float) -> Clock:
        """The clock of a machine that is *seconds* ahead."""
        return Skewed(self.clock, seconds)


@dataclass(frozen=True)
class Skewed:
    """Another clock seen with a constant error; sleeping is the same."""

    base: Clock
    ahead: float  # seconds

    def time(self) -> float:
        return self.base.time() + self.ahead

    def sleep(self, seconds: float, /) -> None:
        self.base.sleep(seconds)


def clear(conn: redis.Redis, pattern: str) -> None:
    """Delete the keys of a demonstration, found by SCAN."""
    for key in list(conn.scan_iter(match=pattern)):
        conn.delete(key)
