"""XREAD and XREADGROUP that wait, on miniredis and on a frozen real server."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.pair import Step
from tests.differential.test_blocking import parse
from tests.differential.test_state_machine import command
from tests.differential.waiting import WaitingPair
from tests.real.frozen import FrozenServer

EXAMPLES = 200 if os.environ.get("CI") else 40

# In the language of ``test_blocking.py``.
SCRIPTS = {
    "served": """
        1 XREAD BLOCK 0 STREAMS a $
        2 XREAD BLOCK 0 STREAMS a b 0 $
        3 XREAD COUNT 1 BLOCK 0 STREAMS b a $ $
        0 XADD a 1-1 f v
        0 XADD b 1-1 f v
        1 XREAD BLOCK 0 STREAMS a a 1 0
        1 XREAD BLOCK 0 STREAMS a a $ 0
        0 XADD a 2-1 f v
        1 XREAD BLOCK 0 STREAMS b b b 5 0 1
        1 XREAD BLOCK 0 STREAMS b b 5 9
        0 XADD b 6-1 f v
    """,
    "in_time": """
        1 XREAD BLOCK 100 STREAMS a $
        2 XREAD BLOCK 50 STREAMS a $
        3 XREAD BLOCK 9223372036854775807 STREAMS a $
        @49
        @1
        @1
        @100
        0 XADD a 1-1 f v
        @100
    """,
    "transactions": """
        1 XREAD BLOCK 0 STREAMS a $
        0 MULTI
        0 XADD a 1-1 f v
        0 XADD a 2-1 f v
        0 XREAD BLOCK 0 STREAMS a $
        0 EXEC
        1 XREAD BLOCK 0 STREAMS a $
        0 MULTI
        0 XADD a 3-1 f v
        0 DEL a
        0 EXEC
        0 XADD a 1-1 f v
        0 XADD a 4-1 f v
        1 XREAD BLOCK 0 STREAMS a $
        0 MULTI
        0 XADD a 5-1 f v
        0 XDEL a 5-1
        0 EXEC
        1 XREAD BLOCK 0 STREAMS a $
        0 MULTI
        0 XADD a 6-1 f v
        0 DEL a
        0 RPUSH a x
        0 EXEC
        0 DEL a
        0 XADD a 7-1 f v
    """,
    "ran_dry": """
        0 XADD a 666 f v
        0 XDEL a 666
        1 XREAD BLOCK 10 STREAMS a 665
        @11
        @100
        2 XREAD BLOCK 0 STREAMS a 665
        0 XSETID a 777
        0 XADD a 778 f v
        0 XDEL a 778
        2 XREAD BLOCK 0 STREAMS a 18446744073709551615-18446744073709551615
        1 XREAD BLOCK 0 STREAMS a 18446744073709551615-18446744073709551614
        0 XADD a 18446744073709551615-18446744073709551615 f v
    """,
    "groups": """
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        2 XREADGROUP GROUP g c2 BLOCK 0 COUNT 1 STREAMS a >
        3 XREADGROUP GROUP g c3 BLOCK 0 NOACK STREAMS a >
        0 XADD a 1-1 f v
        0 XADD a 1-2 f v
        0 XADD a 1-3 f v
        0 XINFO STREAM a FULL
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a 0
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        2 XREAD BLOCK 0 STREAMS a $
        0 XGROUP DESTROY a g
        0 XGROUP CREATE a g 0
        0 XINFO STREAM a FULL
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        3 XREADGROUP GROUP g c2 BLOCK 100 STREAMS a >
        0 MULTI
        0 XADD a 2-1 f v
        0 XADD a 2-2 f v
        0 EXEC
        0 XPENDING a g - + 10
        @200
        0 XINFO CONSUMERS a g
    """,
    "gone": """
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        2 XREAD BLOCK 0 STREAMS a $
        0 DEL a
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 SET a x
        0 DEL a
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 MULTI
        0 DEL a
        0 SADD a x
        0 EXEC
        0 DEL a
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 FLUSHALL
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 XADD b 1-1 f v
        0 RENAME b a
        0 DEL a
        0 XGROUP CREATE a g $ MKSTREAM
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 XADD b 1-1 f v
        0 XGROUP CREATE b g 0
        0 RENAME b a
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 RENAME a c
        2 UNBLOCK 2
        0 UNBLOCK 2
        2 XREAD BLOCK 0 STREAMS a $
        0 UNBLOCK 2 ERROR
        0 SELECT 1
        0 XADD a 9-9 f v
        0 SELECT 0
        2 XREAD BLOCK 0 STREAMS a $
        0 SWAPDB 0 1
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS c >
        0 XGROUP CREATE a g $
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        0 SWAPDB 0 1
    """,
    "expiry": """
        0 XGROUP CREATE a g $ MKSTREAM
        0 PEXPIRE a 20
        1 XREADGROUP GROUP g c1 BLOCK 0 STREAMS a >
        2 XREAD BLOCK 0 STREAMS a $
        @30
        0 EXISTS a
        0 XADD a 1-1 f v
    """,
}


@pytest.fixture(scope="module")
def pair(frozen_server: FrozenServer) -> Iterator[WaitingPair]:
    if frozen_server.version < (7, 0):
        pytest.skip("the texts and options compared here are those of Redis 7.0")
    pair = WaitingPair(frozen_server)
    yield pair
    pair.real_admin(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    pair.real_admin(b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    pair.close()


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: WaitingPair, name: str, resp: int) -> None:
    pair.start(resp)
    for line in SCRIPTS[name].strip().splitlines():
        pair.step(parse(line.strip()))
    pair.compare_all()


keys = st.sampled_from([b"a", b"b"])
blocks = st.sampled_from([(), (b"BLOCK", b"0"), (b"BLOCK", b"0"), (b"BLOCK", b"30")])
counts = st.sampled_from([(), (), (b"COUNT", b"1")])
after = st.sampled_from([b"$", b"$", b"0", b"5"])
group = (b"GROUP", b"g")
consumers = st.sampled_from([b"c1", b"c2"])
commands = st.one_of(
    command(b"XREAD", counts, blocks, b"STREAMS", keys, after),
    command(b"XREAD", counts, blocks, b"STREAMS", b"a", b"b", after, after),
    command(b"XREADGROUP", group, consumers, counts, blocks, b"STREAMS", keys, b">"),
    command(b"XREADGROUP", group, consumers, b"NOACK", blocks, b"STREAMS", keys, b">"),
    command(b"XADD", keys, b"*", b"f", b"v"),
    command(b"XADD", keys, b"*", b"f", b"v"),
    command(b"XADD", keys, b"MAXLEN", b"1", b"*", b"f", b"v"),
    command(b"XGROUP", b"CREATE", keys, b"g", b"$", b"MKSTREAM"),
    command(b"XGROUP", b"CREATE", keys, b"g", b"$", b"MKSTREAM"),
    command(b"XGROUP", b"DESTROY", keys, b"g"),
    command(b"XGROUP", b"SETID", keys, b"g", b"0"),
    command(b"XSETID", keys, b"9999999999999"),
    command(st.sampled_from([b"DEL", b"TYPE", b"UNLINK"]), keys),
    command(b"RENAME", keys, keys),
    command(b"SET", keys, b"x"),
    command(b"PEXPIRE", keys, b"25"),
    command(b"BLPOP", keys, b"0.02"),
    command(b"RPUSH", keys, b"x", b"y"),
    command(b"CLIENT", b"UNBLOCK", st.sampled_from([b"1", b"2", b"3"])),
    command(st.sampled_from([b"MULTI", b"EXEC", b"EXEC", b"DISCARD", b"FLUSHALL"])),
)
steps = st.lists(
    st.one_of(
        *[st.tuples(st.integers(0, 3), commands)] * 5, st.sampled_from([1, 10, 29, 30, 31, 100])
    ),
    min_size=30,
    max_size=30,
)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(script=steps)
def test_random_scripts(pair: WaitingPair, script: list[Step]) -> None:
    pair.start()
    for step in script:
        pair.step(step)
    pair.compare_all()
