"""db.py: look-ups, lazy expiry, and how often each command touches each dict."""

from __future__ import annotations

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.keyspace.db import NO_EXPIRE

START = 1_391_234_400_000

# Steps of the main dict and of the expires dict per command, as on the real server.
STEPS = [
    # command, key has a TTL (None: no key), steps of dict, steps of expires
    ("SET k v", None, 3, 1),
    ("SET k v PX 5000", None, 4, 2),
    ("SET k v", False, 3, 2),
    ("SET k v PX 5000", False, 4, 3),
    ("SET k v", True, 4, 2),
    ("SET k v PX 5000", True, 5, 3),
    ("GET k", None, 1, 0),
    ("GET k", False, 1, 1),
    ("GET k", True, 2, 1),
    ("EXISTS k", True, 2, 1),
    ("EXPIRE k 100", False, 2, 2),
    ("EXPIRE k 100", True, 3, 2),
    ("PERSIST k", False, 2, 2),
    ("PERSIST k", True, 3, 2),
    ("TTL k", False, 1, 2),
    ("TTL k", True, 3, 2),
    ("DEL k", False, 1, 2),
    ("DEL k", True, 2, 2),
    ("DBSIZE", True, 0, 0),
]


def make() -> Server:
    return Server(VirtualClock(START), seed=1, cost=FREE)


def run(server: Server, *words: str) -> object:
    c = next(iter(server.clients.values()), None) or server.create_client()
    return server.process_command(c, [word.encode() for word in words])


@pytest.mark.parametrize(("command", "ttl", "main", "expires"), STEPS)
def test_steps_per_command(command: str, ttl: bool | None, main: int, expires: int) -> None:
    server = make()
    for i in range(64):
        run(server, "SET", f"other{i}", "x", "PX", "100000")
    if ttl is not None:
        run(server, "SET", "k", "old", *(["PX", "9000"] if ttl else []))
    db = server.databases[0]
    for d in (db.dict, db.expires):
        while d.is_rehashing():
            d.rehash(100)
        # A rehash into a table so large that no command finishes it or starts another.
        assert d.expand(4096)
    before = (db.dict.rehashidx, db.expires.rehashidx)
    counts = []
    for d in (db.dict, db.expires):
        steps = [0]
        counts.append(steps)
        _count_steps(d, steps)
    assert before == (0, 0)
    run(server, *command.split())
    assert [steps[0] for steps in counts] == [main, expires]


def _count_steps(d: object, steps: list[int]) -> None:
    """Count calls of rehash_step() by standing in for the dict's class."""
    original = type(d)

    class Counting(original):  # type: ignore[misc,valid-type]
        __slots__ = ()

        def rehash_step(self) -> None:
            steps[0] += 1

    d.__class__ = Counting  # type: ignore[assignment]


def test_lazy_expiry_is_exact_to_the_millisecond() -> None:
    server = make()
    server.active_expire_enabled = False
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    run(server, "SET", "k", "v", "PXAT", str(START + 5))
    clock.advance(5)
    assert run(server, "GET", "k") == b"v"
    assert run(server, "PTTL", "k") == 0
    clock.advance(1)
    assert server.dbsize() == 1
    assert run(server, "GET", "k") is None
    assert server.dbsize() == 0
    server._check()


def test_set_expire_shares_the_key_object() -> None:
    server = make()
    run(server, "SET", "k", "v")
    run(server, "EXPIRE", "k", "10")
    db = server.databases[0]
    assert db.expires.index[b"k"].key is db.dict.index[b"k"].key
    db._check()


def test_time_stands_still_inside_a_transaction() -> None:
    """Look-ups see one instant; TTL reads the clock afresh."""
    server = make()
    clock = server.clock
    run(server, "SET", "k", "v", "PX", "30")
    run(server, "MULTI")
    for command in ("GET k", "DEBUG SLEEP 0.06", "GET k", "PTTL k", "EXISTS k"):
        run(server, *command.split())
    assert run(server, "EXEC")[0::2] == [b"v", b"v", 1]  # type: ignore[index]
    assert clock.ms() == START + 60
    assert run(server, "EXISTS", "k") == 0


def test_swapdb_takes_the_cursor_along() -> None:
    server = make()
    run(server, "SET", "k", "v", "PX", "1000")
    one, two = server.databases[0], server.databases[1]
    one.expires_cursor, one.avg_ttl = 17, 950
    run(server, "SWAPDB", "0", "1")
    assert (two.expires_cursor, two.avg_ttl, len(two)) == (17, 950, 1)
    assert len(one) == 0
    server._check()


def test_randomkey_ends_even_when_nothing_can_be_deleted() -> None:
    server = make()
    for i in range(5):
        run(server, "SET", f"k{i}", "v", "PX", "10")
    run(server, "CLIENT", "PAUSE", "100000", "WRITE")
    server.clock.sleep(1)
    assert run(server, "RANDOMKEY") is not None
    assert server.databases[0].get_expire(b"none") == NO_EXPIRE
