"""Defaults, CONFIG GET and CONFIG SET beside redis-server 7.0.15."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from miniredis.server.config import PARAMETERS
from miniredis.server.server import Server
from tests.differential.plain_server import (
    OurClient,
    RealClient,
    RealServer,
    find_redis_server,
    shared_real_server,
)

__all__ = ["shared_real_server"]

# Values that are not compared, and why.
DIFFERENT = {
    "dir": "a path: the real server has a directory of its own, the simulator uses none",
    "unixsocket": "a path: the real server is reached through it",
    "maxclients": "Redis lowers it to what the machine's limit of open files allows",
}
# What the real server of these tests is started with; the simulator gets the same.
STARTED_WITH: dict[str, Any] = {
    "port": 0,  # the socket is enough
    "save": "",  # nothing is written
    "enable_debug_command": "yes",  # no in Redis; yes here, as DEBUG shows the inside
}
NAMES = sorted({name for row in PARAMETERS.values() for name in (row.name, row.alias) if name})


@pytest.fixture
def real(shared_real_server: RealServer) -> Iterator[RealClient]:
    client = shared_real_server.client()
    yield client
    shared_real_server.clients.remove(client)
    client.close()


@pytest.fixture
def ours() -> OurClient:
    """A simulator with what the real server was started with."""
    return OurClient(Server(seed=1, **STARTED_WITH))


def values(reply: Any) -> dict[bytes, bytes]:
    """What CONFIG GET replied; in which order its hash table is walked does not matter."""
    kind, words = reply
    assert kind == "array"
    return dict(zip(words[::2], words[1::2], strict=True))


def get(client: RealClient | OurClient, *patterns: bytes | str) -> dict[bytes, bytes]:
    return values(client("CONFIG", "GET", *patterns))


def without_different(found: dict[bytes, bytes]) -> dict[bytes, bytes]:
    return {name: value for name, value in found.items() if name.decode() not in DIFFERENT}


# -- defaults -------------------------------------------------------------------------------


def test_defaults(real: RealClient, ours: OurClient) -> None:
    expected = get(real, *NAMES)
    assert len(expected) > 180
    assert without_different(get(ours, *expected)) == without_different(expected)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_a_parameter_of_both(real: RealClient, ours: OurClient, name: str) -> None:
    assert list(get(real, name)) == list(get(ours, name)) == [name.encode()]


# -- CONFIG GET -----------------------------------------------------------------------------

GETS = [
    "hz",
    "HZ",
    "hz HZ Hz",
    "HZ hz",
    "hz*",
    "HZ*",
    "H[z]",
    "hz hz* timeout",
    "hz* hz",
    "[h]z HZ",
    "nope",
    "nope hz",
    "''",
    "*hz hz *hz*",
    "slave-priority",
    "replica-priority slave-priority",
    "slave-priority replica-priority",
    "slave*",
    "replica*",
    "*ziplist*",
    "*listpack*",
    "lua-time-limit busy-reply-threshold",
    "key-load-delay",
    "key-load*",
    "Key-Load-Delay",
    "use-exit-on-pani?",
    "*lazyfree* maxmemory*",
    "maxmemory\\*",
    "[",
    "?z",
    "requirepass masterauth masteruser",
    "tls*",
    "[^a-gi-z]z",
    "appendonl[x-z]",
    "append*",
    "lfu-* active-expire-* hz",
    "*",
    "*-priority",
    "busy* lua*",
    "[a-c]*",
    "[^a-y]*",
    "server_cpulist server-cpulist *cpulist",
    "HZ h?",
    "h? HZ",
    "HZ hz h?",
    "h? hz HZ",
    "sLave-priority *-priority",
    "zz\0x",
    "hz\0*",
    "h*\0x",
]


@pytest.mark.parametrize("line", GETS)
def test_get(real: RealClient, ours: OurClient, line: str) -> None:
    patterns = shlex.split(line)
    expected = get(real, *patterns)
    assert without_different(get(ours, *patterns)) == without_different(expected)


# -- CONFIG SET -----------------------------------------------------------------------------

SETS = [
    # how it is called
    "",
    "hz",
    "hz 10 timeout",
    "nope 1",
    "NOPE 1",
    "'' 1",
    "nope 1 hz x",
    "hz x nope 1",
    "port x nope 1",
    "databases 4 nope 1",
    "nope 1 databases 4",
    "HZ 20",
    # several at once, or none
    "hz 20 timeout 5",
    "hz 20 timeout -1",
    "hz 20 timeout 5 maxmemory x",
    "hz 20 HZ 30",
    "hz 20 hz 20",
    "hz 20 hz 30 hz 40",
    "hz x hz 20",
    "hz 20 databases 4",
    "databases 4 databases 5",
    "databases 4 hz 10 hz 10",
    "hz 10 hz 10 databases 4",
    "dbfilename x databases 4",
    "databases 4 dbfilename x",
    "slave-priority 5",
    "slave-priority 5 hz 10",
    "slave-priority x",
    "Slave-Priority x",
    "replica-priority 1 slave-priority 2",
    "slave-priority 2 replica-priority 1",
    "'zz\0x' 20",
    "'zatabases\0x' z",
    # what may not be set
    "databases 16",
    "DATABASES 16",
    "appendfilename x",
    "replicaof 'localhost 1'",
    "dbfilename other.rdb",
    "dir .",
    "enable-debug-command no",
    # yes or no
    "activerehashing no",
    "activerehashing NO",
    "activerehashing ''",
    "activerehashing 1",
    "activerehashing yes!",
    "activedefrag yes",
    "activedefrag no",
    "activedefrag x",
    "lazyfree-lazy-expire Yes",
    # integers
    "timeout ''",
    "timeout 1.5",
    "timeout ' 1'",
    "timeout +1",
    "timeout 01",
    "timeout -0",
    "timeout -1",
    "timeout 2147483647",
    "timeout 2147483648",
    "timeout 9223372036854775808",
    "timeout 1k",
    "hz 0",
    "hz 1",
    "hz 500",
    "hz 501",
    "hz 2147483647",
    "hz -1",
    "active-expire-effort 0",
    "active-expire-effort 10",
    "active-expire-effort 11",
    "maxmemory-samples 0",
    "lfu-log-factor -1",
    "slowlog-log-slower-than -1",
    "slowlog-log-slower-than -2",
    "slowlog-max-len -1",
    "slowlog-max-len 9223372036854775807",
    "tracking-table-max-keys 18446744073709551615",
    "list-max-listpack-size -2147483648",
    "list-max-listpack-size -2147483649",
    "list-max-ziplist-size 7",
    # memory
    "maxmemory 100mb",
    "maxmemory 1gb",
    "maxmemory 1GB",
    "maxmemory 2000m",
    "maxmemory 3g",
    "maxmemory 2000000k",
    "maxmemory 2000000kb",
    "maxmemory 1000000000b",
    "maxmemory 1t",
    "maxmemory 1.5gb",
    "maxmemory '1 gb'",
    "maxmemory -1",
    "maxmemory mb",
    "maxmemory ''",
    "maxmemory 20000000000gb",
    "maxmemory 18446744073709551615",
    "maxmemory 0x10",
    "maxmemory +1",
    "repl-backlog-size 0",
    "repl-backlog-size 1",
    "repl-backlog-size 16383",
    "repl-backlog-size 16385",
    "repl-backlog-size 1 hz x",
    "watchdog-period 1",
    "watchdog-period 199",
    "watchdog-period 201",
    "watchdog-period -1",
    "hz 100 watchdog-period 5",
    "watchdog-period 5 hz 100",
    "hz 1 watchdog-period 5",
    "hz 1000 watchdog-period 1",
    "proto-max-bulk-len 1kb",
    "proto-max-bulk-len 1mb",
    "hash-max-listpack-value 1k",
    "hash-max-ziplist-value 1kb",
    "client-query-buffer-limit 1mb",
    "maxmemory-clients 5%",
    "maxmemory-clients 100%",
    "maxmemory-clients 101%",
    "maxmemory-clients 0%",
    "maxmemory-clients -5%",
    "maxmemory-clients %",
    "maxmemory-clients 5%%",
    "maxmemory-clients x",
    "maxmemory-clients 1gb",
    # one of several words
    "maxmemory-policy allkeys-lru",
    "maxmemory-policy ALLKEYS-LFU",
    "maxmemory-policy lru",
    "maxmemory-policy ''",
    "loglevel nothing",
    "loglevel warning",
    "appendfsync always",
    "acl-pubsub-default x",
    "sanitize-dump-payload clients",
    "repl-diskless-load x",
    "cluster-preferred-endpoint-type x",
    "propagation-error-behavior panic",
    # classes of keyspace events
    "notify-keyspace-events ''",
    "notify-keyspace-events KEA",
    "notify-keyspace-events AKE",
    "notify-keyspace-events xE",
    "notify-keyspace-events xxEE",
    "notify-keyspace-events g$lshzxetdKE",
    "notify-keyspace-events KEn",
    "notify-keyspace-events KEAmn",
    "notify-keyspace-events m",
    "notify-keyspace-events Q",
    "notify-keyspace-events ke",
    "notify-keyspace-events 'K E'",
    # values of several words
    "save ''",
    "save '60 1'",
    "save '60 1 3600 0'",
    "save '60'",
    "save '60 1 3600'",
    "save '0 1'",
    "save '60 -1'",
    "save '60 x'",
    "save '60  1'",
    "save ' '",
    "save '3600 1 300 100 60 10000'",
    "save '+60 1'",
    "save '60 2147483648'",
    "client-output-buffer-limit 'normal 0 0 0'",
    "client-output-buffer-limit 'normal 1mb 1m 10'",
    "client-output-buffer-limit 'pubsub 1kb 1k 1 replica 1gb 1g 2'",
    "client-output-buffer-limit 'SLAVE 1 2 3'",
    "client-output-buffer-limit 'normal 1 2 3 normal 4 5 6'",
    "client-output-buffer-limit 'normal 1 2'",
    "client-output-buffer-limit ''",
    "client-output-buffer-limit 'master 1 2 3'",
    "client-output-buffer-limit 'nope 1 2 3'",
    "client-output-buffer-limit 'normal 1x 2 3'",
    "client-output-buffer-limit 'normal 1 2 -3'",
    "client-output-buffer-limit 'normal 1 2 3 nope 1 2 3'",
    "oom-score-adj-values '0 200'",
    "oom-score-adj-values '0 200 2001'",
    "oom-score-adj-values '0 100 300'",
    "oom-score-adj-values '300 100 0'",
    "oom-score-adj-values '1  2'",
    "oom-score-adj-values '1 2 x'",
    "latency-tracking-info-percentiles ''",
    "latency-tracking-info-percentiles '0x10 1e1 .5 5. -0'",
    "latency-tracking-info-percentiles nan",
    "latency-tracking-info-percentiles '50 99.99 100'",
    "latency-tracking-info-percentiles '50 101'",
    "latency-tracking-info-percentiles '-1'",
    "latency-tracking-info-percentiles '50 x'",
    "shutdown-on-sigterm 'save now'",
    "shutdown-on-sigterm 'now SAVE force'",
    "shutdown-on-sigterm 'save nosave'",
    "shutdown-on-sigint x",
    "shutdown-on-sigint ''",
    "shutdown-on-sigint 'default force'",
    "shutdown-on-sigint 'force force now'",
    # texts with a rule
    "proc-title-template '{title} {port}'",
    "proc-title-template '{nope}'",
    "proc-title-template ''",
    "cluster-announce-hostname a.b-c",
    "cluster-announce-hostname a_b",
    f"cluster-announce-hostname {'a' * 256}",
    "masterauth secret",
    "masteruser ''",
    "replica-announce-ip 1.2.3.4",
]
BINARY_SETS = [
    (b"loglevel", b"warning\0x"),
    (b"activerehashing", b"no\0x"),
    (b"masterauth", b"a\0\xff"),
    (b"masteruser", b"a\0b"),
    (b"maxmemory", b"1gb\0x"),
    (b"maxmemory", b"1\xffgb"),
    (b"timeout", b"1\0"),
    (b"notify-keyspace-events", b"K\0Q"),
    (b"notify-keyspace-events", b"K\xff"),
    (b"save", b"60 1\0x"),
    (b"save", b"\0"),
    (b"save", b"\0abc"),
    (b"save", b"\0 \0"),
    (b"save", b"60\0 5"),
    (b"save", b"5 \0"),
    (b"oom-score-adj-values", b"1\0 2 3"),
    (b"oom-score-adj-values", b"\0"),
    (b"shutdown-on-sigint", b"save\0x"),
    (b"shutdown-on-sigint", b"\0"),
    (b"client-output-buffer-limit", b"\0"),
    (b"latency-tracking-info-percentiles", b"\0"),
    (b"latency-tracking-info-percentiles", b"50\0"),
    (b"activedefrag", b"yes\0"),
    (b"nope\0x", b"1"),
    (b"nope\xff", b"1"),
]


def set_and_restore(real: RealClient, words: list[bytes]) -> tuple[Any, dict[bytes, bytes]]:
    """What the real server replies, and what the parameters are then; undone afterwards."""
    names = words[::2]
    before = get(real, *names) if names else {}
    reply = real("CONFIG", "SET", *words)
    after = get(real, *names) if names else {}
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        undo = [word for name in changed for word in (name, before[name])]
        assert real("CONFIG", "SET", *undo) == ("status", b"OK")
        assert get(real, *names) == before
    return reply, after


def compare_set(real: RealClient, ours: OurClient, words: list[bytes]) -> None:
    expected, after = set_and_restore(real, words)
    assert ours("CONFIG", "SET", *words) == expected
    if words:
        assert without_different(get(ours, *words[::2])) == without_different(after)


@pytest.mark.parametrize("line", SETS)
def test_set(real: RealClient, ours: OurClient, line: str) -> None:
    compare_set(real, ours, [word.encode() for word in shlex.split(line)])


@pytest.mark.parametrize("words", BINARY_SETS, ids=repr)
def test_set_reads_as_c_does(real: RealClient, ours: OurClient, words: tuple[bytes, bytes]) -> None:
    compare_set(real, ours, list(words))


def test_the_least_backlog_is_not_demanded_at_start() -> None:
    server = RealServer(find_redis_server(), "--repl-backlog-size", "5", "--watchdog-period", "5")
    mine = OurClient(Server(repl_backlog_size=5, watchdog_period=5))
    names = ("repl-backlog-size", "watchdog-period")
    try:
        theirs = get(server.client(), *names)
    finally:
        server.stop()
    assert get(mine, *names) == theirs == {b"repl-backlog-size": b"5", b"watchdog-period": b"200"}


DIRECTORIES = ["/", "/tmp/", "/usr/../tmp", "/nonexistent", "", "/etc/hostname", "/tmp\0x", "."]


def test_directories() -> None:
    """In Redis the parameter is the process's directory; here it is only remembered."""
    server = RealServer(find_redis_server(), "--enable-protected-configs", "yes")
    mine = OurClient(Server(enable_protected_configs="yes"))
    assert get(mine, "dir") == {b"dir": os.getcwdb()}
    try:
        theirs = server.client()
        for path in [*DIRECTORIES, "/usr", "..", "tmp", "../usr"]:
            assert mine("CONFIG", "SET", "dir", path) == theirs("CONFIG", "SET", "dir", path), path
            if path != ".":
                assert get(mine, "dir") == get(theirs, "dir")
    finally:
        server.stop()
