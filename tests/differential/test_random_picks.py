"""What is picked at random is what a real server picks that draws the same numbers.

The simulator has the real server's hashes and its random numbers, so that SPOP, SRANDMEMBER,
HRANDFIELD and ZRANDMEMBER pick the same in the same order, and draw as often.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import START_MS, missing
from tests.differential.learned import LearnedPair
from tests.real.draws import ServerDraws
from tests.real.frozen import FrozenServer, ReplayedRandom

STATE = 20_140_201  # of the C library's generator; any number but 0
KEYS = (b"a", b"b", b"dst")
NUMBERS = tuple(b"%d" % i for i in range(1100))
NAMES = tuple(b"m%d" % i for i in range(1100))
WITH_VALUES = ((), (b"WITHVALUES",))


@pytest.fixture(scope="module")
def pair(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LearnedPair]:
    try:
        frozen = FrozenServer(real_binary, tmp_path_factory.mktemp("frozen"), START_MS)
    except RuntimeError as error:
        missing(str(error))
    if frozen.version < (7, 0) or frozen.version >= (7, 2):
        frozen.stop()
        pytest.skip("the order of random numbers drawn is that of Redis 7.0")
    pair = LearnedPair(frozen, {*KEYS, *NUMBERS, *NAMES, b"x"})
    pair.draws = ServerDraws(START_MS * 1000, frozen.process.pid, STATE)
    frozen.replay_random(STATE)
    yield pair
    for client in (*pair.real, pair.real_listener):
        client.close()
    frozen.stop()


def fill(pair: LearnedPair, members: tuple[bytes, ...], key: bytes = b"a") -> None:
    for i in range(0, len(members), 100):
        pair.step((0, (b"SADD", key, *members[i : i + 100])))


def fill_hash(pair: LearnedPair, fields: tuple[bytes, ...], key: bytes = b"a") -> None:
    for i in range(0, len(fields), 100):
        some = fields[i : i + 100]
        pair.step((0, (b"HSET", key, *(word for field in some for word in (field, b"v" + field)))))


def counts(size: int) -> list[int]:
    """One count for each case of the three commands, and the ones on their borders."""
    third = size // 3
    return [-1, -5, -size - 3, 1, 2, third - 1, third, third + 1, size - 1, size, size + 1]


SIZES = [1, 2, 3, 7, 12, 60, 300, 700]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("members", [NUMBERS, NAMES], ids=["numbers", "names"])
def test_srandmember(pair: LearnedPair, members: tuple[bytes, ...], size: int) -> None:
    pair.start()
    fill(pair, members[:size])
    for _ in range(5):
        pair.step((0, (b"SRANDMEMBER", b"a")))
    for count in counts(size):
        pair.step((0, (b"SRANDMEMBER", b"a", b"%d" % count)))
    pair.compare_values(KEYS)


@pytest.mark.parametrize("resp", [2, 3])
@pytest.mark.parametrize("size", SIZES)
def test_hrandfield(pair: LearnedPair, size: int, resp: int) -> None:
    pair.start(resp)
    fill_hash(pair, NAMES[:size])
    for _ in range(5):
        pair.step((0, (b"HRANDFIELD", b"a")))
    for count in [*counts(size), -1001, -2500]:
        for options in WITH_VALUES:
            pair.step((0, (b"HRANDFIELD", b"a", b"%d" % count, *options)))
    pair.compare_values(KEYS)


def test_hrandfield_of_a_small_hash_table(pair: LearnedPair) -> None:
    pair.start()
    pair.step((0, (b"HSET", b"a", b"x", b"v" * 65)))
    fill_hash(pair, NAMES[:20])
    for count in [*counts(21), 3, 4, 5, 6]:
        pair.step((0, (b"HRANDFIELD", b"a", b"%d" % count)))
    pair.compare_values(KEYS)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("members", [NUMBERS, NAMES], ids=["numbers", "names"])
def test_spop(pair: LearnedPair, members: tuple[bytes, ...], size: int) -> None:
    pair.start()
    for count in [None, *(n for n in counts(size) if n > 0), size * 5 // 6, size * 5 // 6 + 1]:
        pair.step((0, (b"DEL", b"a")))
        fill(pair, members[:size])
        pair.step((0, (b"SPOP", b"a") if count is None else (b"SPOP", b"a", b"%d" % count)))
        pair.step((0, (b"OBJECT", b"ENCODING", b"a")))
        pair.step((0, (b"SMEMBERS", b"a")))
    pair.compare_values(KEYS)


@pytest.mark.parametrize("members", [NUMBERS, NAMES], ids=["numbers", "names"])
def test_popping_a_set_empty(pair: LearnedPair, members: tuple[bytes, ...]) -> None:
    """The table shrinks on the way, and picks are made while it is being rehashed."""
    pair.start()
    fill(pair, members[:600])
    for _ in range(600):
        pair.step((0, (b"SPOP", b"a")))
    pair.step((0, (b"EXISTS", b"a")))


def test_picks_while_a_table_grows_and_shrinks(pair: LearnedPair) -> None:
    pair.start()
    for i in range(300):
        pair.step((0, (b"SADD", b"a", NAMES[i])))
        pair.step((0, (b"SRANDMEMBER", b"a", b"-2")))
    for i in range(290):
        pair.step((0, (b"SREM", b"a", NAMES[i])))
        pair.step((0, (b"SRANDMEMBER", b"a", b"3")))
    pair.compare_values(KEYS)


def test_a_set_of_a_few_left_by_spop_is_an_intset_again(pair: LearnedPair) -> None:
    pair.start()
    fill(pair, NUMBERS[:1000])
    pair.step((0, (b"OBJECT", b"ENCODING", b"a")))
    pair.step((0, (b"SPOP", b"a", b"900")))
    pair.step((0, (b"OBJECT", b"ENCODING", b"a")))
    pair.compare_values(KEYS)


@pytest.mark.parametrize("resp", [2, 3])
@pytest.mark.parametrize("size", SIZES)
def test_zrandmember(pair: LearnedPair, size: int, resp: int) -> None:
    pair.start(resp)
    for i in range(0, size, 100):
        some = enumerate(NAMES[i : min(i + 100, size)])
        scored = (word for score, member in some for word in (b"%d" % (score % 7), member))
        pair.step((0, (b"ZADD", b"a", *scored)))
    # The levels of a skiplist are drawn too; nobody sees them, so here they are not.
    pair.frozen.replay_random(STATE)
    pair.draws.others = ReplayedRandom(STATE)
    for _ in range(5):
        pair.step((0, (b"ZRANDMEMBER", b"a")))
    for count in [*counts(size), -1001, -2500]:
        for options in ((), (b"WITHSCORES",)):
            pair.step((0, (b"ZRANDMEMBER", b"a", b"%d" % count, *options)))
    pair.compare_values(KEYS)
