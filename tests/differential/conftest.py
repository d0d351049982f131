"""The fixture of tests that run a simulated server in step with a frozen real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.pair import Pair
from tests.differential.sides import RealSide
from tests.real.frozen import FrozenServer
from tests.real.servers import RealServer


@pytest.fixture(scope="module")
def pair(frozen_server: FrozenServer) -> Iterator[Pair]:
    if frozen_server.version < (7, 0):
        pytest.skip("the texts and options compared here are those of Redis 7.0")
    pair = Pair(frozen_server)
    yield pair
    pair.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
    pair.real[0](b"CONFIG", b"SET", b"notify-keyspace-events", b"")
    for client in (*pair.real, pair.real_listener):
        client.close()


@pytest.fixture
def real_side(real_server: RealServer) -> Iterator[RealSide]:
    if real_server.version < (7, 0):
        pytest.skip("written for the wire of Redis 7.0")
    side = RealSide(real_server.port)
    yield side
    side.close()
