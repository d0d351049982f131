"""pqsort.py: what is asked for is sorted, and nothing is lost."""

from __future__ import annotations

import random

import pytest

from miniredis.structs.pqsort import pqsort


def compare(a: int, b: int) -> int:
    return (a > b) - (a < b)


@pytest.mark.parametrize("n", [0, 1, 2, 6, 7, 8, 40, 41, 300])
def test_the_part_asked_for_is_sorted(n: int) -> None:
    rng = random.Random(n)
    for _ in range(50):
        items = [rng.randrange(max(n // 2, 2)) for _ in range(n)]
        expected = sorted(items)
        first = rng.randrange(n + 1)
        last = rng.randrange(first - 1, n) if n else -1
        pqsort(items, compare, first, last)
        assert items[first : last + 1] == expected[first : last + 1]
        assert sorted(items) == expected


def test_less_is_compared_than_for_sorting_all() -> None:
    calls = [0, 0]

    def counting(which: int, items: list[int], last: int) -> None:
        def cmp(a: int, b: int) -> int:
            calls[which] += 1
            return compare(a, b)

        pqsort(items, cmp, 0, last)

    items = list(range(2_000))
    random.Random(1).shuffle(items)
    counting(0, list(items), 9)
    counting(1, list(items), 1_999)
    assert calls[0] * 3 < calls[1]


def test_equal_elements_end_up_where_the_algorithm_leaves_them() -> None:
    """Worked out by hand: the pivot of seven is the middle one, and goes to the front."""
    items = [(0, name) for name in "abcdefg"]
    pqsort(items, lambda a, b: 0, 0, 2)
    assert "".join(name for _, name in items) == "dbcaefg"
