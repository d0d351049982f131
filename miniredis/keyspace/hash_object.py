"""The value of a hash: a listpack of pairs while it is small, else a hash table.

Redis: ``hashType*()`` in t_hash.c, and the parts about hashes in rdb.c.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import chain

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.listpack_size import LISTPACK_MAX_SAFETY_SIZE, listpack_bytes
from miniredis.keyspace.rdb import rdb_saved_len_size, rdb_saved_string_len
from miniredis.keyspace.value import ValueServer
from miniredis.structs.dict import DICT_HT_INITIAL_SIZE, Dict, DictEntry


class HashObject:
    """A map of bytes to bytes. It begins as a listpack.

    Exactly one of ``listpack`` and ``ht`` is there. A field or value longer than
    ``hash-max-listpack-value`` bytes, or more fields than ``hash-max-listpack-entries``,
    make it a hash table for good. A listpack is walked in the order in which fields came,
    a hash table in the order of its buckets.

    Differs from Redis: the listpack is a Python dict. That keeps the order of insertion and
    leaves a field where it is when its value changes, just as a listpack does, and
    finds a field in O(1) where Redis searches from the front.
    """

    __slots__ = ("ht", "listpack")

    scan_pairs = True

    def __init__(self) -> None:
        self.listpack: dict[bytes, bytes] | None = {}
        self.ht: Dict | None = None

    @property
    def encoding(self) -> str:
        """``listpack`` or ``hashtable``."""
        return "hashtable" if self.listpack is None else "listpack"

    def __len__(self) -> int:
        """t_hash.c: hashTypeLength()"""
        if self.listpack is not None:
            return len(self.listpack)
        assert self.ht is not None
        return len(self.ht)

    def __iter__(self) -> Iterator[bytes]:
        """Fields in the order of the encoding."""
        return (field for field, _ in self.items())

    def items(self) -> Iterable[tuple[bytes, bytes]]:
        """Fields with their values in the order of the encoding. t_hash.c: hashTypeNext()"""
        if self.listpack is not None:
            return self.listpack.items()
        assert self.ht is not None
        return ((entry.key, entry.val) for entry in self.ht.entries())

    def get(self, field: bytes) -> bytes | None:
        """The value of *field*, or None. O(1).

        In a hash table this moves a rehash. t_hash.c: hashTypeGetValue()
        """
        if self.listpack is not None:
            return self.listpack.get(field)
        assert self.ht is not None
        entry = self.ht.find(field)
        return None if entry is None else entry.val

    def try_conversion(self, arguments: tuple[bytes, ...], server: ValueServer) -> None:
        """Make it a hash table if one of *arguments*, which will be added, is too long.

        Done before the first is added, and also if it then turns out to change nothing.
        t_hash.c: hashTypeTryConversion()
        """
        if self.listpack is None:
            return
        longest = server.config.hash_max_listpack_value
        total = 0
        for argument in arguments:
            total += len(argument)
            if len(argument) > longest:
                self.convert(server)
                return
        if not self._safe_to_add(total, server):
            self.convert(server)

    def _safe_to_add(self, size: int, server: ValueServer) -> bool:
        """Whether the listpack may grow by *size* bytes; with the usual limits it always may.

        listpack.c: lpSafeToAdd()
        """
        config = server.config
        longest = 2 * config.hash_max_listpack_entries * config.hash_max_listpack_value
        if longest + size < LISTPACK_MAX_SAFETY_SIZE:
            return True
        return self._listpack_bytes() + size <= LISTPACK_MAX_SAFETY_SIZE

    def _listpack_bytes(self) -> int:
        assert self.listpack is not None
        return listpack_bytes(chain.from_iterable(self.listpack.items()))

    def set(self, field: bytes, value: bytes, server: ValueServer) -> bool:
        """Set *field*, which may be of any length, to *value*; whether it is new. O(1).

        t_hash.c: hashTypeSet()
        """
        if self.listpack is not None:
            longest = server.config.hash_max_listpack_value
            if len(field) > longest or len(value) > longest:
                self.convert(server)
        return self.put(field, value, server)

    def put(self, field: bytes, value: bytes, server: ValueServer) -> bool:
        """The same for what has passed :meth:`try_conversion`."""
        listpack = self.listpack
        if listpack is not None:
            created = field not in listpack
            listpack[field] = value
            if len(listpack) > server.config.hash_max_listpack_entries:
                self.convert(server)
            return created
        assert self.ht is not None
        entry = self.ht.find(field)
        if entry is not None:
            entry.val = value
            return False
        self.ht.add(field, value)
        return True

    def delete(self, field: bytes) -> bool:
        """Take *field* out; False if it is not there. A table that has become nearly empty
        shrinks at once. O(1).

        t_hash.c: hashTypeDelete()
        """
        if self.listpack is not None:
            return self.listpack.pop(field, None) is not None
        assert self.ht is not None
        if self.ht.delete(field) is None:
            return False
        self.ht.try_resize()
        return True

    def convert(self, server: ValueServer) -> None:
        """Make a listpack a hash table that has the right size at once. O(N).

        t_hash.c: hashTypeConvertListpack()
        """
        assert self.listpack is not None
        ht = Dict(server.hash_function, server.rng)
        ht.expand(len(self.listpack))
        for field, value in self.listpack.items():
            ht.add(field, value)
        self.ht, self.listpack = ht, None

    def copy(self, rng: random.Random) -> HashObject:
        """The same pairs in the same encoding. O(N).

        The new table has one bucket for each field or more, so its order may differ from
        the old one's. t_hash.c: hashTypeDup()
        """
        other = HashObject()
        if self.listpack is not None:
            other.listpack = self.listpack.copy()
            return other
        assert self.ht is not None
        other.listpack, other.ht = None, Dict(self.ht.hash_function, rng)
        other.ht.expand(len(self))
        for entry in self.ht.entries():
            other.ht.add(entry.key, entry.val, entry.hash)
        return other

    # -- random picks -------------------------------------------------------------------

    def random_element(self, rng: random.Random) -> tuple[bytes, bytes]:
        """Some field of a hash that has any, and its value. O(1), in a listpack O(N).

        t_hash.c: hashTypeRandomElement()
        """
        if self.listpack is not None:
            return self.random_pairs(1, rng)[0]
        assert self.ht is not None
        entry = self.ht.get_fair_random_key()
        assert entry is not None, "a random element of an empty hash"
        return entry.key, entry.val

    def random_pairs(self, count: int, rng: random.Random) -> list[tuple[bytes, bytes]]:
        """*count* pairs, drawn one by one, so that some may come several times. O(N + count).

        listpack.c: lpRandomPairs(); t_hash.c: hrandfieldWithCountCommand(), case 1
        """
        if self.listpack is None:
            return [self.random_element(rng) for _ in range(count)]
        pairs = list(self.listpack.items())
        return [pairs[rng.randrange(len(pairs))] for _ in range(count)]

    def random_pairs_unique(self, count: int, rng: random.Random) -> list[tuple[bytes, bytes]]:
        """*count* different pairs of a listpack, in its order; it must have as many. O(N).

        One walk does it: each pair is taken with the probability of those still wanted to
        those still to come. To take 2 of 4, the first is taken with 2/4; if it was, the second
        with 1/3, else with 2/3; once as many are wanted as are left, all are taken.

        listpack.c: lpRandomPairsUnique()
        """
        assert self.listpack is not None
        picked: list[tuple[bytes, bytes]] = []
        left = len(self.listpack)
        for pair in self.listpack.items():
            if len(picked) == count:
                break
            if rng.random() <= (count - len(picked)) / left:
                picked.append(pair)
            left -= 1
        return picked

    # -- walking ----------------------------------------------------------------------

    def scan_table(self) -> Dict | None:
        """See ``commands/scanning.py``: the hash table, if it is one."""
        return self.ht

    def scan_items(self, entries: Iterable[DictEntry] | None) -> Iterable[tuple[bytes, ...]]:
        """Pairs as HSCAN replies them: those of *entries*, or all."""
        return self.items() if entries is None else ((e.key, e.val) for e in entries)

    # -- saving -------------------------------------------------------------------------

    def reloaded(self, server: ValueServer) -> HashObject:
        """The hash as it is after saving and loading. O(N).

        A listpack is saved as it is. A hash table is saved as a list of pairs, and loaded as
        a listpack if it is small enough, until a pair comes that is too long: so a hash
        that was once bigger is a listpack again. rdb.c: rdbLoadObject()
        """
        if self.listpack is not None:
            return HashObject.of_listpack(self.listpack.copy(), server)
        return HashObject.of_pairs(self.items(), len(self), server)

    @classmethod
    def of_listpack(cls, listpack: dict[bytes, bytes], server: ValueServer) -> HashObject:
        """A hash that was saved as a listpack. O(N)."""
        loaded = cls()
        loaded.listpack = listpack
        if len(listpack) > server.config.hash_max_listpack_entries:
            loaded.convert(server)
        return loaded

    @classmethod
    def of_pairs(
        cls, pairs: Iterable[tuple[bytes, bytes]], size: int, server: ValueServer
    ) -> HashObject:
        """A hash that was saved as a list of *size* pairs. O(N).

        ValueError if a field comes twice.
        """
        config = server.config
        loaded, left = cls(), size
        if left > config.hash_max_listpack_entries:
            loaded.convert(server)
            loaded._expand(left)
        longest = config.hash_max_listpack_value
        for field, value in pairs:
            left -= 1
            if loaded.listpack is not None:
                if field in loaded.listpack:
                    raise ValueError(f"the field {field!r} comes twice")
                too_long = len(field) > longest or len(value) > longest
                if not too_long and loaded._safe_to_add(len(field) + len(value), server):
                    loaded.listpack[field] = value
                    continue
                loaded.convert(server)
                assert loaded.ht is not None
                loaded.ht.add(field, value)
                loaded._expand(left)
                continue
            assert loaded.ht is not None
            if loaded.ht.add(field, value) is None:
                raise ValueError(f"the field {field!r} comes twice")
        return loaded

    def _expand(self, fields: int) -> None:
        """Make room for so many fields; the table may have some already.

        The table that a conversion has made is there already, so that what looks like
        presizing begins a rehash, and is refused if the table holds more than that.
        """
        assert self.ht is not None
        if fields > DICT_HT_INITIAL_SIZE:
            self.ht.expand(fields)

    def rdb_saved_len(self) -> int:
        """Bytes that it takes in a file when nothing is compressed. O(N).

        rdb.c: rdbSaveObject()
        """
        if self.listpack is not None:
            size = self._listpack_bytes()
            return rdb_saved_len_size(size) + size
        parts = chain.from_iterable(self.items())
        return rdb_saved_len_size(len(self)) + sum(map(rdb_saved_string_len, parts))

    def add_to_digest(self, digest: Digest) -> None:
        """Fields have no order, field and value have. debug.c: xorObjectDigest()"""
        for field, value in self.items():
            pair = Digest()
            pair.mix(field)
            pair.mix(value)
            digest.xor(pair.raw())

    def _check(self) -> None:
        """Assert that there is one encoding, and that it is sound."""
        assert (self.listpack is None) != (self.ht is None), "one encoding"
        if self.ht is not None:
            self.ht._check()

    def __repr__(self) -> str:
        return f"<HashObject {self.encoding}: {len(self)} fields>"
