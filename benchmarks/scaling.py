"""``python -m benchmarks.scaling``: what operations cost on small and on large values, in µs.

Redis's complexity is to be kept: at 1,000,000 elements an operation costs at most three times
what it costs at 1,000. LINDEX in the middle walks the nodes of the list in Redis as well,
so it may grow. Least processor time of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import miniredis

FEW, MANY = 1_000, 1_000_000
BATCH = 10_000
ROUNDS, CALLS = 15, 300
ALLOWED = 3.0

Operation = Callable[[Any, int], Any]


def fill(r: Any, n: int) -> None:
    """One value of each type with *n* elements."""
    for begin in range(0, n, BATCH):
        numbers = range(begin, min(begin + BATCH, n))
        r.zadd("zset", {f"member:{i}": i for i in numbers})
        r.rpush("list", *(f"element:{i}" for i in numbers))
        r.sadd("set", *(f"member:{i}" for i in numbers))
        r.hset("hash", mapping={f"field:{i}": i for i in numbers})
        p = r.pipeline(transaction=False)
        for i in numbers:
            p.xadd("stream", {"f": "v"}, id=f"{i + 1}-0")
        p.execute()


# Name, operation on a value with n elements, whether it may grow as in Redis.
OPERATIONS: list[tuple[str, Operation, bool]] = [
    ("ZRANK", lambda r, n: r.zrank("zset", f"member:{n // 2}"), False),
    ("ZRANGE of 10 by rank", lambda r, n: r.zrange("zset", n // 2, n // 2 + 9), False),
    (
        "ZRANGE of 10 by score",
        lambda r, n: r.zrange("zset", n // 2, n // 2 + 9, byscore=True),
        False,
    ),
    ("ZADD of a score", lambda r, n: r.zadd("zset", {f"member:{n // 2}": n / 2}), False),
    ("SRANDMEMBER", lambda r, n: r.srandmember("set"), False),
    ("SISMEMBER", lambda r, n: r.sismember("set", f"member:{n // 2}"), False),
    ("HGET", lambda r, n: r.hget("hash", f"field:{n // 2}"), False),
    ("XRANGE of 10", lambda r, n: r.xrange("stream", f"{n // 2}-0", "+", count=10), False),
    ("LPUSH and LPOP", lambda r, n: (r.lpush("list", "x"), r.lpop("list")), False),
    ("LINDEX in the middle", lambda r, n: r.lindex("list", n // 2), True),
]


def least_us(operation: Operation, r: Any, n: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.thread_time()
        for _ in range(CALLS):
            operation(r, n)
        best = min(best, time.thread_time() - start)
    return best / CALLS * 1e6


def main() -> None:
    small, large = miniredis.Redis(), miniredis.Redis()
    fill(small, FEW)
    fill(large, MANY)
    print(f"{'µs, elements':28}{FEW:>12,}{MANY:>12,}")
    for name, operation, may_grow in OPERATIONS:
        few, many = least_us(operation, small, FEW), least_us(operation, large, MANY)
        verdict = "may grow" if may_grow else "ok" if many <= ALLOWED * few else "TOO SLOW"
        print(f"{name:28}{few:12.2f}{many:12.2f}   {many / few:5.2f} x ({verdict})")


if __name__ == "__main__":
    main()
