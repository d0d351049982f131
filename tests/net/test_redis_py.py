"""The same test functions over the in-process clients, over TCP, and on a real server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import redis
import redis.asyncio

import miniredis
from miniredis.net.tcp import TcpServer
from miniredis.server.server import Server
from tests.net.in_loop import InLoop, Loop

Transport = Any


class TcpThread:
    """A TCP server in a thread of its own."""

    def __init__(self) -> None:
        self.server = Server(enable_debug_command="yes")
        self.tcp = TcpServer(self.server)
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        def run() -> None:
            asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(self.tcp.start(port=0))
            ready.set()
            self.loop.run_forever()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        assert ready.wait(10)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.tcp.stop(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()


@pytest.fixture(params=["in-process", "tcp", "real", "asyncio", "asyncio-real"])
def connect(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A function that makes clients of one empty server; keywords are redis-py's."""
    clients: list[redis.Redis] = []
    if request.param == "in-process":
        server = miniredis.Server()
        stop = server.close
        make = server.client
    elif request.param == "tcp":
        thread = TcpThread()
        stop = thread.stop

        def make(**kwargs: Any) -> redis.Redis:
            return redis.Redis(port=thread.tcp.address[1], **kwargs)

    elif request.param == "asyncio":
        loop = Loop()
        server = miniredis.Server()
        stop = loop.close
        make = partial(loop.client, server.async_client)
    else:
        real = request.getfixturevalue("real_server")
        real.client().flushall()
        stop = int
        make = real.client
        if request.param == "asyncio-real":
            loop = Loop()
            stop = loop.close
            make = partial(loop.client, redis.asyncio.Redis, port=real.port)

    def connect(**kwargs: Any) -> redis.Redis:
        client = make(**kwargs)
        clients.append(client)
        return client

    yield connect
    for client in clients:
        client.close()
    stop()


@pytest.mark.parametrize("protocol", [2, 3])
def test_plain_commands(connect: Transport, protocol: int) -> None:
    r = connect(protocol=protocol)
    assert r.set("k", "v") is True
    assert r.get("k") == b"v"
    assert r.set("k", "w", nx=True) is None
    assert r.set("k", "w", get=True) == b"v"
    assert r.incr("n", 5) == 5
    assert r.incrbyfloat("f", 0.5) == 0.5
    assert r.mget("k", "none", "n") == [b"w", None, b"5"]
    assert r.expire("k", 100) is True
    assert r.ttl("k") == 100
    assert r.persist("k") is True
    assert sorted(r.keys("*")) == [b"f", b"k", b"n"]
    assert sorted(r.scan_iter()) == [b"f", b"k", b"n"]
    assert r.type("k") == b"string"
    assert r.exists("k", "k", "none") == 2
    assert r.config_get("hz") == {"hz": "10"} or r.config_get("hz") == {b"hz": b"10"}
    assert r.info("server")["redis_version"].startswith(("6.", "7."))
    assert r.delete("k", "n") == 2
    assert r.dbsize() == 1
    assert r.echo("ä") == "ä".encode()
    assert r.ping() is True


def test_decode_responses(connect: Transport) -> None:
    r = connect(decode_responses=True)
    r.set("k", "grün")
    assert r.get("k") == "grün"
    assert r.keys() == ["k"]
    r.set("raw", b"\xff")
    with pytest.raises(UnicodeDecodeError):
        r.get("raw")
    assert r.strlen("raw") == 1


def test_errors_are_redis_pys(connect: Transport) -> None:
    r = connect()
    r.set("k", "text")
    with pytest.raises(redis.ResponseError, match="value is not an integer or out of range"):
        r.incr("k")
    with pytest.raises(redis.ResponseError, match="unknown command 'NOPE'"):
        r.execute_command("NOPE", "x")
    with pytest.raises(redis.ResponseError, match="wrong number of arguments for 'get' command"):
        r.execute_command("GET")
    with pytest.raises(redis.DataError):
        r.set("k", None)
    with pytest.raises(redis.DataError):
        r.execute_command("SET", "k", [1])


def test_pipeline(connect: Transport) -> None:
    r = connect()
    p = r.pipeline(transaction=False)
    p.set("a", 1).incr("a").get("a").get("none")
    assert p.execute() == [True, 2, b"2", None]
    p.set("a", "x").incr("a").get("a")
    answers = p.execute(raise_on_error=False)
    assert answers[0] is True
    assert isinstance(answers[1], redis.ResponseError)
    assert answers[2] == b"x"
    p.incr("a")
    with pytest.raises(redis.ResponseError, match="Command # 1"):
        p.execute()


def test_transaction(connect: Transport) -> None:
    r = connect()
    with r.pipeline() as p:
        assert p.set("a", 1).incr("a").get("a").execute() == [True, 2, b"2"]
        p.set("a", "x").incr("a").set("b", 1)
        with pytest.raises(redis.ResponseError, match="Command # 2"):
            p.execute()
    assert r.get("b") == b"1"  # Redis does not roll back
    with r.pipeline() as p:
        p.execute_command("NOPE")
        with pytest.raises(redis.ResponseError):
            p.execute()


