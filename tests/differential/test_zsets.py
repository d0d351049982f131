"""Sorted sets on miniredis and on a frozen real server with the same hashes, in step.

Replies are compared to the byte, the order of hash tables included, and so are keyspace
events; after every script so are tables and digests of all values. First the scripts of
``zset_scripts.py``, then random commands. What is picked at random is compared in
``tests/commands/test_t_zset.py`` with what it should be.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.learned import LearnedPair
from tests.differential.machines import machine, scripts, told
from tests.differential.pair import CLIENTS, Step
from tests.differential.test_commands import LLONG_MAX, LLONG_MIN
from tests.differential.test_state_machine import command
from tests.differential.zset_scripts import SCRIPTS
from tests.real.frozen import FrozenServer

STEPS = 40
KEYS = (b"a", b"b", b"c", b"d", b"e", b"s", b"s1", b"s2", b"z")
INTEGERS = tuple(b"%d" % i for i in range(400))
VALUES = {
    "{max}": str(LLONG_MAX),
    "{min}": str(LLONG_MIN),
    "{64}": "y" * 64,
    "{65}": "z" * 65,
}
ODD = (b"", b"-1", b"00", b" 1", b"1.0", b"-0", b"x", b"\x00\xff", b"y" * 64, b"z" * 65)


def parse(line: str) -> Step:
    """A line of a script as a step."""
    if line.startswith("@"):
        return int(line[1:])
    which = 1 if line.startswith("b: ") else 0
    for name, value in VALUES.items():
        line = line.replace(name, value)
    line = re.sub(r"INTS (\d+)", lambda n: " ".join(map(str, range(int(n[1])))), line)
    line = re.sub(r"SCORED (\d+)", lambda n: " ".join(f"{i} {i}" for i in range(int(n[1]))), line)
    line = re.sub(r"SAME (\d+)", lambda n: " ".join(f"0 {i}" for i in range(int(n[1]))), line)
    return which, tuple(word.encode() for word in shlex.split(line.removeprefix("b: ")))


STEPS_OF = {
    name: [parse(line.strip()) for line in text.strip().splitlines()]
    for name, text in SCRIPTS.items()
}
WORDS = {
    word
    for steps in STEPS_OF.values()
    for step in steps
    if not isinstance(step, int)
    for word in step[1]
}


@pytest.fixture(scope="module")
def pair(frozen_server: FrozenServer) -> Iterator[LearnedPair]:
    if frozen_server.version < (7, 0):
        pytest.skip("encodings and texts compared here are those of Redis 7.0")
    pair = LearnedPair(frozen_server, {*WORDS, *INTEGERS, *ODD, *KEYS})
    yield pair
    pair.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    pair.real[0](b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    for client in (*pair.real, pair.real_listener):
        client.close()


def begin(pair: LearnedPair, resp: int) -> None:
    pair.start(resp)
    for name, value in ((b"entries", b"128"), (b"value", b"64")):
        pair.step((0, (b"CONFIG", b"SET", b"zset-max-listpack-" + name, value)))


def compare(pair: LearnedPair) -> None:
    pair.compare_values(KEYS)
    for key in KEYS:
        pair.step((0, (b"ZRANGE", key, b"0", b"-1", b"WITHSCORES")))


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: LearnedPair, name: str, resp: int) -> None:
    begin(pair, resp)
    for step in STEPS_OF[name]:
        pair.step(step)
    compare(pair)


# -- random commands ----------------------------------------------------------------------

keys = st.sampled_from([b"a", b"b", b"c"])
few = st.sampled_from(INTEGERS[:12])
members = st.one_of(few, few, st.sampled_from(INTEGERS[:40]), st.sampled_from(ODD))
some_members = st.lists(members, min_size=1, max_size=5)
scores = st.one_of(
    st.sampled_from([b"0", b"0", b"0", b"1", b"2", b"-1", b"0.1", b"-0", b"3.0e0", b"1e17"]),
    st.sampled_from([b"inf", b"-inf", b"nan", b"x", b"", b"1e308", b"-1e308", b"1e-320", b"5"]),
    st.integers(-5, 5).map(lambda n: b"%d" % n),
    st.floats(allow_nan=False).map(lambda f: repr(f).encode()),
)
ranks = st.one_of(
    st.integers(-8, 12).map(lambda n: b"%d" % n),
    st.sampled_from([b"0", b"-1", b"x", b"", b"1.5", b"%d" % LLONG_MAX, b"%d" % LLONG_MIN]),
)
score_ends = st.one_of(scores, scores.map(lambda s: b"(" + s))
lex_ends = st.one_of(
    st.sampled_from([b"-", b"+", b"-", b"+", b"x", b"", b"[", b"(", b"-x"]),
    st.tuples(st.sampled_from([b"[", b"("]), members).map(b"".join),
)
counts = st.sampled_from([b"0", b"1", b"2", b"3", b"10", b"1000", b"x", b"-1", b"%d" % LLONG_MAX])
limit = st.one_of(
    st.just(()),
    command(b"LIMIT", ranks, ranks),
    command(b"LIMIT", st.sampled_from([b"0", b"1", b"2"]), st.sampled_from([b"1", b"3", b"-1"])),
)
withscores = st.sampled_from([(), (), (b"WITHSCORES",), (b"withscores",), (b"foo",)])
rev = st.sampled_from([(), (), (b"REV",)])
zadd_options = st.lists(
    st.sampled_from([b"NX", b"XX", b"GT", b"LT", b"CH", b"CH", b"INCR"]), max_size=2
)
runs = st.tuples(st.integers(0, 20), st.sampled_from([5, 16, 17, 70, 300]), st.booleans()).map(
    lambda t: [
        word
        for i, member in enumerate(INTEGERS[t[0] : t[0] + t[1]])
        for word in (b"%d" % (i if t[2] else 0), member)
    ]
)
pairs = st.lists(st.tuples(scores, members), min_size=1, max_size=4).map(
    lambda found: [word for pair in found for word in pair]
)
thresholds = st.one_of(
    command(b"zset-max-listpack-entries", st.sampled_from([b"0", b"3", b"16", b"128"])),
    command(b"zset-max-ziplist-value", st.sampled_from([b"0", b"2", b"64"])),
)
# Numbers of keys that fit, mostly, and options that do, mostly.
sources = st.lists(st.one_of(keys, keys, st.just(b"s")), min_size=1, max_size=4).map(
    lambda found: [b"%d" % len(found), *found]
)
weights = st.lists(scores, min_size=1, max_size=4).map(lambda found: [b"WEIGHTS", *found])
combine_options = st.one_of(
    st.just([]),
    st.just([]),
    weights,
    st.sampled_from([b"SUM", b"MIN", b"MAX", b"AVG"]).map(lambda a: [b"AGGREGATE", a]),
)
UNIONS = (b"ZUNION", b"ZINTER", b"ZDIFF")
STORES = (b"ZUNIONSTORE", b"ZINTERSTORE", b"ZDIFFSTORE")

writes = st.one_of(
    command(b"ZADD", keys, zadd_options, pairs),
    command(b"ZADD", keys, pairs),
    command(b"ZADD", keys, runs),
    command(b"ZADD", keys, runs),
    command(b"ZINCRBY", keys, scores, members),
    command(b"ZREM", keys, some_members),
    command(b"ZREMRANGEBYRANK", keys, ranks, ranks),
    command(b"ZREMRANGEBYSCORE", keys, score_ends, score_ends),
    command(b"ZREMRANGEBYLEX", keys, lex_ends, lex_ends),
    command(st.sampled_from([b"ZPOPMIN", b"ZPOPMAX"]), keys),
    command(st.sampled_from([b"ZPOPMIN", b"ZPOPMAX"]), keys, counts),
    command(b"ZMPOP", sources, st.sampled_from([b"MIN", b"MAX", b"x"])),
    command(b"ZMPOP", b"2", keys, keys, st.sampled_from([b"MIN", b"MAX"]), b"COUNT", counts),
    command(st.sampled_from(STORES), keys, sources, combine_options),
    command(st.sampled_from(STORES), keys, sources),
    command(b"ZRANGESTORE", keys, keys, ranks, ranks, rev),
    command(b"ZRANGESTORE", keys, keys, score_ends, score_ends, b"BYSCORE", rev, limit),
    command(b"SADD", b"s", some_members),
)
reads = st.one_of(
    command(st.sampled_from([b"ZSCORE", b"ZRANK", b"ZREVRANK"]), keys, members),
    command(b"ZMSCORE", keys, some_members),
    command(b"ZCARD", keys),
    command(b"ZCOUNT", keys, score_ends, score_ends),
    command(b"ZLEXCOUNT", keys, lex_ends, lex_ends),
    command(b"ZRANGE", keys, ranks, ranks, rev, withscores),
    command(b"ZREVRANGE", keys, ranks, ranks, withscores),
    command(b"ZRANGE", keys, score_ends, score_ends, b"BYSCORE", rev, limit, withscores),
    command(b"ZRANGE", keys, lex_ends, lex_ends, b"BYLEX", rev, limit),
    command(b"ZRANGEBYSCORE", keys, score_ends, score_ends, withscores, limit),
    command(b"ZREVRANGEBYSCORE", keys, score_ends, score_ends, limit, withscores),
    command(st.sampled_from([b"ZRANGEBYLEX", b"ZREVRANGEBYLEX"]), keys, lex_ends, lex_ends, limit),
    command(st.sampled_from(UNIONS), sources, combine_options, withscores),
    command(b"ZINTERCARD", sources),
    command(b"ZINTERCARD", b"2", keys, keys, b"LIMIT", counts),
    command(b"ZSCAN", keys, st.integers(0, 64).map(lambda n: b"%d" % n)),
    command(b"ZSCAN", keys, b"0", b"COUNT", counts),
    command(b"ZRANDMEMBER", keys, st.sampled_from([b"0", b"1000", b"x"]), withscores),
)
other = st.one_of(
    command(b"SET", keys, b"v"),
    command(b"DEL", keys),
    command(b"COPY", keys, keys, b"REPLACE"),
    command(b"RENAME", keys, keys),
    command(b"PEXPIRE", keys, st.sampled_from([b"1", b"100", b"1000"])),
    command(b"OBJECT", b"ENCODING", keys),
    command(b"DEBUG", b"HTSTATS-KEY", keys),
    command(b"CONFIG", b"SET", thresholds),
    command(b"DEBUG", b"RELOAD"),
    command(st.sampled_from([b"MULTI", b"EXEC", b"DISCARD"])),
    command(b"WATCH", keys),
    command(st.sampled_from([b"ZADD", b"ZUNION", b"ZMPOP", b"ZRANGESTORE", b"ZSCAN"]), keys),
)
step = st.one_of(
    *[st.tuples(st.integers(0, CLIENTS - 1), st.one_of(writes, reads, writes, other))] * 6,
    st.sampled_from([1, 100, 1000]),
)


def has_one_score(pair: LearnedPair, key: bytes) -> bool:
    """Whether a range of members of *key* is promised to be anything."""
    o = pair.server.databases[0].dict.index.get(key)
    zset = None if o is None else o.val.ptr
    if getattr(zset, "encoding", "") != "skiplist":
        return True
    return bool(zset.first()[0] == zset.last()[0])


def is_undefined(pair: LearnedPair, words: tuple[bytes, ...]) -> bool:
    """Members of a skiplist out of order: what is found there is up to its random levels."""
    if not any(b"LEX" in word for word in words):
        return False
    return not has_one_score(pair, words[1])


@machine("sorted sets")
@given(script=scripts(step, STEPS), resp=st.sampled_from([2, 3]))
def test_random_scripts(pair: LearnedPair, script: list[Step], resp: int) -> None:
    with told(script, resp):
        begin(pair, resp)
        for each in script:
            if isinstance(each, int) or not is_undefined(pair, each[1]):
                pair.step(each)
        compare(pair)
