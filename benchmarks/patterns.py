"""``python -m benchmarks.patterns``: patterns on the simulator and on a real server, one run.

Operations per second, medians of rounds in which both take turns, so that a busy machine
disturbs both alike. An operation is a call of a pattern's function, or the pair of calls that
belongs together, as acquire and release; it may be several commands.
"""

from __future__ import annotations

import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import miniredis
from patterns import PATTERNS
from tests.real.servers import HOW_TO_GET_ONE, RealServer, find_server

ROUNDS = 5
CALLS = 200  # of an operation in a round
OFTEN = 10**9  # a limit that is never reached
HOUR = 3_600

Operation = Callable[[], Any]
# From a client to the operations of one pattern, by name. Modules are imported in here, so
# that one pattern can be measured without the others.
Maker = Callable[[Any], Iterator[tuple[str, Operation]]]


def logs(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.logs import log_common, log_recent

    yield "log_recent", lambda: log_recent(conn, "bench", "a message")
    yield "log_common", lambda: log_common(conn, "bench", "a message", "info")


def counters(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.counters import get_counter, update_counter

    yield "update_counter", lambda: update_counter(conn, "bench")
    yield "get_counter", lambda: get_counter(conn, "bench", 5)


def autocomplete(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.autocomplete import add_update_contact, fetch_autocomplete_list

    for i in range(100):
        add_update_contact(conn, "bench", f"contact {i}")
    yield "add_update_contact", lambda: add_update_contact(conn, "bench", "contact 7")
    yield "fetch_autocomplete_list of 100", lambda: fetch_autocomplete_list(conn, "bench", "con")


def locks(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.locks import Lock, acquire_lock_with_timeout, release_lock

    def setnx() -> None:
        release_lock(conn, "bench", acquire_lock_with_timeout(conn, "bench") or "")

    def sound() -> None:
        lock = Lock(conn, "bench2")
        lock.acquire()
        lock.release()

    yield "acquire_lock_with_timeout, release_lock", setnx
    yield "Lock: acquire, release", sound


def semaphores(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.semaphores import Semaphore, acquire_fair_semaphore, release_fair_semaphore

    def fair() -> None:
        release_fair_semaphore(conn, "bench", acquire_fair_semaphore(conn, "bench") or "")

    def sound() -> None:
        semaphore = Semaphore(conn, "bench2")
        semaphore.acquire()
        semaphore.release()

    yield "acquire_fair_semaphore, release", fair
    yield "Semaphore: acquire, release", sound


def rate_limiters(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns import rate_limiters as rl

    yield "fixed_window_set_nx", lambda: rl.fixed_window_set_nx(conn, "bench2", OFTEN, HOUR)
    yield "fixed_window", lambda: rl.fixed_window(conn, "bench", OFTEN, HOUR)
    yield "sliding_window", lambda: rl.sliding_window(conn, "bench", OFTEN, HOUR)
    rl.fill_bucket(conn, "bench", ROUNDS * CALLS, 1)
    yield "take_token", lambda: rl.take_token(conn, "bench")
    yield "leaky_bucket", lambda: rl.leaky_bucket(conn, "bench", 1_000, 1_000)
    yield "gcra", lambda: rl.gcra(conn, "bench", 1_000, 1)


def caches(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.caches import DataCache, Sessions

    cache, sessions = DataCache(conn, HOUR), Sessions(conn)
    names = itertools.count()
    token = sessions.create("ann", cart="3")
    cache.get("bench", lambda: "value")
    yield "DataCache.get, a hit", lambda: cache.get("bench", lambda: "value")
    yield "DataCache.get, a miss", lambda: cache.get(f"miss {next(names)}", lambda: "value")
    yield "Sessions.get", lambda: sessions.get(token)
    yield "Sessions.update", lambda: sessions.update(token, cart="4")


def leaderboards(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.leaderboards import CompositeLeaderboard, FairLeaderboard, Leaderboard

    for kind in (Leaderboard, CompositeLeaderboard, FairLeaderboard):
        board = kind(conn, kind.__name__)
        for i in range(1_000):
            board.set(f"player {i}", i)
        add, around = board.add, board.around_me
        yield f"{kind.__name__}.add", lambda add=add: add("player 7", 1)
        yield f"{kind.__name__}.around_me", lambda around=around: around("player 500")


def delay_queue(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.delay_queue import DelayQueue, Job, Timer

    queue, ids = DelayQueue(conn, "bench"), itertools.count()
    timer = Timer(queue)

    def through() -> None:
        queue.put(Job("bench", next(ids), 0, HOUR * 1_000))
        timer.tick()
        job = queue.reserve("bench")
        assert job is not None
        queue.finish(job.id)

    yield "put, tick of ten buckets, reserve, finish", through


def search(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.search import Table, find_fields

    conn.hset("bench", mapping={f"field {i}": i for i in range(1_000)})
    table = Table(conn, "bench")
    yield "find_fields of 1,000", lambda: find_fields(conn, "bench", "*99*")
    yield "Table.add", lambda: table.add(title="a title")
    yield "Table.after, 10 rows", lambda: table.after()


def bloom(conn: Any) -> Iterator[tuple[str, Operation]]:
    from patterns.bloom import BloomFilter

    names = itertools.count()
    every = BloomFilter(conn, "bench")
    every.try_init(100_000, 0.01)
    yield "BloomFilter.add", lambda: every.add(f"item {next(names)}")
    yield "BloomFilter.contains", lambda: every.contains("item 7")


MAKERS: dict[str, Maker] = {
    "logs": logs,
    "counters": counters,
    "autocomplete": autocomplete,
    "locks": locks,
    "semaphores": semaphores,
    "rate_limiters": rate_limiters,
    "caches": caches,
    "leaderboards": leaderboards,
    "delay_queue": delay_queue,
    "search": search,
    "bloom": bloom,
}


def present() -> list[str]:
    """The patterns that there are."""
    return [name for name in PATTERNS if importlib.util.find_spec(f"patterns.{name}")]


def per_second(operation: Operation, calls: int) -> float:
    """How many *operation* a second."""
    start = time.perf_counter()
    for _ in range(calls):
        operation()
    return calls / (time.perf_counter() - start)


def measure(
    name: str, clients: dict[str, Any], rounds: int = ROUNDS, calls: int = CALLS
) -> Iterator[tuple[str, dict[str, float]]]:
    """Each operation of a pattern with the median of its rate on each server."""
    made = {who: MAKERS[name](conn) for who, conn in clients.items()}
    for step in zip(*made.values(), strict=True):
        operations = dict(zip(made, (operation for _, operation in step), strict=True))
        rates: dict[str, list[float]] = {who: [] for who in clients}
        for _ in range(rounds):
            for who, operation in operations.items():
                rates[who].append(per_second(operation, calls))
        yield step[0][0], {who: statistics.median(found) for who, found in rates.items()}


def main() -> None:
    clients: dict[str, Any] = {"simulator": miniredis.Server(seed=7).client()}
    binary = find_server()
    real = RealServer(binary) if binary else None
    if real is None:
        print(HOW_TO_GET_ONE)
    else:
        clients["real server"] = real.client()
    print(f"{'operations per second, medians':58}" + "".join(f"{who:>14}" for who in clients))
    try:
        for name in present():
            for what, rates in measure(name, clients):
                row = "".join(f"{rates[who]:14,.0f}" for who in clients)
                print(f"{name:14}{what:44}{row}", flush=True)
    finally:
        if real is not None:
            real.stop()


if __name__ == "__main__":
    main()
