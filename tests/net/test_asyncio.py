"""The asyncio client: what waits lets the loop go on, and how time passes meanwhile.

That it answers as redis-py's own does is tested with the tests of the plain client, which
run on both: ``in_loop.py``.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.asyncio.connection

import miniredis
import miniredis.asyncio
from miniredis import Server, VirtualClock
from miniredis.errors import WaitForeverError
from miniredis.net import async_connection, async_waiting

LIMIT_S = 20  # real seconds after which a test has hung


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    async def limited() -> Any:
        async with asyncio.timeout(LIMIT_S):
            return await main()

    return asyncio.run(limited())


def virtual(**kwargs: Any) -> tuple[VirtualClock, Server]:
    clock = VirtualClock(1_000_000)
    return clock, Server(clock=clock, seed=1, cost=miniredis.clock.FREE, **kwargs)


# -- making clients ------------------------------------------------------------------------


def test_it_is_redis_pys_client_on_a_server_of_its_own() -> None:
    async def main() -> None:
        r, other = miniredis.asyncio.Redis(), miniredis.asyncio.Redis(decode_responses=True)
        assert isinstance(r, redis.asyncio.Redis)
        await r.set("k", "v")
        assert await other.get("k") is None
        async with miniredis.asyncio.Redis(server=r.server, decode_responses=True) as same:
            assert await same.get("k") == "v"
        assert r.server.client().get("k") == b"v"
        await r.aclose()

    run(main)


def test_urls_and_arguments() -> None:
    server = Server()
    r = miniredis.asyncio.Redis.from_url("miniredis:///3?decode_responses=true", server=server)
    assert run(lambda: r.set("k", "v")) is True
    assert server.dbsize(3) == 1
    assert miniredis.asyncio.Redis(host="example.invalid", socket_timeout=1) is not None
    with pytest.raises(TypeError, match=r"must be a miniredis\.Server"):
        miniredis.asyncio.Redis(server="localhost")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="did you mean client_name"):
        server.async_client(client_nam="x")
    with pytest.raises(TypeError, match=r"must be a redis\.asyncio\.ConnectionPool"):
        server.async_client(connection_pool=redis.ConnectionPool())
    with pytest.raises(ValueError, match="that of another miniredis client"):
        server.async_client(connection_pool=redis.asyncio.ConnectionPool())
    shared = server.async_client(connection_pool=r.connection_pool)
    assert run(lambda: shared.get("k")) == "v"
    with pytest.raises(ValueError, match="another server"):
        Server().async_client(connection_pool=r.connection_pool)


def test_passwords() -> None:
    server = Server(requirepass="secret")

    async def main() -> None:
        with pytest.raises(redis.AuthenticationError):
            await server.async_client().get("k")
        assert await server.async_client(password="secret").ping()
        with pytest.raises(redis.AuthenticationError):
            await server.async_client(password="wrong").ping()

    run(main)


def test_one_client_in_one_loop_after_the_other() -> None:
    server = Server()
    r = server.async_client()
    for i in range(3):
        assert run(lambda: r.incr("n")) == i + 1


# -- waiting -------------------------------------------------------------------------------


@pytest.mark.parametrize("virtual_clock", [False, True])
def test_a_wait_does_not_block_the_loop(virtual_clock: bool) -> None:
    server = Server(clock=VirtualClock() if virtual_clock else None)
    before = server.clock.us()

    async def main() -> None:
        r = server.async_client()
        waits = asyncio.create_task(r.blpop("k", timeout=5))
        while not server.blocked_clients:
            await asyncio.sleep(0)
        assert await r.rpush("k", "v") == 1  # on another connection of the same client
        assert await waits == (b"k", b"v")
        assert await r.llen("k") == 0
        if virtual_clock:  # nothing had to pass
            assert server.clock.us() == before

    run(main)


def test_virtual_time_passes_while_all_wait() -> None:
    clock, server = virtual()

    async def main() -> None:
        r = server.async_client()
        start = clock.ms()
        assert await r.blpop("k", timeout=1) is None
        assert clock.ms() - start == 1_001  # with the cron after its end
        start = clock.ms()
        found = await asyncio.gather(
            r.blpop("a", timeout=1), r.blpop("b", timeout=3), r.brpop("c", timeout=2)
        )
        assert found == [None, None, None]
        assert 3_000 < clock.ms() - start <= 3_101

    run(main)


def test_what_can_be_done_now_is_done_before_time_passes() -> None:
    clock, server = virtual()

    async def main() -> None:
        r = server.async_client()
        start = clock.us()

        async def feed() -> None:
            for i in range(20):
                for _ in range(async_waiting.TURNS - 2):
                    await asyncio.sleep(0)
                await r.rpush("k", i)

        async def eat() -> list[bytes]:
            return [(await r.blpop("k", timeout=0.01))[1] for _ in range(20)]

        eaten, _ = await asyncio.gather(eat(), feed())
        assert eaten == [b"%d" % i for i in range(20)]
        assert clock.us() == start

    run(main)


def test_a_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, server = virtual()
    for module in (async_waiting, async_connection):
        monkeypatch.setattr(module, "PATIENCE_US", 30_000_000)

    async def main() -> None:
        r = server.async_client()
        start = clock.ms()
        with pytest.raises(WaitForeverError, match="BLPOP would wait for ever"):
            await r.blpop("k")
        assert clock.ms() - start >= 30_000
        assert server.blocked_clients == 0
        # With another task about, time stands still after a while.
        waits = asyncio.create_task(r.blpop("k"))
        while clock.ms() - start < 60_000:
            await asyncio.sleep(0)
        stands = clock.us()
        for _ in range(1000):
            await asyncio.sleep(0)
        assert clock.us() == stands
        await r.rpush("k", "v")
        assert await waits == (b"k", b"v")

    asyncio.run(main())


def test_fed_by_a_thread_under_the_system_clock() -> None:
    server = Server()

    def feed() -> None:
        while not server.blocked_clients:
            threading.Event().wait(0.001)
        server.client().rpush("k", "v")

    thread = threading.Thread(target=feed)
    thread.start()
    assert run(lambda: server.async_client().blpop("k", timeout=10)) == (b"k", b"v")
    thread.join()


def test_a_time_out_under_the_system_clock() -> None:
    server = Server(hz=100)
    assert run(lambda: server.async_client().blpop("k", timeout=0.01)) is None


@pytest.mark.parametrize("virtual_clock", [False, True])
def test_a_cancelled_wait_leaves_nothing_behind(virtual_clock: bool) -> None:
    server = Server(clock=VirtualClock() if virtual_clock else None)

    async def main() -> None:
        r = server.async_client()
        waits = asyncio.create_task(r.blpop("k", timeout=100_000))
        while not server.blocked_clients:
            await asyncio.sleep(0)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        assert server.blocked_clients == 0
        assert await r.rpush("k", "v") == 1
        assert await r.llen("k") == 1
        assert await r.get("k2") is None

    run(main)


def test_waiting_in_a_pipeline_keeps_what_follows_back() -> None:
    server = Server()

    async def main() -> None:
        r = server.async_client()
        pipe = r.pipeline(transaction=False)
        pipe.set("before", 1).blpop("k").set("after", 2)
        waits = asyncio.create_task(pipe.execute())
        while not server.blocked_clients:
            await asyncio.sleep(0)
        assert await r.exists("before", "after") == 1
        await r.rpush("k", "v")
        assert await waits == [True, (b"k", b"v"), True]
        pipe = r.pipeline()
        assert await pipe.blpop("k").set("x", 1).execute() == [None, True]

    run(main)


def test_a_paused_command_waits() -> None:
    clock, server = virtual()

    async def main() -> None:
        r = server.async_client()
        await r.client_pause(150)
        start = clock.ms()
        assert await r.set("k", "v") is True
        assert clock.ms() - start >= 150

    run(main)


def test_killed_while_it_waits() -> None:
    server = Server()

    async def main() -> None:
        r = server.async_client()
        waits = asyncio.create_task(server.async_client(client_name="victim").blpop("k"))
        while not server.blocked_clients:
            await asyncio.sleep(0)
        [victim] = [c for c in await r.client_list() if c["name"] == "victim"]
        assert await r.client_kill_filter(_id=victim["id"]) == 1
        with pytest.raises(redis.ConnectionError, match="Connection closed by server"):
            await waits
        assert await r.client_unblock(victim["id"]) == 0

    run(main)


def test_a_closed_server_says_so() -> None:
    server = Server()

    async def main() -> None:
        r = server.async_client()
        waits = asyncio.create_task(r.blpop("k"))
        listens = r.pubsub()
        await listens.subscribe("c")
        while not server.blocked_clients:
            await asyncio.sleep(0)
        server.close()
        with pytest.raises(redis.ConnectionError):
            await waits
        with pytest.raises(redis.ConnectionError):
            await r.get("k")
        with pytest.raises(redis.ConnectionError):
            await r.pipeline().set("a", 1).execute()

    run(main)


# -- messages ------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3])
def test_messages_of_another_task(protocol: int) -> None:
    server = Server()

    async def main() -> None:
        r = server.async_client(decode_responses=True, protocol=protocol)
        async with r.pubsub(ignore_subscribe_messages=True) as p:
            await p.subscribe("c")

            async def hear() -> list[str]:
                found = []
                async for message in p.listen():
                    found.append(message["data"])
                    if len(found) == 3:
                        return found
                return found

            hears = asyncio.create_task(hear())
            for i in range(3):
                await asyncio.sleep(0)
                await r.publish("c", i)
            assert await hears == ["0", "1", "2"]
            assert await p.get_message(timeout=0) is None

    run(main)


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_listener_lets_virtual_time_pass(protocol: int) -> None:
    clock, server = virtual(notify_keyspace_events="Ex")

    async def main() -> None:
        r = server.async_client(decode_responses=True, protocol=protocol)
        p = r.pubsub(ignore_subscribe_messages=True)
        await p.subscribe("__keyevent@0__:expired")
        await p.get_message(timeout=0)
        start = clock.ms()
        await r.set("k", "v", px=250)
        assert await p.get_message(timeout=0.1) is None
        assert clock.ms() - start == 100
        message = await anext(p.listen())
        assert message["data"] == "k"
        assert 250 < clock.ms() - start < 400

    run(main)


def test_locks_and_scripts() -> None:
    server = Server(clock=VirtualClock())

    async def main() -> None:
        r = server.async_client()
        async with r.lock("l", timeout=10):
            assert not await r.lock("l", timeout=10, blocking=False).acquire()
        assert await r.lock("l", timeout=10, blocking=False).acquire()
        double = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1]) * 2")
        assert await double(keys=["n"], args=[21]) == 42
        assert await r.eval("return {1, 'x'}", 0) == [1, b"x"]

    run(main)


def test_many_tasks_at_once() -> None:
    server = Server()

    async def main() -> None:
        r = server.async_client()
        await asyncio.gather(*(r.incr("n") for _ in range(100)))
        single = server.async_client(single_connection_client=True)
        await asyncio.gather(*(single.incr("n") for _ in range(100)))
        assert await r.get("n") == b"200"
        await single.aclose()

    run(main)


def test_a_command_without_a_reply_does_not_hang() -> None:
    server = Server()

    async def main() -> None:
        r = server.async_client(single_connection_client=True)
        assert await r.execute_command("CLIENT", "REPLY", "OFF") is None
        assert await r.set("k", "v") is None
        assert await r.execute_command("CLIENT", "REPLY", "ON") == b"OK"
        assert await r.get("k") == b"v"
        with pytest.raises(redis.ConnectionError, match="no reply of its own"):
            await r.pipeline(transaction=False).execute_command("CLIENT", "REPLY", "OFF").execute()
        await r.aclose()

    run(main)


def test_servers_and_clients_leave_nothing_behind() -> None:
    clock = VirtualClock()

    async def use_one(seed: int) -> weakref.ref[Server]:
        server = Server(clock=clock, seed=seed)
        r = server.async_client()
        await r.set("k", "v")
        await r.pipeline().incr("n").get("k").execute()
        return weakref.ref(server)

    async def main() -> list[weakref.ref[Server]]:
        return [await use_one(seed) for seed in range(20)]

    refs = run(main)
    gc.collect()
    assert not any(ref() for ref in refs)
    assert clock.next_event_us() is None
