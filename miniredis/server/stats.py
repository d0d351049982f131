"""Counters of a server, as INFO shows them and CONFIG RESETSTAT clears them.

Redis: ``resetServerStats()`` and ``trackInstantaneousMetric()`` in server.c.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miniredis.commands.table import Command
from miniredis.errors import CommandError
from miniredis.server.reply_buffer import ReplyBufferPolicy

if TYPE_CHECKING:
    from miniredis.server.config import Config

STATS_METRIC_SAMPLES = 16  # samples behind each instantaneous rate
ERROR_CODE_LEN = 31  # bytes of an error in which the space after its code is looked for
NO_ID = "0" * 40  # a replication id that stands for none
RUN_ID_BITS = 160  # of a run or replication id, printed as 40 hexadecimal digits


@dataclass(slots=True)
class CommandStats:
    """Calls of one command. ``usec``: µs in all; ``histogram``: calls by duration in µs."""

    calls: int = 0
    usec: int = 0
    rejected_calls: int = 0
    failed_calls: int = 0
    histogram: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def reset(self) -> None:
        """Zero everything, in place: the command that asks is still to be counted."""
        self.calls = self.usec = self.rejected_calls = self.failed_calls = 0
        self.histogram.clear()


class InstantaneousMetric:
    """A counter's growth per second, over its last 16 samples. server.h: inst_metric"""

    def __init__(self, now_ms: int) -> None:
        self.samples: deque[int] = deque([0] * STATS_METRIC_SAMPLES, STATS_METRIC_SAMPLES)
        self.last_sample_ms = now_ms
        self.last_sample_count = 0

    def track(self, count: int, now_ms: int) -> None:
        """Take a sample; the counter stands at *count*. server.c: trackInstantaneousMetric()"""
        elapsed = now_ms - self.last_sample_ms
        grown = count - self.last_sample_count
        self.samples.append(grown * 1000 // elapsed if elapsed > 0 else 0)
        self.last_sample_ms = now_ms
        self.last_sample_count = count

    def stand_still(self, samples: int, now_ms: int) -> None:
        """So many samples, the last at *now_ms*, of a counter that does not grow."""
        self.samples.extend([0] * min(samples, STATS_METRIC_SAMPLES))
        self.last_sample_ms = now_ms

    def per_second(self) -> int:
        """The mean of all samples, those not yet taken as 0. server.c: getInstantaneousMetric()"""
        return sum(self.samples) // STATS_METRIC_SAMPLES


class Stats:
    """Base of ``Server``: the counters, and what else only INFO tells, under Redis's names."""

    config: Config
    rng: random.Random
    us: int
    mstime: int

    def ustime(self) -> int:
        """See ``KeyspaceHooks``."""
        raise NotImplementedError

    def __init__(self) -> None:
        self.replid = ""  # names the history of this data set
        self.change_replication_id()
        self.reply_buffers = ReplyBufferPolicy()
        self.stat_peak_memory = 0  # bytes, as estimated whenever INFO was asked
        self.lastsave = self.us // 1_000_000  # Unix seconds
        self.rdb_last_load_keys_expired = 0
        self.rdb_last_load_keys_loaded = 0
        self.command_stats: dict[Command, CommandStats] = {}
        self.reset_server_stats()

    def reset_server_stats(self) -> None:
        """Zero what CONFIG RESETSTAT zeroes. config.c: configResetStatCommand()"""
        self.stat_numcommands = 0
        self.stat_numconnections = 0
        self.stat_rejected_conn = 0
        self.stat_expiredkeys = 0
        self.stat_expired_stale_perc = 0.0  # a fraction, 0...1
        self.stat_expired_time_cap_reached_count = 0
        self.stat_expire_cycle_time_used = 0  # µs
        self.stat_evictedkeys = 0
        self.stat_lazyfreed_objects = 0
        self.stat_keyspace_hits = 0
        self.stat_keyspace_misses = 0
        self.stat_net_input_bytes = 0
        self.stat_net_output_bytes = 0
        self.stat_net_repl_input_bytes = 0
        self.stat_net_repl_output_bytes = 0
        self.stat_sync_full = 0
        self.stat_sync_partial_ok = 0
        self.stat_sync_partial_err = 0
        self.stat_unexpected_error_replies = 0
        self.stat_total_reads_processed = 0
        self.stat_total_writes_processed = 0
        self.stat_total_error_replies = 0
        self.stat_net_repl_input_bytes = 0
        self.stat_net_repl_output_bytes = 0
        self.command_metric = InstantaneousMetric(self.mstime)
        self.net_input_metric = InstantaneousMetric(self.mstime)
        self.net_output_metric = InstantaneousMetric(self.mstime)
        self.net_input_repl_metric = InstantaneousMetric(self.mstime)
        self.net_output_repl_metric = InstantaneousMetric(self.mstime)
        self.stat_errors: dict[str, int] = {}
        for stats in self.command_stats.values():
            stats.reset()

    def change_replication_id(self) -> None:
        """Begin another history of the data set. replication.c: changeReplicationId()"""
        self.replid = new_random_id(self.rng)

    def new_command_stats(self, cmd: Command) -> CommandStats:
        """The counters of a command that is called for the first time."""
        return self.command_stats.setdefault(cmd, CommandStats())

    def count_error(self, error: CommandError) -> None:
        """Count an error reply by its code. networking.c: afterErrorReply()"""
        self.stat_total_error_replies += 1
        code = error.code if b" " in error.text[:ERROR_CODE_LEN] else "ERR"
        self.stat_errors[code] = self.stat_errors.get(code, 0) + 1

    def rates(self) -> tuple[tuple[InstantaneousMetric, int], ...]:
        """Each rate, and the counter whose growth it is."""
        repl_in, repl_out = self.stat_net_repl_input_bytes, self.stat_net_repl_output_bytes
        return (
            (self.command_metric, self.stat_numcommands),
            (self.net_input_metric, self.stat_net_input_bytes + repl_in),
            (self.net_output_metric, self.stat_net_output_bytes + repl_out),
            (self.net_input_repl_metric, repl_in),
            (self.net_output_repl_metric, repl_out),
        )

    def track_instantaneous_metrics(self) -> None:
        """Take a sample of each rate, each at its own reading of the clock; by the cron."""
        for metric, count in self.rates():
            metric.track(count, self.ustime() // 1000)


def new_random_id(rng: random.Random) -> str:
    """40 random hexadecimal digits. util.c: getRandomHexChars()"""
    return f"{rng.getrandbits(RUN_ID_BITS):040x}"
