"""The section Replication of INFO.

Redis: ``genRedisInfoString()`` in server.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from miniredis.server.repl_slave import ONLINE
from miniredis.server.replication import STATE_TRANSFER

if TYPE_CHECKING:
    from miniredis.server.server import Server

US_PER_SECOND = 1_000_000


def info_replication(s: Server) -> Mapping[str, object]:
    """Role, link, replicas, history. Of a data set on its way no size in bytes is known: 0."""
    repl = s.repl
    fields: dict[str, object] = {"role": "master" if s.masterhost is None else "slave"}
    if s.masterhost is not None:
        fields |= _link(s)
    fields["connected_slaves"] = len(repl.slaves)
    if s.config.min_replicas_to_write and s.config.min_replicas_max_lag:
        fields["min_slaves_good_slaves"] = repl.good_slaves_count
    now = s.us // US_PER_SECOND
    for i, link in enumerate(repl.slaves):
        lag = now - link.repl_ack_time if link.replstate == ONLINE else 0
        fields[f"slave{i}"] = (
            f"ip={link.host},port={link.port},state={link.replstate},"
            f"offset={link.repl_ack_off},lag={lag}"
        )
    backlog = repl.backlog
    return fields | {
        "master_failover_state": repl.failover.state,
        "master_replid": s.replid,
        "master_replid2": repl.replid2,
        "master_repl_offset": repl.master_repl_offset,
        "second_repl_offset": repl.second_replid_offset,
        "repl_backlog_active": int(backlog is not None),
        "repl_backlog_size": s.config.repl_backlog_size,
        "repl_backlog_first_byte_offset": backlog.offset if backlog else 0,
        "repl_backlog_histlen": backlog.histlen if backlog else 0,
    }


def _link(s: Server) -> dict[str, object]:
    """What a replica knows of its primary."""
    repl = s.repl
    now = s.us // US_PER_SECOND
    read_offset = offset = 1
    if repl.master is not None:
        read_offset, offset = repl.read_reploff, repl.reploff
    elif repl.cached_master is not None:
        read_offset = offset = repl.cached_master.reploff
    silent = -1 if repl.master is None else now - repl.master.lastinteraction_us // US_PER_SECOND
    connected = repl.connected
    fields: dict[str, object] = {
        "master_host": s.masterhost,
        "master_port": repl.masterport,
        "master_link_status": "up" if connected else "down",
        "master_last_io_seconds_ago": silent,
        "master_sync_in_progress": int(repl.repl_state == STATE_TRANSFER),
        "slave_read_repl_offset": read_offset,
        "slave_repl_offset": offset,
    }
    if repl.repl_state == STATE_TRANSFER:
        fields |= {
            "master_sync_total_bytes": 0,
            "master_sync_read_bytes": 0,
            "master_sync_left_bytes": 0,
            "master_sync_perc": "0.00",
            "master_sync_last_io_seconds_ago": 0,
        }
    if not connected:
        down = now - repl.down_since if repl.down_since else -1
        fields["master_link_down_since_seconds"] = down
    return fields | {
        "slave_priority": s.config.replica_priority,
        "slave_read_only": int(s.repl_slave_ro),
        "replica_announced": int(s.config.replica_announced),
    }
