"""A pair of servers with the same hashes, so that hash tables have the same order."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.differential.layout import learn_hashes
from tests.differential.pair import CLIENTS, KEYS, Pair
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient


class LearnedPair(Pair):
    """A pair whose hashes agree for *words*: all keys, fields and members that will be used."""

    draws: random.Random | None = None  # random numbers of the simulated server, if not its own

    def __init__(self, frozen: FrozenServer, words: Iterable[bytes]) -> None:
        ask = RawClient(frozen.port)
        self.hashes = learn_hashes(ask, {*KEYS, *words})
        ask(b"FLUSHALL")
        ask.close()
        super().__init__(frozen)
        self.hash_function = self._hash

    def start(self, resp: int = 2) -> None:
        super().start(resp)
        if self.draws is not None:
            self.server.rng = self.draws

    def _hash(self, word: bytes) -> int:
        assert word in self.hashes, f"the hash of {word!r} was not learned"
        return self.hashes[word]

    def compare_values(self, keys: Iterable[bytes]) -> None:
        """The order of all elements, tables and encodings of *keys*."""
        for client in range(CLIENTS):
            self.step((client, (b"RESET",)))
        for db in (b"0", b"1"):
            self.step((0, (b"SELECT", db)))
            for key in keys:
                self.step((0, (b"OBJECT", b"ENCODING", key)))
                self.step((0, (b"PTTL", key)))
                self.step((0, (b"DEBUG", b"DIGEST-VALUE", key)))
                self.step((0, (b"DEBUG", b"HTSTATS-KEY", key)))
                self.step((0, (b"HGETALL", key)))
                self.step((0, (b"SMEMBERS", key)))
            self.step((0, (b"KEYS", b"*")))
