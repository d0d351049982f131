"""Time inside a transaction, as it goes by: look-ups stand still, TTL does not until 7.0.

The real server's clock moves by a millisecond at each of its readings, of which every
command makes two; the simulator's does the same. How many readings a command makes is not
compared here, so the times to live are far from any boundary.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE, NS_PER_MS
from miniredis.keyspace.engines import ENGINES
from miniredis.net.resp import encode_reply
from miniredis.reply import BLOCKED
from tests.differential.versions import frozen_version
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient
from tests.real.versions import engine_of

# TTL stands still from 7.2 on.
VERSIONS = ["7.0", "7.4", "8.2"]
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
        # Both crons run at the next millisecond.
        frozen.advance_ms((frozen.next_cron_us - frozen.us) // 1000 - 1)
        self.frozen = frozen
        self.real = RawClient(frozen.port)
        self.real(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
        self.real(b"FLUSHALL")
        self.clock = TickingClock(frozen.ms)
        engine = engine_of(frozen.version)
        self.ttl_stands_still = ENGINES[engine].ttl_clock_frozen  # from 7.2 on
        self.server = Server(self.clock, seed=1, cost=FREE, expire_engine=engine)
        self.server.active_expire_enabled = False
        self.mine = self.server.create_client()
        self.more = [(RawClient(frozen.port), self.server.create_client()) for _ in range(2)]

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

    def advance(self, ms: int) -> None:
        self.frozen.advance_ms(ms)
        self.clock.advance(ms)

    def hold(self, which: int, *argv: bytes) -> None:
        """A command of another client, which a pause holds back."""
        real, mine = self.more[which]
        real.send(*argv)
        assert self.server.process_command(mine, list(argv)) is BLOCKED
        self(b"PING")

    def released(self, which: int) -> bytes:
        """The reply of a command that was held back."""
        real, mine = self.more[which]
        expected = real.read()
        assert encode_reply(mine.outbox.popleft(), 2) == expected
        return expected

    def close(self) -> None:
        for client in (self.real, *(real for real, _ in self.more)):
            client.close()

    def transaction(self, commands: Commands) -> tuple[list[bytes], list[bytes]]:
        """The replies of a transaction during which time goes by: the real server's and the
        simulator's. They are the same but for how much of a time to live is left.
        """
        self(b"MULTI")
        for argv in commands:
            self(*argv)
        self.tick(1)
        try:
            real = self.real(b"EXEC")
            mine = encode_reply(self.server.process_command(self.mine, [b"EXEC"]), 2)
        finally:
            self.tick(0)
        expected, got = (text.split(b"\r\n")[1:-1] for text in (real, mine))
        for argv, one, other in zip(commands, expected, got, strict=True):
            left = argv[0] == b"PTTL" and int(one[1:]) > 0 < int(other[1:])
            assert left or one == other, argv
        return expected, got


@pytest.fixture(scope="module", params=VERSIONS)
def frozen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FrozenServer]:
    """A server of our own, because its cron gets out of step."""
    with frozen_version(request.param, tmp_path_factory) as frozen:
        yield frozen


@pytest.fixture
def pair(frozen: FrozenServer) -> Iterator[TickingPair]:
    pair = TickingPair(frozen)
    yield pair
    pair.tick(0)
    pair.close()


WAIT: Commands = [(b"EXISTS", b"nope")] * MANY


def test_no_key_dies_inside_exec(pair: TickingPair) -> None:
    """Nor does it come to a TTL of 0 where TTL stands still too."""
    pair(b"SET", b"a", b"1", b"PX", b"50")
    both = pair.transaction(
        [(b"EXISTS", b"a"), (b"PTTL", b"a"), *WAIT, (b"EXISTS", b"a"), (b"PTTL", b"a")]
    )
    for replies in both:
        assert replies[0] == replies[-2] == b":1"
        assert replies[-1] == (replies[1] if pair.ttl_stands_still else b":0")
    assert pair(b"GET", b"a") == b"$-1\r\n"


def test_a_ttl_that_is_set_inside_exec_counts_from_the_clock_of_ttl(pair: TickingPair) -> None:
    pair(b"SET", b"a", b"1", b"PX", b"50")
    both = pair.transaction(
        [
            *WAIT,
            (b"PEXPIRE", b"a", b"100000"),
            (b"SET", b"b", b"1", b"PX", b"10"),
            *WAIT,
            (b"EXISTS", b"a", b"b"),
            (b"PTTL", b"b"),
        ]
    )
    for replies in both:
        assert replies[-2:] == [b":2", b":10" if pair.ttl_stands_still else b":0"]
    assert pair(b"EXISTS", b"a", b"b") == b":1\r\n"


def test_a_time_that_passes_inside_exec(pair: TickingPair) -> None:
    """The clock that decides whether a time lies in the past is that of TTL."""
    pair(b"SET", b"a", b"1")
    soon = b"%d" % (pair.frozen.ms + 50)
    both = pair.transaction([*WAIT, (b"PEXPIREAT", b"a", soon), (b"EXISTS", b"a")])
    for replies in both:
        assert replies[-2:] == [b":1", b":1" if pair.ttl_stands_still else b":0"]
    assert pair(b"EXISTS", b"a") == b":0\r\n"


def test_a_watched_key_that_dies_after_exec_has_begun(pair: TickingPair) -> None:
    """It is looked at when EXEC begins: what dies later does not matter."""
    pair(b"SET", b"a", b"1", b"PX", b"50")
    pair(b"WATCH", b"a")
    for replies in pair.transaction([*WAIT, (b"EXISTS", b"a")]):
        assert replies[-1] == b":1"


def test_keys_of_one_command(pair: TickingPair) -> None:
    """All look-ups of one command see the time at which it began."""
    pair(b"SET", b"a", b"1", b"PX", b"20")
    pair.tick(1)
    pair(b"MGET", *[b"a"] * MANY)
    pair.tick(0)


# -- scripts ---------------------------------------------------------------------------------

# A loop of calls makes time go by inside a script; then the key is looked at.
SCRIPT = b"""
local function look() return {redis.call('exists', 'a'), redis.call('pttl', 'a')} end
local before = look()
for i = 1, 60 do redis.call('exists', 'nope') end
local after = look()
return {before[1], after[1], before[2] == after[2] and 1 or 0, after[2] > 0 and 1 or 0}
"""


def test_no_key_dies_inside_a_script(pair: TickingPair) -> None:
    pair(b"SET", b"a", b"1", b"PX", b"50")
    pair.tick(1)
    real = pair.real(b"EVAL", SCRIPT, b"0")
    mine = encode_reply(pair.server.process_command(pair.mine, [b"EVAL", SCRIPT, b"0"]), 2)
    pair.tick(0)
    still = b"1" if pair.ttl_stands_still else b"0"
    expected = b"*4\r\n:1\r\n:1\r\n:%b\r\n:%b\r\n" % (still, still)
    assert real == mine == expected
    assert pair(b"EXISTS", b"a") == b":0\r\n"


def test_a_script_inside_exec(pair: TickingPair) -> None:
    """Until 7.0 it sees the time at which it began itself: to it, the key is dead, and so is
    it deleted. The commands around it see the time at which EXEC began.
    """
    pair(b"SET", b"a", b"1", b"PX", b"50")
    pair(b"SET", b"b", b"1", b"PX", b"50")
    both = pair.transaction(
        [
            *WAIT,
            (b"EXISTS", b"a", b"b"),
            (b"EVAL", b"return redis.call('exists', 'a')", b"0"),
            (b"EXISTS", b"a", b"b"),
        ]
    )
    for replies in both:
        expected = [b":2", b":1", b":2"] if pair.ttl_stands_still else [b":2", b":0", b":1"]
        assert replies[-3:] == expected


# -- commands that a pause holds back --------------------------------------------------------


def test_a_held_command_sees_the_time_at_which_it_runs(pair: TickingPair) -> None:
    """What dies while a command is held back is dead when it runs, and a TTL begins then."""
    pair(b"SET", b"a", b"1", b"PX", b"250")
    pair(b"SET", b"b", b"1")
    pair(b"CLIENT", b"PAUSE", b"500", b"WRITE")
    pair.hold(0, b"PEXPIRE", b"a", b"100000")
    pair.hold(1, b"PEXPIRE", b"b", b"100000")
    pair.advance(700)
    assert pair.released(0) == b":0\r\n"
    assert pair.released(1) == b":1\r\n"
    assert pair(b"EXISTS", b"a") == b":0\r\n"
    # It ran in the first cron after the pause.
    assert b":99" in pair(b"PTTL", b"b")


def test_a_held_exec_and_a_watched_key_that_dies_meanwhile(pair: TickingPair) -> None:
    for which in (0, 1):
        real, mine = pair.more[which]
        for argv in (
            (b"SET", b"k%d" % which, b"1", b"PX", b"%d" % (250 + 1000 * which)),
            (b"WATCH", b"k%d" % which),
            (b"MULTI",),
            (b"APPEND", b"k%d" % which, b"x"),
        ):
            expected = real(*argv)
            assert encode_reply(pair.server.process_command(mine, list(argv)), 2) == expected
    pair(b"CLIENT", b"PAUSE", b"500", b"WRITE")
    for which in (0, 1):
        pair.hold(which, b"EXEC")
    pair.advance(700)
    assert pair.released(0) == b"*-1\r\n"
    assert pair.released(1) == b"*1\r\n:2\r\n"


def test_a_key_that_dies_while_clients_are_paused_can_be_seen_by_nobody(
    pair: TickingPair,
) -> None:
    pair(b"SET", b"a", b"1", b"PX", b"50")
    pair(b"WATCH", b"a")
    pair(b"CLIENT", b"PAUSE", b"500", b"WRITE")
    pair.advance(100)
    assert pair(b"GET", b"a") == b"$-1\r\n"
    assert pair(b"TTL", b"a") == b":-2\r\n"
    assert pair(b"DBSIZE") == b":1\r\n"
    pair(b"MULTI")
    pair(b"GET", b"a")
    assert pair(b"EXEC") == b"*-1\r\n"
    pair.advance(700)
    assert pair(b"GET", b"a") == b"$-1\r\n"
    assert pair(b"DBSIZE") == b":0\r\n"
