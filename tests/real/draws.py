"""The random numbers of a real server of Redis 7.0, for a simulated one to draw them too.

Redis draws bucket numbers from a generator of its own, a 64-bit Mersenne Twister that it
seeds at start with the time and its process id, and all else from rand() and random() of
the C library. The time is frozen and known, and so is the id; what the C library gives is
replayed, see ``replayed_random.c``.
"""

from __future__ import annotations

import random
import sys

from tests.real.frozen import ReplayedRandom

MASK64 = 2**64 - 1
STATE_WORDS, MIDDLE = 312, 156
RAND_MAX = 2**31 - 1
# Functions of the simulator that draw bucket numbers, and so do what genrand64_int64() is for.
BUCKET_DRAWS = {"get_some_keys", "_some_keys_of_one_table", "_sample_chain"}


class MersenneTwister64:
    """MT19937-64 by Nishimura and Matsumoto."""

    def __init__(self, seed: int) -> None:
        self.state = [seed & MASK64]
        for i in range(1, STATE_WORDS):
            last = self.state[-1]
            self.state.append((6364136223846793005 * (last ^ last >> 62) + i) & MASK64)
        self.index = STATE_WORDS

    def _renew(self) -> None:
        state = self.state
        for i in range(STATE_WORDS):
            x = state[i] & ~0x7FFFFFFF | state[(i + 1) % STATE_WORDS] & 0x7FFFFFFF
            odd = 0xB5026F5AA96619E9 if x & 1 else 0
            state[i] = state[(i + MIDDLE) % STATE_WORDS] ^ x >> 1 ^ odd
        self.index = 0

    def draw(self) -> int:
        """The next 64 bits."""
        if self.index == STATE_WORDS:
            self._renew()
        x = self.state[self.index]
        self.index += 1
        x ^= x >> 29 & 0x5555555555555555
        x ^= x << 17 & 0x71D67FFFEDA60000
        x ^= x << 37 & 0xFFF7EEE000000000
        return x ^ x >> 43


class ServerDraws(random.Random):
    """Draws what a server draws that was started at *start_us* as process *pid*.

    *state* is where the C library's generator goes on from.
    """

    def __init__(self, start_us: int, pid: int, state: int) -> None:
        super().__init__()
        self.buckets = MersenneTwister64(start_us ^ pid)
        self.others = ReplayedRandom(state)

    def randrange(self, start: int, stop: int | None = None) -> int:  # type: ignore[override]
        first, after = (0, start) if stop is None else (start, stop)
        # Of what pick_random_key() draws, the bucket is drawn between two bounds.
        if stop is not None or sys._getframe(1).f_code.co_name in BUCKET_DRAWS:
            return first + self.buckets.draw() % (after - first)
        return self.others.randrange(first, after)

    def random(self) -> float:
        return self.others.randrange(RAND_MAX + 1) / RAND_MAX
