"""The table of parameters, as ``CONFIG GET *`` of Redis 7.0.15 lists them.

One row a parameter: its kind, default, bounds and flags. Parameters that describe a
process (sockets, files, TLS) are kept with Redis's defaults, so that clients which ask for
them get an answer; nothing here acts on them.

Redis: ``static_configs`` in config.c.
"""

from __future__ import annotations

from typing import Any

from miniredis.server.config_numbers import (
    INT_MAX,
    INT_MIN,
    LLONG_MAX,
    LONG_MAX,
    UINT_MAX,
    ULLONG_MAX,
)
from miniredis.server.config_special import (
    BindAddresses,
    ClientBufferLimit,
    ClientBufferLimits,
    Directory,
    KeyspaceEvents,
    OomScoreAdjValues,
    OutputBufferLimits,
    Percentiles,
    ReplicaOf,
    SaveParam,
    SaveParams,
    ShutdownFlags,
    is_aof_folder,
    is_aof_name,
    is_file_name,
    is_host_name,
    is_title_template,
)
from miniredis.server.config_types import (
    ConfigFlag,
    choice,
    integer,
    memory,
    text,
    yes_no,
)

_MULTI_ARG = ConfigFlag.MULTI_ARG
# Debian's redis-server has no such allocator either. config.c: isValidActiveDefrag()
NO_ACTIVE_DEFRAG = (
    "Active defragmentation cannot be enabled: it requires a Redis server compiled with a "
    "modified Jemalloc like the one shipped by default with the Redis source distribution"
)


