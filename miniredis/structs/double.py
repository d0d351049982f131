"""Doubles as C reads and prints them.

Python's ``float()`` rounds decimal text as the C library does but accepts other texts
(``1_000``, blanks around, no hexadecimal), so the text is looked at first.

Redis: ``string2d()``, ``d2string()`` in util.c; the C library's ``strtod()``.
"""

from __future__ import annotations

import math
import re

C_SPACE = b" \t\n\v\f\r"  # what isspace() takes for space in the C locale

_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX = re.compile(rb"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_WORD = re.compile(rb"([+-]?)(?:(inf(?:inity)?)|nan(?:\([0-9a-z_]*\))?)", re.IGNORECASE)
_PLAIN = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_PLAIN_MAX = 300  # characters; as many neither over- nor underflow without an exponent


def strtod(text: bytes) -> tuple[float, int]:
    """The number that *text* begins with and how many bytes it takes; (0.0, 0) for none.

    Blanks before it are skipped and counted. Too large is an infinity, too small a zero.
    ``strtod(b" 1.5x") == (1.5, 4)``. O(len). C library: strtod()
    """
    start = len(text) - len(text.lstrip(C_SPACE))
    # Hexadecimal first: the decimal pattern would stop after the 0 of 0x10.
    found = _HEX.match(text, start)
    if found is not None:
        return _from_hex(found[0]), found.end()
    found = _DECIMAL.match(text, start)
    if found is not None:
        return float(found[0]), found.end()
    found = _WORD.match(text, start)
    if found is None:
        return 0.0, 0
    value = math.inf if found[2] else math.nan
    return (-value if found[1] == b"-" else value), found.end()


def _from_hex(text: bytes) -> float:
    try:
        return float.fromhex(text.decode())
    except OverflowError:
        return -math.inf if text.startswith(b"-") else math.inf


def string2d(text: bytes) -> float | None:
    """*text* as a double, or None if it is not exactly one.

    No blanks; ``inf`` is a number, ``nan`` is not, and neither is what over- or underflows
    (``1e999``, ``1e-999``). O(len). util.c: string2d()
    """
    if _PLAIN.fullmatch(text) and len(text) <= _PLAIN_MAX:  # the usual case
        return float(text)
    if not text or text[0] in C_SPACE:
        return None
    value, end = strtod(text)
    if end != len(text) or value != value:
        return None
    if value in (math.inf, -math.inf) and _WORD.match(text) is None:
        return None
    return None if value == 0 and _has_other_digit_than_0(text) else value


def _has_other_digit_than_0(text: bytes) -> bool:
    """Whether the mantissa is not 0, so that a 0 read from *text* is an underflow."""
    text = text.lower()
    hexadecimal = b"x" in text
    mantissa = text.split(b"p" if hexadecimal else b"e")[0]
    return bool(mantissa.strip(b"+-0x."))


def d2string(value: float) -> bytes:
    """*value* with 17 significant digits, which is enough to read it back.

    ``3.0`` is ``3``, ``0.1`` is ``0.10000000000000001``. util.c: d2string()
    """
    # Infinities and -0 come out as Redis writes them.
    return b"%.17g" % value


def d2string_human(value: float) -> bytes:
    """*value* with up to 17 decimals, no exponent and no zeros at the end.

    util.c: ld2string(), LD_STR_HUMAN
    """
    if value in (math.inf, -math.inf):
        return d2string(value)
    text = (b"%.17f" % value).rstrip(b"0").rstrip(b".")
    return b"0" if text == b"-0" else text


def fixedpoint_d2string(value: float, digits: int) -> bytes:
    """*value* rounded to so many decimals, all of which are shown; half goes to even.

    What 64 bits cannot hold, NaN too, comes out as C's llrint() leaves it.
    ``fixedpoint_d2string(0.0775, 2) == b"0.08"``. util.c: fixedpoint_d2string()
    """
    scaled = value * 10.0**digits
    number = round(scaled) if -(2.0**63) <= scaled < 2.0**63 else -(1 << 63)
    whole, part = divmod(abs(number), 10**digits)
    return b"%s%d.%0*d" % (b"-" if number < 0 else b"", whole, digits, part)
