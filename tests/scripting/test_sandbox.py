"""What a script cannot do, and what it may use of the machine."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

import pytest
import redis

import miniredis
from miniredis.scripting import lua as lua_module


@pytest.fixture
def r() -> miniredis.Redis:
    return miniredis.Redis(decode_responses=True)


@pytest.mark.parametrize(
    "way",
    [
        "io.open('/etc/passwd')",
        "os.execute('true')",
        "require('os')",
        "package.loaded",
        "dofile('x')",
        "loadfile('x')",
        "debug.getregistry()",
        "python.eval('1')",
        "getfenv(0).io",
        "newproxy(true)",
        "module('x')",
        "print(1)",
    ],
)
def test_ways_out_are_closed(r: miniredis.Redis, way: str) -> None:
    with pytest.raises(redis.ResponseError, match="nonexistent global variable"):
        r.eval(f"return {way}", 0)


def test_compiled_code_is_read_as_text(r: miniredis.Redis) -> None:
    script = "return loadstring(string.dump(function() return 1 end)) == nil"
    assert r.eval(script, 0) == 1
    pieces = "local s = string.dump(function() end) return load(function() local x = s s = nil return x end) == nil"
    assert r.eval(pieces, 0) == 1


@pytest.mark.parametrize("value", ["redis.call", "redis.log", "cjson.encode", "bit.band"])
def test_functions_are_functions_without_a_way_into_python(r: miniredis.Redis, value: str) -> None:
    assert r.eval(f"return type({value})", 0) == "function"
    with pytest.raises(redis.ResponseError, match="attempt to index"):
        r.eval(f"return {value}.__globals__", 0)


def test_an_exception_of_the_host_is_no_object_to_a_script(r: miniredis.Redis) -> None:
    for call in ("pcall(redis.call, 'nosuch')", "xpcall(function() redis.call() end, type)"):
        assert r.eval(f"local ok, e = {call} return type(e)", 0) == "string"
    script = "local co = coroutine.create(function() redis.call('nosuch') end) local ok, e = coroutine.resume(co) return type(e)"
    assert r.eval(script, 0) == "table"


@pytest.mark.parametrize(
    "change",
    [
        "x = 1",
        "redis = nil",
        "redis.call = nil",
        "string.len = nil",
        "rawset(_G, 'x', 1)",
        "rawset(cjson, 'encode', 1)",
        "setmetatable(_G, {})",
        "setmetatable(math, {})",
        "getmetatable(_G).__index = nil",
        "getmetatable('').__index = nil",
        "KEYS = {}",
    ],
)
def test_globals_cannot_be_changed(r: miniredis.Redis, change: str) -> None:
    with pytest.raises(redis.ResponseError, match="Attempt to modify a readonly table"):
        r.eval(change, 0)
    assert r.eval("return string.len(cjson.encode(KEYS)) + math.floor(2.5)", 0) == 4


def test_two_servers_share_nothing() -> None:
    one, two = miniredis.Redis(), miniredis.Redis()
    one.eval("math.randomseed(1)", 0)
    two.eval("math.randomseed(2)", 0)
    first = one.eval("return math.random(1000000)", 0)
    assert first != two.eval("return math.random(1000000)", 0)
    sha = one.script_load("return 1")
    assert two.script_exists(sha) == [False]


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lua_module, "MAX_MEMORY", 20 * 2**20)
    r = miniredis.Redis()
    with pytest.raises(redis.ResponseError, match="not enough memory"):
        r.eval("local t = {} for i = 1, 1e7 do t[i] = i .. 'x' end", 0)
    assert r.eval("return 1", 0) == 1


@pytest.fixture
def no_garbage() -> Iterator[None]:
    """What other tests left is collected before, not where the stack is nearly full."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_garbage")
def test_deep_replies_end(r: miniredis.Redis) -> None:
    reply = r.eval("local a = {} local b = {a} a[1] = b return a", 0)
    depth = 0
    while isinstance(reply, list):
        reply, depth = reply[0], depth + 1
    assert depth == 7995
    assert "reached lua stack limit" in str(reply)


def test_a_script_that_does_not_end_is_killed_from_another_thread() -> None:
    server = miniredis.Server(busy_reply_threshold=10)
    caller, other = server.client(), server.client()
    failed: list[Exception] = []

    def loop() -> None:
        try:
            caller.eval("while true do pcall(redis.call, 'nosuch') end", 0)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    killed = False
    while not killed:  # until the script has begun
        with contextlib.suppress(redis.ResponseError):
            killed = bool(other.script_kill())
    thread.join(20)
    assert not thread.is_alive()
    assert "Script killed by user with SCRIPT KILL" in str(failed[0])
    assert other.ping()


def test_others_hear_busy_and_writers_cannot_be_killed() -> None:
    server = miniredis.Server(busy_reply_threshold=10)
    caller, other = server.client(), server.client()
    busy = threading.Event()
    script = "redis.call('set', 'k', 'v') while redis.call('exists', 'stop') == 0 do end return 1"
    server.scripting.while_blocked.append(busy.set)
    result: list[object] = []
    thread = threading.Thread(target=lambda: result.append(caller.eval(script, 0)))
    thread.start()
    assert busy.wait(20)
    with pytest.raises(redis.ResponseError, match="BUSY Redis is busy running a script"):
        other.get("k")
    with pytest.raises(redis.ResponseError, match="UNKILLABLE"):
        other.script_kill()
    with server.lock:
        server.databases[0].add(b"stop", server.databases[0].dict.find(b"k").val)  # type: ignore[union-attr]
    thread.join(20)
    assert result == [1]
    assert other.get("k") == b"v"
    server._check()
