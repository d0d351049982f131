"""Clients that wait for lists, on miniredis and on a frozen real server, in step.

Who is served with what, in which order, which keyspace events come, who waits on: all is
compared after each command and each jump in time.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.machines import machine, scripts, told
from tests.differential.pair import Step
from tests.differential.test_state_machine import command
from tests.differential.waiting import WAITERS, WaitingPair
from tests.real.frozen import FrozenServer

STEPS = 50

# A line begins with the number of the client that says it; "3 UNBLOCK n" is CLIENT UNBLOCK of
# the client with that number.
SCRIPTS = {
    "fairness": """
        2 BLPOP a 0
        3 BLPOP b a 0
        4 BRPOP a 0
        5 BLMPOP 0 2 b a RIGHT COUNT 10
        0 RPUSH a 1 2
        0 RPUSH a 3 4 5
        0 EXISTS a
    """,
    "chains": """
        2 BLMOVE a b LEFT RIGHT 0
        3 BRPOPLPUSH b c 0
        4 BLPOP c b a 0
        0 RPUSH a 1
        0 RPUSH a 2
        5 BLMOVE a a LEFT RIGHT 0
        0 RPUSH a 3 4
        0 LRANGE a 0 -1
    """,
    "transactions": """
        2 BLPOP a 0
        3 BLPOP a 0
        4 BLPOP b 0
        0 MULTI
        0 RPUSH b 1
        0 RPUSH a 1
        0 LPOP b
        0 DEL a
        0 RPUSH a 2
        0 BLPOP none 0
        0 EXEC
        0 MULTI
        0 RPUSH b 1
        0 UNBLOCK 4
        0 RPUSH a 7
        0 SET a x
        0 EXEC
        0 DEL a
        0 RPUSH a 8
    """,
    "types": """
        2 BLPOP a 0
        3 BLMOVE a s LEFT LEFT 0
        4 BLPOP a 0
        0 SET s x
        0 SET a x
        0 RPUSH a 1
        0 DEL a
        0 RPUSH a 1
        0 RPUSH a 2 3
        0 ZADD b 1 x
        5 BLPOP b 0
        5 BLPOP c b 0
        5 BLPOP c d 0
        0 ZADD c 1 x
        0 RENAME c d
        0 DEL d
        0 LPUSH d 1
    """,
    "other_ways": """
        2 BLPOP a 0
        0 RPUSH b 1
        0 RENAME b a
        2 BLPOP a 0
        0 RPUSH b 1
        0 COPY b a
        2 BLPOP a 0
        0 SELECT 1
        0 RPUSH a 2
        0 MOVE a 0
        3 BLPOP a 0
        4 SELECT 1
        4 BLPOP b 0
        0 RPUSH a 1
        0 SWAPDB 0 1
        0 RPUSH b 1
        2 BLPOP a 0
        0 SELECT 0
        0 RPUSH x 2 1 3
        0 SORT x STORE a
    """,
    "time": """
        2 BLPOP a 0.05
        3 BLPOP a b 0.1
        4 BLPOP a 0.2
        @50
        @1
        0 RPUSH a 1
        @50
        @100
        4 BLPOP a 5
        5 BLPOP a 0.001
        @1
        @1
        0 RPUSH a 1
        2 BLMOVE a b LEFT LEFT 0.01
        3 BRPOPLPUSH a b 0.01
        4 BLMPOP 0.01 1 a LEFT
        @1000
    """,
    "expiry": """
        2 BLPOP a 0
        0 MULTI
        0 RPUSH a 1
        0 PEXPIRE a 0
        0 EXEC
        0 RPUSH b 1
        0 PEXPIRE b 10
        3 BLMOVE a b LEFT LEFT 0
        0 LPOP x
        @11
        0 RPUSH a 1 2
        0 LRANGE b 0 -1
        0 TTL b
    """,
    "unblock": """
        2 BLPOP a 0
        3 BLPOP a 10
        0 UNBLOCK 2
        0 UNBLOCK 3 ERROR
        0 UNBLOCK 3 TIMEOUT
        0 UNBLOCK 3 foo
        2 BRPOPLPUSH a b 0
        3 BLMPOP 0 1 a LEFT
        0 UNBLOCK 2 timeout
        0 UNBLOCK 3
        0 UNBLOCK 0
        0 CLIENT UNBLOCK
    """,
    "watchers": """
        1 WATCH a
        1 MULTI
        1 PING
        2 BLPOP a 0
        0 RPUSH a 1
        1 EXEC
        2 BLMOVE a b LEFT LEFT 0
        1 WATCH b
        1 MULTI
        1 PING
        0 RPUSH a 1
        1 EXEC
    """,
}


def parse(line: str) -> Step:
    if line.startswith("@"):
        return int(line[1:])
    which, *words = shlex.split(line)
    if words[0] == "UNBLOCK":
        words.insert(0, "CLIENT")
    return int(which), tuple(word.encode() for word in words)


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


# -- random commands ----------------------------------------------------------------------

keys = st.sampled_from([b"a", b"b", b"c"])
some_keys = st.lists(keys, min_size=1, max_size=3)
elements = st.lists(st.sampled_from([b"1", b"2", b"x"]), min_size=1, max_size=4)
ends = st.sampled_from([b"LEFT", b"RIGHT"])
times = st.sampled_from([b"0", b"0", b"0.01", b"0.05", b"0.1", b"1", b"x", b"-1"])
waits = st.one_of(
    command(st.sampled_from([b"BLPOP", b"BRPOP"]), some_keys, times),
    command(b"BLMOVE", keys, keys, ends, ends, times),
    command(b"BRPOPLPUSH", keys, keys, times),
    st.tuples(times, some_keys, ends, st.sampled_from([b"1", b"2", b"9"])).map(
        lambda t: (b"BLMPOP", t[0], b"%d" % len(t[1]), *t[1], t[2], b"COUNT", t[3])
    ),
)
others = st.one_of(
    *[command(st.sampled_from([b"LPUSH", b"RPUSH"]), keys, elements)] * 6,
    command(st.sampled_from([b"LPOP", b"RPOP", b"DEL", b"LLEN"]), keys),
    command(b"LMOVE", keys, keys, ends, ends),
    command(b"RENAME", keys, keys),
    command(b"COPY", keys, keys, b"REPLACE"),
    command(b"SORT", keys, b"STORE", keys),
    command(b"SET", keys, b"v"),
    command(b"ZADD", keys, b"1", b"m"),
    command(b"PEXPIRE", keys, st.sampled_from([b"0", b"1", b"50"])),
    command(b"MOVE", keys, b"1"),
    command(b"SELECT", st.sampled_from([b"0", b"0", b"1"])),
    command(b"SWAPDB", b"0", b"1"),
    command(st.sampled_from([b"MULTI", b"EXEC", b"DISCARD"])),
    command(b"WATCH", keys),
    command(
        b"CLIENT",
        b"UNBLOCK",
        st.sampled_from([b"2", b"3", b"4", b"5"]),
        st.sampled_from([(), (b"ERROR",), (b"TIMEOUT",)]),
    ),
)
step = st.one_of(
    *[st.tuples(st.integers(2, WAITERS + 1), waits)] * 4,
    *[st.tuples(st.integers(0, WAITERS + 1), others)] * 5,
    st.sampled_from([1, 10, 11, 50, 100]),
)


@machine("blocking")
@given(script=scripts(step, STEPS), resp=st.sampled_from([2, 3]))
def test_random_scripts(pair: WaitingPair, script: list[Step], resp: int) -> None:
    with told(script, resp):
        pair.start(resp)
        for each in script:
            pair.step(each)
        pair.compare_all()