def test_watch(connect: Transport) -> None:
    r, other = connect(), connect()
    r.set("a", 1)
    with r.pipeline() as p:
        p.watch("a")
        value = int(p.get("a"))
        other.set("a", 10)
        p.multi()
        p.set("a", value + 1)
        with pytest.raises(redis.WatchError):
            p.execute()
    assert r.get("a") == b"10"

    def add_one(p: redis.client.Pipeline) -> None:
        p.multi()
        p.incr("a")

    assert r.transaction(add_one, "a") == [11]


@pytest.mark.parametrize("protocol", [2, 3])
def test_pubsub(connect: Transport, protocol: int) -> None:
    r = connect(protocol=protocol)
    p = r.pubsub()
    p.subscribe("news")
    p.psubscribe("n*")
    kinds = [p.get_message(timeout=5)["type"] for _ in range(2)]
    assert kinds == ["subscribe", "psubscribe"]
    assert r.publish("news", "hello") == 2
    messages = [p.get_message(timeout=5) for _ in range(2)]
    assert [(m["type"], m["data"]) for m in messages] == [
        ("message", b"hello"),
        ("pmessage", b"hello"),
    ]
    assert r.pubsub_numsub("news") == [(b"news", 1)]
    assert r.pubsub_numpat() == 1
    p.unsubscribe()
    assert p.get_message(timeout=5)["type"] == "unsubscribe"
    p.close()


def test_messages_of_resp3_go_to_their_handler(connect: Transport) -> None:
    r = connect(protocol=3, decode_responses=True)
    heard: list[Any] = []

    def hear(message: Any) -> Any:
        heard.append(message)
        return message

    async def hear_later(message: Any) -> Any:
        return hear(message)

    p = r.pubsub(push_handler_func=hear_later if isinstance(r, InLoop) else hear)
    p.subscribe("c")
    assert p.get_message(timeout=5)["type"] == "subscribe"
    r.publish("c", "x")
    assert p.get_message(timeout=5)["data"] == "x"
    assert heard == [["subscribe", "c", 1], ["message", "c", "x"]]
    p.close()


def test_select_and_client_name(connect: Transport) -> None:
    zero, one = connect(), connect(db=1, client_name="me")
    one.set("k", "in 1")
    assert zero.get("k") is None
    assert one.client_getname() in (b"me", "me")
    assert zero.client_getname() is None
    zero.swapdb(0, 1)
    assert zero.get("k") == b"in 1"
    single = connect(single_connection_client=True)
    single.execute_command("SELECT", 1)
    assert single.dbsize() == 0


def test_client_kill_ends_the_connection(connect: Transport) -> None:
    r, victim = connect(), connect(single_connection_client=True)
    id = victim.client_id()
    assert r.execute_command("CLIENT", "KILL", "ID", id) == 1
    # Below redis-py's client, which would connect again by itself.
    connection = victim.connection

    def ping() -> None:
        connection.send_command("PING")
        connection.read_response()

    with pytest.raises(redis.ConnectionError):
        ping()


def test_invalidation_messages_reach_their_handler(connect: Transport) -> None:
    """Where redis-py's own caching hangs it in; messages between replies go there."""
    r, other = connect(protocol=3, single_connection_client=True), connect()
    heard: list[Any] = []
    r.execute_command("CLIENT TRACKING", "ON")
    r.connection._parser.set_invalidation_push_handler(heard.append)
    r.get("k")
    other.set("k", 1)
    assert r.get("k") == b"1"
    assert heard == [[b"invalidate", [b"k"]]]
    r.set("k", 2)
    assert r.mget("k", "l") == [b"2", None]
    assert heard == 2 * [[b"invalidate", [b"k"]]]
    other.flushall()
    r.ping()
    assert heard[2:] == [[b"invalidate", None]]


def test_invalidation_messages_of_a_subscriber(connect: Transport) -> None:
    """RESP2: another connection is subscribed and hears for the one that tracks."""
    r, other = connect(protocol=2), connect()
    with r.pubsub() as pubsub:
        pubsub.subscribe("__redis__:invalidate")
        assert pubsub.get_message(timeout=1)["type"] == "subscribe"
        receiver = pubsub.connection
        id = next(client["id"] for client in other.client_list() if client["sub"] == "1")
        with connect(single_connection_client=True) as tracker:
            tracker.execute_command("CLIENT TRACKING", "ON", "REDIRECT", id)
            tracker.get("k")
            other.set("k", 1)
            message = pubsub.get_message(timeout=1)
        assert receiver == pubsub.connection
        assert message["channel"] == b"__redis__:invalidate"
        assert message["data"] == [b"k"]


def test_lock_pattern(connect: Transport) -> None:
    r = connect()
    assert r.set("lock", "me", nx=True, px=10_000)
    assert not r.set("lock", "you", nx=True, px=10_000)
    assert 0 < r.pttl("lock") <= 10_000


def test_monitor(connect: Transport) -> None:
    r = connect()
    with r.monitor() as m:
        r.set("k", 'a "b"')
        command = m.next_command()
        while not command["command"].startswith("SET"):  # a connection may say HELLO first
            command = m.next_command()
        assert command["command"].startswith("SET k")
        assert command["db"] == 0


def test_many_threads(connect: Transport) -> None:
    r = connect()

    def work() -> None:
        for _ in range(200):
            r.incr("n")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert r.get("n") == b"1600"
