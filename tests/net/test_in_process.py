"""connection.py: what is special about a client without a wire."""

from __future__ import annotations

import datetime
import gc
import inspect
import threading
import weakref

import pytest
import redis

import miniredis


def test_every_client_has_its_own_server_unless_given_one() -> None:
    a, b = miniredis.Redis(), miniredis.Redis()
    a.set("k", "v")
    assert b.get("k") is None
    assert isinstance(a, redis.Redis)
    shared = miniredis.Redis(server=a.server)
    assert shared.get("k") == b"v"
    with pytest.raises(TypeError, match=r"must be a miniredis\.Server"):
        miniredis.Redis(server="localhost")  # type: ignore[arg-type]


def test_from_url() -> None:
    server = miniredis.Server()
    r = miniredis.Redis.from_url("miniredis:///3?decode_responses=true", server=server)
    r.set("k", "v")
    assert r.get("k") == "v"
    assert server.dbsize(3) == 1
    with pytest.raises(ValueError, match="miniredis://"):
        miniredis.Redis.from_url("redis://localhost")
    with pytest.raises(ValueError, match="database number"):
        miniredis.Redis.from_url("miniredis:///x")


def test_arguments_about_sockets_mean_nothing() -> None:
    assert miniredis.Redis("example.invalid", 1, 2, socket_timeout=1).ping()


def test_a_closed_server_says_so() -> None:
    server = miniredis.Server()
    r = server.client()
    p = r.pubsub()
    p.subscribe("c")
    server.close()
    server.close()
    with pytest.raises(redis.ConnectionError, match="closed"):
        r.get("k")
    with pytest.raises(redis.ConnectionError):
        r.pipeline().set("a", 1).execute()
    with pytest.raises(redis.ConnectionError):
        server.client().ping()


def test_passwords() -> None:
    server = miniredis.Server(requirepass="secret")
    with pytest.raises(redis.AuthenticationError):
        server.client().get("k")
    assert server.client(password="secret").ping()
    with pytest.raises(redis.AuthenticationError):
        server.client(password="wrong").ping()


def test_a_thousand_servers_leak_nothing() -> None:
    clock = miniredis.VirtualClock()

    def use_one(seed: int) -> weakref.ref[miniredis.Server]:
        server = miniredis.Server(clock=clock, seed=seed)
        r = server.client()
        r.set("k", "v", px=5)
        r.pipeline().incr("n").get("k").execute()
        p = r.pubsub()
        p.subscribe("x")
        clock.advance(1)
        return weakref.ref(server)

    for seed in range(10):
        use_one(seed)
    gc.collect()
    before = len(gc.get_objects())
    refs = [use_one(seed) for seed in range(1000)]
    gc.collect()
    assert not any(ref() for ref in refs)
    assert clock.next_event_us() is None
    refs.clear()
    assert len(gc.get_objects()) - before < 100, "objects that outlive their servers"


def test_a_blocked_client_lets_virtual_time_pass() -> None:
    clock = miniredis.VirtualClock(1_000_000)
    server = miniredis.Server(clock=clock)
    r = server.client()
    r.set("k", "v")
    r.client_pause(150)
    assert r.get("k") == b"v"  # held back until the pause has ended
    assert 1_000_150 <= clock.ms() <= 1_000_301


def test_get_message_waits_in_virtual_time() -> None:
    clock = miniredis.VirtualClock(1_000_000)
    server = miniredis.Server(clock=clock, notify_keyspace_events="Ex")
    r = server.client(decode_responses=True)
    p = r.pubsub(ignore_subscribe_messages=True)
    p.subscribe("__keyevent@0__:expired")
    assert p.get_message(timeout=0) is None
    r.set("k", "v", px=250)
    message = None
    while message is None:
        message = p.get_message(timeout=1)
    assert message["data"] == "k"
    assert 1_000_251 <= clock.ms() < 1_001_300


def test_unblocked_by_another_thread() -> None:
    server = miniredis.Server()
    r, admin = server.client(), server.client()
    admin.client_pause(60_000, all=False)
    done = threading.Event()

    def write() -> None:
        r.set("k", "v")
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not server.clients_waiting():
        pass
    assert not done.is_set()
    admin.client_unpause()
    thread.join(10)
    assert done.is_set()


def test_the_same_seed_gives_the_same_run() -> None:
    def run() -> list[object]:
        clock = miniredis.VirtualClock()
        server = miniredis.Server(clock=clock, seed=5)
        r = server.client()
        for i in range(300):
            r.set(f"k{i}", i, px=1 + i * 7 % 500)
        seen: list[object] = []
        for _ in range(10):
            clock.advance(50)
            seen += [r.randomkey(), r.scan(), server.dbsize()]
        return seen

    assert run() == run()


