"""Numbers as the C library reads them, of any length.

Python's ``int()`` and ``str()`` refuse more than 4,300 decimal digits, to keep bad input
from costing quadratic time; here lengths are bounded by the caller, and C has no such limit.
"""

from __future__ import annotations

import math
import re

CHUNK_DIGITS = 4000  # converted at a time, fewer than Python's limit
LONG_DIGITS = 19  # of the largest long
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
INT_MIN, UINT_MAX = -(2**31), 2**32 - 1

_SPACE = rb"[ \t\n\v\f\r]*"
_INTEGER = re.compile(_SPACE + rb"([+-]?)0*([0-9]*)")
_DECIMAL = re.compile(_SPACE + rb"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_HEX_DIGITS = rb"(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)"
_HEXADECIMAL = re.compile(
    _SPACE + rb"([+-]?0x" + _HEX_DIGITS + rb"(?:p[+-]?[0-9]+)?)", re.IGNORECASE
)
_INFINITY_OR_NAN = re.compile(_SPACE + rb"([+-]?(?:inf|nan))", re.IGNORECASE)


def digits_to_int(digits: bytes, base: int = 10) -> int:
    """The number that *digits* of *base* stand for; 0 for none. O(N^2), as ``int()``."""
    number = 0
    for start in range(0, len(digits), CHUNK_DIGITS):
        piece = digits[start : start + CHUNK_DIGITS]
        number = number * base ** len(piece) + int(piece, base)
    return number


def int_to_digits(number: int) -> str:
    """The decimal digits of *number*, which must not be negative."""
    pieces = []
    while number >= 10**CHUNK_DIGITS:
        number, piece = divmod(number, 10**CHUNK_DIGITS)
        pieces.append(f"{piece:0{CHUNK_DIGITS}d}")
    return str(number) + "".join(reversed(pieces))


def atoi(text: bytes) -> int:
    """The integer that *text* begins with, or 0. C library: atoi() of glibc

    A long, cut to its limits, of which the low 32 bits count: ``4294967297`` is 1.
    """
    found = _INTEGER.match(text)
    assert found is not None  # it matches nothing too
    sign, digits = found.groups()
    number = int(digits or b"0") if len(digits) <= LONG_DIGITS else LONG_MAX + 1
    number = max(LONG_MIN, min(LONG_MAX, -number if sign == b"-" else number))
    return ((number - INT_MIN) & UINT_MAX) + INT_MIN


def strtod(text: bytes) -> float:
    """The number that *text* begins with, decimal or hexadecimal, or 0. C library: strtod()"""
    special = _INFINITY_OR_NAN.match(text)
    if special is not None:
        return float(special[1])
    found = _HEXADECIMAL.match(text)
    if found is not None:
        try:
            return float.fromhex(found[1].decode())
        except OverflowError:
            return -math.inf if found[1][:1] == b"-" else math.inf
    found = _DECIMAL.match(text)
    return float(found[1]) if found is not None else 0.0
