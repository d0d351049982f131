"""A seeded stream of commands: who asks for which key when, and how long keys live.

The same :class:`Workload` gives the same commands on every run, at instants that do not
depend on how the server fares: clients do not wait for one another (an open loop), so
servers with different expiry can be compared command by command. Times to live are sent as
absolute instants for the same reason.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from miniredis.lab.words import count

US_PER_SECOND = 1_000_000
VALUE = b"twenty bytes of value"[:20]  # what INFO's estimate of memory takes a value to be
MAX_TTL_MS = 10**15  # about 31,700 years
MAX_KEYS = 10_000_000
MAX_SKEW = 10
MAX_COMMANDS = 100_000_000  # of one run, which takes some 10 µs a command

FIXED, UNIFORM, EXPONENTIAL, ALIGNED = "fixed", "uniform", "exponential", "aligned"
TTL_KINDS = (FIXED, UNIFORM, EXPONENTIAL, ALIGNED)

#: µs from the beginning, and the command.
Operation = tuple[int, list[bytes]]


class ZipfSampler:
    """Draws 0 ... *n* - 1 so that the chance of ``k`` is proportional to ``1 / (k + 1)**skew``.

    Exact for any *skew* >= 0, 1 included; 0 makes all alike. The weights are added up once,
    and a draw looks for a random share of the sum among them: O(n) to set up, O(log n) a draw.

    With n = 3 and skew 1 the weights are 1, 1/2, 1/3; added up 1, 1.5, 1.833. A random
    number below 1 gives 0 (54.5 %), below 1.5 gives 1 (27.3 %), else 2 (18.2 %).
    """

    def __init__(self, n: int, skew: float, rng: random.Random) -> None:
        if n < 1:
            raise ValueError(f"a Zipf distribution needs at least one value, got n={n}")
        if not 0 <= skew <= MAX_SKEW:
            raise ValueError(f"skew must be 0 (all alike) to {MAX_SKEW}, got {skew!r}")
        self.n = n
        self.rng = rng
        self._sums = None if skew == 0 else list(accumulate(k**-skew for k in range(1, n + 1)))

    def draw(self) -> int:
        """One value."""
        sums = self._sums
        if sums is None:
            return int(self.rng.random() * self.n)
        # Rounding may lift the product to the sum itself; hi keeps that within the range.
        return bisect(sums, self.rng.random() * sums[-1], 0, self.n - 1)


@dataclass(frozen=True, slots=True)
class TtlDistribution:
    """How long keys are to live, in ms.

    ``fixed``: each *ttl_ms*. ``uniform``: evenly between *ttl_ms* and *ttl_max_ms*.
    ``exponential``: with mean *ttl_ms*. ``aligned``: until the next multiple of *ttl_ms*
    in Unix time, so that all keys written meanwhile die together, as with "until midnight".
    """

    kind: str = UNIFORM
    ttl_ms: int = 1_000
    ttl_max_ms: int | None = 10_000

    def __post_init__(self) -> None:
        if self.kind not in TTL_KINDS:
            raise ValueError(f"a TTL distribution is {', '.join(TTL_KINDS)}, not {self.kind!r}")
        if not 1 <= self.ttl_ms <= MAX_TTL_MS:
            raise ValueError(f"a TTL must be 1 to 10^15 ms, got {self.ttl_ms}")
        if self.kind == UNIFORM:
            if self.ttl_max_ms is None or not self.ttl_ms <= self.ttl_max_ms <= MAX_TTL_MS:
                raise ValueError(
                    f"uniform TTLs need a longest one, {self.ttl_ms} to 10^15 ms, "
                    f"got {self.ttl_max_ms}"
                )
        elif self.ttl_max_ms is not None:
            raise ValueError(f"only uniform TTLs have a longest one, {self.kind} ones do not")

    def draw(self, rng: random.Random, now_ms: int) -> int:
        """The Unix time in ms until which a key written at *now_ms* is to live."""
        if self.kind == UNIFORM:
            assert self.ttl_max_ms is not None
            return now_ms + self.ttl_ms + int(rng.random() * (self.ttl_max_ms - self.ttl_ms + 1))
        if self.kind == EXPONENTIAL:
            return now_ms + max(round(rng.expovariate(1 / self.ttl_ms)), 1)
        if self.kind == ALIGNED:
            return (now_ms // self.ttl_ms + 1) * self.ttl_ms
        return now_ms + self.ttl_ms

    def __str__(self) -> str:
        seconds = f"{self.ttl_ms / 1000:g} s"
        if self.kind == UNIFORM and self.ttl_max_ms is not None:
            return f"TTL {self.ttl_ms / 1000:g} to {self.ttl_max_ms / 1000:g} s"
        if self.kind == EXPONENTIAL:
            return f"TTL exponential, mean {seconds}"
        return f"TTL {seconds}" if self.kind == FIXED else f"TTL to the next full {seconds}"


@dataclass(frozen=True, slots=True)
class Workload:
    """*rate* commands a second at random instants for *duration_ms*, on *keys* different keys.

    Of the commands a share *reads* are GET, *expires* PEXPIREAT, *persists* PERSIST,
    *deletes* DEL, and the rest SET with a time to live. Reads choose keys by Zipf's law with
    *skew*, all others with *write_skew*; key 0 is the most popular for both.
    """

    keys: int = 20_000
    rate: float = 3_000  # commands a second
    duration_ms: int = 40_000
    reads: float = 0.7
    expires: float = 0.03
    persists: float = 0.0
    deletes: float = 0.02
    skew: float = 1.0
    write_skew: float = 0.0
    ttls: TtlDistribution = field(default_factory=TtlDistribution)
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.keys <= MAX_KEYS:
            raise ValueError(f"keys must be 1 to {MAX_KEYS:,}, got {self.keys}")
        if not 0 < self.rate <= US_PER_SECOND:
            raise ValueError(f"rate must be above 0, at most 10^6 commands/s, got {self.rate!r}")
        if not 1 <= self.duration_ms <= MAX_TTL_MS:
            raise ValueError(f"duration must be 1 to 10^15 ms, got {self.duration_ms}")
        commands = self.rate * self.duration_ms / 1000
        if commands > MAX_COMMANDS:
            raise ValueError(
                f"{self.rate:,g} commands/s for {self.duration_ms / 1000:,g} s are {commands:,.0f} "
                f"commands; at most {MAX_COMMANDS:,} can be waited for"
            )
        for name in ("reads", "expires", "persists", "deletes"):
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise ValueError(f"{name} is a share of the commands, 0 to 1, got {share!r}")
        if self.other_than_set > 1 + 1e-9:
            raise ValueError(
                f"reads, expires, persists and deletes add up to {self.other_than_set:g}; "
                "at most 1, what is left are SETs"
            )
        for name in ("skew", "write_skew"):
            if not 0 <= getattr(self, name) <= MAX_SKEW:
                raise ValueError(f"{name} must be 0 to {MAX_SKEW}, got {getattr(self, name)!r}")

    @property
    def other_than_set(self) -> float:
        """The share of commands that are no SET."""
        return self.reads + self.expires + self.persists + self.deletes

    def __str__(self) -> str:
        return (
            f"{self.rate:,g} command{'' if self.rate == 1 else 's'}/s "
            f"for {self.duration_ms / 1000:g} s "
            f"on {count(self.keys, 'key')}, "
            f"{self.reads:.0%} reads, skew {self.skew:g}, {self.ttls}, seed {self.seed}"
        ).replace("%", " %")

    def operations(self, start_ms: int) -> Iterator[Operation]:
        """The commands in the order of their instants; *start_ms* is the Unix time at 0."""
        rng = random.Random(self.seed)
        read_key = ZipfSampler(self.keys, self.skew, rng).draw
        write_key = ZipfSampler(self.keys, self.write_skew, rng).draw
        draw_ttl, random_share = self.ttls.draw, rng.random
        expire_below = self.reads + self.expires
        persist_below = expire_below + self.persists
        delete_below = persist_below + self.deletes
        per_us = self.rate / US_PER_SECOND
        end_us = self.duration_ms * 1000
        at = rng.expovariate(per_us)
        while at < end_us:
            at_us = int(at)
            share = random_share()
            if share < self.reads:
                yield at_us, [b"GET", b"key:%d" % read_key()]
            else:
                key = b"key:%d" % write_key()
                if share >= delete_below:
                    when = draw_ttl(rng, start_ms + at_us // 1000)
                    yield at_us, [b"SET", key, VALUE, b"PXAT", b"%d" % when]
                elif share < expire_below:
                    when = draw_ttl(rng, start_ms + at_us // 1000)
                    yield at_us, [b"PEXPIREAT", key, b"%d" % when]
                elif share < persist_below:
                    yield at_us, [b"PERSIST", key]
                else:
                    yield at_us, [b"DEL", key]
            at += rng.expovariate(per_us)