def test_a_held_client_that_is_killed_gets_an_error() -> None:
    server = miniredis.Server()
    r, admin = server.client(), server.client()
    r.ping()
    id = r.client_id()
    admin.client_pause(1_000_000, all=False)
    errors: list[BaseException] = []

    def write() -> None:
        try:
            r.execute_command("SET", "k", "v")
        except redis.ConnectionError as error:
            errors.append(error)

    def identify_and_write() -> None:
        nonlocal id
        id = r.client_id()
        write()

    thread = threading.Thread(target=identify_and_write)
    thread.start()
    while not server.clients_waiting():
        pass
    assert admin.client_kill_filter(_id=str(id)) == 1
    thread.join(10)
    assert not thread.is_alive()
    assert [str(error) for error in errors] == ["Connection closed by server."]
    assert admin.exists("k") == 0
    assert r.ping()


def test_several_held_threads_get_their_own_replies() -> None:
    server = miniredis.Server()
    r = server.client()
    r.client_pause(1_000_000, all=False)
    replies: dict[int, int] = {}

    def write(i: int) -> None:
        replies[i] = int(r.incrby(f"k{i}", i))

    threads = [threading.Thread(target=write, args=(i,)) for i in range(1, 6)]
    for thread in threads:
        thread.start()
    while len(list(server.clients_waiting())) < 5:
        pass
    r.client_unpause()
    for thread in threads:
        thread.join(10)
    assert replies == {i: i for i in range(1, 6)}


def test_exec_with_messages_to_oneself_is_read_as_from_a_wire() -> None:
    r = miniredis.Redis(protocol=2, single_connection_client=True)
    for command in ("MULTI", "SUBSCRIBE x", "PING hi"):
        r.execute_command(*command.split())
    assert r.execute_command("EXEC") == [[b"subscribe", b"x", 1], [b"pong", b"hi"]]


def test_exec_whose_replies_are_too_few_says_so() -> None:
    r = miniredis.Redis(single_connection_client=True)
    for command in ("MULTI", "CLIENT REPLY OFF", "PING"):
        r.execute_command(*command.split())
    with pytest.raises(redis.ConnectionError, match="announced 2 replies and sent 0"):
        r.execute_command("EXEC")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"ex": 5},
        {"px": 5},
        {"ex": 0},
        {"px": -1},
        {"ex": True},
        {"px": datetime.timedelta(seconds=1.5)},
        {"ex": datetime.timedelta(seconds=2)},
        {"ex": "7"},
        {"nx": True, "px": 9},
        {"xx": True},
        {"keepttl": True, "get": True},
        {"exat": 1, "get": True},
        {"pxat": datetime.datetime(2030, 1, 1)},
        {"ex": 1, "px": 1},
        {"ex": 1.5},
        {"px": "x"},
        {"nx": True, "xx": True},
    ],
    ids=str,
)
def test_set_sends_what_redis_py_sends(
    arguments: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The short way for common forms must not differ from redis-py's own."""

    def sent(cls: type[redis.Redis]) -> object:
        calls: list[object] = []
        with monkeypatch.context() as m:
            m.setattr(cls, "execute_command", lambda self, *args, **kw: calls.append((args, kw)))
            try:
                cls().set("k", "v", **arguments)
            except redis.DataError as error:
                return str(error)
        return calls

    assert sent(miniredis.Redis) == sent(redis.Redis)


def test_set_takes_its_options_by_position_too() -> None:
    r = miniredis.Redis()
    r.set("k", "v", 100)
    assert r.ttl("k") == 100
    r.set("k", "v", None, 100_000)
    assert 99_000 < r.pttl("k") <= 100_000
    r.set("k", "w", None, None, True)  # nx
    assert r.get("k") == b"v"
    assert "keepttl" in inspect.signature(r.set).parameters


def test_a_pipeline_that_watches_notices_that_it_was_killed() -> None:
    server = miniredis.Server()
    r, admin = server.client(), server.client()
    with r.pipeline() as p:
        p.watch("k")
        id = p.client_id()
        p.multi()
        p.set("k", "unguarded")
        assert admin.client_kill_filter(_id=str(id)) == 1
        with pytest.raises(redis.WatchError):
            p.execute()
    assert not admin.exists("k")
    assert r.pipeline().set("k", "v").execute() == [True]


def test_a_waiting_subscriber_is_woken_by_the_message_not_by_the_cron() -> None:
    server = miniredis.Server(hz=1)
    p = server.client().pubsub(ignore_subscribe_messages=True)
    p.subscribe("x")
    p.get_message()
    crons: list[int] = []

    def listen() -> None:
        p.get_message(timeout=60)
        crons.append(server.cronloops)

    # The message is sent while the listener sleeps, which is once it has let go of the lock.
    thread = threading.Thread(target=listen)
    with server.lock:
        thread.start()
    r = server.client()
    before = server.cronloops
    while r.publish("x", "m") and not crons:
        pass
    thread.join(10)
    assert crons
    assert crons[0] - before <= 1


def test_a_subscriber_that_is_killed_while_it_waits_gets_an_error() -> None:
    clock = miniredis.VirtualClock()
    server = miniredis.Server(clock=clock)
    p = server.client().pubsub()
    p.subscribe("x")
    p.get_message()
    [listener] = (c for c in server.clients.values() if c.pubsub_channels)
    server.el.create_time_event(500, lambda: server.kill_client(listener) or -1)
    with pytest.raises(redis.ConnectionError, match="Connection closed by server"):
        p.connection.read_response()
    assert clock.ms() == miniredis.VirtualClock().ms() + 500
