"""set_object.py: when an intset becomes a hash table, and what stays the same."""

from __future__ import annotations

import random

import pytest

from miniredis.keyspace.set_object import SetObject
from tests.keyspace.values import FakeServer, digest_of

SERVER = FakeServer()


def make(*members: bytes, server: FakeServer = SERVER) -> SetObject:
    s = SetObject()
    for member in members:
        s.add(member, server)
    s._check()
    return s


def numbers(count: int) -> list[bytes]:
    return [b"%d" % i for i in range(count)]


@pytest.mark.parametrize(
    ("members", "encoding"),
    [
        ([b"1", b"-5"], "intset"),
        (numbers(512), "intset"),
        (numbers(513), "hashtable"),
        ([b"1", b"x"], "hashtable"),
        ([b"01"], "hashtable"),
        ([b"%d" % (2**63 - 1)], "intset"),
        ([b"%d" % 2**63], "hashtable"),
        ([b""], "hashtable"),
    ],
)
def test_encoding(members: list[bytes], encoding: str) -> None:
    s = make(*members)
    assert s.encoding == encoding
    assert sorted(s) == sorted(members)
    assert len(s) == len(members)


def test_it_stays_a_hash_table() -> None:
    s = make(b"1", b"x")
    assert s.remove(b"x")
    assert not s.remove(b"x")
    assert s.encoding == "hashtable"
    assert s.is_member(b"1")
    assert not s.is_member(b"2")


def test_a_conversion_makes_a_table_of_the_right_size() -> None:
    s = make(*numbers(512))
    s.add(b"x", SERVER)
    assert s.ht is not None
    # 512 buckets for the numbers; the next member fills them beyond, and a rehash begins.
    assert [len(table) for table in s.ht.ht_table] == [512, 1024]


def test_a_nearly_empty_table_shrinks() -> None:
    s = make(b"x", *numbers(100))
    assert s.ht is not None
    for member in numbers(88):
        s.remove(member)
    assert not s.ht.is_rehashing(), "13 of 128 is 10 %"
    s.remove(b"88")
    assert [len(table) for table in s.ht.ht_table] == [128, 16]


def test_a_huge_threshold_is_cut() -> None:
    s = make(b"1", server=FakeServer(set_max_intset_entries=2**62))
    assert s.encoding == "intset"


@pytest.mark.parametrize("members", [numbers(50), [b"x", *numbers(50)]])
def test_copy(members: list[bytes]) -> None:
    s = make(*members)
    other = s.copy(random.Random(2))
    other._check()
    assert other.encoding == s.encoding
    assert digest_of(other) == digest_of(s)
    other.add(b"new", SERVER)
    other.remove(b"1")
    assert sorted(s) == sorted(members)


@pytest.mark.parametrize(
    ("members", "removed", "threshold", "encoding"),
    [
        (numbers(5), [], 512, "intset"),
        (numbers(5), [], 4, "hashtable"),
        ([b"x", *numbers(5)], [b"x"], 512, "intset"),
        ([b"x", *numbers(5)], [b"x"], 4, "hashtable"),
        ([b"x", *numbers(5)], [b"1"], 512, "hashtable"),
        (numbers(600), numbers(90), 512, "intset"),
    ],
)
def test_reload(members: list[bytes], removed: list[bytes], threshold: int, encoding: str) -> None:
    s = make(*members)
    for member in removed:
        s.remove(member)
    loaded = s.reloaded(FakeServer(set_max_intset_entries=threshold))
    loaded._check()
    assert loaded.encoding == encoding
    assert sorted(loaded) == sorted(s)
    assert digest_of(loaded) == digest_of(s)


def test_every_member_can_be_picked() -> None:
    for members in (numbers(20), [b"x", *numbers(20)]):
        s = make(*members)
        rng = random.Random(3)
        assert {s.random_element(rng) for _ in range(2000)} == set(members)
