"""x87 extended precision, in which Redis on x86-64 does INCRBYFLOAT.

A ``long double`` has 64 bits of mantissa. A value is kept here as an exact fraction that
has been rounded to such a mantissa, half to even; printing it with 17 decimals then gives
the digits that C's ``%.17Lf`` gives.

Redis: ``string2ld()``, ``ld2string()`` in util.c.
"""

from __future__ import annotations

import re
from fractions import Fraction

LDBL_MANT_DIG = 64  # bits of the mantissa
LDBL_MAX_EXP = 16384  # values stay below 2**16384
LDBL_MIN_EXP = -16445  # the smallest positive value is 2**-16445
MAX_LONG_DOUBLE_CHARS = 5 * 1024  # Redis's buffer for one
DECIMALS = 17
CHUNK_DIGITS = 4000  # decimal digits that Python converts at once; its limit is 4300

_DECIMAL = re.compile(rb"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\Z")
_HEX = re.compile(rb"([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?\d+))?\Z")
_INFINITY = re.compile(rb"([+-]?)inf(?:inity)?\Z", re.IGNORECASE)

#: An infinite long double; compare with ``is``.
INFINITY = Fraction(2) ** (2 * LDBL_MAX_EXP)
MINUS_INFINITY = -INFINITY


def round_long_double(value: Fraction) -> Fraction | None:
    """*value* rounded to the nearest long double, ties to even; None if it overflows."""
    if value == 0:
        return value
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    ulp = Fraction(2) ** max(exponent - LDBL_MANT_DIG + 1, LDBL_MIN_EXP)
    rounded = round(magnitude / ulp) * ulp
    if rounded >= Fraction(2) ** LDBL_MAX_EXP:
        return None
    return rounded if value > 0 else -rounded


def string2ld(text: bytes) -> Fraction | None:
    """*text* as a long double, :data:`INFINITY` included; None if it is not one.

    util.c: string2ld(), over strtold() of the C locale
    """
    if not 0 < len(text) < MAX_LONG_DOUBLE_CHARS:
        return None
    infinite = _INFINITY.match(text)
    if infinite:
        return MINUS_INFINITY if infinite[1] == b"-" else INFINITY
    for pattern, base, digit_base in ((_DECIMAL, 10, 10), (_HEX, 2, 16)):
        match = pattern.match(text)
        if match is None:
            continue
        sign, whole, part, exp = match.groups()
        part = part or b""
        if not whole + part:
            return None
        value = Fraction(_int_of_digits(whole + part, digit_base), digit_base ** len(part))
        power = int(exp or 0)
        # Beyond this the result over- or underflows whatever the digits are.
        limit = LDBL_MAX_EXP + 4 * MAX_LONG_DOUBLE_CHARS
        if value and abs(power) > limit:
            return None
        rounded = round_long_double(value * Fraction(base) ** power) if value else value
        if rounded is None or (rounded == 0 and value != 0):
            return None
        return -rounded if sign == b"-" else rounded
    return None


def ld2string_human(value: Fraction) -> bytes:
    """*value* with up to 17 decimals and no trailing zeros. util.c: ld2string()"""
    scaled = round(abs(value) * 10**DECIMALS)
    whole, part = divmod(scaled, 10**DECIMALS)
    text = f"{_digits_of_int(whole)}.{part:0{DECIMALS}d}".rstrip("0").rstrip(".")
    return (b"-" if value < 0 and text != "0" else b"") + text.encode()


def _int_of_digits(digits: bytes, base: int) -> int:
    """int() of as many digits as fit into a long double, more than Python takes at once."""
    head, tail = digits[:CHUNK_DIGITS], digits[CHUNK_DIGITS:]
    if not tail:
        return int(head, base)
    scale: int = base ** len(tail)
    return int(head, base) * scale + _int_of_digits(tail, base)


def _digits_of_int(number: int) -> str:
    """str() of any long double's whole part."""
    head, tail = divmod(number, 10**CHUNK_DIGITS)
    return f"{head}{tail:0{CHUNK_DIGITS}d}" if head else str(tail)
