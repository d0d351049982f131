"""Importing this module fills the command table."""

from __future__ import annotations

from miniredis.commands import (  # noqa: F401
    bitfield,
    bitops,
    client_cmds,
    client_kill,
    command_cmds,
    config_cmds,
    connection,
    counters,
    debug,
    expiry,
    hyperloglog,
    introspection,
    keys,
    latency_cmds,
    lcs,
    object_cmds,
    pubsub,
    pubsub_info,
    scanning,
    slowlog_cmds,
    string_parts,
    t_hash,
    t_hash_walk,
    t_set,
    t_set_algebra,
    t_set_random,
    t_string,
    transactions,
)
