"""Timers in a binary heap that knows where each of its entries is.

A heap keeps the earliest timer at its root. A plain one (``heapq``) cannot remove or move
an entry in its middle without searching for it, so many programs leave cancelled entries
in and skip them at the root. A key that is written again and again would then fill the
heap with its own past. Here ``position`` maps each key to its place in the array, so
moving and cancelling cost O(log N) and the heap holds exactly one entry a key.

How it works. Entry ``i`` of the array has the children ``2i + 1`` and ``2i + 2`` and is
not later than either. A new entry goes to the end and rises while it is earlier than its
parent; a removed one is replaced by the last, which then rises or sinks. The entry on the
move is held aside and written once, at its final place.

A worked example, instants only. In ``[3, 5, 4, 9]`` the 5 is cancelled: the last entry, 9,
takes its place; its only child would be at index 3, which is gone: ``[3, 9, 4]``. Then 3
falls due: 4 goes to the root and has 9 below it: ``[4, 9]``.

Limits: N log N work for N timers, at random places of a large array.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class TimerHeap(Generic[K]):
    """One timer a key; instants are whole numbers of any unit, here ms.

    Timers fall due in the order of their instants, and at one instant in the order in
    which they were set. ``steps`` counts the levels of the heap that entries looked at,
    ever: the work done, for a cost model.
    """

    __slots__ = ("_array", "_sequence", "position", "steps")

    def __init__(self) -> None:
        self._array: list[tuple[int, int, K]] = []  # (when, sequence, key)
        self._sequence = 0
        self.position: dict[K, int] = {}
        self.steps = 0

    def __len__(self) -> int:
        """Number of timers."""
        return len(self._array)

    def __contains__(self, key: K) -> bool:
        """Whether *key* has a timer. O(1)."""
        return key in self.position

    def __iter__(self) -> Iterator[tuple[K, int]]:
        """``(key, when)`` of every timer, in no order."""
        return ((key, when) for when, _, key in self._array)

    def schedule(self, key: K, when: int) -> None:
        """Let *key* fall due at *when*, whatever was planned for it before. O(log N)."""
        entry = (when, self._sequence, key)
        self._sequence += 1
        at = self.position.get(key)
        if at is None:
            self._array.append(entry)
            self._rise(len(self._array) - 1, entry)
        else:
            self._settle(at, entry)

    def cancel(self, key: K) -> bool:
        """Forget the timer of *key*; whether there was one. O(log N)."""
        at = self.position.pop(key, None)
        if at is None:
            return False
        last = self._array.pop()
        if at < len(self._array):
            self._settle(at, last)
        return True

    def next_wake(self) -> int | None:
        """The earliest instant, or None without timers. O(1)."""
        return self._array[0][0] if self._array else None

    def pop_due(self, now: int) -> K | None:
        """Remove and return the earliest key that is due (``when <= now``), or None. O(log N)."""
        if not self._array or self._array[0][0] > now:
            return None
        key = self._array[0][2]
        self.cancel(key)
        return key

    def clear(self) -> None:
        """Forget all timers."""
        self._array = []
        self.position = {}

    def _settle(self, at: int, entry: tuple[int, int, K]) -> None:
        """Put *entry* at *at* or wherever it belongs above or below."""
        if at and entry < self._array[(at - 1) // 2]:
            self._rise(at, entry)
        else:
            self._sink(at, entry)

    def _rise(self, at: int, entry: tuple[int, int, K]) -> None:
        array, position = self._array, self.position
        while True:
            self.steps += 1
            parent = (at - 1) // 2
            if at == 0 or array[parent] < entry:
                break
            array[at] = array[parent]
            position[array[at][2]] = at
            at = parent
        array[at] = entry
        position[entry[2]] = at

    def _sink(self, at: int, entry: tuple[int, int, K]) -> None:
        array, position = self._array, self.position
        size = len(array)
        while True:
            self.steps += 1
            child = 2 * at + 1
            if child >= size:
                break
            if child + 1 < size and array[child + 1] < array[child]:
                child += 1
            if entry < array[child]:
                break
            array[at] = array[child]
            position[array[at][2]] = at
            at = child
        array[at] = entry
        position[entry[2]] = at

    def _check(self) -> None:
        """Assert the order of the heap and that every position is right."""
        for at, entry in enumerate(self._array):
            assert at == 0 or self._array[(at - 1) // 2] < entry, f"{entry} is above an earlier one"
            assert self.position.get(entry[2]) == at, f"{entry[2]!r} is not where it should be"
        assert len(self.position) == len(self._array), "as many positions as entries"
