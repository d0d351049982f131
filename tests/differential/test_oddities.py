"""The oddities of docs/oddities/, asked of a real server under a frozen or ticking clock.

A *ticking* clock moves by a fixed time at each reading of the wall clock by the server, so
that work takes time and yet every run is the same.
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from miniredis import CostModel, Server, VirtualClock
from miniredis.lab.recorder import Recorder
from miniredis.lab.snapshot import picture_of_db
from tests.differential.layout import CRON_MS, LayoutPair, learn_hashes
from tests.differential.pair import Pair
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient
from tests.real.servers import RealServer

KEYS = [b"key:%d" % i for i in range(4000)]
SLOTS_TAIL_MAX = 16_384 // 100  # keys that may stay in a table of 16,384 buckets
DEADLINE_S = 1.0  # after which a server that does not answer hangs


@pytest.fixture(scope="module")
def frozen(frozen_server: FrozenServer) -> FrozenServer:
    if frozen_server.version[0] != 7:
        pytest.skip("the oddities are those of redis-server 7.0")
    return frozen_server


@pytest.fixture(scope="module")
def ask(frozen: FrozenServer) -> Iterator[RawClient]:
    client = RawClient(frozen.port)
    yield client
    client(b"RESET")
    client(b"FLUSHALL")
    client(b"CONFIG", b"SET", b"activerehashing", b"yes")
    client(b"CONFIG", b"SET", b"active-expire-effort", b"1")
    client(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    client.close()


@pytest.fixture(scope="module")
def hashes(ask: RawClient) -> dict[bytes, int]:
    return learn_hashes(ask, KEYS)


@pytest.fixture
def both(frozen: FrozenServer, ask: RawClient, hashes: dict[bytes, int]) -> LayoutPair:
    """A real and a simulated server, empty, with the same layout, expiring actively."""
    ask(b"CONFIG", b"RESETSTAT")
    pair = LayoutPair(frozen, ask, hashes)
    pair.set(b"activerehashing", b"yes")
    pair.expire_actively(True)
    return pair


def field(info: bytes, name: bytes) -> bytes:
    """One value of INFO."""
    return next(
        line.split(b":", 1)[1] for line in info.split(b"\r\n") if line.startswith(name + b":")
    )


def stale_perc(both: LayoutPair) -> float:
    """INFO's estimate in %, the same on both sides."""
    shown = [
        field(info, b"expired_stale_perc")
        for info in (both.ask(b"INFO", b"stats"), both.run_mine(b"INFO", b"stats"))
    ]
    assert shown[0] == shown[1]
    return float(shown[0])


# -- estimate above truth, and the dead gate ---------------------------------------------


def steady(both: LayoutPair, seconds: int) -> Iterator[tuple[float, float]]:
    """500 keys a second with TTLs up to 8 s; after each cron the true stale share and INFO's.

    Both in %. A name comes round after 8 s, so its last key has died.
    """
    rng = random.Random(3)
    n = 0
    for _ in range(seconds * 10):
        for _ in range(50):
            ttl = b"%d" % rng.randint(1, 8000)
            both.reply(b"SET", KEYS[n % len(KEYS)], b"v", b"PX", ttl)
            n += 1
        both.advance(1)  # a cron
        both.reply(b"DBSIZE")
        db = picture_of_db(both.server, both.server.databases[0])
        yield 100 * db.dead / db.keys, stale_perc(both)
        both.advance(CRON_MS - 1)


def test_the_estimate_is_above_the_truth(both: LayoutPair) -> None:
    """Sizes and estimates are the same on both, so the true share is as well."""
    rows = list(steady(both, 20))[100:]
    true = sum(row[0] for row in rows) / len(rows)
    shown = sum(row[1] for row in rows) / len(rows)
    assert shown > 1.3 * true > 13


@pytest.mark.parametrize("effort", [b"1", b"10"])
def test_no_fast_cycle_runs_without_a_time_out(both: LayoutPair, effort: bytes) -> None:
    """The estimate is far above the limit; each command would start a fast cycle."""
    both.set(b"active-expire-effort", effort)
    limit = 11 - int(effort)
    try:
        for round in range(20):  # a cycle of nothing but dead keys raises it by 5 %
            both.reply(b"SET", KEYS[round], b"v", b"PXAT", b"5")
            both.advance(CRON_MS)
        both.advance(1)  # a cron
        before = stale_perc(both)
        assert before > 5 * limit
        both.reply(b"SET", KEYS[100], b"v", b"PXAT", b"5")
        for _ in range(20):  # within one cron's period, 4 ms apart
            both.advance(4)
            both.reply(b"PING")
            assert stale_perc(both) == before
        assert both.reply(b"DBSIZE") == b":1\r\n"
        both.advance(20)
        assert both.reply(b"DBSIZE") == b":0\r\n"
        assert stale_perc(both) > before
    finally:
        both.set(b"active-expire-effort", b"1")


