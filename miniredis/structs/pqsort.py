"""Sorting as much of a list as is asked for.

SORT BY ... LIMIT sorts so. The algorithm is not stable, and where equal elements end up
is its doing, so it is followed step by step.

Redis: pqsort.c, which is the BSD qsort of Bentley and McIlroy ("Engineering a sort
function", 1993) without the parts that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Compare = Callable[[Any, Any], int]

FEW = 7  # so many or fewer are not sorted by partitioning as usual
MANY = 40  # beyond it the pivot is the median of three medians


def pqsort(items: list[T], cmp: Compare, first: int, last: int) -> None:
    """Sort *items* in place so that those at *first* ... *last* are what sorting all gives.

    How it works: quicksort. A pivot is chosen, elements equal to it are collected at both
    edges, smaller ones at the left, larger ones at the right; then the equal ones are
    swapped into the middle. A part that lies wholly outside *first* ... *last* is left
    unsorted. Fewer than seven elements are sorted by insertion.

    Example: of 1000 elements the first 10 are wanted. After each partition only the left
    part goes on, some 1000 + 500 + 250 + ... comparisons instead of 10 000.

    Expected O(N + M log M), M = last - first; O(N^2) at worst. pqsort.c: pqsort()
    """
    _pqsort(items, 0, len(items), cmp, first, last)


def _pqsort(items: list[T], a: int, n: int, cmp: Compare, first: int, last: int) -> None:
    while True:
        end = a + n
        if n < FEW:
            _insertion_sort(items, a, end, cmp)
            return
        pivot = _choose_pivot(items, a, n, cmp)
        items[a], items[pivot] = items[pivot], items[a]
        smaller, larger = _partition(items, a, n, cmp)
        if smaller > 1 and _wanted(a, smaller, first, last):
            _pqsort(items, a, smaller, cmp, first, last)
        if larger <= 1 or not _wanted(end - larger, larger, first, last):
            return
        a, n = end - larger, larger


def _wanted(a: int, n: int, first: int, last: int) -> bool:
    """Whether a part has to be sorted: unless all that is asked for lies on one side."""
    end = a + n - 1
    return not ((first < a and last < a) or (first > end and last > end))


def _insertion_sort(items: list[T], a: int, end: int, cmp: Compare) -> None:
    for i in range(a + 1, end):
        j = i
        while j > a and cmp(items[j - 1], items[j]) > 0:
            items[j], items[j - 1] = items[j - 1], items[j]
            j -= 1


def _choose_pivot(items: list[T], a: int, n: int, cmp: Compare) -> int:
    """The middle one of seven; else the median of three, or of three such medians."""
    middle = a + n // 2
    if n == FEW:
        return middle
    low, high = a, a + n - 1
    if n > MANY:
        d = n // 8
        low = _median(items, low, low + d, low + 2 * d, cmp)
        middle = _median(items, middle - d, middle, middle + d, cmp)
        high = _median(items, high - 2 * d, high - d, high, cmp)
    return _median(items, low, middle, high, cmp)


def _median(items: list[T], a: int, b: int, c: int, cmp: Compare) -> int:
    if cmp(items[a], items[b]) < 0:
        if cmp(items[b], items[c]) < 0:
            return b
        return c if cmp(items[a], items[c]) < 0 else a
    if cmp(items[b], items[c]) > 0:
        return b
    return a if cmp(items[a], items[c]) < 0 else c


def _partition(items: list[T], a: int, n: int, cmp: Compare) -> tuple[int, int]:
    """Part the elements around the one at *a*; how many are smaller and how many larger."""
    pa = pb = a + 1
    pc = pd = a + n - 1
    while True:
        while pb <= pc and (order := cmp(items[pb], items[a])) <= 0:
            if not order:
                items[pa], items[pb] = items[pb], items[pa]
                pa += 1
            pb += 1
        while pb <= pc and (order := cmp(items[pc], items[a])) >= 0:
            if not order:
                items[pc], items[pd] = items[pd], items[pc]
                pd -= 1
            pc -= 1
        if pb > pc:
            break
        items[pb], items[pc] = items[pc], items[pb]
        pb += 1
        pc -= 1
    end = a + n
    _swap_runs(items, a, pb, min(pa - a, pb - pa))
    _swap_runs(items, pb, end, min(pd - pc, end - pd - 1))
    return pb - pa, pd - pc


def _swap_runs(items: list[T], a: int, end: int, count: int) -> None:
    """Exchange *count* elements from *a* on with those before *end*."""
    for i, j in zip(range(a, a + count), range(end - count, end), strict=True):
        items[i], items[j] = items[j], items[i]
