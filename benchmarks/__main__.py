"""``python -m benchmarks``: one interleaved run, medians in µs per operation.

Every contestant runs each operation in turn, round after round, so that a busy machine
disturbs all alike. The floor is redis-py with an ``execute_command`` that does nothing.

``python -m benchmarks tcp`` measures servers over TCP instead, see ``benchmarks/tcp.py``;
``python -m benchmarks.parts`` where the time of one command goes; ``python -m
benchmarks.scaling`` what large values cost.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import fakeredis
import redis

import miniredis
from tests.real.servers import RealServer, find_server

ROUNDS = 7
PIPELINE = 100
MANY, FEW = 1_000_000, 1_000
LOADED = 200_000  # keys inserted through pipelines by both


class NoOp(redis.Redis):
    """The floor."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        return None


def pipeline(r: Any) -> None:
    p = r.pipeline(transaction=False)
    for _ in range(PIPELINE):
        p.set("k", "v")
    p.execute()


def transaction(r: Any) -> None:
    r.pipeline().set("k", "v").incr("n").get("k").execute()


# Name, operation, calls per round, operations per call, required ratio to fakeredis.
OPERATIONS: list[tuple[str, Callable[[Any], Any], int, int, float]] = [
    ("GET", lambda r: r.get("k"), 2000, 1, 10),
    ("INCR", lambda r: r.incr("n"), 2000, 1, 10),
    ("SET", lambda r: r.set("k", "v"), 2000, 1, 5),
    ("SET PX", lambda r: r.set("k", "v", px=100_000), 2000, 1, 5),
    (f"pipeline of {PIPELINE}, per command", pipeline, 20, PIPELINE, 5),
    ("MULTI + 3 + EXEC", transaction, 400, 1, 4),
    ("ZADD", lambda r: r.zadd("zset", {"member": 5}), 1000, 1, 5),
    ("ZRANGE of 10", lambda r: r.zrange("zset", 20, 29), 500, 1, 5),
    ("HSET", lambda r: r.hset("hash", "field", "v"), 1000, 1, 5),
    ("LPUSH", lambda r: r.lpush("pushed", "v"), 1000, 1, 5),
    ("LRANGE of 10", lambda r: r.lrange("list", 20, 29), 500, 1, 5),
    ("EVAL of a GET", lambda r: r.eval("return redis.call('GET', KEYS[1])", 1, "k"), 200, 1, 5),
]


def timed(operation: Callable[[Any], Any], r: Any, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        operation(r)
    return (time.perf_counter() - start) / calls * 1e6


def compare(contestants: dict[str, Any]) -> None:
    print(f"{'µs per operation, medians':36}" + "".join(f"{n:>12}" for n in contestants))
    for name, operation, calls, per_call, required in OPERATIONS:
        times: dict[str, list[float]] = {n: [] for n in contestants}
        for _ in range(ROUNDS):
            for who, r in contestants.items():
                if who == "floor" and name.startswith(("pipeline", "MULTI")):
                    continue  # a pipeline does not pass through execute_command
                times[who].append(timed(operation, r, calls) / per_call)
        medians = {n: statistics.median(t) if t else float("nan") for n, t in times.items()}
        ratio = medians["fakeredis"] / medians["miniredis"]
        verdict = "ok" if ratio >= required else "TOO SLOW"
        row = "".join(f"{medians[n]:12.2f}" for n in contestants)
        print(f"{name:36}{row}   {ratio:5.1f} x fakeredis (required {required}: {verdict})")


def load(r: Any, keys: int) -> float:
    """Seconds to insert *keys* keys with a TTL through pipelines of 1,000."""
    start = time.perf_counter()
    for begin in range(0, keys, 1000):
        p = r.pipeline(transaction=False)
        for i in range(begin, begin + 1000):
            p.set(f"key:{i}", "x", px=10_000_000)
        p.execute()
    return time.perf_counter() - start


def get_cost(r: miniredis.Redis, keys: int) -> float:
    """µs for a GET of one of *keys* keys with a TTL, median of rounds."""
    names = [f"key:{i * 7919 % keys}" for i in range(2000)]
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for name in names:
            r.get(name)
        rounds.append((time.perf_counter() - start) / len(names) * 1e6)
    return statistics.median(rounds)


def main() -> None:
    contestants: dict[str, Any] = {
        "miniredis": miniredis.Redis(),
        "fakeredis": fakeredis.FakeRedis(),
        "floor": NoOp(),
    }
    binary = find_server()
    real = RealServer(binary) if binary else None
    if real is not None:
        contestants["real"] = real.client()
    for who, r in contestants.items():
        if who != "floor":
            r.set("k", "v")
            r.zadd("zset", {f"member:{i}": i for i in range(50)})
            r.rpush("list", *range(50))
    try:
        compare(contestants)
    finally:
        if real is not None:
            real.stop()
    mine, other = load(miniredis.Redis(), LOADED), load(fakeredis.FakeRedis(), LOADED)
    print(f"{LOADED:,} keys with TTL through pipelines: {mine:.2f} s, fakeredis {other:.2f} s")
    print(f"   {other / mine:.1f} x fakeredis (required 4)")
    scale()
    import_cost()


def scale() -> None:
    """GET with few and with many keys, and the memory of many."""
    small, big = miniredis.Redis(), miniredis.Redis()
    load(small, FEW)
    before = resident_bytes()
    load(big, MANY)
    print(f"{(resident_bytes() - before) / MANY:.0f} bytes a key of 9 to 11 bytes with TTL")
    moving = get_cost(big, MANY)
    db = big.server.databases[0]
    while db.dict.is_rehashing() or db.expires.is_rehashing():
        big.get("key:0")  # every access moves a bucket
    few, many = get_cost(small, FEW), get_cost(big, MANY)
    print(f"GET at {FEW:,} keys {few:.2f} µs, at {MANY:,} keys {many:.2f} µs: {many / few:.2f} x")
    print(f"   (required at most 1.3); {moving:.2f} µs while a table of a million is rehashed")


def import_cost() -> None:
    """What importing the package costs beside importing redis-py, both from byte code."""
    code = (
        "import time; t = time.perf_counter(); import redis; u = time.perf_counter();"
        "import miniredis; print(u - t, time.perf_counter() - u)"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    runs = []
    for _ in range(ROUNDS + 1):
        out = subprocess.run(
            [sys.executable, "-c", code], env=environment, check=True, capture_output=True
        )
        theirs, ours = map(float, out.stdout.split())
        runs.append((theirs + ours) / theirs)
    print(f"import miniredis: {statistics.median(runs[1:]):.2f} x import redis (required 1.3)")


def resident_bytes() -> int:
    """Memory of this process, as Linux counts it."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


if sys.argv[1:2] == ["tcp"]:
    from benchmarks import tcp

    sys.exit(tcp.main(sys.argv[2:]))
main()
