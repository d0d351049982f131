"""Random commands and jumps in time, on miniredis and on a frozen real server, in step.

After every command the replies are the same to the byte and so are the keyspace events;
after every run so are all values, encodings and times to live. Active expiry is off
here, for its order depends on the process's hash seed: it has tests of its own.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.differential.machines import machine, scripts, told
from tests.differential.pair import CLIENTS, KEYS, NOW_MS, NOW_S, Pair, Step

STEPS = 50

keys = st.sampled_from(KEYS)
numbers = st.sampled_from(
    [
        b"0",
        b"1",
        b"-1",
        b"10",
        b"9999",
        b"10000",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"9223372036854775808",
        b"01",
        b"+1",
        b" 1",
        b"",
        b"1.5",
        b"abc",
        b"-0",
    ]
)
values = st.one_of(
    numbers, st.sampled_from([b"x", b"v" * 44, b"v" * 45, b"\x00\xff", b"3.0e3", b"1e-5", b"0.1"])
)
floats = st.sampled_from(
    [b"0.1", b"-0.1", b"1e3", b"3", b"inf", b"nan", b"1e5000", b" 1", b"0x1p3"]
)
offsets = st.sampled_from([b"0", b"1", b"5", b"-1", b"-3", b"100", b"536870912", b"x"])
# Relative times in ms that the jumps below can reach, and bad ones.
times_ms = st.sampled_from(
    [
        b"1",
        b"2",
        b"50",
        b"100",
        b"150",
        b"500",  # TTL rounds to the nearest second, half a second up
        b"1499",
        b"1500",
        b"1000",
        b"100000",
        b"0",
        b"-1",
        b"-100000",
        b"x",
        b"9223372036854775807",
        b"9223370645620375807",
        b"-9223372036854775808",
    ]
)
times_s = st.sampled_from(
    [
        b"1",
        b"2",
        b"100",
        b"0",
        b"-1",
        b"9223372036854775",
        b"9223372036854776",
        b"1.5",
        b"-9223372036854776",
    ]
)
expire_options = st.lists(st.sampled_from([b"NX", b"XX", b"gt", b"LT", b"GT", b"foo"]), max_size=2)
at_ms = st.one_of(st.integers(-200, 300), st.sampled_from([499, 500, 501, 1500, 2500])).map(
    lambda d: NOW_MS + b"%d" % d
)
at_s = st.integers(-2, 3).map(lambda d: NOW_S + b"%d" % d)


def command(*parts: object) -> st.SearchStrategy[tuple[bytes, ...]]:
    """A strategy for one command: words, and strategies for words or lists of them."""
    fixed = [p if isinstance(p, st.SearchStrategy) else st.just(p) for p in parts]
    return st.tuples(*fixed).map(
        lambda t: tuple(w for p in t for w in (p if isinstance(p, (list, tuple)) else (p,)))
    )


time_option = st.one_of(
    command(b"EX", times_s),
    command(b"px", times_ms),
    command(b"EXAT", at_s),
    command(b"PXAT", at_ms),
    st.just((b"KEEPTTL",)),
    st.just(()),
)
set_options = st.one_of(
    time_option,
    command(time_option, st.sampled_from([b"NX", b"XX", b"GET", b"get"])),
    command(
        st.sampled_from([b"NX", b"XX", b"GET", b"EX", b"foo"]),
        time_option,
        st.sampled_from([b"GET", b"XX"]),
    ),
)
pairs = st.lists(st.tuples(keys, values), min_size=1, max_size=3).map(
    lambda found: [word for pair in found for word in pair]
)
some_keys = st.lists(keys, min_size=1, max_size=3)

commands = st.one_of(
    command(b"SET", keys, values),
    command(b"SET", keys, values, set_options),
    command(b"SET", keys, values, set_options),
    command(b"SETNX", keys, values),
    command(b"SETEX", keys, times_s, values),
    command(b"PSETEX", keys, times_ms, values),
    command(b"GETSET", keys, values),
    command(b"GET", keys),
    command(b"GETDEL", keys),
    command(b"GETEX", keys, time_option),
    command(b"GETEX", keys, b"PERSIST"),
    command(b"MSET", pairs),
    command(b"MSETNX", pairs),
    command(b"MSET", some_keys),
    command(b"MGET", some_keys),
    command(st.sampled_from([b"INCR", b"DECR"]), keys),
    command(st.sampled_from([b"INCRBY", b"DECRBY"]), keys, numbers),
    command(b"INCRBYFLOAT", keys, floats),
    command(b"APPEND", keys, values),
    command(b"SETRANGE", keys, offsets, values),
    command(st.sampled_from([b"GETRANGE", b"SUBSTR"]), keys, offsets, offsets),
    command(b"STRLEN", keys),
    command(b"LCS", keys, keys, st.sampled_from([(), (b"LEN",), (b"IDX",), (b"IDX", b"LEN")])),
    command(b"EXPIRE", keys, times_s, expire_options),
    command(b"PEXPIRE", keys, times_ms, expire_options),
    command(b"PEXPIRE", keys, times_ms),
    command(b"EXPIREAT", keys, at_s, expire_options),
    command(b"PEXPIREAT", keys, at_ms, expire_options),
    command(st.sampled_from([b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME", b"PERSIST"]), keys),
    command(b"TTL", keys),
    command(st.sampled_from([b"DEL", b"UNLINK", b"EXISTS", b"TOUCH"]), some_keys),
    command(st.sampled_from([b"RENAME", b"RENAMENX"]), keys, keys),
    command(
        b"COPY", keys, keys, st.sampled_from([(), (b"REPLACE",), (b"DB", b"1"), (b"DB", b"99")])
    ),
    command(b"MOVE", keys, st.sampled_from([b"0", b"1", b"-1", b"x"])),
    command(b"SWAPDB", b"0", b"1"),
    command(b"SELECT", st.sampled_from([b"0", b"1", b"16", b"x"])),
    command(b"TYPE", keys),
    command(b"OBJECT", st.sampled_from([b"ENCODING", b"REFCOUNT", b"FREQ", b"FOO"]), keys),
    command(b"DBSIZE"),
    command(st.sampled_from([b"FLUSHDB", b"FLUSHALL"])),
    command(b"MULTI"),
    command(b"EXEC"),
    command(b"EXEC"),
    command(b"DISCARD"),
    command(b"WATCH", some_keys),
    command(b"UNWATCH"),
    command(st.sampled_from([b"GET", b"SET", b"TTL", b"EXPIRE", b"NOPE", b"WATCH"])),
)
steps = st.one_of(
    st.tuples(st.integers(0, CLIENTS - 1), commands),
    st.tuples(st.integers(0, CLIENTS - 1), commands),
    st.tuples(st.integers(0, CLIENTS - 1), commands),
    st.sampled_from([0, 1, 2, 49, 50, 99, 100, 101, 500, 1000, 2000]),
)


@machine("strings")
@given(script=scripts(steps, STEPS))
def test_random_scripts(pair: Pair, script: list[Step]) -> None:
    with told(script):
        pair.start()
        for step in script:
            pair.step(step)
        pair.compare_all()
