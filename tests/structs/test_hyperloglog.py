"""HyperLogLog: both forms hold the same registers, and estimates are near the truth."""

from __future__ import annotations

import random

import pytest

from miniredis.structs.hll_dense import (
    HLL_DENSE_SIZE,
    HLL_HDR_SIZE,
    HLL_REGISTERS,
    dense_registers,
    get_register,
    pack_registers,
    set_register,
)
from miniredis.structs.hll_sparse import (
    ENCODING_AT,
    HLL_DENSE,
    HLL_SPARSE,
    HLL_SPARSE_VAL_MAX_VALUE,
    hll_sparse_to_dense,
    opcodes,
    sparse_registers,
)
from miniredis.structs.hyperloglog import (
    RegisterUnion,
    cache_cardinality,
    cached_cardinality,
    create_hll,
    hll_add_all,
    hll_count,
    hll_histogram,
    hll_pat_len,
    hll_set_all,
    is_hll,
)
from miniredis.structs.murmur import murmur_hash_64a

MAX_BYTES = 3000


def hll_set(hll: bytearray, index: int, count: int) -> int:
    changed, valid = hll_set_all(hll, [(index, count)], MAX_BYTES)
    assert valid
    return changed


def test_packed_registers_are_those_set_one_by_one() -> None:
    rng = random.Random(1)
    registers = bytes(rng.choices(range(64), k=HLL_REGISTERS))
    hll = bytearray(HLL_DENSE_SIZE)
    for index, value in enumerate(registers):
        set_register(hll, index, value)
    assert dense_registers(hll) == registers
    assert pack_registers(registers) == hll[HLL_HDR_SIZE:]
    assert [get_register(hll, index) for index in range(HLL_REGISTERS)] == list(registers)
    assert len(hll) == HLL_DENSE_SIZE == 12304


def test_the_example_of_the_docstring() -> None:
    hll = create_hll()
    assert list(opcodes(hll)) == [("Z", 0, 16384)]
    assert hll_set(hll, 1000, 3) == 1
    assert list(opcodes(hll)) == [("Z", 0, 1000), ("v", 3, 1), ("Z", 0, 15383)]
    assert len(hll) == HLL_HDR_SIZE + 5


def test_neighbours_of_one_value_become_one_opcode() -> None:
    hll = create_hll()
    for index in (10, 12, 11, 13, 14):
        hll_set(hll, index, 7)
    assert list(opcodes(hll)) == [("z", 0, 10), ("v", 7, 4), ("v", 7, 1), ("Z", 0, 16369)]
    hll_set(hll, 11, 9)
    assert [op for op in opcodes(hll) if op[0] == "v"] == [
        ("v", 7, 1),
        ("v", 9, 1),
        ("v", 7, 3),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_sparse_registers_are_those_set(seed: int) -> None:
    rng = random.Random(seed)
    hll, expected = create_hll(), bytearray(HLL_REGISTERS)
    while hll[ENCODING_AT] == HLL_SPARSE:
        index = rng.choice([rng.randrange(HLL_REGISTERS), rng.randrange(300)])
        count = min(int(rng.expovariate(0.5)) + 1, HLL_SPARSE_VAL_MAX_VALUE)
        changed = hll_set(hll, index, count)
        assert changed == (count > expected[index])
        expected[index] = max(expected[index], count)
        registers = (
            sparse_registers(hll) if hll[ENCODING_AT] == HLL_SPARSE else dense_registers(hll)
        )
        assert registers == expected
    assert len(hll) == HLL_DENSE_SIZE


def test_a_large_value_makes_it_dense() -> None:
    hll = create_hll()
    assert hll_set(hll, 5, 33) == 1
    assert hll[ENCODING_AT] == HLL_DENSE
    assert get_register(hll, 5) == 33


@pytest.mark.parametrize("n", [1, 100, 2_000, 100_000])
def test_estimates_are_near_the_truth(n: int) -> None:
    hll = create_hll()
    hll_add_all(hll, [b"%d" % number for number in range(n)], MAX_BYTES)
    histogram = hll_histogram(hll)
    assert histogram is not None
    assert abs(hll_count(histogram) - n) <= 3 * 0.0081 * n
    cache_cardinality(hll, 1234)
    assert cached_cardinality(hll) == 1234


def test_merging_is_adding_both() -> None:
    one, two, both = create_hll(), create_hll(), create_hll()
    for number in range(3000):
        element = b"%d" % number
        hll_add_all(both, [element], MAX_BYTES)
        hll_add_all(one if number % 3 else two, [element], MAX_BYTES)
    assert one[ENCODING_AT] != two[ENCODING_AT]
    assert hll_sparse_to_dense(both)
    for order in ([one, two], [two, one], [create_hll(), one, two, one]):
        union = RegisterUnion()
        assert all(union.add(hll) for hll in order)
        assert union.registers() == dense_registers(both)
    assert RegisterUnion().registers() == bytes(HLL_REGISTERS)


def test_an_invalid_one_is_not_merged() -> None:
    hll = create_hll()
    hll[-1] -= 1  # a register too few
    assert not RegisterUnion().add(hll)


def test_hash() -> None:
    """That it is MurmurHash64A is shown by strings equal to a real server's."""
    assert murmur_hash_64a(b"", 0) == 0
    index, count = hll_pat_len(b"a")
    assert 0 <= index < HLL_REGISTERS and 1 <= count <= 51
    assert len({murmur_hash_64a(b"x" * n, 1) for n in range(40)}) == 40


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    rng = random.Random(3)
    at_once, singly = create_hll(), create_hll()
    for size in (1, 50, 400, 3000):
        elements = [rng.randbytes(5) for _ in range(size)]
        updated, _ = hll_add_all(at_once, elements, MAX_BYTES)
        assert updated == sum(hll_add_all(singly, [e], MAX_BYTES)[0] for e in elements)
        assert at_once == singly


@pytest.mark.parametrize(
    "value", [b"", b"HYLL", b"HYLL" + bytes(12), b"hyll\x01" + bytes(20), b"HYLL\x02" + bytes(20)]
)
def test_not_one(value: bytes) -> None:
    assert not is_hll(value)
