"""Hashes and sets on miniredis and on a frozen real server with the same hashes, in step.

Replies are compared to the byte, the order of hash tables included, and so are keyspace
events; after every script so are tables and digests of all values. First the scripts of
``hash_set_scripts.py``, then random commands. What the server picks at random is
compared in ``test_random_picks.py``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.hash_set_scripts import SCRIPTS
from tests.differential.learned import LearnedPair
from tests.differential.machines import machine, scripts, told
from tests.differential.pair import CLIENTS, Step
from tests.differential.test_commands import LLONG_MAX, LLONG_MIN
from tests.differential.test_state_machine import command
from tests.real.frozen import FrozenServer

STEPS = 40
KEYS = (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"s", b"t")
INTEGERS = tuple(b"%d" % i for i in range(700))
VALUES = {
    "{max}": str(LLONG_MAX),
    "{min}": str(LLONG_MIN),
    "{long}": "x" * 300,
    "{64}": "y" * 64,
    "{65}": "z" * 65,
}
ODD = (b"", b"-1", b"00", b"+1", b" 1", b"1.0", b"-0", b"x", b"\x00\xff", b"y" * 64, b"z" * 65)
EXTREMES = (b"32768", b"-32769", b"2147483648", b"%d" % LLONG_MAX, b"%d" % LLONG_MIN)
MORE = (b"9223372036854775808", b"f1", b"f2", b"f3", b"70000")


def parse(line: str) -> Step:
    """A line of a script as a step."""
    if line.startswith("@"):
        return int(line[1:])
    which = 1 if line.startswith("b: ") else 0
    for name, value in VALUES.items():
        line = line.replace(name, value)
    line = re.sub(r"INTS (\d+)", lambda n: " ".join(map(str, range(int(n[1])))), line)
    line = re.sub(r"PAIRS (\d+)", lambda n: " ".join(f"{i} v{i}" for i in range(int(n[1]))), line)
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
    pair = LearnedPair(frozen_server, {*WORDS, *INTEGERS, *ODD, *EXTREMES, *MORE, *KEYS})
    yield pair
    pair.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    pair.real[0](b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    for client in (*pair.real, pair.real_listener):
        client.close()


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: LearnedPair, name: str, resp: int) -> None:
    pair.start(resp)
    for step in STEPS_OF[name]:
        pair.step(step)
    pair.compare_values(KEYS)


# -- random commands ----------------------------------------------------------------------

keys = st.sampled_from([b"a", b"b", b"c"])
few = st.sampled_from(INTEGERS[:12])
words = st.one_of(few, few, st.sampled_from(INTEGERS), st.sampled_from(ODD))
members = st.lists(st.one_of(words, st.sampled_from(EXTREMES)), min_size=1, max_size=6)
# Enough of them that tables grow, and that a rehash is under way when the next command comes.
runs = st.tuples(st.integers(0, 20), st.sampled_from([5, 16, 17, 70, 300])).map(
    lambda t: list(INTEGERS[t[0] : t[0] + t[1]])
)
many = st.one_of(members, members, runs)
values = st.one_of(few, st.sampled_from([*ODD, *EXTREMES, b"1e3", b"inf", b"nan", b"x" * 300]))
pairs = st.one_of(
    st.lists(st.tuples(words, values), min_size=1, max_size=4),
    runs.map(lambda fields: [(field, b"v") for field in fields]),
).map(lambda found: [word for pair in found for word in pair])
some_keys = st.lists(keys, min_size=1, max_size=4)
counts = st.sampled_from([b"0", b"1", b"700", b"1000", b"x", b"-1", b"%d" % LLONG_MAX, b""])
cursors = st.one_of(
    st.integers(0, 64).map(lambda n: b"%d" % n), st.sampled_from([b"0", b"x", b"-1", b" 1"])
)
scan_options = st.lists(
    st.one_of(
        command(b"COUNT", st.sampled_from([b"1", b"3", b"100", b"0", b"x"])),
        command(b"MATCH", st.sampled_from([b"*", b"1*", b"[^1]*", b"x", b""])),
        command(b"TYPE", b"set"),
        command(st.sampled_from([b"COUNT", b"foo"])),
    ),
    max_size=2,
).map(lambda found: [word for option in found for word in option])
thresholds = st.one_of(
    command(b"hash-max-listpack-entries", st.sampled_from([b"0", b"3", b"16", b"512"])),
    command(b"hash-max-ziplist-value", st.sampled_from([b"0", b"2", b"64"])),
    command(b"set-max-intset-entries", st.sampled_from([b"0", b"4", b"16", b"512"])),
)

hash_commands = st.one_of(
    command(st.sampled_from([b"HSET", b"HMSET"]), keys, pairs),
    command(b"HSET", keys, pairs),
    command(b"HSET", keys, many),
    command(b"HSETNX", keys, words, values),
    command(b"HDEL", keys, many),
    command(b"HDEL", keys, many),
    command(st.sampled_from([b"HGET", b"HEXISTS", b"HSTRLEN"]), keys, words),
    command(b"HMGET", keys, many),
    command(st.sampled_from([b"HGETALL", b"HKEYS", b"HVALS", b"HLEN"]), keys),
    command(b"HINCRBY", keys, words, values),
    command(b"HINCRBYFLOAT", keys, words, values),
    command(b"HSCAN", keys, cursors, scan_options),
    command(b"HRANDFIELD", keys, st.sampled_from([b"0", b"1000", b"x"]), b"WITHVALUES"),
    command(b"HRANDFIELD", keys, b"1000", st.sampled_from([(), (b"foo",), (b"withvalues",)])),
)
set_commands = st.one_of(
    command(b"SADD", keys, many),
    command(b"SADD", keys, many),
    command(b"SREM", keys, many),
    command(b"SREM", keys, many),
    command(b"SMOVE", keys, keys, words),
    command(b"SISMEMBER", keys, words),
    command(b"SMISMEMBER", keys, many),
    command(st.sampled_from([b"SCARD", b"SMEMBERS"]), keys),
    command(st.sampled_from([b"SINTER", b"SUNION", b"SDIFF"]), some_keys),
    command(st.sampled_from([b"SINTERSTORE", b"SUNIONSTORE", b"SDIFFSTORE"]), keys, some_keys),
    command(b"SINTERCARD", st.sampled_from([b"1", b"2", b"3", b"0", b"x"]), some_keys),
    command(b"SINTERCARD", b"2", keys, keys, b"LIMIT", counts),
    command(b"SPOP", keys, st.sampled_from([b"0", b"1000", b"x", b"-1"])),
    command(b"SRANDMEMBER", keys, st.sampled_from([b"0", b"1000", b"x"])),
    command(b"SSCAN", keys, cursors, scan_options),
)
other_commands = st.one_of(
    command(b"SET", keys, values),
    command(b"DEL", some_keys),
    command(b"COPY", keys, keys, b"REPLACE"),
    command(b"RENAME", keys, keys),
    command(b"PEXPIRE", keys, st.sampled_from([b"1", b"100", b"1000"])),
    command(st.sampled_from([b"TYPE", b"TTL"]), keys),
    command(b"OBJECT", b"ENCODING", keys),
    command(b"DEBUG", b"HTSTATS-KEY", keys),
    command(b"CONFIG", b"SET", thresholds),
    command(b"DEBUG", b"RELOAD"),
    command(st.sampled_from([b"MULTI", b"EXEC", b"DISCARD", b"UNWATCH"])),
    command(b"WATCH", keys),
    command(st.sampled_from([b"HSET", b"SADD", b"SDIFF", b"HSCAN", b"SINTERCARD"]), keys),
)
commands = st.one_of(hash_commands, set_commands, set_commands, hash_commands, other_commands)
step = st.one_of(
    *[st.tuples(st.integers(0, CLIENTS - 1), commands)] * 6, st.sampled_from([1, 100, 1000])
)


@machine("hashes and sets")
@given(script=scripts(step, STEPS), resp=st.sampled_from([2, 3]))
def test_random_scripts(pair: LearnedPair, script: list[Step], resp: int) -> None:
    with told(script, resp):
        pair.start(resp)
        for name, value in (
            (b"hash-max-listpack-entries", b"512"),
            (b"hash-max-listpack-value", b"64"),
            (b"set-max-intset-entries", b"512"),
        ):
            pair.step((0, (b"CONFIG", b"SET", name, value)))
        for each in script:
            pair.step(each)
        pair.compare_values(KEYS[:3])


# -- sizes in a file ----------------------------------------------------------------------

SIZED = {
    "intset of 16 bits": (b"SADD", b"a", b"1", b"-5"),
    "intset of 32 bits": (b"SADD", b"a", *INTEGERS[:40], b"70000"),
    "intset of 64 bits": (b"SADD", b"a", b"1", b"2147483648"),
    "set": (b"SADD", b"a", *INTEGERS, b"x", b"y" * 64, b"z" * 65),
    "listpack of numbers": (
        *(b"HSET", b"a"),
        *(b"0", b"127", b"1", b"128", b"2", b"4095", b"3", b"4096", b"4", b"-4096"),
        *(b"5", b"-4097", b"6", b"32768", b"7", b"8388608", b"8", b"2147483648"),
    ),
    "listpack of strings": (b"HSET", b"a", b"", b"", b"00", b"x" * 63, b"x", b"y" * 64),
    "listpack of long strings": (b"HSET", b"a", b"f1", b"x" * 4095, b"f2", b"x" * 4096),
    "hash": (b"HSET", b"a", b"x", b"y" * 65, b"1", b"-5", b"2", b"70000", b"00", b"x" * 20_000),
}


@pytest.mark.parametrize("name", SIZED)
def test_serialized_length(pair: LearnedPair, name: str) -> None:
    pair.start()
    threshold = b"5000" if "long" in name else b"64"
    pair.step((0, (b"CONFIG", b"SET", b"hash-max-listpack-value", threshold)))
    pair.step((0, SIZED[name]))
    pair.step((0, (b"OBJECT", b"ENCODING", b"a")))
    find = re.compile(rb"serializedlength:(\d+)")
    argv = (b"DEBUG", b"OBJECT", b"a")
    expected, got = find.search(pair.real[0](*argv)), find.search(pair.run_mine(pair.mine[0], argv))
    assert expected is not None
    assert got is not None
    assert got[1] == expected[1]
    pair.step((0, (b"CONFIG", b"SET", b"hash-max-listpack-value", b"64")))
