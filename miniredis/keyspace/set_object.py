"""The value of a set: an intset while it is small and all integers, else a hash table.

Redis: ``setType*()`` in t_set.c, ``setTypeDup()``, and the parts about sets in rdb.c.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.object import string2ll
from miniredis.keyspace.rdb import rdb_saved_len_size, rdb_saved_string_len
from miniredis.keyspace.value import ValueServer
from miniredis.structs.dict import DICT_HT_INITIAL_SIZE, Dict, DictEntry
from miniredis.structs.intset import Intset

INTSET_MAX_ENTRIES = 1 << 30  # no intset grows beyond, whatever the configuration says


class SetObject:
    """A set of bytes. It begins as an intset.

    Exactly one of ``intset`` and ``ht`` is there. The first member that is no integer, or
    one more than ``set-max-intset-entries``, makes it a hash table for good: SREM never
    makes it an intset again. An intset is walked in ascending order, a hash table in the
    order of its buckets.
    """

    __slots__ = ("ht", "intset")

    scan_pairs = False

    def __init__(self) -> None:
        self.intset: Intset | None = Intset()
        self.ht: Dict | None = None

    @property
    def encoding(self) -> str:
        """``intset`` or ``hashtable``."""
        return "hashtable" if self.intset is None else "intset"

    def __len__(self) -> int:
        """t_set.c: setTypeSize()"""
        if self.intset is not None:
            return len(self.intset)
        assert self.ht is not None
        return len(self.ht)

    def __iter__(self) -> Iterator[bytes]:
        """Members in the order of the encoding. t_set.c: setTypeNext()"""
        if self.intset is not None:
            return iter([b"%d" % number for number in self.intset.values])
        assert self.ht is not None
        return (entry.key for entry in self.ht.entries())

    def add(self, member: bytes, server: ValueServer) -> bool:
        """Add *member*; False if it is there already. O(1), in an intset O(N).

        t_set.c: setTypeAdd()
        """
        intset = self.intset
        if intset is not None:
            number = string2ll(member)
            if number is not None:
                if not intset.add(number):
                    return False
                if len(intset) > min(server.config.set_max_intset_entries, INTSET_MAX_ENTRIES):
                    self.convert(server)
                return True
            self.convert(server)
        assert self.ht is not None
        return self.ht.add(member, None) is not None

    def remove(self, member: bytes) -> bool:
        """Take *member* out; False if it is not there. A table that has become nearly
        empty shrinks at once. O(1), in an intset O(N).

        t_set.c: setTypeRemove()
        """
        if self.intset is not None:
            number = string2ll(member)
            return number is not None and self.intset.remove(number)
        assert self.ht is not None
        if self.ht.delete(member) is None:
            return False
        self.ht.try_resize()
        return True

    def is_member(self, member: bytes) -> bool:
        """Whether *member* is there. O(1), in an intset O(log N).

        In a hash table this is a look-up like any other: it moves a rehash.

        t_set.c: setTypeIsMember()
        """
        if self.intset is not None:
            number = string2ll(member)
            return number is not None and self.intset.find(number)
        assert self.ht is not None
        return self.ht.find(member) is not None

    def random_element(self, rng: random.Random) -> bytes:
        """Some member of a set that has any, each nearly as likely as any other. O(1).

        t_set.c: setTypeRandomElement()
        """
        if self.intset is not None:
            return b"%d" % self.intset.random(rng)
        assert self.ht is not None
        entry = self.ht.get_fair_random_key()
        assert entry is not None, "a random element of an empty set"
        return entry.key

    def convert(self, server: ValueServer) -> None:
        """Make an intset a hash table that has the right size at once. O(N).

        t_set.c: setTypeConvert()
        """
        assert self.intset is not None
        ht = Dict(server.hash_function, server.rng)
        ht.expand(len(self.intset))
        for number in self.intset:
            ht.add(b"%d" % number, None)
        self.ht, self.intset = ht, None

    def copy(self, rng: random.Random) -> SetObject:
        """The same members in the same encoding. O(N).

        The new table has one bucket for each member or more, so its order may differ from
        the old one's. t_set.c: setTypeDup()
        """
        other = SetObject()
        if self.intset is not None:
            other.intset = self.intset.copy()
            return other
        assert self.ht is not None
        other.intset, other.ht = None, Dict(self.ht.hash_function, rng)
        other.ht.expand(len(self))
        for entry in self.ht.entries():
            other.ht.add(entry.key, None, entry.hash)
        return other

    # -- walking ----------------------------------------------------------------------

    def scan_table(self) -> Dict | None:
        """See ``commands/scanning.py``: the hash table, if it is one."""
        return self.ht

    def scan_items(self, entries: Iterable[DictEntry] | None) -> Iterable[tuple[bytes, ...]]:
        """Members as SSCAN replies them: those of *entries*, or all."""
        members = self if entries is None else (entry.key for entry in entries)
        return ((member,) for member in members)

    # -- saving -------------------------------------------------------------------------

    def reloaded(self, server: ValueServer) -> SetObject:
        """The set as it is after saving and loading. O(N).

        An intset is saved as it is. A hash table is saved as a list of members, and loaded
        as an intset if it is small enough, until a member comes that is no integer: so a
        set that was once something else is an intset again. rdb.c: rdbLoadObject()
        """
        if self.intset is not None:
            return SetObject.of_intset(self.intset.copy(), server)
        return SetObject.of_members(self, len(self), server)

    @classmethod
    def of_intset(cls, intset: Intset, server: ValueServer) -> SetObject:
        """A set that was saved as an intset. O(N)."""
        loaded = cls()
        loaded.intset = intset
        if len(intset) > server.config.set_max_intset_entries:
            loaded.convert(server)
        return loaded

    @classmethod
    def of_members(cls, members: Iterable[bytes], size: int, server: ValueServer) -> SetObject:
        """A set that was saved as a list of *size* members. O(N).

        ValueError if one comes twice.
        """
        loaded = cls()
        if size > min(server.config.set_max_intset_entries, INTSET_MAX_ENTRIES):
            loaded.intset, loaded.ht = None, Dict(server.hash_function, server.rng)
            if size > DICT_HT_INITIAL_SIZE:
                loaded.ht.expand(size)
        for member in members:
            if loaded.intset is not None:
                number = string2ll(member)
                if number is not None:
                    if not loaded.intset.add(number):
                        raise ValueError(f"the member {member!r} comes twice")
                    continue
                loaded.convert(server)
                assert loaded.ht is not None
                loaded.ht.expand(size)
            assert loaded.ht is not None
            if loaded.ht.add(member, None) is None:
                raise ValueError(f"the member {member!r} comes twice")
        return loaded

    def rdb_saved_len(self) -> int:
        """Bytes that it takes in a file when nothing is compressed. O(N).

        rdb.c: rdbSaveObject()
        """
        if self.intset is not None:
            size = self.intset.blob_len()
            return rdb_saved_len_size(size) + size
        return rdb_saved_len_size(len(self)) + sum(map(rdb_saved_string_len, self))

    def add_to_digest(self, digest: Digest) -> None:
        """Members have no order. debug.c: xorObjectDigest()"""
        for member in self:
            digest.xor(member)

    def _check(self) -> None:
        """Assert that there is one encoding, that it is sound and may hold the members."""
        assert (self.intset is None) != (self.ht is None), "one encoding"
        if self.intset is not None:
            self.intset._check()
        if self.ht is not None:
            self.ht._check()

    def __repr__(self) -> str:
        return f"<SetObject {self.encoding}: {len(self)} members>"
