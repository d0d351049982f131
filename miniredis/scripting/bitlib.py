"""The library ``bit``: operations on 32-bit integers.

Numbers are taken modulo 2**32, rounded to the nearest integer, halves to even; results are
signed. Redis: deps/lua/src/lua_bit.c, Mike Pall's BitOp
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import and_, or_, xor
from typing import Any

from miniredis.scripting.arguments import check_number

_MASK = 0xFFFF_FFFF
_SHIFT_MASK = 31


def _bits(args: tuple[Any, ...], position: int, function: str) -> int:
    number = check_number(args, position, function)
    if not math.isfinite(number) or abs(number) >= 2**51:
        # The trick with which C rounds leaves the low bits of the sum then.
        return _low_bits_of_sum(float(number))
    return round(number) & _MASK


def _low_bits_of_sum(number: float) -> int:
    import struct

    (low,) = struct.unpack("<Q", struct.pack("<d", number + 6755399441055744.0))
    return int(low) & _MASK


def _signed(bits: int) -> int:
    bits &= _MASK
    return bits - 2**32 if bits & 0x8000_0000 else bits


def _folded(name: str, operation: Callable[[int, int], int]) -> Callable[..., int]:
    def function(*args: Any) -> int:
        values = [_bits(args, i, name) for i in range(1, max(len(args), 1) + 1)]
        return _signed(reduce(operation, values))

    return function


def _shift(name: str, operation: Callable[[int, int], int]) -> Callable[..., int]:
    def function(*args: Any) -> int:
        value, count = _bits(args, 1, name), _bits(args, 2, name) & _SHIFT_MASK
        return _signed(operation(value, count))

    return function


def tobit(*args: Any) -> int:
    """The number as a signed 32-bit integer."""
    return _signed(_bits(args, 1, "tobit"))


def bnot(*args: Any) -> int:
    """All bits turned."""
    return _signed(~_bits(args, 1, "bnot"))


def bswap(*args: Any) -> int:
    """The four bytes in reverse."""
    return _signed(int.from_bytes(_bits(args, 1, "bswap").to_bytes(4, "little"), "big"))


def tohex(*args: Any) -> bytes:
    """The last *n* hexadecimal digits, capitals if *n* is negative."""
    value = _bits(args, 1, "tohex")
    n = _signed(_bits(args, 2, "tohex")) if len(args) > 1 else 8
    digits = b"%08X" % value if n < 0 else b"%08x" % value
    count = min(abs(n), 8)
    return digits[8 - count :]


BIT: dict[str, Any] = {
    "tobit": tobit,
    "bnot": bnot,
    "band": _folded("band", and_),
    "bor": _folded("bor", or_),
    "bxor": _folded("bxor", xor),
    "lshift": _shift("lshift", lambda b, n: b << n),
    "rshift": _shift("rshift", lambda b, n: b >> n),
    "arshift": _shift("arshift", lambda b, n: _signed(b) >> n),
    "rol": _shift("rol", lambda b, n: b << n | b >> (32 - n)),
    "ror": _shift("ror", lambda b, n: b << (32 - n) | b >> n),
    "bswap": bswap,
    "tohex": tohex,
}
