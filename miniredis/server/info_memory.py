"""INFO memory: an estimate from counts, as good as it can be without looking at keys.

What Redis calls overhead (entries, buckets and object headers of the key tables) is
computed as Redis computes it, from the number of keys and buckets. The data is taken
as so many bytes a key, since looking at every value would make INFO slow; long keys and
values therefore use more than shown. Python's own memory is another matter altogether:
this is what the same data would take in redis-server.

The allocator is assumed to be perfect: what is used is what the process occupies. Memory
of interpreters for scripts is what an idle redis-server 7.0.15 shows.

Redis: ``getMemoryOverheadData()`` in object.c, ``bytesToHuman()`` in server.c.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miniredis.server.script import Scripting
    from miniredis.server.server import Server

# Bytes on a 64-bit machine.
USED_MEMORY_STARTUP = 876_288  # an empty redis-server 7.0.15 with jemalloc
SIZEOF_DICT_ENTRY = 24
SIZEOF_POINTER = 8
SIZEOF_ROBJ = 16
# A key of some 10 characters, and a string of some 20 beyond its object header: measured
# 43 bytes with keys key:0 ... key:99999 and values value:0 ... value:99999.
KEY_AND_VALUE = 40
MEMORY_LUA = 32_768
MEMORY_FUNCTIONS = 33_792
FUNCTIONS_CACHES = 200
_UNITS = "KMGTP"


def info_memory(s: Server) -> Mapping[str, object]:
    """The fields of the section Memory. Notes the peak."""
    overhead = USED_MEMORY_STARTUP + _tables(s)
    used = overhead + sum(len(db.dict) for db in s.databases) * KEY_AND_VALUE
    peak = s.stat_peak_memory = max(s.stat_peak_memory, used)
    dataset = used - overhead
    net_usage = max(used - USED_MEMORY_STARTUP, 1)
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
        "used_memory_dataset": dataset,
        "used_memory_dataset_perc": f"{dataset / net_usage * 100:.2f}%",
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
        "lazyfreed_objects": 0,
    }


def _tables(s: Server) -> int:
    """Bytes of the key tables: entries, buckets, and the headers of the values."""
    total = 0
    for db in s.databases:
        total += len(db.dict) * (SIZEOF_DICT_ENTRY + SIZEOF_ROBJ)
        total += len(db.expires) * SIZEOF_DICT_ENTRY
        total += (db.dict.slots() + db.expires.slots()) * SIZEOF_POINTER
    return total


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
