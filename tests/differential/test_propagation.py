"""What a server writes to its file and to replicas: command for command what Redis writes.

The real server has ``appendonly yes`` and ``appendfsync always``; its file is read, and a
socket that has asked for SYNC listens as a replica. SELECTs are compared too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from tests.conftest import START_MS, missing
from tests.differential import (
    geo_scripts,
    hash_set_scripts,
    list_scripts,
    test_geo,
    test_hashes_sets,
    test_lists,
    test_zsets,
    zset_scripts,
)
from tests.differential.bitmap_scripts import BITMAPS
from tests.differential.command_scripts import SCRIPTS
from tests.differential.hll_scripts import HYPERLOGLOGS
from tests.differential.pair import KEYS, Step
from tests.differential.stream_pair import PING, StreamPair
from tests.differential.stream_scripts import STREAMS
from tests.differential.test_commands import parse
from tests.differential.test_state_machine import steps
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient
from tests.real.streams import AOF_OPTIONS, SyncReader

EXAMPLES = 200 if os.environ.get("CI") else 60
STEPS = 50
# They change what is compared, or when: sleeping, other listeners, tables built anew.
NOT_OURS = {"debug", "logs", "connection", "command"}


@pytest.fixture(scope="module")
def streams(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamPair]:
    try:
        frozen = FrozenServer(real_binary, tmp_path_factory.mktemp("frozen"), START_MS, AOF_OPTIONS)
    except RuntimeError as error:
        missing(str(error))
    try:
        if frozen.version < (7, 0):
            pytest.skip("what is propagated is compared with Redis 7.0")
        pair = StreamPair(frozen)
        yield pair
        pair.close()
    finally:
        frozen.stop()


def run(streams: StreamPair, script: str) -> list[list[bytes]]:
    for line in script.strip().splitlines():
        streams.step(parse(line.strip(), streams.frozen.ms))
    return streams.compare_streams()


# Scripts of the other types. Their replies are compared elsewhere, with hashes of their own.
# Of each: the scripts, and how a line of them is read.
TYPES: dict[str, tuple[dict[str, str], Callable[[str], Step]]] = {
    "bitmap": (BITMAPS, lambda line: parse(line, START_MS)),
    "geo": (geo_scripts.SCRIPTS, test_geo.parse),
    "hash_set": (hash_set_scripts.SCRIPTS, test_hashes_sets.parse),
    "hll": (HYPERLOGLOGS, lambda line: parse(line, START_MS)),
    "list": (list_scripts.SCRIPTS, test_lists.parse),
    "stream": (STREAMS, lambda line: parse(line, START_MS)),
    "zset": (zset_scripts.SCRIPTS, test_zsets.parse),
}


@pytest.mark.parametrize(
    ("type", "name"), [(type, name) for type, (scripts, _) in TYPES.items() for name in scripts]
)
def test_scripts_of_types(streams: StreamPair, type: str, name: str) -> None:
    streams.start()
    scripts, read = TYPES[type]
    for line in scripts[name].strip().splitlines():
        step = read(line.strip())
        if isinstance(step, int):
            streams.step(step)
        else:
            which, argv = step[0], tuple(streams.complete(word) for word in step[1])
            streams.real[which](*argv)
            streams.run_mine(streams.mine[which], argv)
    streams.real_events()
    streams.my_events()
    streams.compare_streams()


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - NOT_OURS))
@pytest.mark.parametrize("lazy", [False, True])
def test_scripts(streams: StreamPair, name: str, lazy: bool) -> None:
    streams.start(lazy=lazy)
    run(streams, SCRIPTS[name])


LAZY = """
    SET a 1 PX 10
    SET b 1 PX 10
    SET c 1 PX 10
    SET d 1 PX 10
    @11
