"""Classic uses of Redis, each a small module to read in one sitting.

A pattern is a set of functions that take a redis-py client, of any server, and where time
matters a ``clock`` (``patterns.clock``). No pattern knows the simulator; ``python -m
patterns`` shows each of them at work, on the simulator or on a server of yours.

Where textbooks show a version that breaks, it stands beside the sound one under a name
that ends in ``_naive``, and its docstring tells how it fails.
"""

from __future__ import annotations

#: Every pattern by its module's name, and what it is in one line.
PATTERNS: dict[str, str] = {
    "logs": "recent messages and the most common ones, hour by hour",
    "counters": "counts per time slot, visits per day, read and reset",
    "autocomplete": "recent contacts and a large address book, by prefix",
    "locks": "mutual exclusion with a lease, and fencing tokens",
    "semaphores": "at most so many at once, fairly, and in spite of skewed clocks",
    "rate_limiters": "at most so many requests in a time: windows, buckets, GCRA",
    "caches": "pages, rows and sessions; avalanche, stampede, penetration",
    "leaderboards": "ranks, pages, neighbours, and ties by time",
    "delay_queue": "jobs that become ready at their time and come back if not finished",
    "search": "names by pattern with SCAN, and stable pages",
    "bloom": "a set that is small, and sometimes wrongly says yes",
}

__all__ = ["PATTERNS"]
