"""Timers in a hierarchical timing wheel: constant work to set, move and cancel one.

How it works. Write an instant in base 64. Level 0 of the wheel has a slot for each value
of the last digit, level 1 for the digit before it, and so on: eleven levels reach beyond
any 64-bit instant. A timer lies on the level of the *highest digit in which it
differs from the present*, ``elapsed``, in the slot of its own digit there. So what comes
within 64 ms is sorted to the ms, and what comes in an hour only roughly.

When time reaches the beginning of a slot on a higher level, that digit of the timers in it
no longer differs from the present, so each moves down to the level of its next digit (it
*cascades*), at last to level 0, where its slot is its instant.

All slots in use lie ahead: a timer's digit is greater than the present's at its level and
equal on the levels above. Hence the earliest slot is the first one used on the lowest
level that is used. One integer a level says which slots are used, bit by bit, so finding
it never walks over empty slots, however long nothing happens.

A worked example in base 10 for short, present 1234:

    timer 1239   differs in the last digit      level 0, slot 9
    timer 1307   differs in the hundreds        level 2, slot 3
    timer 1350   the same                       level 2, slot 3

At 1239 the first falls due. The next slot begins at 1300: there 1307 moves to level 0,
slot 7, and 1350 to level 1, slot 5. Both wait in the right order without ever having been
compared.

Limits: a timer is moved once a level on its way down, and the wheel wakes for that although
nothing is due. Cancelling earlier, as keys that are written anew do, saves both.

After G. Varghese and T. Lauck, "Hashed and hierarchical timing wheels" (1987).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

SLOT_BITS = 6  # bits of one digit
SLOTS = 1 << SLOT_BITS  # slots of a level
LEVELS = 11  # 66 bits
MAX_INSTANT = (1 << 64) - 1
DUE = -1  # the level of timers whose instant has come


class _Node(Generic[K]):
    """A timer, and its neighbours in the ring of its slot; a slot's head is one without key."""

    __slots__ = ("key", "level", "next", "prev", "slot", "when")

    def __init__(self, key: K | None, when: int) -> None:
        self.key = key
        self.when = when
        self.level = self.slot = 0
        self.prev: _Node[K] = self
        self.next: _Node[K] = self


