"""``math.random`` and ``math.randomseed`` with Redis's generator.

The same seed gives the same numbers everywhere, so the sequence is Redis's own: the 48-bit
linear congruence of drand48. Each server begins with the seed 0 state.

Redis: rand.c, script_lua.c ``redis_math_random()``
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from miniredis.scripting.arguments import check_integer
from miniredis.scripting.errors import ScriptError, argument_error

REDIS_LRAND48_MAX = 2**31 - 1
_A, _C, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
_LOW_WORD = 0x330E  # what srand48() puts below the seed
_START = 0x1234ABCD330E


class MathRandom:
    """The state of one interpreter's generator."""

    def __init__(self) -> None:
        self.state = _START
        self.usable: Callable[[], bool] = lambda: True

    def functions(self) -> dict[str, Callable[..., Any]]:
        """For the library ``math``."""
        return {"random": self.random, "randomseed": self.randomseed}

    def lrand48(self) -> int:
        """The next 31 bits. rand.c: redisLrand48()"""
        self.state = self.state * _A + _C & _MASK
        return self.state >> 17

    def random(self, *args: Any) -> float:
        """A number in [0, 1), or an integer in 1...m or in l...u."""
        self._check_running("random")
        r = self.lrand48() % REDIS_LRAND48_MAX / REDIS_LRAND48_MAX
        if not args:
            return r
        if len(args) == 1:
            upper = _int(args, 1)
            if upper < 1:
                raise argument_error(1, "random", "interval is empty")
            return math.floor(r * upper) + 1
        if len(args) == 2:
            lower, upper = _int(args, 1), _int(args, 2)
            if lower > upper:
                raise argument_error(2, "random", "interval is empty")
            return math.floor(r * (upper - lower + 1)) + lower
        raise ScriptError("wrong number of arguments")

    def randomseed(self, *args: Any) -> None:
        """Begin a sequence anew. rand.c: redisSrand48()"""
        self._check_running("randomseed")
        self.state = (check_integer(args, 1, "randomseed") & 0xFFFF_FFFF) << 16 | _LOW_WORD

    def _check_running(self, name: str) -> None:
        if not self.usable():
            raise ScriptError(f"math.{name} can only be called inside a script invocation")


def _int(args: tuple[Any, ...], position: int) -> int:
    """A C int: the low 32 bits, signed."""
    low = check_integer(args, position, "random") & 0xFFFF_FFFF
    return low - 2**32 if low & 0x8000_0000 else low
