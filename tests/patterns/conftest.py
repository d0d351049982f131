"""The targets that every pattern is tested on.

``target`` is, in turn: the simulator in virtual time, the simulator under the system clock,
and a real server whose clock is frozen and moved by the test; each with ``decode_responses``
on and off. ``timed`` leaves out the one where waiting would take real time.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import redis
from redis.cluster import RedisCluster

import miniredis
from miniredis.clock import SystemClock
from tests.conftest import missing
from tests.real.frozen import FrozenServer
from tests.real.servers import RealServer, free_port, version_of

NODES = 3
CLUSTER_TIMEOUT_S = 60
US = 1_000_000


@dataclass
class Target:
    """A server to test on: ``conn`` is a client, ``new_client()`` makes another."""

    name: str
    decode: bool
    clock: Any  # .time(), .sleep(), true time
    new_client: Callable[[], Any]
    conn: Any = None

    def __post_init__(self) -> None:
        self.conn = self.new_client()


class FrozenClock:
    """The clock of a frozen real server, as patterns see it."""

    def __init__(self, server: FrozenServer) -> None:
        self.server = server

    def time(self) -> float:
        return self.server.us / US

    def sleep(self, seconds: float) -> None:
        self.server.advance_us(round(seconds * US))


class Ahead:
    """A clock that is *seconds* ahead of another."""

    def __init__(self, base: Any, seconds: float) -> None:
        self.base, self.seconds = base, seconds

    def time(self) -> float:
        return float(self.base.time()) + self.seconds

    def sleep(self, seconds: float) -> None:
        self.base.sleep(seconds)


# redis.conf's, on which the memory that a pattern takes depends.
ENCODINGS = {
    "hash-max-listpack-entries": 512,
    "hash-max-listpack-value": 64,
    "list-max-listpack-size": -2,
    "set-max-intset-entries": 512,
    "zset-max-listpack-entries": 128,
    "zset-max-listpack-value": 64,
}
KINDS = ("virtual", "system", "real")
TARGETS = [(kind, decode) for kind in KINDS for decode in (False, True)]
TIMED = [t for t in TARGETS if t[0] != "system"]


def name_of(param: tuple[str, bool]) -> str:
    return f"{param[0]}-{'str' if param[1] else 'bytes'}"


def make_target(request: pytest.FixtureRequest) -> Target:
    kind, decode = request.param
    name = name_of(request.param)
    if kind == "real":
        frozen: FrozenServer = request.getfixturevalue("frozen_server")
        frozen.client().flushall()
        frozen.client().script_flush()
        for name, value in ENCODINGS.items():  # tests of other things change them
            frozen.client().config_set(name, value)
        return Target(
            name, decode, FrozenClock(frozen), lambda: frozen.client(decode_responses=decode)
        )
    clock = miniredis.VirtualClock() if kind == "virtual" else SystemClock()
    server = miniredis.Server(clock, seed=7)
    return Target(name, decode, clock, lambda: server.client(decode_responses=decode))


@pytest.fixture(params=TARGETS, ids=name_of)
def target(request: pytest.FixtureRequest) -> Target:
    """Every target. Do not sleep on it: under the system clock that would take real time."""
    return make_target(request)


@pytest.fixture(params=TIMED, ids=name_of)
def timed(request: pytest.FixtureRequest) -> Target:
    """The targets on which ``clock.sleep`` takes no time: virtual, and real but frozen."""
    return make_target(request)


@pytest.fixture(params=(False, True), ids=("bytes", "str"))
def real_time(request: pytest.FixtureRequest, real_server: RealServer) -> Target:
    """A real server in real time, for tests marked ``slow``."""
    decode = request.param
    return Target(
        "real time", decode, SystemClock(), lambda: real_server.client(decode_responses=decode)
    )


@pytest.fixture
def conn(target: Target) -> redis.Redis:
    return target.conn  # type: ignore[no-any-return]


@pytest.fixture
def clock(target: Target) -> Any:
    return target.clock


@pytest.fixture(scope="session")
def cluster_port(real_binary: str) -> Iterator[int]:
    """A port of a real Redis Cluster of three nodes on loopback."""
    if version_of(real_binary) < (7, 0):
        missing("a cluster of redis-server 7.0 is needed")
    cli = shutil.which("redis-cli")
    if cli is None:
        missing("no redis-cli found: install Debian's package redis-tools")
    assert cli is not None
    options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"]
    nodes = []
    try:
        for _ in range(NODES):
            bus = ["--cluster-port", str(free_port())]
            nodes.append(RealServer(real_binary, options=[*options, *bus]))
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        subprocess.run(
            [cli, "--cluster", "create", *addresses, "--cluster-replicas", "0", "--cluster-yes"],
            check=True, capture_output=True, timeout=CLUSTER_TIMEOUT_S,
        )  # fmt: skip
        wait_for_cluster(nodes)
        yield nodes[0].port
    finally:
        for node in nodes:
            node.stop()


def wait_for_cluster(nodes: list[RealServer]) -> None:
    """Until every node says that all slots are served."""
    deadline = time.monotonic() + CLUSTER_TIMEOUT_S
    for node in nodes:
        while node.client().cluster("INFO")["cluster_state"] != "ok":
            if time.monotonic() > deadline:
                raise RuntimeError("the cluster does not come up")
            time.sleep(0.05)


@pytest.fixture(params=(False, True), ids=("bytes", "str"))
def cluster(request: pytest.FixtureRequest, cluster_port: int) -> Iterator[RedisCluster]:
    """A client of an empty three-node cluster, for the patterns that say they are safe there."""
    with RedisCluster(
        host="127.0.0.1", port=cluster_port, decode_responses=request.param
    ) as client:
        client.flushall(target_nodes=RedisCluster.PRIMARIES)
        yield client
