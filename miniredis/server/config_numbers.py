"""Numbers in the texts of a configuration, read as C reads them.

Redis hands these texts to the C library, whose habits show: a text ends at its first NUL
byte, leading white space and a plus sign are fine, no digits at all are 0, and what is
too large is cut to the limit or, in a narrower variable, to its low bits.

Redis: util.c (``memtoull``, ``string2d``), and ``strtoll`` of the C library.
"""

from __future__ import annotations

import math
import re

from miniredis.commands.args import c_string

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
UINT_MAX = 2**32 - 1
LONG_MAX = LLONG_MAX = 2**63 - 1  # Redis's 64-bit builds
LLONG_MIN = -(2**63)
ULLONG_MAX = 2**64 - 1

# memtoull(): the units of a memory value in bytes. The short ones are decimal.
MEMORY_UNITS = {
    b"": 1,
    b"b": 1,
    b"k": 1000,
    b"kb": 1024,
    b"m": 1000**2,
    b"mb": 1024**2,
    b"g": 1000**3,
    b"gb": 1024**3,
}
_MEMORY_MAX_DIGITS = 127  # what memtoull()'s buffer holds
_ULLONG_MAX_DIGITS = 20

_MEMORY = re.compile(rb"([0-9]*)([a-z]*)", re.IGNORECASE)
_INTEGER = {
    8: re.compile(rb"[ \t\n\v\f\r]*([+-]?[0-7]+)"),
    10: re.compile(rb"[ \t\n\v\f\r]*([+-]?[0-9]+)"),
}
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(
    rb"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?", re.IGNORECASE
)
_INFINITY = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


def c_int(number: int) -> int:
    """*number* cut to the 32 bits of an int."""
    return ((number - INT_MIN) & UINT_MAX) + INT_MIN


def c_long_long(number: int) -> int:
    """*number* cut to the 64 bits of a long long."""
    return ((number - LLONG_MIN) & ULLONG_MAX) + LLONG_MIN


def strtoll(text: bytes, base: int = 10) -> int | None:
    """The whole of *text* as a long long, cut to its limits; None if something is left over.

    A text without digits is 0 if it is empty, else it is left over. *base* is 8 or 10.

    C library: strtoll()
    """
    text = c_string(text)
    if not text:
        return 0
    found = _INTEGER[base].fullmatch(text)
    if found is None:
        return None
    return max(LLONG_MIN, min(LLONG_MAX, _digits_to_int(found[1], base)))


def memtoull(text: bytes) -> int | None:
    """Bytes in a memory value such as ``100mb``; None if it is none.

    ``k m g`` are powers of 1000, ``kb mb gb`` of 1024, in any case; the unit alone is 0.
    The product overflows silently, modulo 2^64.

    util.c: memtoull()
    """
    found = _MEMORY.fullmatch(c_string(text))
    if found is None or len(found[1]) > _MEMORY_MAX_DIGITS:
        return None
    unit = MEMORY_UNITS.get(found[2].lower())
    if unit is None:
        return None
    return min(ULLONG_MAX, int(found[1] or b"0")) * unit & ULLONG_MAX


def string2d(text: bytes) -> float | None:
    """The whole of *text* as a double; None if it is none, NaN, or out of a double's range.

    Decimal, hexadecimal (``0x1.8p3``) and ``inf`` are read; no space may stand anywhere.

    util.c: string2d()
    """
    if _INFINITY.fullmatch(text):
        return float(text)
    try:
        if _DECIMAL.fullmatch(text):
            number, mantissa = float(text), text.lower().partition(b"e")[0]
        elif _HEXADECIMAL.fullmatch(text):
            number, mantissa = float.fromhex(text.decode()), text.lower().partition(b"p")[0]
        else:
            return None
    except OverflowError:  # of a hexadecimal number; a decimal one becomes infinite
        return None
    underflow = number == 0 and mantissa.strip(b"+-0.x") != b""
    return None if underflow or math.isinf(number) else number


def _digits_to_int(digits: bytes, base: int) -> int:
    """int(), but quick for any number of digits, as the limits are near."""
    sign = -1 if digits[:1] == b"-" else 1
    digits = digits.lstrip(b"+-").lstrip(b"0")
    if len(digits) > 2 * _ULLONG_MAX_DIGITS:
        return sign * ULLONG_MAX
    return sign * int(digits or b"0", base)
