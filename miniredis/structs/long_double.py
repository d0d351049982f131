"""x87 extended precision, in which Redis on x86-64 does INCRBYFLOAT.

A ``long double`` has 64 bits of mantissa. A value is kept here as an exact fraction that
has been rounded to such a mantissa, half to even; printing it with 17 decimals then gives
the digits that C's ``%.17Lf`` gives.

Redis: ``string2ld()``, ``ld2string()`` in util.c.
"""

from __future__ import annotations

import re
from fractions import Fraction

from miniredis.structs.c_numbers import digits_to_int, int_to_digits

LDBL_MANT_DIG = 64  # bits of the mantissa
LDBL_MAX_EXP = 16384  # values stay below 2**16384
LDBL_MIN_EXP = -16445  # the smallest positive value is 2**-16445
MAX_LONG_DOUBLE_CHARS = 5 * 1024  # Redis's buffer for one
DECIMALS = 17
# An exponent beyond this over- or underflows whatever the digits are.
POWER_MAX = LDBL_MAX_EXP + 4 * MAX_LONG_DOUBLE_CHARS
POWER_DIGITS = 6  # more than POWER_MAX has

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
        value = Fraction(digits_to_int(whole + part, digit_base), digit_base ** len(part))
        power = _power(exp or b"")
        if value and abs(power) > POWER_MAX:
            return None
        rounded = round_long_double(value * Fraction(base) ** power) if value else value
        if rounded is None or (rounded == 0 and value != 0):
            return None
        return -rounded if sign == b"-" else rounded
    return None


def _power(exp: bytes) -> int:
    """The exponent that is written, or one that is as good as it where it is too large."""
    digits = exp.lstrip(b"+-").lstrip(b"0")
    power = int(digits or b"0") if len(digits) <= POWER_DIGITS else POWER_MAX + 1
    return -power if exp[:1] == b"-" else power


def ld2string_human(value: Fraction) -> bytes:
    """*value* with up to 17 decimals and no trailing zeros. util.c: ld2string()"""
    scaled = round(abs(value) * 10**DECIMALS)
    whole, part = divmod(scaled, 10**DECIMALS)
    text = f"{int_to_digits(whole)}.{part:0{DECIMALS}d}".rstrip("0").rstrip(".")
    return (b"-" if value < 0 and text != "0" else b"") + text.encode()