class TimingWheel(Generic[K]):
    """One timer a key; instants are whole numbers, 0 to 2^64 - 1, here ms.

    Timers fall due in the order of their instants, and at one instant in the order in
    which they were set. *now* is the instant to begin at. ``steps`` counts how often a
    timer was put into a slot or taken out of one, ever: the work done, for a cost model.
    """

    __slots__ = ("_due", "_nodes", "_slots", "_used", "elapsed", "steps")

    def __init__(self, now: int = 0) -> None:
        _check_instant(now)
        self.elapsed = now
        self.steps = 0
        self.clear()

    def __len__(self) -> int:
        """Number of timers."""
        return len(self._nodes)

    def __contains__(self, key: K) -> bool:
        """Whether *key* has a timer. O(1)."""
        return key in self._nodes

    def __iter__(self) -> Iterator[tuple[K, int]]:
        """``(key, when)`` of every timer, in no order."""
        return ((key, node.when) for key, node in self._nodes.items())

    def schedule(self, key: K, when: int) -> None:
        """Let *key* fall due at *when*, whatever was planned for it before. O(1).

        An instant that has passed is due at once. ``ValueError`` beyond 64 bits.
        """
        _check_instant(when)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = _Node(key, when)
        else:
            self._unlink(node)
            node.when = when
        self._link(node)

    def cancel(self, key: K) -> bool:
        """Forget the timer of *key*; whether there was one. O(1)."""
        node = self._nodes.pop(key, None)
        if node is None:
            return False
        self._unlink(node)
        return True

    def next_wake(self) -> int | None:
        """When :meth:`pop_due` has something to do next, or None without timers. O(levels).

        Never later than the earliest timer; earlier if timers must cascade before.
        """
        if self._due.next is not self._due:
            return self.elapsed
        found = self._earliest_slot()
        return None if found is None else found[2]

    def pop_due(self, now: int) -> K | None:
        """Remove and return the earliest key that is due (``when <= now``), or None.

        O(1) beside the cascades on the way, of which each timer has at most one a level.
        """
        while self._due.next is self._due:
            found = self._earliest_slot()
            if found is None or found[2] > now:
                # No used slot begins on the way, so every timer stays where it belongs.
                self.elapsed = max(self.elapsed, now)
                return None
            level, slot, start = found
            self.elapsed = start
            self._cascade(level, slot)
        node = self._due.next
        key = node.key
        assert key is not None
        self._unlink(node)
        del self._nodes[key]
        return key

    def clear(self) -> None:
        """Forget all timers; time stays where it is."""
        self._nodes: dict[K, _Node[K]] = {}
        self._slots: list[list[_Node[K] | None]] = [[None] * SLOTS for _ in range(LEVELS)]
        self._used = [0] * LEVELS  # bit s: slot s of that level holds a timer
        self._due: _Node[K] = _Node(None, 0)

    # -- slots ------------------------------------------------------------------------

    def place(self, when: int) -> tuple[int, int]:
        """Level and slot of a timer that is due at *when*, as seen from ``elapsed``."""
        if when <= self.elapsed:
            return DUE, 0
        level = ((when ^ self.elapsed).bit_length() - 1) // SLOT_BITS
        return level, (when >> (level * SLOT_BITS)) & (SLOTS - 1)

    def _earliest_slot(self) -> tuple[int, int, int] | None:
        """Level, slot and beginning of the earliest slot in use, or None."""
        for level, used in enumerate(self._used):
            if used:
                slot = (used & -used).bit_length() - 1
                shift = level * SLOT_BITS
                above = self.elapsed >> (shift + SLOT_BITS)
                return level, slot, (above << SLOT_BITS | slot) << shift
        return None

    def _cascade(self, level: int, slot: int) -> None:
        """Move every timer of a slot that time has just reached, in the order they were set."""
        head = self._slots[level][slot]
        assert head is not None
        while (node := head.next) is not head:
            self._unlink(node)
            self._link(node)

    def _link(self, node: _Node[K]) -> None:
        """Put *node* at the end of its slot."""
        self.steps += 1
        level, slot = node.level, node.slot = self.place(node.when)
        if level == DUE:
            head = self._due
            before = head.prev
            # Time has brought the others in order. Only who sets a timer in the past walks.
            while before is not head and before.when > node.when:
                before = before.prev
        else:
            self._used[level] |= 1 << slot
            found = self._slots[level][slot]
            if found is None:
                found = self._slots[level][slot] = _Node(None, 0)
            before = found.prev
        node.prev, node.next = before, before.next
        before.next.prev = node
        before.next = node

    def _unlink(self, node: _Node[K]) -> None:
        """Take *node* out of its slot."""
        self.steps += 1
        node.prev.next = node.next
        node.next.prev = node.prev
        if node.prev is node.next and node.level != DUE:  # only the head is left
            self._used[node.level] &= ~(1 << node.slot)

    def _check(self) -> None:
        """Assert that each timer lies in its slot, in rings that close, and the bits agree."""
        count = self._check_ring(self._due, DUE, 0)
        whens = [node.when for node in self._ring(self._due)]
        assert whens == sorted(whens), "what is due is in order"
        for level, slots in enumerate(self._slots):
            for slot, head in enumerate(slots):
                held = 0 if head is None else self._check_ring(head, level, slot)
                assert bool(held) == bool(self._used[level] >> slot & 1), "bits and slots agree"
                count += held
        assert count == len(self._nodes), "every timer is in one slot"

    def _ring(self, head: _Node[K]) -> Iterator[_Node[K]]:
        node = head.next
        while node is not head:
            yield node
            node = node.next

    def _check_ring(self, head: _Node[K], level: int, slot: int) -> int:
        held = 0
        for node in self._ring(head):
            assert node.key is not None and self._nodes.get(node.key) is node, "indexed"
            assert node.next.prev is node and node.prev.next is node, "the ring is closed"
            assert (node.level, node.slot) == (level, slot) == self.place(node.when), "its slot"
            held += 1
        return held


def _check_instant(when: int) -> None:
    if not 0 <= when <= MAX_INSTANT:
        raise ValueError(f"an instant must be 0 to 2^64 - 1, got {when}")
