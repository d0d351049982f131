"""Ranges of a sorted set: by score and by member.

An end of a range by score is a number, or a number after ``(`` if it is not included.
An end of a range by member is ``[text``, ``(text`` without the text itself, ``-`` for
before everything and ``+`` for after everything.

Redis: ``zrangespec``, ``zlexrangespec`` in server.h, ``zslParseRange()``,
``zslParseLexRange()`` in t_zset.c.
"""

from __future__ import annotations

from typing import NamedTuple

from miniredis.structs.double import strtod

#: A member's place among all texts, so that ``-`` and ``+`` can be compared with it: -1 for
#: ``-``, 1 for ``+``, else 0 and the text.
LexPlace = tuple[int, bytes]

MIN_STRING: LexPlace = (-1, b"")  # server.h: shared.minstring
MAX_STRING: LexPlace = (1, b"")  # server.h: shared.maxstring


class ZRangeSpec(NamedTuple):
    """Scores from *min* to *max*, each end left out if its ``ex`` is set. zrangespec"""

    min: float
    max: float
    minex: bool
    maxex: bool

    def is_empty(self) -> bool:
        """Whether no score at all can lie in it. t_zset.c: zslIsInRange()"""
        return self.min > self.max or (self.min == self.max and (self.minex or self.maxex))


class ZLexRangeSpec(NamedTuple):
    """Members from *min* to *max*, compared byte by byte. zlexrangespec"""

    min: LexPlace
    max: LexPlace
    minex: bool
    maxex: bool

    def is_empty(self) -> bool:
        """Whether no member at all can lie in it. t_zset.c: zslIsInLexRange()"""
        return self.min > self.max or (self.min == self.max and (self.minex or self.maxex))

    def gte_min(self, member: bytes) -> bool:
        """Whether *member* is not before the range. t_zset.c: zslLexValueGteMin()"""
        place = (0, member)
        return place > self.min if self.minex else place >= self.min

    def lte_max(self, member: bytes) -> bool:
        """Whether *member* is not after the range. t_zset.c: zslLexValueLteMax()"""
        place = (0, member)
        return place < self.max if self.maxex else place <= self.max


def zsl_parse_range(min: bytes, max: bytes) -> ZRangeSpec | None:
    """A range from the texts of its ends, or None if one is no number.

    Numbers are read as C does: blanks before them are skipped, nothing at all is 0.
    t_zset.c: zslParseRange()
    """
    low, minex = _score_end(min)
    high, maxex = _score_end(max)
    if low is None or high is None:
        return None
    return ZRangeSpec(low, high, minex, maxex)


def _score_end(text: bytes) -> tuple[float | None, bool]:
    text = text.partition(b"\0")[0]
    exclusive = text.startswith(b"(")
    number = text[1:] if exclusive else text
    value, end = strtod(number)
    return (value if end == len(number) and value == value else None), exclusive


def zsl_parse_lex_range(min: bytes, max: bytes) -> ZLexRangeSpec | None:
    """A range from the texts of its ends, or None if one is none. zslParseLexRange()"""
    low, high = _lex_end(min), _lex_end(max)
    if low is None or high is None:
        return None
    return ZLexRangeSpec(low[0], high[0], low[1], high[1])


def _lex_end(text: bytes) -> tuple[LexPlace, bool] | None:
    """t_zset.c: zslParseLexRangeItem()"""
    first = text[:1]
    if first == b"[" or first == b"(":
        return (0, text[1:]), first == b"("
    # Like C, which sees the end of a text in a NUL.
    if first in (b"-", b"+") and text[1:2] in (b"", b"\0"):
        return (MIN_STRING if first == b"-" else MAX_STRING), True
    return None
