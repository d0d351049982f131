"""When a cycle gives up for lack of time, and what it has done by then: as a real server.

The real server's clock moves on by a fixed tick at each reading, so its time limit no
longer depends on the machine; the simulator charges the same for each reading and
nothing for anything else. Both must then agree on everything at every turn of the event
loop, and on the time itself, which counts the readings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import CostModel
from miniredis.net.resp import encode_reply
from tests.conftest import START_MS
from tests.differential.layout import learn_hashes
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

SETTINGS = 50
MAX_KEYS = 1500  # of one database
HASH_BITS = 11  # enough for the table of so many keys
TURNS = 60  # of the event loop in each setting
CALL_READINGS = 2  # of the clock by a command's call(): before and after
HZ = (1, 2, 10, 10, 10, 25, 100, 250, 500)
SAME = (
    b"expired_keys",
    b"expired_stale_perc",
    b"expired_time_cap_reached_count",
    b"expire_cycle_cpu_milliseconds",
)


class TickingPair:
    """A real server whose clock ticks at each reading, and a simulated one that pays for them."""

    def __init__(self, frozen: FrozenServer, rng: random.Random) -> None:
        self.frozen = frozen
        self.rng = rng
        self.ask = RawClient(frozen.port)
        self.keys = [b"key:%d" % i for i in range(rng.randint(50, MAX_KEYS))]
        hashes = learn_hashes(self.ask, self.keys, HASH_BITS)
        self.ask(b"FLUSHALL")
        self.ask(b"CONFIG", b"RESETSTAT")
        self.clock = VirtualClock(START_MS)
        self.hz = rng.choice(HZ)
        self.effort = rng.randint(1, 10)
        self.tick_us = self.choose_tick()
        dbnum = int(self.ask(b"CONFIG", b"GET", b"databases").split()[-1])
        self.server = Server(
            self.clock,
            seed=1,
            cost=CostModel(self.tick_us * 1000, 0, 0, 0, 0, 0, 0),
            hash_function=hashes.__getitem__,
            databases=dbnum,
        )
        self.mine = self.server.create_client()
        self.used = rng.sample(range(dbnum), rng.randint(1, min(dbnum, 5)))
        self.both(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")

    def choose_tick(self) -> int:
        """A tick of which the limit of a slow cycle holds from one to a hundred."""
        limit_us = (25 + 2 * (self.effort - 1)) * 10_000 // self.hz
        return max(limit_us // self.rng.choice((1, 4, 16, 40, 100)), 1)

    def both(self, *argv: bytes) -> None:
        """Run a command on both sides while time stands still."""
        expected = self.ask(*argv)
        reply = self.server.process_command(self.mine, list(argv))
        assert encode_reply(reply, 2) == expected, argv

    def configure(self) -> None:
        rng = self.rng
        self.both(b"CONFIG", b"SET", b"hz", b"%d" % self.hz)
        self.both(b"CONFIG", b"SET", b"active-expire-effort", b"%d" % self.effort)
        for name, values in (
            (b"activerehashing", (b"yes", b"no")),
            (b"notify-keyspace-events", (b"", b"AKE")),
            (b"latency-monitor-threshold", (b"0", b"0", b"1")),
            (b"lazyfree-lazy-expire", (b"no", b"yes")),
        ):
            self.both(b"CONFIG", b"SET", name, rng.choice(values))

    def fill(self) -> None:
        """Keys in some databases: some dead, some dying on the way, some that live on."""
        rng = self.rng
        dead = rng.random()
        for db in self.used:
            self.both(b"SELECT", b"%d" % db)
            for key in rng.sample(self.keys, rng.randint(1, len(self.keys))):
                if rng.random() < 0.1:
                    self.both(b"SET", key, b"v")
                    continue
                spread = 100_000 if rng.random() > dead else 1
                when = START_MS - 1 + rng.randint(0, spread)
                self.both(b"SET", key, b"v", b"PXAT", b"%d" % when)
        if rng.random() < 0.5:
            self.both(b"DEBUG", b"RELOAD")
        self.both(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")

    # -- turns of the event loop ------------------------------------------------------------

    def turn(self, us: int, *argv: bytes) -> bytes:
        """Let both loops turn at the instant *us*: a command, due time events, before-sleep."""
        self.frozen.us = max(us, self.frozen.read_us())
        self.frozen._write()
        reply = self.ask(*argv)
        self.clock.spend_ns((self.frozen.us - self.clock.us()) * 1000)
        mine = self.server.info([b"stats", b"keyspace"])
        self.clock.spend_ns(CALL_READINGS * self.server.cost.clock_read_ns)
        self.server.process_events()
        if argv[0] == b"INFO":
            assert interesting(mine) == interesting(reply)
        assert self.clock.us() == self.frozen.read_us(), "both have read the clock as often"
        return reply

    def run(self) -> None:
        self.frozen.set_tick_us(self.tick_us)
        for _ in range(TURNS):
            now, cron = self.clock.us(), self.server.el.next_us
            assert cron is not None
            us = self.rng.randint(now, cron) if now < cron and self.rng.random() < 0.3 else cron
            self.turn(us, b"INFO", b"stats", b"keyspace")
        self.server.active_expire_enabled = False
        self.turn(0, b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
        self.frozen.set_tick_us(0)
        self.compare_tables()

    def compare_tables(self) -> None:
        for db in self.used:
            self.both(b"SELECT", b"%d" % db)
            self.both(b"DEBUG", b"HTSTATS", b"%d" % db)
            self.both(b"KEYS", b"*")
        self.server._check()


def interesting(info: bytes) -> list[bytes]:
    """The lines of INFO that the cycle decides."""
    lines = info.split(b"\r\n")
    return [line for line in lines if line.split(b":")[0] in SAME or line[:2] == b"db"]


@pytest.fixture
def pair(real_binary: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[TickingPair]:
    seed = request.param
    rng = random.Random(f"time limit {seed}")
    dbnum = rng.choice((1, 16, 40))
    frozen = FrozenServer(real_binary, tmp_path, START_MS, ["--databases", str(dbnum)])
    if frozen.version < (7, 0):
        frozen.stop()
        pytest.skip("the readings counted here are those of Redis 7.0")
    pair = TickingPair(frozen, rng)
    yield pair
    pair.ask.close()
    frozen.stop()


@pytest.mark.parametrize("pair", range(SETTINGS), indirect=True)
def test_cycles_agree_turn_by_turn(pair: TickingPair) -> None:
    pair.configure()
    pair.fill()
    pair.run()
