"""Ends of connections in process: QUIT, CLIENT KILL, threads, and listeners.

What redis-py makes of them over a socket is the measure: the tests that compare run the
same code on a real server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

import miniredis
from tests.net.in_loop import Loop
from tests.real.servers import RealServer

JOIN_S = 20  # for a thread that ends at once, or has failed


def on_thread(function: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


# -- listening while others act ---------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_listener_ends_when_another_thread_unsubscribes_it(protocol: int) -> None:
    server = miniredis.Server()
    r = server.client(protocol=protocol, decode_responses=True)
    p = r.pubsub()
    p.subscribe("x")
    heard: list[tuple[str, object]] = []
    first = threading.Event()

    def listen() -> None:
        for message in p.listen():
            heard.append((message["type"], message["data"]))
            first.set()

    thread = on_thread(listen)
    assert first.wait(JOIN_S)
    r.publish("x", "m")
    p.unsubscribe()
    thread.join(JOIN_S)
    assert not thread.is_alive()
    assert heard == [("subscribe", 1), ("message", "m"), ("unsubscribe", 0)]


def test_a_listener_gets_what_another_thread_asked_for() -> None:
    p = miniredis.Redis(protocol=2).pubsub()
    p.subscribe("x")
    p.get_message()
    heard: list[Any] = []
    thread = on_thread(lambda: heard.append(p.get_message(timeout=60)))
    p.ping("hello")
    thread.join(JOIN_S)
    assert not thread.is_alive()
    assert heard[0]["type"] == "pong" and heard[0]["data"] == b"hello"


def test_no_message_is_lost_between_threads_that_send_and_listen() -> None:
    server = miniredis.Server()
    p = server.client(decode_responses=True).pubsub(ignore_subscribe_messages=True)
    p.subscribe("x")
    r = server.client()
    heard: list[str] = []

    def listen() -> None:
        for message in p.listen():
            heard.append(message["data"])

    thread = on_thread(listen)
    for i in range(300):
        r.publish("x", i)
        if i % 10 == 0:
            p.subscribe(f"other {i}")
    p.unsubscribe()
    thread.join(JOIN_S)
    assert not thread.is_alive()
    assert heard == [str(i) for i in range(300)]


def test_a_listener_notices_that_its_connection_was_closed() -> None:
    p = miniredis.Redis().pubsub()
    p.subscribe("x")
    p.get_message()
    connection = p.connection
    errors: list[str] = []

    def read() -> None:
        try:
            connection.read_response()
        except redis.ConnectionError as error:
            errors.append(str(error))

    thread = on_thread(read)
    connection.disconnect()
    thread.join(JOIN_S)
    assert errors == ["Connection closed by server."]


def test_health_checks_do_not_keep_a_listener_busy() -> None:
    clock = miniredis.VirtualClock()
    server = miniredis.Server(clock=clock)
    p = server.client(health_check_interval=1).pubsub(ignore_subscribe_messages=True)
    p.subscribe("x")
    p.get_message()
    before = server.stat_numcommands
    assert p.get_message(timeout=60) is None
    assert server.stat_numcommands == before


# -- compared with a real server ----------------------------------------------------------


@pytest.fixture(params=["miniredis", "real", "asyncio", "asyncio-real"])
def clients(request: pytest.FixtureRequest) -> Iterator[Callable[..., redis.Redis]]:
    """Makes clients of one server, simulated or real, that do not try again."""
    settings = {"retry": Retry(NoBackoff(), 1), "decode_responses": True}
    made: list[redis.Redis] = []
    loop = Loop() if request.param.startswith("asyncio") else None
    if request.param.endswith("real"):
        real: RealServer = request.getfixturevalue("real_server")
        make = real.client
        if loop:
            make = partial(loop.client, redis.asyncio.Redis, port=real.port)
    else:
        server = miniredis.Server()
        make = partial(loop.client, server.async_client) if loop else server.client
    if loop:
        settings["retry"] = AsyncRetry(NoBackoff(), 1)

    def client(**kwargs: Any) -> redis.Redis:
        made.append(make(**{**settings, **kwargs}))
        return made[-1]

    yield client
    for r in made:
        r.close()
    if loop:
        loop.close()


Commands = list[tuple[object, ...]]
SELF_KILL = ("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")


SET_1, SET_2, QUIT = ("SET", "a", 1), ("SET", "a", 2), ("QUIT",)
CLOSED = "ConnectionError"
# Whether a transaction, commands, their replies or the error, what key a holds afterwards.
ENDS: list[tuple[bool, Commands, object, str | None]] = [
    (False, [SET_1, QUIT], [True, True], "1"),
    (False, [SET_1, QUIT, SET_2], CLOSED, "1"),
    (False, [SET_1, SELF_KILL], [True, 1], "1"),
    (False, [SET_1, SELF_KILL, SET_2], CLOSED, "1"),
    (True, [SET_1, QUIT], CLOSED, None),  # QUIT is not queued
    (True, [SET_1, QUIT, SET_2], CLOSED, None),
    (True, [SET_1, SELF_KILL], [True, 1], "1"),
    (True, [SET_1, SELF_KILL, SET_2], CLOSED, "2"),  # it runs, but says nothing any more
    (True, [SET_1, ("DISCARD",), ("GET", "a")], "ResponseError", None),
]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize(("transaction", "commands", "outcome", "after"), ENDS, ids=str)
def test_a_pipeline_that_ends_its_connection(
    clients: Callable[..., redis.Redis],
    protocol: int,
    transaction: bool,
    commands: Commands,
    outcome: object,
    after: str | None,
) -> None:
    assert pipeline_outcome(clients(protocol=protocol), commands, transaction) == outcome
    assert clients().get("a") == after


def pipeline_outcome(r: redis.Redis, commands: Commands, transaction: bool) -> object:
    """Replies of a pipeline, or the name of its error."""
    p = r.pipeline(transaction=transaction)
    for command in commands:
        p.execute_command(*command)
    try:
        return p.execute()
    except redis.RedisError as error:
        return type(error).__name__


@pytest.mark.parametrize("end", [("QUIT",), SELF_KILL], ids=["quit", "kill"])
def test_a_client_goes_on_after_ending_its_connection(
    clients: Callable[..., redis.Redis], end: tuple[str, ...]
) -> None:
    r = clients()
    r.set("k", "v")
    before = r.client_id()
    assert r.execute_command(*end) in (True, 1)
    assert r.get("k") == "v"
    assert r.client_id() > before


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("block", [False, True])
def test_a_killed_subscriber_subscribes_again(
    clients: Callable[..., redis.Redis], protocol: int, block: bool
) -> None:
    r, admin = clients(protocol=protocol), clients()
    p = r.pubsub()
    p.subscribe("x")
    p.psubscribe("p*")
    assert [p.get_message(timeout=5)["type"] for _ in range(2)] == ["subscribe", "psubscribe"]
    assert admin.client_kill_filter(_type="pubsub") == 1
    assert admin.pubsub_numsub("x") == [("x", 0)]
    timeout = None if block else 5
    kinds = [p.get_message(timeout=timeout)["type"] for _ in range(2)]
    assert kinds == ["subscribe", "psubscribe"]
    assert admin.publish("x", "m") == 1
    assert admin.publish("pq", "m") == 1
    assert p.get_message(timeout=5)["data"] == "m"


def test_a_subscriber_that_is_killed_while_it_waits_subscribes_again() -> None:
    server = miniredis.Server()
    admin = server.client()
    p = server.client().pubsub(ignore_subscribe_messages=True)
    p.subscribe("x")
    p.get_message()
    heard: list[Any] = []
    thread = on_thread(lambda: heard.extend(next(p.listen()) for _ in range(1)))
    [before] = (c.id for c in server.clients.values() if c.pubsub_channels)
    admin.client_kill_filter(_type="pubsub")
    while not any(c.id > before and c.pubsub_channels for c in list(server.clients.values())):
        assert thread.is_alive()
    admin.publish("x", "m")
    thread.join(JOIN_S)
    assert [message["data"] for message in heard] == [b"m"]


# -- pipelines whose commands have no replies -----------------------------------------------


@pytest.mark.parametrize("transaction", [False, True])
@pytest.mark.parametrize(
    "silent", [("CLIENT REPLY", "SKIP"), ("CLIENT REPLY", "OFF"), ("SUBSCRIBE", "x")], ids=str
)
def test_a_pipeline_with_too_few_replies_says_so(
    silent: tuple[str, ...], transaction: bool
) -> None:
    """On a wire redis-py would wait for the missing ones until its time-out."""
    server = miniredis.Server()
    r = server.client(protocol=3)
    p = r.pipeline(transaction=transaction)
    p.execute_command(*silent)
    p.set("a", 1)
    with pytest.raises(redis.ConnectionError, match="no reply of its own"):
        p.execute()
    assert r.get("a") == b"1"
    assert r.client_info()["flags"] == "N", "the connection was not replaced"
    assert len(server.clients) == 1


@pytest.mark.parametrize("transaction", [False, True])
def test_messages_in_a_resp2_pipeline_are_read_in_order(
    clients: Callable[..., redis.Redis], transaction: bool
) -> None:
    r = clients(protocol=2)
    commands: Commands = [("SUBSCRIBE", "x"), ("ECHO", "e")][: 2 if transaction else 1]
    outcome = pipeline_outcome(r, [*commands, ("UNSUBSCRIBE", "x")], transaction)
    echo = ["e"] if transaction else []
    assert outcome == [["subscribe", "x", 1], *echo, ["unsubscribe", "x", 0]]
    assert r.get("a") is None


def test_a_message_of_ones_own_is_not_taken_for_the_reply() -> None:
    r = miniredis.Redis(protocol=3, single_connection_client=True)
    r.config_set("notify-keyspace-events", "KEA")
    r.execute_command("SUBSCRIBE", "__keyevent@0__:set")
    assert r.set("k", "v") is True
    assert r.get("k") == b"v"
    p = r.pipeline(transaction=False).set("k", "w").get("k")
    assert p.execute() == [True, b"w"]


# -- threads ----------------------------------------------------------------------------------


def test_a_threads_connection_goes_back_to_the_pool() -> None:
    server = miniredis.Server()
    r = server.client(max_connections=2)
    r.ping()
    for _ in range(10):
        thread = on_thread(lambda: r.incr("n"))
        thread.join(JOIN_S)
    assert r.get("n") == b"10"
    assert len(server.clients) == 2


def test_threads_at_once_have_connections_of_their_own() -> None:
    server = miniredis.Server()
    r = server.client()
    barrier = threading.Barrier(4)
    ids: list[int] = []

    def work() -> None:
        barrier.wait(JOIN_S)
        ids.append(r.client_id())
        barrier.wait(JOIN_S)

    threads = [on_thread(work) for _ in range(4)]
    for thread in threads:
        thread.join(JOIN_S)
    assert len(set(ids)) == 4


def test_a_client_that_is_forgotten_leaves_the_server() -> None:
    server = miniredis.Server()
    r = server.client()
    r.ping()
    p = r.pubsub()
    p.subscribe("x")
    assert len(server.clients) == 2
    del r, p
    assert not server.clients
    assert not server.pubsub_channels


def test_a_client_forgotten_in_the_middle_of_a_command_leaves_afterwards() -> None:
    server = miniredis.Server(clock=miniredis.VirtualClock())
    clients = [server.client()]
    clients[0].ping()

    class Forgetful(miniredis.Probe):
        def command(self, *args: Any) -> None:
            clients.clear()
            assert len(server.clients) == 2, "it must not vanish under the server's hands"

    r = server.client()
    r.ping()
    server.probe = Forgetful()
    r.ping()
    server.probe = miniredis.SILENT
    server.clock.advance(200)  # type: ignore[attr-defined]
    assert len(server.clients) == 1


def test_close_closes_the_connections_of_all_threads() -> None:
    server = miniredis.Server()
    r = server.client()
    r.ping()
    done = threading.Event()

    def work() -> None:
        r.ping()
        done.wait(JOIN_S)

    thread = on_thread(work)
    while len(server.clients) < 2:
        assert thread.is_alive()
    r.close()
    assert not server.clients
    done.set()
    thread.join(JOIN_S)
    assert r.ping()
