"""t_set.py, t_set_algebra.py, t_set_random.py: results, replicas, and random picks."""

from __future__ import annotations

import random
from collections import Counter
from functools import reduce

import pytest

from miniredis.server.server import Server
from tests.commands.conftest import Call


@pytest.fixture
def heard(server: Server) -> list[list[bytes]]:
    """What replicas are told."""
    heard: list[list[bytes]] = []
    server.add_sink(lambda _dbid, argv: heard.append(argv))
    return heard


def fill(call: Call, count: int, prefix: str = "m") -> set[bytes]:
    members = {f"{prefix}{i}".encode() for i in range(count)}
    for member in members:
        call("SADD", "s", member)
    return members


def test_spop_tells_replicas_which_member_went(call: Call, heard: list[list[bytes]]) -> None:
    call("SADD s 1 2 3")
    member = call("SPOP s")
    assert heard[1:] == [[b"SREM", b"s", member]]


def test_spop_of_some_tells_replicas_in_a_transaction(call: Call, heard: list[list[bytes]]) -> None:
    call("SADD s 1 2 3 4 5")
    popped = call("SPOP s 3").items
    assert heard[1:] == [[b"MULTI"], *([b"SREM", b"s", member] for member in popped), [b"EXEC"]]


def test_spop_of_nearly_all_tells_replicas_the_same_way(
    call: Call, heard: list[list[bytes]]
) -> None:
    fill(call, 20)
    del heard[:]
    popped = call("SPOP s 19").items
    assert heard == [[b"MULTI"], *([b"SREM", b"s", member] for member in popped), [b"EXEC"]]
    assert call("SCARD s") == 1


def test_spop_of_all_tells_replicas_a_deletion(call: Call, heard: list[list[bytes]]) -> None:
    call("SADD s 1 2 3")
    assert sorted(call("SPOP s 9").items) == [b"1", b"2", b"3"]
    assert heard[1:] == [[b"DEL", b"s"]]
    assert call("EXISTS s") == 0


def test_what_changes_nothing_is_not_told(call: Call, heard: list[list[bytes]]) -> None:
    call("SADD s 1 2 3")
    for command in ("SADD s 1", "SREM s 9", "SPOP s 0", "SMOVE s t 9", "SRANDMEMBER s 2"):
        call(command)
    call("SINTERSTORE nope s none")
    assert len(heard) == 1


@pytest.mark.parametrize("prefix", ["", "m"], ids=["intset", "hashtable"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.8, 0.9, 0.99, 1, 2])
def test_spop_takes_different_members(call: Call, prefix: str, share: float) -> None:
    members = fill(call, 200, prefix)
    popped = call("SPOP", "s", int(200 * share)).items
    assert len(set(popped)) == len(popped) == min(int(200 * share), 200)
    assert members - set(popped) == set(call("SMEMBERS s").items)


def test_a_few_numbers_left_are_an_intset_again(call: Call) -> None:
    fill(call, 600, "")
    assert call("OBJECT ENCODING s") == b"hashtable"
    call("SPOP s 590")
    assert call("OBJECT ENCODING s") == b"intset"


@pytest.mark.parametrize("prefix", ["", "m"], ids=["intset", "hashtable"])
def test_srandmember_picks_every_member_alike(call: Call, prefix: str) -> None:
    fill(call, 100, prefix)
    picked = Counter(call("SRANDMEMBER s -10000"))
    assert len(picked) == 100
    assert min(picked.values()) > 40
    assert max(picked.values()) < 250


@pytest.mark.parametrize("prefix", ["", "m"], ids=["intset", "hashtable"])
@pytest.mark.parametrize("share", [0.1, 0.33, 0.34, 0.9, 1, 2])
def test_srandmember_of_different_members(call: Call, prefix: str, share: float) -> None:
    members = fill(call, 200, prefix)
    found = call("SRANDMEMBER", "s", int(200 * share))
    assert len(set(found)) == len(found) == min(int(200 * share), 200)
    assert set(found) <= members


def test_algebra_agrees_with_python(call: Call) -> None:
    """Sizes are such that both ways of SDIFF are taken."""
    rng = random.Random(5)
    for trial in range(60):
        call("FLUSHALL")
        sets: list[set[bytes]] = []
        for i in range(rng.randrange(1, 5)):
            size = rng.choice([0, 1, 5, 40])
            words = [b"%d" % n if trial % 2 else b"w%d" % n for n in range(50)]
            sets.append(set(rng.sample(words, size)))
            if sets[i]:
                call("SADD", f"s{i}", *sets[i])
        keys = [f"s{i}" for i in range(len(sets))]
        inter, union = reduce(set.intersection, sets), reduce(set.union, sets)
        diff = sets[0].difference(*sets[1:])
        for name, expected in (("SINTER", inter), ("SUNION", union), ("SDIFF", diff)):
            assert set(call(name, *keys).items) == expected
            assert call(f"{name}STORE", "dst", *keys) == len(expected)
            assert set(call("SMEMBERS dst").items) == expected
        assert call("SINTERCARD", len(keys), *keys) == len(inter)
        assert call("SINTERCARD", len(keys), *keys, "LIMIT", 3) == min(len(inter), 3)


def test_smove(call: Call) -> None:
    call("SADD a 1 2")
    assert call("SMOVE a b 1") == 1
    assert call("SMOVE a b 1") == 0
    assert call("SMOVE a b 2") == 1
    assert call("EXISTS a") == 0
    assert call("SMEMBERS b").items == [b"1", b"2"]


def test_debug_htstats_key_wants_a_table(call: Call) -> None:
    call("SADD s 1")
    message = "ERR The value stored at the specified key is not represented using an hash table"
    assert call("DEBUG HTSTATS-KEY s") == message
    call("SADD s x")
    assert "number of elements: 2" in call("DEBUG HTSTATS-KEY s")
    assert call("DEBUG HTSTATS-KEY nope") == "ERR no such key"
