"""The value of a stream, against a list of entries."""

from __future__ import annotations

import random

import pytest

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.stream_group import StreamCG, StreamConsumer
from miniredis.keyspace.stream_id import MAX_ID, format_id, next_id, stream_id
from miniredis.keyspace.stream_object import Stream

MAX_BYTES = 4096
FIELDS = (b"field", b"value")


def stream_of(ids: list[int], max_entries: int) -> Stream:
    s = Stream()
    for id in ids:
        s.append(id, FIELDS, MAX_BYTES, max_entries)
        s._check()
    return s


def ids_of(s: Stream, *args: int, rev: bool = False) -> list[int]:
    return [id for id, _ in s.range(*args, rev=rev)]


@pytest.mark.parametrize("max_entries", [1, 2, 7, 100])
@pytest.mark.parametrize("seed", range(5))
def test_ranges_and_deletions(seed: int, max_entries: int) -> None:
    rng = random.Random(seed)
    model = sorted(rng.sample(range(1, 300), 60))
    s = stream_of(model, max_entries)
    while model:
        start, end = rng.randrange(310), rng.randrange(310)
        inside = [id for id in model if start <= id <= end]
        assert ids_of(s, start, end) == inside
        assert ids_of(s, start, end, rev=True) == inside[::-1]
        gone = rng.choice([rng.choice(model), rng.randrange(310)])
        assert s.delete_ids([gone]) == (gone in model)
        model = [id for id in model if id != gone]
        s._check()
        assert len(s) == len(model)
        assert s.first_id == (model[0] if model else 0)
        assert (s.get(gone) is None) and (not model or s.get(model[0]) == FIELDS)
    assert not s.nodes


@pytest.mark.parametrize("max_entries", [1, 3, 100])
@pytest.mark.parametrize("approx", [False, True])
def test_trimming(max_entries: int, approx: bool) -> None:
    for maxlen in range(12):
        s = stream_of(list(range(1, 11)), max_entries)
        deleted = s.trim(maxlen=maxlen, approx=approx)
        s._check()
        assert ids_of(s) == list(range(1 + deleted, 11))
        excess = len(s) - min(maxlen, 10)
        assert 0 <= excess < max_entries if approx else excess == 0
        s = stream_of(list(range(1, 11)), max_entries)
        deleted = s.trim(minid=maxlen, approx=approx)
        s._check()
        assert ids_of(s) == list(range(1 + deleted, 11))
        excess = min(max(maxlen - 1, 0), 10) - deleted
        assert 0 <= excess < max_entries if approx else excess == 0


def test_a_limit_is_never_exceeded() -> None:
    s = stream_of(list(range(1, 11)), 3)
    assert s.trim(maxlen=0, approx=True, limit=7) == 6
    assert s.trim(maxlen=0, approx=True, limit=2) == 0


def test_a_node_is_full_when_its_bytes_are() -> None:
    s = Stream()
    for id in range(1, 20):
        s.append(id, (b"f", b"x" * 100), 400, 0)
        s._check()
    assert {len(node.ids) for node in s.nodes} == {3, 1}


def test_going_back_below_a_tombstone() -> None:
    """XSETID may set the last ID below that of a deleted entry."""
    s = stream_of([5, 10], 100)
    s.delete_ids([10])
    s.last_id = 5
    s.append(7, FIELDS, MAX_BYTES, 100)
    s._check()
    assert ids_of(s) == [5, 7] == ids_of(s, 0, MAX_ID, rev=True)[::-1]
    assert ids_of(s, 6) == [7] == ids_of(s, 7, 7)


def test_copy_shares_nothing() -> None:
    s = stream_of([1, 2, 3], 2)
    group = s.cgroups[b"g"] = StreamCG(2, 2)
    consumer = group.consumers[b"c"] = StreamConsumer(b"c", 5)
    group.deliver(1, consumer, 7)
    other = s.copy()
    other._check()
    one, two = Digest(), Digest()
    s.add_to_digest(one)
    other.add_to_digest(two)
    assert one.hex() == two.hex()
    assert s.rdb_saved_len() == other.rdb_saved_len()
    s.delete_ids([1])
    s.append(9, FIELDS, MAX_BYTES, 2)
    group.acknowledge(1)
    assert ids_of(other) == [1, 2, 3]
    assert list(other.cgroups[b"g"].pel) == [1]


def test_ids() -> None:
    assert format_id(stream_id(5, 2)) == b"5-2"
    assert next_id(stream_id(5, 2), 5) == stream_id(5, 3)
    assert next_id(stream_id(5, 2), 6) == stream_id(6, 0)
    assert next_id(stream_id(5, 2**64 - 1), 5) == stream_id(6, 0)
    assert next_id(MAX_ID, 5) is None
