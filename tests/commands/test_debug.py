"""DEBUG: time, layout of the tables, reload."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

import pytest

from miniredis.clock import SystemClock, VirtualClock
from miniredis.errors import CommandError
from miniredis.keyspace.rdb import rdb_saved_string_len
from miniredis.reply import OK, Push, Status
from miniredis.server.server import Server
from miniredis.structs.dict import Dict
from miniredis.structs.dict_stats import dict_get_stats

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
    return caller(server)


def caller(server: Server) -> Call:
    c = server.create_client()
    return lambda *words: server.process_command(
        c, [word if isinstance(word, bytes) else str(word).encode() for word in words]
    )


# -- time -----------------------------------------------------------------------------------


def test_sleep_lets_time_pass_and_nothing_happen(
    clock: VirtualClock, server: Server, call: Call
) -> None:
    clock.advance(5)  # the first cron has run; the next is due at 101 ms
    call("SET", "k", "v", "PX", 20)
    loops = server.cronloops
    assert call("DEBUG", "SLEEP", "0.25") is OK
    assert clock.us() == (START_MS + 5 + 250) * 1000
    assert server.cronloops == loops
    assert server.stat_expiredkeys == 0
    assert call("DBSIZE") == 0, "the cron that was due runs before the next command"
    assert server.cronloops == loops + 1
    server._check()


def test_time_stands_still_for_look_ups_of_one_transaction(call: Call) -> None:
    call("SET", "k", "v", "PX", 30)
    for line in ("MULTI", "GET k", "DEBUG SLEEP 0.06", "GET k", "PTTL k", "EXEC"):
        reply = call(*line.split())
    assert reply == [b"v", OK, b"v", 0]
    assert call("GET", "k") is None


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "", "nan", "0.0000001", "-1e400"])
def test_sleep_of_no_time(clock: VirtualClock, call: Call, seconds: str) -> None:
    before = clock.us()
    assert call("DEBUG", "SLEEP", seconds) is OK
    assert clock.us() == before


@pytest.mark.parametrize(
    ("seconds", "us"),
    [
        ("1e-3", 1000),
        (" .5x", 500_000),
        ("+2.", 2_000_000),
        ("0x1p-4", 62_500),
        ("0X.1g", 62_500),
        ("0x10", 16_000_000),
        ("1" + "0" * 5000 + "e-5000", 1_000_000),
    ],
)
def test_sleep_reads_numbers_as_c_does(
    clock: VirtualClock, call: Call, seconds: str, us: int
) -> None:
    call("DEBUG", "SLEEP", seconds)
    assert clock.us() == START_MS * 1000 + us


def test_sleep_is_bounded(clock: VirtualClock, call: Call) -> None:
    assert call("DEBUG", "SLEEP", "1e12") is OK
    assert clock.us() == START_MS * 1000 + 10**15


@pytest.mark.parametrize("seconds", ["1e300", "9223372036855", "inf", "nan", "-5", "x", ""])
def test_what_is_too_long_for_c_is_no_sleep(clock: VirtualClock, call: Call, seconds: str) -> None:
    """The conversion to 64 bits makes a negative number of it, which nanosleep() refuses."""
    assert call("DEBUG", "SLEEP", seconds) is OK
    assert clock.us() == START_MS * 1000


@pytest.mark.parametrize(
    ("switch", "on"),
    [
        ("4294967296", False),  # of a long the low 32 bits count
        ("4294967297", True),
        ("9" * 5000, True),  # a long at its limit is -1
        ("-" + "9" * 5000, False),  # and at the other limit 0
        ("0" * 5000 + "1", True),
        (" +1", True),
        ("1x", True),
        ("x1", False),
    ],
)
def test_a_switch_is_read_as_atoi_does(server: Server, call: Call, switch: str, on: bool) -> None:
    """Tried on redis-server 7.0.15 by letting a key die."""
    assert call("DEBUG", "SET-ACTIVE-EXPIRE", switch) is OK
    assert server.active_expire_enabled is on


def test_sleep_under_the_system_clock_takes_its_time() -> None:
    call, clock = caller(Server()), SystemClock()
    before = clock.us()
    assert call("DEBUG", "SLEEP", "0.002") is OK
    assert clock.us() - before >= 2000


def test_set_active_expire(clock: VirtualClock, server: Server, call: Call) -> None:
    call("SET", "k", "v", "PX", 1)
    assert call("DEBUG", "SET-ACTIVE-EXPIRE", 0) is OK
    clock.advance(1000)
    assert server.dbsize() == 1
    assert call("DEBUG", "set-active-expire", "1") is OK
    clock.advance(1000)
    assert server.dbsize() == 0


def test_pause_cron(clock: VirtualClock, server: Server, call: Call) -> None:
    call("DEBUG", "PAUSE-CRON", 1)
    loops = server.cronloops
    clock.advance(1000)
    assert server.cronloops == loops
    call("DEBUG", "PAUSE-CRON", 0)
    clock.advance(1000)
    assert server.cronloops == loops + 10


# -- layout ---------------------------------------------------------------------------------


def test_htstats_of_a_table_being_rehashed() -> None:
    d = Dict(lambda key: key[0], random.Random(1))
    for byte in (0, 4, 8, 1):
        d.add(bytes([byte]), None)
    d.add(bytes([2]), None)  # the fifth of four buckets: growth begins
    assert dict_get_stats(d) == (
        "Hash table 0 stats (main hash table):\n"
        " table size: 4\n"
        " number of elements: 4\n"
        " different slots: 2\n"
        " max chain length: 3\n"
        " avg chain length (counted): 2.00\n"
        " avg chain length (computed): 2.00\n"
        " Chain length distribution:\n"
        "   0: 2 (50.00%)\n"
        "   1: 1 (25.00%)\n"
        "   3: 1 (25.00%)\n"
        "Hash table 1 stats (rehashing target):\n"
        " table size: 8\n"
        " number of elements: 1\n"
        " different slots: 1\n"
        " max chain length: 1\n"
        " avg chain length (counted): 1.00\n"
        " avg chain length (computed): 1.00\n"
        " Chain length distribution:\n"
        "   0: 7 (87.50%)\n"
        "   1: 1 (12.50%)\n"
    )


def test_long_chains_are_not_listed() -> None:
    d = Dict(lambda key: 0, random.Random(1))
    for i in range(60):
        d.add(b"%d" % i, None)
    text = dict_get_stats(d)
    assert " max chain length: 60\n" in text
    assert "   60:" not in text and "   49:" not in text


def test_object_of_a_dead_key(clock: VirtualClock, call: Call) -> None:
    call("SET", "k", 12345, "PX", 5)
    clock.advance_to(START_MS + 90)
    text = call("DEBUG", "OBJECT", "k").text
    assert b" encoding:int serializedlength:3 " in text
    assert isinstance(call("DEBUG", "OBJECT", "nope"), CommandError)


@pytest.mark.parametrize(
    ("value", "length"),
    [
        (b"", 1),
        (b"7", 2),
        (b"-128", 2),
        (b"128", 3),
        (b"32768", 5),
        (b"2147483648", 11),
        (b"007", 4),
        (b"x" * 63, 64),
        (b"x" * 64, 66),
        (b"x" * 16383, 16385),
        (b"x" * 16384, 16389),
    ],
)
def test_saved_string_len(value: bytes, length: int) -> None:
    assert rdb_saved_string_len(value) == length


# -- the data set ---------------------------------------------------------------------------


def test_populate_leaves_existing_keys_alone(server: Server, call: Call) -> None:
    call("SET", "key:1", "mine")
    before = server.dirty
    assert call("DEBUG", "POPULATE", 40) is OK
    assert call("MGET", "key:0", "key:1", "key:39") == [b"value:0", b"mine", b"value:39"]
    assert server.dbsize() == 40
    assert server.dirty == before, "nothing is propagated"
    server._check()


def test_populate_begins_with_a_table_of_the_final_size(server: Server, call: Call) -> None:
    call("DEBUG", "POPULATE", 100)
    d = server.databases[0].dict
    assert (len(d.ht_table[0]), d.is_rehashing()) == (128, False)


def test_reload_drops_the_dead_and_forgets_the_cycle(
    clock: VirtualClock, server: Server, call: Call
) -> None:
    call("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    for i in range(50):
        call("SET", f"k{i}", i, "PX", 5 if i < 10 else 100_000)
    call("SELECT", 5)
    call("SET", "other", "v")
    db = server.databases[0]
    db.expires_cursor, db.avg_ttl = 7, 99
    clock.advance_to(START_MS + 6)
    assert call("DEBUG", "RELOAD") is OK
    assert (server.dbsize(0), server.dbsize(5)) == (40, 1)
    assert (db.expires_cursor, db.avg_ttl) == (0, 0)
    assert server.stat_expiredkeys == 0, "they were not expired, they were not read"
    assert (server.rdb_last_load_keys_expired, server.rdb_last_load_keys_loaded) == (10, 41)
    assert call("GET", "other") == b"v"
    server._check()


def test_reload_keeps_a_key_in_its_last_millisecond(
    clock: VirtualClock, server: Server, call: Call
) -> None:
    call("SET", "k", "v", "PX", 5)
    clock.advance_to(START_MS + 5)
    call("DEBUG", "RELOAD")
    assert server.dbsize() == 1


def test_reload_on_a_replica_keeps_the_dead(
    clock: VirtualClock, server: Server, call: Call
) -> None:
    call("SET", "k", "v", "PX", 5)
    server.masterhost = "primary"
    clock.advance_to(START_MS + 50)
    call("DEBUG", "RELOAD")
    assert (server.dbsize(), server.rdb_last_load_keys_expired) == (1, 0)


def test_reload_gives_the_tables_their_final_size(server: Server, call: Call) -> None:
    for i in range(65):
        call("SET", f"k{i}", i)
    db = server.databases[0]
    assert db.dict.is_rehashing()
    call("DEBUG", "RELOAD")
    assert not db.dict.is_rehashing()
    assert (len(db.dict.ht_table[0]), len(db.expires.ht_table[0])) == (128, 4)


@pytest.mark.parametrize(
    ("policy", "idle"), [("noeviction", 0), ("allkeys-lru", 30), ("allkeys-random", 0)]
)
def test_access_times_survive_only_under_lru(
    clock: VirtualClock, call: Call, policy: str, idle: int
) -> None:
    call("CONFIG", "SET", "maxmemory-policy", policy)
    call("SET", "k", "v")
    clock.advance(30_500)
    call("DEBUG", "RELOAD")
    assert call("OBJECT", "IDLETIME", "k") == idle


def test_counter_survives_under_lfu(clock: VirtualClock, server: Server, call: Call) -> None:
    call("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu", "lfu-decay-time", "1")
    call("SET", "k", "v")
    server.databases[0].dict.index[b"k"].val.lru = (server.mstime // 60_000 & 0xFFFF) << 8 | 100
    clock.advance(180_000)
    call("DEBUG", "RELOAD")
    assert call("OBJECT", "FREQ", "k") == 97


def test_strings_forget_that_they_were_changed_in_place(call: Call) -> None:
    call("SET", "k", "1")
    call("APPEND", "k", "2")
    assert call("OBJECT", "ENCODING", "k") == b"raw"
    call("DEBUG", "RELOAD")
    assert call("OBJECT", "ENCODING", "k") == b"int"


# -- the rest -------------------------------------------------------------------------------


def test_error_is_not_counted(server: Server, call: Call) -> None:
    reply = call("DEBUG", "ERROR", "MYCODE two\nlines")
    assert isinstance(reply, CommandError) and reply.text == b"MYCODE two lines"
    assert (server.stat_total_error_replies, server.stat_errors) == (0, {})


def test_change_repl_id(server: Server, call: Call) -> None:
    before = server.replid
    call("DEBUG", "CHANGE-REPL-ID")
    assert server.replid != before and len(server.replid) == 40
    assert server.replid.encode() in call("INFO", "replication").text


def test_log_goes_to_python(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "miniredis"):
        assert call("DEBUG", "LOG", "hello") is OK
    assert [record.getMessage() for record in caplog.records] == ["DEBUG LOG: hello"]


def test_protocol_push_comes_before_the_reply(server: Server) -> None:
    c = server.create_client()
    argv = [b"DEBUG", b"PROTOCOL", b"push"]
    reply = server.process_command(c, argv)
    assert isinstance(reply, CommandError) and not c.outbox
    c.resp = 3
    assert server.process_command(c, argv) == b"Some real reply following the push reply"
    [push] = c.outbox
    assert isinstance(push, Push) and push.items == [b"server-cpu-usage", 42]


@pytest.mark.parametrize(
    ("setting", "addr", "allowed"),
    [
        ("yes", "10.0.0.1:5", True),
        ("local", "127.0.0.1:5", True),
        ("local", "[::1]:5", True),
        ("local", "10.0.0.1:5", False),
        ("no", "127.0.0.1:5", False),
    ],
)
def test_who_may_use_it(setting: str, addr: str, allowed: bool) -> None:
    server = Server(seed=1, enable_debug_command=setting)
    reply = server.process_command(server.create_client(addr=addr), [b"DEBUG", b"CHANGE-REPL-ID"])
    assert (reply is OK) == allowed
    if not allowed:
        assert reply.text.startswith(b"ERR DEBUG command not allowed. ")


def test_subcommands_take_only_so_many_arguments(call: Call) -> None:
    for line in ("LOADAOF x", "OBJECT", "OBJECT a b", "POPULATE 1 2 3 4", "NOPE"):
        reply = call("DEBUG", *line.split())
        assert reply.text.startswith(b"ERR unknown subcommand or wrong number of arguments for '")
    assert isinstance(call("DEBUG", "PROTOCOL", "true"), bool)
    assert isinstance(call("DEBUG", "HELP")[0], Status)
