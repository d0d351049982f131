"""Caches: avalanche, stampede, penetration, stale writes; pages; sessions."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from redis.cluster import RedisCluster

import miniredis
from patterns.caches import (
    DataCache,
    Sessions,
    SessionsNaive,
    cache_request,
    can_cache,
    page_key,
)
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

MS = 0.001


def cache_of(target: Target, ttl: float = 10, **options: Any) -> DataCache:
    return DataCache(target.conn, ttl, clock=target.clock, rng=random.Random(7), **options)


class Database:
    """Counts how often it is asked."""

    def __init__(self, value: str | None) -> None:
        self.value, self.asked = value, 0

    def load(self) -> str | None:
        self.asked += 1
        return self.value


@pytest.mark.parametrize("value", ["v", "", "-", "中文", None])
def test_a_value_is_loaded_once(target: Target, value: str | None) -> None:
    cache, database = cache_of(target), Database(value)
    assert [cache.get("k", database.load) for _ in range(3)] == [value] * 3
    assert database.asked == 1
    cache.invalidate("k")
    assert list(target.conn.scan_iter()) == []
    assert cache.get("k", database.load) == value and database.asked == 2


def test_to_the_ms_it_dies(timed: Target) -> None:
    cache, database = cache_of(timed, 10, jitter=0, empty_ttl=2), Database("v")
    for value, ttl in (("v", 10), (None, 2)):
        database.value, database.asked = value, 0
        cache.get("k", database.load)
        timed.clock.sleep(ttl - MS)
        cache.get("k", database.load)
        assert database.asked == 1
        timed.clock.sleep(2 * MS)
        cache.get("k", database.load)
        assert database.asked == 2
        cache.invalidate("k")


def test_penetration(target: Target) -> None:
    cache, database = cache_of(target), Database(None)
    for _ in range(5):
        cache.get_naive("k", database.load)
    assert database.asked == 5
    for _ in range(5):
        cache.get("k", database.load)
    assert database.asked == 6


def dead_at_once(timed: Target, method: str) -> int:
    """Of 200 entries made together, the most that die within one second."""
    cache = cache_of(timed, 100)
    for i in range(200):
        getattr(cache, method)(f"{method} {i}", lambda: "v")
    alive, most = 200, 0
    for _ in range(120):
        timed.clock.sleep(1)
        keys = [f"cache:{{{method} {i}}}" for i in range(200)]
        now = timed.conn.exists(*keys)
        most, alive = max(most, alive - now), now
    assert alive == 0
    return most


def test_avalanche(timed: Target) -> None:
    assert dead_at_once(timed, "get_naive") == 200
    assert dead_at_once(timed, "get") < 30  # of about 10 a second


def stampede(method: str, **fates: Any) -> tuple[int, list[str | None]]:
    """Twenty clients want a value that takes half a second to load; how often it was."""
    scheduler = Scheduler()
    asked = []

    def want(actor: Actor) -> str | None:
        def load() -> str:
            asked.append(actor.name)
            actor.sleep(0.5)
            return "v"

        cache = DataCache(actor.conn, lease=2, clock=actor)
        value: str | None = getattr(cache, method)("k", load)
        return value

    actors = [scheduler.add(f"{i}", want, **(fates if i == 0 else {})) for i in range(20)]
    scheduler.run()
    return len(asked), [actor.result for actor in actors]


def test_one_load_under_a_stampede() -> None:
    assert stampede("get_naive")[0] == 20
    asked, results = stampede("get")
    assert asked == 1 and results == ["v"] * 20


def test_the_next_loads_if_the_loader_dies() -> None:
    scheduler = Scheduler()
    loads: list[float] = []

    def want(actor: Actor) -> str | None:
        def load() -> str:
            loads.append(scheduler.now)
            actor.sleep(0.1)
            return "v"

        return DataCache(actor.conn, lease=2, clock=actor).get("k", load)

    scheduler.add("dying", want, crash_at=2)
    others = [scheduler.add(f"{i}", want, pause_at={1: 0.01}) for i in range(5)]
    scheduler.run()
    assert [actor.result for actor in others] == ["v"] * 5
    assert len(loads) == 2 and 2 <= loads[1] - loads[0] <= 2.03


def test_a_loader_that_raises_lets_the_next_try(target: Target) -> None:
    cache = cache_of(target)

    def broken() -> str:
        raise OSError("database is down")

    with pytest.raises(OSError, match="down"):
        cache.get("k", broken)
    assert list(target.conn.scan_iter()) == []
    assert cache.get("k", lambda: "v") == "v"


def test_early_refresh_by_one_while_the_others_have_the_old_value() -> None:
    scheduler = Scheduler()
    DataCache(scheduler.client(), 10, jitter=0, clock=scheduler.clock).get("k", lambda: "old")
    scheduler.clock.sleep(8)
    loads = []

    def want(actor: Actor) -> str | None:
        def load() -> str:
            loads.append(actor.name)
            actor.sleep(0.5)
            return "new"

        cache = DataCache(actor.conn, 10, jitter=0, refresh_before=3, clock=actor)
        return cache.get("k", load)

    actors = [scheduler.add(f"{i}", want) for i in range(10)]
    start = scheduler.now
    scheduler.run()
    assert scheduler.now - start == pytest.approx(0.5)
    assert len(loads) == 1 and sorted(a.result for a in actors) == ["new"] + ["old"] * 9


def stale_after_invalidation(method: str) -> bool:
    """A loader reads, the database changes, the entry is invalidated, the loader stores."""
    scheduler = Scheduler()
    database = ["old"]

    def read(actor: Actor) -> None:
        def load() -> str:
            value = database[0]
            actor.sleep(1)
            return value

        getattr(DataCache(actor.conn, clock=actor), method)("k", load)

    def write(actor: Actor) -> None:
        actor.sleep(0.5)
        database[0] = "new"
        DataCache(actor.conn, clock=actor).invalidate("k")

    scheduler.add("reader", read)
    scheduler.add("writer", write)
    scheduler.run()
    return DataCache(scheduler.client()).get("k", lambda: database[0]) == "old"


def test_a_slow_loader_stores_nothing_stale() -> None:
    assert stale_after_invalidation("get_naive")
    assert not stale_after_invalidation("get")


@pytest.mark.parametrize(
    "bad", [{"ttl": 0}, {"jitter": 1.0}, {"lease": 0}, {"empty_ttl": -1}, {"refresh_before": 290}]
)
def test_bad_input_is_told(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        DataCache(None, **bad)  # type: ignore[arg-type]


# -- pages ------------------------------------------------------------------------------------


def test_pages(target: Target) -> None:
    cache, rendered = cache_of(target), []

    def render(url: str) -> str:
        rendered.append(url)
        return f"<p>{len(rendered)}"

    assert cache_request(cache, "http://x/a?q=1&p=2", render) == "<p>1"
    assert cache_request(cache, "http://x/a?p=2&q=1#top", render) == "<p>1"
    assert cache_request(cache, "http://x/a?p=2&q=2", render) == "<p>2"
    assert cache_request(cache, "http://y/a?p=2&q=2", render) == "<p>3"
    for _ in range(2):
        cache_request(cache, "http://x/a?_=17", render)
    assert len(rendered) == 5
    assert not can_cache("/a?session=") and can_cache("/a")
    assert page_key("/a?b=%26&c") == page_key("/a?c=&b=%26") != page_key("/a?b=&c=")


# -- sessions ---------------------------------------------------------------------------------


def test_a_session_survives_any_application_server(target: Target) -> None:
    one, other = SessionsNaive(), SessionsNaive()
    assert other.get(one.create("ann")) is None
    token = Sessions(target.conn).create("ann", cart="3")
    for _ in range(3):  # each request at another server
        sessions = Sessions(target.new_client())
        assert sessions.get(token) == {"user": "ann", "cart": "3"}
    assert sessions.update(token, cart="4", theme="dark")
    assert Sessions(target.conn).get(token) == {"user": "ann", "cart": "4", "theme": "dark"}
    assert sessions.end(token) and not sessions.end(token)
    assert Sessions(target.conn).get(token) is None
    with pytest.raises(ValueError, match="at least one"):
        sessions.update(token)


def test_a_session_lives_from_use_to_use(timed: Target) -> None:
    sessions = Sessions(timed.conn, ttl=60)
    token = sessions.create("ann")
    for _ in range(5):
        timed.clock.sleep(60)
        assert sessions.get(token) == {"user": "ann"}
    for _ in range(5):
        timed.clock.sleep(60)
        assert sessions.update(token, n="1")
    timed.clock.sleep(60 + MS)
    assert sessions.get(token) is None and not sessions.update(token, n="2")
    assert list(timed.conn.scan_iter()) == []


def test_a_dead_session_comes_back_only_if_naive(timed: Target) -> None:
    sessions = Sessions(timed.conn, ttl=60)
    token = sessions.create("ann")
    sessions.end(token)
    assert sessions.update_naive(token, cart="1")
    assert sessions.get(token) == {"cart": "1"}  # of nobody


# -- random schedules ---------------------------------------------------------------------------

STORM = Chance(latency=0.1, pause=0.03, pause_s=3, crash=0.02, skew_s=60)
LEASE = 1.0


def play(seed: int) -> None:
    """Readers with slow loaders, a writer; nobody sees what was invalidated before it asked."""
    scheduler = Scheduler(seed, STORM, decode_responses=bool(seed % 2))
    rng = scheduler.rng
    version = [0]  # the database
    valid_from = [0]  # the version at the last invalidation that was confirmed
    loads: list[tuple[float, float]] = []
    invalidated: list[float] = []

    def options(actor: Actor) -> dict[str, Any]:
        return {"ttl": 4, "refresh_before": 1, "lease": LEASE, "clock": actor, "rng": rng}

    def read(actor: Actor) -> None:
        cache = DataCache(actor.conn, **options(actor))

        def load() -> str:
            start, seen = scheduler.now, version[0]
            actor.sleep(rng.choice((0.1, 0.5, 1.5)))  # the last is longer than the lease
            loads.append((start, scheduler.now))
            return str(seen)

        for _ in range(4):
            oldest = valid_from[0]
            value = cache.get("k", load)
            assert value is not None and int(value) >= oldest, "stale"
            actor.sleep(rng.choice((0, 1, 4)))

    def write(actor: Actor) -> None:
        for _ in range(3):
            actor.sleep(rng.uniform(0, 3))
            version[0] += 1
            written = version[0]
            DataCache(actor.conn, **options(actor)).invalidate("k")
            valid_from[0] = written
            invalidated.append(scheduler.now)

    for i in range(3):
        scheduler.add(f"reader {i}", read)
    scheduler.add("writer", write)
    scheduler.run()
    for (start, end), (later, _) in pairwise(sorted(loads)):
        by_leave = any(start <= at <= later for at in invalidated)
        assert later >= min(end, start + LEASE - 0.11) or by_leave, "two loaders at once"
    assert DataCache(scheduler.client(), clock=scheduler.clock).get("new", lambda: "v") == "v"


def test_random_schedules() -> None:
    run_schedules(play)


def test_the_schedules_catch_the_naive_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataCache, "get", DataCache.get_naive)
    with pytest.raises(AssertionError):
        run_schedules(play, 20)


# -- threads, cluster, real time ------------------------------------------------------------------


def stampede_of_threads(new_client: Callable[[], Any]) -> int:
    asked = []
    together = threading.Barrier(8)

    def load() -> str:
        asked.append(1)
        time.sleep(0.05)  # the slow database: long enough for all the others to come
        return "v"

    def want() -> None:
        cache = DataCache(new_client())
        together.wait(10)
        assert cache.get("k", load) == "v"

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return len(asked)


def test_one_load_of_many_threads() -> None:
    assert stampede_of_threads(miniredis.Server(seed=7).client) == 1


@pytest.mark.slow
def test_in_real_time(real_time: Target) -> None:
    assert stampede_of_threads(real_time.new_client) == 1
    cache = DataCache(real_time.conn, 0.3, jitter=0)
    database = Database("v")
    cache.get("t", database.load)
    time.sleep(0.25)
    cache.get("t", database.load)
    assert database.asked == 1
    time.sleep(0.1)
    cache.get("t", database.load)
    assert database.asked == 2


def test_in_a_cluster(cluster: RedisCluster) -> None:
    for name in ("x", "y", "z"):
        cache, database = DataCache(cluster), Database("v")
        assert [cache.get(name, database.load) for _ in range(2)] == ["v", "v"]
        cache.invalidate(name)
        cache.get(name, database.load)
        assert database.asked == 2
        token = Sessions(cluster).create("ann")
        assert Sessions(cluster).update(token, a="1")
        assert Sessions(cluster).get(token) == {"user": "ann", "a": "1"}
