"""intset.py: a set of numbers, and how wide Redis keeps them."""

from __future__ import annotations

import random

import pytest

from miniredis.structs.intset import Intset, value_encoding


@pytest.mark.parametrize(
    ("value", "width"),
    [
        (0, 2),
        (32767, 2),
        (-32768, 2),
        (32768, 4),
        (-32769, 4),
        (2**31 - 1, 4),
        (-(2**31), 4),
        (2**31, 8),
        (-(2**31) - 1, 8),
        (2**63 - 1, 8),
        (-(2**63), 8),
    ],
)
def test_width(value: int, width: int) -> None:
    assert value_encoding(value) == width
    s = Intset()
    s.add(value)
    assert (s.encoding, s.blob_len()) == (width, 8 + width)


def test_one_wide_number_widens_all_for_good() -> None:
    s = Intset()
    for value in (1, 2, 70_000):
        s.add(value)
    assert s.blob_len() == 8 + 3 * 4
    s.remove(70_000)
    assert s.blob_len() == 8 + 2 * 4
    assert s.copy().encoding == 4


def test_it_is_a_set_in_ascending_order() -> None:
    rng = random.Random(1)
    s, model = Intset(), set[int]()
    for _ in range(2000):
        value = rng.randrange(-100, 100) * rng.choice((1, 1000, 2**40))
        if rng.random() < 0.6:
            assert s.add(value) == (value not in model)
            model.add(value)
        else:
            assert s.remove(value) == (value in model)
            model.discard(value)
        assert s.find(value) == (value in model)
        assert len(s) == len(model)
        s._check()
    assert list(s) == sorted(model)


def test_a_copy_is_another() -> None:
    s = Intset()
    s.add(1)
    other = s.copy()
    other.add(2)
    assert (list(s), list(other)) == ([1], [1, 2])


def test_every_number_can_be_picked() -> None:
    s = Intset()
    for value in range(10):
        s.add(value)
    rng = random.Random(1)
    assert {s.random(rng) for _ in range(200)} == set(range(10))
