"""The end of the replication stream, kept for replicas that lost their link for a moment.

Differs from Redis, which trims its backlog by blocks of 16 KB or more: here it is trimmed
command by command, so it is never larger than ``repl-backlog-size``.

Redis: ``replBacklog`` in server.h, replication.c.
"""

from __future__ import annotations

from collections import deque

from miniredis.server.command_stream import resp_command


class ReplBacklog:
    """Commands with their sizes in bytes. ``offset`` is that of the first byte kept."""

    def __init__(self, master_repl_offset: int) -> None:
        self.offset = master_repl_offset + 1
        self.histlen = 0  # bytes kept
        self._items: deque[tuple[int, list[bytes]]] = deque()

    def feed(self, argv: list[bytes], size: int, limit: int) -> None:
        """Append a command of *size* bytes and forget the oldest beyond *limit* bytes."""
        self._items.append((size, argv))
        self.histlen += size
        while self.histlen > limit and self._items:
            oldest, _ = self._items.popleft()
            self.histlen -= oldest
            self.offset += oldest

    def holds(self, psync_offset: int) -> bool:
        """Whether all is here from byte *psync_offset* on.

        replication.c: masterTryPartialResynchronization()
        """
        return self.offset <= psync_offset <= self.offset + self.histlen

    def bytes_since(self, psync_offset: int) -> bytes:
        """The stream from byte *psync_offset* on, which may be inside of a command.

        O(bytes kept). replication.c: addReplyReplicationBacklog()
        """
        kept = b"".join(resp_command(argv) for _, argv in self._items)
        return kept[psync_offset - self.offset :]

    def since(self, psync_offset: int) -> list[tuple[list[bytes], int]]:
        """Commands with sizes from byte *psync_offset* on. O(commands kept)."""
        at, missed = self.offset, []
        for size, argv in self._items:
            if at >= psync_offset:
                missed.append((argv, size))
            at += size
        return missed

    def _check(self) -> None:
        """Assert that the sizes add up."""
        assert self.histlen == sum(size for size, _ in self._items)
