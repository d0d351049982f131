"""INFO: sections, and fields that follow what happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.server.evict import USED_MEMORY_STARTUP
from miniredis.server.info_memory import bytes_to_human
from miniredis.server.server import Server
from miniredis.server.stats import STATS_METRIC_SAMPLES, InstantaneousMetric

START_MS = 1_391_234_400_000
Call = Callable[..., Any]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START_MS)


@pytest.fixture
def server(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1)


@pytest.fixture
def call(server: Server) -> Call:
    c = server.create_client()
    return lambda *words: server.process_command(c, [str(word).encode() for word in words])


def fields(server: Server, *sections: bytes) -> dict[str, str]:
    lines = server.info(sections).decode().split("\r\n")
    return dict(line.split(":", 1) for line in lines if ":" in line)


def headings(server: Server, *sections: bytes) -> list[str]:
    lines = server.info(sections).decode().split("\r\n")
    return [line[2:] for line in lines if line.startswith("# ")]


DEFAULT = (
    "Server Clients Memory Persistence Stats Replication CPU Modules Errorstats Cluster Keyspace"
)
ALL = (
    "Server Clients Memory Persistence Stats Replication CPU Modules Commandstats Errorstats "
    "Latencystats Cluster Keyspace"
)


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ([], DEFAULT),
        ([b"default"], DEFAULT),
        ([b"all"], ALL),
        ([b"Everything", b"nope"], ALL),
        ([b"keyspace", b"SERVER"], "Server Keyspace"),
        ([b"module_list"], "Modules"),
        ([b"latencystats", b"default"], DEFAULT.replace("Cluster", "Latencystats Cluster")),
        ([b"nope"], ""),
        ([b"\xff"], ""),
    ],
)
def test_sections(server: Server, sections: list[bytes], expected: str) -> None:
    assert headings(server, *sections) == expected.split()


def test_sections_are_separated_by_empty_lines(server: Server) -> None:
    text = server.info([b"cluster", b"modules"])
    assert text == b"# Modules\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n"


def test_time_fields(clock: VirtualClock, server: Server, call: Call) -> None:
    clock.spend_ns(90_061_500_000_000)
    call("PING")
    told = fields(server, b"server")
    assert told["server_time_usec"] == str((START_MS + 90_061_500) * 1000)
    assert (told["uptime_in_seconds"], told["uptime_in_days"]) == ("90061", "1")
    assert told["lru_clock"] == str((START_MS // 1000 + 90_061) % (1 << 24))


def test_hz_is_the_effective_one(clock: VirtualClock, server: Server) -> None:
    clients = [server.create_client() for _ in range(2010)]
    clock.advance(200)
    told = fields(server, b"server", b"clients")
    assert (told["hz"], told["configured_hz"]) == ("20", "10")
    assert told["connected_clients"] == str(len(clients))


def test_expiry_fields(clock: VirtualClock, server: Server, call: Call) -> None:
    for i in range(100):
        call("SET", f"k{i}", i, "PX", 1)
    clock.advance(150)
    told = fields(server, b"stats")
    assert told["expired_keys"] == "100"
    assert told["expired_stale_perc"] == "5.00"
    assert told["expired_time_cap_reached_count"] == "0"
    server.stat_expire_cycle_time_used = 2999
    assert fields(server, b"stats")["expire_cycle_cpu_milliseconds"] == "2"


def test_keyspace_counts_the_dead_until_they_are_met(server: Server, call: Call) -> None:
    call("SET", "a", 1, "PX", 1)
    call("SELECT", 2)
    call("SET", "b", 1)
    server.clock.spend_ns(5_000_000)
    told = fields(server, b"keyspace")
    assert told == {"db0": "keys=1,expires=1,avg_ttl=0", "db2": "keys=1,expires=0,avg_ttl=0"}


def test_commandstats_and_errorstats(server: Server, call: Call) -> None:
    for line in ("SET k v", "GET k", "GET k", "GET", "INCR k", "LPUSHX", "CONFIG NOPE"):
        call(*line.split())
    call("DEBUG", "SLEEP", "0.000333")
    told = fields(server, b"commandstats", b"errorstats")
    zero = "usec=0,usec_per_call=0.00"
    assert told["cmdstat_get"] == f"calls=2,{zero},rejected_calls=1,failed_calls=0"
    assert told["cmdstat_incr"] == f"calls=1,{zero},rejected_calls=0,failed_calls=1"
    expected = "calls=1,usec=333,usec_per_call=333.00,rejected_calls=0,failed_calls=0"
    assert told["cmdstat_debug"] == expected
    assert "cmdstat_config" not in told, "an unknown subcommand belongs to no command"
    assert told["errorstat_ERR"] == "count=4"


def test_error_codes_are_made_safe_and_sorted(server: Server) -> None:
    server.stat_errors = {"B": 2, "A:#x": 1}
    text = server.info([b"errorstats"])
    assert text == b"# Errorstats\r\nerrorstat_A__x:count=1\r\nerrorstat_B:count=2\r\n"


def test_latencystats(server: Server, call: Call) -> None:
    call("DEBUG", "SLEEP", "0.000107")
    call("PING")
    told = fields(server, b"latencystats")
    assert told["latency_percentiles_usec_debug"] == "p50=107.007,p99=107.007,p99.9=107.007"
    assert told["latency_percentiles_usec_ping"] == "p50=0.001,p99=0.001,p99.9=0.001"
    call("CONFIG", "SET", "latency-tracking-info-percentiles", "99.99")
    assert fields(server, b"latencystats")["latency_percentiles_usec_debug"] == "p99.99=107.007"
    call("CONFIG", "SET", "latency-tracking", "no")
    assert fields(server, b"latencystats") == {}


def test_ops_per_second_is_a_mean_of_sixteen_samples(
    clock: VirtualClock, server: Server, call: Call
) -> None:
    clock.advance(1)
    for _ in range(160):
        call("PING")
    clock.advance(100)  # a sample of 160 in 0.1 s
    assert fields(server, b"stats")["instantaneous_ops_per_sec"] == str(1600 // 16)
    clock.advance(1600)
    assert fields(server, b"stats")["instantaneous_ops_per_sec"] == "0"


def test_metric_before_time_has_passed() -> None:
    metric = InstantaneousMetric(now_ms=1000)
    metric.track(500, now_ms=1000)
    assert metric.per_second() == 0
    metric.track(600, now_ms=1050)
    assert metric.per_second() == 2000 // STATS_METRIC_SAMPLES


def test_blocked_clients(server: Server, call: Call) -> None:
    call("CLIENT", "PAUSE", 1000)
    other = server.create_client()
    server.process_command(other, [b"GET", b"k"])
    assert other.blocked
    assert fields(server, b"clients")["blocked_clients"] == "1"


def test_memory_is_estimated_from_a_sample(server: Server, call: Call) -> None:
    empty = int(fields(server, b"memory")["used_memory"])
    call("SET", "long", "x" * 100_000)
    assert int(fields(server, b"memory")["used_memory"]) > empty + 100_000  # all keys are seen
    call("DEL", "long")
    rng_state = server.databases[0].dict.rng.getstate()
    call("DEBUG", "POPULATE", 20_000, "key", 100)
    used = int(fields(server, b"memory")["used_memory"]) - empty
    call("CONFIG", "SET", "maxmemory", "1gb")
    measured = int(fields(server, b"memory")["used_memory"]) - empty
    assert used == pytest.approx(measured, rel=0.02)
    assert server.databases[0].dict.rng.getstate() == rng_state


def test_memory_of_the_tables_and_its_peak(server: Server, call: Call) -> None:
    empty = fields(server, b"memory")
    assert int(empty["used_memory"]) == USED_MEMORY_STARTUP
    call("DEBUG", "POPULATE", 1000)
    full = fields(server, b"memory")
    dataset = int(full["used_memory_dataset"])
    assert 30_000 < dataset < 60_000
    # 1000 entries with object headers, 1024 buckets
    assert int(full["used_memory_overhead"]) == USED_MEMORY_STARTUP + 1000 * 40 + 1024 * 8
    call("FLUSHALL")
    after = fields(server, b"memory")
    assert after["used_memory"] == empty["used_memory"]
    assert after["used_memory_peak"] == full["used_memory"]
    share = USED_MEMORY_STARTUP / int(full["used_memory"]) * 100
    assert after["used_memory_peak_perc"] == f"{share:.2f}%"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0B"),
        (1023, "1023B"),
        (1024, "1.00K"),
        (876_288, "855.75K"),
        (1 << 20, "1.00M"),
        (25_276_063_744, "23.54G"),
        (1 << 40, "1.00T"),
        (1 << 50, "1.00P"),
        (1 << 60, f"{1 << 60}B"),
    ],
)
def test_bytes_to_human(n: int, text: str) -> None:
    assert bytes_to_human(n) == text


def test_ids_are_those_of_the_seed(server: Server) -> None:
    twin = Server(clock=VirtualClock(START_MS), seed=1)
    for name, section in (("run_id", b"server"), ("master_replid", b"replication")):
        assert fields(server, section)[name] == fields(twin, section)[name]
        assert len(fields(server, section)[name]) == 40
    assert server.run_id != server.replid


def test_scripts_and_functions_are_counted() -> None:
    server = Server()
    client = server.create_client()
    library = b"#!lua name=l\nredis.register_function('f', function() end)"
    for argv in ([b"EVAL", b"return 1", b"0"], [b"EVAL", b"return 2", b"0"]):
        server.process_command(client, argv)
    server.process_command(client, [b"FUNCTION", b"LOAD", library])
    info = server.info(["memory"])
    for line in (b"cached_scripts:2", b"functions:1", b"libraries:1"):
        assert b"number_of_" + line + b"\r\n" in info
