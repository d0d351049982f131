"""INFO memory: an estimate from counts and a sample of the keys.

What Redis calls overhead (entries, buckets and object headers of the key tables) is
computed as Redis computes it, from the number of keys and buckets. Of the data the keys of
some hundred buckets a database are measured and taken for the rest, since looking at every
value would make INFO slow; up to so many buckets it is all. While ``maxmemory`` is set every
key is measured, as it has to be then (``memory_account.py``). Python's own memory is another
matter altogether: this is what the same data would take in redis-server.

The allocator is assumed to be perfect: what is used is what the process occupies. Memory
of interpreters for scripts is what an idle redis-server 7.0.15 shows.

Redis: ``getMemoryOverheadData()`` in object.c, ``bytesToHuman()`` in server.c.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.keyspace.memory_usage import SIZEOF_DICT_ENTRY, SIZEOF_POINTER, SIZEOF_ROBJ
from miniredis.reply import Reply
from miniredis.server.evict import USED_MEMORY_STARTUP
from miniredis.server.memory_account import estimated_bytes

if TYPE_CHECKING:
    from miniredis.keyspace.db import RedisDb
    from miniredis.server.script import Scripting
    from miniredis.server.server import Server

# Bytes on a 64-bit machine.
MEMORY_LUA = 32_768
MEMORY_FUNCTIONS = 33_792
FUNCTIONS_CACHES = 200
_UNITS = "KMGTP"


EMPTY_BYTES = 5 * 1024 * 1024  # below this MEMORY DOCTOR says nothing
BIG_PEAK = 1.5  # times what is used now
MANY_SCRIPTS = 1000  # in the cache


@dataclass(slots=True)
class MemoryOverhead:
    """Where the memory goes, in bytes. server.h: struct redisMemOverhead"""

    used: int
    peak: int
    overhead: int
    tables: dict[int, tuple[int, int]]  # of each database with keys: main table, expires
    keys: int

    @property
    def dataset(self) -> int:
        """Bytes of keys and values."""
        return self.used - self.overhead

    @property
    def net_usage(self) -> int:
        """Bytes that an empty server does not use."""
        return max(self.used - USED_MEMORY_STARTUP, 1)


def get_memory_overhead_data(s: Server) -> MemoryOverhead:
    """Sum up. Notes the peak. O(databases). object.c: getMemoryOverheadData()"""
    tables = {db.id: _tables(db) for db in s.databases if len(db.dict)}
    keys = sum(len(db.dict) for db in s.databases)
    overhead = USED_MEMORY_STARTUP + sum(map(sum, tables.values()))
    if s.eviction.maxmemory:
        used = s.eviction.used_memory()
    else:
        used = USED_MEMORY_STARTUP + sum(estimated_bytes(db) for db in s.databases)
    peak = s.stat_peak_memory = max(s.stat_peak_memory, used)
    return MemoryOverhead(used, peak, overhead, tables, keys)


def _tables(db: RedisDb) -> tuple[int, int]:
    """Bytes of the tables of a database: entries, buckets, and the headers of the values."""
    main = len(db.dict) * (SIZEOF_DICT_ENTRY + SIZEOF_ROBJ) + db.dict.slots() * SIZEOF_POINTER
    expires = len(db.expires) * SIZEOF_DICT_ENTRY + db.expires.slots() * SIZEOF_POINTER
    return main, expires


def memory_stats(s: Server) -> dict[bytes, Reply]:
    """The reply of MEMORY STATS. object.c: memoryCommand()"""
    m = get_memory_overhead_data(s)
    stats: dict[bytes, Reply] = {
        b"peak.allocated": m.peak,
        b"total.allocated": m.used,
        b"startup.allocated": USED_MEMORY_STARTUP,
        b"replication.backlog": 0,
        b"clients.slaves": 0,
        b"clients.normal": 0,
        b"cluster.links": 0,
        b"aof.buffer": 0,
        b"lua.caches": 0,
        b"functions.caches": FUNCTIONS_CACHES,
    }
    for id, (main, expires) in m.tables.items():
        stats[b"db.%d" % id] = {
            b"overhead.hashtable.main": main,
            b"overhead.hashtable.expires": expires,
            b"overhead.hashtable.slot-to-keys": 0,
        }
    stats |= {
        b"overhead.total": m.overhead,
        b"keys.count": m.keys,
        b"keys.bytes-per-key": m.net_usage // m.keys if m.keys else 0,
        b"dataset.bytes": m.dataset,
        b"dataset.percentage": m.dataset * 100 / m.net_usage,
        b"peak.percentage": m.used * 100 / m.peak,
    }
    for name in (b"allocated", b"active", b"resident"):
        stats[b"allocator." + name] = m.used
    for name in (b"allocator-fragmentation", b"allocator-rss", b"rss-overhead"):
        stats[name + b".ratio"] = 1.0
        stats[name + b".bytes"] = 0
    return stats | {b"fragmentation": 1.0, b"fragmentation.bytes": 0}


def memory_report(s: Server) -> bytes:
    """The text of MEMORY DOCTOR, in our own words. object.c: getMemoryDoctorReport()

    What Redis also looks for can't happen here: fragmentation, large buffers.
    """
    m = get_memory_overhead_data(s)
    if m.used < EMPTY_BYTES:
        return b"Hardly any memory is used: there is nothing to examine yet.\n"
    found = []
    if m.peak / m.used > BIG_PEAK:
        found.append(b" * Peak memory: once more than 150 % of today's memory was in use.\n")
    if len(s.scripting.scripts) > MANY_SCRIPTS:
        found.append(b" * Many scripts: more than 1000 are cached. Give them arguments.\n")
    if not found:
        return b"The memory of this server looks healthy.\n"
    return b"The memory of this server shows:\n\n" + b"".join(found)


def info_memory(s: Server) -> Mapping[str, object]:
    """The fields of the section Memory. Notes the peak."""
    m = get_memory_overhead_data(s)
    used, peak, overhead = m.used, m.peak, m.overhead
    return {
        "used_memory": used,
        "used_memory_human": bytes_to_human(used),
        "used_memory_rss": used,
        "used_memory_rss_human": bytes_to_human(used),
        "used_memory_peak": peak,
        "used_memory_peak_human": bytes_to_human(peak),
        "used_memory_peak_perc": f"{used / peak * 100:.2f}%",
        "used_memory_overhead": overhead,
        "used_memory_startup": USED_MEMORY_STARTUP,
        "used_memory_dataset": m.dataset,
        "used_memory_dataset_perc": f"{m.dataset / m.net_usage * 100:.2f}%",
        "allocator_allocated": used,
        "allocator_active": used,
        "allocator_resident": used,
        "total_system_memory": _total_system_memory(),
        "total_system_memory_human": bytes_to_human(_total_system_memory()),
        **_scripting(s.scripting),
        "maxmemory": s.config.maxmemory,
        "maxmemory_human": bytes_to_human(s.config.maxmemory),
        "maxmemory_policy": s.config.maxmemory_policy,
        **_allocator(),
        "mem_not_counted_for_evict": 0,
        "mem_replication_backlog": 0,
        "mem_total_replication_buffers": 0,
        "mem_clients_slaves": 0,
        "mem_clients_normal": 0,
        "mem_cluster_links": 0,
        "mem_aof_buffer": 0,
        "mem_allocator": "jemalloc-5.3.0",
        "active_defrag_running": 0,
        "lazyfree_pending_objects": 0,
        "lazyfreed_objects": s.stat_lazyfreed_objects,
    }


def _scripting(scripting: Scripting) -> dict[str, object]:
    total = MEMORY_LUA + MEMORY_FUNCTIONS
    return {
        "used_memory_lua": MEMORY_LUA,
        "used_memory_vm_eval": MEMORY_LUA,
        "used_memory_lua_human": bytes_to_human(MEMORY_LUA),
        "used_memory_scripts_eval": 0,
        "number_of_cached_scripts": len(scripting.scripts),
        "number_of_functions": len(scripting.functions.functions),
        "number_of_libraries": len(scripting.functions.libraries),
        "used_memory_vm_functions": MEMORY_FUNCTIONS,
        "used_memory_vm_total": total,
        "used_memory_vm_total_human": bytes_to_human(total),
        "used_memory_functions": FUNCTIONS_CACHES,
        "used_memory_scripts": FUNCTIONS_CACHES,
        "used_memory_scripts_human": bytes_to_human(FUNCTIONS_CACHES),
    }


def _allocator() -> dict[str, object]:
    names = ["allocator_frag", "allocator_rss", "rss_overhead", "mem_fragmentation"]
    fields: dict[str, object] = {}
    for name in names:
        fields[f"{name}_ratio"] = "1.00"
        fields[f"{name}_bytes"] = 0
    return fields


def _total_system_memory() -> int:
    """Bytes of the machine's memory, 0 where it can't be asked."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


def bytes_to_human(n: int) -> str:
    """*n* bytes with a unit, ``967.35K``; below 1 K without decimals. server.c: bytesToHuman()"""
    if n < 1024:
        return f"{n}B"
    for power, unit in enumerate(_UNITS, 1):
        if n < 1024 ** (power + 1):
            return f"{n / 1024**power:.2f}{unit}"
    return f"{n}B"
