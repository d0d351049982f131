"""The hash table with incremental rehashing that holds Redis's keyspace.

Two bucket arrays, ``ht_table[0]`` and ``ht_table[1]``. Normally only the first is used.
To grow or shrink, a second array is allocated and each operation moves one bucket, so
that no single command pays for the whole move. ``rehashidx`` is the next bucket of
table 0 to move, or -1 when no rehash is under way.

Layout and look-up are kept apart here: ``index``, a plain Python dict, finds an entry at
Python's own speed, while the bucket arrays hold the same entries in chains exactly as
Redis would, because the layout decides what SCAN returns, what RANDOMKEY picks and in
which order the active expire cycle deletes. :meth:`Dict._check` proves that they agree.

Differs from Redis: there is no ``dictType``; keys are ``bytes``, values anything.

Other versions differ in steps that a subclass replaces, see ``dict_versions.py``.

Redis: dict.c and dict.h of 7.0.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any

from miniredis.structs.hashing import HashFunction

DICT_HT_INITIAL_SIZE = 4  # buckets of a table when first used
DICT_FORCE_RESIZE_RATIO = 5  # entries per bucket that force growth in AVOID mode
HASHTABLE_MIN_FILL = 10  # % of the buckets' number below which a table is shrunk
REHASH_EMPTY_VISITS = 10  # empty buckets that one rehash step may pass over, per step
GET_SOME_KEYS_MAX_EMPTY = 5  # least run of empty buckets before a new random start


class DictResize(IntEnum):
    """Whether tables may change size. dict.h: dictResizeEnable"""

    ENABLE = 0
    AVOID = 1  # while a child process saves: copy-on-write makes moving dear
    FORBID = 2  # inside such a child


class DictEntry:
    """A key, its value, its hash and the next entry of the same chain. dict.h: dictEntry"""

    __slots__ = ("hash", "key", "next", "val")

    def __init__(self, key: bytes, val: Any, hash: int, next: DictEntry | None) -> None:
        self.key = key
        self.val = val
        self.hash = hash
        self.next = next

    def __repr__(self) -> str:
        return f"DictEntry({self.key!r}, {self.val!r})"


Table = list[DictEntry | None]


class Dict:
    """A dict of bytes keys laid out in buckets as Redis lays them out.

    *hash_function* maps a key to a non-negative int; a test may pass one that imposes
    bucket numbers learned from a real server. *rng* serves the random picks.
    *on_rehash* is told ``(old_size, new_size)`` when a rehash starts.

    Attributes carry Redis's names: ``ht_table``, ``ht_used`` (entries in each table),
    ``rehashidx``, ``pauserehash``. ``rehash_passed`` and ``rehash_moved`` count the buckets
    and entries that rehashing has passed and moved, ever: work, for those who charge it.
    """

    __slots__ = (
        "can_resize",
        "hash_function",
        "ht_table",
        "ht_used",
        "index",
        "on_rehash",
        "pauserehash",
        "rehash_moved",
        "rehash_passed",
        "rehashidx",
        "rng",
    )

    #: Whether a new table simply replaces one that has become empty, without a rehash.
    replaces_empty_table = False

    def __init__(
        self,
        hash_function: HashFunction,
        rng: random.Random,
        on_rehash: Callable[[int, int], None] | None = None,
    ) -> None:
        self.hash_function = hash_function
        self.rng = rng
        self.on_rehash = on_rehash
        self.index: dict[bytes, DictEntry] = {}
        self.ht_table: list[Table] = [[], []]
        self.ht_used = [0, 0]
        self.rehashidx = -1
        self.pauserehash = 0  # > 0: rehash steps do nothing
        self.rehash_passed = 0
        self.rehash_moved = 0
        self.can_resize = DictResize.ENABLE

    # -- size ---------------------------------------------------------------------

    def __len__(self) -> int:
        """Number of entries. dict.h: dictSize()"""
        return len(self.index)

    def __contains__(self, key: bytes) -> bool:
        """Whether *key* is present; unlike :meth:`find` this moves no rehash."""
        return key in self.index

    def slots(self) -> int:
        """Number of buckets of both tables. dict.h: dictSlots()"""
        return len(self.ht_table[0]) + len(self.ht_table[1])

    def is_rehashing(self) -> bool:
        """dict.h: dictIsRehashing()"""
        return self.rehashidx >= 0

    # -- operations; each moves one bucket when a rehash is under way ---------------

    def find(self, key: bytes) -> DictEntry | None:
        """The entry of *key*, or None. O(1). dict.c: dictFind()

        Does one rehash step first, except on an empty dict.
        """
        if self.rehashidx >= 0 and self.index:
            self.rehash_step_for(key)
        return self.index.get(key)

    def add(self, key: bytes, val: Any, hash: int | None = None) -> DictEntry | None:
        """Insert *key* and return its entry, or None if it is there already. O(1).

        *hash* spares computing it anew when the caller has it from another dict with the
        same hash function. A new entry goes to the head of its chain, in table 1 while
        rehashing. Growth is considered before it is known whether the key exists.

        dict.c: dictAddRaw()
        """
        if self.rehashidx >= 0:
            self.rehash_step_for(key)
        if self.ht_used[0] >= len(self.ht_table[0]):
            self.expand_if_needed()
        if key in self.index:
            return None
        if hash is None:
            hash = self.hash_function(key)
        i = 1 if self.rehashidx >= 0 else 0
        table = self.ht_table[i]
        idx = hash & (len(table) - 1)
        entry = DictEntry(key, val, hash, table[idx])
        table[idx] = entry
        self.ht_used[i] += 1
        self.index[key] = entry
        return entry

    def delete(self, key: bytes) -> DictEntry | None:
        """Remove *key* and return its entry, or None if it is absent. O(1).

        dict.c: dictGenericDelete(), behind dictDelete() and dictUnlink()
        """
        if not self.index:
            return None
        if self.rehashidx >= 0:
            self.rehash_step_for(key)
        entry = self.index.pop(key, None)
        if entry is None:
            return None
        table = self.ht_table[0]
        idx = entry.hash & (len(table) - 1)
        if table[idx] is entry:  # the usual case, without the loops below
            table[idx] = entry.next
            self.ht_used[0] -= 1
            return entry
        for i, table in enumerate(self.ht_table):
            if not table:
                break
            idx = entry.hash & (len(table) - 1)
            at = table[idx]
            if at is entry:
                table[idx] = entry.next
                self.ht_used[i] -= 1
                return entry
            while at is not None:
                if at.next is entry:
                    at.next = entry.next
                    self.ht_used[i] -= 1
                    return entry
                at = at.next
        raise AssertionError(f"{key!r} is indexed but in no chain")

    def empty(self) -> None:
        """Drop all entries and both tables. dict.c: dictEmpty()"""
        self.index = {}
        self.ht_table = [[], []]
        self.ht_used = [0, 0]
        self.rehashidx = -1
        self.pauserehash = 0

    def entries(self) -> Iterator[DictEntry]:
        """Entries in bucket order, table 0 first; a copy of each chain, so the current
        entry may be deleted meanwhile. Callers pause the rehash. dict.c: dictNext()
        """
        for table in list(self.ht_table):
            for head in table:
                at = head
                while at is not None:
                    following = at.next
                    yield at
                    at = following

    # -- growing and shrinking ------------------------------------------------------

    def expand_if_needed(self) -> None:
        """Grow when there are as many entries as buckets. dict.c: _dictExpandIfNeeded()"""
        if self.rehashidx >= 0:
            return
        size = len(self.ht_table[0])
        if size == 0:
            self.expand(DICT_HT_INITIAL_SIZE)
            return
        used = self.ht_used[0]
        if used < size or self.can_resize is DictResize.FORBID:
            return
        if self.can_resize is DictResize.ENABLE or used // size > DICT_FORCE_RESIZE_RATIO:
            self.expand(used + 1)

    def expand(self, size: int) -> bool:
        """Allocate a table of the smallest power of two >= *size*; False if refused.

        The first table is simply installed; a later one starts a rehash. Refused while
        rehashing, below the number of entries, and when nothing would change.

        dict.c: _dictExpand()
        """
        if self.rehashidx >= 0 or self.ht_used[0] > size:
            return False
        new_size = self.table_size_for(size)
        old_size = len(self.ht_table[0])
        if new_size == old_size:
            return False
        table: Table = [None] * new_size
        if old_size == 0 or (self.replaces_empty_table and not self.ht_used[0]):
            self.ht_table[0] = table
            return True
        self.ht_table[1] = table
        self.rehashidx = 0
        if self.on_rehash is not None:
            self.on_rehash(old_size, new_size)
        return True

    def table_size_for(self, entries: int) -> int:
        """How many buckets a table for so many entries gets."""
        return next_power(entries)

    def resize(self) -> bool:
        """Shrink to the smallest table that holds all entries. dict.c: dictResize()"""
        if self.can_resize is not DictResize.ENABLE or self.rehashidx >= 0:
            return False
        return self.expand(max(self.ht_used[0], DICT_HT_INITIAL_SIZE))

    def try_resize(self) -> None:
        """What the cron does for a table: shrink it if it is nearly empty.

        server.c: htNeedsResize(), tryResizeHashTables()
        """
        slots = len(self.ht_table[0]) + len(self.ht_table[1])
        if slots > DICT_HT_INITIAL_SIZE and len(self.index) * 100 // slots < HASHTABLE_MIN_FILL:
            self.resize()

    def rehash_step(self) -> None:
        """``rehash(1)``, unless paused: the step of an operation. dict.c: _dictRehashStep()

        Written out, because while a large table fills every insertion makes several.
        """
        if self.pauserehash:
            return
        if self.can_resize is not DictResize.ENABLE or not self.ht_used[0]:
            self.rehash(1)
            return
        table0, table1 = self.ht_table
        start = idx = self.rehashidx
        while table0[idx] is None:
            idx += 1
            if idx - start == REHASH_EMPTY_VISITS:
                self.rehash_passed += REHASH_EMPTY_VISITS
                self.rehashidx = idx
                return
        self._move_bucket(table0, table1, idx)
        idx += 1
        self.rehash_passed += idx - start
        self.rehashidx = idx
        if not self.ht_used[0]:
            self._rehashing_completed()

    def rehash_step_for(self, key: bytes) -> None:
        """The step that an operation on *key* takes while a rehash is under way."""
        self.rehash_step()

    def rehash(self, n: int) -> bool:
        """Move up to *n* buckets from table 0 to table 1; True while more are left.

        Each step moves one whole chain. At most ``10 * n`` empty buckets are passed over,
        so that a call stays short in a sparse table.

        The order inside chains follows from moving head to tail and inserting at the
        head: every move reverses. Growing 4 -> 8, chain 1 holding ``a b c`` with a and c
        bound for bucket 1 and b for bucket 5 ends as ``1: c a`` and ``5: b``. Shrinking
        8 -> 4, ``1: a b`` moves first and ``5: c d`` later, giving ``1: d c b a``.

        dict.c: dictRehash()
        """
        if self.rehashidx < 0 or self.can_resize is DictResize.FORBID:
            return False
        table0, table1 = self.ht_table
        if self.can_resize is DictResize.AVOID:
            larger, smaller = max(len(table0), len(table1)), min(len(table0), len(table1))
            if larger // smaller < DICT_FORCE_RESIZE_RATIO:
                return False
        empty_visits = n * REHASH_EMPTY_VISITS
        used = self.ht_used
        idx = self.rehashidx
        while n and used[0]:
            n -= 1
            while table0[idx] is None:
                idx += 1
                empty_visits -= 1
                if empty_visits == 0:
                    self.rehash_passed += idx - self.rehashidx
                    self.rehashidx = idx
                    return True
            self._move_bucket(table0, table1, idx)
            idx += 1
        self.rehash_passed += idx - self.rehashidx
        self.rehashidx = idx
        if used[0]:
            return True
        self._rehashing_completed()
        return False

    def _rehashing_completed(self) -> None:
        """Table 1 becomes table 0."""
        self.ht_table = [self.ht_table[1], []]
        self.ht_used = [self.ht_used[1], 0]
        self.rehashidx = -1

    def _move_bucket(self, table0: Table, table1: Table, idx: int) -> None:
        """Push the entries of one chain, head first, at the head of their new chains."""
        mask = len(table1) - 1
        entry = table0[idx]
        moved = 0
        while entry is not None:
            following = entry.next
            target = entry.hash & mask
            entry.next = table1[target]
            table1[target] = entry
            moved += 1
            entry = following
        table0[idx] = None
        self.ht_used[0] -= moved
        self.ht_used[1] += moved
        self.rehash_moved += moved

    # -- scanning -------------------------------------------------------------------

    def scan(self, cursor: int) -> tuple[int, list[DictEntry]]:
        """The entries at *cursor* and the next cursor; 0 begins and 0 ends. O(chain).

        How a stateless cursor survives resizing: it counts with its bits reversed, so
        its high bits change first. Bucket ``b`` of a table of 4 splits into ``b`` and
        ``b + 4`` when the table doubles; counted in reverse, those two follow each other,
        and what was visited before the change need not be visited again.

            size 4, next cursor after each:  0 -> 2 -> 1 -> 3 -> 0
            size 8:                          0 -> 4 -> 2 -> 6 -> 1 -> 5 -> 3 -> 7 -> 0

        A scan that holds cursor 2 at size 4 has visited {0}. After growth to 8 those
        entries sit in {0, 4}, just the two that precede 2 in the second line. While a
        rehash is under way, the bucket of the smaller table is visited together with all
        buckets of the larger one that it expands to. An element present throughout is
        returned at least once; one may come twice when tables shrink.

        dict.c: dictScan()
        """
        if not self.index:
            return 0, []
        found: list[DictEntry] = []
        table0, table1 = self.ht_table
        if self.rehashidx < 0:
            mask0 = len(table0) - 1
            _collect_chain(table0[cursor & mask0], found)
            return next_cursor(cursor, mask0), found
        if len(table0) > len(table1):
            table0, table1 = table1, table0
        mask0, mask1 = len(table0) - 1, len(table1) - 1
        _collect_chain(table0[cursor & mask0], found)
        while True:
            _collect_chain(table1[cursor & mask1], found)
            cursor = next_cursor(cursor, mask1)
            if not cursor & (mask0 ^ mask1):
                return cursor, found

    # -- random picks ----------------------------------------------------------------

    def get_random_key(self) -> DictEntry | None:
        """A random entry of a random non-empty bucket; not uniform, chains differ in length.

        dict.c: dictGetRandomKey()
        """
        return self.pick_random_key()[0]

    def pick_random_key(self) -> tuple[DictEntry | None, int]:
        """The same, and how many buckets were drawn until one was not empty.

        At 1 % fill that is a hundred draws on average.
        """
        if not self.index:
            return None, 0
        if self.rehashidx >= 0:
            self.rehash_step()
        size0, randrange = len(self.ht_table[0]), self.rng.randrange
        first, slots = self.first_random_slot(), self.slots()
        draws = 0
        while True:
            h = randrange(first, slots)
            draws += 1
            head = self.ht_table[0][h] if h < size0 else self.ht_table[1][h - size0]
            if head is not None:
                chain: list[DictEntry] = []
                _collect_chain(head, chain)
                return chain[randrange(len(chain))], draws

    def first_random_slot(self) -> int:
        """The first bucket worth drawing: while rehashing, those below it are empty for sure."""
        return max(self.rehashidx, 0)

    def get_some_keys(self, count: int) -> list[DictEntry]:
        """Up to *count* entries from neighbouring buckets at a random place.

        Quick but clustered. At most ``10 * count`` positions are looked at; after a run
        of empty ones the search jumps to another random place. A chain that does not fit
        is sampled by reservoir.

        dict.c: dictGetSomeKeys()
        """
        count = min(count, len(self.index))
        maxsteps = count * 10
        for _ in range(count):
            if self.rehashidx < 0:
                break
            self.rehash_step()
        if self.rehashidx < 0:
            return self._some_keys_of_one_table(count, maxsteps)
        tables = self.ht_table
        mask = max(len(table) for table in tables) - 1
        stored: list[DictEntry] = []
        i = self.rng.randrange(mask + 1)
        emptylen = 0
        while len(stored) < count and maxsteps > 0:
            maxsteps -= 1
            for j, table in enumerate(tables):
                # Buckets of table 0 below rehashidx have moved. If the index is out of
                # reach in table 1 too, go straight to the first that can hold something.
                if j == 0 and i < self.rehashidx:
                    if i >= len(tables[1]):
                        i = self.rehashidx
                    else:
                        continue
                if i >= len(table):
                    continue
                entry = table[i]
                if entry is None:
                    emptylen += 1
                    if emptylen >= GET_SOME_KEYS_MAX_EMPTY and emptylen > count:
                        i = self.rng.randrange(mask + 1)
                        emptylen = 0
                    continue
                emptylen = 0
                self._sample_chain(entry, stored, count)
                if len(stored) >= count:
                    return stored
            i = (i + 1) & mask
        return stored

    def _some_keys_of_one_table(self, count: int, maxsteps: int) -> list[DictEntry]:
        """The same while no rehash is under way, which is nearly always."""
        table, randrange = self.ht_table[0], self.rng.randrange
        stored: list[DictEntry] = []
        mask = len(table) - 1 if self.index else 0
        i = randrange(mask + 1)
        emptylen = 0
        left = count
        for _ in range(maxsteps):
            entry = table[i]
            if entry is None:
                emptylen += 1
                if emptylen >= GET_SOME_KEYS_MAX_EMPTY and emptylen > count:
                    i = randrange(mask + 1)
                    emptylen = 0
            else:
                emptylen = 0
                while entry is not None and left:
                    stored.append(entry)
                    left -= 1
                    entry = entry.next
                if not left:
                    self._sample_chain(entry, stored, count)
                    break
            i = (i + 1) & mask
        return stored

    def _sample_chain(self, entry: DictEntry | None, stored: list[DictEntry], count: int) -> None:
        """Store a whole chain; once *stored* is full, later entries replace random ones."""
        seen = len(stored)
        while entry is not None:
            if len(stored) < count:
                stored.append(entry)
            else:
                r = self.rng.randrange(seen + 1)
                if r < count:
                    stored[r] = entry
            seen += 1
            entry = entry.next

    def get_fair_random_key(self) -> DictEntry | None:
        """A random entry, near to uniform: one of up to 15 neighbours.

        dict.c: dictGetFairRandomKey()
        """
        entries = self.get_some_keys(15)
        if not entries:
            return self.get_random_key()
        return entries[self.rng.randrange(len(entries))]

    # -- invariants -------------------------------------------------------------------

    def _check(self) -> None:
        """Assert every invariant: layout and index agree, tables and counters are sound."""
        for i, table in enumerate(self.ht_table):
            assert len(table) == 0 or len(table) & (len(table) - 1) == 0, "size: power of two"
            count = 0
            for idx, head in enumerate(table):
                at = head
                while at is not None:
                    assert at.hash & (len(table) - 1) == idx, f"{at.key!r} is in a wrong bucket"
                    assert self.index.get(at.key) is at, f"{at.key!r} is not indexed"
                    assert at.hash == self.hash_function(at.key), f"{at.key!r}: stale hash"
                    count += 1
                    at = at.next
            assert count == self.ht_used[i], f"table {i}: {count} entries, ht_used says otherwise"
        assert sum(self.ht_used) == len(self.index), "as many entries as index says"
        if self.rehashidx < 0:
            assert not self.ht_table[1] and self.ht_used[1] == 0, "table 1 only while rehashing"
        else:
            assert self.ht_table[0] and self.ht_table[1], "rehashing needs two tables"
            assert self.rehashidx <= len(self.ht_table[0])
            assert not any(self.ht_table[0][: self.rehashidx]), "moved buckets are empty"
        assert self.pauserehash >= 0


def next_power(size: int) -> int:
    """The smallest power of two >= *size*, at least 4. dict.c: _dictNextExp()"""
    return DICT_HT_INITIAL_SIZE if size <= DICT_HT_INITIAL_SIZE else 1 << (size - 1).bit_length()


def next_cursor(cursor: int, mask: int) -> int:
    """Count the bits under *mask* up by 1 with the highest as the lowest; the rest goes.

    Redis sets the bits above the mask, reverses all 64, adds 1 and reverses back; a carry
    that runs from the highest bit downwards comes to the same.
    """
    cursor &= mask
    bit = (mask + 1) >> 1
    while cursor & bit:
        cursor ^= bit
        bit >>= 1
    return cursor | bit


def _collect_chain(entry: DictEntry | None, found: list[DictEntry]) -> None:
    while entry is not None:
        found.append(entry)
        entry = entry.next
