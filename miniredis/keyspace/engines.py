"""The expiry of different versions of Redis, by the version with which it began.

Commands, their texts and INFO are those of 7.0 throughout. ``docs/engines.md`` compares
them; what an engine is stands in ``keyspace/engine.py``.
"""

from __future__ import annotations

from miniredis.keyspace.db62 import RedisDb62
from miniredis.keyspace.db72 import RedisDb72, RedisDb74, RedisDb82, ValkeyDb
from miniredis.keyspace.db_old import RedisDb24, RedisDb28, RedisDb30, RedisDb32, RedisDb50
from miniredis.keyspace.engine import ENGINE_70, Engine
from miniredis.keyspace.expire import ActiveExpireCycle
from miniredis.keyspace.expire_random import (
    RandomCycle24,
    RandomCycle26,
    RandomCycle32,
    RandomCycle40,
)
from miniredis.keyspace.expire_scan import KvstoreCycle74, KvstoreCycle82, ScanCycle72, ValkeyCycle9
from miniredis.keyspace.rehashing import rehash_main_dict, rehash_within_budget

ENGINES = {
    "2.4": Engine("2.4", RedisDb24, RandomCycle24, rehash_main_dict),
    "2.6": Engine("2.6.15 to 2.8", RedisDb28, RandomCycle26),
    "3.0": Engine("3.0", RedisDb30, RandomCycle26),
    "3.2": Engine("3.2 to 4.0.2", RedisDb32, RandomCycle32),
    "4.0": Engine("4.0.3 to 5.0", RedisDb50, RandomCycle40),
    "6.0": Engine("6.0 to 6.2", RedisDb62, ActiveExpireCycle),
    "7.0": ENGINE_70,
    "7.2": Engine("7.2", RedisDb72, ScanCycle72, ttl_clock_frozen=True),
    "7.4": Engine("7.4 to 8.0", RedisDb74, KvstoreCycle74, rehash_within_budget, True),
    "8.2": Engine("8.2", RedisDb82, KvstoreCycle82, rehash_within_budget, True),
    "valkey-9": Engine("Valkey 8.1 to 9", ValkeyDb, ValkeyCycle9, rehash_within_budget, True),
}
