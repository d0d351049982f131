"""quicklist.py, quicklist_insert.py, list_object.py: nodes, and elements across them."""

from __future__ import annotations

import random

import pytest

from miniredis.keyspace.list_object import ListObject
from miniredis.keyspace.listpack_size import entry_size, listpack_bytes
from miniredis.keyspace.quicklist import QuickList
from miniredis.keyspace.quicklist_insert import insert_beside, replace_at_index


def words(*names: object) -> list[bytes]:
    return [str(name).encode() for name in names]


def filled(fill: int, *names: object, packed: int = 1 << 30) -> QuickList:
    ql = QuickList(fill, packed=packed)
    for word in words(*names):
        ql.push_tail(word)
    return ql


def nodes(ql: QuickList) -> list[str]:
    ql._check()
    return [b" ".join(node.entries).decode() for node in ql.nodes()]


def test_the_example_of_the_docstring() -> None:
    ql = filled(2, "a", "b", "c")
    assert nodes(ql) == ["a b", "c"]
    assert insert_beside(ql, b"b", b"x", after=False)
    assert nodes(ql) == ["a x", "b c"]


def test_pushing_at_both_ends() -> None:
    ql = filled(2, 1, 2, 3)
    for word in words("x", "y", "z"):
        ql.push_head(word)
    assert nodes(ql) == ["z", "y x", "1 2", "3"]
    assert list(ql) == words("z", "y", "x", 1, 2, 3)
    assert list(reversed(ql)) == list(ql)[::-1]


@pytest.mark.parametrize(
    ("fill", "size", "expected"),
    [(-1, 100, 39), (-2, 100, 79), (-5, 100, 636), (-9, 100, 636), (0, 1, 1), (128, 100, 79)],
)
def test_how_much_a_node_holds(fill: int, size: int, expected: int) -> None:
    """4, 8 or 64 kB in listpacks of entries of 103 bytes, the last one overestimated."""
    ql = QuickList(fill)
    for _ in range(expected + 1):
        ql.push_tail(b"x" * size)
    ql._check()
    assert [len(node.entries) for node in ql.nodes()] == [expected, 1]


def test_large_elements_stand_alone() -> None:
    ql = filled(-2, 1, 2, "large", 3, 4, packed=5)
    assert [node.plain for node in ql.nodes()] == [False, True, False]
    assert insert_beside(ql, b"1", b"LARGE", after=True)
    assert nodes(ql) == ["1", "LARGE", "2", "large", "3 4"]
    assert replace_at_index(ql, 1, b"l")
    assert nodes(ql) == ["1", "l 2", "large", "3 4"]  # the node behind it had room
    assert replace_at_index(ql, -1, b"LARGE")
    assert replace_at_index(ql, 3, b"Large")
    assert nodes(ql) == ["1", "l 2", "Large", "3", "LARGE"]
    assert not replace_at_index(ql, 6, b"x")


def test_an_element_that_grows_in_place_may_overfill_its_node() -> None:
    ql = filled(-1, *range(10))
    assert replace_at_index(ql, 4, b"x" * 5000)
    assert ql.len == 1
    assert insert_beside(ql, b"4", b"x", after=True) is False
    assert insert_beside(ql, b"2", b"y", after=True)
    ql._check()
    assert list(ql) == words(0, 1, 2, "y", 3, "x" * 5000, 5, 6, 7, 8, 9)
    assert ql.len == 2


@pytest.mark.parametrize(
    ("element", "size"),
    [
        (b"", 2),
        (b"0", 2),
        (b"127", 2),
        (b"128", 3),
        (b"-1", 3),
        (b"4095", 3),
        (b"-4096", 3),
        (b"4096", 4),
        (b"-32768", 4),
        (b"32768", 5),
        (b"-8388608", 5),
        (b"8388608", 6),
        (b"2147483648", 10),
        (b"9223372036854775807", 10),
        (b"9223372036854775808", 21),
        (b"01", 4),
        (b"-0", 4),
        (b"x" * 63, 65),
        (b"x" * 64, 67),
        (b"x" * 125, 128),
        (b"x" * 126, 130),
        (b"x" * 4095, 4099),
        (b"x" * 4096, 4103),
    ],
)
def test_bytes_of_an_element(element: bytes, size: int) -> None:
    assert entry_size(element) == size
    assert listpack_bytes([element]) == size + 7


@pytest.mark.parametrize("fill", [-2, 0, 1, 2, 3, 7])
def test_against_a_python_list(fill: int) -> None:
    """Everything, at random, with nodes so small that every border is met."""
    rng = random.Random(fill)
    ql, plain = QuickList(fill, packed=3), list[bytes]()
    for _ in range(3_000):
        word = b"%d" % rng.choice((rng.randrange(10), rng.randrange(200)))
        at = rng.randrange(-len(plain) - 2, len(plain) + 2)
        match rng.randrange(9):
            case 0 | 1:
                ql.push_tail(word)
                plain.append(word)
            case 2 | 3:
                ql.push_head(word)
                plain.insert(0, word)
            case 4 if plain:
                assert (ql.pop_head(), ql.pop_tail() if len(plain) > 1 else None) == (
                    plain.pop(0),
                    plain.pop() if plain else None,
                )
            case 5:
                inside = -len(plain) <= at < len(plain)
                assert replace_at_index(ql, at, word) is inside
                if inside:
                    plain[at] = word
            case 6:
                pivot, after = b"%d" % rng.randrange(10), rng.random() < 0.5
                assert insert_beside(ql, pivot, word, after) is (pivot in plain)
                if pivot in plain:
                    plain.insert(plain.index(pivot) + after, word)
            case 7:
                count = rng.randrange(4)
                ql.del_range(at, count)
                if -len(plain) <= at < len(plain):
                    start = at % len(plain)
                    del plain[start : start + count]
            case 8:
                count = rng.randrange(-2, 3)
                assert ql.remove(word, count) == remove(plain, word, count)
        ql._check()
        assert list(ql) == plain
        assert ql.index(at) == (plain[at] if -len(plain) <= at < len(plain) else None)
        start = rng.randrange(len(plain) + 1)
        if start < len(plain):
            stop = rng.randrange(start + 1, len(plain) + 1)
            assert ql.range(start, stop) == plain[start:stop]


def remove(plain: list[bytes], word: bytes, count: int) -> int:
    places = [i for i, other in enumerate(plain) if other == word]
    places = places[count:] if count < 0 else places[: count or None]
    for i in reversed(places):
        del plain[i]
    return len(places)


def test_a_copy_is_independent_and_has_the_same_nodes() -> None:
    original = ListObject(2)
    for word in words(1, 2, 3):
        original.push_tail(word)
    copy = original.copy(random.Random(1))
    copy.pop_head()
    copy.push_tail(b"x")
    assert nodes(original) == ["1 2", "3"]
    assert nodes(copy) == ["2", "3 x"]
