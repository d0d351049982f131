"""Streams on miniredis and on a frozen real server: scripts, and random commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.machines import machine, scripts, told
from tests.differential.pair import Pair, Step
from tests.differential.stream_scripts import STREAMS
from tests.differential.test_commands import parse
from tests.differential.test_state_machine import command

STEPS = 30
KEYS = (b"a", b"b")


def show_all(pair: Pair) -> None:
    """Compare everything that the streams hold."""
    for key in KEYS:
        for words in (b"XINFO STREAM %s FULL COUNT 0", b"DEBUG DIGEST-VALUE %s", b"PTTL %s"):
            pair.step((0, tuple((words % key).split())))


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("resp", [2, 3])
def test_script(pair: Pair, name: str, resp: int) -> None:
    pair.start(resp)
    for line in STREAMS[name].strip().splitlines():
        pair.step(parse(line.strip(), pair.frozen.ms))
    pair.compare_all()


keys = st.sampled_from(KEYS)
groups = st.sampled_from([b"g", b"g", b"h"])
consumers = st.sampled_from([b"alice", b"bob", b"carol"])
ids = st.one_of(
    st.builds(lambda ms, seq: b"%d-%d" % (ms, seq), st.integers(0, 12), st.integers(0, 3)),
    st.integers(0, 12).map(lambda ms: b"%d" % ms),
    st.sampled_from([b"0", b"0-0", b"x", b"18446744073709551615"]),
)
new_ids = st.one_of(
    ids,
    st.sampled_from([b"*", b"*", b"*"]),
    st.integers(0, 12).map(lambda ms: b"%d-*" % ms),
)
ends = st.one_of(ids, st.sampled_from([b"-", b"+"]), ids.map(lambda id: b"(" + id))
counts = st.sampled_from([b"0", b"1", b"2", b"5", b"-1", b"x"])
fields = st.lists(
    st.tuples(st.sampled_from([b"f", b"g", b"12"]), st.sampled_from([b"v", b"7", b"w" * 70])),
    min_size=1,
    max_size=3,
).map(lambda found: [word for pair in found for word in pair])
trims = st.one_of(
    command(b"MAXLEN", st.sampled_from([(), (b"~",), (b"=",)]), counts),
    command(b"MINID", st.sampled_from([(), (b"~",), (b"=",)]), ids),
    command(b"MAXLEN", b"~", counts, b"LIMIT", counts),
    command(b"MINID", b"~", ids, b"LIMIT", counts),
)
some_ids = st.lists(ids, min_size=1, max_size=3)
claim_options = st.lists(
    st.one_of(
        st.just((b"FORCE",)),
        st.just((b"JUSTID",)),
        command(b"IDLE", st.sampled_from([b"0", b"30", b"x"])),
        command(b"TIME", st.sampled_from([b"0", b"1391234400000"])),
        command(b"RETRYCOUNT", counts),
        command(b"LASTID", ids),
    ),
    max_size=2,
).map(lambda found: [word for option in found for word in option])
idle_times = st.sampled_from([b"0", b"0", b"20", b"60", b"-1"])
count_option = st.one_of(command(), command(b"COUNT", counts))

adding = st.one_of(
    command(b"XADD", keys, new_ids, fields),
    command(b"XADD", keys, b"*", fields),
    command(b"XADD", keys, trims, b"*", fields),
)
reading = st.one_of(
    command(b"XRANGE", keys, ends, ends, count_option),
    command(b"XREVRANGE", keys, ends, ends, count_option),
    command(b"XREAD", count_option, b"STREAMS", keys, st.one_of(ids, st.just(b"$"))),
    command(b"XLEN", keys),
    command(b"XINFO", b"STREAM", keys),
    command(b"XINFO", b"GROUPS", keys),
    command(b"XINFO", b"CONSUMERS", keys, groups),
    command(b"XINFO", b"STREAM", keys, b"FULL", count_option),
)
grouping = st.one_of(
    command(b"XGROUP", b"CREATE", keys, groups, st.one_of(ids, st.just(b"$"))),
    command(b"XGROUP", b"CREATE", keys, groups, b"0", b"MKSTREAM"),
    command(b"XGROUP", b"SETID", keys, groups, ids),
    command(b"XGROUP", b"SETID", keys, groups, ids, b"ENTRIESREAD", counts),
    command(b"XGROUP", b"DELCONSUMER", keys, groups, consumers),
    command(b"XGROUP", b"CREATECONSUMER", keys, groups, consumers),
    command(b"XGROUP", b"DESTROY", keys, groups),
)
delivering = st.one_of(
    command(
        b"XREADGROUP",
        b"GROUP",
        groups,
        consumers,
        count_option,
        st.sampled_from([(), (), (b"NOACK",)]),
        b"STREAMS",
        keys,
        st.one_of(ids, st.just(b">"), st.just(b">")),
    ),
    command(b"XREADGROUP", b"GROUP", b"g", consumers, b"STREAMS", keys, b">"),
    command(b"XACK", keys, groups, some_ids),
    command(b"XPENDING", keys, groups),
    command(b"XPENDING", keys, groups, ends, ends, counts),
    command(b"XPENDING", keys, groups, b"IDLE", idle_times, b"-", b"+", b"5", consumers),
    command(b"XCLAIM", keys, groups, consumers, idle_times, some_ids, claim_options),
    command(b"XCLAIM", keys, b"g", consumers, idle_times, some_ids, claim_options),
    command(b"XAUTOCLAIM", keys, groups, consumers, idle_times, ends, count_option),
    command(b"XAUTOCLAIM", keys, b"g", consumers, b"0", b"0", count_option, b"JUSTID"),
)
changing = st.one_of(
    command(b"XDEL", keys, some_ids),
    command(b"XDEL", keys, some_ids),
    command(b"XTRIM", keys, trims),
    command(b"XSETID", keys, ids),
    command(b"XSETID", keys, ids, b"MAXDELETEDID", ids, b"ENTRIESADDED", counts),
    command(b"DEL", keys),
    command(b"SET", keys, b"x"),
    command(b"COPY", b"a", b"b", b"REPLACE"),
)
commands = st.one_of(adding, adding, adding, reading, grouping, delivering, delivering, changing)
steps = st.one_of(
    *[st.tuples(st.just(0), commands)] * 5,
    st.sampled_from([1, 10, 50]),
)


@pytest.mark.parametrize("max_entries", [b"1", b"3", b"100"])
@machine("streams")
@given(script=scripts(steps, STEPS))
def test_random_scripts(pair: Pair, max_entries: bytes, script: list[Step]) -> None:
    with told(script):
        pair.start()
        pair.step((0, (b"CONFIG", b"SET", b"stream-node-max-entries", max_entries)))
        try:
            for step in script:
                pair.step(step)
            show_all(pair)
        finally:
            pair.step((0, (b"CONFIG", b"SET", b"stream-node-max-entries", b"100")))
