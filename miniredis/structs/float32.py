"""Rounding to C's ``float``, for figures that Redis computes in single precision.

Redis: the ``(float)`` casts of server.c (INFO) and dict.c (DEBUG HTSTATS).
"""

from __future__ import annotations

import struct

_FLOAT = struct.Struct("f")


def float32(x: float) -> float:
    """*x* rounded to the nearest single-precision number."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(x))[0]
    return rounded


def float32_ratio(a: int, b: int) -> float:
    """``(float)a / b``: both operands and the quotient are single-precision numbers."""
    return float32(float32(a) / float32(b))
