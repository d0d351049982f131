"""Keyspace events: which classes are on, and their letters.

Redis: notify.c.
"""

from __future__ import annotations

NOTIFY_KEYSPACE = 1 << 0  # K
NOTIFY_KEYEVENT = 1 << 1  # E
NOTIFY_GENERIC = 1 << 2  # g
NOTIFY_STRING = 1 << 3  # $
NOTIFY_LIST = 1 << 4  # l
NOTIFY_SET = 1 << 5  # s
NOTIFY_HASH = 1 << 6  # h
NOTIFY_ZSET = 1 << 7  # z
NOTIFY_EXPIRED = 1 << 8  # x
NOTIFY_EVICTED = 1 << 9  # e
NOTIFY_STREAM = 1 << 10  # t
NOTIFY_KEY_MISS = 1 << 11  # m, not in A
NOTIFY_MODULE = 1 << 13  # d
NOTIFY_NEW = 1 << 14  # n, not in A and not printed beside it
NOTIFY_ALL = (
    NOTIFY_GENERIC
    | NOTIFY_STRING
    | NOTIFY_LIST
    | NOTIFY_SET
    | NOTIFY_HASH
    | NOTIFY_ZSET
    | NOTIFY_EXPIRED
    | NOTIFY_EVICTED
    | NOTIFY_STREAM
    | NOTIFY_MODULE
)
NOTIFY_EVERYTHING = -1  # all classes, for a probe

# In the order in which CONFIG GET prints them.
_LETTERS = (
    ("g", NOTIFY_GENERIC),
    ("$", NOTIFY_STRING),
    ("l", NOTIFY_LIST),
    ("s", NOTIFY_SET),
    ("h", NOTIFY_HASH),
    ("z", NOTIFY_ZSET),
    ("x", NOTIFY_EXPIRED),
    ("e", NOTIFY_EVICTED),
    ("t", NOTIFY_STREAM),
    ("d", NOTIFY_MODULE),
    ("n", NOTIFY_NEW),
)
_OTHERS = (
    ("K", NOTIFY_KEYSPACE),
    ("E", NOTIFY_KEYEVENT),
    ("m", NOTIFY_KEY_MISS),
)
_BY_LETTER = {"A": NOTIFY_ALL, **dict(_LETTERS), **dict(_OTHERS)}


def keyspace_events_string_to_flags(classes: str) -> int | None:
    """The flags for letters such as ``KEx``; None if one is unknown.

    notify.c: keyspaceEventsStringToFlags()
    """
    flags = 0
    for letter in classes:
        if letter not in _BY_LETTER:
            return None
        flags |= _BY_LETTER[letter]
    return flags


def keyspace_events_flags_to_string(flags: int) -> str:
    """The letters for *flags*, with ``A`` for all that it stands for.

    ``n`` is printed among the classes that ``A`` replaces though it is not one of them, so
    ``An`` reads back as ``A``: setting a configuration to what it reads drops ``n``.

    notify.c: keyspaceEventsFlagsToString()
    """
    if flags & NOTIFY_ALL == NOTIFY_ALL:
        letters = "A"
    else:
        letters = "".join(letter for letter, bit in _LETTERS if flags & bit)
    return letters + "".join(letter for letter, bit in _OTHERS if flags & bit)
