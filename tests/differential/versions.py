"""Starting a frozen server of a given version, or skipping with the reason."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conftest import START_MS, missing
from tests.real.frozen import FrozenServer
from tests.real.versions import DOWNLOADS, find_version, how_to_get

ALWAYS_THERE = {"6.2", "7.0"}


@contextmanager
def frozen_version(version: str, paths: pytest.TempPathFactory) -> Iterator[FrozenServer]:
    """A frozen server. A version that CI can have but has not is a failure there."""
    if version not in ALWAYS_THERE and platform.machine() != "x86_64":
        pytest.skip("servers of other versions are to be had for x86-64 only")
    binary = find_version(version)
    if binary is None:
        if os.environ.get("CI") and version not in DOWNLOADS | ALWAYS_THERE:
            pytest.skip(how_to_get(version))
        missing(how_to_get(version))
    assert binary is not None
    try:
        server = FrozenServer(binary, paths.mktemp("frozen"), START_MS)
    except RuntimeError as error:
        missing(str(error))
    yield server
    server.stop()
