"""The running average of TTLs over many windows, without taking them one by one.

One window with mean TTL ``a`` turns the average ``x`` into ``x // 50 * 49 + a // 50``, in
whole ms, see ``update_avg_ttl`` in ``keyspace/expire.py``. In an idle database the same
windows come again and again, and ``a`` falls as time passes. What is asked for is the
average after millions of them, to the last digit.

How it works. Write ``a`` as the mean instant of death of the window's keys, which stays,
minus the time. Two facts help:

* Let so many rounds of the same windows be a *block* that a block takes a multiple of
  50 ms. Then ``a // 50`` is less by the same whole number ``d`` in each block than in the
  one before, and ``x // 50 * 49 + a // 50`` goes down by ``50 d`` when ``x`` does. So
  measured from a line that falls by ``50 d`` a block, every block does the same to ``x``:
  once a block has left that distance as it was, all that follow will.
* The formula never turns round the order of two averages. If a very low and a very high
  one, let loose some thousand windows before the end, have become equal at the end, every
  average in between has too, so what came before does not matter.

Why both. A single key takes the same step each time; then different averages never meet,
but a block is short. Thousands of keys make a block too long, but different averages meet
after two or three thousand windows. Where neither helps, all windows are worked out.

A worked example: one key, a round of one window, 100,001 µs a round. 50,000 rounds take
5,000,050 ms, a multiple of 50; ``d`` is 100,001. Of 315,000,000 rounds only the first some
100,000 have to be worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from miniredis.keyspace.expire import AVG_TTL_SAMPLES

BLOCK_US = AVG_TTL_SAMPLES * 1000  # a shift of time that divides without a rest
MAX_BLOCK = 2_000_000  # windows of a block that is worth its while
FIRST_TRY = 4096  # windows before the end from which two averages are to meet

#: A window: the mean instant of death of its keys (Unix ms), and when it came in its
#: round (µs from the beginning of the round).
Window = tuple[int, int]


def average_after(
    x: int, windows: Sequence[Window], round_us: int, start_us: int, rounds: int
) -> int:
    """The average, *x* before, after *rounds* rounds of *windows*.

    The first round begins at *start_us* (Unix µs), each takes *round_us*. All keys have
    50 ms or more to live to the end, and *x* is not 0.
    """
    block = BLOCK_US // gcd(round_us, BLOCK_US)  # rounds of a block
    if block * len(windows) <= MAX_BLOCK:
        return _by_blocks(x, windows, round_us, start_us, rounds, block)
    tail = FIRST_TRY // len(windows) + 1
    while tail < rounds:
        begin = start_us + (rounds - tail) * round_us
        low = after(1, windows, round_us, begin, tail)
        highest = max(x, max(mean for mean, _ in windows) - start_us // 1000)
        if low == after(highest, windows, round_us, begin, tail):
            return low
        tail *= 4
    return after(x, windows, round_us, start_us, rounds)


def _by_blocks(
    x: int, windows: Sequence[Window], round_us: int, start_us: int, rounds: int, block: int
) -> int:
    blocks, rest = divmod(rounds, block)
    x = after(x, windows, round_us, start_us, rest)
    start_us += rest * round_us
    fall = block * round_us // 1000  # ms
    while blocks:
        before = x
        x = after(x, windows, round_us, start_us, block)
        start_us += block * round_us
        blocks -= 1
        if x == before - fall:
            return x - blocks * fall
    return x


def after(x: int, windows: Sequence[Window], round_us: int, start_us: int, rounds: int) -> int:
    """The same, worked out window by window."""
    keep = AVG_TTL_SAMPLES - 1
    for n in range(rounds):
        begin = start_us + n * round_us
        for mean, at_us in windows:
            x = x // AVG_TTL_SAMPLES * keep + (mean - (begin + at_us) // 1000) // AVG_TTL_SAMPLES
    return x
