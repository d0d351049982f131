"""double.py: reading and printing doubles as C does."""

from __future__ import annotations

import math

import pytest

from miniredis.structs.double import (
    d2string,
    d2string_human,
    fixedpoint_d2string,
    string2d,
    strtod,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"0", 0.0),
        (b"-0", -0.0),
        (b"+1.5", 1.5),
        (b".5", 0.5),
        (b"5.", 5.0),
        (b"1e3", 1000.0),
        (b"1E-2", 0.01),
        (b"0x10", 16.0),
        (b"-0X1.8p1", -3.0),
        (b"0x.8", 0.5),
        (b"inf", math.inf),
        (b"-Infinity", -math.inf),
        (b"1e308", 1e308),
        (b"5e-324", 5e-324),
        (b"0e999999", 0.0),
        (b"0x0p-99999", 0.0),
        (b"9" * 308, 1e308),
    ],
)
def test_numbers(text: bytes, value: float) -> None:
    got = string2d(text)
    assert got is not None and got == value
    assert math.copysign(1, got) == math.copysign(1, value)
    assert strtod(text) == (value, len(text))


@pytest.mark.parametrize(
    "text",
    b"|nan|-nan|nan(1)| 1|1 |1_0|1,5|1e|e1|.|+|-|--1|+-1|0x|0xg|infi|inf1|1e309|-1e309|1e-400|"
    b"0x1p9999|0x1p-9999|x|1x|1\0|\t1".split(b"|"),
)
def test_no_numbers(text: bytes) -> None:
    assert string2d(text) is None


@pytest.mark.parametrize(
    ("text", "value", "end"),
    [
        (b"1.5x", 1.5, 3),
        (b" \t12 ", 12.0, 4),
        (b"1e+", 1.0, 1),
        (b"0x", 0.0, 1),
        (b"infinite", math.inf, 3),
        (b"1e999", math.inf, 5),
        (b"-0x1p9999", -math.inf, 9),
        (b"", 0.0, 0),
        (b"  ", 0.0, 0),
        (b"x", 0.0, 0),
    ],
)
def test_the_number_that_a_text_begins_with(text: bytes, value: float, end: int) -> None:
    assert strtod(text) == (value, end)


def test_too_many_digits() -> None:
    assert string2d(b"9" * 308) == 1e308
    assert string2d(b"9" * 400) is None


def test_not_a_number_is_read_but_refused() -> None:
    value, end = strtod(b"-nan(x)")
    assert math.isnan(value) and end == 7


@pytest.mark.parametrize(
    ("value", "short", "human"),
    [
        (3.0, b"3", b"3"),
        (-0.0, b"-0", b"0"),
        (0.1, b"0.10000000000000001", b"0.10000000000000001"),
        (1e-5, b"1.0000000000000001e-05", b"0.00001"),
        (1e17, b"1e+17", b"100000000000000000"),
        (math.inf, b"inf", b"inf"),
        (-math.inf, b"-inf", b"-inf"),
        (2.5, b"2.5", b"2.5"),
        (1e20, b"1e+20", b"100000000000000000000"),
    ],
)
def test_printing(value: float, short: bytes, human: bytes) -> None:
    assert d2string(value) == short
    assert d2string_human(value) == human


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, b"0.0000"),
        (0.00001, b"0.0000"),
        (0.0775, b"0.0775"),
        (166274.15156, b"166274.1516"),
        (-1.5, b"-1.5000"),
        (0.00005, b"0.0000"),  # half goes to even
        (0.00035, b"0.0004"),
        (math.inf, b"-922337203685477.5808"),
        (math.nan, b"-922337203685477.5808"),
    ],
)
def test_four_decimals(value: float, text: bytes) -> None:
    assert fixedpoint_d2string(value, 4) == text
