"""Values to bytes and back, without a real server."""

from __future__ import annotations

import random

import pytest

from miniredis import Server, VirtualClock
from miniredis.keyspace.object import object_encoding
from miniredis.keyspace.rdb_load import load_dump_payload, verify_dump_payload
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.keyspace.rdb_save import create_dump_payload, rdb_save_object
from miniredis.reply import OK
from miniredis.server.client import Client
from miniredis.structs.crc64 import crc64
from miniredis.structs.listpack import ListpackError, listpack_decode, listpack_encode
from miniredis.structs.lzf import lzf_compress, lzf_decompress

LONG = b"x" * 65  # too long for a listpack
VALUES: dict[str, tuple[bytes, ...]] = {
    "int": (b"SET", b"k", b"1000"),
    "embstr": (b"SET", b"k", b"hello"),
    "raw": (b"SET", b"k", b"abc" * 99),
    "list": (b"RPUSH", b"k", *(b"%d" % i for i in range(3000))),
    "intset": (b"SADD", b"k", b"1", b"-70000"),
    "set": (b"SADD", b"k", b"1", b"word"),
    "hash listpack": (b"HSET", b"k", b"f", b"1", b"g", b"-5000"),
    "hash table": (b"HSET", b"k", b"f", LONG, b"g", b"2"),
    "zset listpack": (b"ZADD", b"k", b"1.5", b"a", b"-inf", b"b"),
    "zset skiplist": (b"ZADD", b"k", b"1.5", LONG, b"-0", b"b"),
    "stream": (b"XADD", b"k", b"1-1", b"f", b"v"),
}


@pytest.fixture
def client() -> Client:
    return Server(VirtualClock(1_000_000), seed=1).create_client()


def run(client: Client, *argv: bytes) -> object:
    return client.server.process_command(client, list(argv))


@pytest.mark.parametrize("name", VALUES)
def test_round_trip(client: Client, name: str) -> None:
    run(client, *VALUES[name])
    o = client.db.dict.index[b"k"].val
    payload = create_dump_payload(o)
    assert verify_dump_payload(payload)
    loaded = load_dump_payload(payload, client.server)
    assert (loaded.type, object_encoding(loaded)) == (o.type, object_encoding(o))
    if hasattr(loaded.ptr, "_check"):
        loaded.ptr._check()
    assert run(client, b"RESTORE", b"copy", b"0", payload) == OK
    digests = run(client, b"DEBUG", b"DIGEST-VALUE", b"k", b"copy")
    assert isinstance(digests, list) and digests[0] == digests[1]


@pytest.mark.parametrize("name", VALUES)
def test_reload_does_what_dump_and_restore_do(client: Client, name: str) -> None:
    run(client, b"CONFIG", b"SET", b"hash-max-listpack-value", b"9")
    run(client, *VALUES[name])
    run(client, b"CONFIG", b"SET", b"hash-max-listpack-entries", b"1")
    run(client, b"CONFIG", b"SET", b"zset-max-listpack-entries", b"1")
    payload = create_dump_payload(client.db.dict.index[b"k"].val)
    restored = load_dump_payload(payload, client.server)
    run(client, b"DEBUG", b"RELOAD")
    reloaded = client.db.dict.index[b"k"].val
    assert create_dump_payload(reloaded) == create_dump_payload(restored)


@pytest.mark.parametrize("name", VALUES)
def test_damaged_values_are_refused_or_sound(client: Client, name: str) -> None:
    run(client, *VALUES[name])
    payload = create_dump_payload(client.db.dict.index[b"k"].val)
    rng = random.Random(1)
    for _ in range(300):
        damaged = bytearray(payload)
        damaged[rng.randrange(min(len(payload), 60))] = rng.randrange(256)
        try:
            o = load_dump_payload(bytes(damaged), client.server)
        except RdbError:
            continue
        create_dump_payload(o)


def test_dump_of_an_integer(client: Client) -> None:
    run(client, *VALUES["int"])
    payload = run(client, b"DUMP", b"k")
    assert isinstance(payload, bytes)
    assert payload[:-8] == b"\x00\xc1\xe8\x03\x0a\x00"
    assert payload[-8:] == crc64(0, payload[:-8]).to_bytes(8, "little")


def test_crc64() -> None:
    assert crc64(0, b"123456789") == 0xE9C6D914C4B8D9CA
    assert crc64(crc64(0, b"1234"), b"56789") == crc64(0, b"123456789")


def test_lzf() -> None:
    assert lzf_compress(b"abc" * 4, 8) is None, "four bytes are left free at the end"
    packed = lzf_compress(b"abc" * 8, 20)
    assert packed is not None
    assert packed.startswith(b"\x03abca\xe0")
    assert lzf_decompress(packed, 24) == b"abc" * 8
    assert lzf_decompress(packed, 23) is None
    assert lzf_decompress(packed[:-1], 24) is None
    assert lzf_decompress(b"\x20\x05", 3) is None, "a copy from before the beginning"


def test_listpack() -> None:
    lp = listpack_encode([5, b"ab"])
    assert lp == bytes.fromhex("0d000000020005018261620 3ff".replace(" ", ""))
    assert listpack_decode(lp) == [b"5", b"ab"]
    for at in range(len(lp)):
        for byte in (0, 0x7F, 0x80, 0xC0, 0xE0, 0xF0, 0xF4, 0xFF):
            damaged = lp[:at] + bytes((byte,)) + lp[at + 1 :]
            try:
                listpack_encode(listpack_decode(damaged))
            except ListpackError:
                continue
    with pytest.raises(ListpackError):
        listpack_decode(lp[:-1])


@pytest.mark.parametrize("name", VALUES)
def test_the_size_that_a_value_tells(client: Client, name: str) -> None:
    run(client, *VALUES[name])
    o = client.db.dict.index[b"k"].val
    if hasattr(o.ptr, "rdb_saved_len"):
        assert o.ptr.rdb_saved_len() == len(rdb_save_object(o, compression=False))
