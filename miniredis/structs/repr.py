"""Printing bytes the way Redis quotes them, e.g. in MONITOR's lines.

Redis: ``sdscatrepr()`` in sds.c.
"""

from __future__ import annotations

_ESCAPES = {
    ord("\\"): b"\\\\",
    ord('"'): b'\\"',
    ord("\n"): b"\\n",
    ord("\r"): b"\\r",
    ord("\t"): b"\\t",
    ord("\a"): b"\\a",
    ord("\b"): b"\\b",
}
_TABLE = [
    _ESCAPES.get(byte, bytes([byte]) if 0x20 <= byte < 0x7F else b"\\x%02x" % byte)
    for byte in range(256)
]


def sds_cat_repr(value: bytes) -> bytes:
    """*value* in double quotes, with escapes for what does not print."""
    return b'"' + b"".join([_TABLE[byte] for byte in value]) + b'"'
