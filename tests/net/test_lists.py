"""Lists through redis-py in process, and waiting on every transport."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

import miniredis
from miniredis import Server, VirtualClock
from miniredis.errors import WaitForeverError
from miniredis.server import waiting
from tests.net.in_loop import KINDS, client_of


@pytest.fixture(params=KINDS)
def r(request: pytest.FixtureRequest) -> Iterator[miniredis.Redis]:
    with client_of(miniredis.Server(), request.param, decode_responses=True) as client:
        yield client


def test_lists(r: miniredis.Redis) -> None:
    assert r.rpush("l", 1, "x", 2.5) == 3
    assert r.lpush("l", "first") == 4
    assert r.lrange("l", 0, -1) == ["first", "1", "x", "2.5"]
    assert r.lindex("l", -1) == "2.5"
    assert r.llen("l") == 4
    assert r.lset("l", 0, "a") is True
    assert r.linsert("l", "BEFORE", "x", "w") == 5
    assert r.lpos("l", "x") == 3
    assert r.lpos("l", "x", count=0) == [3]
    assert r.lrem("l", 0, "w") == 1
    assert r.lpop("l") == "a"
    assert r.rpop("l", 2) == ["2.5", "x"]
    assert r.lmove("l", "m", "LEFT", "RIGHT") == "1"
    assert r.rpoplpush("m", "n") == "1"
    assert r.lmpop(2, "none", "n", direction="LEFT") == ["n", ["1"]]
    assert r.lpop("none") is None
    assert r.lpop("none", 1) is None
    assert r.lpushx("none", 1) == 0
    assert r.rpush("l", *range(10)) == 10
    assert r.ltrim("l", 2, 4) is True
    assert r.lrange("l", 0, -1) == ["2", "3", "4"]
    with pytest.raises(redis.ResponseError, match="index out of range"):
        r.lset("l", 7, "x")


def test_sort(r: miniredis.Redis) -> None:
    r.rpush("l", 3, 1, 2)
    r.mset({"w_1": "c", "w_2": "b", "w_3": "a"})
    assert r.sort("l") == ["1", "2", "3"]
    assert r.sort("l", desc=True, start=0, num=2) == ["3", "2"]
    assert r.sort("l", by="w_*", alpha=True, get="w_*") == ["a", "b", "c"]
    assert r.sort("l", by="w_*", alpha=True, get=["#", "w_*"], groups=True) == [
        ("3", "a"),
        ("2", "b"),
        ("1", "c"),
    ]
    assert r.sort("l", store="m") == 3
    assert r.lrange("m", 0, -1) == ["1", "2", "3"]


def test_blocking_commands_that_need_not_wait(r: miniredis.Redis) -> None:
    r.rpush("l", *range(6))
    assert tuple(r.blpop("l")) == ("l", "0")
    assert tuple(r.brpop(["none", "l"], timeout=1)) == ("l", "5")
    assert r.blmove("l", "m", 1) == "1"
    assert r.brpoplpush("l", "m", 1) == "4"
    assert r.blmpop(1, 2, "none", "l", direction="RIGHT", count=9) == ["l", ["3", "2"]]


@pytest.mark.parametrize(
    ("wait", "ms"),
    [
        (lambda r: r.blpop("k", timeout=1), 1_000),
        (lambda r: r.brpop("k", timeout=0.05), 50),
        (lambda r: r.blmove("k", "m", 2), 2_000),
        (lambda r: r.brpoplpush("k", "m", 2), 2_000),
        (lambda r: r.blmpop(0.5, 1, "k", direction="LEFT"), 500),
    ],
)
def test_a_wait_alone_passes_in_virtual_time(
    wait: Callable[[miniredis.Redis], Any], ms: int
) -> None:
    """Until the first cron in a later millisecond than its end; the crons come at 1, 101, ..."""
    clock = VirtualClock()
    r = Server(clock=clock, seed=1, cost=miniredis.clock.FREE).client()
    start = clock.ms()
    assert wait(r) is None
    assert clock.ms() - start == next(cron for cron in range(1, 9_999, 100) if cron > ms)
    assert r.ping()


def in_a_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("virtual", [False, True])
def test_fed_by_another_thread(virtual: bool) -> None:
    """Under a virtual clock time stands still meanwhile: the wait has no end of its own."""
    clock = VirtualClock() if virtual else None
    server = Server(clock=clock, seed=1)
    r = server.client()
    got: list[Any] = []
    thread = in_a_thread(lambda: got.append(r.blpop(["k", "m"])))
    wait_until_blocked(server, 1)
    before = server.clock.us()
    assert r.rpush("m", "v") == 1
    thread.join(10)
    assert got == [(b"m", b"v")]
    assert not virtual or server.clock.us() == before
    assert r.llen("m") == 0


def wait_until_blocked(server: Server, number: int) -> None:
    with server.lock:
        pass
    for _ in range(10_000):
        with server.lock:
            if server.blocked_clients == number:
                return
        threading.Event().wait(0.001)
    raise AssertionError("nobody waits")


def test_threads_are_served_in_the_order_in_which_they_came() -> None:
    server = Server(seed=1)
    got: dict[int, Any] = {}

    def pop(i: int) -> None:
        got[i] = server.client().blpop("k")

    threads = []
    for i in range(5):
        threads.append(in_a_thread(lambda i=i: pop(i)))  # type: ignore[misc]
        wait_until_blocked(server, i + 1)
    server.client().rpush("k", *range(5))
    for thread in threads:
        thread.join(10)
    assert got == {i: (b"k", b"%d" % i) for i in range(5)}


def test_a_wait_in_a_pipeline_lets_others_in() -> None:
    server = Server(seed=1)
    got: list[Any] = []
    pipe = server.client().pipeline(transaction=False)
    pipe.set("before", 1).blpop("k").set("after", 2)
    thread = in_a_thread(lambda: got.append(pipe.execute()))
    wait_until_blocked(server, 1)
    r = server.client()
    assert r.exists("before", "after") == 1
    r.rpush("k", "v")
    thread.join(10)
    assert got == [[True, (b"k", b"v"), True]]


def test_a_transaction_does_not_wait() -> None:
    pipe = Server(clock=VirtualClock(), seed=1).client().pipeline()
    assert pipe.blpop("k").brpoplpush("k", "m", timeout=0).execute() == [None, None]


def test_killed_while_it_waits() -> None:
    server = Server(seed=1)
    r = server.client()
    raised: list[BaseException] = []

    def pop() -> None:
        try:
            server.client(client_name="victim").blpop("k")
        except redis.ConnectionError as error:
            raised.append(error)

    thread = in_a_thread(pop)
    wait_until_blocked(server, 1)
    [victim] = [c for c in r.client_list() if c["name"] == "victim"]
    assert victim["flags"] == "b"
    assert r.client_kill_filter(_id=victim["id"]) == 1
    thread.join(10)
    assert len(raised) == 1
    assert r.rpush("k", 1) == 1
    assert r.llen("k") == 1


def test_closing_the_server_ends_a_wait() -> None:
    server = Server(clock=VirtualClock(), seed=1)
    raised: list[BaseException] = []

    def pop() -> None:
        try:
            server.client().blpop("k")
        except redis.ConnectionError as error:
            raised.append(error)

    thread = in_a_thread(pop)
    wait_until_blocked(server, 1)
    server.close()
    thread.join(10)
    assert len(raised) == 1


def test_unblocked_by_command() -> None:
    server = Server(seed=1)
    r = server.client()
    raised: list[str] = []

    def pop() -> None:
        try:
            server.client().blpop("k")
        except redis.ResponseError as error:
            raised.append(str(error))

    thread = in_a_thread(pop)
    wait_until_blocked(server, 1)
    [waiting] = [c for c in r.client_list() if c["flags"] == "b"]
    assert r.client_unblock(int(waiting["id"]), error=True)
    thread.join(10)
    assert raised == ["UNBLOCKED client unblocked via CLIENT UNBLOCK"]


def test_alone_for_ever_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runner may have threads of its own, so this one says that it is alone."""
    monkeypatch.setattr(waiting.threading, "active_count", lambda: 1)
    server = Server(clock=VirtualClock(), seed=1)
    r = server.client()
    with pytest.raises(WaitForeverError, match="BLPOP would wait for ever"):
        r.blpop("k")
    assert r.rpush("k", 1) == 1
    assert r.lpop("k") == b"1"
    assert server.blocked_clients == 0


class Feeder:
    """An event source of a virtual clock that pushes an element at an instant."""

    def __init__(self, server: Server, at_us: int) -> None:
        self.client = server.create_client()
        self.at_us: int | None = at_us

    def next_event_us(self) -> int | None:
        return self.at_us

    def process_due_events(self) -> None:
        self.at_us = None
        self.client.server.process_command(self.client, [b"RPUSH", b"k", b"v"])


def test_fed_by_an_event_of_the_clock() -> None:
    clock = VirtualClock()
    server = Server(clock=clock, seed=1)
    feeder = Feeder(server, clock.us() + 12_345_678)
    clock.attach(feeder)
    start = clock.us()
    assert server.client().blpop("k") == (b"k", b"v")
    assert clock.us() - start == 12_345_678


def test_held_back_by_a_pause_before_it_waits() -> None:
    """The pause ends in virtual time; then the command finds nothing and waits its second."""
    clock = VirtualClock()
    server = Server(clock=clock, seed=1)
    r = server.client()
    r.client_pause(500, all=False)
    start = clock.ms()
    assert r.blpop("k", timeout=1) is None
    assert 1_500 < clock.ms() - start <= 1_801
