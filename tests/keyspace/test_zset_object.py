"""zset_object.py, zset_ranges.py: both encodings hold the same, and when one becomes the other."""

from __future__ import annotations

import math
import random

import pytest

from miniredis.keyspace.object import RedisObject
from miniredis.keyspace.zset_add import (
    ZADD_IN_GT,
    ZADD_IN_INCR,
    ZADD_IN_LT,
    ZADD_IN_NX,
    ZADD_IN_XX,
    ZADD_OUT_ADDED,
    ZADD_OUT_NAN,
    ZADD_OUT_NOP,
    ZADD_OUT_UPDATED,
    create_zset_object,
    zset_add,
)
from miniredis.keyspace.zset_object import (
    Zset,
    ZsetListpack,
    ZsetSkiplist,
    skiplist_of,
    smallest_encoding,
)
from miniredis.keyspace.zset_ranges import zsl_parse_lex_range, zsl_parse_range
from tests.keyspace.values import FakeServer, digest_of

SERVER = FakeServer()
SMALL = FakeServer(zset_max_listpack_entries=3, zset_max_listpack_value=5)


def make(encoding: str, *pairs: tuple[float, bytes]) -> Zset:
    listpack = ZsetListpack(sorted(pairs))
    return listpack if encoding == "listpack" else skiplist_of(listpack, SERVER)


def new(server: FakeServer = SERVER) -> RedisObject:
    return create_zset_object(server, 1, 1, lru=0)


both = pytest.mark.parametrize("encoding", ["listpack", "skiplist"])


@both
def test_against_a_plain_dict(encoding: str) -> None:
    rng = random.Random(1)
    zset, model = make(encoding), {}
    for _ in range(400):
        member, score = b"m%d" % rng.randrange(60), float(rng.randrange(-5, 5))
        old = model.get(member)
        assert zset.score(member) == old
        if rng.random() < 0.3:
            assert zset.delete(member) is (old is not None)
            model.pop(member, None)
        elif old is None:
            zset.insert(score, member)
            model[member] = score
        elif old != score:
            zset.update_score(member, old, score)
            model[member] = score
        zset._check()
        expected = sorted((score, member) for member, score in model.items())
        assert list(zset) == expected
        assert list(reversed(zset)) == expected[::-1]
        assert len(zset) == len(model)
        if model:
            rank = rng.randrange(len(model))
            assert zset.rank(expected[rank][1]) == rank
            assert zset.pairs(rank, rank + 3, reverse=True) == expected[rank : rank + 3][::-1]
            assert zset.members(rank, rank + 3) == [m for _, m in expected[rank : rank + 3]]
        assert zset.rank(b"nobody") is None


@both
@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ((b"-inf", b"+inf"), b"abcdef"),
        ((b"1", b"2"), b"bcd"),
        ((b"(1", b"2"), b"d"),
        ((b"1", b"(2"), b"bc"),
        ((b"(1", b"(2"), b""),
        ((b"2", b"1"), b""),
        ((b"(inf", b"inf"), b""),
        ((b"-inf", b"(-inf"), b""),
        ((b"inf", b"inf"), b"f"),
        ((b"", b"("), b""),
        ((b" 1", b"0x2"), b"bcd"),
    ],
)
def test_ranges_of_scores(encoding: str, ends: tuple[bytes, bytes], found: bytes) -> None:
    pairs = [(-math.inf, b"a"), (1, b"b"), (1, b"c"), (2, b"d"), (5, b"e"), (math.inf, b"f")]
    zset = make(encoding, *pairs)
    spec = zsl_parse_range(*ends)
    assert spec is not None
    assert b"".join(zset.members(*zset.score_bounds(spec))) == found


@both
@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ((b"-", b"+"), [b"", b"a", b"a\0", b"b"]),
        ((b"[a", b"[a"), [b"a"]),
        ((b"(a", b"+"), [b"a\0", b"b"]),
        ((b"-", b"(a"), [b""]),
        ((b"[", b"[a\0"), [b"", b"a", b"a\0"]),
        ((b"(", b"(a\0"), [b"a"]),
        ((b"+", b"-"), []),
        ((b"[c", b"+"), []),
        ((b"-", b"-"), []),
    ],
)
def test_ranges_of_members(encoding: str, ends: tuple[bytes, bytes], found: list[bytes]) -> None:
    zset = make(encoding, (1, b""), (1, b"a"), (1, b"a\0"), (1, b"b"))
    spec = zsl_parse_lex_range(*ends)
    assert spec is not None
    assert zset.members(*zset.lex_bounds(spec)) == found
    assert zset.members(*zset.lex_bounds(spec, reverse=True)) == found


@pytest.mark.parametrize("ends", [(b"x", b"1"), (b"1", b"1 "), (b"nan", b"1"), (b"((1", b"2")])
def test_no_ranges_of_scores(ends: tuple[bytes, bytes]) -> None:
    assert zsl_parse_range(*ends) is None


@pytest.mark.parametrize("ends", [(b"a", b"+"), (b"-", b""), (b"-a", b"+"), (b"-", b"+1")])
def test_no_ranges_of_members(ends: tuple[bytes, bytes]) -> None:
    assert zsl_parse_lex_range(*ends) is None