class ConfigTable:
    """Each attribute is a row; in an instance of ``Config`` it is the parameter's value."""

    rdbchecksum: bool = yes_no(True, flags=ConfigFlag.IMMUTABLE)
    daemonize: bool = yes_no(False, flags=ConfigFlag.IMMUTABLE)
    io_threads_do_reads: bool = yes_no(False, flags=ConfigFlag.DEBUG | ConfigFlag.IMMUTABLE)
    always_show_logo: bool = yes_no(False, flags=ConfigFlag.IMMUTABLE)
    protected_mode: bool = yes_no(True)
    rdbcompression: bool = yes_no(True)
    rdb_del_sync_files: bool = yes_no(False)
    activerehashing: bool = yes_no(True)
    stop_writes_on_bgsave_error: bool = yes_no(True)
    set_proc_title: bool = yes_no(True, flags=ConfigFlag.IMMUTABLE)
    dynamic_hz: bool = yes_no(True)
    lazyfree_lazy_eviction: bool = yes_no(False, flags=ConfigFlag.DEBUG)
    lazyfree_lazy_expire: bool = yes_no(False, flags=ConfigFlag.DEBUG)
    lazyfree_lazy_server_del: bool = yes_no(False, flags=ConfigFlag.DEBUG)
    lazyfree_lazy_user_del: bool = yes_no(False, flags=ConfigFlag.DEBUG)
    lazyfree_lazy_user_flush: bool = yes_no(False, flags=ConfigFlag.DEBUG)
    repl_disable_tcp_nodelay: bool = yes_no(False)
    repl_diskless_sync: bool = yes_no(True, flags=ConfigFlag.DEBUG)
    aof_rewrite_incremental_fsync: bool = yes_no(True)
    no_appendfsync_on_rewrite: bool = yes_no(False)
    cluster_require_full_coverage: bool = yes_no(True)
    rdb_save_incremental_fsync: bool = yes_no(True)
    aof_load_truncated: bool = yes_no(True)
    aof_use_rdb_preamble: bool = yes_no(True)
    aof_timestamp_enabled: bool = yes_no(False)
    cluster_replica_no_failover: bool = yes_no(False, alias="cluster-slave-no-failover")
    replica_lazy_flush: bool = yes_no(False, alias="slave-lazy-flush")
    replica_serve_stale_data: bool = yes_no(True, alias="slave-serve-stale-data")
    replica_read_only: bool = yes_no(True, flags=ConfigFlag.DEBUG, alias="slave-read-only")
    replica_ignore_maxmemory: bool = yes_no(True, alias="slave-ignore-maxmemory")
    jemalloc_bg_thread: bool = yes_no(True)
    activedefrag: bool = yes_no(False, flags=ConfigFlag.DEBUG, refuse_yes=NO_ACTIVE_DEFRAG)
    syslog_enabled: bool = yes_no(False, flags=ConfigFlag.IMMUTABLE)
    cluster_enabled: bool = yes_no(False, flags=ConfigFlag.IMMUTABLE)
    appendonly: bool = yes_no(False, flags=ConfigFlag.DENY_LOADING)
    cluster_allow_reads_when_down: bool = yes_no(False)
    cluster_allow_pubsubshard_when_down: bool = yes_no(True)
    crash_log_enabled: bool = yes_no(True)
    crash_memcheck_enabled: bool = yes_no(True)
    use_exit_on_panic: bool = yes_no(False, flags=ConfigFlag.HIDDEN)
    disable_thp: bool = yes_no(True, flags=ConfigFlag.IMMUTABLE)
    cluster_allow_replica_migration: bool = yes_no(True)
    replica_announced: bool = yes_no(True)
    latency_tracking: bool = yes_no(True)
    aof_disable_auto_gc: bool = yes_no(False)
    replica_ignore_disk_write_errors: bool = yes_no(False)
    aclfile: bytes = text(b"", flags=ConfigFlag.IMMUTABLE)
    unixsocket: bytes = text(b"", flags=ConfigFlag.IMMUTABLE)
    pidfile: bytes = text(b"", flags=ConfigFlag.IMMUTABLE)
    replica_announce_ip: bytes = text(b"", alias="slave-announce-ip")
    masteruser: bytes = text(b"", flags=ConfigFlag.SENSITIVE)
    cluster_announce_ip: bytes = text(b"")
    cluster_config_file: bytes = text(b"nodes.conf", flags=ConfigFlag.IMMUTABLE)
    cluster_announce_hostname: bytes = text(b"", rule=is_host_name)
    syslog_ident: bytes = text(b"redis", flags=ConfigFlag.IMMUTABLE)
    dbfilename: bytes = text(b"dump.rdb", flags=ConfigFlag.PROTECTED, rule=is_file_name)
    appendfilename: bytes = text(b"appendonly.aof", flags=ConfigFlag.IMMUTABLE, rule=is_aof_name)
    appenddirname: bytes = text(b"appendonlydir", flags=ConfigFlag.IMMUTABLE, rule=is_aof_folder)
    server_cpulist: bytes = text(b"", flags=ConfigFlag.IMMUTABLE, name="server_cpulist")
    bio_cpulist: bytes = text(b"", flags=ConfigFlag.IMMUTABLE, name="bio_cpulist")
    aof_rewrite_cpulist: bytes = text(b"", flags=ConfigFlag.IMMUTABLE, name="aof_rewrite_cpulist")
    bgsave_cpulist: bytes = text(b"", flags=ConfigFlag.IMMUTABLE, name="bgsave_cpulist")
    ignore_warnings: bytes = text(b"")
    proc_title_template: bytes = text(
        b"{title} {listen-addr} {server-mode}", rule=is_title_template
    )
    bind_source_addr: bytes = text(b"")
    logfile: bytes = text(b"", flags=ConfigFlag.IMMUTABLE)
    masterauth: bytes = text(b"", flags=ConfigFlag.SENSITIVE, binary=True)
    requirepass: bytes = text(b"", flags=ConfigFlag.SENSITIVE, binary=True)
    supervised: str = choice("no", "upstart systemd auto no", flags=ConfigFlag.IMMUTABLE)
    syslog_facility: str = choice(
        "local0",
        "user local0 local1 local2 local3 local4 local5 local6 local7",
        flags=ConfigFlag.IMMUTABLE,
    )
    repl_diskless_load: str = choice(
        "disabled", "disabled on-empty-db swapdb", flags=ConfigFlag.DEBUG | ConfigFlag.DENY_LOADING
    )
    loglevel: str = choice("notice", "debug verbose notice warning")
    maxmemory_policy: str = choice(
        "noeviction",
        "volatile-lru volatile-lfu volatile-random volatile-ttl "
        "allkeys-lru allkeys-lfu allkeys-random noeviction",
    )
    appendfsync: str = choice("everysec", "everysec always no")
    oom_score_adj: str = choice("no", "no yes relative absolute")
    acl_pubsub_default: str = choice("resetchannels", "allchannels resetchannels")
    sanitize_dump_payload: str = choice("no", "no yes clients", flags=ConfigFlag.DEBUG)
    enable_protected_configs: str = choice("no", "no yes local", flags=ConfigFlag.IMMUTABLE)
    enable_debug_command: str = choice("yes", "no yes local", flags=ConfigFlag.IMMUTABLE)
    enable_module_command: str = choice("no", "no yes local", flags=ConfigFlag.IMMUTABLE)
    cluster_preferred_endpoint_type: str = choice("ip", "ip hostname unknown-endpoint")
    propagation_error_behavior: str = choice("ignore", "ignore panic panic-on-replicas")
    shutdown_on_sigint: Any = ShutdownFlags(default="default", flags=_MULTI_ARG)
    shutdown_on_sigterm: Any = ShutdownFlags(default="default", flags=_MULTI_ARG)
    databases: int = integer(16, 1, INT_MAX, flags=ConfigFlag.IMMUTABLE)
    port: int = integer(6379, 0, 65535)
    io_threads: int = integer(1, 1, 128, flags=ConfigFlag.DEBUG | ConfigFlag.IMMUTABLE)
    auto_aof_rewrite_percentage: int = integer(100, 0, INT_MAX)
    cluster_replica_validity_factor: int = integer(
        10, 0, INT_MAX, alias="cluster-slave-validity-factor"
    )
    list_max_listpack_size: int = integer(-2, INT_MIN, INT_MAX, alias="list-max-ziplist-size")
    tcp_keepalive: int = integer(300, 0, INT_MAX)
    cluster_migration_barrier: int = integer(1, 0, INT_MAX)
    active_defrag_cycle_min: int = integer(1, 1, 99)
    active_defrag_cycle_max: int = integer(25, 1, 99)
    active_defrag_threshold_lower: int = integer(10, 0, 1000)
    active_defrag_threshold_upper: int = integer(100, 0, 1000)
    lfu_log_factor: int = integer(10, 0, INT_MAX)
    lfu_decay_time: int = integer(1, 0, INT_MAX)
    replica_priority: int = integer(100, 0, INT_MAX, alias="slave-priority")
    repl_diskless_sync_delay: int = integer(5, 0, INT_MAX)
    maxmemory_samples: int = integer(5, 1, INT_MAX)
    maxmemory_eviction_tenacity: int = integer(10, 0, 100)
    timeout: int = integer(0, 0, INT_MAX)
    replica_announce_port: int = integer(0, 0, 65535, alias="slave-announce-port")
    tcp_backlog: int = integer(511, 0, INT_MAX, flags=ConfigFlag.IMMUTABLE)
    cluster_port: int = integer(0, 0, 65535, flags=ConfigFlag.IMMUTABLE)
    cluster_announce_bus_port: int = integer(0, 0, 65535)
    cluster_announce_port: int = integer(0, 0, 65535)
    cluster_announce_tls_port: int = integer(0, 0, 65535)
    repl_timeout: int = integer(60, 1, INT_MAX)
    repl_ping_replica_period: int = integer(10, 1, INT_MAX, alias="repl-ping-slave-period")
    list_compress_depth: int = integer(0, 0, INT_MAX, flags=ConfigFlag.DEBUG)
    rdb_key_save_delay: int = integer(0, INT_MIN, INT_MAX, flags=ConfigFlag.HIDDEN)
    key_load_delay: int = integer(0, INT_MIN, INT_MAX, flags=ConfigFlag.HIDDEN)
    active_expire_effort: int = integer(1, 1, 10)
    hz: int = integer(10, 0, INT_MAX)  # clamped to 1...500, see config.py
    min_replicas_to_write: int = integer(0, 0, INT_MAX, alias="min-slaves-to-write")
    min_replicas_max_lag: int = integer(10, 0, INT_MAX, alias="min-slaves-max-lag")
    watchdog_period: int = integer(0, 0, INT_MAX, flags=ConfigFlag.HIDDEN)
    shutdown_timeout: int = integer(10, 0, INT_MAX)
    repl_diskless_sync_max_replicas: int = integer(0, 0, INT_MAX)
    maxclients: int = integer(10000, 1, UINT_MAX, unsigned=True)
    unixsocketperm: int = integer(
        0, 0, 0o777, flags=ConfigFlag.IMMUTABLE, octal=True, unsigned=True
    )
    socket_mark_id: int = integer(0, 0, UINT_MAX, flags=ConfigFlag.IMMUTABLE, unsigned=True)
    active_defrag_max_scan_fields: int = integer(1000, 1, LONG_MAX, unsigned=True)
    slowlog_max_len: int = integer(128, 0, LONG_MAX, unsigned=True)
    acllog_max_len: int = integer(128, 0, LONG_MAX, unsigned=True)
    busy_reply_threshold: int = integer(5000, 0, LONG_MAX, alias="lua-time-limit")
    cluster_node_timeout: int = integer(15000, 0, LLONG_MAX)
    slowlog_log_slower_than: int = integer(10000, -1, LLONG_MAX)
    latency_monitor_threshold: int = integer(0, 0, LLONG_MAX)
    proto_max_bulk_len: int = memory(536870912, 1048576, LONG_MAX, flags=ConfigFlag.DEBUG)
    stream_node_max_entries: int = integer(100, 0, LLONG_MAX)
    repl_backlog_size: int = memory(1048576, 1, LLONG_MAX)
    maxmemory: int = memory(0, 0, ULLONG_MAX, unsigned=True)
    cluster_link_sendbuf_limit: int = memory(0, 0, ULLONG_MAX, unsigned=True)
    hash_max_listpack_entries: int = integer(
        512, 0, LONG_MAX, unsigned=True, alias="hash-max-ziplist-entries"
    )
    set_max_intset_entries: int = integer(512, 0, LONG_MAX, unsigned=True)
    zset_max_listpack_entries: int = integer(
        128, 0, LONG_MAX, unsigned=True, alias="zset-max-ziplist-entries"
    )
    active_defrag_ignore_bytes: int = memory(104857600, 1, LLONG_MAX, unsigned=True)
    hash_max_listpack_value: int = memory(
        64, 0, LONG_MAX, unsigned=True, alias="hash-max-ziplist-value"
    )
    stream_node_max_bytes: int = memory(4096, 0, LONG_MAX, unsigned=True)
    zset_max_listpack_value: int = memory(
        64, 0, LONG_MAX, unsigned=True, alias="zset-max-ziplist-value"
    )
    hll_sparse_max_bytes: int = memory(3000, 0, LONG_MAX, unsigned=True)
    tracking_table_max_keys: int = integer(1000000, 0, LONG_MAX, unsigned=True)
    client_query_buffer_limit: int = memory(
        1073741824, 1048576, LONG_MAX, flags=ConfigFlag.DEBUG, unsigned=True
    )
    maxmemory_clients: int = memory(0, -100, LONG_MAX, percent=True)
    repl_backlog_ttl: int = integer(3600, 0, LONG_MAX)
    auto_aof_rewrite_min_size: int = memory(67108864, 0, LLONG_MAX)
    loading_process_events_interval_bytes: int = integer(
        2097152, 1024, INT_MAX, flags=ConfigFlag.HIDDEN
    )
    tls_port: int = integer(0, 0, 65535)
    tls_session_cache_size: int = integer(20480, 0, INT_MAX)
    tls_session_cache_timeout: int = integer(300, 0, INT_MAX)
    tls_cluster: bool = yes_no(False)
    tls_replication: bool = yes_no(False)
    tls_auth_clients: str = choice("yes", "no yes optional")
    tls_prefer_server_ciphers: bool = yes_no(False)
    tls_session_caching: bool = yes_no(True)
    tls_cert_file: bytes = text(b"")
    tls_key_file: bytes = text(b"")
    tls_key_file_pass: bytes = text(b"")
    tls_client_cert_file: bytes = text(b"")
    tls_client_key_file: bytes = text(b"")
    tls_client_key_file_pass: bytes = text(b"")
    tls_dh_params_file: bytes = text(b"")
    tls_ca_cert_file: bytes = text(b"")
    tls_ca_cert_dir: bytes = text(b"")
    tls_protocols: bytes = text(b"")
    tls_ciphers: bytes = text(b"")
    tls_ciphersuites: bytes = text(b"")

    # Parameters with a syntax of their own.
    dir: Any = Directory(default=b".", flags=ConfigFlag.PROTECTED | ConfigFlag.DENY_LOADING)
    save: Any = SaveParams(
        default=(SaveParam(3600, 1), SaveParam(300, 100), SaveParam(60, 10000)), flags=_MULTI_ARG
    )
    client_output_buffer_limit: Any = OutputBufferLimits(
        default=ClientBufferLimits(
            ClientBufferLimit(0, 0, 0),
            ClientBufferLimit(256 * 1024**2, 64 * 1024**2, 60),
            ClientBufferLimit(32 * 1024**2, 8 * 1024**2, 60),
        ),
        flags=_MULTI_ARG,
    )
    oom_score_adj_values: Any = OomScoreAdjValues(default=(0, 200, 800), flags=_MULTI_ARG)
    notify_keyspace_events: Any = KeyspaceEvents(default=0)
    bind: Any = BindAddresses(default=(b"*", b"-::*"), flags=_MULTI_ARG)
    replicaof: Any = ReplicaOf(
        default=None, flags=ConfigFlag.IMMUTABLE | _MULTI_ARG, alias="slaveof"
    )
    latency_tracking_info_percentiles: Any = Percentiles(
        default=(50.0, 99.0, 99.9), flags=_MULTI_ARG
    )