# -- the sparse tail ------------------------------------------------------------------------


def decay_of(both: LayoutPair, keys: int, activerehashing: bytes) -> list[int]:
    """Keys held after each of a hundred crons, the first of which come before their death."""
    both.set(b"activerehashing", b"yes")
    both.reply(b"FLUSHALL")
    dies = b"%d" % (both.frozen.ms + 5 * CRON_MS)
    for key in KEYS[:keys]:
        both.reply(b"SET", key, b"v", b"PXAT", dies)
    both.advance(4 * CRON_MS)
    both.set(b"activerehashing", activerehashing)
    left = []
    for _ in range(100):
        both.advance(CRON_MS)
        left.append(int(both.reply(b"DBSIZE")[1:-2]))
    return left


@pytest.mark.parametrize("activerehashing", [b"no", b"yes"])
def test_the_tail(both: LayoutPair, activerehashing: bytes) -> None:
    # Which buckets the last window takes is up to the server's hash: rarely none is left.
    for keys in (1500, 1490, 1480, 1470):
        left = decay_of(both, keys, activerehashing)
        died = next(i for i, held in enumerate(left) if held < keys)
        tail = left[died]
        if tail:
            break
    assert 0 < tail <= SLOTS_TAIL_MAX
    if activerehashing == b"yes":
        assert left[died : died + 3] == [tail, tail, 0]
    else:
        assert set(left[died:]) == {tail}


# -- the first look at the clock, and the cron's period ---------------------------------------


