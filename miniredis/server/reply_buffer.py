"""The buffer that a client's replies are written to, and how it is fitted to what they need.

Redis gives each connection 16 kB. The cron halves what is hardly used, down to 1 kB, and
doubles what is always full. Here there is no such buffer: what is kept is its size and the
most that was in it lately, as they would be, for CLIENT LIST and INFO. Clients within the
process have none.

Worked example: a client that gets a PONG of 7 bytes now and then. Its peak is 7, less than half
of 16,384: the cron makes that 1,024 at once, which is the least. A reply of 5,000 bytes fills
it; the peak is 1,024, all there is, so the next cron makes it 2,048.

Redis: ``clientsCronResizeOutputBuffer()`` in server.c.
"""

from __future__ import annotations

from miniredis.structs.jemalloc import malloc_size

PROTO_REPLY_CHUNK_BYTES = 16 * 1024  # of a new buffer, and the most
PROTO_REPLY_MIN_BYTES = 1024
DEFAULT_PEAK_RESET_TIME = 5000  # ms after which the peak is forgotten
NEVER = -1  # the peak is kept for good


class ReplyBufferPolicy:
    """What a server does with all buffers. ``peak_reset_time`` in ms, NEVER: not at all."""

    def __init__(self) -> None:
        self.peak_reset_time = DEFAULT_PEAK_RESET_TIME
        self.resizing = True
        self.shrinks = self.expands = 0

    def keep_peaks(self) -> None:
        """Never forget a peak."""
        self.peak_reset_time = NEVER

    def forget_peaks(self) -> None:
        """Forget peaks after the usual time."""
        self.peak_reset_time = DEFAULT_PEAK_RESET_TIME


class ReplyBuffer:
    """The buffer of one client. ``size`` and ``peak`` in bytes. server.h: buf_usable_size"""

    __slots__ = ("last_reset_ms", "peak", "size")

    def __init__(self, now_ms: int) -> None:
        self.size = PROTO_REPLY_CHUNK_BYTES
        self.peak = PROTO_REPLY_CHUNK_BYTES
        self.last_reset_ms = now_ms

    def note(self, length: int) -> None:
        """*length* bytes were written at once; what does not fit goes elsewhere. O(1)"""
        if length > self.peak:
            self.peak = min(length, self.size)

    def resize(self, policy: ReplyBufferPolicy, now_ms: int) -> None:
        """Fit the buffer to its peak. O(1). server.c: clientsCronResizeOutputBuffer()"""
        if not policy.resizing:
            return
        size = 0
        if self.size // 2 >= PROTO_REPLY_MIN_BYTES and self.peak < self.size // 2:
            size = max(PROTO_REPLY_MIN_BYTES, self.peak + 1)
            policy.shrinks += 1
        elif self.size * 2 < PROTO_REPLY_CHUNK_BYTES * 2 and self.peak == self.size:
            size = min(PROTO_REPLY_CHUNK_BYTES, self.size * 2)
            policy.expands += 1
        if policy.peak_reset_time >= 0 and now_ms - self.last_reset_ms >= policy.peak_reset_time:
            self.peak = 0
            self.last_reset_ms = now_ms
        if size:
            self.size = malloc_size(size)
