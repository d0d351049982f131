"""IDs of stream entries: 128 bits, a time in ms and a sequence number, as one integer.

One integer compares, sorts and counts up by itself: the ID after ``5-18446744073709551615``
is ``6-0``, and that is what adding 1 gives.

Redis: streamID, streamIncrID() and so on in t_stream.c.
"""

from __future__ import annotations

SEQ_BITS = 64
MAX_SEQ = MAX_MS = (1 << SEQ_BITS) - 1
MIN_ID = 0
MAX_ID = (1 << 2 * SEQ_BITS) - 1


def stream_id(ms: int, seq: int) -> int:
    """The ID ``ms-seq``."""
    return ms << SEQ_BITS | seq


def format_id(id: int) -> bytes:
    """*id* as replies show it, e.g. ``1526919030474-55``. createStreamIDString()"""
    return b"%d-%d" % (id >> SEQ_BITS, id & MAX_SEQ)


def next_id(last_id: int, now_ms: int) -> int | None:
    """The ID for a new entry: by the clock, but always above the last one.

    None after the largest ID. t_stream.c: streamNextID()
    """
    if now_ms > last_id >> SEQ_BITS:
        return now_ms << SEQ_BITS
    return last_id + 1 if last_id < MAX_ID else None
