"""Experiments in virtual time. The main one: how keys with given TTLs go away.

:func:`run_expiry` writes keys to a simulated server, lets time pass until the active
cycle has deleted them all, and returns what was seen as an :class:`ExpiryResult`: every
number that the figures show and the command line prints.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from miniredis.clock import DEFAULT_START_MS, US_PER_MS, CostModel, VirtualClock
from miniredis.keyspace.engine import DEFAULT_ENGINE
from miniredis.keyspace.expire import CycleReport, ExitReason
from miniredis.lab.observer import Observer
from miniredis.lab.recorder import ExpiryRecorder, IdleCrons
from miniredis.lab.words import count
from miniredis.lab.workload import MAX_TTL_MS
from miniredis.net.sighting import Sighting, seen_gone_ms
from miniredis.server.server import Server

SHARES = (0.50, 0.90, 0.99, 1.00)  # of the keys, whose time of being gone is reported
CURVE_POINTS = 600  # of each curve over time
DEFAULT_PATIENCE_MS = 60_000  # how long after the last death the run goes on
PROGRESS_STEPS = 200  # calls of the progress hook while writing
FAR_TICKS = 5  # to the next death: then the time until it is passed over if it is idle
MAX_TICKS = 2_000_000  # runs of the cron that an experiment may take, one by one: a minute
MAX_IDLE_TICKS = 20_000_000  # or worked out as idle, see ``server/idle.py``: some minutes
KEYS_OF_A_WINDOW = 20  # that a tick of an idle server passes

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Curve:
    """States over time, each holding until the next. ``t_ms`` counts from the writing of the
    keys. Where keys were deleted there are two states of the same instant, before and after.
    """

    t_ms: list[float] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    dead_held: list[int] = field(default_factory=list)
    stale_share: list[float] = field(default_factory=list)  # true, 0...1


@dataclass(slots=True)
class ExpiryResult:
    """What :func:`run_expiry` saw.

    Times are in ms from the writing of the keys unless a name says otherwise; shares are
    fractions. ``gone_ms`` maps each of SHARES to the time by which that share of the keys
    was deleted, None if it was not within the run. ``peak_dead_held`` is the largest number
    of dead keys held at one instant, ``peak_stale_share`` their largest true share among
    those held, which is 1 as soon as only dead ones are left. Idle cycles that were passed
    over are in ``idle`` and not among ``cycles``.
    """

    keys: int
    hz: int
    effort: int
    seed: int
    start_ms: int  # Unix ms
    first_death_ms: int
    last_death_ms: int
    end_ms: int
    gone_ms: dict[float, int | None]
    curve: Curve
    lags_ms: list[int]  # sorted
    cycles: list[CycleReport]
    cycle_us: int
    time_cap_reached: int
    remaining: int
    peak_stale_share: float
    peak_dead_held: int
    idle: list[IdleCrons] = field(default_factory=list)
    engine: str = DEFAULT_ENGINE
    sightings: list[Sighting] = field(default_factory=list)  # of the observer, if there was one

    @property
    def cpu_share(self) -> float:
        """Cycle time as a share of the time from the first death to the end."""
        span_us = (self.end_ms - self.first_death_ms) * 1000
        return self.cycle_us / span_us if span_us > 0 else 0.0

    def cycles_of(self, type: str) -> list[CycleReport]:
        """The cycles of *type* ``slow`` or ``fast`` that ran from the first death on."""
        first_us = (self.start_ms + self.first_death_ms) * 1000
        return [c for c in self.cycles if c.type == type and c.start_us >= first_us]

    def number_of(self, type: str) -> int:
        """How many cycles of *type* there were from the first death on, idle ones included."""
        return len(self.cycles_of(type)) + (self.idle_cycles if type == "slow" else 0)

    @property
    def idle_cycles(self) -> int:
        """Slow cycles from the first death on that found nothing to do and were passed over."""
        first_us = (self.start_ms + self.first_death_ms) * 1000
        return sum(idle.runs for idle in self.idle if idle.first_us >= first_us)

    def lag_percentile(self, share: float) -> int | None:
        """The deletion lag in ms that *share* of all keys did not exceed.

        None if so many were not deleted within the run.
        """
        rank = max(math.ceil(share * self.keys), 1)
        return self.lags_ms[rank - 1] if rank <= len(self.lags_ms) else None

    def seen_gone_ms(self, share: float) -> float | None:
        """When the observer first saw *share* of the keys gone, in ms from the first death.

        None if there was no observer, or it never did.
        """
        seen = seen_gone_ms(self.sightings, self.keys, share)
        return None if seen is None else seen - self.first_death_ms

    def as_dict(self) -> dict[str, Any]:
        """The numbers for programs: everything the table shows, JSON-ready."""
        first = self.first_death_ms
        return {
            "keys": self.keys,
            "hz": self.hz,
            "active_expire_effort": self.effort,
            "engine": self.engine,
            "seed": self.seed,
            "first_death_ms": first,
            "last_death_ms": self.last_death_ms,
            "gone_ms": {f"{share:.0%}": ms for share, ms in self.gone_ms.items()},
            "gone_after_first_death_ms": {
                f"{share:.0%}": None if ms is None else ms - first
                for share, ms in self.gone_ms.items()
            },
            "peak_dead_held": self.peak_dead_held,
            "peak_stale_share": round(self.peak_stale_share, 6),
            "slow_cycles": self.number_of("slow"),
            "fast_cycles": self.number_of("fast"),
            "time_limit_exits": self.time_cap_reached,
            "cycle_cpu_ms": self.cycle_us / 1000,
            "cpu_share": round(self.cpu_share, 6),
            "lag_ms": {f"p{p}": self.lag_percentile(p / 100) for p in (50, 90, 99, 100)},
            "remaining": self.remaining,
        }


def run_expiry(
    ttls_ms: Sequence[int],
    *,
    hz: int = 10,
    effort: int = 1,
    seed: int = 0,
    cost: CostModel | None = None,
    engine: str = DEFAULT_ENGINE,
    poll_ms: float = 0,
    lead_ms: int = 0,
    patience_ms: int = DEFAULT_PATIENCE_MS,
    progress: Progress | None = None,
    **config: Any,
) -> ExpiryResult:
    """Write one key per element of *ttls_ms* at once and watch them being deleted.

    *ttls_ms* are times to live in ms, each at least 1. *engine* names the version of Redis
    whose expiry it is. *poll_ms* > 0 models an observer that asks for the number of keys so
    often, each time giving a fast cycle its chance; see ``lab/observer.py``. The keys are
    written *lead_ms* after the server's start, which decides how the cron's ticks, the
    first 1 ms after the start, lie to the deaths. The run ends when all keys are gone (and
    the observer has seen it), or *patience_ms* after the last has died. *progress* is
    called with a phase, steps done and steps in all. Other keywords configure the server.

    Time in which nothing can happen is passed over, with the same outcome; see
    ``server/idle.py``. Raises ``ValueError`` for no keys, a TTL below 1, settings out of
    range, or a run that would take more ticks of the cron than can be waited for.
    """
    check_ttls(ttls_ms)
    if not poll_ms >= 0:
        raise ValueError(f"poll_ms must be 0 (no observer) or more, got {poll_ms!r}")
    if lead_ms < 0:
        raise ValueError(f"lead_ms must not be negative, got {lead_ms!r}")
    if patience_ms < 0:
        raise ValueError(f"patience_ms must not be negative, got {patience_ms!r}")
    clock = VirtualClock(DEFAULT_START_MS)
    server = Server(
        clock,
        seed=seed,
        cost=cost,
        expire_engine=engine,
        hz=hz,
        active_expire_effort=effort,
        **config,
    )
    server.idle.exact_averages = False  # nobody looks at avg_ttl
    progress = progress or _no_progress
    clock.advance(lead_ms)
    start = clock.ms()
    deadlines = sorted(start + ttl for ttl in ttls_ms)
    _check_length(server, start, deadlines)
    _write_keys(server, ttls_ms, progress)
    recorder = ExpiryRecorder()
    server.probe = recorder
    observer = None
    if poll_ms:
        poll_us = max(round(poll_ms * US_PER_MS), 1)
        first_us = deadlines[0] * US_PER_MS
        observer = Observer(server, clock, poll_us, first_us, start * US_PER_MS)
    _let_time_pass(server, clock, deadlines, observer, patience_ms, progress)
    result = _evaluate(server, recorder, deadlines, start, effort, seed)
    result.sightings = observer.sightings if observer else []
    result.engine = engine
    return result


def check_ttls(ttls_ms: Sequence[int]) -> None:
    """``ValueError`` unless there is a TTL and each is a positive number of ms."""
    if not ttls_ms:
        raise ValueError("there must be at least one key")
    shortest, longest = min(ttls_ms), max(ttls_ms)
    if shortest < 1:
        raise ValueError(f"a TTL must be at least 1 ms, got {shortest}")
    if longest > MAX_TTL_MS:
        raise ValueError(f"a TTL of {longest} ms is too long; at most 10^15 ms are simulated")


def _no_progress(phase: str, done: int, total: int) -> None:
    """Nobody watches."""


def _write_keys(server: Server, ttls_ms: Sequence[int], progress: Progress) -> None:
    """SET every key with its TTL through the command path."""
    client = server.create_client()
    process = server.process_command
    total = len(ttls_ms)
    step = max(total // PROGRESS_STEPS, 1)
    for i, ttl in enumerate(ttls_ms):
        process(client, [b"SET", b"key:%d" % i, b"x", b"PX", b"%d" % ttl])
        if i % step == 0:
            progress("write", i, total)
    progress("write", total, total)
    server.free_client(client)


def _let_time_pass(
    server: Server,
    clock: VirtualClock,
    deadlines: list[int],
    observer: Observer | None,
    patience_ms: int,
    progress: Progress,
) -> None:
    db = server.databases[0]
    total = len(deadlines)
    end = deadlines[-1] + patience_ms
    while (len(db.dict) or (observer and not observer.saw_none)) and clock.ms() <= end:
        _pass_idle_time(server, clock, deadlines, observer)
        event = server.next_event_us()
        assert event is not None
        if observer and observer.next_us < event:
            observer.poll()
        else:
            clock.advance_to_us(max(event, clock.us()))
        progress("expire", total - len(db.dict), total)


def _pass_idle_time(
    server: Server, clock: VirtualClock, deadlines: list[int], observer: Observer | None
) -> None:
    """Go to the instant of the next death at once if that is far.

    Polls may cause fast cycles while dead keys are held, so they are left out only when
    there are none; then each could have delayed a tick of the cron by 0.1 ms at most.
    """
    died = bisect_left(deadlines, clock.ms())
    far_ms = FAR_TICKS * (1000 // server.hz)
    if died == len(deadlines) or deadlines[died] - clock.ms() <= far_ms:
        return
    target = deadlines[died] * US_PER_MS
    if observer is not None:
        dead = len(server.databases[0]) + died - len(deadlines)
        if dead or server.expire_engine.fast_cycle_wanted():
            return
        if not observer.sightings:  # the run-up to the first death is to be seen
            target = min(target, observer.next_us)
    clock.advance_to_us(max(target, clock.us()))
    if observer is not None:
        observer.skip_to(target)


def _check_length(server: Server, start: int, deadlines: list[int]) -> None:
    """``ValueError`` if the run would take too many ticks of the cron.

    Between two deaths an idle server's ticks repeat after a sweep or two of its keys; what
    follows costs nothing. Under other engines all are run.
    """
    tick_ms = 1000 // server.hz
    if server.idle.knows(server.expire_engine):
        sweeps = 2 * len(deadlines) // KEYS_OF_A_WINDOW + FAR_TICKS
        gaps = ((later - earlier) // tick_ms for earlier, later in pairwise([start, *deadlines]))
        ticks, most = sum(min(gap, sweeps) for gap in gaps), MAX_IDLE_TICKS
    else:
        ticks, most = (deadlines[-1] - start) // tick_ms, MAX_TICKS
    if ticks > most:
        raise ValueError(
            f"the run would take about {count(ticks, 'run')} of the cron, more than the "
            f"{most:,} that can be waited for; shorter times to live, or a lower hz, take fewer"
        )


def _evaluate(
    server: Server,
    recorder: ExpiryRecorder,
    deadlines: list[int],
    start: int,
    effort: int,
    seed: int,
) -> ExpiryResult:
    deleted = recorder.deleted_ms
    total = len(deadlines)
    end = server.clock.ms()
    gone: dict[float, int | None] = {}
    for share in SHARES:
        needed = math.ceil(share * total)
        gone[share] = deleted[needed - 1] - start if len(deleted) >= needed else None
    first_us = deadlines[0] * 1000
    peaks = _peaks(deadlines, deleted, end)
    return ExpiryResult(
        keys=total,
        hz=server.hz,
        effort=effort,
        seed=seed,
        start_ms=start,
        first_death_ms=deadlines[0] - start,
        last_death_ms=deadlines[-1] - start,
        end_ms=end - start,
        gone_ms=gone,
        curve=_curve(deadlines, deleted, start, end, 1000 // server.hz),
        lags_ms=sorted(recorder.lags_ms),
        cycles=recorder.cycles,
        cycle_us=sum(c.elapsed_us for c in recorder.cycles if c.start_us >= first_us)
        + sum(idle.cycle_us for idle in recorder.idle if idle.first_us >= first_us),
        time_cap_reached=sum(c.exit is ExitReason.TIME_LIMIT for c in recorder.cycles),
        remaining=len(server.databases[0]),
        peak_stale_share=peaks[0],
        peak_dead_held=peaks[1],
        idle=recorder.idle,
    )


def _peaks(deadlines: list[int], deleted: list[int], end: int) -> tuple[float, int]:
    """The largest share of dead keys among those held, and their largest number.

    Both grow when keys die and fall when they are deleted, so they are largest just before
    a deletion, or at the end.
    """
    total = len(deadlines)
    share, most, gone = 0.0, 0, 0
    for t, group in groupby([*deleted, end]):
        if total > gone:
            dead = bisect_left(deadlines, t) - gone
            share, most = max(share, dead / (total - gone)), max(most, dead)
        gone += sum(1 for _ in group)
    return share, most


def _curve(deadlines: list[int], deleted: list[int], start: int, end: int, tick_ms: int) -> Curve:
    """Population over time: on a grid, at deaths, and before and after each burst of deletions.

    A key with deadline d is dead from d + 1 ms on (now > when), held until deleted. The
    curve begins one tick of the cron or more before the first death, and goes on so long
    after the end if nothing is held then.
    """
    total = len(deadlines)
    first = deadlines[0]
    lead = max((end - first) // 10, tick_ms)
    left = max(start, first - lead)
    right = end + lead if len(deleted) == total else end
    span = right - left
    times = {left + span * i // CURVE_POINTS for i in range(CURVE_POINTS + 1)}
    # Deaths and deletions themselves, thinned out, keep steps sharp.
    bursts = {*deleted[:: max(len(deleted) // CURVE_POINTS, 1)], *deleted[-1:]}
    deaths = {d + 1 for d in deadlines[:: max(total // CURVE_POINTS, 1)]}
    curve = Curve()
    for t in sorted(t for t in times | bursts | deaths if left <= t <= right):
        died = bisect_left(deadlines, t)
        befores = [bisect_left(deleted, t), bisect_right(deleted, t)]
        for gone in befores if t in bursts else befores[1:]:
            held, alive = died - gone, total - died
            curve.t_ms.append(t - start)
            curve.alive.append(alive)
            curve.dead_held.append(held)
            curve.stale_share.append(held / (alive + held) if alive + held else 0.0)
    return curve
