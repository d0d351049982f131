"""Libraries of functions, on a real server and on the simulator: the same bytes."""

from __future__ import annotations

import pytest

from miniredis import Server
from miniredis.net.resp import encode_reply
from tests.real.raw import RawClient
from tests.real.servers import RealServer


def library(name: str, body: str, *options: str) -> tuple[str, ...]:
    return ("function", "load", *options, f"#!lua name={name}\n{body}")


def registered(name: str, body: str) -> str:
    return f"redis.register_function('{name}', function(keys, args) {body} end)"


COMMANDS: list[tuple[str, ...]] = [
    library("a", registered("f", "return 'hello'")),
    library("a", registered("f", "return 'hello'")),
    library("a", registered("f", "return {keys, args}"), "replace"),
    ("fcall", "f", "2", "k1", "k2", "x"),
    ("fcall", "F", "0"),
    ("fcall", "g", "0"),
    ("fcall", "f", "x"),
    ("fcall", "f", "3", "a"),
    ("fcall", "f", "-1"),
    ("function", "list"),
    ("function", "list", "withcode"),
    ("function", "list", "libraryname", "A*"),
    ("function", "list", "libraryname"),
    ("function", "list", "x"),
    ("function", "stats"),
    library("b", registered("f", "return 1")),
    library("b", "x"),
    library("b", ""),
    library("b", "return ("),
    library("b", "error('boom')"),
    library("b", "error({err='boom'})"),
    library("b", "redis.call('ping')"),
    library("b", "redis.register_function()"),
    library("b", "redis.register_function('x')"),
    library("b", "redis.register_function('x', 1)"),
    library("b", "redis.register_function({}, function() end)"),
    library("b", "redis.register_function('a-b', function() end)"),
    library(
        "b",
        "redis.register_function('z', function() end) redis.register_function('z', function() end)",
    ),
    library("b", "redis.register_function(1,2,3)"),
    library(
        "b",
        "redis.register_function{function_name='n', callback=function() return redis.call('set','k','v') end, flags={'no-writes'}, description='d'}",
    ),
    ("fcall", "n", "0"),
    ("fcall_ro", "n", "0"),
    ("function", "list", "withcode", "libraryname", "b"),
    library("c", "redis.register_function{callback=function() end}"),
    library("c", "redis.register_function{function_name='n2'}"),
    library("c", "redis.register_function{function_name='n2', callback=1}"),
    library("c", "redis.register_function{function_name={}, callback=1}"),
    library(
        "c", "redis.register_function{function_name='n2', callback=function() end, flags={'x'}}"
    ),
    library("c", "redis.register_function{function_name='n2', callback=function() end, flags='x'}"),
    library("c", "redis.register_function{function_name='n2', callback=function() end, foo=1}"),
    library("c", "redis.register_function{[{}]=1}"),
    library("c", "math.random()"),
    library("c", "x = 1"),
    library("c", "local x = foo"),
    library("c", "redis.x = 1"),
    library(
        "c", "redis.log(redis.LOG_NOTICE, redis.REDIS_VERSION) " + registered("lg", "return 1")
    ),
    library(
        "d", "local r = redis.register_function " + registered("late", "r('q', function() end)")
    ),
    ("fcall", "late", "0"),
    library(
        "e",
        registered("set", "return redis.call('set', keys[1], args[1])")
        + "\n"
        + registered("get", "return redis.call('get', keys[1])")
        + "\n"
        + registered("bad", "return redis.call('incr', keys[1])")
        + "\n"
        + registered("err", "error('oops')")
        + "\n"
        + registered("glob", "return foo")
        + "\n"
        + registered("setg", "foo = 1")
        + "\n"
        + registered("mathr", "return math.floor(2.5)")
        + "\n"
        + registered("nore", "return redis.register_function == nil")
        + "\n"
        + registered("bp", "return redis.breakpoint == nil")
        + "\n"
        + registered("st", "redis.setresp(3) return redis.call('hgetall', keys[1])"),
    ),
    ("fcall", "set", "1", "k", "v"),
    ("fcall", "get", "1", "k"),
    ("fcall_ro", "set", "1", "k", "v"),
    ("fcall_ro", "get", "1", "k"),
    ("fcall", "bad", "1", "k"),
    ("fcall", "err", "0"),
    ("fcall", "glob", "0"),
    ("fcall", "setg", "0"),
    ("fcall", "mathr", "0"),
    ("fcall", "nore", "0"),
    ("fcall", "bp", "0"),
    ("hset", "h", "a", "1"),
    ("fcall", "st", "1", "h"),
    ("function", "load", "foo"),
    ("function", "load", "#!lua"),
    ("function", "load", "#!lua name=x"),
    ("function", "load", "#!lua\n"),
    ("function", "load", "#!lua name=a-b\nx"),
    ("function", "load", "#!py name=x\nx"),
    ("function", "load", "#!lua name=x name=y\nx"),
    ("function", "load", "#!lua foo=x\nx"),
    ("function", "load", "#!LUA name=up\n" + registered("up", "return 1")),
    ("function", "load", "x", "#!lua name=x\n"),
    ("function", "load"),
    ("function", "delete", "nope"),
    ("function", "delete", "a"),
    ("fcall", "f", "0"),
    ("function", "kill"),
    ("function", "flush", "x"),
    ("function", "flush", "sync", "x"),
    ("function", "flush", "async"),
    ("function", "list"),
    ("function", "stats"),
    ("function", "nope"),
    ("fcall", "set", "1", "k", "v"),
]


@pytest.mark.parametrize("resp", [2, 3])
def test_replies(real_server: RealServer, resp: int) -> None:
    if real_server.version < (7, 0):
        pytest.skip("functions came with Redis 7.0")
    ask, server = RawClient(real_server.port), Server(seed=1)
    mine = server.create_client()
    ask(b"FUNCTION", b"FLUSH")
    ask(b"HELLO", b"%d" % resp)
    mine.resp = resp
    wrong = []
    for command in COMMANDS:
        argv = [word.encode() for word in command]
        expected, got = ask(*argv), encode_reply(server.process_command(mine, argv), resp)
        if got != expected:
            wrong.append((command, got, expected))
    ask.close()
    assert not wrong, "\n".join(map(str, wrong))
