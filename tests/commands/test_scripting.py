"""Scripts through redis-py, and what others see of them."""

from __future__ import annotations

import pytest
import redis

import miniredis


@pytest.fixture
def server() -> miniredis.Server:
    return miniredis.Server(clock=miniredis.VirtualClock(), seed=1)


def test_register_script_loads_when_needed(server: miniredis.Server) -> None:
    r = server.client(decode_responses=True)
    add = r.register_script("return redis.call('incrby', KEYS[1], ARGV[1])")
    assert add(keys=["n"], args=[5]) == 5
    r.script_flush()
    assert add(keys=["n"], args=[1]) == 6
    pipe = r.pipeline()
    add(keys=["n"], args=[1], client=pipe)
    assert pipe.execute() == [7]


def test_locks_of_redis_py_work(server: miniredis.Server) -> None:
    r = server.client()
    lock = r.lock("lock", timeout=10)
    assert lock.acquire(blocking=False)
    assert lock.extend(5)
    lock.release()
    assert r.exists("lock") == 0


def test_a_key_alive_at_the_start_stays_so_for_the_whole_script(server: miniredis.Server) -> None:
    r = server.client()
    r.set("k", "v", px=100)
    clock = server.clock
    assert isinstance(clock, miniredis.VirtualClock)
    script = "local a = redis.call('get', KEYS[1]) redis.call('debug', 'sleep', 1) return {a, redis.call('get', KEYS[1])}"
    with pytest.raises(redis.ResponseError, match="not allowed from script"):
        r.eval(script, 1, "k")
    r.execute_command("DEBUG", "SET-DISABLE-DENY-SCRIPTS", 1)
    before = clock.time()
    assert r.eval(script, 1, "k") == [b"v", b"v"]
    assert clock.time() - before >= 1
    assert r.get("k") is None
    r.execute_command("DEBUG", "SET-DISABLE-DENY-SCRIPTS", 0)
    with pytest.raises(redis.ResponseError, match="not allowed from script"):
        r.eval(script, 1, "k")


def test_effects_are_propagated_as_one_transaction(server: miniredis.Server) -> None:
    heard: list[list[bytes]] = []
    server.add_sink(lambda dbid, argv: heard.append(argv))
    r = server.client()
    r.eval("redis.call('set', 'a', 1) redis.call('get', 'a') return redis.call('incr', 'a')", 0)
    assert heard == [[b"MULTI"], [b"set", b"a", b"1"], [b"incr", b"a"], [b"EXEC"]]
    heard.clear()
    r.eval("redis.set_repl(redis.REPL_NONE) redis.call('set', 'b', 1)", 0)
    r.eval("return redis.call('get', 'a')", 0)
    assert heard == []
    r.eval("redis.call('set', 'c', 1, 'px', 100)", 0)
    assert heard == [[b"SET", b"c", b"1", b"PXAT", b"%d" % (server.mstime + 100)]]


def test_monitors_see_the_script_and_then_its_commands(server: miniredis.Server) -> None:
    watcher = server.create_client()
    server.process_command(watcher, [b"MONITOR"])
    server.client().eval("return redis.call('ping')", 0)
    lines = [message.text.split(b"] ", 1) for message in watcher.outbox]
    shown = [(head.split()[-1], text) for head, text in lines if b"CLIENT" not in text]
    assert [text.split()[0] for _, text in shown] == [b'"EVAL"', b'"ping"']
    assert shown[1][0] == b"lua"


def test_a_script_in_a_transaction_and_in_a_database(server: miniredis.Server) -> None:
    r = server.client(db=3)
    pipe = r.pipeline()
    pipe.eval("return redis.call('set', 'k', 'v')", 0)
    pipe.eval("redis.call('select', 5) return redis.call('get', 'k')", 0)
    pipe.get("k")
    assert pipe.execute() == [b"OK", None, b"v"]
    assert r.eval("return redis.call('get', 'k')", 0) == b"v"


def test_watched_keys_notice_a_script(server: miniredis.Server) -> None:
    r, other = server.client(), server.client()
    with r.pipeline() as pipe:
        pipe.watch("k")
        other.eval("redis.call('set', 'k', 1)", 0)
        pipe.multi()
        pipe.get("k")
        with pytest.raises(redis.WatchError):
            pipe.execute()


def test_log_reaches_the_server(server: miniredis.Server) -> None:
    server.client().eval("redis.log(redis.LOG_WARNING, 'a', 1, 'b')", 0)
    assert server.scripting.log == [(3, b"a 1 b")]


def test_pause_write_holds_scripts_but_for_read_only_ones(server: miniredis.Server) -> None:
    r = server.client()
    r.execute_command("CLIENT", "PAUSE", "100", "WRITE")
    assert r.execute_command("EVAL_RO", "return 1", 0) == 1
    c = server.create_client()
    reply = server.process_command(c, [b"EVAL", b"return 1", b"0"])
    assert repr(reply) == "BLOCKED"


def test_info_counts_scripts_and_functions(server: miniredis.Server) -> None:
    r = server.client()

    def counts() -> list[int]:
        info = r.info("memory")
        return [info[f"number_of_{what}"] for what in ("cached_scripts", "functions", "libraries")]

    assert counts() == [0, 0, 0]
    r.script_load("return 1")
    r.eval("return 2", 0)
    r.function_load(
        "#!lua name=l\nredis.register_function('f', function() end)\nredis.register_function('g', function() end)"
    )
    assert counts() == [2, 2, 1]
    r.script_flush()
    r.function_flush()
    assert counts() == [0, 0, 0]
