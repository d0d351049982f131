"""strategies.py: the comparison, its claims, its figures, and the numbers in the docs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from miniredis.clock import DEFAULT_START_MS, FREE, VirtualClock
from miniredis.lab import strategies
from miniredis.lab.snapshot import picture_of_db
from miniredis.lab.strategies import run_strategies, run_strategy
from miniredis.lab.strategy_costs import FLAT, StrategyCosts
from miniredis.lab.strategy_dbs import STRATEGIES
from miniredis.lab.strategy_results import KEEPING, LIVING, WAKING, Lag, StrategyResult
from miniredis.lab.workload import TtlDistribution, Workload
from miniredis.server.server import Server

mpl.use("Agg")

FREE_COSTS = StrategyCosts(FREE, 0, 0, 0, 0, 0)
DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "strategies.md"
# Every kind of command, hot keys for writers too, and lives of some ms to some seconds.
MIXED = Workload(
    keys=300,
    rate=2_000,
    duration_ms=5_000,
    reads=0.4,
    expires=0.1,
    persists=0.05,
    deletes=0.1,
    write_skew=0.5,
    ttls=TtlDistribution("exponential", 300, None),
    seed=11,
)
# All keys written within 5 s die in one millisecond.
BURST = Workload(
    keys=200_000,
    rate=10_000,
    duration_ms=6_000,
    reads=0.1,
    ttls=TtlDistribution("aligned", 5_000, None),
)
Results = dict[str, StrategyResult]


def by_name(results: Sequence[StrategyResult]) -> Results:
    return {result.strategy.name: result for result in results}


@pytest.fixture(scope="module")
def default_run() -> Results:
    """What ``miniredis strategies`` runs."""
    return by_name(run_strategies(Workload()))


@pytest.fixture(scope="module")
def burst() -> Results:
    return by_name(run_strategies(BURST, ["heap", "wheel", "redis"]))


# -- the same answers --------------------------------------------------------------------


def test_no_client_can_tell_the_strategies_apart() -> None:
    """All five answer every command alike: a dead key is missing, held or not."""
    replies: dict[str, list[Any]] = {name: [] for name in STRATEGIES}
    results = [
        run_strategy(strategy, MIXED, costs=FREE_COSTS, on_reply=replies[name].append)
        for name, strategy in STRATEGIES.items()
    ]
    assert len(replies["redis"]) > 9_000
    assert len(set(map(repr, replies["redis"]))) >= 4
    for name in STRATEGIES:
        assert replies[name] == replies["redis"], name
    assert len({result.deaths for result in results}) == 1
    assert results[0].deaths > 1_000
    assert [r.open_lags_ms for r in results[:2]] == [[], []]
    assert all(set(r.lags_ms) == {0} for r in results[:2])


def test_the_strategy_called_redis_is_a_plain_server() -> None:
    result = run_strategies(MIXED, ["redis"], hz=50)[0]
    server = Server(VirtualClock(), seed=MIXED.seed, hz=50, cost=FLAT)
    clock, client = server.clock, server.create_client()
    assert isinstance(clock, VirtualClock)
    for at_us, argv in MIXED.operations(DEFAULT_START_MS):
        clock.advance_to_us(max(DEFAULT_START_MS * 1000 + at_us, clock.us()))
        server.process_command(client, argv)
    clock.advance_to_us(max((DEFAULT_START_MS + MIXED.duration_ms) * 1000, clock.us()))
    assert server.stat_expiredkeys == sum(result.deleted_by.values())
    assert server.dbsize() == result.curve.held[-1]
    assert server.stat_keyspace_hits == result.hits


def test_a_run_can_be_repeated() -> None:
    runs = [[r.as_dict() for r in run_strategies(MIXED)] for _ in range(2)]
    assert runs[0] == runs[1]
    json.dumps(runs[0])


# -- what is measured --------------------------------------------------------------------


@pytest.mark.parametrize("name", STRATEGIES)
def test_memory_is_what_a_look_at_every_key_finds(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    original = strategies._sample

    def sample(server: Server, *args: Any) -> None:
        original(server, *args)
        server._check()
        picture = picture_of_db(server, server.databases[0])
        seen.append((picture.keys, picture.expires, picture.dead))

    monkeypatch.setattr(strategies, "_sample", sample)
    workload = replace(MIXED, duration_ms=3_000)
    result = run_strategies(workload, [name], costs=FREE_COSTS, databases=1)[0]
    curve = result.curve
    assert list(zip(curve.held, curve.with_ttl, curve.owed, strict=True)) == seen
    # One sample every 5 ms: near to the exact mean.
    mean = sum(dead for _, _, dead in seen) / len(seen)
    assert abs(mean - result.mean_owed) <= 0.05 * max(mean, 1)
    assert max(curve.owed) <= result.peak_owed
    parts = sum(result.memory_parts().values())
    assert parts == pytest.approx(sum(result.held_bytes()) / len(seen))


def test_littles_law_dead_keys_held_are_deaths_a_second_times_lag(default_run: Results) -> None:
    for result in default_run.values():
        lags = sum(result.lags_ms) + sum(result.open_lags_ms)
        assert result.mean_owed == pytest.approx(lags / 40_000)


def with_lags(result: StrategyResult, lags: list[int], still: list[int]) -> StrategyResult:
    return replace(result, lags_ms=lags, open_lags_ms=still)


def test_lags_of_keys_still_held_count_as_far_as_they_are_known(default_run: Results) -> None:
    some = default_run["redis"]
    example = with_lags(some, [2, 5, 5], [3])
    assert example.lag_curve() == [(2, 0.25), (5, 1.0)]
    assert [example.lag(s) for s in (0.25, 0.26, 1)] == [Lag(2), Lag(5), Lag(5)]
    late = with_lags(some, [1, 2], [7, 9])
    assert [late.lag(s) for s in (0.5, 0.51, 1)] == [Lag(2), Lag(9, True), Lag(9, True)]
    assert str(late.lag(1)) == "≥ 9 ms"
    assert with_lags(some, [], [4]).lag(0.5) == Lag(4, True)
    assert with_lags(some, [], []).lag(0.5) is None
    plain = with_lags(some, list(range(1, 101)), [])
    assert [plain.lag(s) for s in (0.01, 0.5, 0.99, 1)] == [Lag(1), Lag(50), Lag(99), Lag(100)]


# -- what docs/strategies.md claims ------------------------------------------------------


def claims(r: Results) -> None:
    """The ordering of the strategies; holds whatever the assumed costs are, within reason."""
    timers = r["heap"], r["wheel"]
    cycles = r["periodic"], r["redis"]
    for timer in timers:
        assert timer.peak_owed == 0
        assert timer.lag(1) == Lag(0)
        assert timer.deleted_by == {"timer": timer.deaths}
        assert timer.cpu_us[KEEPING] > 0
        for cycle in cycles:
            assert timer.mean_held < cycle.mean_held < r["lazy"].mean_held
            assert timer.total_cpu_us > cycle.total_cpu_us > r["lazy"].total_cpu_us
            # Without the wake-ups the work is less than that of finding the dead.
            assert timer.total_cpu_us - timer.cpu_us[WAKING] < cycle.total_cpu_us * 1.4
    for cycle in cycles:
        assert cycle.mean_owed * 5 < r["lazy"].mean_owed
        median, lazy_median = cycle.lag(0.5), r["lazy"].lag(0.5)
        assert median is not None and lazy_median is not None
        assert 0 < median.ms * 5 < lazy_median.ms
        assert cycle.cpu_us[KEEPING] == 0
    pauses = [r[n].longest_pause_us for n in ("lazy", "heap", "wheel", "periodic")]
    assert all(shorter < longer for shorter, longer in pairwise(pauses))
    assert r["lazy"].lag(0.99) == r["lazy"].lag(1)
    assert r["lazy"].lag(1).at_least  # type: ignore[union-attr]
    # Reading deletes for Redis what the cycle would have deleted: hardly fewer dead keys.
    assert abs(r["redis"].mean_owed / r["periodic"].mean_owed - 1) < 0.05
    assert r["redis"].deleted_by["lazy"] > 1.5 * r["periodic"].deleted_by["lazy"]
    assert r["redis"].memory_parts()[LIVING] == pytest.approx(
        r["lazy"].memory_parts()[LIVING], rel=0.01
    )


def test_the_claims_hold_in_the_default_run(default_run: Results) -> None:
    claims(default_run)


@pytest.mark.parametrize("factor", [0.5, 2])
def test_the_claims_do_not_hang_on_the_assumed_costs(default_run: Results, factor: float) -> None:
    """Scaled after the run: what timers and checks cost does not move a deletion by 1 ms."""
    scaled = {}
    for name, result in default_run.items():
        cpu = dict(result.cpu_us)
        for kind in (KEEPING, WAKING):
            cpu[kind] *= factor
        scaled[name] = replace(result, cpu_us=cpu)
    claims(scaled)


def test_a_burst_stops_timers_for_as_long_as_it_takes_and_redis_at_its_limit(
    burst: Results,
) -> None:
    deaths = burst["redis"].deaths
    assert deaths > 36_000
    for name in ("heap", "wheel"):
        assert burst[name].longest_pause_us > deaths * FLAT.deleted_ns / 1000
        assert burst[name].longest_pause_us > 29_000
    assert 25_000 < burst["redis"].longest_pause_us < 26_000
    lag = burst["redis"].lag(1)
    assert lag is not None and lag.ms < 300


def test_the_numbers_in_the_docs_are_those_of_the_runs(
    default_run: Results, burst: Results
) -> None:
    """Each table row of the docs whose first cell names a number below is compared."""
    from miniredis.cli.strategies import _rows

    text = DOCS.read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    compared = 0
    for heading, results in (("One workload", default_run), ("A burst", burst)):
        section = next(part for part in sections if part.startswith(heading))
        rows = {label: show for group in _rows(list(results.values())) for label, show in group}
        lines = [line for line in section.splitlines() if line.startswith("|")]
        columns = [cell.strip() for cell in lines[0].strip("|").split("|")][1:]
        titles = {result.strategy.title: result for result in results.values()}
        for line in lines[2:]:
            label, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            show = rows[label] if label in rows else rows["  " + label]
            assert cells == [show(titles[column]) for column in columns], label
            compared += 1
    assert compared >= 20


# -- figures, input -----------------------------------------------------------------------


def test_figures_are_labelled_and_described(default_run: Results, tmp_path: Path) -> None:
    from miniredis.lab import plots

    results = list(default_run.values())
    figure = plots.strategies_page(results, Workload())
    assert len(figure.axes) == 6
    for ax in figure.axes:
        assert ax.get_xlabel() and ax.get_ylabel() and ax.get_title()
    text = plots.strategies_alt_text(results)
    assert "Redis: both: 3,906 keys held on average, 14.4% of them dead" in text
    plots.save(figure, tmp_path / "page.png", text)
    held = plots.plot_held(results)
    lines = {line.get_label(): line for line in held.get_lines()}
    assert list(lines["Redis: both"].get_ydata()) == default_run["redis"].curve.held
    assert len({line.get_linestyle() + str(line.get_color()) for line in lines.values()}) == 5
    lag = plots.plot_strategy_lags(results)
    assert lag.get_lines()[2].get_ydata()[-1] < 100  # lazy only never gets there


def test_nobody_dies(tmp_path: Path) -> None:
    """A run without deaths has numbers and figures too."""
    from miniredis.lab import plots

    workload = Workload(rate=100, duration_ms=500, ttls=TtlDistribution("fixed", 10_000, None))
    results = run_strategies(workload)
    assert [r.lag(0.5) for r in results] == [None] * 5
    plots.save(plots.strategies_page(results, workload), tmp_path / "page.png", "")
    json.dumps([r.as_dict() for r in results])


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="a strategy is one of heap, wheel"):
        run_strategies(MIXED, ["cron"])
    with pytest.raises(ValueError, match="active_expire_effort"):
        run_strategies(MIXED, ["redis"], active_expire_effort=11)
    with pytest.raises(ValueError, match="cannot be switched off"):
        run_strategies(MIXED, ["lazy"], enable_debug_command="no")
    with pytest.raises(ValueError, match="wake_up_ns must not be negative"):
        StrategyCosts(wake_up_ns=-1)
    with pytest.raises(TypeError, match="check_ns must be a whole number"):
        StrategyCosts(check_ns=1.5)  # type: ignore[arg-type]


def test_progress_is_told() -> None:
    calls: list[tuple[str, int, int]] = []
    run_strategies(MIXED, ["lazy", "redis"], progress=lambda *call: calls.append(call))
    assert calls[-1] == ("run", 100, 100)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)
    assert len(calls) > 50


@pytest.mark.parametrize(
    ("keys", "rate", "duration_ms"),
    [(1, 1, 3_000), (50, 100, 20_000), (2_000, 0.5, 3_600_000)],
)
def test_ticks_do_not_overlap_in_small_and_long_runs(
    keys: int, rate: float, duration_ms: int
) -> None:
    from miniredis.lab import plots

    workload = Workload(keys=keys, rate=rate, duration_ms=duration_ms, seed=1)
    figure = plots.strategies_page(run_strategies(workload, ["lazy", "redis"]), workload)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for minor in (False, True):
                boxes = [
                    label.get_window_extent(renderer)
                    for place, label in zip(
                        axis.get_ticklocs(minor=minor),
                        axis.get_ticklabels(minor=minor),
                        strict=True,
                    )
                    if low <= place <= high and label.get_text()
                ]
                assert not any(a.overlaps(b) for a, b in pairwise(boxes)), ax.get_title()
            assert axis.get_offset_text().get_text() == "", ax.get_title()
    plt.close(figure)
    assert str(workload).startswith(
        {1: "1 command/s for 3 s on 1 key,", 50: "100 commands/s", 2000: "0.5 commands/s"}[keys]
    )
