"""DUMP and RESTORE on miniredis and on a frozen real server: the same bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from miniredis.structs.crc64 import crc64
from tests.differential.pair import Pair

Command = tuple[bytes, ...]
DAMAGES = 12  # of each payload


def payload_of(reply: bytes) -> bytes:
    """The bytes in a bulk string's reply."""
    return reply.partition(b"\r\n")[2][:-2]


class Exchange:
    """Makes values on both servers, and passes their dumps to and fro."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair

    def mine(self, *argv: bytes) -> bytes:
        return self.pair.run_mine(self.pair.mine[0], argv)

    def real(self, *argv: bytes) -> bytes:
        return self.pair.real[0](*argv)

    def both(self, *argv: bytes) -> bytes:
        return self.pair.step((0, argv))

    def check(self, key: bytes, ordered: bool = True) -> None:
        """The same bytes (if the order in them is not that of a hash table), and each server
        makes the same value of the other's.
        """
        theirs, ours = (payload_of(dump(b"DUMP", key)) for dump in (self.real, self.mine))
        assert len(theirs) > 10
        if ordered:
            assert ours == theirs
        self.compare(theirs)
        self.compare(ours)
        digest = self.real(b"DEBUG", b"DIGEST-VALUE", key, b"copy")
        assert self.mine(b"DEBUG", b"DIGEST-VALUE", key, b"copy") == digest
        assert digest.split(b"\r\n")[1] == digest.split(b"\r\n")[2]

    def compare(self, payload: bytes) -> None:
        self.pair.step((0, (b"RESTORE", b"copy", b"0", payload, b"REPLACE")))
        for command in (b"ENCODING", b"copy"), (b"REFCOUNT", b"copy"):
            self.pair.step((0, (b"OBJECT", *command)))
        self.pair.step((0, (b"DEBUG", b"DIGEST-VALUE", b"copy")))
        self.pair.server._check()
        if self.mine(b"OBJECT", b"ENCODING", b"copy") != b"$9\r\nhashtable\r\n":
            self.pair.step((0, (b"DUMP", b"copy")))


@pytest.fixture
def exchange(pair: Pair) -> Iterator[Exchange]:
    pair.start()
    yield Exchange(pair)
    pair.real[0](b"CONFIG", b"SET", *DEFAULTS)
    pair.real[0](b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"1gb")


DEFAULTS = (
    b"hash-max-listpack-entries 512 hash-max-listpack-value 64 "
    b"set-max-intset-entries 512 zset-max-listpack-entries 128 zset-max-listpack-value 64 "
    b"list-max-listpack-size -2 list-compress-depth 0 stream-node-max-entries 100 "
    b"rdbcompression yes sanitize-dump-payload no"
).split()

NUMBERS = [0, 1, -1, 2**6, 2**7, 2**12, 2**13, 2**15, 2**23, 2**31, 2**32, 2**63 - 1, -(2**63)]


def element(rng: random.Random) -> bytes:
    """An element of any shape that encodings tell apart."""
    shape = rng.randrange(8)
    if shape < 2:
        number = rng.choice(NUMBERS) + rng.randint(-2, 2)
        return b"%d" % min(max(number, -(2**63)), 2**63 - 1)
    if shape == 2:
        return rng.choice([b"", b"-0", b"+1", b"01", b" 1", b"-", b"1.5", b"9223372036854775808"])
    if shape == 3:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(80)))
    if shape == 4:
        return bytes(rng.choice(b"ab") for _ in range(rng.choice([15, 63, 64, 65, 127])))
    if shape == 5 and rng.random() < 0.2:
        return bytes(rng.choice(b"abc ") for _ in range(rng.choice([500, 4095, 4096, 9000])))
    return b"%s:%d" % (rng.choice([b"user", b"session", b"x"]), rng.randrange(1000))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("compression", [b"yes", b"no"])
def test_strings(exchange: Exchange, seed: int, compression: bytes) -> None:
    exchange.both(b"CONFIG", b"SET", b"rdbcompression", compression)
    rng = random.Random(seed)
    for _ in range(25):
        exchange.both(b"SET", b"a", element(rng))
        exchange.check(b"a")
        exchange.both(b"APPEND", b"a", element(rng))
        exchange.check(b"a")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("depth", [b"0", b"1"])
def test_lists(exchange: Exchange, seed: int, depth: bytes) -> None:
    rng = random.Random(seed)
    exchange.both(b"CONFIG", b"SET", b"list-max-listpack-size", rng.choice([b"-2", b"-1", b"5"]))
    exchange.both(b"CONFIG", b"SET", b"list-compress-depth", depth)
    if seed % 2:
        exchange.both(b"DEBUG", b"QUICKLIST-PACKED-THRESHOLD", b"100b")
    for _ in range(6):
        elements = [element(rng) for _ in range(rng.choice([1, 3, 60]))]
        exchange.both(rng.choice([b"RPUSH", b"LPUSH"]), b"a", *elements)
        exchange.both(b"LINSERT", b"a", b"BEFORE", elements[0], element(rng))
        exchange.both(b"LREM", b"a", b"0", elements[-1])
        if exchange.both(b"EXISTS", b"a") == b":1\r\n":
            exchange.check(b"a")


@pytest.mark.parametrize("seed", range(4))
def test_sets(exchange: Exchange, seed: int) -> None:
    rng = random.Random(seed)
    exchange.both(b"CONFIG", b"SET", b"set-max-intset-entries", rng.choice([b"512", b"20"]))
    for _ in range(8):
        width = rng.choice([8, 15, 16, 31, 40, 62])
        numbers = [b"%d" % rng.randint(-(2**width), 2**width) for _ in range(rng.randint(1, 20))]
        exchange.both(b"SADD", b"a", *numbers)
        exchange.check(b"a", ordered=exchange.mine(b"OBJECT", b"ENCODING", b"a")[4:5] == b"i")
        exchange.both(b"SREM", b"a", *numbers[1:])
        exchange.both(b"SADD", b"b", *(element(rng) for _ in range(rng.choice([1, 10]))), b"word")
        exchange.check(b"b", ordered=False)


@pytest.mark.parametrize("seed", range(4))
def test_hashes(exchange: Exchange, seed: int) -> None:
    rng = random.Random(seed)
    exchange.both(b"CONFIG", b"SET", b"hash-max-listpack-value", rng.choice([b"64", b"9999"]))
    for key in (b"a", b"b", b"c"):
        for _ in range(4):
            exchange.both(b"HSET", key, *(element(rng) for _ in range(2 * rng.randint(1, 30))))
            ordered = exchange.mine(b"OBJECT", b"ENCODING", key)[4:5] == b"l"
            exchange.check(key, ordered)
    exchange.both(b"CONFIG", b"SET", b"hash-max-listpack-entries", b"10")
    for key in (b"a", b"b", b"c"):
        exchange.check(key, ordered=False)


SCORES = [b"0", b"-0", b"1.5", b"inf", b"-inf", b"1e20", b"4611686018427387904", b"3e-9", b"0.1"]


@pytest.mark.parametrize("seed", range(4))
def test_sorted_sets(exchange: Exchange, seed: int) -> None:
    rng = random.Random(seed)
    exchange.both(b"CONFIG", b"SET", b"zset-max-listpack-value", rng.choice([b"64", b"9999"]))
    for _ in range(5):
        for _ in range(rng.choice([1, 30])):
            score = rng.choice([*SCORES, b"%d" % rng.randint(-(2**40), 2**40)])
            exchange.both(b"ZADD", b"a", score, element(rng))
        exchange.check(b"a")


@pytest.mark.parametrize("seed", range(4))
def test_streams(exchange: Exchange, seed: int) -> None:
    rng = random.Random(seed)
    exchange.both(b"CONFIG", b"SET", b"stream-node-max-entries", rng.choice([b"100", b"3"]))
    exchange.both(b"XGROUP", b"CREATE", b"a", b"z", b"$", b"MKSTREAM")
    exchange.both(b"XGROUP", b"CREATE", b"a", b"g", b"0")
    ids = []
    for i in range(40):
        exchange.pair.step(rng.choice([0, 1, 70_000]))
        names = rng.choice([(b"x", b"y"), (b"x", b"y"), (b"name",), (b"1", b"22", b"3")])
        ids.append(b"%d-%d" % (exchange.pair.frozen.ms, i))
        fields = [part for name in names for part in (name, element(rng))]
        exchange.both(b"XADD", b"a", ids[-1], *fields)
        match rng.randrange(6):
            case 0:
                exchange.both(b"XDEL", b"a", rng.choice(ids))
            case 1:
                exchange.both(b"XTRIM", b"a", b"MAXLEN", b"%d" % rng.randint(1, 20))
            case 2:
                who = rng.choice([b"carl", b"anna"])
                read = (b"XREADGROUP", b"GROUP", b"g", who, b"COUNT", b"3")
                exchange.both(*read, b"STREAMS", b"a", b">")
            case 3:
                exchange.both(b"XACK", b"a", b"g", rng.choice(ids))
        if i % 4 == 3:
            exchange.check(b"a")
    exchange.both(b"XINFO", b"STREAM", b"copy", b"FULL")


def test_options_and_errors(exchange: Exchange) -> None:
    exchange.both(b"SET", b"a", b"hello")
    payload = payload_of(exchange.both(b"DUMP", b"a"))
    wrong = payload[:-1] + bytes((payload[-1] ^ 1,))
    newer = payload[:-10] + b"\x0b\x00" + payload[-8:]
    for argv in (
        (b"DUMP", b"missing"),
        (b"RESTORE", b"a", b"0", payload),
        (b"RESTORE", b"a", b"x", payload),
        (b"RESTORE", b"b", b"x", wrong),
        (b"RESTORE", b"b", b"-1", wrong),
        (b"RESTORE", b"b", b"0", wrong),
        (b"RESTORE", b"b", b"0", newer),
        (b"RESTORE", b"b", b"0", b""),
        (b"RESTORE", b"b", b"0", payload[-10:]),
        (b"RESTORE", b"b", b"0", payload, b"KEEPTTL"),
        (b"RESTORE", b"b", b"0", payload, b"IDLETIME"),
        (b"RESTORE", b"b", b"0", payload, b"IDLETIME", b"x"),
        (b"RESTORE", b"b", b"0", payload, b"IDLETIME", b"-1"),
        (b"RESTORE", b"b", b"0", payload, b"FREQ", b"256"),
        (b"RESTORE", b"b", b"0", payload, b"FREQ", b"1", b"IDLETIME", b"1"),
        (b"RESTORE", b"b", b"0", payload, b"IDLETIME", b"1", b"FREQ", b"1"),
        (b"RESTORE", b"b", b"0", payload, b"IDLETIME", b"1000"),
        (b"OBJECT", b"IDLETIME", b"b"),
        (b"RESTORE", b"b", b"5000", payload, b"REPLACE", b"IDLETIME", b"99999999"),
        (b"OBJECT", b"IDLETIME", b"b"),
        (b"PTTL", b"b"),
        (b"RESTORE", b"b", b"now-ms:700", payload, b"replace", b"ABSTTL"),
        (b"PTTL", b"b"),
        (b"RESTORE", b"b", b"1", payload, b"ABSTTL", b"REPLACE"),
        (b"EXISTS", b"b"),
        (b"RESTORE", b"b", b"1", payload, b"ABSTTL", b"REPLACE"),
        (b"RESTORE", b"b", b"9223372036854775807", payload),
        (b"EXISTS", b"b"),
        (b"RESTORE-ASKING", b"b", b"0", payload, b"FREQ", b"255"),
        (b"GET", b"b"),
    ):
        exchange.both(*argv)


def with_crc(body: bytes) -> bytes:
    body += b"\x0a\x00"
    return body + crc64(0, body).to_bytes(8, "little")


@pytest.mark.parametrize("seed", range(6))
def test_damaged_payloads(exchange: Exchange, seed: int) -> None:
    """What a careful real server refuses, is refused here; what it takes, is the same value."""
    rng = random.Random(seed)
    exchange.both(b"CONFIG", b"SET", b"sanitize-dump-payload", b"yes")
    exchange.both(b"RPUSH", b"l", *(element(rng) for _ in range(5)))
    exchange.both(b"SADD", b"i", b"1", b"2", b"70000")
    exchange.both(b"SADD", b"s", b"a", b"b", b"c")
    exchange.both(b"HSET", b"h", *(element(rng) for _ in range(6)))
    exchange.both(b"ZADD", b"z", b"1", b"a", b"2.5", b"b")
    exchange.both(b"ZADD", b"y", b"1", b"a" * 65, b"2.5", b"b")
    exchange.both(b"SET", b"t", b"abc" * 20)
    for key in (b"l", b"i", b"s", b"h", b"z", b"y", b"t"):
        body = payload_of(exchange.mine(b"DUMP", key))[:-10]
        for _ in range(DAMAGES):
            damaged = bytearray(body)
            at = rng.randrange(len(damaged))
            damaged[at] = rng.choice([0, 1, 0x80, 0xFF, rng.randrange(256)])
            if rng.random() < 0.3:
                del damaged[rng.randrange(len(damaged)) :]
            restore = (b"RESTORE", b"copy", b"0", with_crc(bytes(damaged)), b"REPLACE")
            exchange.both(*restore)
            exchange.both(b"DEBUG", b"DIGEST-VALUE", b"copy")


def ziplist(*entries: bytes) -> bytes:
    """Of entries without the size of the one before."""
    out, last, previous = b"", 10, 0
    for entry in entries:
        last = 10 + len(out)
        out += bytes((previous,)) + entry
        previous = 1 + len(entry)
    total = 10 + len(out) + 1
    head = total.to_bytes(4, "little") + last.to_bytes(4, "little")
    return head + len(entries).to_bytes(2, "little") + out + b"\xff"


def rdb_string(value: bytes) -> bytes:
    assert len(value) < 64
    return bytes((len(value),)) + value


ONE, TWELVE, MINUS, WORD = b"\xf2", b"\xfd", b"\xfe\xff", b"\x04word"
WIDE = (
    b"\xc0\x00\x80",
    b"\xf0\x00\x00\x80",
    b"\xd0\x00\x00\x00\x80",
    b"\xe0" + b"\xff" * 7 + b"\x7f",
)
OLD = {
    "list": b"\x01\x03" + rdb_string(b"a") + b"\xc0\x05" + rdb_string(b""),
    "empty list": b"\x01\x00",
    "list ziplist": b"\x0a" + rdb_string(ziplist(ONE, TWELVE, MINUS, WORD, *WIDE)),
    "empty list ziplist": b"\x0a" + rdb_string(ziplist()),
    "quicklist": b"\x0e\x02" + rdb_string(ziplist(ONE, WORD)) + rdb_string(ziplist(*WIDE)),
    "zset": b"\x03\x03\x01a\x031.5\x01b\xfe\x01c\xff",
    "zset nan": b"\x03\x01\x01a\xfd",
    "zset ziplist": b"\x0c" + rdb_string(ziplist(WORD, ONE, MINUS, b"\x033.5")),
    "zset ziplist twice": b"\x0c" + rdb_string(ziplist(WORD, ONE, WORD, TWELVE)),
    "hash ziplist": b"\x0d" + rdb_string(ziplist(WORD, ONE, MINUS, WORD)),
    "hash ziplist odd": b"\x0d" + rdb_string(ziplist(WORD, ONE, MINUS)),
    "hash ziplist empty": b"\x0d" + rdb_string(ziplist()),
    "zipmap": b"\x09" + rdb_string(b"\x02\x03foo\x03\x00bar\x05hello\x05\x02world..\xff"),
    "zipmap count": b"\x09" + rdb_string(b"\x03\x03foo\x03\x00bar\xff"),
    "module": b"\x07\x01\x02\x03",
    "no type": b"\x08\x01\x02\x03",
    "far type": b"\x14\x01\x02\x03",
    "set twice": b"\x02\x02\x01a\x01a",
    "intset twice": b"\x02\x02\xc0\x01\xc0\x01",
    "hash twice": b"\x04\x02\x01a\x01b\x01a\x01c",
    "huge string": b"\x00\x80\x7f\xff\xff\xff",
}


@pytest.mark.parametrize("name", OLD)
def test_older_formats(exchange: Exchange, name: str) -> None:
    exchange.both(b"CONFIG", b"SET", b"sanitize-dump-payload", b"yes")
    payload = with_crc(OLD[name])
    reply = exchange.both(b"RESTORE", b"a", b"0", payload, b"REPLACE")
    if reply == b"+OK\r\n":
        exchange.check(b"a")
