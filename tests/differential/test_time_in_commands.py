"""Time inside a transaction, as it goes by: look-ups stand still, TTL does not.

The real server's clock moves by a millisecond at each of its readings, of which every
command makes two; the simulator's does the same. How many readings a command makes is not
compared here, so the times to live are far from any boundary.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE, NS_PER_MS
from miniredis.net.resp import encode_reply
from tests.conftest import START_MS, missing
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

MANY = 60  # commands that let 100 ms go by, whoever counts
Commands = list[tuple[bytes, ...]]


class TickingClock(VirtualClock):
    """Moves by *tick_ms* at each reading."""

    tick_ms = 0

    def us(self) -> int:
        self.spend_ns(self.tick_ms * NS_PER_MS)
        return super().us()


class TickingPair:
    def __init__(self, frozen: FrozenServer) -> None:
        self.frozen = frozen
        self.real = RawClient(frozen.port)
        self.real(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
        self.real(b"FLUSHALL")
        self.clock = TickingClock(frozen.ms)
        self.server = Server(self.clock, seed=1, cost=FREE)
        self.server.active_expire_enabled = False
        self.mine = self.server.create_client()

    def tick(self, ms: int) -> None:
        """Let the clock of the real server move by itself, or stop where it stands."""
        self.frozen.set_tick_us(ms * 1000)
        if not ms:
            # The instants of its crons are not known now.
            self.frozen.us = self.frozen.read_us()
            self.frozen.next_cron_us = max(self.frozen.next_cron_us, self.frozen.us)
        self.clock.tick_ms = ms

    def __call__(self, *argv: bytes) -> bytes:
        expected = self.real(*argv)
        got = encode_reply(self.server.process_command(self.mine, list(argv)), 2)
        assert got == expected, argv
        return expected

    def transaction(self, commands: Commands) -> list[bytes]:
        """The replies of a transaction during which time goes by."""
        self(b"MULTI")
        for argv in commands:
            self(*argv)
        self.tick(1)
        try:
            replies = self(b"EXEC")
        finally:
            self.tick(0)
        return replies.split(b"\r\n")[1:-1]


@pytest.fixture(scope="module")
def frozen(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrozenServer]:
    """A server of our own, because its cron gets out of step."""
    try:
        server = FrozenServer(real_binary, tmp_path_factory.mktemp("frozen"), START_MS)
    except RuntimeError as error:
        missing(str(error))
    yield server
    server.stop()


@pytest.fixture
def pair(frozen: FrozenServer) -> Iterator[TickingPair]:
    if frozen.version[:2] != (7, 0):
        pytest.skip("compared is 7.0; from 7.2 on TTL stands still too")
    pair = TickingPair(frozen)
    yield pair
    pair.tick(0)
    pair.real.close()


WAIT: Commands = [(b"EXISTS", b"nope")] * MANY


def test_no_key_dies_inside_exec(pair: TickingPair) -> None:
    pair(b"SET", b"a", b"1", b"PX", b"50")
    replies = pair.transaction(
        [(b"EXISTS", b"a"), *WAIT, (b"EXISTS", b"a"), (b"PTTL", b"a"), (b"TTL", b"a")]
    )
    assert replies[0] == b":1"
    assert replies[-3:] == [b":1", b":0", b":0"]
    assert pair(b"GET", b"a") == b"$-1\r\n"


def test_a_ttl_that_is_set_inside_exec_counts_from_a_fresh_clock(pair: TickingPair) -> None:
    pair(b"SET", b"a", b"1", b"PX", b"50")
    replies = pair.transaction(
        [
            *WAIT,
            (b"PEXPIRE", b"a", b"100000"),
            (b"SET", b"b", b"1", b"PX", b"10"),
            *WAIT,
            (b"EXISTS", b"a", b"b"),
            (b"PTTL", b"b"),
        ]
    )
    assert replies[-2:] == [b":2", b":0"]
    assert pair(b"EXISTS", b"a", b"b") == b":1\r\n"


def test_a_time_that_passes_inside_exec_is_past_for_expireat(pair: TickingPair) -> None:
    """The clock that decides whether a time lies in the past is a fresh one, too."""
    pair(b"SET", b"a", b"1")
    soon = b"%d" % (pair.frozen.ms + 50)
    replies = pair.transaction([*WAIT, (b"PEXPIREAT", b"a", soon), (b"EXISTS", b"a")])
    assert replies[-2:] == [b":1", b":0"]


def test_a_watched_key_that_dies_after_exec_has_begun(pair: TickingPair) -> None:
    """It is looked at when EXEC begins: what dies later does not matter."""
    pair(b"SET", b"a", b"1", b"PX", b"50")
    pair(b"WATCH", b"a")
    replies = pair.transaction([*WAIT, (b"EXISTS", b"a")])
    assert replies[-1] == b":1"


def test_keys_of_one_command(pair: TickingPair) -> None:
    """All look-ups of one command see the time at which it began."""
    pair(b"SET", b"a", b"1", b"PX", b"20")
    pair.tick(1)
    pair(b"MGET", *[b"a"] * MANY)
    pair.tick(0)
