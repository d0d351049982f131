"""Random commands of all types on the same few keys, on miniredis and on a real server.

So keys hold the wrong type most of the time, and commands meet whatever others have left.
After each step replies, error texts, and keyspace events are equal to the byte, in RESP2 and
RESP3; at the end so are types, encodings, times to live, DUMP of every key, and the flags of
the clients, which tell whether what they WATCH was touched.

What redis-server leaves to chance is not tried: random picks, clocks, ranges by lexicographic
order in a skiplist whose scores differ. Commands that wait are only met inside of scripts and
transactions and with bad time-outs; ``test_blocking.py`` is about waiting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miniredis import Server
from miniredis.commands.client_flags import CLIENT_MULTI
from miniredis.commands.table import top_level_commands
from tests.differential import (
    test_bitmaps,
    test_geo,
    test_hashes_sets,
    test_lists,
    test_state_machine,
    test_streams,
    test_zsets,
)
from tests.differential.learned import LearnedPair
from tests.differential.machines import machine, scripts, told
from tests.differential.pair import CLIENTS, NOW_MS, Step
from tests.differential.test_state_machine import command
from tests.real.frozen import FrozenServer

STEPS = 30
KEYS = (b"a", b"b", b"c", b"d", b"s")
ODD = (
    *(b"", b"0", b"1", b"-1", b"2", b"3", b"10", b"-0", b"+1", b" 1", b"01", b"1.5", b"0x10"),
    *(b"1e3", b"inf", b"-inf", b"nan", b"9223372036854775807", b"-9223372036854775808"),
    *(b"9223372036854775808", b"18446744073709551615", b"536870912", b"\x00\xff", b"x" * 65),
    *(b"-", b"+", b"(1", b"[b", b"$", b"1-1", b"0-0", b"u8", b"#1", b"km", b"BIT"),
    *b"NX XX GT LT CH GET EX PX PERSIST COUNT LIMIT MATCH TYPE LEFT RIGHT MIN MAX BEFORE".split(),
    *b"WITHSCORES WITHVALUES BYSCORE REV BYLEX AND NOT DB REPLACE ASC DESC ALPHA LEN IDX".split(),
    *b"STORE WEIGHTS AGGREGATE SUM MAXLEN MINID MKSTREAM GROUP STREAMS JUSTID FORCE IDLE".split(),
    *b"RANK ANY BYRADIUS BYBOX FROMMEMBER OVERFLOW WRAP INCRBY SET ABSTTL FREQ ASYNC".split(),
)
MEMBERS = tuple(b"m%d" % i for i in range(5))
WORDS = {
    *KEYS,
    *ODD,
    *MEMBERS,
    *test_hashes_sets.INTEGERS,
    *test_hashes_sets.ODD,
    *test_hashes_sets.EXTREMES,
    *test_zsets.INTEGERS,
    *test_zsets.ODD,
    *test_geo.WORDS,
    *(word for word in test_lists.WORDS if len(word) < 100),
}
# Not for a machine that compares replies at once: commands that end the connection or the
# server, take it elsewhere, tell times, draw lots, wait, or talk to others.
LEFT_OUT = set(
    b"""
    acl asking auth bgrewriteaof bgsave cluster command debug failover hello
    info lastsave lolwut memory migrate module monitor pfselftest psync quit
    replconf replicaof reset restore restore-asking role save shutdown slaveof slowlog sync
    time wait psubscribe subscribe ssubscribe punsubscribe unsubscribe sunsubscribe
    hrandfield randomkey spop srandmember zrandmember
    blpop brpop blmove brpoplpush blmpop bzpopmin bzpopmax bzmpop
    """.split()
)
NAMES = [row.name.encode() for row in top_level_commands() if row.name.encode() not in LEFT_OUT]

keys = st.sampled_from(KEYS)
words = st.one_of(keys, keys, st.sampled_from(ODD), st.sampled_from(MEMBERS))
# Any command with anything: wrong numbers of arguments, wrong types, options out of place.
anything = st.one_of(
    command(st.sampled_from(NAMES), st.lists(words, max_size=6)),
    command(st.sampled_from(NAMES), keys, st.lists(words, min_size=1, max_size=4)),
    command(st.sampled_from(NAMES), keys, keys, st.lists(words, max_size=4)),
)
of_one_type = st.one_of(
    *[test_state_machine.commands] * 3,
    *[test_lists.commands] * 2,
    *[test_hashes_sets.commands] * 2,
    *[st.one_of(test_zsets.writes, test_zsets.reads, test_zsets.other)] * 2,
    *[test_streams.commands] * 2,
    test_bitmaps.commands,
    test_geo.commands,
    command(b"PFADD", keys, st.lists(words, max_size=3)),
    command(st.sampled_from([b"PFCOUNT", b"PFMERGE"]), st.lists(keys, min_size=1, max_size=3)),
)
waiting = st.one_of(
    command(st.sampled_from([b"BLPOP", b"BRPOP", b"BZPOPMIN", b"BZPOPMAX"]), keys, b"0"),
    command(b"BLMOVE", keys, keys, b"LEFT", b"RIGHT", b"0"),
    command(b"BLMPOP", b"0", b"1", keys, b"LEFT"),
    command(b"BZMPOP", b"0", b"1", keys, b"MIN"),
    command(b"XREAD", b"BLOCK", b"0", b"STREAMS", keys, b"$"),
)
BODIES = [
    b"return redis.call(unpack(ARGV))",
    b"return redis.pcall(unpack(ARGV))",
    b"redis.setresp(3) return redis.call(unpack(ARGV))",
    b"redis.call('SET', KEYS[1] or 'a', 'x') return redis.call(unpack(ARGV))",
    b"local r = redis.pcall(unpack(ARGV)) return type(r) == 'table' and (r.err or #r) or r",
]
LIBRARY = b"""#!lua name=lib
redis.register_function('call', function(keys, args) return redis.call(unpack(args)) end)
redis.register_function{function_name='read', flags={'no-writes'}, callback=function(keys, args)
    redis.setresp(3)
    return redis.pcall(unpack(args))
end}
"""
inner = st.one_of(of_one_type, anything, waiting)
in_script = st.one_of(
    command(st.sampled_from([b"EVAL", b"EVAL", b"EVAL_RO"]), st.sampled_from(BODIES), b"0", inner),
    command(
        st.sampled_from([b"FCALL", b"FCALL_RO"]), st.sampled_from([b"call", b"read"]), b"0", inner
    ),
)


def payloads() -> list[bytes]:
    """What DUMP says of a value of each type, and the same with one bit wrong."""
    server = Server()
    client = server.create_client()
    found = []
    for line in (
        "SET k 12",
        "SET k text",
        "RPUSH k 1 x",
        "SADD k 1 2",
        "SADD k 1 m1",
        "HSET k 1 m1",
        "ZADD k 1.5 m1 2 m2",
        "XADD k 1-1 1 2",
    ):
        server.process_command(client, [b"DEL", b"k"])
        server.process_command(client, line.encode().split())
        found.append(server.process_command(client, [b"DUMP", b"k"]))
    return [*found, found[2][:3] + bytes([found[2][3] ^ 1]) + found[2][4:]]


restore_options = st.lists(
    st.one_of(
        st.sampled_from([(b"REPLACE",), (b"ABSTTL",), (b"foo",), (b"IDLETIME",)]),
        command(b"IDLETIME", st.sampled_from([b"0", b"100", b"-1", b"x"])),
        command(b"FREQ", st.sampled_from([b"0", b"255", b"256", b"x"])),
    ),
    max_size=3,
).map(lambda found: [word for option in found for word in option])
ttls = st.sampled_from(
    [b"0", b"0", b"1", b"100", b"-1", b"x", b"9223372036854775807", NOW_MS + b"50"]
)
across = st.one_of(
    command(b"RESTORE", keys, ttls, st.sampled_from(payloads()), restore_options),
    command(st.sampled_from([b"DUMP", b"TYPE", b"PTTL", b"PEXPIRETIME"]), keys),
    command(b"OBJECT", st.sampled_from([b"ENCODING", b"REFCOUNT", b"FREQ", b"x"]), keys),
    command(b"RESTORE", keys, st.sampled_from([b"0", b"-1", b"x"]), st.sampled_from(ODD)),
    command(b"DEBUG", b"RELOAD"),
    command(b"DEBUG", b"DIGEST"),
    command(st.sampled_from([b"MULTI", b"EXEC", b"EXEC", b"DISCARD", b"UNWATCH"])),
    command(b"WATCH", st.lists(keys, min_size=1, max_size=3)),
    command(b"PEXPIRE", keys, st.sampled_from([b"1", b"50", b"100", b"1000"])),
    command(st.sampled_from([b"SORT", b"SORT_RO"]), keys, st.sampled_from([(), (b"ALPHA",)])),
)
commands = st.one_of(*[of_one_type] * 6, *[anything] * 3, in_script, *[across] * 2)
steps = st.one_of(
    *[st.tuples(st.integers(0, CLIENTS - 1), commands)] * 9,
    st.sampled_from([1, 49, 50, 100, 101, 500, 1000]),
)
# Settings that commands of the types change.
DEFAULTS = {
    b"list-max-listpack-size": b"-2",
    b"hash-max-listpack-entries": b"512",
    b"hash-max-listpack-value": b"64",
    b"set-max-intset-entries": b"512",
    b"zset-max-listpack-entries": b"128",
    b"zset-max-listpack-value": b"64",
}
_FLAGS = re.compile(rb"\bname=(\S*).*\bflags=(\S+) db=(\d+) .*\bmulti=(-?\d+)")


class WholePair(LearnedPair):
    """A pair that compares all there is to a key, and to a client, at the end."""

    def start(self, resp: int = 2) -> None:
        super().start(resp)
        for name, value in DEFAULTS.items():
            self.step((0, (b"CONFIG", b"SET", name, value)))
        self.step((0, (b"FUNCTION", b"LOAD", b"REPLACE", LIBRARY)))
        self.step((0, (b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"0")))
        for i in range(CLIENTS):
            self.step((i, (b"CLIENT", b"SETNAME", b"client%d" % i)))
        self.real_admin = self.real_listener.__class__(self.frozen.port)
        self.my_admin = self.server.create_client()

    def step(self, step: Step) -> bytes:
        # errno, which SORT and XADD do not reset before they look at it; SSCAN does.
        if not isinstance(step, int) and {word.upper() for word in step[1]} & ERRNO_READERS:
            argv = (b"SSCAN", b"no such key", b"0")
            self.hashes.setdefault(argv[1], 0)
            assert self.real_admin(*argv) == self.run_mine(self.my_admin, argv)
        return super().step(step)

    def flags(self, listed: bytes) -> list[tuple[bytes, ...]]:
        """Of each client that has a name: name, flags, database, queued commands."""
        found = (_FLAGS.search(line) for line in listed.split(b"\n"))
        return sorted(match.groups() for match in found if match and match[1])

    def finish(self) -> None:
        listing = (b"CLIENT", b"LIST")
        mine, real = self.run_mine(self.my_admin, listing), self.real_admin(*listing)
        assert self.flags(mine) == self.flags(real)
        assert len(self.flags(mine)) >= 1
        self.compare_values(KEYS)
        for db in (b"0", b"1"):
            self.step((0, (b"SELECT", db)))
            for key in KEYS:
                self.step((0, (b"TYPE", key)))
                self.step((0, (b"DUMP", key)))
        self.real_admin.close()


ERRNO_READERS = {b"SORT", b"SORT_RO", b"XADD"}


def is_undefined(pair: LearnedPair, argv: tuple[bytes, ...]) -> bool:
    """Whether the real server's answer depends on chance.

    Members of a skiplist out of order, inside of a transaction also those still to come.
    """
    if not any(b"LEX" in word.upper() for word in argv):
        return False
    in_multi = any(client.flags & CLIENT_MULTI for client in pair.mine)
    return in_multi or not all(test_zsets.has_one_score(pair, key) for key in KEYS)


@pytest.fixture(scope="module")
def pair(frozen_server: FrozenServer) -> Iterator[WholePair]:
    if frozen_server.version < (7, 0):
        pytest.skip("encodings and texts compared here are those of Redis 7.0")
    pair = WholePair(frozen_server, WORDS)
    yield pair
    ask = pair.real[0]
    for name, value in DEFAULTS.items():
        ask(b"CONFIG", b"SET", name, value)
    ask(b"FUNCTION", b"FLUSH")
    ask(b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"0")
    ask(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    ask(b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    for client in (*pair.real, pair.real_listener):
        client.close()


@machine("everything")
@given(script=scripts(steps, STEPS), resp=st.sampled_from([2, 3]))
def test_random_scripts(pair: WholePair, script: list[Step], resp: int) -> None:
    with told(script, resp):
        pair.start(resp)
        for step in script:
            if isinstance(step, int) or not is_undefined(pair, step[1]):
                pair.step(step)
        pair.finish()
