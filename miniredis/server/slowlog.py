"""The slow log: the last commands that took longer than a threshold.

Redis: slowlog.c.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

SLOWLOG_ENTRY_MAX_ARGC = 32  # arguments kept of one command
SLOWLOG_ENTRY_MAX_STRING = 128  # bytes kept of one argument


class SlowlogEntry(NamedTuple):
    """One slow command. ``time`` in Unix seconds, ``duration`` in µs."""

    id: int
    time: int
    duration: int
    argv: list[bytes]
    peerid: bytes
    cname: bytes


class SlowLog:
    """Entries, newest first. slowlog.c: ``server.slowlog``"""

    def __init__(self) -> None:
        self.entries: deque[SlowlogEntry] = deque()
        self.entry_id = 0

    def push_entry(
        self,
        argv: list[bytes],
        duration: int,
        unix_seconds: int,
        peerid: bytes,
        cname: bytes,
        max_len: int,
    ) -> None:
        """Add an entry and drop the oldest beyond *max_len*.

        slowlog.c: slowlogPushEntryIfNeeded()
        """
        trimmed = _trim(argv)
        entry = SlowlogEntry(self.entry_id, unix_seconds, duration, trimmed, peerid, cname)
        self.entry_id += 1
        self.entries.appendleft(entry)
        while len(self.entries) > max_len:
            self.entries.pop()

    def reset(self) -> None:
        """Forget all entries; ids go on."""
        self.entries.clear()


def _trim(argv: list[bytes]) -> list[bytes]:
    """Cut long arguments and long lists of them, saying how much is missing.

    slowlog.c: slowlogCreateEntry()
    """
    kept = argv
    rest = 0
    if len(argv) > SLOWLOG_ENTRY_MAX_ARGC:
        kept = argv[: SLOWLOG_ENTRY_MAX_ARGC - 1]
        rest = len(argv) - len(kept)
    trimmed = []
    for arg in kept:
        if len(arg) > SLOWLOG_ENTRY_MAX_STRING:
            more = len(arg) - SLOWLOG_ENTRY_MAX_STRING
            arg = arg[:SLOWLOG_ENTRY_MAX_STRING] + b"... (%d more bytes)" % more
        trimmed.append(arg)
    if rest:
        trimmed.append(b"... (%d more arguments)" % rest)
    return trimmed
