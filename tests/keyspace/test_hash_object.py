"""hash_object.py: when a listpack becomes a hash table, and what stays the same."""

from __future__ import annotations

import random

import pytest

from miniredis.keyspace.hash_object import HashObject
from miniredis.keyspace.listpack_size import LISTPACK_MAX_SAFETY_SIZE, listpack_bytes
from tests.keyspace.values import FakeServer, digest_of

SERVER = FakeServer()
Pairs = list[tuple[bytes, bytes]]


def make(pairs: Pairs, server: FakeServer = SERVER) -> HashObject:
    h = HashObject()
    for field, value in pairs:
        h.set(field, value, server)
    h._check()
    return h


def pairs(count: int) -> Pairs:
    return [(b"%d" % i, b"v%d" % i) for i in range(count)]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (pairs(512), "listpack"),
        (pairs(513), "hashtable"),
        ([(b"f" * 64, b"v" * 64)], "listpack"),
        ([(b"f" * 65, b"v")], "hashtable"),
        ([(b"f", b"v" * 65)], "hashtable"),
    ],
)
def test_encoding(content: Pairs, encoding: str) -> None:
    h = make(content)
    assert h.encoding == encoding
    assert len(h) == len(content)
    assert sorted(h.items()) == sorted(content)
    assert sorted(h) == sorted(field for field, _ in content)


def test_a_listpack_keeps_the_order_of_insertion() -> None:
    h = make([(b"b", b"1"), (b"a", b"2"), (b"c", b"3")])
    assert not h.set(b"b", b"9", SERVER)
    assert list(h.items()) == [(b"b", b"9"), (b"a", b"2"), (b"c", b"3")]
    assert h.delete(b"b")
    assert not h.delete(b"b")
    assert h.set(b"b", b"1", SERVER)
    assert list(h) == [b"a", b"c", b"b"]


def test_try_conversion_looks_at_all_that_will_be_added() -> None:
    h = make(pairs(3))
    h.try_conversion((b"f", b"v", b"g", b"w" * 65), SERVER)
    assert h.encoding == "hashtable"
    assert h.ht is not None
    assert h.ht.slots() == 4, "sized for what was there"


def test_changing_a_field_obeys_a_threshold_that_was_lowered() -> None:
    h = make(pairs(3))
    h.put(b"1", b"x", FakeServer(hash_max_listpack_entries=2))
    assert h.encoding == "hashtable"


def test_no_listpack_of_more_than_a_gigabyte() -> None:
    server = FakeServer(hash_max_listpack_value=2**40, hash_max_listpack_entries=2**40)
    h = make(pairs(3), server)
    left = LISTPACK_MAX_SAFETY_SIZE - listpack_bytes([part for pair in pairs(3) for part in pair])
    assert h._safe_to_add(left, server)
    assert not h._safe_to_add(left + 1, server)
    assert h._safe_to_add(left, SERVER), "cannot come to that with the usual limits"


@pytest.mark.parametrize("count", [50, 600])
def test_copy(count: int) -> None:
    h = make(pairs(count))
    other = h.copy(random.Random(2))
    other._check()
    assert other.encoding == h.encoding
    assert digest_of(other) == digest_of(h)
    other.set(b"1", b"other", SERVER)
    other.delete(b"2")
    assert sorted(h.items()) == sorted(pairs(count))


@pytest.mark.parametrize(
    ("count", "removed", "entries", "value", "encoding"),
    [
        (5, 0, 512, 64, "listpack"),
        (5, 0, 4, 64, "hashtable"),
        (5, 0, 512, 1, "listpack"),  # a saved listpack is taken as it is
        (600, 0, 512, 64, "hashtable"),
        (600, 100, 512, 64, "listpack"),
        (600, 100, 512, 3, "hashtable"),
    ],
)
def test_reload(count: int, removed: int, entries: int, value: int, encoding: str) -> None:
    h = make(pairs(count))
    for i in range(removed):
        h.delete(b"%d" % i)
    config = {"hash_max_listpack_entries": entries, "hash_max_listpack_value": value}
    loaded = h.reloaded(FakeServer(**config))
    loaded._check()
    assert loaded.encoding == encoding
    assert sorted(loaded.items()) == sorted(h.items())
    assert digest_of(loaded) == digest_of(h)


def test_every_field_can_be_picked() -> None:
    rng = random.Random(3)
    for count in (20, 600):
        h = make(pairs(count))
        assert {h.random_element(rng) for _ in range(20 * count)} == set(pairs(count))


def test_unique_pairs_of_a_listpack_are_each_as_likely() -> None:
    h, rng = make(pairs(5)), random.Random(4)
    picked = [h.random_pairs_unique(2, rng) for _ in range(5000)]
    assert all(len(found) == 2 and found == sorted(found) for found in picked)
    for pair in pairs(5):
        assert 1900 < sum(pair in found for found in picked) < 2100, "2 of 5"