@pytest.fixture
def fresh(
    frozen: FrozenServer, real_binary: str, tmp_path: Path
) -> Iterator[tuple[FrozenServer, RawClient]]:
    """A server of this test's own: which database comes next is remembered for ever."""
    server = FrozenServer(real_binary, tmp_path, frozen.ms)
    client = RawClient(server.port)
    client(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
    yield server, client
    client.close()
    server.stop()


@contextlib.contextmanager
def ticking(frozen: FrozenServer, us: int) -> Iterator[None]:
    """Each reading of the wall clock takes *us*."""
    frozen._page[8:16] = struct.pack("<q", us)
    try:
        yield
    finally:
        frozen._page[8:16] = struct.pack("<q", 0)
        frozen.us = struct.unpack("<q", frozen._page[:8])[0]


def one_cron(frozen: FrozenServer, ask: RawClient, us: int) -> tuple[int, int]:
    """Let the cron that is due next run, with readings that take *us*; expire after it too.

    Expiry is switched on by the command that wakes the loop up, and off by the next one:
    in between lie that cron and what precedes one sleep. Returns the instants (µs) before
    the cron and after all that.
    """
    frozen.us = start = frozen.next_cron_us
    frozen._write()
    with ticking(frozen, us):
        ask(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
        ask(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
    return start, frozen.us


def find_next_cron(frozen: FrozenServer, ask: RawClient) -> None:
    """Wait until surely a cron has run and note when the next one is due."""
    frozen.us += 1_000_000
    frozen._write()
    for _ in range(2):
        ask(b"PING")
    frozen.next_cron_us = frozen.us + CRON_MS * 1000


def test_the_first_look_after_a_time_out_comes_after_one_window(
    fresh: tuple[FrozenServer, RawClient],
) -> None:
    """2 ms at each window's reading of the clock: a slow cycle takes 16, a fast one 1."""
    frozen, ask = fresh
    for key in KEYS[:1024]:
        ask(b"SET", key, b"v", b"PXAT", b"5")
    find_next_cron(frozen, ask)  # it moves the rest of the tables that grow
    one_cron(frozen, ask, 2000)
    info = ask(b"INFO", b"stats")
    assert field(info, b"expired_time_cap_reached_count") == b"2"
    expired = int(field(info, b"expired_keys"))
    expected = windows_of_the_simulator()
    assert expected == (16, 1)
    # A window holds 20 keys and what is left of its last chain.
    assert 17 * 20 <= expired <= 17 * 23


def windows_of_the_simulator() -> tuple[int, ...]:
    """Windows of database 0 in the first slow and the first fast cycle."""
    clock = VirtualClock()
    recorder = Recorder()
    server = Server(clock, seed=7, cost=CostModel(deleted_ns=100_000), probe=recorder)
    client = server.create_client()
    for key in KEYS[:1024]:
        server.process_command(client, [b"SET", key, b"v", b"PX", b"10"])
    clock.advance(120)
    slow, fast = recorder.cycles[1:3]
    assert (slow.type, fast.type) == ("slow", "fast")
    return tuple(sum(loop.sampled > 0 for loop in cycle.loops) for cycle in (slow, fast))


def test_the_period_of_the_cron_begins_at_its_end(
    fresh: tuple[FrozenServer, RawClient],
) -> None:
    frozen, ask = fresh
    for key in KEYS[:200]:  # ten windows of 2 ms: below the limit, so no fast cycle follows
        ask(b"SET", key, b"v", b"PXAT", b"5")
    find_next_cron(frozen, ask)
    start, end = one_cron(frozen, ask, 2000)
    took = end - start
    assert 20_000 <= took < 90_000
    assert ask(b"DBSIZE") == b":0\r\n"
    ask(b"SET", b"k", b"v", b"PXAT", b"5")
    ask(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")

    def dbsize_at(us: int) -> bytes:
        frozen.us = us
        frozen._write()
        ask(b"PING")
        return ask(b"DBSIZE")

    period = CRON_MS * 1000
    assert dbsize_at(start + period + 1000) == b":1\r\n"
    assert dbsize_at(start + period + 19_000) == b":1\r\n"
    assert dbsize_at(end + period) == b":0\r\n"


# -- avg_ttl ---------------------------------------------------------------------------------


def test_avg_ttl_falls_too_slowly(both: LayoutPair) -> None:
    both.advance(1)
    both.reply(b"SET", KEYS[0], b"v", b"PX", b"1000000")
    averages = []
    for _ in range(120):
        both.advance(CRON_MS)
        info = both.reply(b"INFO", b"keyspace")
        averages.append(int(info.split(b"avg_ttl=")[1].split(b"\r")[0]))
    falls = [a - b for a, b in pairwise(averages)]
    assert falls[1:40] == [51] * 39
    assert falls[-1] == 100
    left = int(both.reply(b"PTTL", KEYS[0])[1:-2])
    assert averages[-1] - left == 2499


# -- replies -----------------------------------------------------------------------------------


def test_a_living_key_may_have_no_time_left(pair: Pair) -> None:
    pair.start()
    pair.step((0, (b"SET", b"a", b"v", b"PX", b"1000")))
    for ms in (0, 500, 1, 498, 1, 1):
        pair.step(ms)
        for name in (b"PTTL", b"TTL", b"GET"):
            pair.step((0, (name, b"a")))
    pair.step((0, (b"SET", b"a", b"v", b"PX", b"1000")))
    pair.step(1000)
    assert pair.run_mine(pair.mine[0], (b"PTTL", b"a")) == b":0\r\n"
    assert pair.run_mine(pair.mine[0], (b"EXISTS", b"a")) == b":1\r\n"


def test_set_stores_a_dead_key_where_expire_deletes(pair: Pair) -> None:
    """Replies and events are compared by each step."""
    pair.start()
    past = b"now-ms:-1000"
    for command in (
        (b"SET", b"a", b"v", b"PXAT", past),
        (b"DBSIZE",),
        (b"GET", b"a"),
        (b"DBSIZE",),
        (b"SET", b"a", b"v"),
        (b"PEXPIREAT", b"a", past),
        (b"DBSIZE",),
        (b"SET", b"a", b"v"),
        (b"GETEX", b"a", b"PXAT", past),
        (b"DBSIZE",),
    ):
        pair.step((0, command))
    pair.step((0, (b"SET", b"a", b"v", b"PXAT", past)))
    assert pair.run_mine(pair.mine[0], (b"DBSIZE",)) == b":1\r\n"


# -- RANDOMKEY: the one oddity that is not reproduced ------------------------------------------


def test_randomkey_hangs_a_paused_real_server(frozen: FrozenServer, real_binary: str) -> None:
    real = RealServer(real_binary)
    try:
        client, other = RawClient(real.port), RawClient(real.port)
        client(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
        client(b"SET", b"k", b"v", b"PXAT", b"5")
        client(b"CLIENT", b"PAUSE", b"10", b"WRITE")
        client.send(b"RANDOMKEY")
        client.socket.settimeout(DEADLINE_S)
        with pytest.raises(socket.timeout):
            client.read()
        # The pause of 10 ms is over by far, and nobody is served.
        other.send(b"PING")
        other.socket.settimeout(DEADLINE_S / 4)
        with pytest.raises(socket.timeout):
            other.read()
    finally:
        real.stop()


def test_randomkey_ends_here() -> None:
    clock = VirtualClock()
    server = Server(clock, seed=7)
    client = server.create_client()
    server.process_command(client, [b"SET", b"k", b"v", b"PX", b"5"])
    server.process_command(client, [b"CLIENT", b"PAUSE", b"1000", b"WRITE"])
    clock.advance(500)
    assert server.process_command(client, [b"RANDOMKEY"]) == b"k"
    assert server.process_command(client, [b"GET", b"k"]) is None
    clock.advance(600)
    assert server.process_command(client, [b"RANDOMKEY"]) is None
