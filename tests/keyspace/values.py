"""What tests of values share: as much of a server as a value needs."""

from __future__ import annotations

import random

from miniredis.keyspace.digest import Digest
from miniredis.keyspace.value import Value
from miniredis.server.config import Config
from miniredis.structs.hashing import HashFunction, fast_hash


class FakeServer:
    """Meets ``ValueServer``; *config* are parameters such as ``set_max_intset_entries``."""

    def __init__(self, **config: object) -> None:
        self.hash_function: HashFunction = fast_hash(1)
        self.rng = random.Random(1)
        self.config = Config(**config)


def digest_of(value: Value) -> bytes:
    digest = Digest()
    value.add_to_digest(digest)
    return digest.hex()
