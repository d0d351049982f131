"""Measuring on a real server what its active expire cycle and its rehashing cost.

Only what the server counts itself is used: ``expire_cycle_cpu_milliseconds`` beside
``expired_keys``, and the time of commands in INFO commandstats. What these cannot tell
apart is not guessed here; ``lab/calibration.py`` says what is taken as given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import redis

from miniredis.clock import US_PER_MS
from miniredis.net.scratch import PREFIX, Progress, ScratchDatabase

POLL_S = 0.25  # seldom, lest polling cause fast cycles
PATIENCE_US = 60_000_000  # for the cycle to be done
SHRINK_PATIENCE_US = 2_000_000  # for the cron to notice a table to be shrunk
SHRINK_POLL_S = 0.001
LIVING_MS = 3_600_000  # time to live of keys that are to stay alive
SETTLE_CRONS = 5  # after which an empty table has shrunk

FULL_KEYS = 1 << 17  # fill a table of as many buckets to the last
KEEP_EVERY = 6  # key of them: 8 % of the next larger table, which is shrunk below 10 %
LOOKUPS = 1000  # of one EXISTS, each a rehash step
BASE_COMMANDS, FULL_COMMANDS, SPARSE_COMMANDS = 20, 60, 10
CPU_MS = "expire_cycle_cpu_milliseconds"
POINTER_BYTES = 8  # of a bucket
ABSENT = PREFIX + "absent"


class DisturbedError(RuntimeError):
    """Somebody else used the server so that what was measured is not ours alone."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """*keys* are written and *dead_share* of them die at once, *rounds* times in a batch.

    The server counts whole ms, so a batch must cost it many. Whatever else the machine
    does makes a batch longer, never shorter: the quickest of *batches* counts.
    """

    keys: int
    dead_share: float = 1.0
    rounds: int = 1
    batches: int = 1


@dataclass(frozen=True, slots=True)
class CycleWork:
    """Cycle time spent in one batch on tables of *keys*, of which a share died at once."""

    keys: int
    dead_share: float
    deleted: int
    cpu_ms: int

    @property
    def ns_per_deletion(self) -> float:
        """Cycle time per deleted key in ns."""
        return self.cpu_ms * 1_000_000 / self.deleted


@dataclass(frozen=True, slots=True)
class RehashWork:
    """What a look-up costs more, in ns, while it moves a rehash on by a step."""

    full_step_ns: float  # in a table with one entry a bucket
    sparse_step_ns: float  # in one with *sparse_fill* entries a bucket
    sparse_fill: float


def measure_cycle(
    scratch: ScratchDatabase, plan: Rounds, progress: Progress | None = None
) -> CycleWork:
    """Let keys die as *plan* says, and read what the cycle needed for them.

    Those that do not die live on until their round is over. :class:`DisturbedError` if
    other keys expired meanwhile. ``TimeoutError`` if the server is too slow.
    """
    keys, share = plan.keys, plan.dead_share
    # Dead and living keys by turns; their hashes scatter them anyway.
    ttls = [
        1 if math.floor((i + 1) * share) > math.floor(i * share) else LIVING_MS for i in range(keys)
    ]
    dead = ttls.count(1)
    times = []
    for _ in range(plan.batches):
        times.append(0)
        for _ in range(plan.rounds):
            first, base_ms = scratch.write_before_death(ttls, progress)
            before = scratch.stats()
            scratch.sleep_until_us(base_ms * US_PER_MS)
            _wait_for_size(scratch, keys - dead)
            after = scratch.stats()
            if after["expired_keys"] - before["expired_keys"] != dead:
                raise DisturbedError("keys of other databases expired during the measurement")
            times[-1] += after[CPU_MS] - before[CPU_MS]
            if keys > dead:
                scratch.delete(range(first, first + keys))
    return CycleWork(keys, share, dead * plan.rounds, min(times))


def _wait_for_size(scratch: ScratchDatabase, size: int) -> None:
    end = scratch.server_us() + PATIENCE_US
    while scratch.client.dbsize() > size:
        if scratch.server_us() > end:
            raise DisturbedError("the server does not delete the dead keys; is its cron running?")
        scratch.clock.sleep(POLL_S)


def measure_rehash(
    scratch: ScratchDatabase, hz: int, progress: Progress | None = None
) -> RehashWork | None:
    """Time look-ups that move a rehash on, against look-ups that do not.

    EXISTS of an absent name, a thousand times in one command, does a thousand steps. A
    table that has just begun to grow is full, one that has begun to shrink nearly empty.
    None if the server does not tell the size of its tables or the time of its commands,
    or if a rehash ended before its measurement did.
    """
    try:
        scratch.clock.sleep(SETTLE_CRONS / hz)
        living = scratch.server_us() // 1000 + LIVING_MS
        first = scratch.write([living] * FULL_KEYS, progress)
        base = _lookup_ns(scratch, BASE_COMMANDS)
        # The table has as many buckets as keys now, so what is left are the entries.
        entry_bytes = _table_bytes(scratch) // FULL_KEYS - POINTER_BYTES
        scratch.write([living])
        full = _rehashing_lookup_ns(scratch, FULL_COMMANDS)
        # Every so many-th key stays, so that they lie as scattered in memory as before.
        keep = range(first, first + FULL_KEYS, KEEP_EVERY)
        scratch.delete([i for i in range(first, first + FULL_KEYS) if i not in keep])
        _wait_for_shrinking(scratch, len(keep) + 1, entry_bytes)
        sparse = _rehashing_lookup_ns(scratch, SPARSE_COMMANDS)
        fill = scratch.client.dbsize() / (2 * FULL_KEYS)
        scratch.clean_up()
    except redis.ResponseError:
        return None
    if base is None or full is None or sparse is None:
        return None
    return RehashWork(max(full - base, 0.0), max(sparse - base, 0.0), fill)


def _lookup_ns(scratch: ScratchDatabase, commands: int) -> float | None:
    """Time of one look-up in ns, by INFO commandstats; None if others used EXISTS too."""
    before = _exists_stats(scratch)
    pipeline = scratch.client.pipeline(transaction=False)
    for _ in range(commands):
        pipeline.exists(*[ABSENT] * LOOKUPS)
    pipeline.execute()
    after = _exists_stats(scratch)
    if after[0] - before[0] != commands:
        return None
    return (after[1] - before[1]) * 1000 / (commands * LOOKUPS)


def _rehashing_lookup_ns(scratch: ScratchDatabase, commands: int) -> float | None:
    """As :func:`_lookup_ns`; None unless both tables were there from first to last."""
    before = _table_bytes(scratch)
    ns = _lookup_ns(scratch, commands)
    return ns if _table_bytes(scratch) == before else None


def _exists_stats(scratch: ScratchDatabase) -> tuple[int, int]:
    row = scratch.client.info("commandstats").get("cmdstat_exists", {})
    return int(row.get("calls", 0)), int(row.get("usec", 0))


def _table_bytes(scratch: ScratchDatabase) -> int:
    """Memory of the main table: entries and the buckets of both tables. MEMORY STATS"""
    stats = scratch.client.memory_stats()
    return int(stats[f"db.{scratch.number}"]["overhead.hashtable.main"])


def _wait_for_shrinking(scratch: ScratchDatabase, keys: int, entry_bytes: int) -> None:
    """Return as soon as the cron has begun to shrink the table: a second one appears."""
    one_table = keys * entry_bytes + 2 * FULL_KEYS * POINTER_BYTES
    end = scratch.server_us() + SHRINK_PATIENCE_US
    while _table_bytes(scratch) <= one_table and scratch.server_us() < end:
        scratch.clock.sleep(SHRINK_POLL_S)
