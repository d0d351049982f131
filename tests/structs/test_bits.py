"""Bit operations against a string of the characters 0 and 1, which is slow and obvious."""

from __future__ import annotations

import operator
import random

import pytest

from miniredis.structs.bits import (
    CHUNK_BYTES,
    bitpos,
    combine,
    get_signed,
    get_unsigned,
    invert,
    popcount,
    set_bits,
    signed_overflow,
    unsigned_overflow,
)


def digits(data: bytes) -> str:
    return "".join(f"{byte:08b}" for byte in data)


@pytest.mark.parametrize("seed", range(20))
def test_count_and_search_any_range(seed: int) -> None:
    rng = random.Random(seed)
    data = bytes(rng.choice([0, 0, 255, 1, 128]) for _ in range(rng.randint(1, 12)))
    text = digits(data)
    for first in range(len(text)):
        for last in range(first - 1, len(text)):
            part = text[first : last + 1]
            assert popcount(data, first, last) == part.count("1")
            for bit in (0, 1):
                found = part.find(str(bit))
                assert bitpos(data, bit, first, last) == (first + found if found >= 0 else None)


@pytest.mark.parametrize("bit", [0, 1])
@pytest.mark.parametrize("at", [0, CHUNK_BYTES, 3 * CHUNK_BYTES + 5])
def test_search_across_chunks(bit: int, at: int) -> None:
    data = bytearray([0 if bit else 255]) * (4 * CHUNK_BYTES)
    last = len(data) * 8 - 1
    assert bitpos(data, bit, 0, last) is None
    data[at] ^= 0b100
    assert bitpos(data, bit, 0, last) == at * 8 + 5
    assert popcount(data, 0, last) == (1 if bit else len(data) * 8 - 1)


def test_combine_pads_with_zeros() -> None:
    rng = random.Random(1)
    long, short = rng.randbytes(CHUNK_BYTES + 7), rng.randbytes(100)
    padded = short.ljust(len(long), b"\0")
    for op in (operator.and_, operator.or_, operator.xor):
        assert combine([long, short], op) == bytes(map(op, long, padded))
        assert combine([short, long, short], op) == bytes(map(op, map(op, long, padded), padded))
    assert combine([b"", b""], operator.or_) == b""
    assert invert(bytearray(b"\x00\x0f")) == b"\xff\xf0"


@pytest.mark.parametrize("bits", [1, 5, 8, 31, 63, 64])
def test_integers_at_any_offset(bits: int) -> None:
    rng = random.Random(bits)
    for offset in range(30):
        data = bytearray(rng.randbytes(14))
        before = digits(data)
        value = rng.getrandbits(bits)
        set_bits(data, offset, bits, value)
        after = before[:offset] + f"{value:0{bits}b}" + before[offset + bits :]
        assert digits(data) == after
        assert get_unsigned(data, offset, bits) == value
        assert get_signed(data, offset, bits) % 2**bits == value


def test_integers_beyond_the_end_are_zero_filled() -> None:
    assert get_unsigned(b"\x01\x70", 7, 5) == 23
    assert get_unsigned(b"\xff", 4, 8) == 0xF0
    assert get_signed(b"\xff", 4, 8) == -16
    assert get_unsigned(b"\xff", 8, 8) == get_unsigned(b"", 100, 63) == 0


def test_overflow() -> None:
    assert unsigned_overflow(255, 1, 8) == 1
    assert unsigned_overflow(255, -255, 8) == 0
    assert unsigned_overflow(1, -2, 8) == -1
    assert unsigned_overflow(-1, 0, 8) == 1
    assert signed_overflow(127, 1, 8) == 1
    assert signed_overflow(-128, -1, 8) == -1
    assert signed_overflow(-129, 0, 8) == -1
    assert signed_overflow(-(2**63), 0, 8) == 1  # the room above does not fit 64 bits
    assert signed_overflow(-(2**63), 0, 64) == 0
