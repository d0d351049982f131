"""Sorted sets: members with a score each, in the order of scores.

Members with the same score follow each other byte by byte. Small sets are a ``listpack``:
one short list in order. Large ones are a ``skiplist``: an ordered structure to find ranks
and ranges in, and a hash table to find the score of a member in. A set that has outgrown
``zset-max-listpack-entries`` or ``-value`` becomes a skiplist and stays one.

Both classes hold the same elements under the same methods. A value changes from one to the
other in ``zset_add.py``.

Differs from Redis: the ordered half of a skiplist is a ``RankedList``. Insertion, rank and
the element of a rank are O(log N) in both, and the order that commands see does not depend
on the structure. The hash table is Redis's, as ZSCAN and ZRANDMEMBER show its layout. A
listpack has a plain dict of scores beside it.

Redis: t_zset.c.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import ClassVar

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.listpack_size import listpack_bytes
from miniredis.keyspace.rdb import rdb_saved_len_size, rdb_saved_string_len
from miniredis.keyspace.value import ValueServer
from miniredis.keyspace.zset_ranges import MAX_STRING, MIN_STRING, ZLexRangeSpec, ZRangeSpec
from miniredis.structs.dict import DICT_HT_INITIAL_SIZE, Dict, DictEntry
from miniredis.structs.double import d2string
from miniredis.structs.hashing import HashFunction
from miniredis.structs.ranked_list import Pair, RankedList

_LISTPACK_INTEGER_MAX = 2.0**62  # a larger score is kept as text
_DOUBLE_BYTES = 8  # of a score in a file


class Zset:
    """What both encodings have in common. ``order`` holds the pairs in order."""

    __slots__ = ("order",)

    scan_pairs = True
    encoding: ClassVar[str]
    order: list[Pair] | RankedList

    def __len__(self) -> int:
        """Number of members. t_zset.c: zsetLength()"""
        return len(self.order)

    def __iter__(self) -> Iterator[Pair]:
        """Score and member of each, from the lowest."""
        return iter(self.order)

    def __reversed__(self) -> Iterator[Pair]:
        return reversed(self.order)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}>"

    def score(self, member: bytes) -> float | None:
        """The score of *member*, or None. O(1). t_zset.c: zsetScore()"""
        raise NotImplementedError

    def insert(self, score: float, member: bytes) -> None:
        """Add a member that is not there. O(log N). zslInsert(), zzlInsert()"""
        raise NotImplementedError

    def update_score(self, member: bytes, old: float, new: float) -> None:
        """Move a member from the score *old* to *new*. O(log N). zslUpdateScore()"""
        raise NotImplementedError

    def delete(self, member: bytes) -> bool:
        """Remove *member*; whether it was there. O(log N). t_zset.c: zsetDel()"""
        raise NotImplementedError

    def delete_range(self, start: int, stop: int) -> int:
        """Remove the ranks *start* to *stop*, *stop* left out; how many they were.

        O(log N + M). t_zset.c: zslDeleteRangeByRank(), zzlDeleteRangeByRank()
        """
        raise NotImplementedError

    def members(self, start: int, stop: int) -> list[bytes]:
        """The members of the ranks *start* to *stop*, *stop* left out. O(log N + M)."""
        raise NotImplementedError

    def pairs(self, start: int, stop: int, reverse: bool = False) -> list[Pair]:
        """The pairs of the ranks *start* to *stop*, *stop* left out, in either direction.

        O(log N + M).
        """
        raise NotImplementedError

    def rank(self, member: bytes) -> int | None:
        """The number of members before *member*, or None. O(log N). t_zset.c: zsetRank()"""
        score = self.score(member)
        return None if score is None else self._position(score, member)

    def first(self) -> Pair:
        """The lowest score and its member. O(1)."""
        raise NotImplementedError

    def last(self) -> Pair:
        """The highest score and its member. O(1)."""
        raise NotImplementedError

    def _position(self, score: float, member: bytes) -> int:
        """How many pairs come before this one, which need not be there. O(log N)."""
        raise NotImplementedError

    def _score_position(self, score: float, after: bool) -> int:
        """How many scores are lower or, with *after*, not higher. O(log N)."""
        raise NotImplementedError

    def score_bounds(self, spec: ZRangeSpec) -> tuple[int, int]:
        """The ranks [start, stop) of the members whose score is in *spec*. O(log N).

        t_zset.c: zslFirstInRange(), zslLastInRange()
        """
        if spec.is_empty():
            return 0, 0
        start = self._score_position(spec.min, after=spec.minex)
        return start, self._score_position(spec.max, after=not spec.maxex)

    def lex_bounds(self, spec: ZLexRangeSpec, reverse: bool = False) -> tuple[int, int]:
        """The ranks [start, stop) of the members in *spec*, all scores being the same.

        If scores differ, members are out of order and no range is promised. What is
        found then is what walking finds: from the first member that is not before the
        range up to one that is after it, or with *reverse* the other way round.
        t_zset.c: zslFirstInLexRange(), zslLastInLexRange(), genericZrangebylexCommand()
        """
        if not self or spec.is_empty():
            return 0, 0
        first, last = self.first(), self.last()
        if not spec.gte_min(last[1]) or not spec.lte_max(first[1]):
            return 0, 0
        if first[0] == last[0]:
            start = self._lex_place(spec.min, spec.minex)
            return start, max(start, self._lex_place(spec.max, not spec.maxex))
        return self._walk_back(spec) if reverse else self._walk(spec)

    def _lex_place(self, place: tuple[int, bytes], exclusive: bool) -> int:
        """The first rank at or, if *exclusive*, after *place*, all scores being the same."""
        if place is MIN_STRING:
            return 0
        if place is MAX_STRING:
            return len(self)
        # Nothing lies between a text and the same text with a NUL after it.
        return self._position(self.first()[0], place[1] + b"\0" if exclusive else place[1])

    def _walk(self, spec: ZLexRangeSpec) -> tuple[int, int]:
        start = 0
        for _, member in self:
            if spec.gte_min(member):
                break
            start += 1
        stop = start
        for _, member in self.pairs(start, len(self)):
            if not spec.lte_max(member):
                break
            stop += 1
        return start, stop

    def _walk_back(self, spec: ZLexRangeSpec) -> tuple[int, int]:
        stop = len(self)
        for _, member in reversed(self):
            if spec.lte_max(member):
                break
            stop -= 1
        start = stop
        for _, member in self.pairs(0, stop, reverse=True):
            if not spec.gte_min(member):
                break
            start -= 1
        return start, stop

    def copy(self, rng: random.Random) -> Zset:
        """A set of its own with the same elements and encoding. O(N). zsetDup()"""
        raise NotImplementedError

    def reloaded(self, server: ValueServer) -> Zset:
        """The set as saving and loading it again leaves it. O(N log N).

        rdb.c: rdbSaveObject(), rdbLoadObject()
        """
        raise NotImplementedError

    # -- walking ----------------------------------------------------------------------

    def scan_table(self) -> Dict | None:
        """See ``commands/scanning.py``: the hash table, if there is one."""
        return None

    def scan_items(self, entries: Iterable[DictEntry] | None) -> Iterable[tuple[bytes, ...]]:
        """Members and the texts of their scores: those of *entries*, or all."""
        if entries is not None:
            return ((entry.key, d2string(entry.val)) for entry in entries)
        return ((member, d2string(score)) for score, member in self)

    # -- saving -------------------------------------------------------------------------

    def rdb_saved_len(self) -> int:
        """Bytes that it takes in a file when nothing is compressed. O(N).

        rdb.c: rdbSaveObject()
        """
        raise NotImplementedError

    def add_to_digest(self, digest: Digest) -> None:
        """A member and its score belong together. O(N). debug.c: xorObjectDigest()"""
        for score, member in self:
            pair = Digest()
            pair.mix(member)
            pair.mix(d2string(score))
            digest.xor(pair.raw())

    def _check(self) -> None:
        """Assert that the order is right and that both halves hold the same."""
        pairs = list(self.order)
        assert pairs == sorted(pairs), "members are in order"
        assert all(score == score for score, _ in pairs), "no score is NaN"
        scores = {member: score for score, member in pairs}
        assert len(scores) == len(pairs), "members differ"
        assert scores == self._looked_up(), "a member has another score when it is looked up"

    def _looked_up(self) -> dict[bytes, float]:
        """The scores by which members are looked up, without moving a rehash."""
        raise NotImplementedError


class ZsetListpack(Zset):
    """A short sorted set: a list. t_zset.c: zzl*()

    Operations are O(N) in Redis, where N is at most ``zset-max-listpack-entries``. A listpack
    keeps a whole number as an integer, which has no -0: that score becomes 0.
    """

    __slots__ = ("scores",)

    encoding = "listpack"
    order: list[Pair]

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        """*pairs* must be in order."""
        self.order = [(score + 0.0, member) for score, member in pairs]
        self.scores = {member: score for score, member in self.order}

    def score(self, member: bytes) -> float | None:
        return self.scores.get(member)

    def insert(self, score: float, member: bytes) -> None:
        score += 0.0  # -0.0 + 0.0 is 0.0; nothing else changes
        self.scores[member] = score
        insort(self.order, (score, member))

    def update_score(self, member: bytes, old: float, new: float) -> None:
        del self.order[bisect_left(self.order, (old, member))]
        self.insert(new, member)

    def delete(self, member: bytes) -> bool:
        score = self.scores.pop(member, None)
        if score is None:
            return False
        del self.order[bisect_left(self.order, (score, member))]
        return True

    def delete_range(self, start: int, stop: int) -> int:
        for _, member in self.order[start:stop]:
            del self.scores[member]
        del self.order[start:stop]
        return stop - start

    def first(self) -> Pair:
        return self.order[0]

    def last(self) -> Pair:
        return self.order[-1]

    def members(self, start: int, stop: int) -> list[bytes]:
        return [member for _, member in self.order[start:stop]]

    def pairs(self, start: int, stop: int, reverse: bool = False) -> list[Pair]:
        pairs = self.order[start:stop]
        return pairs[::-1] if reverse else pairs

    def _position(self, score: float, member: bytes) -> int:
        return bisect_left(self.order, (score, member))

    def _score_position(self, score: float, after: bool) -> int:
        bisect = bisect_right if after else bisect_left
        return bisect(self.order, score, key=_score_of)

    def copy(self, rng: random.Random) -> ZsetListpack:
        return ZsetListpack(self.order)

    def scan_items(self, entries: Iterable[DictEntry] | None) -> Iterable[tuple[bytes, ...]]:
        return ((member, _listpack_score(score)) for score, member in self.order)

    def reloaded(self, server: ValueServer) -> Zset:
        """Too many entries for the configuration make it a skiplist; long members do not."""
        if len(self) > server.config.zset_max_listpack_entries:
            return skiplist_of(self, server)
        return self.copy(server.rng)

    def rdb_saved_len(self) -> int:
        size = listpack_bytes(part for item in self.scan_items(None) for part in item)
        return rdb_saved_len_size(size) + size

    def _looked_up(self) -> dict[bytes, float]:
        return self.scores


class ZsetSkiplist(Zset):
    """A large sorted set: an ordered structure and a hash table. server.h: zset

    ``dict`` maps each member to its score.
    """

    __slots__ = ("dict",)

    encoding = "skiplist"
    order: RankedList

    def __init__(
        self, hash_function: HashFunction, rng: random.Random, pairs: Iterable[Pair] = ()
    ) -> None:
        """The hash table begins empty: the caller adds *pairs* to it in Redis's order."""
        self.order = RankedList(pairs)
        self.dict = Dict(hash_function, rng)

    @classmethod
    def of(cls, server: ValueServer) -> ZsetSkiplist:
        """An empty one. object.c: createZsetObject()"""
        return cls(server.hash_function, server.rng)

    def score(self, member: bytes) -> float | None:
        d = self.dict
        entry = d.index.get(member) if d.rehashidx < 0 else d.find(member)
        return None if entry is None else entry.val

    def insert(self, score: float, member: bytes) -> None:
        self.order.add(score, member)
        self.dict.add(member, score)

    def update_score(self, member: bytes, old: float, new: float) -> None:
        self.order.remove(old, member)
        self.order.add(new, member)
        self.dict.index[member].val = new

    def delete(self, member: bytes) -> bool:
        if not self.remove(member):
            return False
        self.dict.try_resize()
        return True

    def remove(self, member: bytes) -> bool:
        """Like :meth:`delete`, but the hash table keeps its size. zsetRemoveFromSkiplist()"""
        entry = self.dict.delete(member)
        if entry is None:
            return False
        self.order.remove(entry.val, member)
        return True

    def delete_range(self, start: int, stop: int) -> int:
        for member in self.order.delete_range(start, stop):
            self.dict.delete(member)
        self.dict.try_resize()
        return stop - start

    def first(self) -> Pair:
        return self.order.first()

    def last(self) -> Pair:
        return self.order.last()

    def members(self, start: int, stop: int) -> list[bytes]:
        return self.order.members(start, stop)

    def pairs(self, start: int, stop: int, reverse: bool = False) -> list[Pair]:
        pairs = self.order.pairs(start, stop)
        return pairs[::-1] if reverse else pairs

    def _position(self, score: float, member: bytes) -> int:
        return self.order.position(score, member)

    def _score_position(self, score: float, after: bool) -> int:
        return self.order.score_position(score, after)

    def copy(self, rng: random.Random) -> ZsetSkiplist:
        """Taken over from the highest to the lowest, as Redis does."""
        copied = ZsetSkiplist(self.dict.hash_function, rng, self.order)
        copied.dict.expand(len(self))
        for score, member in reversed(self.order):
            copied.dict.add(member, score)
        return copied

    def reloaded(self, server: ValueServer) -> Zset:
        """Saved from the highest score to the lowest, into a hash table that has its final
        size at once; a listpack if the set has become small enough.
        """
        return ZsetSkiplist.of_saved(reversed(self.order), len(self), server)

    @classmethod
    def of_saved(cls, pairs: Iterable[Pair], size: int, server: ValueServer) -> Zset:
        """A set that was saved as a list of *size* pairs, in any order. O(N log N).

        ValueError if a member comes twice. rdb.c: rdbLoadObject()
        """
        loaded = cls.of(server)
        if size > DICT_HT_INITIAL_SIZE:
            loaded.dict.expand(size)
        for score, member in pairs:
            if loaded.dict.add(member, score) is None:
                raise ValueError(f"the member {member!r} comes twice")
        members = loaded.dict.index
        loaded.order = RankedList((entry.val, member) for member, entry in members.items())
        return smallest_encoding(loaded, server)

    def scan_table(self) -> Dict | None:
        return self.dict

    def rdb_saved_len(self) -> int:
        members = sum(rdb_saved_string_len(member) + _DOUBLE_BYTES for _, member in self)
        return rdb_saved_len_size(len(self)) + members

    def _check(self) -> None:
        super()._check()
        self.order._check()
        self.dict._check()

    def _looked_up(self) -> dict[bytes, float]:
        return {member: entry.val for member, entry in self.dict.index.items()}


def _score_of(pair: Pair) -> float:
    return pair[0]


def _listpack_score(score: float) -> bytes:
    """The text of a score in a listpack: a whole number up to 2^62 has all its digits.

    t_zset.c: zzlInsertAt(), util.c: double2ll()
    """
    if -_LISTPACK_INTEGER_MAX <= score <= _LISTPACK_INTEGER_MAX and score.is_integer():
        return b"%d" % int(score)
    return d2string(score)


def skiplist_of(zset: Zset, server: ValueServer) -> ZsetSkiplist:
    """A skiplist of the members of a listpack. O(N log N). t_zset.c: zsetConvert()"""
    skiplist = ZsetSkiplist(server.hash_function, server.rng, zset.order)
    for score, member in zset:
        skiplist.dict.add(member, score)
    return skiplist


def smallest_encoding(zset: ZsetSkiplist, server: ValueServer) -> Zset:
    """*zset*, which was just built, or a listpack of the same members if they fit. O(N).

    t_zset.c: zsetConvertToListpackIfNeeded()
    """
    config = server.config
    longest = config.zset_max_listpack_value
    if len(zset) > config.zset_max_listpack_entries or any(
        len(member) > longest for _, member in zset
    ):
        return zset
    return ZsetListpack(zset)
