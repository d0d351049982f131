"""dict.py: layout, incremental rehash, scan cursor, random picks."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from miniredis.structs.dict import Dict, DictResize, next_cursor
from miniredis.structs.hashing import fast_hash


def make(buckets: dict[bytes, int] | None = None, seed: int = 1) -> Dict:
    """A dict whose hash is imposed by *buckets*, or the seeded one."""
    hash_function = fast_hash(seed) if buckets is None else buckets.__getitem__
    return Dict(hash_function, random.Random(seed))


def chains(d: Dict, table: int = 0) -> dict[int, list[bytes]]:
    """Non-empty buckets of a table as lists of keys, head first."""
    found: dict[int, list[bytes]] = {}
    for i, entry in enumerate(d.ht_table[table]):
        while entry is not None:
            found.setdefault(i, []).append(entry.key)
            entry = entry.next
    return found


def test_first_insertion_makes_four_buckets_and_chains_grow_at_the_head() -> None:
    d = make({b"a": 1, b"b": 5, b"c": 1})
    assert d.slots() == 0
    for key in (b"a", b"b", b"c"):
        d.add(key, None)
    assert d.slots() == 4
    assert chains(d) == {1: [b"c", b"b", b"a"]}
    d._check()


def test_growth_splits_and_reverses_chains() -> None:
    d = make({b"a": 1, b"b": 5, b"c": 1, b"d": 2, b"e": 3})
    for key in (b"c", b"b", b"a", b"d"):
        d.add(key, None)
    assert chains(d) == {1: [b"a", b"b", b"c"], 2: [b"d"]}
    d.add(b"e", None)  # the fifth: a table of 8 is begun, the new key goes there
    assert (len(d.ht_table[0]), len(d.ht_table[1])) == (4, 8)
    assert d.rehashidx == 0
    assert chains(d, 1) == {3: [b"e"]}
    while d.is_rehashing():
        d.rehash_step()
        d._check()
    assert chains(d) == {1: [b"c", b"a"], 5: [b"b"], 2: [b"d"], 3: [b"e"]}


def test_shrinking_joins_chains_in_ascending_order_reversed() -> None:
    d = make({b"a": 1, b"b": 1, b"c": 5, b"d": 5})
    d.expand(8)
    for key in (b"b", b"a", b"d", b"c"):
        d.add(key, None)
    assert chains(d) == {1: [b"a", b"b"], 5: [b"c", b"d"]}
    assert d.resize()
    while d.is_rehashing():
        d.rehash_step()
    assert chains(d) == {1: [b"d", b"c", b"b", b"a"]}


def test_every_operation_moves_one_bucket() -> None:
    d = make({bytes([i]): i for i in range(64)})
    for i in range(17):
        d.add(bytes([i]), i)
    assert d.is_rehashing()
    start = d.rehashidx
    d.find(b"\x00")
    d.delete(b"\x01")
    d.find(b"missing")
    assert d.rehashidx == start + 3
    d.pauserehash += 1
    d.find(b"\x00")
    assert d.rehashidx == start + 3
    d.pauserehash -= 1


def test_an_empty_dict_does_not_step() -> None:
    d = make({bytes([i]): i for i in range(8)})
    for i in range(5):
        d.add(bytes([i]), i)
    for i in range(5):
        d.index.pop(bytes([i]))
    at = d.rehashidx
    d.find(b"\x00")
    d.delete(b"\x00")
    assert d.rehashidx == at


@given(st.integers(0, 10_000), st.integers(1, 400), st.booleans())
def test_the_step_of_an_operation_is_a_rehash_of_one(seed: int, keys: int, shrink: bool) -> None:
    rng = random.Random(seed)
    names = [b"%d" % i for i in range(keys)]
    hashes = {name: rng.randrange(4096) for name in names}
    one, other = make(hashes), make(hashes)
    for d in (one, other):
        d.expand(1024 if shrink else 16)
        for name in names:
            d.add(name, None)
        d.resize()
    while one.is_rehashing():
        one.rehash_step()
        other.rehash(1)
        assert (one.rehashidx, one.ht_used) == (other.rehashidx, other.ht_used)
        assert (one.rehash_passed, one.rehash_moved) == (other.rehash_passed, other.rehash_moved)
    assert not other.is_rehashing()
    assert chains(one) == chains(other)
    one._check()


def test_rehash_passes_over_at_most_ten_empty_buckets_a_step() -> None:
    d = make({b"x": 63, b"y": 62})
    d.expand(64)
    d.add(b"x", None)
    d.add(b"y", None)
    d.expand(128)
    assert d.rehash(1)
    assert d.rehashidx == 10
    assert d.rehash(5)
    assert d.rehashidx == 60
    assert not d.rehash(2)
    assert len(d.ht_table[0]) == 128


def test_expand_refuses() -> None:
    d = make()
    for i in range(4):
        d.add(b"%d" % i, i)
    assert not d.expand(3)  # fewer than the entries
    assert not d.expand(4)  # the size it has
    assert d.expand(16)
    assert not d.expand(32)  # already rehashing


@pytest.mark.parametrize(("mode", "grown"), [(DictResize.AVOID, 24), (DictResize.FORBID, None)])
def test_growth_while_a_child_lives(mode: DictResize, grown: int | None) -> None:
    d = make()
    d.can_resize = mode
    for i in range(40):
        before = d.is_rehashing()
        d.add(b"%d" % i, i)
        if d.is_rehashing() and not before:
            assert i == grown  # more than five entries per bucket of four
            return
    assert grown is None


def test_scan_order_of_a_quiet_table() -> None:
    d = make({bytes([i]): i for i in range(8)})
    d.expand(8)
    for i in range(8):
        d.add(bytes([i]), i)
    cursor, order, cursors = 0, [], []
    while True:
        cursor, entries = d.scan(cursor)
        order += [entry.key[0] for entry in entries]
        cursors.append(cursor)
        if cursor == 0:
            break
    assert order == [0, 4, 2, 6, 1, 5, 3, 7]
    assert cursors == [4, 2, 6, 1, 5, 3, 7, 0]


def reverse_bits(v: int) -> int:
    return int(f"{v:064b}"[::-1], 2)


@pytest.mark.parametrize("bits", range(2, 8))
def test_the_cursor_counts_as_in_redis(bits: int) -> None:
    """There: set the bits above the mask, reverse all 64, add 1, reverse back."""
    mask = (1 << bits) - 1
    for cursor in range(4 * mask):
        reversed_cursor = reverse_bits(cursor | (~mask & (1 << 64) - 1)) + 1
        assert next_cursor(cursor, mask) == reverse_bits(reversed_cursor & (1 << 64) - 1)


@pytest.mark.parametrize("seed", range(20))
def test_scan_returns_all_that_stays_while_the_table_changes(seed: int) -> None:
    rng = random.Random(seed)
    d = make(seed=seed)
    stay = {b"stay:%d" % i for i in range(rng.randrange(1, 300))}
    for key in stay:
        d.add(key, None)
    seen: set[bytes] = set()
    cursor, extra = 0, 0
    while True:
        cursor, entries = d.scan(cursor)
        seen.update(entry.key for entry in entries)
        if cursor == 0:
            break
        for _ in range(rng.randrange(20)):
            if rng.random() < 0.6:
                d.add(b"extra:%d" % extra, None)
                extra += 1
            else:
                d.delete(b"extra:%d" % rng.randrange(extra + 1))
        if rng.random() < 0.1:
            d.resize()
    assert stay <= seen
    d._check()


def test_random_keys_reach_every_entry_about_equally_often() -> None:
    d = make(seed=3)
    for i in range(100):
        d.add(b"%d" % i, i)
    picks = Counter()
    for _ in range(20_000):
        entry = d.get_fair_random_key()
        assert entry is not None
        picks[entry.key] += 1
    assert len(picks) == 100
    assert min(picks.values()) > 40
    assert max(picks.values()) < 600


def test_some_keys_never_returns_more_than_asked() -> None:
    d = make(seed=4)
    for i in range(1000):
        d.add(b"%d" % i, i)
    for count in (1, 5, 50):
        for _ in range(50):
            found = d.get_some_keys(count)
            assert 0 < len(found) <= count
            assert len({entry.key for entry in found}) == len(found)
    assert make().get_some_keys(5) == []
    assert make().get_fair_random_key() is None


class DictMachine(RuleBasedStateMachine):
    """A Dict beside a plain dict, with every invariant checked after every step."""

    keys = st.integers(0, 60).map(lambda i: b"k%d" % i)

    @initialize(seed=st.integers(0, 2**32))
    def start(self, seed: int) -> None:
        self.d = make(seed=seed)
        self.model: dict[bytes, int] = {}

    @rule(key=keys, value=st.integers())
    def add(self, key: bytes, value: int) -> None:
        entry = self.d.add(key, value)
        assert (entry is None) == (key in self.model)
        self.model.setdefault(key, value)

    @rule(key=keys)
    def delete(self, key: bytes) -> None:
        entry = self.d.delete(key)
        assert (None if entry is None else entry.val) == self.model.pop(key, None)

    @rule(key=keys)
    def find(self, key: bytes) -> None:
        entry = self.d.find(key)
        assert (None if entry is None else entry.val) == self.model.get(key)

    @rule(size=st.integers(0, 200))
    def expand(self, size: int) -> None:
        self.d.expand(size)

    @rule()
    def shrink(self) -> None:
        self.d.resize()

    @rule(n=st.integers(1, 20))
    def rehash(self, n: int) -> None:
        self.d.rehash(n)

    @rule(mode=st.sampled_from(list(DictResize)))
    def set_mode(self, mode: DictResize) -> None:
        self.d.can_resize = mode

    @rule()
    def empty(self) -> None:
        self.d.empty()
        self.model.clear()

    @rule(count=st.integers(1, 20))
    def pick(self, count: int) -> None:
        assert {e.key for e in self.d.get_some_keys(count)} <= set(self.model)
        entry = self.d.get_random_key()
        assert (entry is None) == (not self.model)

    @invariant()
    def agrees(self) -> None:
        if hasattr(self, "d"):
            self.d._check()
            assert {e.key for e in self.d.entries()} == set(self.model)
            assert len(self.d) == len(self.model)


TestDictMachine = DictMachine.TestCase
TestDictMachine.settings = settings(
    max_examples=100, stateful_step_count=50, deadline=None, derandomize=True
)
