"""Quicksort that stops where nobody will look: only a part of the result gets sorted.

Redis: pqsort.c, after Bentley and McIlroy, "Engineering a Sort Function" (1993).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Compare = Callable[[T, T], int]  # < 0, 0 or > 0, as for C's qsort()

INSERTION_SORT_BELOW = 7  # elements; as few are sorted by insertion
MEDIAN_OF_9_ABOVE = 40  # elements; of so many the pivot is chosen with more care


def pqsort(items: list[T], compare: Compare[T], first: int, last: int) -> None:
    """Order *items* in place as far as the positions *first* to *last*, both included, need.

    What stands there is what a full sort would put there; the rest is in some order. Equal
    elements come in the order that Redis's procedure leaves them in, which is not the one
    they had. O(N + M log M) on average for M positions. pqsort.c: pqsort()
    """
    parts = [(0, len(items))]
    while parts:
        start, size = parts.pop()
        if size < INSERTION_SORT_BELOW:
            _insertion_sort(items, start, size, compare)
            continue
        smaller, larger = _partition(items, start, size, compare)
        # Both ends that hold more than one element, unless they lie outside the positions.
        for part, count in (
            (start, smaller),
            (start + size - larger, larger),
        ):
            if count > 1 and not (last < part or first > part + count - 1):
                parts.append((part, count))


def _insertion_sort(items: list[T], start: int, size: int, compare: Compare[T]) -> None:
    for i in range(start + 1, start + size):
        at = i
        while at > start and compare(items[at - 1], items[at]) > 0:
            items[at - 1], items[at] = items[at], items[at - 1]
            at -= 1


def _median(items: list[T], a: int, b: int, c: int, compare: Compare[T]) -> int:
    """The position of the middle one of three elements. pqsort.c: med3()"""
    if compare(items[a], items[b]) < 0:
        if compare(items[b], items[c]) < 0:
            return b
        return c if compare(items[a], items[c]) < 0 else a
    if compare(items[b], items[c]) > 0:
        return b
    return a if compare(items[a], items[c]) < 0 else c


def _pivot(items: list[T], start: int, size: int, compare: Compare[T]) -> int:
    """The position of an element that hopefully is near the middle."""
    low, middle, high = start, start + size // 2, start + size - 1
    if size > MEDIAN_OF_9_ABOVE:
        d = size // 8
        low = _median(items, low, low + d, low + 2 * d, compare)
        middle = _median(items, middle - d, middle, middle + d, compare)
        high = _median(items, high - 2 * d, high - d, high, compare)
    if size > INSERTION_SORT_BELOW:
        middle = _median(items, low, middle, high, compare)
    return middle


def _swap_ranges(items: list[T], a: int, b: int, count: int) -> None:
    for i in range(count):
        items[a + i], items[b + i] = items[b + i], items[a + i]


def _partition(items: list[T], start: int, size: int, compare: Compare[T]) -> tuple[int, int]:
    """Bring smaller elements to the front and larger ones to the end; how many they are.

    Two positions walk towards each other and exchange what stands on the wrong side.
    Elements equal to the pivot are parked at both ends meanwhile, and moved between the
    smaller and the larger ones at last:

        while walking    equal | smaller | not seen yet | larger | equal
        at the end       smaller | equal | larger
    """
    pivot = _pivot(items, start, size, compare)
    items[start], items[pivot] = items[pivot], items[start]
    equal_left = left = start + 1
    right = equal_right = start + size - 1
    while True:
        while left <= right and (order := compare(items[left], items[start])) <= 0:
            if order == 0:
                items[equal_left], items[left] = items[left], items[equal_left]
                equal_left += 1
            left += 1
        while left <= right and (order := compare(items[right], items[start])) >= 0:
            if order == 0:
                items[right], items[equal_right] = items[equal_right], items[right]
                equal_right -= 1
            right -= 1
        if left > right:
            break
        items[left], items[right] = items[right], items[left]
        left += 1
        right -= 1
    end = start + size
    count = min(equal_left - start, left - equal_left)
    _swap_ranges(items, start, left - count, count)
    count = min(equal_right - right, end - equal_right - 1)
    _swap_ranges(items, left, end - count, count)
    return left - equal_left, equal_right - right
