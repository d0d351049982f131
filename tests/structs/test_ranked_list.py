"""ranked_list.py against a plain sorted list."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort

import pytest

from miniredis.structs.ranked_list import BLOCK, MERGE_BELOW, RankedList

Pair = tuple[float, bytes]


def make(count: int, scores: int, seed: int = 1) -> tuple[RankedList, list[Pair]]:
    rng = random.Random(seed)
    pairs = [(float(rng.randrange(scores)), b"m%d" % i) for i in range(count)]
    ranked = RankedList(pairs)
    ranked._check()
    return ranked, sorted(pairs)


def compare(ranked: RankedList, model: list[Pair], rng: random.Random) -> None:
    """A few places of both."""
    ranked._check()
    assert len(ranked) == len(model)
    for _ in range(5):
        start, stop = rng.randrange(len(model) + 1), rng.randrange(len(model) + 9)
        assert ranked.pairs(start, stop) == model[start:stop]
        assert ranked.members(start, stop) == [member for _, member in model[start:stop]]
        score, member = float(rng.randrange(-1, 400)), b"m%d" % rng.randrange(5000)
        assert ranked.position(score, member) == bisect_left(model, (score, member))
        for after, bisect in ((False, bisect_left), (True, bisect_right)):
            assert ranked.score_position(score, after) == bisect(model, score, key=lambda p: p[0])
    if model:
        pair = rng.choice(model)
        assert ranked.position(*pair) == model.index(pair)
        assert (ranked.first(), ranked.last()) == (model[0], model[-1])


@pytest.mark.parametrize("count", [0, 1, 7, BLOCK, BLOCK + 1, 2 * BLOCK, 5 * BLOCK + 3])
@pytest.mark.parametrize("scores", [1, 7, 10**6])
def test_reading(count: int, scores: int) -> None:
    ranked, model = make(count, scores)
    assert list(ranked) == model
    assert list(reversed(ranked)) == model[::-1]
    rng = random.Random(2)
    for _ in range(20):
        compare(ranked, model, rng)


@pytest.mark.parametrize("scores", [1, 5, 300, 10**6])
def test_growing_and_shrinking(scores: int) -> None:
    """Blocks are split on the way up and merged on the way down."""
    rng = random.Random(scores)
    ranked, model = RankedList(), []
    for i in range(4 * BLOCK):
        pair = float(rng.randrange(scores)), b"m%d" % rng.randrange(10**6) + b"-%d" % i
        ranked.add(*pair)
        insort(model, pair)
        if i % 97 == 0:
            compare(ranked, model, rng)
    while model:
        pair = model.pop(rng.randrange(len(model)))
        ranked.remove(*pair)
        if len(model) % 97 == 0 or len(model) < 3:
            compare(ranked, model, rng)
    assert list(ranked) == []
    ranked.add(1.0, b"again")
    assert ranked.first() == ranked.last() == (1.0, b"again")


def test_in_order_and_against_it() -> None:
    up, down = RankedList(), RankedList()
    for i in range(3 * BLOCK):
        up.add(float(i), b"x")
        down.add(float(-i), b"x")
    up._check()
    down._check()
    assert up.pairs(0, 3) == [(0.0, b"x"), (1.0, b"x"), (2.0, b"x")]
    assert down.last() == (0.0, b"x")


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 0), (0, 1), (0, BLOCK), (5, 3 * BLOCK), (BLOCK, 2 * BLOCK), (0, 5 * BLOCK), (9, 9)],
)
def test_deleting_ranges(start: int, stop: int) -> None:
    ranked, model = make(5 * BLOCK, 50)
    assert ranked.delete_range(start, stop) == [member for _, member in model[start:stop]]
    del model[start:stop]
    compare(ranked, model, random.Random(3))
    ranked.add(7.0, b"new")
    insort(model, (7.0, b"new"))
    compare(ranked, model, random.Random(4))


def test_deleting_from_one_side_merges_blocks() -> None:
    ranked, model = make(6 * BLOCK, 10**6)
    for pair in model[: 5 * BLOCK + BLOCK // 2]:
        ranked.remove(*pair)
    ranked._check()
    assert all(len(members) >= MERGE_BELOW for members in ranked._members)
    assert list(ranked) == model[5 * BLOCK + BLOCK // 2 :]


def test_equal_zeros() -> None:
    """-0 and 0 are the same score; the member decides, and the sign stays."""
    ranked = RankedList([(0.0, b"b"), (-0.0, b"c")])
    ranked.add(-0.0, b"a")
    assert [member for _, member in ranked] == [b"a", b"b", b"c"]
    assert [str(score) for score, _ in ranked] == ["-0.0", "0.0", "-0.0"]
    ranked.remove(0.0, b"a")
    assert len(ranked) == 2


def test_removing_what_is_not_there() -> None:
    ranked = RankedList([(1.0, b"a"), (2.0, b"b")])
    with pytest.raises(AssertionError, match="not there"):
        ranked.remove(1.0, b"b")
