"""SAVE, the RDB file, and the append-only file, of a server that writes no files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import miniredis
from miniredis.clock import FREE, VirtualClock
from miniredis.errors import CommandError
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.reply import OK, Status
from miniredis.server.server import Server
from miniredis.structs.crc64 import crc64

START_MS = 1_000_000_000_000
LIBRARY = b"#!lua name=lib\nredis.register_function('seven', function() return 7 end)"
Run = Callable[..., object]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START_MS)


@pytest.fixture
def server(clock: VirtualClock) -> Server:
    return Server(clock, seed=1, cost=FREE)


@pytest.fixture
def run(server: Server) -> Run:
    return runner(server)


def runner(server: Server) -> Run:
    client = server.create_client()

    def run(line: str, *more: bytes) -> object:
        argv = [word.encode() for word in line.split()] + list(more)
        reply = server.process_command(client, argv)
        server._check()
        return reply

    return run


def persistence(server: Server) -> dict[str, str]:
    lines = server.info(["persistence"]).decode().splitlines()
    return dict(line.split(":") for line in lines if ":" in line)


def fill(run: Run) -> None:
    for line in (
        "SET s v",
        "SET volatile v PX 5000",
        "RPUSH l a b c",
        "SADD set a b",
        "SADD ints 3 1 2",
        "HSET h f v",
        "ZADD z 1 a 2 b",
        "XADD x 1-1 f v",
        "XGROUP CREATE x g 0",
        "XREADGROUP GROUP g c STREAMS x >",
        "SELECT 3",
        "SET in3 v",
        "SELECT 0",
    ):
        assert not isinstance(run(line), CommandError), line
    run("FUNCTION LOAD", LIBRARY)


# -- the file ------------------------------------------------------------------------------------


def test_the_smallest_file_byte_by_byte(server: Server, run: Run) -> None:
    run("SET k v PXAT 1000000001000")
    data = server.rdb()
    assert data.startswith(
        b"REDIS0010\xfa\x09redis-ver\x067.0.15\xfa\nredis-bits\xc0@\xfa\x05ctime"
    )
    keys = (
        b"\xfe\x00\xfb\x01\x01\xfc" + (1_000_000_001_000).to_bytes(8, "little") + b"\x00\x01k\x01v"
    )
    body = data[:-8]
    assert body.endswith(b"\xfa\x08aof-base\xc0\x00" + keys + b"\xff")
    assert data[-8:] == crc64(0, body).to_bytes(8, "little")


def test_what_was_saved_is_loaded_by_another_server(server: Server, run: Run) -> None:
    fill(run)
    other = Server(server.clock, seed=2, cost=FREE)
    run_there = runner(other)
    run_there("SET old v")
    assert other.load_rdb(server.rdb()) == 9
    assert run_there("DEBUG DIGEST").text == run("DEBUG DIGEST").text  # type: ignore[attr-defined]
    assert run_there("PTTL volatile") == 5000
    assert run_there("FCALL seven 0") == 7
    assert run_there("EXISTS old") == 0
    server.clock.advance(5_001)  # type: ignore[attr-defined]
    assert other.load_rdb(other.rdb()) == 8  # the dead key is gone


def test_a_damaged_file_changes_nothing(server: Server, run: Run) -> None:
    fill(run)
    digest = run("DEBUG DIGEST").text  # type: ignore[attr-defined]
    data = server.rdb()
    for at in range(0, len(data), 7):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]):
            with pytest.raises(RdbError):
                server.load_rdb(damaged)
    assert run("DEBUG DIGEST").text == digest  # type: ignore[attr-defined]
    assert run("FCALL seven 0") == 7


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends too early"),
        (b"MAGIC0010\xff", "no RDB file"),
        (b"REDIS00x0\xff", "no RDB file"),
        (b"REDIS0011\xff", "version 11"),
        (b"REDIS0004\xfe\x10\xff", "database 16"),
        (b"REDIS0004\xf7\x00", "data of a module"),
        (b"REDIS0004\xf6\x00", "preliminary Redis 7"),
        (b"REDIS0004\x00\x01k\x01v\x00\x01k\x01v\xff", "comes twice"),
        (b"REDIS0004\x63\x01k\x01v\xff", "type 99"),
        (b"REDIS0004\xf5\x04oops\xff", "does not load"),
    ],
)
def test_what_is_refused(server: Server, run: Run, data: bytes, message: str) -> None:
    run("SET a 1")
    with pytest.raises(RdbError, match=message):
        server.load_rdb(data)
    assert server.dbsize() == 1


def test_files_of_old_servers(server: Server, run: Run) -> None:
    """Without hints and checksum, with times in seconds, and with an empty value."""
    seconds = (2_000_000_000).to_bytes(4, "little")
    data = b"REDIS0003\xfe\x00\xfd" + seconds + b"\x00\x01k\x01v\x02\x05empty\x00\x00\x01b\x01w\xff"
    assert server.load_rdb(data) == 2
    assert run("PEXPIRETIME k") == 2_000_000_000_000
    assert run("PEXPIRETIME b") == -1


def test_access_times_and_counters_survive(clock: VirtualClock) -> None:
    server = Server(clock, seed=1, cost=FREE, maxmemory_policy="allkeys-lru")
    run = runner(server)
    run("SET k v")
    clock.advance(50_500)
    server.load_rdb(server.rdb())
    assert run("OBJECT IDLETIME k") == 50
    run("CONFIG SET maxmemory-policy allkeys-lfu")
    run("RESTORE j 0", run("DUMP k"), b"FREQ", b"77")  # type: ignore[arg-type]
    server.load_rdb(server.rdb())
    assert run("OBJECT FREQ j") == 77


def test_bad_arguments(server: Server) -> None:
    with pytest.raises(TypeError, match="bytes"):
        server.load_rdb("dump.rdb")  # type: ignore[arg-type]


# -- commands ------------------------------------------------------------------------------------


def test_save_and_its_traces(clock: VirtualClock, server: Server, run: Run) -> None:
    assert run("LASTSAVE") == START_MS // 1000
    fill(run)
    assert int(persistence(server)["rdb_changes_since_last_save"]) > 0
    clock.advance(10_000)
    assert run("SAVE") is OK
    assert run("LASTSAVE") == START_MS // 1000 + 10
    info = persistence(server)
    assert (info["rdb_changes_since_last_save"], info["rdb_saves"]) == ("0", "1")
    assert run("BGSAVE") == Status(b"Background saving started")
    info = persistence(server)
    assert (info["rdb_saves"], info["rdb_last_bgsave_time_sec"]) == ("2", "0")
    assert server.persistence.saved == server.rdb()


def test_in_a_transaction_it_is_put_off(clock: VirtualClock, server: Server, run: Run) -> None:
    run("MULTI")
    for line in ("BGSAVE", "BGREWRITEAOF", "CONFIG SET appendonly yes", "SET a 1"):
        run(line)
    bgsave, rewrite, *_ = run("EXEC")  # type: ignore[misc]
    assert bgsave == Status(b"Background saving scheduled")
    assert rewrite == Status(b"Background append only file rewriting scheduled")
    assert server.persistence.saved is None
    assert persistence(server)["aof_rewrite_scheduled"] == "1"
    clock.advance(100)
    assert server.persistence.saved is not None
    assert persistence(server)["aof_rewrite_scheduled"] == "0"
    run("DEBUG LOADAOF")
    assert run("GET a") == b"1"


def test_a_save_that_fails(server: Server, run: Run) -> None:
    def full(data: bytes) -> None:
        raise OSError("no space left")

    server.persistence.on_save = full
    assert run("SAVE").text == b"ERR"  # type: ignore[attr-defined]
    assert run("BGSAVE").text == b"ERR"  # type: ignore[attr-defined]
    assert persistence(server)["rdb_last_bgsave_status"] == "err"
    server.persistence.on_save = None
    run("SAVE")
    assert persistence(server)["rdb_last_bgsave_status"] == "ok"


# -- DEBUG RELOAD --------------------------------------------------------------------------------


def test_reload_and_its_options(server: Server, run: Run) -> None:
    assert run("DEBUG RELOAD NOSAVE").text == b"ERR Error trying to load the RDB dump"  # type: ignore[attr-defined]
    fill(run)
    assert run("DEBUG RELOAD") is OK
    assert run("DBSIZE") == 8
    run("SET s changed")
    run("SET more 1")
    reply = run("DEBUG RELOAD NOSAVE NOFLUSH")
    assert reply.text == b"ERR Error trying to load the RDB dump"  # type: ignore[attr-defined]
    assert run("GET s") == b"changed"
    run("FUNCTION LOAD REPLACE", LIBRARY.replace(b"return 7", b"return 8"))
    run("FUNCTION LOAD", LIBRARY.replace(b"lib", b"other").replace(b"seven", b"nine"))
    assert run("DEBUG RELOAD NOSAVE NOFLUSH MERGE") is OK
    assert (run("GET s"), run("GET more")) == (b"v", b"1")
    assert (run("FCALL seven 0"), run("FCALL nine 0")) == (7, 7)
    assert run("DEBUG RELOAD nosave") is OK
    assert run("GET more") is None
    assert isinstance(run("DEBUG RELOAD FAST"), CommandError)


# -- the append-only file ------------------------------------------------------------------------


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_loadaof_makes_everything_anew(server: Server, run: Run, preamble: str) -> None:
    run(f"CONFIG SET aof-use-rdb-preamble {preamble}")
    fill(run)
    assert run("CONFIG SET appendonly yes") is OK
    for line in ("INCR n", "MULTI", "LPUSH l z", "SPOP set", "EXEC", "SELECT 5", "SET in5 v"):
        run(line)
    run("XADD x MAXLEN ~ 1 LIMIT 1 2-1 f v")
    run("SELECT 0")
    run("EXPIRE n 100")
    digest = run("DEBUG DIGEST").text  # type: ignore[attr-defined]
    assert run("DEBUG LOADAOF") is OK
    assert run("DEBUG DIGEST").text == digest  # type: ignore[attr-defined]
    assert run("FCALL seven 0") == 7
    assert run("TTL n") == 100
    assert persistence(server)["rdb_changes_since_last_save"] == "0"
    assert run("BGREWRITEAOF") == Status(b"Background append only file rewriting started")
    assert run("DEBUG LOADAOF") is OK
    assert run("DEBUG DIGEST").text == digest  # type: ignore[attr-defined]


def test_it_goes_on_after_loading(server: Server, run: Run) -> None:
    """The file is not told of its own replay, and of what comes after it once."""
    run("CONFIG SET appendonly yes")
    run("RPUSH l a")
    for _ in range(3):
        run("DEBUG LOADAOF")
        run("RPUSH l b")
    run("DEBUG LOADAOF")
    assert run("LRANGE l 0 -1") == [b"a", b"b", b"b", b"b"]


def test_without_appendonly_the_last_file_stays(server: Server, run: Run) -> None:
    refused = run("DEBUG LOADAOF")
    assert isinstance(refused, CommandError)
    run("CONFIG SET appendonly yes")
    run("SET a 1")
    run("CONFIG SET appendonly no")
    run("SET b 1")
    run("DEBUG LOADAOF")
    assert run("MGET a b") == [b"1", None]


def test_dead_keys_live_until_all_is_loaded(clock: VirtualClock, run: Run, server: Server) -> None:
    """A key that died and was deleted by the cycle: the DEL must find it."""
    run("SET k v PX 50")
    run("CONFIG SET appendonly yes")
    run("APPEND k w")
    clock.advance(200)
    run("SET k new")
    run("DEBUG LOADAOF")
    assert run("GET k") == b"new"
    assert run("PTTL k") == -1


def test_a_file_that_has_grown_is_rewritten(clock: VirtualClock, server: Server, run: Run) -> None:
    run("CONFIG SET auto-aof-rewrite-min-size 1000 appendonly yes")
    assert persistence(server)["aof_rewrites"] == "1"
    for _ in range(100):
        run("SET k v")
    assert persistence(server)["aof_rewrite_scheduled"] == "1"
    clock.advance(100)
    info = persistence(server)
    assert (info["aof_rewrites"], info["aof_rewrite_scheduled"]) == ("2", "0")
    assert info["aof_current_size"] == info["aof_base_size"]


def test_a_server_may_begin_with_it(clock: VirtualClock) -> None:
    server = Server(clock, seed=1, appendonly=True)
    run = runner(server)
    run("SET a 1")
    run("DEBUG LOADAOF")
    assert run("GET a") == b"1"
    assert miniredis.Server(seed=1, appendonly=False).propagation.targets == 0


def test_nothing_is_told_while_nobody_wants_it(server: Server, run: Run) -> None:
    run("SAVE")
    run("DEBUG RELOAD")
    assert server.propagation.targets == 0 and not server.overheard
