"""Pairs of a score and a member in order, with their ranks.

What Redis's skiplist does for large sorted sets. A skiplist finds its way over nodes of
random height, each with links ahead and the number of nodes that a link passes over. Here
the pairs lie in blocks of some hundred, in two arrays each: scores, as plain doubles, and
members. Two more arrays hold the last score and member of each block, and a tree of sums
the number of pairs.

    to find a pair      bisect the last scores, then the scores of one block; members are
                        compared only where scores are equal
    to find its rank    add the pairs of the blocks before, from the tree
    to find a rank      walk down the tree to the block

So everything is O(log N) but for the constant work of shifting half a block, which C does.
Scores lie next to each other in memory: among a million pairs, comparing Python objects
from all over the memory costs several times more than comparing these.

Redis: ``zsl*()`` in t_zset.c.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

Pair = tuple[float, bytes]  # score, member: they compare as they are ordered

BLOCK = 512  # pairs of a new block; one of twice as many is split
MERGE_BELOW = BLOCK // 4  # pairs; a block with fewer joins its neighbour


class RankedList:
    """An ordered list of pairs, no two of them equal."""

    __slots__ = ("_last_members", "_last_scores", "_len", "_members", "_scores", "_sums")

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        """Of *pairs* in any order. O(N log N), O(N) if they are in order."""
        self._fill(pairs)

    def _fill(self, pairs: Iterable[Pair]) -> None:
        ordered = sorted(pairs)
        self._len = len(ordered)
        self._scores: list[array[float]] = []  # of each block
        self._members: list[list[bytes]] = []
        self._last_scores = array("d")
        self._last_members: list[bytes] = []
        for i in range(0, len(ordered), BLOCK):
            some = ordered[i : i + BLOCK]
            self._scores.append(array("d", [score for score, _ in some]))
            self._members.append([member for _, member in some])
        self._blocks_changed()

    def _blocks_changed(self) -> None:
        """Make anew what is known of blocks. O(blocks)."""
        self._last_scores = array("d", [scores[-1] for scores in self._scores])
        self._last_members = [members[-1] for members in self._members]
        # A Fenwick tree: sums[i] is the number of pairs in the blocks i - (i & -i) ... i - 1.
        sums = [0, *map(len, self._members)]
        for i in range(1, len(sums)):
            above = i + (i & -i)
            if above < len(sums):
                sums[above] += sums[i]
        self._sums = sums

    # -- reading ------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._len

    def __iter__(self) -> Iterator[Pair]:
        for scores, members in zip(self._scores, self._members, strict=True):
            yield from zip(scores, members, strict=True)

    def __reversed__(self) -> Iterator[Pair]:
        for scores, members in zip(reversed(self._scores), reversed(self._members), strict=True):
            yield from zip(reversed(scores), reversed(members), strict=True)

    def first(self) -> Pair:
        """The first pair of a list that has any. O(1)."""
        return self._scores[0][0], self._members[0][0]

    def last(self) -> Pair:
        """The last pair of a list that has any. O(1)."""
        return self._last_scores[-1], self._last_members[-1]

    def members(self, start: int, stop: int) -> list[bytes]:
        """The members of the ranks *start* to *stop*, *stop* left out. O(log N + M)."""
        found: list[bytes] = []
        for block, first, last in self._spans(start, stop):
            found += self._members[block][first:last]
        return found

    def pairs(self, start: int, stop: int) -> list[Pair]:
        """The pairs of the ranks *start* to *stop*, *stop* left out. O(log N + M)."""
        found: list[Pair] = []
        for block, first, last in self._spans(start, stop):
            found += zip(
                self._scores[block][first:last], self._members[block][first:last], strict=True
            )
        return found

    def _spans(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Blocks, and the positions in them, that hold the ranks *start* to *stop*."""
        left = min(stop, self._len) - start
        if left <= 0:
            return
        block, first = self._locate(start)
        while left > 0:
            last = min(first + left, len(self._members[block]))
            yield block, first, last
            left -= last - first
            block, first = block + 1, 0

    def position(self, score: float, member: bytes) -> int:
        """How many pairs come before this one, which need not be there. O(log N)."""
        block = self._block(score, member)
        if block == len(self._scores):
            return self._len
        return self._before(block) + self._place(block, score, member)

    def score_position(self, score: float, after: bool) -> int:
        """How many pairs have a lower score, or, with *after*, no higher one. O(log N)."""
        bisect = bisect_right if after else bisect_left
        block = bisect(self._last_scores, score)
        if block == len(self._scores):
            return self._len
        return self._before(block) + bisect(self._scores[block], score)

    # -- changing -----------------------------------------------------------------------

    def add(self, score: float, member: bytes) -> None:
        """Insert a pair that is not there. O(log N). t_zset.c: zslInsert()"""
        if not self._len:
            self._fill([(score, member)])
            return
        block = self._block(score, member)
        if block == len(self._scores):
            block -= 1
            place = len(self._members[block])
            self._last_scores[block] = score
            self._last_members[block] = member
        else:
            place = self._place(block, score, member)
        members = self._members[block]
        self._scores[block].insert(place, score)
        members.insert(place, member)
        self._len += 1
        if len(members) >= 2 * BLOCK:
            self._split(block)
            return
        sums = self._sums
        i = block + 1
        while i < len(sums):
            sums[i] += 1
            i += i & -i

    def remove(self, score: float, member: bytes) -> None:
        """Take out a pair that is there. O(log N). t_zset.c: zslDelete()"""
        block = self._block(score, member)
        place = self._place(block, score, member)
        members = self._members[block]
        found = self._scores[block][place], members[place]
        assert found == (score, member), f"{member!r} is not there"
        self._cut(block, place, place + 1)
        if len(members) < MERGE_BELOW:
            self._merge(block)

    def delete_range(self, start: int, stop: int) -> list[bytes]:
        """Take out the ranks *start* to *stop*, *stop* left out; their members.

        O(log N + M) and O(blocks). t_zset.c: zslDeleteRangeByRank()
        """
        found: list[bytes] = []
        for block, first, last in list(self._spans(start, stop)):
            found += self._members[block][first:last]
            del self._scores[block][first:last], self._members[block][first:last]
        self._len -= len(found)
        if found:
            self._scores = [scores for scores in self._scores if scores]
            self._members = [members for members in self._members if members]
            self._blocks_changed()
        return found

    # -- blocks -------------------------------------------------------------------------

    def _block(self, score: float, member: bytes) -> int:
        """The first block whose last pair is not before this one; their number if none is."""
        last_scores = self._last_scores
        block = bisect_left(last_scores, score)
        if block < len(last_scores) and last_scores[block] == score:
            if self._last_members[block] >= member:
                return block
            after = bisect_right(last_scores, score, block)
            block = bisect_left(self._last_members, member, block, after)
        return block

    def _place(self, block: int, score: float, member: bytes) -> int:
        """How many pairs of the block come before this one."""
        scores = self._scores[block]
        place = bisect_left(scores, score)
        members = self._members[block]
        if place < len(scores) and scores[place] == score and members[place] < member:
            after = bisect_right(scores, score, place)
            place = bisect_left(members, member, place, after)
        return place

    def _before(self, block: int) -> int:
        """The number of pairs in all blocks before this one. O(log blocks)."""
        sums, total = self._sums, 0
        while block:
            total += sums[block]
            block &= block - 1
        return total

    def _locate(self, rank: int) -> tuple[int, int]:
        """The block that holds a rank, which there must be, and the place in it.

        Down the tree: with 8 blocks, the sum of the first 4, of the next 2 (if the rank
        lies beyond), of the next 1. O(log blocks).
        """
        sums, block = self._sums, 0
        step = 1 << (len(sums) - 1).bit_length()
        while step:
            following = block + step
            if following < len(sums) and sums[following] <= rank:
                block = following
                rank -= sums[following]
            step >>= 1
        return block, rank

    def _cut(self, block: int, start: int, stop: int) -> None:
        """Delete a part of a block and keep what is known of the block right."""
        scores, members = self._scores[block], self._members[block]
        del scores[start:stop], members[start:stop]
        self._len -= stop - start
        if not members:
            return
        self._last_scores[block] = scores[-1]
        self._last_members[block] = members[-1]
        sums = self._sums
        i = block + 1
        while i < len(sums):
            sums[i] -= stop - start
            i += i & -i

    def _split(self, block: int) -> None:
        """Make two blocks of one. O(blocks)."""
        scores, members = self._scores[block], self._members[block]
        self._scores.insert(block + 1, scores[BLOCK:])
        self._members.insert(block + 1, members[BLOCK:])
        del scores[BLOCK:], members[BLOCK:]
        self._blocks_changed()

    def _merge(self, block: int) -> None:
        """Let a small block join a neighbour; the only one may be small, but not empty."""
        if len(self._scores) > 1:
            left = min(block, len(self._scores) - 2)
            self._scores[left] += self._scores.pop(left + 1)
            self._members[left] += self._members.pop(left + 1)
            if len(self._members[left]) >= 2 * BLOCK:
                self._split(left)
            else:
                self._blocks_changed()
        elif not self._len:
            self._fill(())

    def _check(self) -> None:
        """Assert that pairs are in order and that blocks are what is known of them."""
        pairs = list(self)
        assert pairs == sorted(pairs), "pairs are in order"
        assert len(pairs) == self._len == len(set(pairs)), "the length is right"
        assert len(self._scores) == len(self._members) == len(self._last_members)
        sizes = [len(members) for members in self._members]
        assert sizes == [len(scores) for scores in self._scores]
        assert all(0 < size < 2 * BLOCK for size in sizes), "blocks have a fair size"
        assert list(self._last_scores) == [scores[-1] for scores in self._scores]
        assert self._last_members == [members[-1] for members in self._members]
        assert [self._before(i) for i in range(len(sizes) + 1)] == [
            sum(sizes[:i]) for i in range(len(sizes) + 1)
        ], "the tree's sums are right"
