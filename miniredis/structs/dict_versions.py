"""The dict of other versions of Redis, where it decides the order or the time of expiry.

* :class:`Dict50`, up to 5.0: RANDOMKEY takes a plain random key.
* :class:`Dict32`, up to 3.2: an empty dict takes steps of a rehash as well.
* :class:`Dict28`, up to 2.8: a rehash step passes over any number of empty buckets, the
  end of a rehash is noticed one step late, and random picks also draw moved buckets.
* :class:`Dict74`, from 7.4 on: an operation moves the bucket of the key that it is about,
  and a deletion shrinks a table that has become nearly empty; nobody waits for the cron.

Redis: dict.c of 2.8, 5.0 and 7.4. Valkey: hashtable.c.
"""

from __future__ import annotations

from miniredis.structs.dict import DICT_HT_INITIAL_SIZE, Dict, DictEntry, DictResize

DELETE_MIN_FILL = 8  # buckets for one entry at which a table shrinks; 7.4: HASHTABLE_MIN_FILL

ENTRIES_PER_BUCKET = 7  # of Valkey's hashtable: what a cache line has room for
BUCKET_FACTOR, BUCKET_DIVISOR = 5, 32  # a new table gets 5 buckets for 32 entries
MIN_FILL_PERCENT_SOFT = 13  # % of the places below which a table is shrunk


class Dict50(Dict):
    """The dict of Redis 4.0 and 5.0."""

    __slots__ = ()

    def get_fair_random_key(self) -> DictEntry | None:
        """The fair pick came with 6.0."""
        return self.get_random_key()


class Dict32(Dict50):
    """The dict of Redis 3.0 and 3.2: an empty dict that is being rehashed takes steps too."""

    __slots__ = ()

    def find(self, key: bytes) -> DictEntry | None:
        """The entry of *key*, or None; one step first."""
        if self.rehashidx >= 0:
            self.rehash_step()
        return self.index.get(key)

    def delete(self, key: bytes) -> DictEntry | None:
        """Remove *key* and return its entry, or None; one step first."""
        if self.rehashidx >= 0 and not self.index:
            self.rehash_step()
        return super().delete(key)


class Dict28(Dict32):
    """The dict of Redis 2.2 to 2.8."""

    __slots__ = ()

    def rehash(self, n: int) -> bool:
        """Move *n* buckets, passing over all empty ones on the way; True while more are left.

        Looks whether the table is empty before a step, not after it: when the last bucket
        has moved there are still two tables, until somebody takes another step.
        """
        while n and self.rehashidx >= 0:
            n -= 1
            if not self.ht_used[0]:
                self._rehashing_completed()
                return False
            table0, table1 = self.ht_table
            start = idx = self.rehashidx
            while table0[idx] is None:
                idx += 1
            self._move_bucket(table0, table1, idx)
            self.rehashidx = idx + 1
            self.rehash_passed += idx + 1 - start
        return self.rehashidx >= 0

    def rehash_step(self) -> None:
        """``rehash(1)``, unless paused."""
        if self.pauserehash == 0:
            self.rehash(1)

    def first_random_slot(self) -> int:
        """Moved buckets are drawn as well, in vain."""
        return 0


class Dict74(Dict):
    """The dict of Redis 7.4 and 8.0."""

    __slots__ = ()

    replaces_empty_table = True

    def rehash_step_for(self, key: bytes) -> None:
        """Move the bucket of *key*, whose entries the processor has to fetch anyway.

        If that one has moved or is empty, an ordinary step is taken. dict.c: dictFind()
        """
        table0 = self.ht_table[0]
        entry = self.index.get(key)
        hash = self.hash_function(key) if entry is None else entry.hash
        idx = hash & (len(table0) - 1)
        if idx >= self.rehashidx and table0[idx] is not None:
            self._bucket_rehash(idx)
        else:
            self.rehash_step()

    def _bucket_rehash(self, idx: int) -> None:
        """Move one bucket out of turn, unless paused. dict.c: _dictBucketRehash()"""
        if self.pauserehash:
            return
        self._move_bucket(self.ht_table[0], self.ht_table[1], idx)
        self.rehash_passed += 1
        if not self.ht_used[0]:
            self._rehashing_completed()

    def delete(self, key: bytes) -> DictEntry | None:
        """Remove *key*, and begin to shrink the table if few entries are left."""
        entry = super().delete(key)
        if entry is not None:
            self.shrink_if_needed()
        return entry

    def two_phase_unlink(self, key: bytes) -> DictEntry | None:
        """Remove *key* in two phases; the first takes an ordinary step, then rehashing pauses.

        dict.c: dictTwoPhaseUnlinkFind(), dictTwoPhaseUnlinkFree()
        """
        if not self.index:
            return None
        if self.rehashidx >= 0:
            self.rehash_step()
        self.pauserehash += 1
        try:
            return self.delete(key)
        finally:
            self.pauserehash -= 1

    def shrink_if_needed(self) -> bool:
        """Shrink at one entry for 8 buckets or fewer. dict.c: dictShrinkIfNeeded()

        False if the table is neither small, nor being rehashed, nor nearly empty: then
        the cron may let it grow.
        """
        size, used = len(self.ht_table[0]), self.ht_used[0]
        if self.rehashidx >= 0 or size <= DICT_HT_INITIAL_SIZE:
            return True
        if self.can_resize is not DictResize.ENABLE or used * DELETE_MIN_FILL > size:
            return False
        self.expand(used)
        return True

    def try_resize(self) -> None:
        """What the cron does for a table. kvstore.c: kvstoreTryResizeDicts()"""
        if not self.shrink_if_needed():
            self.expand_if_needed()


class Hashtable(Dict74):
    """Valkey's hash table as far as it decides the pace of expiry: how large it is.

    A bucket fills a cache line and holds up to seven entries, and a table is made for 6.4 a
    bucket, so one step of a scan meets several keys. Differs from Valkey: the order of the
    entries in a bucket is that of :class:`Dict`; there it depends on which places are free.
    """

    __slots__ = ()

    def rehash_step_for(self, key: bytes) -> None:
        """An ordinary step."""
        self.rehash_step()

    def table_size_for(self, entries: int) -> int:
        """The power of two that has at least 5 buckets for 32 entries. nextBucketExp()"""
        buckets = -(-entries * BUCKET_FACTOR // BUCKET_DIVISOR)
        return 1 << max(buckets - 1, 0).bit_length()

    def expand_if_needed(self) -> None:
        """Grow when one entry more would not find a place. hashtableExpandIfNeeded()"""
        needed = self.ht_used[0] + 1
        if self.rehashidx < 0 and needed > ENTRIES_PER_BUCKET * len(self.ht_table[0]):
            self.expand(needed)

    def shrink_if_needed(self) -> bool:
        """Shrink when less than 13 % of the places are taken. hashtableShrinkIfNeeded()"""
        used, places = self.ht_used[0], ENTRIES_PER_BUCKET * len(self.ht_table[0])
        if self.rehashidx >= 0 or not places:
            return True
        if used * 100 // places >= MIN_FILL_PERCENT_SOFT:
            return False
        self.expand(used)
        return True