@pytest.mark.parametrize(
    ("flags", "given", "done", "score"),
    [
        (0, 5, 0, 5),
        (0, 6, ZADD_OUT_UPDATED, 6),
        (ZADD_IN_NX, 6, ZADD_OUT_NOP, 5),
        (ZADD_IN_XX, 6, ZADD_OUT_UPDATED, 6),
        (ZADD_IN_GT, 4, ZADD_OUT_NOP, 5),
        (ZADD_IN_GT, 5, ZADD_OUT_NOP, 5),
        (ZADD_IN_GT, 6, ZADD_OUT_UPDATED, 6),
        (ZADD_IN_LT, 6, ZADD_OUT_NOP, 5),
        (ZADD_IN_INCR, 2, ZADD_OUT_UPDATED, 7),
        (ZADD_IN_INCR | ZADD_IN_LT, 2, ZADD_OUT_NOP, 5),
        (ZADD_IN_INCR, 0, 0, 5),
    ],
)
@both
def test_zset_add_to_a_member(
    encoding: str, flags: int, given: float, done: int, score: float
) -> None:
    o = new()
    o.ptr = make(encoding, (5, b"m"))
    assert zset_add(o, given, b"m", flags, SERVER)[0] == done
    assert o.ptr.score(b"m") == score


@both
def test_zset_add_of_a_new_member(encoding: str) -> None:
    o = new()
    o.ptr = make(encoding, (math.inf, b"m"))
    assert zset_add(o, 1, b"n", ZADD_IN_XX, SERVER)[0] == ZADD_OUT_NOP
    assert zset_add(o, 1, b"n", ZADD_IN_GT | ZADD_IN_INCR, SERVER) == (ZADD_OUT_ADDED, 1)
    assert zset_add(o, -math.inf, b"m", ZADD_IN_INCR, SERVER)[0] == ZADD_OUT_NAN
    assert list(o.ptr) == [(1, b"n"), (math.inf, b"m")]


def test_when_a_listpack_becomes_a_skiplist() -> None:
    o = new(SMALL)
    for member in (b"a", b"b", b"ccccc"):
        zset_add(o, 1, member, 0, SMALL)
    assert o.ptr.encoding == "listpack"
    zset_add(o, 2, b"a", 0, SMALL)
    assert o.ptr.encoding == "listpack"
    zset_add(o, 2, b"d", ZADD_IN_XX, SMALL)
    assert o.ptr.encoding == "listpack", "nothing was added"
    zset_add(o, 2, b"d", 0, SMALL)
    assert o.ptr.encoding == "skiplist"
    for member in (b"a", b"b", b"d"):
        o.ptr.delete(member)
    o.ptr._check()
    assert o.ptr.encoding == "skiplist", "it stays one"
    o = new(SMALL)
    zset_add(o, 1, b"sixsix", 0, SMALL)
    assert o.ptr.encoding == "skiplist"
    assert create_zset_object(SMALL, 4, 0, 0).ptr.encoding == "skiplist"
    assert create_zset_object(SMALL, 1, 6, 0).ptr.encoding == "skiplist"


def test_minus_zero_in_a_listpack_is_zero() -> None:
    for zset, text in ((make("listpack"), "0.0"), (make("skiplist"), "-0.0")):
        zset.insert(-0.0, b"m")
        assert str(zset.score(b"m")) == text


def test_scores_as_text() -> None:
    pairs = [(2.0**62, b"a"), (2.0**62 * 1.5, b"b"), (0.1, b"c"), (-3.0, b"d")]
    listpack, skiplist = make("listpack", *pairs), make("skiplist", *pairs)
    assert dict(listpack.scan_items(None)) == {  # type: ignore[arg-type]
        b"a": b"4611686018427387904",
        b"b": b"6.9175290276410819e+18",
        b"c": b"0.10000000000000001",
        b"d": b"-3",
    }
    table = skiplist.scan_table()
    assert table is not None
    texts = dict(skiplist.scan_items(table.entries()))  # type: ignore[arg-type]
    assert texts[b"a"] == b"4.6116860184273879e+18"
    assert digest_of(listpack) == digest_of(skiplist)


@both
def test_copies(encoding: str) -> None:
    zset = make(encoding, *((float(i % 7), b"m%d" % i) for i in range(100)))
    copied = zset.copy(SERVER.rng)
    copied._check()
    assert list(copied) == list(zset)
    assert copied.encoding == encoding
    copied.delete(b"m1")
    assert zset.score(b"m1") == 1


def test_reloading() -> None:
    many = make("listpack", *((float(i), b"m%d" % i) for i in range(4)))
    assert many.reloaded(SMALL).encoding == "skiplist"
    long = make("listpack", (1, b"sixsix"))
    assert long.reloaded(SMALL).encoding == "listpack", "lengths are not looked at"
    few = make("skiplist", (1, b"a"))
    assert few.reloaded(SMALL).encoding == "listpack"
    for zset in (many, long, few):
        loaded = zset.reloaded(SMALL)
        loaded._check()
        assert list(loaded) == list(zset)
        assert zset.rdb_saved_len() > 0
    large = make("skiplist", *((float(i), b"m%d" % i) for i in range(200)))
    loaded = large.reloaded(SERVER)
    assert isinstance(loaded, ZsetSkiplist)
    assert len(loaded.dict.ht_table[0]) == 256 and not loaded.dict.is_rehashing()


def test_what_was_just_built_takes_the_smallest_encoding() -> None:
    few = skiplist_of(make("listpack", (1, b"a")), SERVER)
    assert smallest_encoding(few, SMALL).encoding == "listpack"
    long = skiplist_of(make("listpack", (1, b"sixsix")), SERVER)
    assert smallest_encoding(long, SMALL) is long
