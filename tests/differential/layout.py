"""Giving the simulator the hashes of a real server, so that both lay keys out alike.

A real server draws the seed of its hash at start and tells it to nobody, but it can be
asked for hashes: in a table of, say, 2**16 buckets that is not being rehashed, SCAN names
the bucket of each key, which is the low 16 bits of its hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.net.resp import encode_reply
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient
from tests.real.versions import engine_of

HASH_BITS = 16
CRON_MS = 100
SCAN_COUNT_1 = (b"COUNT", b"1")


# -- learning the hashes ------------------------------------------------------------------


def parse_scan(reply: bytes) -> tuple[bytes, list[bytes]]:
    """The cursor and the keys in the reply of SCAN."""
    words = reply.split(b"\r\n")
    return words[2], words[5:-1:2]


def reversed_bits(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


def visited_bucket(cursor_after: int, bits: int) -> int:
    """The bucket that SCAN visited last: its cursor counts with its bits reversed."""
    return reversed_bits((reversed_bits(cursor_after, bits) - 1) % 2**bits, bits)


def learn_hashes(ask: RawClient, keys: Iterable[bytes], bits: int = HASH_BITS) -> dict[bytes, int]:
    """The low *bits* of the hash of each key. The table stays large when fillers go.

    From 7.4 on it would shrink at once; there it can be told not to. In 2.8 the fillers have
    the names ``key:0``, ``key:1`` and so on and stay, for nobody tells the sizes of tables.
    """
    keys = list(keys)
    fillers = 2 ** (bits - 1) + 1  # the fewest keys for which a table of that size is made
    ask(b"FLUSHALL")
    if ask(b"DEBUG", b"POPULATE", b"%d" % fillers, b"filler").startswith(b"-"):
        ask(b"DEBUG", b"POPULATE", b"%d" % fillers)
        return scan_hashes(ask, bits)
    ask(b"DEBUG", b"DICT-RESIZING", b"0")
    ask(b"DEL", *(b"filler:%d" % i for i in range(fillers)))
    ask(b"MSET", *(word for key in keys for word in (key, b"")))
    stats = ask(b"DEBUG", b"HTSTATS", b"0")
    assert b" table size: %d\n number of elements: %d\n" % (2**bits, len(keys)) in stats
    assert b"rehashing target" not in stats
    hashes = scan_hashes(ask, bits)
    ask(b"DEBUG", b"DICT-RESIZING", b"1")
    return hashes


def scan_hashes(ask: RawClient, bits: int) -> dict[bytes, int]:
    """The bucket of every key in a table of 2**bits."""
    hashes: dict[bytes, int] = {}
    cursor = b"0"
    while True:
        cursor, found = parse_scan(ask(b"SCAN", cursor, *SCAN_COUNT_1))
        # The call ends with the first bucket that holds a key, so these share that bucket.
        hashes |= dict.fromkeys(found, visited_bucket(int(cursor), bits))
        if cursor == b"0":
            return hashes


_EMPTY_TABLE = re.compile(
    rb"(Hash table \d stats \([a-z ]+\):\n)?No stats available for empty dictionaries\n"
)


def table_stats(reply: bytes) -> list[bytes]:
    """The lines of DEBUG HTSTATS but for what is said of empty tables, which versions vary."""
    return _EMPTY_TABLE.sub(b"", reply).split(b"\n")[1:]


# -- both servers in step -------------------------------------------------------------------


class LayoutPair:
    """A real server and a simulated one, empty, at the same instant, with the same hash."""

    def __init__(self, frozen: FrozenServer, ask: RawClient, hashes: dict[bytes, int]) -> None:
        self.frozen = frozen
        self.ask = ask
        if frozen.version >= (6, 2):
            ask(b"RESET")
        ask(b"FLUSHALL")
        # A new server runs its cron after 1 ms; bring the real one to that point too.
        frozen.advance_ms((frozen.next_cron_us - frozen.us) // 1000 - 1)
        self.clock = VirtualClock(frozen.ms)
        self.server = Server(
            self.clock,
            seed=1,
            cost=FREE,
            hash_function=hashes.__getitem__,
            expire_engine=engine_of(frozen.version),
        )
        self.mine = self.server.create_client()
        self.set(b"activerehashing", b"no")
        self.expire_actively(False)

    def run_mine(self, *argv: bytes) -> bytes:
        return encode_reply(self.server.process_command(self.mine, list(argv)), 2)

    def reply(self, *argv: bytes) -> bytes:
        """Run a command on both sides; the one reply."""
        expected = self.ask(*argv)
        assert self.run_mine(*argv) == expected, argv
        return expected

    def run(self, *argv: bytes) -> None:
        """Run a command on both sides and compare the tables."""
        self.reply(*argv)
        self.compare_tables(argv)

    def set(self, name: bytes, value: bytes) -> None:
        if name == b"activerehashing" and self.frozen.version < (3,):
            return  # could only be set in the file then
        self.reply(b"CONFIG", b"SET", name, value)

    def expire_actively(self, on: bool) -> None:
        self.reply(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"%d" % on)

    def compare_tables(self, after: object) -> None:
        if self.frozen.version < (3,):
            return  # DEBUG HTSTATS came later
        # From 7.2 on the lengths of the chains are told only to those who ask.
        full = [b"full"] if self.frozen.version >= (7, 2) else []
        for db in (b"0", b"1"):
            expected = table_stats(self.ask(b"DEBUG", b"HTSTATS", db, *full))
            assert table_stats(self.run_mine(b"DEBUG", b"HTSTATS", db)) == expected, after

    def advance(self, ms: int) -> None:
        self.frozen.advance_ms(ms)
        self.clock.advance(ms)
        self.compare_tables(f"{ms} ms")

    def walk(self) -> None:
        """A whole SCAN, bucket by bucket, and the order of all keys before and after it."""
        self.run(b"KEYS", b"*")
        cursor = b"0"
        while True:
            cursor, _ = parse_scan(self.reply(b"SCAN", cursor, *SCAN_COUNT_1))
            if cursor == b"0":
                break
        self.run(b"KEYS", b"*")
        self.server._check()

    def sizes(self, table: str = "dict") -> list[int]:
        """The sizes of the tables of a dict of database 0, of which the real one has the same."""
        tables = getattr(self.server.databases[0], table).ht_table
        return [len(buckets) for buckets in tables if buckets]
