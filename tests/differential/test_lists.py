"""Lists and SORT on miniredis and on a frozen real server with the same hashes, in step.

Replies are compared to the byte, and so are keyspace events; after each step so are the
nodes of the lists, as DEBUG OBJECT counts them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.learned import LearnedPair
from tests.differential.list_scripts import SCRIPTS
from tests.differential.machines import machine, scripts, told
from tests.differential.pair import CLIENTS, Step
from tests.differential.test_commands import LLONG_MAX, LLONG_MIN
from tests.differential.test_state_machine import command
from tests.real.frozen import FrozenServer

STEPS = 40
KEYS = (b"a", b"b", b"c", b"d", b"e", b"f", b"z")
VALUES = {
    "{max}": str(LLONG_MAX),
    "{min}": str(LLONG_MIN),
    "{long}": "x" * 300,
    "{big}": "y" * 3000,
    "{nul}": "\0",
}
ELEMENTS = tuple(
    [b"", b"-1", b"x", b"01", b"-0", b"x" * 62, b"x" * 63, b"x" * 64, b"x" * 126, b"x" * 300]
    + [b"%d" % n for n in (0, 1, 2, 3, 127, 128, 4095, 4096, -4096, -4097, 32767, 32768)]
    + [b"%d" % n for n in (8388607, 8388608, 2**31 - 1, 2**31, LLONG_MAX, LLONG_MIN, 2**63)]
    + [b"y" * 3000, b"z" * 4093, b"z" * 4096, b"w" * 9000, b"\x00\xff"]
)
_QL = re.compile(rb"ql_.*")


class ListPair(LearnedPair):
    """A pair that compares the nodes of the lists after each step."""

    def step(self, step: Step) -> None:
        super().step(step)
        for key in KEYS:
            entry = self.server.databases[0].dict.index.get(key)
            if entry is None or not hasattr(entry.val.ptr, "nodes"):
                continue
            argv = (b"DEBUG", b"OBJECT", key)
            mine, real = self.run_mine(self.my_admin, argv), self.real_admin(*argv)
            assert _QL.findall(mine) == _QL.findall(real), (step, key)
            argv = (b"DEBUG", b"DIGEST-VALUE", key)
            assert self.run_mine(self.my_admin, argv) == self.real_admin(*argv)

    def start(self, resp: int = 2) -> None:
        super().start(resp)
        self.real_admin = self.real_listener.__class__(self.frozen.port)
        self.my_admin = self.server.create_client()

    def finish(self) -> None:
        self.compare_values(KEYS)
        for key in KEYS:
            self.step((0, (b"LRANGE", key, b"0", b"-1")))
        self.real_admin.close()


def parse(line: str) -> Step:
    """A line of a script as a step."""
    if line.startswith("@"):
        return int(line[1:])
    for name, value in VALUES.items():
        line = line.replace(name, value)
    line = re.sub(r"INTS (\d+)", lambda n: " ".join(map(str, range(int(n[1])))), line)
    return 0, tuple(word.encode() for word in shlex.split(line))


STEPS_OF = {
    name: [parse(line.strip()) for line in text.strip().splitlines()]
    for name, text in SCRIPTS.items()
}
_SCRIPT_WORDS = {
    word
    for steps in STEPS_OF.values()
    for step in steps
    if not isinstance(step, int)
    for word in step[1]
}
# Keys that SORT makes of patterns.
_BASES = {*_SCRIPT_WORDS, *ELEMENTS}
_MADE = {prefix + word for prefix in (b"w_", b"h_", b"l", b"none_") for word in _BASES}
WORDS = {*_BASES, *_MADE, *(word + b"*" for word in _BASES), *KEYS}


@pytest.fixture(scope="module")
def pair(frozen_server: FrozenServer) -> Iterator[ListPair]:
    if frozen_server.version < (7, 0):
        pytest.skip("encodings and texts compared here are those of Redis 7.0")
    pair = ListPair(frozen_server, {word for word in WORDS if len(word) < 100})
    yield pair
    for value in (b"-2",):
        pair.real[0](b"CONFIG", b"SET", b"list-max-listpack-size", value)
    pair.real[0](b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"0")
    pair.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    pair.real[0](b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    for client in (*pair.real, pair.real_listener):
        client.close()


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: ListPair, name: str, resp: int) -> None:
    pair.start(resp)
    for step in STEPS_OF[name]:
        pair.step(step)
    pair.finish()


# -- random commands ----------------------------------------------------------------------

keys = st.sampled_from([b"a", b"b", b"c"])
few = st.sampled_from([b"0", b"1", b"2", b"x", b""])
elements = st.one_of(few, few, st.sampled_from(ELEMENTS))
some = st.lists(elements, min_size=1, max_size=6)
runs = st.tuples(st.integers(0, 20), st.sampled_from([5, 16, 100, 700])).map(
    lambda t: [b"%d" % n for n in range(t[0], t[0] + t[1])]
)
many = st.one_of(some, some, some, runs)
places = st.one_of(
    st.integers(-12, 12).map(lambda n: b"%d" % n),
    st.sampled_from([b"100", b"-100", b"x", b"", b"%d" % LLONG_MAX, b"%d" % LLONG_MIN, b"1.0"]),
)
counts = st.sampled_from([b"0", b"1", b"2", b"3", b"1000", b"-1", b"x", b"%d" % LLONG_MAX])
ends = st.sampled_from([b"LEFT", b"RIGHT", b"left", b"rigHT", b"UP"])
seconds = st.sampled_from([b"1", b"x", b"-1", b"inf", b"nan", b"1e300"])
some_keys = st.lists(keys, min_size=1, max_size=3)
sort_options = st.lists(
    st.one_of(
        command(b"LIMIT", places, places),
        command(b"BY", st.sampled_from([b"nosort", b"w_*", b"w_*", b"h_*->f", b"*"])),
        command(b"GET", st.sampled_from([b"#", b"w_*", b"h_*->f", b"none"])),
        command(st.sampled_from([b"ASC", b"DESC", b"ALPHA", b"alpha", b"FOO"])),
        command(b"STORE", keys),
    ),
    max_size=4,
).map(lambda found: [word for option in found for word in option])

list_commands = st.one_of(
    command(st.sampled_from([b"LPUSH", b"RPUSH"]), keys, many),
    command(st.sampled_from([b"LPUSH", b"RPUSH"]), keys, many),
    command(st.sampled_from([b"LPUSHX", b"RPUSHX"]), keys, some),
    command(st.sampled_from([b"LPOP", b"RPOP", b"LLEN"]), keys),
    command(st.sampled_from([b"LPOP", b"RPOP"]), keys, counts),
    command(st.sampled_from([b"LRANGE", b"LTRIM"]), keys, places, places),
    command(b"LRANGE", keys, b"0", b"-1"),
    command(b"LINDEX", keys, places),
    command(b"LSET", keys, places, elements),
    command(b"LINSERT", keys, st.sampled_from([b"BEFORE", b"after"]), few, elements),
    command(b"LINSERT", keys, st.sampled_from([b"BEFORE", b"after"]), elements, elements),
    command(b"LREM", keys, places, few),
    command(b"LPOS", keys, few, b"RANK", places),
    command(b"LPOS", keys, few, b"COUNT", counts, b"MAXLEN", places),
    command(b"RPOPLPUSH", keys, keys),
    command(b"LMOVE", keys, keys, ends, ends),
    command(b"LMPOP", st.sampled_from([b"1", b"2", b"0"]), some_keys, ends, b"COUNT", counts),
)
sorting = st.one_of(
    command(st.sampled_from([b"SORT", b"SORT", b"SORT_RO"]), keys, sort_options),
    command(b"MSET", b"w_1", elements, b"w_x", few),
    command(b"HSET", st.sampled_from([b"h_1", b"h_2", b"h_x"]), b"f", elements),
    command(b"SADD", keys, st.lists(few, min_size=1, max_size=5)),
    command(b"ZADD", keys, b"1", few, b"0", few),
)
fills = st.sampled_from([b"-2", b"-1", b"-5", b"0", b"1", b"3", b"128"])
other_commands = st.one_of(
    command(b"SET", keys, few),
    command(b"DEL", some_keys),
    command(b"COPY", keys, keys, b"REPLACE"),
    command(b"RENAME", keys, keys),
    command(b"PEXPIRE", keys, st.sampled_from([b"1", b"100", b"1000"])),
    command(b"TYPE", keys),
    command(b"CONFIG", b"SET", b"list-max-ziplist-size", fills),
    command(b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", st.sampled_from([b"0", b"0", b"200"])),
    command(b"DEBUG", b"RELOAD"),
    command(st.sampled_from([b"MULTI", b"EXEC", b"DISCARD"])),
    command(b"WATCH", keys),
    command(st.sampled_from([b"LPUSH", b"LPOP", b"LPOS", b"LMPOP", b"SORT", b"BLMPOP"]), keys),
    command(b"BLPOP", some_keys, st.sampled_from([b"x", b"-1", b"inf", b"nan", b"1e300"])),
)
commands = st.one_of(*[list_commands] * 4, sorting, other_commands)
step = st.one_of(
    *[st.tuples(st.integers(0, CLIENTS - 1), commands)] * 8, st.sampled_from([1, 100, 1000])
)


@machine("lists")
@given(script=scripts(step, STEPS), resp=st.sampled_from([2, 3]))
def test_random_scripts(pair: ListPair, script: list[Step], resp: int) -> None:
    with told(script, resp):
        pair.start(resp)
        pair.step((0, (b"CONFIG", b"SET", b"list-max-listpack-size", b"-2")))
        pair.step((0, (b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"0")))
        for each in script:
            pair.step(each)
        pair.finish()
