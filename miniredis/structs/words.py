"""Splitting an inline command, as one types it into telnet, into its arguments.

Redis: ``sdssplitargs()`` in sds.c.
"""

from __future__ import annotations

_SPACE = b" \t\n\v\f\r"
_HEX = b"0123456789abcdefABCDEF"
_ESCAPES = {0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09, 0x62: 0x08, 0x61: 0x07}  # n r t b a
_BACKSLASH, _DOUBLE, _SINGLE, _X = 0x5C, 0x22, 0x27, 0x78
_TOKEN_END = b" \n\r\t"  # unlike between tokens, \v and \f belong to one


def split_args(line: bytes) -> list[bytes] | None:
    """Words of *line*, or None if quotes are unbalanced.

    In double quotes ``\\n \\r \\t \\b \\a`` and ``\\xhh`` are escapes, in single quotes
    only ``\\'``. A closing quote must be followed by a space or the end.
    """
    line = line.split(b"\0", 1)[0]
    words: list[bytes] = []
    i = 0
    while True:
        while i < len(line) and line[i] in _SPACE:
            i += 1
        if i == len(line):
            return words
        found = _word(line, i)
        if found is None:
            return None
        word, i = found
        words.append(word)


def _word(line: bytes, i: int) -> tuple[bytes, int] | None:
    """The word that begins at *i* and the position after it."""
    word = bytearray()
    while i < len(line) and line[i] not in _TOKEN_END:
        char = line[i]
        if char in (_DOUBLE, _SINGLE):
            end = _quoted(line, i + 1, char, word)
            if end is None or (end < len(line) and line[end] not in _SPACE):
                return None
            return bytes(word), end
        word.append(char)
        i += 1
    return bytes(word), i


def _quoted(line: bytes, i: int, quote: int, word: bytearray) -> int | None:
    """Add what stands in quotes to *word*; the position after the closing one."""
    while i < len(line):
        char = line[i]
        if char == quote:
            return i + 1
        following = line[i + 1] if i + 1 < len(line) else None
        if char == _BACKSLASH and quote == _SINGLE and following == _SINGLE:
            word.append(_SINGLE)
            i += 2
        elif char == _BACKSLASH and quote == _DOUBLE and following is not None:
            digits = line[i + 2 : i + 4]
            if following == _X and len(digits) == 2 and all(d in _HEX for d in digits):
                word.append(int(digits, 16))
                i += 4
            else:
                word.append(_ESCAPES.get(following, following))
                i += 2
        else:
            word.append(char)
            i += 1
    return None
