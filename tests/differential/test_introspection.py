"""COMMAND, CONFIG, INFO, SLOWLOG, LATENCY, MONITOR and DEBUG beside redis-server 7.0.15."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from miniredis.server.latency import LatencyMonitor
from miniredis.server.server import Server
from miniredis.structs.hdr_histogram import cumulative_distribution, value_at_percentile
from tests.differential.plain_server import (
    OurClient,
    RealClient,
    RealServer,
    find_redis_server,
    real_server,
    shared_real_server,
)

__all__ = ["real_server", "shared_real_server"]

# Replies that do not depend on what ran before.
STATELESS = [
    "COMMAND COUNT x",
    "COMMAND GETKEYS",
    "COMMAND GETKEYS get",
    "COMMAND GETKEYS get a",
    "COMMAND GETKEYS get a b",
    "COMMAND GETKEYS nope a",
    "COMMAND GETKEYS ping a",
    "COMMAND GETKEYS mset a b c",
    "COMMAND GETKEYS mset a b c d",
    "COMMAND GETKEYS lcs a b",
    "COMMAND GETKEYS copy a b db 1",
    "COMMAND GETKEYS config get x",
    "COMMAND GETKEYS config nope x",
    "COMMAND GETKEYS object encoding x",
    "COMMAND GETKEYSANDFLAGS set a b get",
    "COMMAND GETKEYSANDFLAGS set a b",
    "COMMAND GETKEYSANDFLAGS rename a b",
    "COMMAND GETKEYSANDFLAGS object encoding x",
    "COMMAND GETKEYSANDFLAGS spublish a b",
    "COMMAND LIST x",
    "COMMAND LIST FILTERBY",
    "COMMAND LIST FILTERBY x y",
    "COMMAND LIST FILTERBY module y",
    "COMMAND LIST FILTERBY aclcat nope",
    "COMMAND LIST FILTERBY pattern get",
    "COMMAND LIST FILTERBY PATTERN GETE?",
    "COMMAND LIST FILTERBY pattern get x",
    "COMMAND INFO get nope config|get config|nope config|get|x get|x",
    "COMMAND DOCS nope",
    "COMMAND nope",
    "COMMAND HELP x",
    "CONFIG",
    "CONFIG nope",
    "CONFIG GET",
    "CONFIG GET hz",
    "CONFIG GET HZ hz",
    "CONFIG SET hz",
    "CONFIG SET hz x",
    "CONFIG SET hz 10 x",
    "CONFIG SET nope 1",
    "CONFIG SET hz 10 hz 10",
    "CONFIG RESETSTAT x",
    "CONFIG REWRITE",
    "SLOWLOG",
    "SLOWLOG nope",
    "SLOWLOG GET",
    "SLOWLOG GET -1",
    "SLOWLOG GET -2",
    "SLOWLOG GET x",
    "SLOWLOG GET 99999999999999999999",
    "SLOWLOG GET 1 2",
    "SLOWLOG LEN",
    "SLOWLOG LEN x",
    "SLOWLOG RESET",
    "LATENCY",
    "LATENCY nope",
    "LATENCY LATEST",
    "LATENCY LATEST x",
    "LATENCY HISTORY",
    "LATENCY HISTORY x",
    "LATENCY GRAPH x",
    "LATENCY RESET",
    "LATENCY RESET a b",
    "LATENCY HISTOGRAM nope",
    "LATENCY DOCTOR x",
    "DEBUG",
    "DEBUG nope",
    "DEBUG " + "n" * 200,
    "DEBUG HELP x",
    "DEBUG SET-ACTIVE-EXPIRE",
    "DEBUG SET-ACTIVE-EXPIRE 1x",
    "DEBUG PAUSE-CRON no",
    "DEBUG SLEEP",
    "DEBUG SLEEP 0",
    "DEBUG SLEEP -1",
    "DEBUG SLEEP x",
    "DEBUG SLEEP 0.0001s",
    "DEBUG ERROR",
    "DEBUG ERROR nospace",
    "DEBUG OBJECT",
    "DEBUG OBJECT nope",
    "DEBUG HTSTATS",
    "DEBUG HTSTATS x",
    "DEBUG HTSTATS 16",
    "DEBUG HTSTATS -1",
    "DEBUG HTSTATS 0",
    "DEBUG POPULATE",
    "DEBUG POPULATE x",
    "DEBUG POPULATE -1",
    "DEBUG POPULATE 0 k x",
    "DEBUG POPULATE 1 k 2 x",
    "DEBUG CHANGE-REPL-ID",
    "DEBUG CHANGE-REPL-ID x",
    "DEBUG LOG",
    *(
        f"DEBUG PROTOCOL {name}"
        for name in [
            "string",
            "integer",
            "double",
            "bignum",
            "null",
            "array",
            "set",
            "map",
            "verbatim",
            "true",
            "false",
            "x",
        ]
    ),
    "INFO nope",
    "INFO cluster CLUSTER",
    "INFO modules",
    "INFO module_list",
    "INFO Cluster nope modules",
    "TIME x",
    "MONITOR x",
]


@pytest.fixture(scope="module", params=[2, 3])
def pair(request: pytest.FixtureRequest, shared_real_server: RealServer) -> Any:
    real = shared_real_server.client()
    ours = OurClient(Server(seed=1), resp=request.param)
    real("HELLO", str(request.param))
    for client in (real, ours):  # a busy machine makes commands slow
        client("CONFIG", "SET", "slowlog-log-slower-than", "-1")
        client("SLOWLOG", "RESET")
    yield real, ours
    real("CONFIG", "SET", "slowlog-log-slower-than", "10000")


@pytest.mark.parametrize("line", STATELESS)
def test_replies(pair: tuple[RealClient, OurClient], line: str) -> None:
    real, ours = pair
    assert ours(*line.split()) == real(*line.split())


def test_replies_with_line_ends(pair: tuple[RealClient, OurClient]) -> None:
    real, ours = pair
    for argv in (("DEBUG", "ERROR", "FOO a\r\nb"), ("LATENCY", "GRAPH", "x\r\ny")):
        assert ours(*argv) == real(*argv)


@pytest.mark.parametrize("name", ["COMMAND", "CONFIG", "SLOWLOG", "LATENCY", "DEBUG"])
def test_help_names_real_subcommands(pair: tuple[RealClient, OurClient], name: str) -> None:
    real, ours = pair
    heading, *our_lines = usage_lines(ours(name, "HELP"))
    real_heading, *real_lines = usage_lines(real(name, "HELP"))
    assert heading == real_heading
    if name == "DEBUG":
        assert set(our_lines) <= set(real_lines)
    else:
        assert sorted(our_lines) == sorted(real_lines)


def usage_lines(reply: Any) -> list[bytes]:
    return [line for _, line in reply[1] if not line.startswith(b" ")]


# -- INFO -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sections",
    [[], ["default"], ["all"], ["everything"], ["STATS", "server"], ["memory", "nope", "cpu"]],
)
def test_info_has_the_fields_in_order(shared_real_server: RealServer, sections: list[str]) -> None:
    real, ours = shared_real_server.client(), OurClient(Server(seed=1))
    variable = re.compile(rb"(cmdstat|errorstat|latency_percentiles_usec)_.*")
    fields = []
    for client in (ours, real):
        lines = client("INFO", *sections).split(b"\r\n")
        fields.append([line.split(b":")[0] for line in lines if not variable.match(line)])
    assert fields[0] == fields[1]


def info(client: RealClient | OurClient, *sections: str) -> dict[str, str]:
    text = client("INFO", *sections).decode()
    return dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line)


def without_times(fields: dict[str, str]) -> dict[str, str]:
    return {name: re.sub(r"usec=\d+,usec_per_call=[\d.]+,", "", fields[name]) for name in fields}


SESSION = [
    "SET a 1",
    "SET b 2 PX 100000000",
    "GET a",
    "GET missing",
    "INCR b",
    "NOPE x",
    "GET",
    "CONFIG NOPE",
    "CONFIG GET",
    "CONFIG GET hz",
    "SET a 1 EX 0",
    "MULTI",
    "NOPE",
    "EXEC",
    "EXEC",
    "SELECT 3",
    "SET c 3",
    "SUBSCRIBE",
    "DEBUG ERROR nothing",
]


def test_info_counts_alike(real_server: RealServer) -> None:
    real, ours = real_server.client(), OurClient(Server(seed=1))
    names = ["expired_keys", "keyspace_hits", "keyspace_misses", "total_error_replies"]
    names += ["rdb_changes_since_last_save", "total_commands_processed"]
    for client in (real, ours):
        client("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        client("CONFIG", "RESETSTAT")
    for line in SESSION:
        assert ours(*line.split()) == real(*line.split())
    for sections in (["commandstats"], ["errorstats"], ["keyspace"]):
        theirs = without_times(info(real, *sections))
        assert without_times(info(ours, *sections)) == theirs
    our_fields, real_fields = info(ours), info(real)
    assert {n: our_fields[n] for n in names} == {n: real_fields[n] for n in names}
    for client in (real, ours):
        client("CONFIG", "RESETSTAT")
    for sections in (["commandstats"], ["errorstats"]):
        theirs = without_times(info(real, *sections))
        assert without_times(info(ours, *sections)) == theirs


# -- SLOWLOG, LATENCY and MONITOR -------------------------------------------------------------


def slow_entries(client: RealClient | OurClient) -> Any:
    """Entries without what depends on the clock and the connection."""
    entries = client("SLOWLOG", "GET", "-1")[1]
    return [(entry[1][0], entry[1][3], entry[1][5]) for entry in entries]


def test_slowlog_keeps_the_same_entries(real_server: RealServer) -> None:
    real, ours = real_server.client(), OurClient(Server(seed=1))
    for client in (real, ours):
        client("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "6")
        client("CLIENT", "SETNAME", "me")
        client("SLOWLOG", "RESET")
        client("SET", "k", "v" * 128)
        client("SET", "k", "v" * 129)
        client("DEL", *(f"k{i}" for i in range(31)))
        client("DEL", *(f"k{i}" for i in range(32)))
        client("MULTI")
        client("GET", "k")
        client("EXEC")
        client("NOPE")
        client("GET")
        client("GET", "k", "k")
        client("INCR", "k")
    assert slow_entries(ours) == slow_entries(real)
    for client in (real, ours):
        client("CONFIG", "SET", "slowlog-max-len", "2")
    assert slow_entries(ours) == slow_entries(real)
    assert ours("SLOWLOG", "GET", "1")[1][0][1][0] == real("SLOWLOG", "GET", "1")[1][0][1][0]


def histogram_of(client: RealClient, name: bytes) -> dict[int, int]:
    [_, (_, [_calls, _, _histogram_usec, (_, numbers)])] = client("LATENCY", "HISTOGRAM", name)[1]
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def test_latency_histogram_follows_from_durations(real_server: RealServer) -> None:
    """The slow log tells every duration; our buckets and percentiles must fit theirs."""
    real = real_server.client()
    percentiles = "0 0.1 1 50 75.5 99 99.9 100"
    real("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "10000")
    real("CONFIG", "SET", "latency-tracking-info-percentiles", percentiles)
    real("CONFIG", "RESETSTAT")
    real("SLOWLOG", "RESET")
    for i in range(200):
        real("SET", "k", "v" * (i * i))
        real("DEBUG", "SLEEP", str(i * i / 100_000_000))
    durations = {b"SET": Counter[int](), b"DEBUG": Counter[int]()}
    for entry in real("SLOWLOG", "GET", "-1")[1]:
        name = entry[1][3][1][0]
        if name in durations:
            durations[name][entry[1][2]] += 1
    told = info(real, "latencystats")
    for name, histogram in durations.items():
        assert histogram_of(real, name) == cumulative_distribution(histogram)
        assert told[f"latency_percentiles_usec_{name.decode().lower()}"] == ",".join(
            f"p{p}={value_at_percentile(histogram, float(p)) / 1000:.3f}"
            for p in percentiles.split()
        )


def test_latency_graph(real_server: RealServer) -> None:
    """One spike: its bar, and its age, which may turn from 0s to 1s while we look."""
    real = real_server.client()
    real("CONFIG", "SET", "latency-monitor-threshold", "1")
    real("DEBUG", "SLEEP", "0.003")
    [(_, [_, seconds, ms, worst])] = real("LATENCY", "LATEST")[1]
    monitor = LatencyMonitor()
    monitor.add_sample("command", ms, seconds)
    assert worst == ms
    graph = real("LATENCY", "GRAPH", "command").decode()
    assert graph in [monitor.graph("command", seconds + age) for age in range(5)]


COMMANDS_TO_WATCH = [
    ("SET", "k", 'say "hi"\n\x01\\', "PX", "100000"),
    ("GET", b"\xff\x00"),
    ("SELECT", "3"),
    ("GET", "k"),
    ("NOPE",),
    ("GET",),
    ("INCR", "text"),
    ("CONFIG", "GET", "hz"),
    ("AUTH", "secret"),
    ("MULTI",),
    ("SET", "a", "1"),
    ("PING",),
    ("EXEC",),
    ("PUBLISH", "channel", "hi"),
]


def test_monitor_streams_the_same_lines(real_server: RealServer) -> None:
    watcher, real = real_server.client(), real_server.client()
    server = Server(seed=1)
    our_watcher, ours = OurClient(server), OurClient(server)
    assert our_watcher("MONITOR") == watcher("MONITOR")
    for client in (real, ours):
        client("SET", "text", "x")
        for argv in COMMANDS_TO_WATCH:
            client(*argv)
        client("PING", "end")
    real_lines: list[bytes] = []
    while not real_lines or b'"end"' not in real_lines[-1]:
        real_lines.append(watcher._read()[1])
    our_lines = [line.text for line in our_watcher.client.outbox]
    assert list(map(without_head, our_lines)) == list(map(without_head, real_lines))


def without_head(line: bytes) -> bytes:
    """A line of MONITOR without time and address: ``[3] "GET" "k"``."""
    found = re.fullmatch(rb"\d+\.\d{6} \[(\d+) [^\]]+\] (.*)", line)
    assert found is not None, line
    return b"[%s] %s" % found.groups()


def test_monitor_in_a_transaction(pair: tuple[RealClient, OurClient]) -> None:
    for line in ("MULTI", "MONITOR", "EXEC"):
        real_reply, our_reply = (client(line) for client in pair)
        assert our_reply == real_reply


# -- DEBUG ------------------------------------------------------------------------------------


VALUES = [b"", b"0", b"-1", b"127", b"128", b"-129", b"32768", b"2147483647", b"2147483648"]
VALUES += [b"9999", b"10000", b"x", b"x" * 44, b"x" * 45, b"x" * 63, b"x" * 64, b"x" * 16384]
VALUES += [b"9223372036854775807", b"12345678901", b"007", b"3.5"]


def test_object_tells_the_same(real_server: RealServer) -> None:
    """With compression off, as our length in a file is that of the plain value."""
    real, ours = real_server.client(), OurClient(Server(seed=1))
    for client in (real, ours):
        client("CONFIG", "SET", "rdbcompression", "no")
        client("SET", "changed", "12")
        client("APPEND", "changed", "3")
    for value in VALUES:
        for client in (real, ours):
            client("SET", "k", value)
        assert object_text(ours, "k") == object_text(real, "k"), value
    assert object_text(ours, "changed") == object_text(real, "changed")


def object_text(client: RealClient | OurClient, key: str) -> bytes:
    """Without the address and the clock."""
    text: bytes = client("DEBUG", "OBJECT", key)[1]
    return re.sub(rb"^Value at:0x[0-9a-f]+ | lru:\d+", b"", text)


def test_populate(real_server: RealServer) -> None:
    real, ours = real_server.client(), OurClient(Server(seed=1))
    for client in (real, ours):
        client("DEBUG", "PAUSE-CRON", "1")  # which would shrink an empty table
        client("SET", "key:1", "mine")
    for line in (
        "DEBUG POPULATE 3",
        "MGET key:0 key:1 key:2 key:3",
        "DEBUG POPULATE 2 p 4",
        "DEBUG POPULATE 2 q 60",
        "MGET p:0 p:1 q:0 q:1",
        "OBJECT ENCODING key:0",
        "OBJECT ENCODING p:0",
        "OBJECT ENCODING q:0",
        "DBSIZE",
        "DEBUG POPULATE 100 r x",
    ):
        assert ours(*line.split()) == real(*line.split())
    size = rb"table size: (\d+)"
    real_sizes = re.findall(size, real("DEBUG", "HTSTATS", "0"))
    assert re.findall(size, ours("DEBUG", "HTSTATS", "0")) == real_sizes


LEARNED_KEYS = 400
FAR_MS = 4_000_000_000_000


def learn_hashes(real: RealClient) -> dict[bytes, int]:
    """The low bits of the hashes of keys k0, k1, ...: their buckets in a large table."""
    for i in range(LEARNED_KEYS):
        real("SET", f"k{i}", "v")
    real("DEBUG", "RELOAD")
    hashes = {}
    size = 1 << (LEARNED_KEYS - 1).bit_length()
    for cursor, keys in scan(real):
        # The bucket that precedes the returned cursor, counted with reversed bits.
        bits = size.bit_length() - 1
        reversed_cursor = int(f"{cursor:0{bits}b}"[::-1], 2)
        before = (reversed_cursor - 1) % size
        bucket = int(f"{before:0{bits}b}"[::-1], 2)
        hashes.update(dict.fromkeys(keys, bucket))
    real("FLUSHALL")
    return hashes


def scan(client: RealClient | OurClient) -> list[tuple[int, list[bytes]]]:
    """All steps of a SCAN with COUNT 1: the cursor returned, and the keys."""
    steps: list[tuple[int, list[bytes]]] = []
    cursor = b"0"
    while not steps or cursor != b"0":
        cursor, (_, keys) = client("SCAN", cursor, "COUNT", "1")[1]
        steps.append((int(cursor), keys))
    return steps


@pytest.mark.parametrize("keys", [1, 5, 70, 129, 300])
def test_reload_rebuilds_the_tables_alike(real_server: RealServer, keys: int) -> None:
    """Tables in the middle of a rehash, keys with and without a TTL, and dead ones."""
    real = real_server.client()
    real("CONFIG", "SET", "activerehashing", "no")
    real("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    hashes = learn_hashes(real)
    server = Server(hash_function=hashes.__getitem__, activerehashing=False)
    ours = OurClient(server)
    ours("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    for client in (real, ours):
        for i in range(keys):
            px = [["PXAT", str(FAR_MS + i)], [], ["PXAT", "1"]][i % 3]
            client("SET", f"k{i}", str(i), *px)
        client("APPEND", "k0", "5")
    assert ours("DEBUG", "HTSTATS", "0") == real("DEBUG", "HTSTATS", "0")
    fields = ["rdb_last_load_keys_expired", "rdb_last_load_keys_loaded"]
    fields += ["rdb_saves", "rdb_changes_since_last_save"]
    for _ in range(2):
        assert ours("DEBUG", "RELOAD") == real("DEBUG", "RELOAD")
        server._check()
        our_info, real_info = info(ours, "persistence"), info(real, "persistence")
        assert {f: our_info[f] for f in fields} == {f: real_info[f] for f in fields}
        assert ours("DEBUG", "HTSTATS", "0") == real("DEBUG", "HTSTATS", "0")
        assert ours("OBJECT", "ENCODING", "k0") == real("OBJECT", "ENCODING", "k0")
        assert scan(ours) == scan(real)
        for i in range(keys):
            assert ours("PEXPIRETIME", f"k{i}") == real("PEXPIRETIME", f"k{i}")


def test_reload_dirties_watched_keys(real_server: RealServer) -> None:
    real, ours = real_server.client(), OurClient(Server(seed=1))
    for line in ("SET k v", "WATCH k", "DEBUG RELOAD", "MULTI", "PING", "EXEC"):
        assert ours(*line.split()) == real(*line.split())


def test_debug_needs_permission() -> None:
    path = find_redis_server()
    server = RealServer(path, "--enable-debug-command", "no")
    try:
        real = server.client()
        ours = OurClient(Server(seed=1, enable_debug_command="no"))
        assert ours("DEBUG", "HELP") == real("DEBUG", "HELP")
        assert ours("DEBUG") == real("DEBUG")
    finally:
        server.stop()