"""
CASES = {
    "get": ("GET a", ["DEL a"]),
    "set": ("SET a 2", ["MULTI", "DEL a", "SET a 2", "EXEC"]),
    "set_ex": ("SET a 2 EX 1000 GET", None),
    "mget": ("MGET a b nope", ["MULTI", "DEL a", "DEL b", "EXEC"]),
    "exists": ("EXISTS a a b", ["MULTI", "DEL a", "DEL b", "EXEC"]),
    "del": ("DEL a", ["DEL a"]),
    "del_many": ("DEL a b", ["MULTI", "DEL a", "DEL b", "EXEC"]),
    "scan": ("SCAN 0 COUNT 100", None),
    "keys": ("KEYS *", []),
    "dbsize": ("DBSIZE", []),
    "ttl": ("TTL a", ["DEL a"]),
    "expire": ("EXPIRE a 10", ["DEL a"]),
    "incr": ("INCR a", ["MULTI", "DEL a", "INCR a", "EXEC"]),
    "incrbyfloat": (
        "INCRBYFLOAT a 1.5",
        ["MULTI", "DEL a", "SET a 1.5 KEEPTTL", "EXEC"],
    ),
    "rename": ("RENAME a b", ["DEL a"]),
    "copy": ("COPY a b", ["DEL a"]),
    "setnx": ("SETNX a 3", ["MULTI", "DEL a", "SETNX a 3", "EXEC"]),
    "msetnx": ("MSETNX a 3 b 4", ["MULTI", "DEL a", "DEL b", "MSETNX a 3 b 4", "EXEC"]),
    "getset": ("GETSET a 3", ["MULTI", "DEL a", "SET a 3", "EXEC"]),
    "getdel": ("GETDEL a", ["DEL a"]),
    "getex": ("GETEX a EX 10", ["DEL a"]),
    "one_transaction": (
        "MULTI\nGET a\nGET b\nSET c 1\nEXEC",
        ["MULTI", "DEL a", "DEL b", "DEL c", "SET c 1", "EXEC"],
    ),
    "transaction_of_one": ("MULTI\nGET a\nEXEC", ["DEL a"]),
    "transaction_of_none": ("MULTI\nPING\nEXEC", []),
    "scan_in_a_transaction": ("MULTI\nSCAN 0 COUNT 100\nEXEC", None),
    "other_database": ("SELECT 1\nSET a 1", ["SELECT 1", "SET a 1"]),
    "two_databases": (
        "MULTI\nSET x 1\nSELECT 1\nSET a 1\nSELECT 0\nSET y 1\nEXEC",
        ["MULTI", "SET x 1", "SELECT 1", "SET a 1", "SELECT 0", "SET y 1", "EXEC"],
    ),
    "move": ("SET x 1\nMOVE x 1", ["SET x 1", "MOVE x 1"]),
    "dead_where_it_moves": (
        "SELECT 1\nSET x 1 PXAT 1\nSELECT 0\nSET x 2\nMOVE x 1",
        [
            "SELECT 1",
            "SET x 1 PXAT 1",
            "SELECT 0",
            "SET x 2",
            "SELECT 1",
            "MULTI",
            "DEL x",
            "SELECT 0",
            "MOVE x 1",
            "EXEC",
        ],
    ),
    "publish": ("MULTI\nPUBLISH x y\nSET x 1\nEXEC", ["MULTI", "SET x 1", "EXEC"]),
    "only_publish": ("MULTI\nPUBLISH x y\nPUBLISH x z\nEXEC", ["MULTI", "EXEC"]),
    "watch": ("WATCH a\nMULTI\nSET x 1\nEXEC", ["SET x 1"]),
    "watch_dirty": ("WATCH x\nSET x 1\nMULTI\nSET x 2\nEXEC", ["SET x 1"]),
    "failed": ("INCRBY x nope\nSET x 1 NX XX\nEXPIRE nope 1", []),
    "unchanged": ("SET x 1\nSET x 2 NX\nPERSIST x\nEXPIRE x 10 XX", ["SET x 1"]),
    "script_of_one": ("""EVAL "return redis.call('SET','x',1)" 0""", ["SET x 1"]),
    "script_that_finds_dead": (
        """EVAL "return redis.call('SET',KEYS[1],1)" 1 a""",
        ["MULTI", "DEL a", "SET a 1", "EXEC"],
    ),
    "script_that_reads": (
        """EVAL "return redis.call('MGET','a','b')" 0""",
        ["MULTI", "DEL a", "DEL b", "EXEC"],
    ),
    "script_with_ttl": (
        """EVAL "redis.call('SET','x',1) redis.call('EXPIRE','x',10)" 0""",
        None,
    ),
    "script_that_fails": (
        """EVAL "redis.call('SET','x',1) redis.call('INCR','x','y')" 0\nSET y 1""",
        ["SET x 1", "SET y 1"],
    ),
    "script_for_the_file": (
        """EVAL "redis.set_repl(redis.REPL_AOF) redis.call('SET','x',1)" 0""",
        ["SET x 1"],
    ),
    "script_for_replicas": (
        """EVAL "redis.set_repl(redis.REPL_REPLICA) redis.call('SET','x',1)" 0""",
        [],
    ),
    "script_for_nobody": (
        """EVAL "redis.set_repl(0) redis.call('SET','x',1) redis.call('GET','a')" 0""",
        ["DEL a"],
    ),
    "script_half_for_replicas": (
        """EVAL "redis.set_repl(2) redis.call('SET','x',1) redis.set_repl(3)
        redis.call('SET','y',1)" 0""".replace("\n", " "),
        ["MULTI", "SET y 1", "EXEC"],
    ),
    "script_with_publish": (
        """EVAL "redis.call('PUBLISH','c','m') redis.call('SET','x',1)" 0""",
        ["MULTI", "SET x 1", "EXEC"],
    ),
    "script_elsewhere": (
        """EVAL "redis.call('SELECT',1) redis.call('SET','x',1)" 0\nSET x 2""",
        ["SELECT 1", "SET x 1", "SELECT 0", "SET x 2"],
    ),
    "script_in_a_transaction": (
        """MULTI\nSET x 1\nEVAL "return redis.call('INCR','x')" 0\nGET a\nEXEC""",
        ["MULTI", "SET x 1", "INCR x", "DEL a", "EXEC"],
    ),
    "read_only_script": ("""EVAL_RO "return redis.call('GET','a')" 0""", ["DEL a"]),
    "flush": ("FLUSHALL\nFLUSHDB ASYNC", ["FLUSHALL", "FLUSHDB ASYNC"]),
    "swapdb": ("SWAPDB 0 1", ["SWAPDB 0 1"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lazy", [False, True])
def test_keys_found_dead(streams: StreamPair, case: str, lazy: bool) -> None:
    """*expected* is spelled out for the reader; the real server has confirmed it."""
    script, expected = CASES[case]
    streams.start(lazy=lazy)
    run(streams, LAZY)
    written = [b" ".join(argv).decode() for argv in run(streams, script)]
    if expected is not None:
        dead = "UNLINK " if lazy else "DEL "
        expected = [line.replace("DEL ", dead) for line in expected]
        assert written == expected


def test_randomkey_does_not_bracket(streams: StreamPair) -> None:
    """Which key it picks first is chance."""
    streams.start()
    run(streams, LAZY)
    assert streams.real[0](b"RANDOMKEY") == streams.run_mine(streams.mine[0], (b"RANDOMKEY",))
    assert sorted(streams.real_events()) == sorted(streams.my_events())
    (real, mine), _ = streams.new_commands()
    assert sorted(mine) == sorted(real) == [[b"DEL", key] for key in sorted(KEYS)]


def test_active_expiry(streams: StreamPair) -> None:
    streams.start(active=True)
    run(streams, "SET a 1 PX 50\nSET b 1 PX 50\nSELECT 1\nSET c 1 PX 50\nSET d 1 PX 500")
    written = run(streams, "@200\n@1000")
    assert [argv for argv in written if argv[0] != b"SELECT"] != []
    assert {argv[-1] for argv in written if argv[0] == b"DEL"} == set(KEYS)
    assert [b"MULTI"] not in written


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    script=st.lists(steps, min_size=STEPS, max_size=STEPS),
    active=st.booleans(),
    lazy=st.booleans(),
)
def test_random_scripts(streams: StreamPair, script: list[Step], active: bool, lazy: bool) -> None:
    streams.start(active=active, lazy=lazy)
    for step in script:
        streams.step(step)
    streams.step((0, (b"RESET",)))
    streams.step((1, (b"RESET",)))
    streams.compare_streams()


def test_pings(real_binary: str, tmp_path: Path) -> None:
    """A replica hears one every ten seconds, counted from the server's start."""
    frozen = FrozenServer(real_binary, tmp_path, START_MS)
    server = Server(VirtualClock(START_MS), seed=1, cost=FREE)
    try:
        frozen.advance_ms(100)
        theirs = SyncReader(frozen, lambda: frozen.advance_ms(100))
        assert isinstance(server.clock, VirtualClock)
        server.clock.advance_to(frozen.ms)
        ours = server.replication_stream()
        real, mine = RawClient(frozen.port), server.create_client()
        seen: list[list[bytes]] = []
        for second in range(45):
            frozen.advance_ms(1000)
            server.clock.advance(1000)
            mark = [b"SET", b"second", b"%d" % second]
            real(*mark)
            server.process_command(mine, mark)
            heard = theirs.until(mark)
            assert [*heard, mark] == list(ours)
            ours.clear()
            seen += heard
        assert seen.count(PING) == 4
        theirs.close()
        real.close()
    finally:
        frozen.stop()
