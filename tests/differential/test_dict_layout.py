"""Keys lie in the same buckets, and in the same order within them, as in a real server.

The simulator is given the real server's hashes (see ``layout.py``). Then after every command
of a script DEBUG HTSTATS is the same text, which shows how far each rehash has come, and
from time to time so are the order of all keys (KEYS) and a whole walk (SCAN). A walk looks
each key up, so it moves a rehash; HTSTATS moves none.

Random picks are not compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from miniredis.net.resp import encode_reply
from tests.differential.layout import CRON_MS, HASH_BITS, LayoutPair, learn_hashes
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

KEYS = [b"key:%d" % i for i in range(1200)]
FAR_MS = b"100000000"  # a time to live that no test comes to


@pytest.fixture(scope="module")
def ask(frozen_server: FrozenServer) -> Iterator[RawClient]:
    if frozen_server.version < (7, 0):
        pytest.skip("the text of HTSTATS and the layout compared here are those of Redis 7.0")
    client = RawClient(frozen_server.port)
    yield client
    client(b"FLUSHALL")
    client(b"CONFIG", b"SET", b"activerehashing", b"yes", b"notify-keyspace-events", b"")
    client(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    client.close()


@pytest.fixture(scope="module")
def hashes(ask: RawClient) -> dict[bytes, int]:
    return learn_hashes(ask, KEYS)


@pytest.fixture
def pair(frozen_server: FrozenServer, ask: RawClient, hashes: dict[bytes, int]) -> LayoutPair:
    return LayoutPair(frozen_server, ask, hashes)


def fill(pair: LayoutPair, count: int, *options: bytes) -> None:
    """Set *count* keys without looking at anything."""
    for key in KEYS[:count]:
        pair.reply(b"SET", key, b"v", *options)


# -- what is compared -----------------------------------------------------------------------


def test_every_hash_is_learned(hashes: dict[bytes, int]) -> None:
    assert sorted(hashes) == sorted(KEYS)
    assert max(hashes.values()) >= 2 ** (HASH_BITS - 1), "all bits are in use"
    assert len(set(hashes.values())) > len(KEYS) * 0.9, "keys are spread"


@pytest.mark.parametrize("options", [(), (b"PX", FAR_MS)], ids=["dict", "dict and expires"])
def test_growing_from_4_to_1024_buckets(pair: LayoutPair, options: tuple[bytes, ...]) -> None:
    """Insertions alone move each rehash on; the walks fall into some of them."""
    seen: list[list[int]] = []
    for i, key in enumerate(KEYS[:1024]):
        pair.run(b"SET", key, b"v", *options)
        if pair.sizes() not in seen:
            seen.append(pair.sizes())
            pair.run(b"KEYS", b"*")
        if i in (3, 5, 9, 20, 70, 150, 300, 560, 900):
            pair.walk()
    pair.walk()
    grown = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
    assert sorted({size for sizes in seen for size in sizes}) == grown
    assert [512, 1024] in seen


READS: list[Callable[[bytes, bytes], tuple[bytes, ...]]] = [
    lambda key, _: (b"GET", key),
    lambda key, _: (b"EXISTS", key),
    lambda key, _: (b"TTL", key),
    lambda key, _: (b"TYPE", key),
    lambda key, _: (b"STRLEN", key),
    lambda key, _: (b"TOUCH", key, b"key:7"),
    lambda key, _: (b"OBJECT", b"ENCODING", key),
    lambda key, other: (b"MGET", key, other, b"key:1199"),
    lambda key, other: (b"LCS", key, other, b"LEN"),
    lambda key, _: (b"GET", b"key:1199"),  # absent
    lambda key, _: (b"SCAN", b"0", b"COUNT", b"3"),
    lambda key, _: (b"SCAN", b"6", b"COUNT", b"2", b"TYPE", b"string"),
    lambda key, _: (b"KEYS", b"*"),
    lambda key, _: (b"DBSIZE",),
]


@pytest.mark.parametrize("options", [(), (b"PX", FAR_MS)], ids=["dict", "dict and expires"])
@pytest.mark.parametrize("read", READS, ids=lambda read: read(b"a", b"b")[0].decode())
def test_reads_move_a_rehash(
    pair: LayoutPair, read: Callable[[bytes, bytes], tuple[bytes, ...]], options: tuple[bytes, ...]
) -> None:
    fill(pair, 129, *options)
    assert pair.sizes() == [128, 256]
    for i in range(60):
        pair.run(*read(KEYS[i], KEYS[128 - i]))
    pair.walk()
    if options:
        assert pair.sizes("expires")[-1] == 256


def test_dead_keys_found_by_a_scan_leave_both_tables(pair: LayoutPair) -> None:
    fill(pair, 65, b"PX", b"50")
    assert pair.sizes("expires") == [64, 128]
    for key in KEYS[:65:3]:
        pair.run(b"PERSIST", key)
    pair.advance(60)
    pair.walk()
    assert pair.server.dbsize(0) == 22


@pytest.mark.parametrize("options", [(), (b"PX", FAR_MS)], ids=["dict", "dict and expires"])
def test_deleting_and_shrinking(pair: LayoutPair, options: tuple[bytes, ...]) -> None:
    """The cron begins to shrink a table below 10 %; here commands must move its buckets."""
    fill(pair, 300, *options)
    pair.walk()
    pair.walk()
    for i, key in enumerate(KEYS[29:300]):
        pair.run((b"DEL", b"UNLINK", b"GETDEL")[i % 3], key)
        if i % 40 == 0:
            pair.run(b"KEYS", b"*")
    assert pair.sizes() == [512]
    pair.advance(CRON_MS)
    assert pair.sizes() == [512, 32]
    for i in range(29):
        pair.run(b"GET", KEYS[i])
        if i % 7 == 0:
            pair.walk()
    for key in KEYS[:40]:
        pair.run(b"SET", key, b"w", *options)
    pair.walk()
    for key in KEYS[:39]:
        pair.run(b"DEL", key)
    for _ in range(3):
        pair.advance(CRON_MS)
        pair.walk()
    assert pair.sizes()[-1] == 4


def test_the_cron_shrinks_below_a_tenth_and_not_before(pair: LayoutPair) -> None:
    """Percent are cut to whole numbers: of 256 buckets, 26 keys are 10 % and 25 are 9 %."""
    fill(pair, 200)
    pair.walk()
    for key in KEYS[26:200]:
        pair.run(b"DEL", key)
    pair.advance(CRON_MS)
    assert pair.sizes() == [256]
    pair.run(b"DEL", KEYS[0])
    assert pair.sizes() == [256]
    pair.advance(CRON_MS)
    assert pair.sizes() == [256, 32]
    pair.walk()


def test_the_expires_dict_shrinks_alone(pair: LayoutPair) -> None:
    fill(pair, 200, b"PX", FAR_MS)
    pair.walk()
    for key in KEYS[5:200]:
        pair.run(b"PERSIST", key)
    pair.advance(CRON_MS)
    assert pair.sizes() == [256]
    assert pair.sizes("expires") == [256, 8]
    for key in KEYS[:40]:
        pair.run(b"TTL", key)
    pair.walk()
    assert pair.sizes("expires") == [8]


def test_the_cron_rehashes_one_table_a_run(pair: LayoutPair) -> None:
    fill(pair, 513, b"PX", FAR_MS)
    assert pair.sizes() == pair.sizes("expires") == [512, 1024]
    pair.set(b"activerehashing", b"yes")
    pair.advance(CRON_MS)
    assert pair.sizes() == [1024]
    assert pair.sizes("expires") == [512, 1024]
    pair.advance(CRON_MS)
    assert pair.sizes("expires") == [1024]
    pair.walk()


def test_a_reload_lays_keys_out_anew(pair: LayoutPair) -> None:
    """Tables get their final size at once, and the chains the order of the file."""
    fill(pair, 100)
    for key in KEYS[:90:2]:
        pair.run(b"DEL", key)
    fill(pair, 30, b"PX", FAR_MS)
    pair.run(b"DEBUG", b"RELOAD")
    pair.walk()


# -- random scripts -------------------------------------------------------------------------


def random_command(rng: random.Random, keys: list[bytes]) -> tuple[bytes, ...]:
    """A command that looks up, adds or removes keys in one way or another."""
    a, b, c = (rng.choice(keys) for _ in range(3))
    ttl = rng.choice([b"30", b"150", FAR_MS])
    return rng.choice(
        [
            (b"SET", a, b"v"),
            (b"SET", a, b"v", b"PX", ttl),
            (b"SET", a, b"v", b"NX"),
            (b"SET", a, b"v", b"XX", b"KEEPTTL"),
            (b"SET", a, b"v", b"GET", b"PX", ttl),
            (b"SETNX", a, b"v"),
            (b"PSETEX", a, ttl, b"v"),
            (b"GETSET", a, b"v"),
            (b"GET", a),
            (b"GETDEL", a),
            (b"GETEX", a, b"PX", ttl),
            (b"GETEX", a, b"PERSIST"),
            (b"MSET", a, b"1", b, b"2", c, b"3"),
            (b"MSETNX", a, b"1", b, b"2"),
            (b"MGET", a, b, c),
            (b"APPEND", a, b"x"),
            (b"INCR", a),
            (b"SETRANGE", a, b"2", b"x"),
            (b"GETRANGE", a, b"0", b"1"),
            (b"PEXPIRE", a, ttl),
            (b"PEXPIRE", a, ttl, b"GT"),
            (b"PEXPIRE", a, b"-1"),
            (b"PERSIST", a),
            (b"PTTL", a),
            (b"PEXPIRETIME", a),
            (b"DEL", a, b),
            (b"UNLINK", a),
            (b"EXISTS", a, b),
            (b"TOUCH", a),
            (b"RENAME", a, b),
            (b"RENAMENX", a, b),
            (b"COPY", a, b),
            (b"COPY", a, b, b"REPLACE"),
            (b"COPY", a, b, b"DB", b"1", b"REPLACE"),
            (b"MOVE", a, b"1"),
            (b"TYPE", a),
            (b"OBJECT", b"FREQ", a),
            (b"OBJECT", b"REFCOUNT", a),
            (b"SCAN", b"%d" % rng.randrange(64), b"COUNT", b"4"),
            (b"SCAN", b"%d" % rng.randrange(64), b"TYPE", b"string"),
            (b"KEYS", b"*1*"),
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_scripts(pair: LayoutPair, seed: int) -> None:
    """Waves of growing and shrinking; time passes, so keys die and the cron resizes."""
    rng = random.Random(seed)
    for size in (20, 300, 10, 80):
        keys = KEYS[:size]
        for key in rng.sample(keys, size):
            pair.run(b"SET", key, b"v", *rng.choice([(), (b"PX", FAR_MS)]))
        for _ in range(150):
            pair.run(*random_command(rng, keys))
            if rng.random() < 0.05:
                pair.advance(rng.choice([20, CRON_MS]))
        pair.walk()
        doomed = [key for key in KEYS[:300] if rng.random() < 0.96]
        for i in range(0, len(doomed), 5):
            pair.run(b"DEL", *doomed[i : i + 5])
        pair.advance(CRON_MS)
        pair.walk()


# -- the active expire cycle ------------------------------------------------------------------


def test_the_active_cycle_deletes_in_the_same_order(
    pair: LayoutPair, frozen_server: FrozenServer
) -> None:
    """The cycle follows the layout of the expires dict, so the events come in its order."""
    pair.set(b"notify-keyspace-events", b"Ex")
    listener = RawClient(frozen_server.port)
    my_listener = pair.server.create_client()
    listener(b"SUBSCRIBE", b"__keyevent@0__:expired")
    pair.server.process_command(my_listener, [b"SUBSCRIBE", b"__keyevent@0__:expired"])
    my_listener.outbox.clear()
    for i, key in enumerate(KEYS[:700]):
        pair.reply(b"SET", key, b"v", b"PX", (b"30", FAR_MS, b"250")[i % 3])
    pair.expire_actively(True)
    for _ in range(10):
        pair.advance(CRON_MS)
    events = [encode_reply(message, 2) for message in my_listener.outbox]
    listener.send(b"PING")
    expected = list(iter(listener.read, b"*2\r\n$4\r\npong\r\n$0\r\n\r\n"))
    listener.close()
    pair.set(b"notify-keyspace-events", b"")
    assert len(expected) > 300, "nearly all that were due"
    assert events == expected
