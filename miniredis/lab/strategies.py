"""Ways to expire, compared: timers, lazy only, periodic only, and Redis's lazy + periodic.

:func:`run_strategies` runs the same commands (see ``lab/workload.py``) against one server
for each strategy and measures what it buys and what it costs:

* memory *held*: all keys in the table, and their bytes;
* memory *owed*: keys that have died and are held all the same;
* CPU time that expiry takes, by kind of work, under the assumptions of ``StrategyCosts``;
* deletion lag: for how long a key was dead before it was deleted;
* the longest pause: the longest single piece of expiry work, during which nobody is served.

A key whose time to live is *when* is dead from the millisecond ``when + 1`` on, so a lag
of 0 is perfect. Of a key still held at the end only a lower bound of its lag is known;
``StrategyResult.lag_curve`` says how it counts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from miniredis.clock import DEFAULT_START_MS, VirtualClock
from miniredis.keyspace.db import KeyspaceServer, RedisDb
from miniredis.keyspace.engine import DEFAULT_ENGINE, find_engine
from miniredis.keyspace.expire import CycleReport
from miniredis.lab.strategy_costs import StrategyCosts
from miniredis.lab.strategy_dbs import STRATEGIES, Strategy, TimerWork
from miniredis.lab.strategy_results import (
    CHECKING,
    DELETING,
    FINDING,
    KEEPING,
    WAKING,
    MemoryCurve,
    StrategyResult,
)
from miniredis.lab.workload import Workload
from miniredis.probe import Probe
from miniredis.reply import OK, Reply
from miniredis.server.server import Server

SAMPLES = 600  # how often memory is looked at in a run
PROGRESS_STEPS = 50  # calls of the progress hook during one strategy
NS_PER_US = 1_000

Progress = Callable[[str, int, int], None]


class DeathRecorder(Probe):
    """Keeps, of every expired key deleted, when it died and was deleted (Unix ms), and by whom."""

    def __init__(self) -> None:
        self.died_ms: list[int] = []
        self.deleted_ms: list[int] = []
        self.by: Counter[str] = Counter()
        self.cycle_us = 0
        self.cycle_expired = 0
        self.longest_cycle_us = 0
        self.cycles = 0

    def key_expired(self, dbid: int, key: bytes, when_ms: int, now_ms: int, by: str) -> None:
        self.died_ms.append(when_ms + 1)
        self.deleted_ms.append(now_ms)
        self.by[by] += 1

    def expire_cycle(self, report: CycleReport) -> None:
        self.cycles += 1
        self.cycle_us += report.elapsed_us
        self.cycle_expired += report.expired
        self.longest_cycle_us = max(self.longest_cycle_us, report.elapsed_us)


def run_strategies(
    workload: Workload,
    names: Iterable[str] = tuple(STRATEGIES),
    *,
    costs: StrategyCosts | None = None,
    progress: Progress | None = None,
    **config: Any,
) -> list[StrategyResult]:
    """Run *workload* once for each of the strategies *names*, on a fresh server each.

    Other keywords are parameters of the server, e.g. ``hz=100``,
    ``active_expire_effort=5``. *progress* is called with a phase, steps done and steps in
    all. ``ValueError`` for an unknown name or settings out of range.
    """
    strategies = [find_strategy(name) for name in names]
    total = len(strategies) * PROGRESS_STEPS
    results = []
    for i, strategy in enumerate(strategies):

        def step(share: float, i: int = i) -> None:
            if progress is not None:
                progress("run", min(int((i + share) * PROGRESS_STEPS), total), total)

        results.append(run_strategy(strategy, workload, costs=costs, step=step, **config))
    return results


def find_strategy(name: str) -> Strategy:
    """The strategy of that name; ``ValueError`` names those that there are."""
    if name not in STRATEGIES:
        raise ValueError(f"a strategy is one of {', '.join(STRATEGIES)}, not {name!r}")
    return STRATEGIES[name]


def strategy_server(
    strategy: Strategy, costs: StrategyCosts, work: TimerWork, seed: int, **config: Any
) -> Server:
    """A server under a virtual clock that expires keys by *strategy*.

    *work* is filled with what timers cost. ``ValueError`` if *config* forbids DEBUG.
    """

    def database(id: int, server: KeyspaceServer) -> RedisDb:
        return strategy.database(id, server, costs, work)

    engine = replace(find_engine(DEFAULT_ENGINE), database=database)
    clock = VirtualClock(DEFAULT_START_MS)
    server = Server(clock, seed=seed, cost=costs.model, expire_engine=engine, **config)
    if not strategy.cycle:
        client = server.create_client()
        reply = server.process_command(client, [b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0"])
        if reply != OK:
            raise ValueError(f"the active cycle cannot be switched off: {reply}")
        server.free_client(client)
    return server


def run_strategy(
    strategy: Strategy,
    workload: Workload,
    *,
    costs: StrategyCosts | None = None,
    step: Callable[[float], None] = lambda share: None,
    on_reply: Callable[[Reply], None] | None = None,
    **config: Any,
) -> StrategyResult:
    """Run *workload* on one server. *on_reply* hears each reply, for tests."""
    costs = costs or StrategyCosts()
    work = TimerWork()
    server = strategy_server(strategy, costs, work, workload.seed, **config)
    recorder = DeathRecorder()
    server.probe = recorder
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    curve = MemoryCurve()
    client = server.create_client()
    start_ms, start_us = clock.ms(), clock.us()
    samples_us = [workload.duration_ms * 1000 * i // SAMPLES for i in range(1, SAMPLES + 1)]
    next_sample = 0
    for at_us, argv in workload.operations(start_ms):
        while samples_us[next_sample] <= at_us:
            _sample(server, recorder, samples_us[next_sample], start_us, curve)
            next_sample += 1
            if next_sample % (SAMPLES // PROGRESS_STEPS) == 0:
                step(next_sample / SAMPLES)
        # A server that is behind serves late; the clients have sent on time.
        clock.advance_to_us(max(start_us + at_us, clock.us()))
        reply = server.process_command(client, argv)
        if on_reply is not None:
            on_reply(reply)
    for at_us in samples_us[next_sample:]:
        _sample(server, recorder, at_us, start_us, curve)
    step(1)
    result = _evaluate(server, strategy, costs, workload, recorder, work, curve)
    server.close()
    return result


def _sample(
    server: Server, recorder: DeathRecorder, at_us: int, start_us: int, curve: MemoryCurve
) -> None:
    """Let time pass to *at_us* and note what is held then; later, if the server is behind."""
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    clock.advance_to_us(max(start_us + at_us, clock.us()))
    db = server.databases[0]
    curve.t_ms.append((clock.us() - start_us) // 1000)
    curve.held.append(len(db.dict))
    curve.with_ttl.append(len(db.expires))
    curve.slots.append(db.dict.slots() + db.expires.slots())
    # Dead keys are counted at the end, when it is known who has died: less these.
    curve.owed.append(-len(recorder.deleted_ms))


def _evaluate(
    server: Server,
    strategy: Strategy,
    costs: StrategyCosts,
    workload: Workload,
    recorder: DeathRecorder,
    work: TimerWork,
    curve: MemoryCurve,
) -> StrategyResult:
    end_ms = DEFAULT_START_MS + workload.duration_ms
    still_dead = [
        entry.val + 1 for entry in server.databases[0].expires.index.values() if entry.val < end_ms
    ]
    died = recorder.died_ms + still_dead
    gone = recorder.deleted_ms + [end_ms] * len(still_dead)
    died_sorted = sorted(died)
    for i, t in enumerate(curve.t_ms):
        curve.owed[i] += bisect_right(died_sorted, DEFAULT_START_MS + t)
    commands = server.stat_numcommands - (0 if strategy.cycle else 1)
    deleted_ns = costs.model.deleted_ns
    deletions = sum(recorder.by.values())
    on_access_us = deleted_ns / NS_PER_US if recorder.by["lazy"] else 0.0
    return StrategyResult(
        strategy=strategy,
        costs=costs,
        duration_ms=workload.duration_ms,
        commands=commands,
        hits=server.stat_keyspace_hits,
        deleted_by=dict(recorder.by),
        cpu_us={
            DELETING: deletions * deleted_ns / NS_PER_US,
            FINDING: recorder.cycle_us - recorder.cycle_expired * deleted_ns / NS_PER_US,
            CHECKING: commands * costs.check_ns * strategy.checks / NS_PER_US,
            KEEPING: work.keeping_ns / NS_PER_US,
            WAKING: work.wake_ups * costs.wake_up_ns / NS_PER_US,
        },
        longest_pause_us=max(recorder.longest_cycle_us, work.longest_us, on_access_us),
        cycles=recorder.cycles,
        wake_ups=work.wake_ups,
        lags_ms=sorted(map(_lag, recorder.died_ms, recorder.deleted_ms)),
        open_lags_ms=sorted(end_ms - when for when in still_dead),
        mean_owed=sum(map(_lag, died, gone)) / workload.duration_ms,
        peak_owed=_peak(died, gone),
        curve=curve,
    )


def _lag(died_ms: int, gone_ms: int) -> int:
    return gone_ms - died_ms


def _peak(begins: Sequence[int], ends: Sequence[int]) -> int:
    """The largest number of intervals [begin, end) that overlap."""
    changes: Counter[int] = Counter(begins)
    changes.subtract(ends)
    here = peak = 0
    for at in sorted(changes):
        here += changes[at]
        peak = max(peak, here)
    return peak
