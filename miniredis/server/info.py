"""INFO: the server's state in sections of ``field:value`` lines.

Every field of 7.0.15 is there, in its order. What this server has is told truthfully. The
rule for the rest: a field about something that a simulator does not have (disks, forks,
an allocator, the compiler) shows what an idle redis-server 7.0.15 on Linux shows. Of
memory only an estimate is given, see ``info_memory.py``.

Redis: ``genRedisInfoString()`` in server.c.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from miniredis.commands.args import word
from miniredis.commands.table import commands_in_use
from miniredis.server.config_special import format_percentile
from miniredis.server.info_memory import info_memory
from miniredis.server.info_replication import info_replication
from miniredis.structs.float32 import float32, float32_ratio
from miniredis.structs.hdr_histogram import value_at_percentile

if TYPE_CHECKING:
    from miniredis.server.server import Server

resource: ModuleType | None
try:
    import resource
except ImportError:  # only Unix has it
    resource = None

REDIS_VERSION = "7.0.15"
SECONDS_PER_DAY = 86_400
US_PER_SECOND = 1_000_000
KILOBYTE = 1024
# INFO's format would break on these in an error code. server.c: unsafe_info_chars
_UNSAFE = str.maketrans("#:\n\r", "____")

Fields = Mapping[str, object]


def gen_redis_info_string(server: Server, sections: Sequence[bytes]) -> bytes:
    """The text of INFO for *sections*, in any case; none for the default ones.

    ``default``, ``all`` and ``everything`` stand for several; unknown names for nothing.
    Costs O(1) in keys, so it may be asked at any time.

    server.c: genInfoSectionDict(), genRedisInfoString()
    """
    asked = {word(name).decode("latin-1") for name in sections} or {"default"}
    if "default" in asked:
        asked |= _DEFAULT
    everything = not asked.isdisjoint({"all", "everything"})
    parts = []
    for name, generate in _SECTIONS.items():
        # module_list is the name that the default set has for the section modules.
        if everything or name in asked or (name == "modules" and "module_list" in asked):
            lines = [f"# {name.capitalize() if name != 'cpu' else 'CPU'}"]
            lines += [f"{field}:{value}" for field, value in generate(server).items()]
            parts.append("".join(line + "\r\n" for line in lines))
    return "\r\n".join(parts).encode("utf-8", "surrogateescape")


def _server(s: Server) -> Fields:
    uptime = s.us // US_PER_SECOND - s.start_us // US_PER_SECOND
    return {
        "redis_version": REDIS_VERSION,
        "redis_git_sha1": "00000000",
        "redis_git_dirty": 0,
        "redis_build_id": "0" * 16,
        "redis_mode": "standalone",
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "arch_bits": 64,
        "monotonic_clock": "POSIX clock_gettime",
        "multiplexing_api": "epoll",
        "atomicvar_api": "c11-builtin",
        "gcc_version": "12.2.0",
        "process_id": os.getpid(),
        "process_supervised": "no",
        "run_id": s.run_id,
        "tcp_port": s.config.port,
        "server_time_usec": s.us,
        "uptime_in_seconds": uptime,
        "uptime_in_days": uptime // SECONDS_PER_DAY,
        "hz": s.hz,
        "configured_hz": s.config.hz,
        "lru_clock": s.lruclock,
        "executable": sys.executable,
        "config_file": "",
        "io_threads_active": 0,
    }


def _clients(s: Server) -> Fields:
    return {
        "connected_clients": len(s.clients) - len(s.repl.slaves),
        "cluster_connections": 0,
        "maxclients": s.config.maxclients,
        "client_recent_max_input_buffer": 0,
        "client_recent_max_output_buffer": 0,
        "blocked_clients": s.blocked_clients,
        "tracking_clients": 0,
        "clients_in_timeout_table": s.blocking.clients_in_timeout_table(),
    }


def _persistence(s: Server) -> Fields:
    return {
        "loading": int(s.loading),
        "async_loading": 0,
        "current_cow_peak": 0,
        "current_cow_size": 0,
        "current_cow_size_age": 0,
        "current_fork_perc": "0.00",
        "current_save_keys_processed": 0,
        "current_save_keys_total": 0,
        "rdb_changes_since_last_save": s.dirty,
        "rdb_bgsave_in_progress": 0,
        "rdb_last_save_time": s.lastsave,
        "rdb_last_bgsave_status": "ok",
        "rdb_last_bgsave_time_sec": -1,
        "rdb_current_bgsave_time_sec": -1,
        "rdb_saves": 0,
        "rdb_last_cow_size": 0,
        "rdb_last_load_keys_expired": s.rdb_last_load_keys_expired,
        "rdb_last_load_keys_loaded": s.rdb_last_load_keys_loaded,
        "aof_enabled": 0,
        "aof_rewrite_in_progress": 0,
        "aof_rewrite_scheduled": 0,
        "aof_last_rewrite_time_sec": -1,
        "aof_current_rewrite_time_sec": -1,
        "aof_last_bgrewrite_status": "ok",
        "aof_rewrites": 0,
        "aof_rewrites_consecutive_failures": 0,
        "aof_last_write_status": "ok",
        "aof_last_cow_size": 0,
        "module_fork_in_progress": 0,
        "module_fork_last_cow_size": 0,
    }


def _stats(s: Server) -> Fields:
    return {
        "total_connections_received": s.stat_numconnections,
        "total_commands_processed": s.stat_numcommands,
        "instantaneous_ops_per_sec": s.command_metric.per_second(),
        "total_net_input_bytes": s.stat_net_input_bytes,
        "total_net_output_bytes": s.stat_net_output_bytes,
        "total_net_repl_input_bytes": s.stat_net_repl_input_bytes,
        "total_net_repl_output_bytes": s.stat_net_repl_output_bytes,
        "instantaneous_input_kbps": _kbps(s.net_input_metric.per_second()),
        "instantaneous_output_kbps": _kbps(s.net_output_metric.per_second()),
        "instantaneous_input_repl_kbps": "0.00",
        "instantaneous_output_repl_kbps": "0.00",
        "rejected_connections": s.stat_rejected_conn,
        "sync_full": s.stat_sync_full,
        "sync_partial_ok": s.stat_sync_partial_ok,
        "sync_partial_err": s.stat_sync_partial_err,
        "expired_keys": s.stat_expiredkeys,
        "expired_stale_perc": f"{s.stat_expired_stale_perc * 100:.2f}",
        "expired_time_cap_reached_count": s.stat_expired_time_cap_reached_count,
        "expire_cycle_cpu_milliseconds": s.stat_expire_cycle_time_used // 1000,
        "evicted_keys": s.stat_evictedkeys,
        "evicted_clients": 0,
        "total_eviction_exceeded_time": 0,
        "current_eviction_exceeded_time": 0,
        "keyspace_hits": s.stat_keyspace_hits,
        "keyspace_misses": s.stat_keyspace_misses,
        "pubsub_channels": len(s.pubsub_channels),
        "pubsub_patterns": len(s.pubsub_patterns),
        "pubsubshard_channels": len(s.pubsub_shard_channels),
        "latest_fork_usec": 0,
        "total_forks": 0,
        "migrate_cached_sockets": 0,
        "slave_expires_tracked_keys": len(s.slave_keys_with_expire),
        "active_defrag_hits": 0,
        "active_defrag_misses": 0,
        "active_defrag_key_hits": 0,
        "active_defrag_key_misses": 0,
        "total_active_defrag_time": 0,
        "current_active_defrag_time": 0,
        "tracking_total_keys": 0,
        "tracking_total_items": 0,
        "tracking_total_prefixes": 0,
        "unexpected_error_replies": s.stat_unexpected_error_replies,
        "total_error_replies": s.stat_total_error_replies,
        "dump_payload_sanitizations": 0,
        "total_reads_processed": s.stat_total_reads_processed,
        "total_writes_processed": s.stat_total_writes_processed,
        "io_threaded_reads_processed": 0,
        "io_threaded_writes_processed": 0,
        "reply_buffer_shrinks": 0,
        "reply_buffer_expands": 0,
    }


def _kbps(bytes_per_second: int) -> str:
    return f"{float32(float32(bytes_per_second) / KILOBYTE):.2f}"


def _cpu(s: Server) -> Fields:
    """Of this process, whatever else runs in it."""
    times = os.times()
    fields = {
        "used_cpu_sys": times.system,
        "used_cpu_user": times.user,
        "used_cpu_sys_children": times.children_system,
        "used_cpu_user_children": times.children_user,
    }
    if resource is not None and hasattr(resource, "RUSAGE_THREAD"):
        thread = resource.getrusage(resource.RUSAGE_THREAD)
        fields["used_cpu_sys_main_thread"] = thread.ru_stime
        fields["used_cpu_user_main_thread"] = thread.ru_utime
    return {name: f"{seconds:.6f}" for name, seconds in fields.items()}


def _modules(s: Server) -> Fields:
    return {}


def _commandstats(s: Server) -> Fields:
    """server.c: genRedisInfoStringCommandStats()"""
    fields = {}
    for cmd in commands_in_use():
        stats = s.command_stats.get(cmd)
        if stats is not None and (stats.calls or stats.failed_calls or stats.rejected_calls):
            per_call = float32_ratio(stats.usec, stats.calls) if stats.calls else 0.0
            fields[f"cmdstat_{cmd.name}"] = (
                f"calls={stats.calls},usec={stats.usec},usec_per_call={per_call:.2f},"
                f"rejected_calls={stats.rejected_calls},failed_calls={stats.failed_calls}"
            )
    return fields


def _errorstats(s: Server) -> Fields:
    return {
        f"errorstat_{code.translate(_UNSAFE)}": f"count={count}"
        for code, count in sorted(s.stat_errors.items())
    }


def _latencystats(s: Server) -> Fields:
    """server.c: genRedisInfoStringLatencyStats()"""
    if not s.latency_tracking:
        return {}
    percentiles = s.config.latency_tracking_info_percentiles
    fields = {}
    for cmd in commands_in_use():
        stats = s.command_stats.get(cmd)
        if stats is not None and stats.histogram:
            fields[f"latency_percentiles_usec_{cmd.name}"] = ",".join(
                f"p{format_percentile(percentile).decode()}="
                f"{value_at_percentile(stats.histogram, percentile) / 1000:.3f}"
                for percentile in percentiles
            )
    return fields


def _cluster(s: Server) -> Fields:
    return {"cluster_enabled": 0}


def _keyspace(s: Server) -> Fields:
    """Databases that hold keys. Dead keys that nobody has met are counted."""
    return {
        f"db{db.id}": f"keys={len(db.dict)},expires={len(db.expires)},avg_ttl={db.avg_ttl}"
        for db in s.databases
        if len(db.dict)
    }


_SECTIONS: dict[str, Callable[[Server], Fields]] = {
    "server": _server,
    "clients": _clients,
    "memory": info_memory,
    "persistence": _persistence,
    "stats": _stats,
    "replication": info_replication,
    "cpu": _cpu,
    "modules": _modules,
    "commandstats": _commandstats,
    "errorstats": _errorstats,
    "latencystats": _latencystats,
    "cluster": _cluster,
    "keyspace": _keyspace,
}
_DEFAULT = _SECTIONS.keys() - {"commandstats", "latencystats"}
