"""MEMORY USAGE beside a real server with jemalloc: the error of the model, type by type."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

import miniredis
from tests.differential.plain_server import RealServer, shared_real_server

__all__ = ["shared_real_server"]

Commands = list[tuple[object, ...]]


def _members(n: int, width: int) -> list[str]:
    return [str(i).rjust(width, "m") for i in range(n)]


def _strings() -> Commands:
    lengths = (0, 1, 20, 44, 45, 100, 128, 250, 300, 1000, 20_000, 32_768, 100_000, 1_000_000)
    commands: Commands = [("SET", f"s{n}", "x" * n) for n in lengths]
    commands += [("SET", f"i{n}", n) for n in (0, 9_999, 10_000, 1 << 62)]
    commands += [("SET", "k" * n, "v") for n in (1, 31, 32, 300)]
    return [*commands, ("SETBIT", "bits", 1_600_000, 0), ("INCR", "n")]


def _exact() -> Commands:
    commands: Commands = []
    for n in (1, 3, 128, 129, 500, 2000):
        for width in (3, 20, 60, 70):
            members = _members(n, width)
            pairs = [word for i, m in enumerate(members) for word in (f"f{i}", m)]
            commands.append(("HSET", f"h{n}:{width}", *pairs))
            commands.append(("SADD", f"set{n}:{width}", *members))
            commands.append(("RPUSH", f"l{n}:{width}", *members))
        commands.append(("SADD", f"small{n}", *range(n)))
        commands.append(("SADD", f"large{n}", *range(10**9, 10**9 + n)))
        scores = [word for i, m in enumerate(_members(min(n, 100), 5)) for word in (i / 2, m)]
        commands.append(("ZADD", f"z{n}", *scores))
    commands.append(("RPUSH", "plain", "x" * 20_000, "y"))
    return commands


def _streams() -> Commands:
    commands: Commands = []
    for n in (1, 3, 99, 101, 600):
        commands += [("XADD", f"x{n}", f"{i + 1}-0", "field", f"value{i}") for i in range(n)]
    commands += [
        ("XGROUP", "CREATE", "x600", "group", "0"),
        ("XGROUP", "CREATE", "x3", "empty", "0"),
        ("XREADGROUP", "GROUP", "group", "one", "COUNT", 300, "STREAMS", "x600", ">"),
        ("XREADGROUP", "GROUP", "group", "two", "COUNT", 5, "STREAMS", "x600", ">"),
        ("XDEL", "x600", "1-0", "2-0"),
    ]
    return commands


def _skiplists() -> Commands:
    return [
        ("ZADD", f"z{n}:{width}", *[w for i, m in enumerate(_members(n, width)) for w in (i, m)])
        for n in (1000, 5000)
        for width in (3, 70)
    ]


@pytest.fixture
def both(shared_real_server: RealServer) -> Iterator[tuple[redis.Redis, redis.Redis]]:
    real = redis.Redis(unix_socket_path=shared_real_server.socket_path)
    real.flushall()
    yield real, miniredis.Server(seed=1).client()
    real.close()


def _errors(both: tuple[redis.Redis, redis.Redis], commands: Commands, samples: int) -> list[float]:
    """The error of each key as a share of what the real server says."""
    for command in commands:
        for r in both:
            r.execute_command(*command)
    keys = dict.fromkeys(command[1] for command in commands if command[0] != "XGROUP")
    errors = []
    for key in [k for k in keys if k != "GROUP"]:
        real, mine = (r.memory_usage(key, samples=samples) for r in both)
        errors.append(abs(mine - real) / real)
    return errors


@pytest.mark.parametrize("samples", [5, 0])
@pytest.mark.parametrize("commands", [_strings(), _exact(), _streams()], ids=["s", "t", "x"])
def test_to_the_byte(
    both: tuple[redis.Redis, redis.Redis], commands: Commands, samples: int
) -> None:
    assert not any(_errors(both, commands, samples))


def test_skiplists_have_heights_drawn_at_random(both: tuple[redis.Redis, redis.Redis]) -> None:
    errors = _errors(both, _skiplists(), 0)
    assert max(errors) < 0.02  # six standard deviations at 1,000 members
    assert sum(errors) / len(errors) < 0.01


def test_a_string_that_has_grown_has_room_to_spare(
    both: tuple[redis.Redis, redis.Redis],
) -> None:
    (error,) = _errors(both, [("APPEND", "k", "x" * 50), ("APPEND", "k", "x" * 50)], 0)
    assert 0 < error < 0.5


@pytest.mark.parametrize(
    "words",
    [
        "USAGE",
        "USAGE nothing",
        "USAGE k SAMPLES",
        "USAGE k SAMPLES x",
        "USAGE k SAMPLES -1",
        "USAGE k SAMPLES 3 SAMPLES",
        "USAGE k OTHER 3",
        "STATS x",
        "NOSUCH",
        "PURGE",
        "PURGE x",
    ],
)
def test_answers(both: tuple[redis.Redis, redis.Redis], words: str) -> None:
    def answer(r: redis.Redis) -> object:
        try:
            return r.execute_command("MEMORY", *words.split())
        except redis.ResponseError as error:
            return str(error)

    assert answer(both[0]) == answer(both[1])


def test_stats_has_the_fields_in_order(both: tuple[redis.Redis, redis.Redis]) -> None:
    for r in both:
        r.set("k", "v", ex=100)
    stats = [r.execute_command("MEMORY STATS") for r in both]
    assert list(stats[0]) == list(stats[1])
    assert stats[0]["db.0"] == stats[1]["db.0"]
    for name in ("keys.count", "functions.caches", "cluster.links", "lua.caches"):
        assert stats[0][name] == stats[1][name]


@pytest.mark.parametrize("command", ["MEMORY", "MODULE"])
def test_help_gives_syntax_as_redis_does(
    both: tuple[redis.Redis, redis.Redis], command: str
) -> None:
    lines = [r.execute_command(command, "HELP") for r in both]
    syntax = [[line for line in side if not line.startswith(b"    ")] for side in lines]
    assert syntax[0] == syntax[1]
