"""Geo commands on miniredis and on a frozen real server, in step: replies to the byte.

First the scripts of ``geo_scripts.py``, then random places and searches. Many places are
equally far from each other, so that the order in which they come is compared too.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.geo_scripts import SCRIPTS, SICILY, WORLD
from tests.differential.learned import LearnedPair
from tests.differential.machines import machine, told
from tests.differential.pair import Step
from tests.differential.test_state_machine import command
from tests.real.frozen import FrozenServer

STEPS = 25
MEMBERS = tuple(b"m%d" % i for i in range(120))
WORDS = {word.encode() for word in f"{WORLD} {SICILY}".split()} | {*MEMBERS, b"w", b"x", b"s"}


def parse(line: str) -> Step:
    line = SICILY if line == "SICILY" else WORLD if line == "WORLD" else line
    return 0, tuple(word.encode() for word in shlex.split(line))


@pytest.fixture(scope="module")
def pair(frozen_server: FrozenServer) -> Iterator[LearnedPair]:
    if frozen_server.version < (7, 0):
        pytest.skip("texts and options compared here are those of Redis 7.0")
    pair = LearnedPair(frozen_server, WORDS)
    yield pair
    pair.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    pair.real[0](b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    for client in (*pair.real, pair.real_listener):
        client.close()


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: LearnedPair, name: str, resp: int) -> None:
    pair.start(resp)
    for line in SCRIPTS[name].strip().splitlines():
        pair.step(parse(line.strip()))


# -- random searches ----------------------------------------------------------------------


def number(value: float) -> bytes:
    return repr(value).encode()


keys = st.sampled_from([b"a", b"b"])
members = st.sampled_from(MEMBERS)
# A grid: many places at the same distance.
grid_places = st.tuples(
    st.integers(-20, 20).map(lambda n: b"%d" % (n * 9)),
    st.integers(-8, 8).map(lambda n: b"%d" % (n * 10)),
)
free_places = st.tuples(
    st.floats(-180, 180).map(number), st.floats(-85.05112878, 85.05112878).map(number)
)
near_places = st.tuples(st.floats(-0.01, 0.01).map(number), st.floats(-0.01, 0.01).map(number))
odd_places = st.tuples(
    st.sampled_from([b"180", b"-180", b"181", b"x", b"0"]),
    st.sampled_from([b"85.05112878", b"-85.05112878", b"86", b"", b"0"]),
)
places = st.one_of(grid_places, free_places, near_places, grid_places, odd_places)


@st.composite
def crowds(draw: st.DrawFn) -> tuple[bytes, ...]:
    """Many places at once, few of them different."""
    some = draw(st.lists(st.one_of(grid_places, near_places), min_size=1, max_size=8))
    count = draw(st.sampled_from([5, 30, 60, 120]))
    return tuple(word for i in range(count) for word in (*some[i * i % len(some)], MEMBERS[i]))


units = st.sampled_from([b"m", b"km", b"ft", b"mi", b"KM", b"km", b"x"])
lengths = st.one_of(
    st.sampled_from([b"0", b"1", b"100", b"1000", b"5000", b"20000", b"1e9", b"inf", b"-1", b"x"]),
    st.floats(0, 3e4).map(number),
)
words = st.sampled_from(
    [b"ASC", b"DESC", b"WITHDIST", b"ASC", b"DESC", b"WITHDIST", b"WITHCOORD", b"WITHHASH", b"foo"]
)
options = st.lists(
    st.one_of(
        command(words),
        command(b"COUNT", st.sampled_from([b"1", b"3", b"8", b"20", b"50", b"0", b"x"])),
        command(b"COUNT", st.sampled_from([b"2", b"7"]), b"ANY"),
    ),
    max_size=3,
).map(lambda found: [word for option in found for word in option])
stores = st.one_of(st.just(()), command(st.sampled_from([b"STORE", b"STOREDIST"]), keys))
centres = st.one_of(command(b"FROMMEMBER", members), places.map(lambda p: (b"FROMLONLAT", *p)))
shapes = st.one_of(command(b"BYRADIUS", lengths, units), command(b"BYBOX", lengths, lengths, units))
commands = st.one_of(
    command(b"GEOADD", keys, crowds()),
    command(b"GEOADD", keys, crowds()),
    command(b"GEOADD", keys, places, members),
    command(b"GEOADD", keys, free_places, members),
    command(b"ZADD", keys, st.floats(-1e16, 1e19).map(number), members),
    command(b"GEOPOS", keys, members, members),
    command(b"GEOHASH", keys, members, members),
    command(b"GEODIST", keys, members, members, units),
    *[command(b"GEOSEARCH", keys, centres, shapes, options)] * 4,
    command(b"GEORADIUS", keys, places, lengths, units, options, stores),
    command(b"GEORADIUSBYMEMBER_RO", keys, members, lengths, units, options),
    command(b"GEORADIUSBYMEMBER", keys, members, lengths, units, options, stores),
    command(b"GEOSEARCHSTORE", keys, keys, centres, shapes, options),
    command(b"GEOSEARCHSTORE", keys, keys, centres, shapes, b"STOREDIST"),
    command(b"ZRANGE", keys, b"0", b"-1", b"WITHSCORES"),
    command(b"DEL", keys),
)


@machine("geo")
@given(script=st.lists(commands, min_size=STEPS, max_size=STEPS), resp=st.sampled_from([2, 3]))
def test_random_searches(pair: LearnedPair, script: list[tuple[bytes, ...]], resp: int) -> None:
    with told([(0, words) for words in script], resp):
        pair.start(resp)
        for words in script:
            pair.step((0, words))
