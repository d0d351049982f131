"""What the constructors and methods of the Python interface accept, and how they refuse."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import redis

import miniredis
from miniredis.clock import MAX_MS, MAX_US

Server, Redis = miniredis.Server, miniredis.Redis
VirtualClock, SkewedClock = miniredis.VirtualClock, miniredis.SkewedClock


def test_arguments_by_position_are_redis_pys() -> None:
    server = Server(requirepass="secret")
    r = Redis("ignored", 1, 3, "secret", server=server)
    r.set("k", "v")
    assert server.dbsize(3) == 1
    assert Redis(*["h", 1, 0, "secret"], decode_responses=True, server=server).ping()


def test_a_pool_may_be_given_by_position_too() -> None:
    first = Redis()
    first.set("k", "v")
    names = list(redis.Redis.__init__.__annotations__)
    position = names.index("connection_pool")
    nothing: list[Any] = ["h", 1, 0, None, None, None, None, None, None]
    second = Redis(*nothing[:position], first.connection_pool)
    assert second.server is first.server
    assert second.get("k") == b"v"


def test_a_url_may_say_everything_that_a_text_can() -> None:
    server = Server(requirepass="p w")
    r = Redis.from_url(
        "miniredis://:p%20w@ignored:1/2?decode_responses=yes&client_name=me&protocol=2"
        "&max_connections=3&single_connection_client=1&socket_timeout=1.5&encoding=latin-1",
        server=server,
    )
    r.set("k", "é")
    assert server.databases[2].dict.find(b"k").val.ptr == b"\xe9"  # type: ignore[union-attr]
    info = r.client_info()
    assert (info["name"], info["db"], info["resp"]) == ("me", 2, "2")
    assert r.connection is not None
    assert r.connection_pool.max_connections == 3


def test_only_connections_that_are_open_count_against_maxclients() -> None:
    server = Server(maxclients=2)
    first, second, third = server.client(), server.client(), server.client()
    assert first.ping() and second.ping()
    with pytest.raises(redis.ConnectionError, match=r"^max number of clients reached$"):
        third.ping()
    with pytest.raises(redis.ConnectionError, match="max number of clients reached"):
        third.pubsub().subscribe("x")
    assert server.stat_rejected_conn >= 2
    second.close()
    assert third.ping()


@pytest.mark.parametrize("setting", [{"db": 5}, {"password": "wrong"}, {"client_name": "a b"}])
def test_a_connection_that_cannot_be_set_up_is_never_used(setting: dict[str, Any]) -> None:
    server = Server(databases=2, requirepass="secret" if "password" in setting else "")
    r = server.client(**setting)
    for _ in range(2):
        with pytest.raises(redis.RedisError):
            r.set("k", "v")
    assert server.dbsize(0) == 0
    assert not server.clients


SERVER = Server()
OTHER_POOL = redis.ConnectionPool()

REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    # clients
    (lambda: Redis(nope=1), TypeError, "no argument 'nope'"),
    (lambda: Redis(decode_response=True), TypeError, "did you mean decode_responses"),
    (lambda: SERVER.client(nope=1), TypeError, "no argument 'nope'"),
    (lambda: Redis("h", host="h"), TypeError, "by position and by name"),
    (lambda: Redis(*range(200)), TypeError, "at most"),
    (lambda: Redis(server=Server), TypeError, r"must be a miniredis\.Server"),
    (lambda: Redis(connection_pool=5), TypeError, "must be a redis.ConnectionPool"),
    (lambda: Redis(connection_pool=OTHER_POOL), ValueError, "another miniredis client"),
    (
        lambda: Redis(server=Server(), connection_pool=SERVER.client().connection_pool),
        ValueError,
        "another server",
    ),
    (lambda: Redis(max_connections=-1), ValueError, "positive integer"),
    (lambda: Redis(protocol=4).ping(), redis.ConnectionError, "2 or 3"),
    (lambda: Redis().execute_command(), IndexError, "takes a command and its arguments"),
    (lambda: Redis(db=16).ping(), redis.ResponseError, "DB index is out of range"),
    # URLs
    (lambda: Redis.from_url("redis://localhost"), ValueError, "begins with miniredis://"),
    (lambda: Redis.from_url(5), TypeError, "a URL is a str"),  # type: ignore[arg-type]
    (lambda: Redis.from_url("miniredis:///²"), ValueError, "database number"),
    (lambda: Redis.from_url("miniredis:///-1"), ValueError, "database number"),
    (lambda: Redis.from_url("miniredis:///" + "9" * 5000), ValueError, "database number"),
    (lambda: Redis.from_url("miniredis:///?nope=1"), ValueError, "no option 'nope'"),
    (lambda: Redis.from_url("miniredis:///?server=1"), ValueError, "no option 'server'"),
    (lambda: Redis.from_url("miniredis:///?retry=1"), ValueError, "no option 'retry'"),
    (lambda: Redis.from_url("miniredis:///?db=x"), ValueError, "Invalid value for 'db'"),
    (lambda: Redis.from_url("miniredis:///?decode_responses=ja"), ValueError, "is one of 1, true"),
    (lambda: Redis.from_url("miniredis:///", nope=1), TypeError, "no argument 'nope'"),
    (
        lambda: Redis.from_url("miniredis:///5", server=Server(databases=2)).ping(),
        redis.ResponseError,
        "DB index is out of range",
    ),
    # clocks
    (lambda: VirtualClock(2**70), ValueError, f"beyond {MAX_MS} ms, got a larger number"),
    (lambda: VirtualClock(MAX_MS + 1), ValueError, f"beyond {MAX_MS} ms"),
    (lambda: VirtualClock(1.5), TypeError, "an int"),  # type: ignore[arg-type]
    (lambda: VirtualClock().advance_to(math.inf), TypeError, "an int"),  # type: ignore[arg-type]
    (lambda: VirtualClock().advance_to(math.nan), TypeError, "an int"),  # type: ignore[arg-type]
    (lambda: VirtualClock().advance_to(2e12), TypeError, "an int"),  # type: ignore[arg-type]
    (lambda: VirtualClock().advance_to(True), TypeError, "an int"),
    (lambda: VirtualClock().advance_to(MAX_MS + 1), ValueError, "beyond"),
    (lambda: VirtualClock().advance_to_us(2e15), TypeError, "an int"),  # type: ignore[arg-type]
    (lambda: VirtualClock().advance_to_us(MAX_US + 1), ValueError, "beyond"),
    (lambda: VirtualClock().advance(1e300), ValueError, "time ends at"),
    (lambda: VirtualClock().advance("1"), TypeError, "a number of mill"),  # type: ignore[arg-type]
    (lambda: VirtualClock().sleep("1"), TypeError, "a number of seconds"),  # type: ignore[arg-type]
    (lambda: VirtualClock().sleep(math.nan), ValueError, "a finite number of seconds"),
    (lambda: VirtualClock().sleep(1e300), ValueError, "time ends at"),
    (lambda: miniredis.SystemClock().sleep(None), TypeError, "seconds"),  # type: ignore[arg-type]
    (lambda: SkewedClock(None, 5), TypeError, "needs another clock"),  # type: ignore[arg-type]
    (lambda: SkewedClock(VirtualClock(), "5"), TypeError, "a number"),  # type: ignore[arg-type]
    (lambda: SkewedClock(VirtualClock(), math.nan), ValueError, "must lie within"),
    (lambda: copy.copy(VirtualClock()), TypeError, "cannot be copied"),
    # servers
    (lambda: Server(clock=5), TypeError, "a SystemClock or VirtualClock"),  # type: ignore[arg-type]
    (lambda: Server(cost=5), TypeError, "a miniredis.CostModel"),  # type: ignore[arg-type]
    (lambda: Server(hash_function=5), TypeError, "a function of bytes"),  # type: ignore[arg-type]
    (lambda: Server(stale_gate="dead"), TypeError, "StaleGate.DEAD"),  # type: ignore[arg-type]
    (lambda: Server(record_history="no"), TypeError, "must be a bool"),  # type: ignore[arg-type]
    (lambda: Server(seed=1.0), TypeError, "an int or None"),  # type: ignore[arg-type]
    (lambda: Server(expire_engine="1"), ValueError, "expire_engine must be one of"),
    (lambda: Server(probe=5), TypeError, "a miniredis.Probe"),  # type: ignore[arg-type]
    (lambda: SERVER.dbsize("x"), TypeError, "a database is an int"),  # type: ignore[arg-type]
    (lambda: SERVER.dbsize(True), TypeError, "a database is an int"),
    (lambda: SERVER.dbsize(16), ValueError, "does not exist"),
    (lambda: SERVER.info("server"), TypeError, r"a list of sections such as \['server'\]"),
    (lambda: SERVER.info(b"server"), TypeError, "a list of sections"),  # type: ignore[arg-type]
    (lambda: SERVER.info([5]), TypeError, "bytes or str, not 5"),  # type: ignore[list-item]
    (lambda: SERVER.add_sink(5), TypeError, "a sink is a function"),  # type: ignore[arg-type]
    (lambda: copy.copy(SERVER), TypeError, "cannot be copied"),
    (lambda: copy.deepcopy(SERVER), TypeError, "cannot be copied"),
    (lambda: pickle.dumps(SERVER), TypeError, "cannot be copied or pickled"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED, ids=[text for _, _, text in REFUSED])
def test_bad_arguments_are_refused_in_words(
    call: Callable[[], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("name", ["cache", "cache_config"])
def test_client_side_caching_is_refused(name: str) -> None:
    if name not in redis.Redis.__init__.__annotations__:
        pytest.skip("this redis-py knows no client-side caching")
    with pytest.raises(ValueError, match="not simulated"):
        Redis(**{name: object()})


def test_sections_of_info_may_be_bytes_or_text() -> None:
    assert (
        SERVER.info(["cluster"])
        == SERVER.info([b"cluster"])
        == (b"# Cluster\r\ncluster_enabled:0\r\n")
    )
