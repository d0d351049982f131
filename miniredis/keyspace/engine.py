"""What an engine of expiry is, and the default one.

An engine is everything that decides which keys a server deletes, in which order and
when: an active expire cycle; a database, whose look-ups decide the steps of rehashes;
its dict; what the cron rehashes; the clock of TTLs. ``Server(expire_engine="6.0")``
chooses one. The others are in ``keyspace/engines.py``, which is imported when one of them
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from miniredis.keyspace.db import KeyspaceServer, RedisDb
from miniredis.keyspace.expire import ActiveExpireCycle, ExpireEngine, ExpireServer, StaleGate
from miniredis.keyspace.rehashing import RehashServer, rehash_one_table

DEFAULT_ENGINE = "7.0"


@dataclass(frozen=True, slots=True)
class Engine:
    """What a server of one version is made of, as far as expiry goes."""

    versions: str  # those that it describes
    database: Callable[[int, KeyspaceServer], RedisDb]
    cycle: Callable[[ExpireServer, StaleGate], ExpireEngine]
    rehash_databases: Callable[[RehashServer], None] = rehash_one_table
    ttl_clock_frozen: bool = False  # during a command TTL sees the clock of look-ups


ENGINE_70 = Engine("7.0", RedisDb, ActiveExpireCycle)


def find_engine(name: str | Engine) -> Engine:
    """The engine of that name; ``ValueError`` names those that there are.

    An :class:`Engine` is taken as it is, for experiments that need one of their own.
    """
    if isinstance(name, Engine):
        return name
    if name == DEFAULT_ENGINE:
        return ENGINE_70
    engines: dict[str, Engine] = import_module("miniredis.keyspace.engines").ENGINES
    if name not in engines:
        raise ValueError(f"expire_engine must be one of {', '.join(engines)}, not {name!r}")
    return engines[name]
