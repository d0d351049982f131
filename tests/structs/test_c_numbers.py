"""c_numbers.py beside Python's own conversions, without their limit."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miniredis.structs.c_numbers import CHUNK_DIGITS, atoi, digits_to_int, int_to_digits, strtod
from miniredis.structs.long_double import ld2string_human, string2ld


@pytest.fixture
def no_limit() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("digits", [1, 19, CHUNK_DIGITS, CHUNK_DIGITS + 1, 4300, 4301, 9001])
@pytest.mark.usefixtures("no_limit")
def test_any_number_of_digits_there_and_back(digits: int) -> None:
    number = (10**digits - 1) // 9 * 7 - 6  # 7...71
    text = str(number)
    sys.set_int_max_str_digits(4300)
    assert digits_to_int(text.encode()) == number
    assert int_to_digits(number) == text
    assert int_to_digits(10**digits) == "1" + "0" * digits
    assert digits_to_int(b"%x" % number, 16) == number


def test_no_digits_are_nothing() -> None:
    assert digits_to_int(b"") == 0
    assert int_to_digits(0) == "0"


TEXTS = st.one_of(
    st.from_regex(rb"[ \t]?[+-]?[0-9]{1,30}x?", fullmatch=True),
    st.from_regex(
        rb" ?[+-]?(0x)?[0-9a-f]{0,4}\.?[0-9a-f]{0,3}([ep][+-]?[0-9]{1,3})?", fullmatch=True
    ),
    st.sampled_from(
        [b"inf", b"-INFINITY!", b"nan", b" +nan(1)", b"", b"+", b".", b"0x", b"1e", b"1e+"]
    ),
)


@pytest.mark.skipif(sys.platform == "win32", reason="compared with the C library of Unix")
@given(TEXTS)
def test_texts_are_read_as_the_c_library_reads_them(text: bytes) -> None:
    libc = ctypes.CDLL(None)
    libc.strtod.restype = ctypes.c_double
    assert atoi(text) == libc.atoi(text)
    expected, got = libc.strtod(text, None), strtod(text)
    assert got == expected or (math.isnan(got) and math.isnan(expected))


def test_long_doubles_of_many_digits() -> None:
    # As redis-server 7.0.15 answers INCRBYFLOAT: rounded to 64 bits, every digit shown.
    value = string2ld(b"9" * 4400)
    assert value is not None
    text = ld2string_human(value)
    assert len(text) == 4401 and text.startswith(b"10000000000000000000331394841206826697255")
    assert string2ld(b"9" * 5000) is None
    assert string2ld(b"1e" + b"0" * 5000 + b"1") == 10
    assert string2ld(b"0e" + b"9" * 5000) == 0
    assert string2ld(b"0." + b"0" * 5000 + b"1e5000") == string2ld(b"0.1")
    assert string2ld(b"0x1p-16445") == Fraction(1, 2**16445)
