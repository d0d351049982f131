"""Bitmaps on miniredis and on a frozen real server: scripts, and random commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.bitmap_scripts import BITMAPS
from tests.differential.machines import machine, scripts, told
from tests.differential.pair import KEYS, Pair, Step
from tests.differential.test_commands import parse
from tests.differential.test_state_machine import command

STEPS = 30

keys = st.sampled_from(KEYS)
some_keys = st.lists(keys, min_size=1, max_size=3)
bits = st.sampled_from([b"0", b"1", b"1", b"2", b"x"])
offsets = st.one_of(
    st.integers(0, 200).map(lambda n: b"%d" % n),
    st.sampled_from([b"-1", b"4294967296", b"x", b"#3", b"1000"]),
)
indexes = st.one_of(
    st.integers(-80, 80).map(lambda n: b"%d" % n),
    st.sampled_from([b"0", b"-1", b"x", b"9223372036854775807", b"-9223372036854775808"]),
)
ranges = st.one_of(
    command(),
    command(indexes, indexes),
    command(indexes, indexes, st.sampled_from([b"BIT", b"byte", b"bit", b"foo"])),
)
types = st.one_of(
    st.integers(1, 64).map(lambda n: b"i%d" % n),
    st.integers(1, 63).map(lambda n: b"u%d" % n),
    st.sampled_from([b"u64", b"i8", b"u8", b"i64", b"x"]),
)
integers = st.one_of(
    st.integers(-300, 300).map(lambda n: b"%d" % n),
    st.sampled_from([b"9223372036854775807", b"-9223372036854775808", b"x"]),
)
positions = st.one_of(offsets, st.integers(0, 9).map(lambda n: b"#%d" % n))
bitfield_ops = st.lists(
    st.one_of(
        command(b"GET", types, positions),
        command(st.sampled_from([b"SET", b"INCRBY"]), types, positions, integers),
        command(b"OVERFLOW", st.sampled_from([b"WRAP", b"sat", b"FAIL"])),
    ),
    max_size=4,
).map(lambda found: [word for op in found for word in op])
values = st.sampled_from([b"", b"foobar", b"12", b"\xff" * 9, b"\0" * 50, b"x" * 50])
commands = st.one_of(
    command(b"SETBIT", keys, offsets, bits),
    command(b"GETBIT", keys, offsets),
    command(b"BITCOUNT", keys, ranges),
    command(b"BITPOS", keys, bits, ranges),
    command(b"BITPOS", keys, bits, indexes),
    command(b"BITOP", st.sampled_from([b"AND", b"or", b"XOR", b"NOT", b"x"]), keys, some_keys),
    command(b"BITFIELD", keys, bitfield_ops),
    command(b"BITFIELD", keys, bitfield_ops),
    command(b"BITFIELD_RO", keys, bitfield_ops),
    command(b"SET", keys, values),
    command(b"APPEND", keys, values),
    command(b"PEXPIRE", keys, st.sampled_from([b"50", b"100"])),
    command(b"DEL", keys),
)
steps = st.one_of(
    st.tuples(st.just(0), commands), st.tuples(st.just(0), commands), st.sampled_from([1, 50])
)


@pytest.mark.parametrize("name", BITMAPS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: Pair, name: str, resp: int) -> None:
    pair.start(resp)
    for line in BITMAPS[name].strip().splitlines():
        pair.step(parse(line.strip(), pair.frozen.ms))
    pair.compare_all()


@machine("bitmaps")
@given(script=scripts(steps, STEPS))
def test_random_scripts(pair: Pair, script: list[Step]) -> None:
    with told(script):
        pair.start()
        for step in script:
            pair.step(step)
        pair.compare_all()
