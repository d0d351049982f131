"""Look-up by pattern finds what is there throughout; pages stay while rows are added."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from redis.cluster import RedisCluster

import miniredis
from patterns import search
from patterns.search import Row, Table, containing
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

NAMES = ["ann", "anna", "Ann", "joan", "ben", "安娜", "a*n", "a[n]", "a\\n", "x?n"]


def fill(conn: Any) -> None:
    for i, name in enumerate(NAMES):
        conn.set(f"user:{name}", i)
        conn.hset("h", name, str(i))
        conn.sadd("s", name)
        conn.zadd("z", {name: i})


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*ann*", {"ann", "anna"}),
        ("[Aa]nn", {"ann", "Ann"}),
        ("?nn", {"ann", "Ann"}),
        ("*安*", {"安娜"}),
        (containing("*"), {"a*n"}),
        (containing("[n"), {"a[n]"}),
        (containing("\\"), {"a\\n"}),
        (containing("?"), {"x?n"}),
        ("*nothing*", set()),
    ],
)
def test_each_way_of_looking_up(target: Target, pattern: str, found: set[str]) -> None:
    conn = target.conn
    fill(conn)
    keys = search.find_keys(conn, f"user:{pattern}", step=1)
    assert sorted(keys) == sorted(f"user:{name}" for name in found)
    assert sorted(search.find_keys_blocking_naive(conn, f"user:{pattern}")) == sorted(keys)
    assert search.find_fields(conn, "h", pattern, 1) == {n: str(NAMES.index(n)) for n in found}
    assert sorted(search.find_members(conn, "s", pattern, 1)) == sorted(found)
    assert search.find_scored(conn, "z", pattern, 1) == {n: NAMES.index(n) for n in found}


def test_an_empty_step_is_not_the_end(target: Target) -> None:
    for i in range(500):
        target.conn.set(f"other:{i}", i)
    target.conn.set("user:ann", 1)
    assert search.find_keys(target.conn, "user:*", step=5) == ["user:ann"]
    assert search.find_keys_naive(target.conn, "user:*", step=5) == []


def rows(target: Target, count: int) -> Table:
    table = Table(target.conn, "t")
    for i in range(1, count + 1):
        assert table.add(n=f"{i}") == i
    return table


def numbers(found: list[Row]) -> list[int]:
    return [int(row.fields["n"]) for row in found]


def test_pages_and_cursor(target: Target) -> None:
    table = rows(target, 7)
    assert [numbers(table.page(p, 3)[0]) for p in (1, 2, 3, 4)] == [[7, 6, 5], [4, 3, 2], [1], []]
    assert table.after(size=1) == [Row(7, 7, {"n": "7"})]
    seen, place = [], None
    while page := table.after(place, 3):
        seen, place = seen + numbers(page), page[-1].place
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    assert table.remove(3) and not table.remove(3)
    assert numbers(table.page(1)[0]) == [7, 6, 5, 4, 2, 1]
    assert Table(target.conn, "none").page(1) == ([], 0)
    for bad in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="pages begin"):
            table.page(*bad)


def test_pages_stay_while_rows_are_added(target: Target) -> None:
    table = rows(target, 6)
    naive = numbers(table.page_naive(1, 3))
    first, until = table.page(1, 3)
    cursor = table.after(size=3)
    table.add(n="7")
    naive += numbers(table.page_naive(2, 3))
    assert naive == [6, 5, 4, 4, 3, 2]  # one twice
    assert numbers(first + table.page(2, 3, until)[0]) == [6, 5, 4, 3, 2, 1]
    assert numbers(cursor + table.after(cursor[-1].place, 3)) == [6, 5, 4, 3, 2, 1]
    assert numbers(table.page(1, 3)[0]) == [7, 6, 5]


def test_a_cursor_stays_while_rows_are_removed(target: Target) -> None:
    table = rows(target, 6)
    seen = table.after(size=2)
    table.remove(6)
    table.remove(5)  # the very row at which it stands
    table.remove(4)
    assert numbers(table.after(seen[-1].place, 2)) == [3, 2]


def test_a_crash_leaves_an_id_without_a_row_only_if_naive() -> None:
    def left(method: str, crash_at: int) -> tuple[int, int]:
        scheduler = Scheduler()
        scheduler.add("a", lambda a: getattr(Table(a.conn, "t"), method)(n="1"), crash_at=crash_at)
        scheduler.run()
        conn = scheduler.client()
        return conn.zcard("{t}:ids"), len(list(conn.scan_iter(match="{t}:row:*")))

    assert left("add_naive", 3) == (1, 0)
    assert [left("add", step) for step in (1, 2)] == [(0, 0), (0, 0)]


def test_a_slow_writer_appears_below_what_was_read_only_if_naive() -> None:
    def second_reading(method: str) -> tuple[list[int], list[int]]:
        scheduler = Scheduler()
        slow = {"pause_at": {2: 1.0}}
        scheduler.add("slow", lambda a: getattr(Table(a.conn, "t"), method)(n="1"), **slow)

        def fast(actor: Actor) -> None:
            actor.sleep(0.1)
            getattr(Table(actor.conn, "t"), method)(n="2")

        scheduler.add("fast", fast)

        def read(actor: Actor) -> tuple[list[int], list[int]]:
            actor.sleep(0.5)
            _, until = Table(actor.conn, "t").page(1)
            until = until or 2  # the naive one counts no places
            once = numbers(Table(actor.conn, "t").page(1, 10, until)[0])
            actor.sleep(1)
            return once, numbers(Table(actor.conn, "t").page(1, 10, until)[0])

        reader = scheduler.add("reader", read)
        scheduler.run()
        result: tuple[list[int], list[int]] = reader.result
        return result

    assert second_reading("add_naive") == ([2], [2, 1])
    assert second_reading("add") == ([2], [2])


# -- random schedules ---------------------------------------------------------------------------

STORM = Chance(latency=0.01, pause=0.02, pause_s=0.1, crash=0.005, skew_s=60)
KEPT = 12


def play(seed: int) -> None:
    scheduler = Scheduler(seed, STORM, decode_responses=bool(seed % 2))
    rng, conn = scheduler.rng, scheduler.client()
    table = Table(conn, "t")
    for i in range(KEPT):
        conn.set(f"kept:{i}", i)
        conn.hset("h", f"kept:{i}", i)
        conn.sadd("s", f"kept:{i}")
        conn.zadd("z", {f"kept:{i}": i})
        table.add(n=str(i))

    def come_and_go(actor: Actor) -> None:
        for _ in range(3):
            pipe = actor.conn.pipeline()
            for _ in range(rng.randrange(40)):  # so that the tables grow and shrink
                name = f"other:{rng.randrange(80)}"
                if rng.random() < 0.6:
                    pipe.set(name, 1).hset("h", name, 1).sadd("s", name).zadd("z", {name: 1})
                else:
                    pipe.delete(name).hdel("h", name).srem("s", name).zrem("z", name)
            pipe.execute()
            Table(actor.conn, "t").add(n="new")

    def look(actor: Actor) -> None:
        kept = {f"kept:{i}" for i in range(KEPT)}
        assert set(search.find_keys(actor.conn, "kept:*", 7)) == kept
        assert set(search.find_fields(actor.conn, "h", "kept:*", 7)) == kept
        found = search.find_members(actor.conn, "s", "kept:*", 7)
        assert set(found) == kept and len(found) == KEPT
        assert set(search.find_scored(actor.conn, "z", "kept:*", 7)) == kept

    def page(actor: Actor) -> None:
        table = Table(actor.conn, "t")
        number, until, pages = 1, None, []
        while True:
            found, until = table.page(number, 5, until)
            if not found:
                break
            pages, number = pages + found, number + 1
        places = [row.place for row in pages]
        assert places == list(range(until, 0, -1)), "pages have moved"
        seen, place = [], None
        while found := table.after(place, 5):
            seen, place = seen + found, found[-1].place
        assert [row.place for row in seen] == list(range(seen[0].place, 0, -1))
        assert [row.fields["n"] for row in seen if row.fields["n"] != "new"] == [
            str(i) for i in reversed(range(KEPT))
        ]

    scheduler.add("looker", look)
    scheduler.add("pager", page)
    for i in range(2):
        scheduler.add(f"writer {i}", come_and_go)
    scheduler.run()


def test_random_schedules() -> None:
    run_schedules(play)


def test_the_schedules_catch_the_naive_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(search, "find_keys", search.find_keys_naive)
        with pytest.raises(AssertionError):
            run_schedules(play, 50)
    monkeypatch.setattr(Table, "add", Table.add_naive)
    with pytest.raises((AssertionError, IndexError)):
        run_schedules(play, 500)


def test_threads_add_rows() -> None:
    server = miniredis.Server(seed=7)
    threads = [
        threading.Thread(target=lambda: [Table(server.client(), "t").add(n="1") for _ in range(20)])
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    rows = Table(server.client(), "t").after(size=200)
    assert [row.place for row in rows] == list(range(100, 0, -1))
    assert len({row.id for row in rows}) == 100


# -- cluster, real time -------------------------------------------------------------------------


def test_in_a_cluster(cluster: RedisCluster) -> None:
    for i in range(30):
        cluster.set(f"user:{i}", i)
    assert len(search.find_keys(cluster, "user:*", 5)) == 30
    for name in ("x", "y", "z"):
        table = Table(cluster, name)
        for i in range(5):
            table.add(n=str(i))
        assert numbers(table.page(2, 2)[0]) == [2, 1]
        assert numbers(table.after(4, 2)) == [2, 1]
        cluster.hset(f"h{name}", "ann", "1")
        assert search.find_fields(cluster, f"h{name}", "a*") == {"ann": "1"}


@pytest.mark.slow
def test_in_real_time(real_time: Target) -> None:
    """While 100,000 keys are looked through, another client is served."""
    pipe = real_time.conn.pipeline(transaction=False)
    for i in range(100_000):
        pipe.set(f"key:{i}", i)
    pipe.execute()
    start = time.monotonic()
    assert len(search.find_keys(real_time.conn, "key:9999*", 1000)) == 11
    assert time.monotonic() - start < 30
