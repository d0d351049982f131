"""Importing this module fills the command table."""

from __future__ import annotations

from miniredis.commands import (  # noqa: F401
    client_cmds,
    client_kill,
    command_cmds,
    config_cmds,
    connection,
    counters,
    debug,
    expiry,
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
    t_list,
    t_list_blocking,
    t_list_parts,
    t_set,
    t_set_algebra,
    t_set_random,
    t_string,
    transactions,
)
