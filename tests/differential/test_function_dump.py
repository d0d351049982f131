"""FUNCTION DUMP and RESTORE on miniredis and on a real server: the same bytes and replies."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from miniredis import Server
from miniredis.net.resp import encode_reply
from miniredis.structs.crc64 import crc64
from tests.real.raw import RawClient
from tests.real.servers import RealServer

FOOTER = 10  # bytes: version and checksum
DAMAGES = 200


def library(name: bytes, *functions: bytes, result: bytes = b"1", padding: int = 0) -> bytes:
    """The code of a library; *padding* bytes of comment make it worth compressing."""
    lines = [
        b"redis.register_function('%s', function() return %s end)" % (f, result) for f in functions
    ]
    return b"#!lua name=%s\n-- %s\n%s" % (name, b"x" * padding, b"\n".join(lines))


def sealed(body: bytes, version: int = 10) -> bytes:
    body += version.to_bytes(2, "little")
    return body + crc64(0, body).to_bytes(8, "little")


def one(code: bytes) -> bytes:
    """A payload of one library, packed by hand as a plain string."""
    return sealed(b"\xf5\x80" + len(code).to_bytes(4, "big") + code)


def pre_ga(name: bytes, engine: bytes, code: bytes, description: bytes | None = None) -> bytes:
    """As release candidates of 7.0 have dumped a library."""
    body = b"\xf6" + bytes([len(name)]) + name + bytes([len(engine)]) + engine
    body += b"\0" if description is None else b"\1" + bytes([len(description)]) + description
    return sealed(body + b"\x80" + len(code).to_bytes(4, "big") + code)


class Both:
    """The simulator and the real server, compared reply by reply."""

    def __init__(self, real: RealServer) -> None:
        self.server = Server(seed=1)
        self.client = self.server.create_client()
        self.real = RawClient(real.port)

    def mine(self, *argv: bytes) -> bytes:
        return encode_reply(self.server.process_command(self.client, list(argv)), 2)

    def __call__(self, *argv: bytes) -> bytes:
        theirs = self.real(*argv)
        assert self.mine(*argv) == theirs, argv
        return theirs

    def state(self) -> None:
        """The libraries that there are; their order is that of a hash table with Redis."""
        counts = self(b"FUNCTION", b"STATS")
        assert counts
        for name in (b"a", b"b", b"c"):
            argv = (b"FUNCTION", b"LIST", b"LIBRARYNAME", name, b"WITHCODE")
            mine, theirs = self.mine(*argv).split(b"\r\n"), self.real(*argv).split(b"\r\n")
            assert sorted(mine) == sorted(theirs), argv  # functions are in a hash table too
        for function in (b"f", b"g", b"h"):
            self(b"FCALL", function, b"0")

    def load(self, *codes: bytes) -> None:
        self(b"FUNCTION", b"FLUSH")
        for code in codes:
            self(b"FUNCTION", b"LOAD", code)

    def dumps(self) -> tuple[bytes, bytes]:
        command = (b"FUNCTION", b"DUMP")
        mine, theirs = self.mine(*command), self.real(*command)
        return mine.partition(b"\r\n")[2][:-2], theirs.partition(b"\r\n")[2][:-2]


@pytest.fixture
def both(real_server: RealServer) -> Iterator[Both]:
    both = Both(real_server)
    both(b"FUNCTION", b"FLUSH")
    yield both
    both.real(b"FUNCTION", b"FLUSH")
    both.real(b"CONFIG", b"SET", b"rdbcompression", b"yes")
    both.real.close()


@pytest.mark.parametrize("compression", [b"yes", b"no"])
@pytest.mark.parametrize("padding", [0, 5, 100, 20_000])
def test_the_same_bytes(both: Both, compression: bytes, padding: int) -> None:
    both(b"CONFIG", b"SET", b"rdbcompression", compression)
    for code in (library(b"a", b"f", padding=padding), library(b"a", b"f", b"g", padding=padding)):
        both.load(code)
        mine, theirs = both.dumps()
        assert mine == theirs
        both(b"FUNCTION", b"FLUSH")
        both(b"FUNCTION", b"RESTORE", mine)
        both.state()
    both.load()
    assert len(set(both.dumps())) == 1  # of no libraries


def test_several_libraries_in_any_order(both: Both) -> None:
    both.load(library(b"a", b"f"), library(b"b", b"g", padding=300), library(b"c", b"h"))
    for payload in both.dumps():
        for policy in (b"flush", b"REPLACE"):
            both(b"FUNCTION", b"RESTORE", payload, policy)
            both.state()
        both(b"FUNCTION", b"FLUSH")
        both(b"FUNCTION", b"RESTORE", payload)
        both.state()


# What there is, what is restored, and every policy: replies and libraries afterwards.
SETTINGS = [
    ([library(b"a", b"f")], one(library(b"a", b"f", result=b"2"))),
    ([library(b"a", b"f")], one(library(b"b", b"f", result=b"2"))),
    ([library(b"a", b"f")], one(library(b"b", b"F", result=b"2"))),
    ([library(b"a", b"f")], one(library(b"b", b"g", result=b"2"))),
    ([library(b"a", b"f"), library(b"b", b"g")], one(library(b"a", b"g", result=b"2"))),
    ([library(b"a", b"f", b"g")], one(library(b"a", b"g", result=b"2"))),
    ([], sealed(one(library(b"a", b"f"))[:-FOOTER] + one(library(b"a", b"g"))[:-FOOTER])),
    ([], sealed(one(library(b"a", b"f"))[:-FOOTER] + one(library(b"b", b"f"))[:-FOOTER])),
    ([], sealed(one(library(b"a", b"f"))[:-FOOTER] + one(b"#!lua name=b\nx")[:-FOOTER])),
    ([library(b"c", b"h")], one(b"#!lua name=a\nlocal x = 1")),
    ([library(b"c", b"h")], one(b"#!lua name=a\nreturn (")),
    ([library(b"c", b"h")], one(b"#!lua name=a-b\n")),
    ([library(b"c", b"h")], one(b"#!py name=a\n")),
    ([library(b"c", b"h")], one(b"no library")),
    ([library(b"c", b"h")], sealed(b"")),
    ([library(b"c", b"h")], sealed(b"", version=11)),
    ([library(b"c", b"h")], sealed(b"", version=9)),
    ([library(b"c", b"h")], sealed(b"\0\3abc")),
    ([library(b"c", b"h")], sealed(b"\xf5")),
    ([library(b"c", b"h")], sealed(b"\xf5\x40")),
    ([library(b"c", b"h")], sealed(b"\xf5\x05abc")),
    ([library(b"c", b"h")], sealed(b"\xf5\xc0\x07")),
    ([library(b"c", b"h")], sealed(b"\xf5\xc4\x07")),
    ([library(b"c", b"h")], sealed(b"\xf5\xc3\x05\x20abcde")),
    ([library(b"c", b"h")], b""),
    ([library(b"c", b"h")], b"x" * 30),
    ([], pre_ga(b"a", b"LUA", b"redis.register_function('f', function() return 3 end)")),
    ([], pre_ga(b"a", b"lua", b"redis.register_function('f', function() end)", b"described")),
    ([], pre_ga(b"a", b"py", b"")),
    ([library(b"c", b"h")], sealed(b"\xf6\x20a")),
    ([library(b"c", b"h")], sealed(b"\xf6\1a\x20b")),
    ([library(b"c", b"h")], sealed(b"\xf6\1a\3lua\1\x20b")),
    ([library(b"c", b"h")], sealed(b"\xf6\1a\3lua\0\x20b")),
]


@pytest.mark.parametrize("policy", [(), (b"append",), (b"REPLACE",), (b"flush",)], ids=str)
@pytest.mark.parametrize(("there", "payload"), SETTINGS, ids=range(len(SETTINGS)))
def test_policies(
    both: Both, there: list[bytes], payload: bytes, policy: tuple[bytes, ...]
) -> None:
    both.load(*there)
    both(b"FUNCTION", b"RESTORE", payload, *policy)
    both.state()


@pytest.mark.parametrize(
    "argv",
    [
        (b"FUNCTION", b"DUMP", b"x"),
        (b"FUNCTION", b"RESTORE"),
        (b"FUNCTION", b"RESTORE", sealed(b""), b"nosuch"),
        (b"FUNCTION", b"RESTORE", b"damaged", b"nosuch"),
        (b"FUNCTION", b"RESTORE", sealed(b""), b"flush", b"x"),
    ],
    ids=str,
)
def test_wrong_arguments(both: Both, argv: tuple[bytes, ...]) -> None:
    both(*argv)


def test_damaged_payloads(both: Both) -> None:
    """Bytes changed at random, with a checksum that fits."""
    rng = random.Random(1)
    codes = [library(b"a", b"f", padding=60), library(b"b", b"g")]
    whole = b"".join(one(code)[:-FOOTER] for code in codes)
    both.load(codes[0])
    both.load()
    for _ in range(DAMAGES):
        body = bytearray(whole)
        body[rng.choice([0, 1, 2, 5, 6, 7, rng.randrange(len(body))])] = rng.randrange(256)
        both(b"FUNCTION", b"RESTORE", sealed(bytes(body[: rng.choice([len(body), 50])])), b"FLUSH")
        both.state()


def test_both_are_told_to_replicas(both: Both) -> None:
    stream = both.server.append_only_stream()
    payload = one(library(b"a", b"f"))
    both.mine(b"FUNCTION", b"RESTORE", payload)
    both.mine(b"FUNCTION", b"RESTORE", payload)  # fails
    assert [command[1] for command in stream if command[0] == b"FUNCTION"] == [b"RESTORE"]
