"""Which keys expire, in which order, in which cron: the same as on a real server.

Each trial does the same to both servers under the frozen clock, lets the keys die, and
compares the ``expired`` events one by one and the tables that are left. TRIALS says how
many there are of each kind; ``make verify`` runs 60. The keys of the sparse tail count too.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator

import pytest

from miniredis.net.resp import encode_reply
from tests.differential.layout import CRON_MS, LayoutPair, learn_hashes
from tests.differential.versions import frozen_version
from tests.real.frozen import FrozenServer, ReplayedRandom
from tests.real.raw import RawClient

VERSIONS = ["7.0", "6.2", "2.8", "3.2", "5.0", "7.2", "7.4", "8.2"]
TRIALS = int(os.environ.get("TRIALS", "6"))
KEYS = [b"key:%d" % i for i in range(4000)]
CHANNEL = b"__keyevent@0__:expired"
LIVES_MS = 5_000  # from the first command of a trial until keys die
CRONS = 15  # after that; the tail of a large table takes the longest
PONG = b"*2\r\n$4\r\npong\r\n$0\r\n\r\n"


class Trial(LayoutPair):
    """A pair of servers whose events are collected."""

    def __init__(self, frozen: FrozenServer, ask: RawClient, hashes: dict[bytes, int]) -> None:
        super().__init__(frozen, ask, hashes)
        self.set(b"notify-keyspace-events", b"Ex")
        self.listener = RawClient(frozen.port)
        self.listener(b"SUBSCRIBE", CHANNEL)
        self.my_listener = self.server.create_client()
        self.server.process_command(self.my_listener, [b"SUBSCRIBE", CHANNEL])
        self.my_listener.outbox.clear()
        self.dies_at = b"%d" % (frozen.ms + LIVES_MS)
        self.replay_random()

    def replay_random(self) -> None:
        """Let both sides draw the same random numbers from now on."""
        state = self.frozen.ms
        self.frozen.replay_random(state)
        self.server.rng = ReplayedRandom(state)
        for db in self.server.databases:
            db.dict.rng = db.expires.rng = self.server.rng

    def events(self) -> list[bytes]:
        """The keys that have expired since the last call, in order; the same on both sides."""
        self.listener.send(b"PING")
        theirs = [message.split(b"\r\n")[-2] for message in iter(self.listener.read, PONG)]
        ours = [message.items[2] for message in self.my_listener.outbox]
        self.my_listener.outbox.clear()
        assert ours == theirs
        return ours

    def set_volatile(self, keys: list[bytes]) -> None:
        for key in keys:
            self.set_key(key, self.dies_at)

    def set_key(self, key: bytes, when: bytes) -> None:
        """SET with a time; PXAT came with 6.2."""
        if self.frozen.version >= (6, 2):
            self.reply(b"SET", key, b"v", b"PXAT", when)
        else:
            self.reply(b"SET", key, b"v")
            self.reply(b"PEXPIREAT", key, when)

    def reload(self) -> None:
        """Give the tables their final size."""
        if self.frozen.version < (3, 2):
            pytest.skip("files tell sizes of tables since 3.2; before, a reload grows them")
        self.reply(b"DEBUG", b"RELOAD")

    def finish(self) -> int:
        """Let all keys die and compare cron by cron; how many events there were."""
        self.events()
        self.expire_actively(True)
        self.advance(int(self.dies_at) - self.frozen.ms)
        expired = len(self.events())
        for _ in range(CRONS):
            self.advance(CRON_MS)
            expired += len(self.events())
        self.reply(b"KEYS", b"*")
        self.server._check()
        return expired

    def close(self) -> None:
        self.frozen.replay_random(0)
        self.listener.close()


@pytest.fixture(scope="module", params=VERSIONS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FrozenServer]:
    """A frozen server of each version."""
    with frozen_version(request.param, tmp_path_factory) as frozen:
        yield frozen


@pytest.fixture(scope="module")
def ask(server: FrozenServer) -> Iterator[RawClient]:
    client = RawClient(server.port)
    yield client
    client(b"FLUSHALL")
    client(b"CONFIG", b"SET", b"activerehashing", b"yes")
    client(b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    client(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    client.close()


@pytest.fixture(scope="module")
def hashes(ask: RawClient) -> dict[bytes, int]:
    return learn_hashes(ask, KEYS)


@pytest.fixture
def trial(server: FrozenServer, ask: RawClient, hashes: dict[bytes, int]) -> Iterator[Trial]:
    trial = Trial(server, ask, hashes)
    yield trial
    trial.close()


def seeded(seed: int, kind: str) -> random.Random:
    return random.Random(f"{kind} {seed}")


def some_keys(rng: random.Random, least: int = 200, most: int = 2000) -> list[bytes]:
    return rng.sample(KEYS, rng.randint(least, most))


trials = pytest.mark.parametrize("seed", range(TRIALS))


@trials
def test_all_volatile_after_a_reload(trial: Trial, seed: int) -> None:
    rng = seeded(seed, "reload")
    keys = some_keys(rng)
    trial.set_volatile(keys)
    trial.reload()
    trial.set(b"activerehashing", b"yes")
    assert trial.finish() == len(keys)


@trials
def test_persistent_keys_among_them(trial: Trial, seed: int) -> None:
    rng = seeded(seed, "persistent")
    keys = some_keys(rng, most=1300)
    others = [key for key in KEYS if key not in set(keys)]
    stay = set(rng.sample(others, rng.randint(0, 2 * len(keys))))
    mixed = [*keys, *stay]
    rng.shuffle(mixed)
    for key in mixed:
        if key in stay:
            trial.reply(b"SET", key, b"v")
        else:
            trial.set_key(key, trial.dies_at)
    trial.reload()
    trial.set(b"activerehashing", b"yes")
    assert trial.finish() == len(keys)


@trials
@pytest.mark.parametrize("activerehashing", [b"no", b"yes"])
def test_natural_growth(trial: Trial, seed: int, activerehashing: bytes) -> None:
    rng = seeded(seed, "growth")
    keys = some_keys(rng)
    trial.set(b"activerehashing", activerehashing)
    for key in keys:
        trial.set_key(key, trial.dies_at)
        if rng.random() < 0.01:
            trial.advance(rng.choice([1, 30, 100]))
    trial.set(b"activerehashing", b"yes")
    assert trial.finish() == len(keys)


@trials
@pytest.mark.parametrize("activerehashing", [b"no", b"yes"])
def test_dying_in_the_middle_of_a_rehash(trial: Trial, seed: int, activerehashing: bytes) -> None:
    """With ``activerehashing no`` some keys stay for ever, and those are the same too."""
    rng = seeded(seed, "rehash")
    size = rng.choice([256, 512, 1024])
    keys = rng.sample(KEYS, size + rng.randint(1, size // 8))
    trial.set_volatile(keys)
    assert trial.sizes("expires") == [size, 2 * size]
    trial.set(b"activerehashing", activerehashing)
    expired = trial.finish()
    assert expired == len(keys) - trial.server.dbsize(0)
    assert expired > 0.9 * len(keys)
    if activerehashing == b"yes":
        assert expired == len(keys)


COMMANDS: list[Callable[[bytes, bytes, bytes], tuple[bytes, ...]]] = [
    lambda a, b, when: (b"SET", a, b"v"),
    lambda a, b, when: (b"SET", a, b"v", b"PXAT", when),
    lambda a, b, when: (b"SET", a, b"v", b"PXAT", when),
    lambda a, b, when: (b"PEXPIREAT", a, when),
    lambda a, b, when: (b"PEXPIREAT", a, when),
    lambda a, b, when: (b"PERSIST", a),
    lambda a, b, when: (b"DEL", a),
    lambda a, b, when: (b"TTL", a),
    lambda a, b, when: (b"GET", a),
    lambda a, b, when: (b"EXISTS", a, b),
    lambda a, b, when: (b"RENAME", a, b),
]


@trials
def test_a_random_mix(trial: Trial, seed: int) -> None:
    """Commands and time together; keys die while it lasts and afterwards."""
    rng = seeded(seed, "mix")
    keys = some_keys(rng, 100, 800)
    trial.set(b"activerehashing", rng.choice([b"no", b"yes"]))
    trial.expire_actively(rng.random() < 0.7)
    start = trial.frozen.ms
    expired = 0
    for _ in range(2500):
        when = b"%d" % (start + rng.choice([300, 700, 1500, LIVES_MS - 1]))
        command = rng.choice(COMMANDS)(rng.choice(keys), rng.choice(keys), when)
        if b"PXAT" in command:
            trial.set_key(command[1], when)
        elif command[0] in (b"PERSIST", b"EXISTS") and trial.frozen.version < (4,):
            continue  # these looked the key up in a way of their own then
        elif command[0] == b"RENAME" and command[1] == command[2]:
            continue  # an error until 3.0
        else:
            trial.reply(*command)
        if rng.random() < 0.02:
            trial.advance(rng.choice([1, 10, 100]))
            expired += len(trial.events())
    trial.set(b"activerehashing", b"yes")
    assert expired + trial.finish() > 30


ESTIMATES = re.compile(rb"avg_ttl=(\d+)|expired_stale_perc:([\d.]+)")


@trials
def test_average_ttl_and_stale_share(trial: Trial, seed: int) -> None:
    """What INFO estimates, cron by cron, with few keys and with many, while some die."""
    rng = seeded(seed, "average")
    trial.expire_actively(True)
    trial.advance(CRON_MS)  # forgets the average of the trial before; until 5.0 FLUSHALL does not
    trial.expire_actively(False)
    trial.reply(b"CONFIG", b"RESETSTAT")
    for key in some_keys(rng, 1, rng.choice([3, 40, 400])):
        trial.set_key(key, b"%d" % (trial.frozen.ms + rng.choice([500, 900, 60_000, 10**6])))
    trial.set(b"activerehashing", b"yes")
    trial.expire_actively(True)
    # Redis 4.0.9 was the first to show the share.
    sections = [b"keyspace", b"stats"] if trial.frozen.version >= (4, 0, 9) else [b"keyspace"]
    seen = set()
    for _ in range(20):
        trial.advance(CRON_MS)
        trial.events()
        for section in sections:
            theirs = ESTIMATES.findall(trial.ask(b"INFO", section))
            assert ESTIMATES.findall(trial.run_mine(b"INFO", section)) == theirs
            seen.update(theirs)
    assert seen


def test_the_bytes_of_an_event() -> None:
    """What :meth:`Trial.events` takes apart on the real side."""
    from miniredis.reply import Push

    message = encode_reply(Push([b"message", CHANNEL, b"key:1"]), 2)
    assert message.split(b"\r\n")[-2] == b"key:1"
