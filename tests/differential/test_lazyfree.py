"""What UNLINK and FLUSHALL ASYNC leave to a thread in Redis: lazyfreed_objects of INFO."""

from __future__ import annotations

import pytest
import redis

import miniredis
from tests.real.servers import RealServer, version_of


def lazyfreed(r: redis.Redis) -> int:
    info = r.info("memory")
    while info["lazyfree_pending_objects"]:
        info = r.info("memory")
    freed: int = info["lazyfreed_objects"]
    return freed


def story(r: redis.Redis) -> list[int]:
    """The count after each step."""
    seen = []
    r.config_set("stream-node-max-entries", 5)
    r.config_set("list-max-listpack-size", 2)
    for how in ("UNLINK", "DEL", "DEL lazily"):
        r.config_set("lazyfree-lazy-user-del", "yes" if how == "DEL lazily" else "no")
        for size in (64, 65):
            r.sadd("set", *(f"m{i}" for i in range(size)))
            r.sadd("ints", *range(size))
            r.zadd("zset", {f"m{i}": i for i in range(size)})
            r.hset("hash", mapping={f"f{i}": "v" * 65 for i in range(size)})
            r.hset("listpack", mapping={f"f{i}": i for i in range(size)})
            r.rpush("list", *range(2 * size))
            r.set("string", "v" * 100_000)
            for i in range(1, 5 * size):
                r.xadd("stream", {"f": i}, id=f"{i}-1")
            r.xgroup_create("stream", "g", id="0")
            r.xreadgroup("g", "c", {"stream": ">"}, count=60)
            for i in range(1, 100):
                r.xadd("small stream", {"f": i}, id=f"{i}-1")
            r.xgroup_create("small stream", "g", id="0")
            r.zadd("small zset", {f"m{i}": i for i in range(64)})
            for key in sorted(r.keys()):
                r.execute_command(how.split()[0], key)
                seen.append(lazyfreed(r))
    r.mset({f"k{i}": i for i in range(10)})
    for command in ("FLUSHDB SYNC", "FLUSHDB ASYNC", "FLUSHALL", "FLUSHALL ASYNC"):
        r.mset({"a": 1, "b": 2})
        r.execute_command(command)
        seen.append(lazyfreed(r))
    r.config_set("lazyfree-lazy-user-flush", "yes")
    r.set("a", 1)
    r.flushall()
    seen.append(lazyfreed(r))
    r.config_resetstat()
    return [*seen, lazyfreed(r)]


def test_the_same_as_on_a_real_server(real_binary: str) -> None:
    if version_of(real_binary) < (7, 0):
        pytest.skip("needs redis-server 7.0")
    real = RealServer(real_binary)
    try:
        with real.client() as theirs:
            ours = story(miniredis.Server(seed=1).client())
            assert ours == story(theirs)
            assert ours[-2] > 10 and ours[-1] == 0
    finally:
        real.stop()
