"""Keys with many different times to live: how large the stale share settles.

Times to live are even between 0 and 100 s. Either all keys are written at once and the
state is watched from 20 to 90 s, or keys flow in at a constant rate and it is watched
from 110 to 190 s, when as many die as are written. Two numbers are compared: the true
share of dead keys among those held, and ``expired_stale_perc`` of INFO, which describes
what the cycle's cursor meets, and that is what was left alone the longest.
"""

from __future__ import annotations

import csv
import random
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from statistics import mean

from miniredis.clock import US_PER_MS, CostModel, VirtualClock
from miniredis.lab.experiments import Progress
from miniredis.server.server import Server

ONESHOT = "oneshot"
INFLOW = "inflow"
MAX_TTL_MS = 100_000
ONESHOT_WINDOW_MS = (20_000, 90_000)
INFLOW_WINDOW_MS = (110_000, 190_000)
WRITE_STEP_MS = 10  # keys that flow in come in pipelines so far apart
SAMPLE_MS = 70  # no multiple of a cron's period, so that all its phases are seen


@dataclass(frozen=True, slots=True)
class MixedSetting:
    """*amount* is a number of keys (oneshot) or of keys a second (inflow)."""

    kind: str
    amount: int
    effort: int
    hz: int

    def __post_init__(self) -> None:
        if self.kind not in (ONESHOT, INFLOW):
            raise ValueError(f"kind must be {ONESHOT!r} or {INFLOW!r}, not {self.kind!r}")
        if self.amount < 1:
            raise ValueError(f"amount must be 1 or more, got {self.amount}")


@dataclass(frozen=True, slots=True)
class MixedResult:
    """Means and extremes over the watched time, in percent."""

    true_mean: float
    true_min: float
    true_max: float
    info_mean: float
    info_min: float
    info_max: float
    cpu_percent: float  # of the cycle, of the watched time
    time_caps: int


def measured_mixed() -> dict[MixedSetting, MixedResult]:
    """What redis-server 7.0.15 showed, by setting."""
    table = {}
    with resources.files("miniredis.lab").joinpath("data", "mixed.csv").open() as file:
        for row in csv.DictReader(file):
            setting = MixedSetting(row["kind"], int(row["N"]), int(row["effort"]), int(row["hz"]))
            table[setting] = MixedResult(
                float(row["true_stale_mean"]),
                float(row["true_stale_min"]),
                float(row["true_stale_max"]),
                float(row["info_mean"]),
                float(row["info_min"]),
                float(row["info_max"]),
                float(row["cpu_pct"]),
                int(row["time_cap"]),
            )
    return table


def run_mixed(
    setting: MixedSetting,
    *,
    seed: int = 0,
    cost: CostModel | None = None,
    progress: Progress | None = None,
) -> MixedResult:
    """Simulate *setting*. O(keys written); a million keys take about 20 s."""
    clock = VirtualClock()
    server = Server(clock, seed=seed, cost=cost, hz=setting.hz, active_expire_effort=setting.effort)
    run = _Run(server, clock, setting, random.Random(seed), progress)
    return run.result()


class _Run:
    """One simulation: what is written when, and what was sampled."""

    def __init__(
        self,
        server: Server,
        clock: VirtualClock,
        setting: MixedSetting,
        rng: random.Random,
        progress: Progress | None,
    ) -> None:
        self.server, self.clock, self.progress = server, clock, progress
        self.start_ms = clock.ms()
        inflow = setting.kind == INFLOW
        self.window = INFLOW_WINDOW_MS if inflow else ONESHOT_WINDOW_MS
        # Each key's instants of writing and of death, in order of writing.
        total = setting.amount * self.window[1] // 1000 if inflow else setting.amount
        self.keys = [
            (t, t + rng.randrange(1, MAX_TTL_MS + 1))
            for t in (1000 * i // setting.amount if inflow else 0 for i in range(total))
        ]
        self.deadlines = sorted(death for _, death in self.keys)

    def result(self) -> MixedResult:
        server = self.server
        true: list[float] = []
        info: list[float] = []
        first, last = self.window
        before: tuple[int, int] | None = None
        writer = self._write()
        for t in range(0, last + 1, WRITE_STEP_MS):
            self._advance_to(t)
            next(writer)
            if t < first or t % SAMPLE_MS:
                continue
            before = before or self._counters()
            held = server.dbsize()
            died = bisect_left(self.deadlines, self.clock.ms() - self.start_ms)
            true.append(100 * (died - server.stat_expiredkeys) / held if held else 0.0)
            info.append(100 * server.stat_expired_stale_perc)
            if self.progress is not None:
                self.progress("expire", t, last)
        assert before is not None
        cycle_us, caps = (now - then for now, then in zip(self._counters(), before, strict=True))
        cpu = 100 * cycle_us / ((last - first) * US_PER_MS)
        return MixedResult(
            mean(true), min(true), max(true), mean(info), min(info), max(info), cpu, caps
        )

    def _advance_to(self, t_ms: int) -> None:
        """Go to *t_ms* after the start, unless work has taken the clock beyond already."""
        target = (self.start_ms + t_ms) * US_PER_MS
        self.clock.advance_to_us(max(target, self.clock.us()))

    def _write(self) -> Iterator[None]:
        """Each step writes the keys that are due by now."""
        client = self.server.create_client()
        process = self.server.process_command
        written = 0
        while True:
            now = self.clock.ms() - self.start_ms
            while written < len(self.keys) and self.keys[written][0] <= now:
                when = self.start_ms + self.keys[written][1]
                process(client, [b"SET", b"key:%d" % written, b"x", b"PXAT", b"%d" % when])
                written += 1
            yield

    def _counters(self) -> tuple[int, int]:
        server = self.server
        return server.stat_expire_cycle_time_used, server.stat_expired_time_cap_reached_count
