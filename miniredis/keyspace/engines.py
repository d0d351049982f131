"""The expiry of different versions of Redis, by the version with which it began.

An engine is a way of looking keys up, which decides the steps of rehashes, and an active
expire cycle. ``Server(expire_engine="6.0")`` chooses one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from miniredis.keyspace.db import KeyspaceServer, RedisDb
from miniredis.keyspace.db62 import RedisDb62
from miniredis.keyspace.expire import ActiveExpireCycle, ExpireEngine, ExpireServer, StaleGate


@dataclass(frozen=True, slots=True)
class Engine:
    """What a server of one version is made of, as far as expiry goes."""

    database: Callable[[int, KeyspaceServer], RedisDb]
    cycle: Callable[[ExpireServer, StaleGate], ExpireEngine]


ENGINES = {
    "6.0": Engine(RedisDb62, ActiveExpireCycle),  # walks buckets; until 6.2
    "7.0": Engine(RedisDb, ActiveExpireCycle),  # the same cycle; look-ups ask the main dict first
}
DEFAULT_ENGINE = "7.0"


def find_engine(name: str | Engine) -> Engine:
    """The engine of that name; ``ValueError`` names those that there are.

    An :class:`Engine` is taken as it is, for experiments that need one of their own.
    """
    if isinstance(name, Engine):
        return name
    if name not in ENGINES:
        raise ValueError(f"expire_engine must be one of {', '.join(ENGINES)}, not {name!r}")
    return ENGINES[name]
