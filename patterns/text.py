"""Replies as str or bytes: a client answers in one or the other, by ``decode_responses``.

``b"a" == "a"`` is false in Python, and nothing warns of it. So what comes from Redis is
brought into one form before it is compared.
"""

from __future__ import annotations


def as_text(value: bytes | str | int | float) -> str:
    """*value* as str; bytes are taken for UTF-8.

    ``UnicodeDecodeError`` for bytes that are not UTF-8, ``TypeError`` for None: a reply that
    may be missing is to be asked about first.
    """
    if value is None:
        raise TypeError("there is no text in None; was the key missing?")
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def as_bytes(value: bytes | str | int | float) -> bytes:
    """*value* as the bytes that Redis would keep of it. ``TypeError`` for None."""
    return value if isinstance(value, bytes) else as_text(value).encode("utf-8")


def same(reply: bytes | str | None, expected: bytes | str) -> bool:
    """Whether a reply is *expected*, whichever of them is bytes. None is the same as nothing."""
    return reply is not None and as_bytes(reply) == as_bytes(expected)
