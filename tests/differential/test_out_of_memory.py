"""Beside a real server that has reached maxmemory: what is refused and evicted, who is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.sides import RealSide, run

SCRIPTS = {
    "noeviction": """
        a: SET k 1
        a: RPUSH l 1
        a: CONFIG SET maxmemory 1
        a: SET k 2
        a: GET k
        a: INCR k
        a: APPEND k x
        a: DEL nothing
        a: EXPIRE k 100
        a: PERSIST k
        a: RPUSH l 1
        a: LPOP l
        a: SETRANGE k 0 y
        a: SADD s 1
        a: PUBLISH c m
        a: SUBSCRIBE c
        a: UNSUBSCRIBE
        a: NOSUCH
        a: SET k
        a: EVAL "return redis.call('SET', 'k', 3)" 1 k
        a: EVAL "redis.call('DEL', 'nothing') return redis.call('SET', 'k', 3)" 1 k
        a: EVAL "return redis.call('GET', 'k')" 1 k
        a: EVAL "return redis.pcall('SET', 'k', 3).err" 1 k
        a: EVAL "#!lua\\nreturn 1" 0
        a: EVAL "#!lua flags=no-writes\\nreturn redis.call('GET', 'k')" 1 k
        a: EVAL "#!lua flags=allow-oom\\nreturn redis.call('SET', 'k', 4)" 1 k
        a: GET k
        a: EVAL "return redis.call('INFO', 'commandstats'):match('_set:calls=%d+')" 0
        a: EVAL "return redis.call('INFO', 'commandstats'):match('_set:.-(rej[^\\r]+)')" 0
        a: EVAL "return redis.call('INFO', 'commandstats'):match('_eval:.-(rej[^\\r]+)')" 0
        a: CONFIG SET maxmemory 0
        a: SET k 5
    """,
    "transactions": """
        a: SET k 1
        a: MULTI
        a: SET k 2
        a: CONFIG SET maxmemory 1
        a: GET k
        a: EXEC
        a: GET k
        a: MULTI
        a: GET k
        a: DISCARD
        a: MULTI
        a: GET k
        a: EXEC
        b: MULTI
        a: CONFIG SET maxmemory 0
        b: SET k 3
        b: PING
        a: CONFIG SET maxmemory 1
        b: EXEC
        a: CONFIG SET maxmemory 0
        b: MULTI
        b: GET k
        a: CONFIG SET maxmemory 1
        b: EXEC
        b: MULTI
        b: QUIT
    """,
    "evicted": """
        a: CONFIG SET notify-keyspace-events Ee maxmemory-policy allkeys-lru
        s: PSUBSCRIBE *
        t: HELLO 3
        t: CLIENT TRACKING ON
        a: SET k 1
        t: GET k
        a: CONFIG SET maxmemory 1
        a: GET k
        a: SET k 1
        a: CONFIG SET maxmemory 0
        t: GET k
        a: CONFIG SET maxmemory-policy volatile-ttl
        a: SET k 1
        a: SET v 1 EX 100
        a: CONFIG SET maxmemory 1
        a: EXISTS k v
        a: SET k 2
        a: CONFIG SET maxmemory 0
        w: SET v 1 EX 100
        w: WATCH v
        w: MULTI
        w: PING
        a: CONFIG SET maxmemory 1
        w: EXEC
        a: CONFIG SET maxmemory 0
        a: CONFIG SET maxmemory-policy allkeys-random
        a: MSET k 1
        a: SELECT 2
        a: SET k2 1
        a: CONFIG SET maxmemory 1
        a: DBSIZE
        a: CONFIG SET maxmemory 0
    """,
    "paused": """
        a: CONFIG SET maxmemory-policy allkeys-lru
        a: SET k 1
        a: CLIENT PAUSE 100000 WRITE
        a: CONFIG SET maxmemory 1
        a: EXISTS k
        a: CLIENT UNPAUSE
        a: EXISTS k
    """,
}


@pytest.fixture
def side(real_side: RealSide) -> Iterator[RealSide]:
    yield real_side
    for command in (
        b"CONFIG SET maxmemory 0 maxmemory-policy noeviction notify-keyspace-events ''",
        b"FLUSHALL",
    ):
        real_side.control.sendall(command + b"\r\n")
        assert real_side.control.recv(100) == b"+OK\r\n"


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(side: RealSide, name: str) -> None:
    side.control.sendall(b"FLUSHALL\r\n")
    assert side.control.recv(100) == b"+OK\r\n"
    side.control.sendall(b"CONFIG RESETSTAT\r\n")
    assert side.control.recv(100) == b"+OK\r\n"
    run(side, SCRIPTS[name])
