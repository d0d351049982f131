"""What the classes of values that are no strings have in common.

Commands that work on any type (COPY, OBJECT, DEBUG) ask the value; they do not ask which
type it is.

Redis: the ``switch`` statements on type and encoding in object.c, rdb.c and debug.c.
"""

from __future__ import annotations

import random
from typing import Any, Protocol

from miniredis.keyspace.digest import Digest
from miniredis.structs.hashing import HashFunction


class ValueServer(Protocol):
    """What a value needs of the server when its encoding changes."""

    hash_function: HashFunction
    rng: random.Random
    config: Any  # thresholds such as hash_max_listpack_entries


class Value(Protocol):
    """The ``ptr`` of a RedisObject that is no string."""

    @property
    def encoding(self) -> str:
        """The name that OBJECT ENCODING replies."""

    def __len__(self) -> int:
        """Number of elements."""

    def copy(self, rng: random.Random) -> Value:
        """An equal value of the same encoding, for COPY. O(N)."""

    def reloaded(self, server: ValueServer) -> Value:
        """The value as it is after saving and loading: DEBUG RELOAD. O(N)."""

    def add_to_digest(self, digest: Digest) -> None:
        """Add all elements, for DEBUG DIGEST. O(N). debug.c: xorObjectDigest()"""

    def rdb_saved_len(self) -> int:
        """Bytes that it takes in a file when nothing is compressed. O(N)."""

    def _check(self) -> None:
        """Assert the invariants."""
