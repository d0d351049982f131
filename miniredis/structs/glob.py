"""Glob-style patterns as KEYS, SCAN MATCH, PSUBSCRIBE and CONFIG GET know them.

``*`` is any run of bytes, ``?`` one byte, ``[...]`` one byte of a set (``[^...]`` one
outside it, ``a-z`` a range), and a backslash takes the next byte as it is. Redis reads
this byte by byte without ever refusing a pattern, and its oddities are kept:

- a set that is not closed ends with the pattern: ``[ab`` is ``[ab]``, ``[`` matches nothing;
- ``[]`` is the empty set and matches nothing, ``[^]`` matches any byte;
- a range may be written backwards, takes ``]`` as its end (``[a-]`` reaches from ``]`` to
  ``a``) and compares bytes as C's signed chars, so 0x80-0xff come before 0x00;
- without case, the ends of a range are lowered after they were put in order, so ``[Z-a]``
  is empty, and an escaped byte in a set keeps its case;
- only the empty pattern matches the empty string: ``*`` does not;
- more than 1000 runs of ``*`` before the last byte never match (the guard against
  deep recursion that Debian's 7.0.15 carries).

A pattern becomes a regular expression once and is then matched at C speed. Each ``*``
takes the earliest place where the part after it fits and never comes back (an atomic
group), because whatever a later place would allow, the earliest allows too. So the time
is bounded by the length of the pattern times that of the string.

Redis: util.c, ``stringmatchlen()``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

Matcher = Callable[[bytes], bool]

MAX_STARS = 1000  # nesting of stringmatchlen_impl() beyond which nothing matches
_CACHED_PATTERNS = 256  # compiled patterns kept
_CACHED_PATTERN_BYTES = 256  # longest pattern kept
_SPECIAL = re.compile(rb"[*?\[\\]")

_STAR, _ANY, _OPEN, _CLOSE, _ESCAPE, _RANGE = b"*?[]\\-"
_ALL_BYTES = frozenset(range(256))


def stringmatch(pattern: bytes, string: bytes, nocase: bool = False) -> bool:
    """Whether the whole of *string* matches *pattern*; *nocase* ignores ASCII case.

    O(pattern * string) at worst. To match many strings, take a :func:`matcher`.

    util.c: stringmatchlen()
    """
    return matcher(pattern, nocase)(string)


def matcher(pattern: bytes, nocase: bool = False) -> Matcher:
    """A function that tells whether a string matches *pattern*: one to call in a loop."""
    if len(pattern) > _CACHED_PATTERN_BYTES:
        return _compile(pattern, nocase)
    return _compile_cached(pattern, nocase)


def _compile(pattern: bytes, nocase: bool) -> Matcher:
    special = _SPECIAL.search(pattern)
    if not nocase:
        if special is None:
            return pattern.__eq__
        prefix = pattern[: special.start()]
        if prefix and not pattern[special.start() :].strip(b"*"):
            return lambda string: string.startswith(prefix)
    return _compile_regex(_split(pattern, nocase))


_compile_cached = lru_cache(_CACHED_PATTERNS)(_compile)


def _compile_regex(parts: list[bytes]) -> Matcher:
    """A matcher for what stands between the stars."""
    *middle, last = parts[1:] or [b""]
    if len(middle) + bool(last) > MAX_STARS:
        return lambda string: False
    regex = parts[0] + b"".join(b"(?>.*?%s)" % part for part in middle)
    if last:
        regex += b".*" + last
    if last or len(parts) == 1:
        regex += rb"\Z"
    elif not regex:
        return bool  # stars alone: anything but the empty string
    match = re.compile(regex, re.DOTALL).match
    return lambda string: match(string) is not None


def _split(pattern: bytes, nocase: bool) -> list[bytes]:
    """The regular expressions between the stars of *pattern*: ``a*[b]*`` is a, [b], nothing."""
    parts = [b""]
    atoms: list[bytes] = []
    i = 0
    while i < len(pattern):
        byte = pattern[i]
        i += 1
        if byte == _STAR:
            if atoms or len(parts) == 1:
                parts[-1] = b"".join(atoms)
                parts.append(b"")
                atoms = []
        elif byte == _ANY:
            atoms.append(b".")
        elif byte == _OPEN:
            members, i = _bracket(pattern, i, nocase)
            atoms.append(_one_of(members))
        else:
            if byte == _ESCAPE and i < len(pattern):
                byte = pattern[i]
                i += 1
            atoms.append(_one_of(_both_cases(byte) if nocase else {byte}))
    parts[-1] = b"".join(atoms)
    return parts


def _bracket(pattern: bytes, i: int, nocase: bool) -> tuple[set[int], int]:
    """The bytes that the set beginning at *i* (after its ``[``) accepts, and where it ends."""
    negated = pattern[i : i + 1] == b"^"
    i += negated
    members: set[int] = set()
    while i < len(pattern) and pattern[i] != _CLOSE:
        byte, left = pattern[i], len(pattern) - i
        if byte == _ESCAPE and left >= 2:
            i += 1
            members.add(pattern[i])
        elif left >= 3 and pattern[i + 1] == _RANGE:
            i += 2
            members |= _range(byte, pattern[i], nocase)
        else:
            members |= _both_cases(byte) if nocase else {byte}
        i += 1
    return (set(_ALL_BYTES - members) if negated else members), i + 1


def _range(first: int, last: int, nocase: bool) -> set[int]:
    """The bytes from *first* to *last* in either order, as signed chars."""
    start, end = sorted((_signed(first), _signed(last)))
    if nocase:
        start, end = _lower(start), _lower(end)
        return {byte for byte in _ALL_BYTES if start <= _lower(_signed(byte)) <= end}
    return {byte for byte in _ALL_BYTES if start <= _signed(byte) <= end}


def _signed(byte: int) -> int:
    return byte - 256 if byte >= 128 else byte


def _lower(char: int) -> int:
    """tolower() in the C locale."""
    return char + 32 if ord("A") <= char <= ord("Z") else char


def _both_cases(byte: int) -> set[int]:
    char = bytes((byte,))
    return {char.lower()[0], char.upper()[0]}


def _one_of(members: set[int]) -> bytes:
    """A regular expression for one byte out of *members*."""
    if len(members) == 1:
        return re.escape(bytes(members))
    if not members:
        return b"(?!)"
    if len(members) == len(_ALL_BYTES):
        return b"."
    return b"[" + b"".join(b"\\x%02x" % byte for byte in sorted(members)) + b"]"
