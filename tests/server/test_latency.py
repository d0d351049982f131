"""The latency monitor, its chart and report, and histograms of durations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.server.latency import LATENCY_TS_LEN, LatencyMonitor
from miniredis.server.server import Server
from miniredis.structs.hdr_histogram import (
    cumulative_distribution,
    highest_equivalent_value,
    lowest_equivalent_value,
    value_at_percentile,
)
from miniredis.structs.sparkline import sparkline_render

START_MS = 1_391_234_400_000
START_S = START_MS // 1000
Call = Callable[..., Any]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START_MS)


@pytest.fixture
def server(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1, latency_monitor_threshold=10)


@pytest.fixture
def call(server: Server) -> Call:
    c = server.create_client()
    return lambda *words: server.process_command(c, [str(word).encode() for word in words])


# -- spikes ---------------------------------------------------------------------------------


def test_spikes_are_noted_from_the_threshold_on(clock: VirtualClock, call: Call) -> None:
    call("DEBUG", "SLEEP", "0.009999")
    assert call("LATENCY", "LATEST") == []
    call("DEBUG", "SLEEP", "0.01")
    clock.advance_to(START_MS + 5000)
    call("DEBUG", "SLEEP", "0.03")
    call("DEBUG", "SLEEP", "0.02")
    assert call("LATENCY", "LATEST") == [[b"command", START_S + 5, 30, 30]]
    assert call("LATENCY", "HISTORY", "command") == [[START_S, 10], [START_S + 5, 30]]
    assert call("LATENCY", "HISTORY", "COMMAND") == [], "names have a case"


def test_reset(call: Call) -> None:
    call("DEBUG", "SLEEP", "1")
    assert call("LATENCY", "RESET", "nope", "Command", "command") == 1
    assert call("LATENCY", "LATEST") == []
    call("DEBUG", "SLEEP", "1")
    assert call("LATENCY", "RESET") == 1


def test_one_sample_a_second_the_worst() -> None:
    monitor = LatencyMonitor()
    for ms in (5, 9, 7):
        monitor.add_sample("e", ms, 100)
    monitor.add_sample("e", 3, 101)
    assert list(monitor.events["e"].samples) == [(100, 9), (101, 3)]
    assert monitor.events["e"].max == 9


def test_old_samples_go_but_the_maximum_stays() -> None:
    monitor = LatencyMonitor()
    monitor.add_sample("e", 999, 0)
    for second in range(1, LATENCY_TS_LEN + 1):
        monitor.add_sample("e", 1, second)
    series = monitor.events["e"]
    assert (len(series.samples), series.samples[0], series.max) == (LATENCY_TS_LEN, (1, 1), 999)


def test_analyze() -> None:
    monitor = LatencyMonitor()
    for second, ms in ((100, 10), (104, 20), (110, 31)):
        monitor.add_sample("e", ms, second)
    stats = monitor.analyze("e", 112)
    assert (stats.samples, stats.avg, stats.mad, stats.period) == (3, 20, 7, 12)
    assert monitor.analyze("e", 100).period == 1, "never 0"


# -- the chart --------------------------------------------------------------------------------


def test_graph() -> None:
    monitor = LatencyMonitor()
    ages = (90_000, 3600, 3599, 60, 59, 0)
    for age, ms in zip(ages, (10, 20, 15, 40, 34, 11), strict=True):
        monitor.add_sample("command", ms, 1_000_000 - age)
    assert monitor.graph("command", 1_000_000).split("\n") == [
        "command - high 40 ms, low 10 ms (all time high 40 ms)",
        "-" * 80,
        "   #_ ",
        "   || ",
        " o || ",
        "_|#||_",
        "      ",
        "115150",
        "dh9m9s",
        "  m s ",
        "",
    ]


def test_charts_of_eighty_columns_share_their_scale() -> None:
    samples = [(i, "") for i in range(90)]
    first, second = sparkline_render(samples).split("\n\n")
    assert [len(line) for line in first.split("\n")] == [80] * 5
    assert {len(line) for line in second.rstrip("\n").split("\n")} == {10}
    assert first.startswith(" ") and second.startswith("o"), "one scale for both"


def test_equal_values_are_drawn_lowest() -> None:
    assert sparkline_render([(7, "a"), (7, "b")], rows=2) == "  \n__\n  \nab\n"


# -- the report -------------------------------------------------------------------------------


def test_doctor_without_spikes(server: Server, call: Call) -> None:
    assert b"No event has taken 10 ms" in call("LATENCY", "DOCTOR").text
    call("CONFIG", "SET", "latency-monitor-threshold", 0)
    assert b"Latency monitoring is off" in call("LATENCY", "DOCTOR").text


def test_doctor_tells_figures_and_advice(server: Server, call: Call) -> None:
    call("DEBUG", "SLEEP", "0.02")
    report = call("LATENCY", "DOCTOR").text.decode()
    assert (
        "1. command: 1 latency spikes (average 20ms, mean deviation 0ms, period 1.00 sec). "
        "Worst all time event 20ms."
    ) in report
    assert "SLOWLOG GET" in report and "slowlog-log-slower-than" not in report
    call("CONFIG", "SET", "slowlog-log-slower-than", 50_000)
    assert "slowlog-log-slower-than 10000" in server.latency_report()
    call("CONFIG", "SET", "slowlog-log-slower-than", -1)
    assert "slow log is off" in server.latency_report()


@pytest.mark.parametrize(
    ("event", "hz", "words"),
    [
        ("expire-cycle", 10, "hz 100"),
        ("expire-cycle", 100, "large"),
        ("fast-command", 10, "CPU"),
        ("made-up", 10, "No remedy"),
    ],
)
def test_advice_by_event(server: Server, call: Call, event: str, hz: int, words: str) -> None:
    call("CONFIG", "SET", "hz", hz)
    server.latency.add_sample(event, 50, START_S)
    assert words in server.latency_report()
    assert ("hz 100" in server.latency_report()) == (words == "hz 100")


# -- histograms -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ns", "low", "high"),
    [
        (1, 1, 1),
        (255, 255, 255),
        (256, 256, 257),
        (257, 256, 257),
        (3000, 2992, 3007),
        (107_000, 106_496, 107_007),
        (10**9, 998_244_352, 1_002_438_655),
    ],
)
def test_buckets(ns: int, low: int, high: int) -> None:
    assert (lowest_equivalent_value(ns), highest_equivalent_value(ns)) == (low, high)


def test_buckets_are_narrow_and_leave_no_gap() -> None:
    ns = 1
    while ns < 10**9:
        low, high = lowest_equivalent_value(ns), highest_equivalent_value(ns)
        assert low == ns and high - low < max(ns / 127, 1)
        ns = high + 1


def test_percentiles() -> None:
    histogram = {0: 1, 100: 97, 5000: 1, 3_000_000: 1}
    for percentile, us in ((0, 0.001), (1, 0.001), (50, 100.351), (99, 5013.503)):
        assert value_at_percentile(histogram, percentile) / 1000 == us
    longest = value_at_percentile(histogram, 100)
    assert longest == highest_equivalent_value(10**9), "a second or more is one bucket"


def test_cumulative_distribution() -> None:
    histogram = {0: 2, 1: 1, 3: 1, 40: 5, 2_000_000: 1}
    assert cumulative_distribution(histogram) == {1: 3, 4: 4, 66: 9, 1_073_741: 10}
    assert cumulative_distribution({}) == {}


def test_histogram_command(call: Call) -> None:
    call("DEBUG", "SLEEP", "0.00004")
    call("CONFIG", "GET", "hz")
    reply = call("LATENCY", "HISTOGRAM", "debug", "config", "nope", "get")
    assert reply == {
        b"debug": {b"calls": 1, b"histogram_usec": {66: 1}},
        b"config|get": {b"calls": 1, b"histogram_usec": {1: 1}},
    }
    everything = call("LATENCY", "HISTOGRAM")
    assert list(everything) == [b"config|get", b"debug", b"latency|histogram"]
