"""Floating-point numbers as Redis writes them.

Redis: networking.c, util.c.
"""

from __future__ import annotations

import math


def format_double(value: float) -> bytes:
    """*value* as Redis 7.0 sends doubles. networking.c: addReplyDouble()"""
    if math.isinf(value):
        return b"inf" if value > 0 else b"-inf"
    return b"%.17g" % value
