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
    replication_cmds,
    scanning,
    scripting,
    slowlog_cmds,
    string_parts,
    t_string,
    transactions,
)
