"""The active expire cycle: deleting keys that died and that nobody asks for.

How it works. The cron calls a *slow* cycle ``hz`` times a second; a *fast* one may run
before the event loop sleeps. A cycle visits some databases. In each it looks at the
expires table in *windows*: from a cursor that survives between calls it walks bucket
after bucket in plain ascending order, takes whole chains, and deletes what is past its
time, until it has seen about 20 keys. If more than 10 % of a window had died, another
window of the same database follows at once. Every 16 windows it looks at the clock and
gives up when its share of the CPU is used.

Why so. Looking at every key would block the server; looking at few leaves the dead
behind. The repeat rule spends effort where death is: a table with few dead keys costs
one window a call, a table full of them is worked until the time limit.

Its limits, reproduced here as they are:

* A table filled below 1 % is not looked at (walking empty buckets is dear), so the last
  keys of a mass expiry wait until the cron has shrunk the table.
* The gate that should start fast cycles when the estimated share of stale keys is high
  can never open: a fraction is compared with a percentage. See ``stale_gate``.
* The estimate describes what the cursor met, which is what was left alone the longest.
  It lies above the true share.

A worked example with window 20 and 10 % accepted: of 64 keys in 64 buckets all have
died. Window 1 takes buckets 0..19, say, 20 sampled, 20 expired: 100 % > 10 %, again.
Window 2: 20 more. Window 3: ``min(24, 20)``. Window 4: the 4 left. Then no key has a
TTL, and the database is done. ``expired_stale_perc`` goes from 0 to 5 %: one
observation of 100 % at the weight of 5 %.

Other versions replace single steps of it: ``expire_random.py`` before 6.0,
``expire_scan.py`` from 7.2 on; ``engines.py`` lists them.

Redis: expire.c, ``activeExpireCycle()`` as in 6.0 to 7.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from miniredis.clock import Clock, CostModel
from miniredis.keyspace.db import KeyspaceServer, RedisDb
from miniredis.structs.dict import DictEntry

ACTIVE_EXPIRE_CYCLE_SLOW = "slow"
ACTIVE_EXPIRE_CYCLE_FAST = "fast"

# At effort 1; each further point of active-expire-effort adds a quarter, or a step.
ACTIVE_EXPIRE_CYCLE_KEYS_PER_LOOP = 20  # keys of a window
ACTIVE_EXPIRE_CYCLE_FAST_DURATION = 1000  # µs, limit of a fast cycle
ACTIVE_EXPIRE_CYCLE_SLOW_TIME_PERC = 25  # % of the CPU a slow cycle may use
ACTIVE_EXPIRE_CYCLE_ACCEPTABLE_STALE = 10  # % of dead keys that ends the windows
SLOW_TIME_PERC_STEP = 2  # % more CPU for each point of effort

CRON_DBS_PER_CALL = 16  # databases a call visits
TIME_CHECK_ITERATIONS = 16  # the clock is looked at every so many windows
BUCKETS_PER_KEY = 20  # buckets a window may visit for each key it wants
MIN_FILL_PERCENT = 1  # below it a table is left alone ...
DICT_HT_INITIAL_SIZE = 4  # ... unless it has no more buckets than this
STALE_WEIGHT = 0.05  # of a cycle in the running estimate of stale keys
AVG_TTL_SAMPLES = 50  # a window weighs 1 in so many in avg_ttl

# Of the cost model, not of Redis: a processor that has slept is slow at first.
COLD_AFTER_US = 6000  # without a deletion it counts as having slept ...
COLD_FOR_US = 5000  # ... and deletions cost more for so long


class StaleGate(Enum):
    """How a fast cycle judges ``stat_expired_stale_perc``, kept as a fraction 0...1."""

    #: As Redis 6.0 to 8.2: the fraction is compared with a percentage, 1...10, so the
    #: gate never opens and only a timed-out cycle is followed by fast ones.
    DEAD = "dead"
    #: As intended (and repaired upstream in 2026): percentage against percentage.
    REPAIRED = "repaired"


class ExitReason(Enum):
    """Why a database was left, or a whole cycle ended."""

    NO_TTLS = "no keys with a TTL"
    SPARSE = "table filled below 1 %"
    FEW_STALE = "stale share acceptable"
    SWEPT = "cursor back at the start"
    TIME_LIMIT = "time limit"
    # Of a whole cycle:
    DONE = "all databases visited"
    PAUSED = "clients are paused"
    NOT_NEEDED = "the last cycle ended within its time limit"
    TOO_SOON = "a fast cycle ran a moment ago"


REFUSALS = frozenset({ExitReason.PAUSED, ExitReason.NOT_NEEDED, ExitReason.TOO_SOON})


@dataclass(slots=True)
class LoopReport:
    """One iteration: a window of one database, or a look that left it at once."""

    db: int
    sampled: int = 0
    expired: int = 0
    buckets: int = 0
    ttl_sum: int = 0  # ms, over the living keys seen
    ttl_samples: int = 0
    exit: ExitReason | None = None  # None: another window of this database follows
    by: str = ACTIVE_EXPIRE_CYCLE_SLOW  # the type of the cycle

    @property
    def stale_share(self) -> float:
        """Expired keys as a share of those sampled, 0...1."""
        return self.expired / self.sampled if self.sampled else 0.0


@dataclass(slots=True)
class CycleReport:
    """What one call of the cycle did. Times in µs, shares as fractions 0...1."""

    type: str
    start_us: int
    number: int = 0  # of this call among those that were not refused, from 1
    exit: ExitReason = ExitReason.DONE
    dbs_per_call: int = 0
    time_limit_us: int = 0
    elapsed_us: int = 0
    iterations: int = 0
    sampled: int = 0
    expired: int = 0
    buckets: int = 0
    stale_perc: float = 0.0  # the running estimate after this call, a fraction
    loops: list[LoopReport] = field(default_factory=list)

    def add(self, loop: LoopReport) -> None:
        """Count what a window did."""
        self.sampled += loop.sampled
        self.expired += loop.expired
        self.buckets += loop.buckets

    @property
    def refused(self) -> bool:
        """True when the call returned before it looked at any database."""
        return self.exit in REFUSALS

    @property
    def stale_share(self) -> float:
        """Expired keys as a share of all that this call sampled, 0...1."""
        return self.expired / self.sampled if self.sampled else 0.0


class ExpireServer(KeyspaceServer, Protocol):
    """What the cycle needs of the server."""

    clock: Clock
    cost: CostModel
    databases: list[RedisDb]
    hz: int  # the effective one
    active_expire_effort: int
    stat_expired_stale_perc: float
    stat_expired_time_cap_reached_count: int
    stat_expire_cycle_time_used: int

    def ustime(self) -> int: ...
    def latency_add_sample_if_needed(self, event: str, ms: int) -> None: ...
    def propagate_pending_commands(self) -> None: ...


class ExpireEngine(Protocol):
    """An active expire algorithm, as one Redis version has it.

    ``timelimit_exit`` tells the event loop that a fast cycle may be worth a call.
    """

    timelimit_exit: bool

    def fast_cycle_wanted(self) -> bool:
        """Whether a fast cycle would get past its first check; cheap."""
        ...

    def active_expire_cycle(self, type: str, record: bool = False) -> CycleReport:
        """Run one cycle; with *record* every window is in the report."""
        ...


class ActiveExpireCycle:
    """The cycle of Redis 6.0 to 7.0 with the state that lives on between calls.

    ``current_db`` counts databases visited, ever; ``timelimit_exit`` tells whether the
    last call ran out of time; ``last_fast_cycle`` is the start of the last fast call in
    µs. CONFIG RESETSTAT and FLUSHALL leave all three alone.

    Each method is a step that another version may have differently.
    """

    #: What leaving a database at once (no TTLs, sparse) adds to the count of iterations.
    early_exit_iterations = 1

    #: The least time left, in ms, with which the cycle takes a key for alive.
    alive_from_ms = 0

    def __init__(self, server: ExpireServer, stale_gate: StaleGate = StaleGate.DEAD) -> None:
        self.server = server
        self.stale_gate = stale_gate
        self.current_db = 0
        self.timelimit_exit = False
        self.last_fast_cycle = 0
        self.cycles = 0  # calls that were not refused, ever; not in Redis
        self.deleted_until_us = 0  # when the last deletion was done; not in Redis
        self.cold_until_us = 0  # until when deletions cost more; not in Redis

    # -- what effort means ----------------------------------------------------------

    @property
    def effort(self) -> int:
        """``active-expire-effort`` rescaled to 0...9."""
        return self.server.active_expire_effort - 1

    @property
    def keys_per_loop(self) -> int:
        """Keys of a window, 20...65."""
        return (
            ACTIVE_EXPIRE_CYCLE_KEYS_PER_LOOP + ACTIVE_EXPIRE_CYCLE_KEYS_PER_LOOP // 4 * self.effort
        )

    @property
    def fast_duration_us(self) -> int:
        """Time limit of a fast cycle in µs, 1000...3250."""
        return (
            ACTIVE_EXPIRE_CYCLE_FAST_DURATION + ACTIVE_EXPIRE_CYCLE_FAST_DURATION // 4 * self.effort
        )

    @property
    def slow_time_perc(self) -> int:
        """Share of the CPU for slow cycles in %, 25...43."""
        return ACTIVE_EXPIRE_CYCLE_SLOW_TIME_PERC + SLOW_TIME_PERC_STEP * self.effort

    @property
    def acceptable_stale(self) -> int:
        """Share of dead keys that is let be, in %, 10...1."""
        return ACTIVE_EXPIRE_CYCLE_ACCEPTABLE_STALE - self.effort

    # -- the cycle, step by step ------------------------------------------------------

    def active_expire_cycle(self, type: str, record: bool = False) -> CycleReport:
        """Run one cycle of *type* ``slow`` or ``fast``. expire.c: activeExpireCycle()

        *record* puts every window into the report's ``loops``.
        """
        if type not in (ACTIVE_EXPIRE_CYCLE_SLOW, ACTIVE_EXPIRE_CYCLE_FAST):
            raise ValueError(f"a cycle is 'slow' or 'fast', not {type!r}")
        server = self.server
        report = CycleReport(type, server.ustime(), stale_perc=server.stat_expired_stale_perc)
        refusal = self.refusal(type, report.start_us)
        if refusal is not None:
            report.exit = refusal
            return report
        self.begin(report)
        report.dbs_per_call = self.dbs_per_call()
        report.time_limit_us = self.time_limit_us(type)
        self.timelimit_exit = False
        self.visit_databases(report, record or server.probed)
        server.propagate_pending_commands()
        self.account(report)
        return report

    def begin(self, report: CycleReport) -> None:
        """Number a call that goes on, and tell that it does."""
        self.cycles += 1
        report.number = self.cycles
        if self.server.probed:
            self.server.probe.expire_cycle_started(report)

    def fast_cycle_wanted(self) -> bool:
        """Whether the gate of a fast cycle is open.

        Meant to be: after a time-out, or when too many keys are stale. Under the dead
        gate the second half compares a fraction (at most 1) with a percentage (at least
        1), and since the running mean stays below 1 it is never true.
        """
        stale = self.server.stat_expired_stale_perc
        if self.stale_gate is StaleGate.REPAIRED:
            stale *= 100
        return self.timelimit_exit or stale >= self.acceptable_stale

    def refusal(self, type: str, start_us: int) -> ExitReason | None:
        """Why this call does nothing, or None. A refused call changes no state."""
        if self.server.check_client_pause_timeout_and_return_if_paused():
            return ExitReason.PAUSED
        if type == ACTIVE_EXPIRE_CYCLE_FAST:
            if not self.fast_cycle_wanted():
                return ExitReason.NOT_NEEDED
            if start_us < self.last_fast_cycle + 2 * self.fast_duration_us:
                return ExitReason.TOO_SOON
            self.last_fast_cycle = start_us
        return None

    def dbs_per_call(self) -> int:
        """How many databases this call visits: 16, or all after a time-out."""
        dbnum = len(self.server.databases)
        return dbnum if dbnum < CRON_DBS_PER_CALL or self.timelimit_exit else CRON_DBS_PER_CALL

    def time_limit_us(self, type: str) -> int:
        """How long this call may take, in µs: a share of the time between two crons."""
        if type == ACTIVE_EXPIRE_CYCLE_FAST:
            return self.fast_duration_us
        return max(self.slow_time_perc * 1_000_000 // self.server.hz // 100, 1)

    def visit_databases(self, report: CycleReport, record: bool) -> None:
        """Take the next databases in turn, until enough were visited or time is up."""
        databases = self.server.databases
        for _ in range(report.dbs_per_call):
            if self.timelimit_exit:
                break
            db = databases[self.current_db % len(databases)]
            # Before the work, so that a call that runs out of time leaves this
            # database for last and the next call begins with its neighbour.
            self.current_db += 1
            if not record and not db.expires.index:
                # What expire_db() would do; most databases hold nothing at all.
                report.iterations += self.early_exit_iterations
                db.avg_ttl = 0
                continue
            self.expire_db(db, report, record)

    def expire_db(self, db: RedisDb, report: CycleReport, record: bool) -> None:
        """Take windows of one database until it is clean enough, sparse, or time is up.

        Leaving a database early (no TTLs, sparse) counts as an iteration but does not
        look at the clock.
        """
        while True:
            loop = LoopReport(db.id, by=report.type)
            if record:
                report.loops.append(loop)
            loop.exit = self.not_worth_a_window(db)
            if loop.exit is not None:
                report.iterations += self.early_exit_iterations
                return
            report.iterations += 1
            self.take_window(db, loop)
            report.add(loop)
            self.update_avg_ttl(db, loop)
            if report.iterations % TIME_CHECK_ITERATIONS == 0 and self.out_of_time(report):
                loop.exit = ExitReason.TIME_LIMIT
                return
            if not self.worth_another_window(loop):
                loop.exit = ExitReason.FEW_STALE
                return

    def not_worth_a_window(self, db: RedisDb) -> ExitReason | None:
        """Why this database is left alone, or None: it has no TTLs, or its table is sparse."""
        num = len(db.expires)
        if num == 0:
            db.avg_ttl = 0
            return ExitReason.NO_TTLS
        slots = db.expires.slots()
        if slots > DICT_HT_INITIAL_SIZE and num * 100 // slots < MIN_FILL_PERCENT:
            self.server.ustime()  # Redis reads the time of the window before it finds out
            return ExitReason.SPARSE
        return None

    def window_ms(self) -> int:
        """The time in ms by which the keys of a window are judged."""
        return self.server.ustime() // 1000

    def take_window(self, db: RedisDb, loop: LoopReport) -> None:
        """Work one window, and let the time of the rehash steps in it pass as well."""
        passed, moved = rehash_work(db)
        self.sample_window(db, loop)
        passed_now, moved_now = rehash_work(db)
        rehash_ns = self.server.cost.rehash_ns(passed_now - passed, moved_now - moved)
        self.server.clock.spend_ns(rehash_ns)

    def sample_window(self, db: RedisDb, loop: LoopReport) -> None:
        """Walk buckets from the cursor until the window is full; delete what has died.

        While the table is being rehashed each cursor position means a bucket of both
        tables. Deleting moves the rehash on, even under our feet: the next entry of the
        chain was fetched before, and after a move its ``next`` leads on in its new chain.
        """
        expires, by = db.expires, loop.by
        want = min(len(expires), self.keys_per_loop)
        max_buckets = want * BUCKETS_PER_KEY
        now = self.window_ms()
        sampled = expired = buckets = ttl_sum = ttl_samples = 0
        while sampled < want and buckets < max_buckets:
            for t in (0, 1):
                if t == 1 and expires.rehashidx < 0:
                    break
                table = expires.ht_table[t]
                entry: DictEntry | None = table[db.expires_cursor & (len(table) - 1)]
                buckets += 1
                while entry is not None:
                    following = entry.next
                    ttl = entry.val - now
                    if ttl < 0:
                        db.delete_expired_key_and_propagate(entry.key, by)
                        expired += 1
                    elif ttl > 0:
                        ttl_sum += ttl
                        ttl_samples += 1
                    sampled += 1
                    entry = following
            db.expires_cursor = (db.expires_cursor + 1) & 0xFFFF_FFFF_FFFF_FFFF
        loop.sampled, loop.expired, loop.buckets = sampled, expired, buckets
        loop.ttl_sum, loop.ttl_samples = ttl_sum, ttl_samples
        self.charge(loop, self.server.cost.bucket_ns)

    def try_expire(self, db: RedisDb, entry: DictEntry, now: int, loop: LoopReport) -> bool:
        """Sample one entry: delete it if its time has passed, else note its TTL.

        Written out in sample_window() above. expire.c: activeExpireCycleTryExpire()
        """
        loop.sampled += 1
        ttl = entry.val - now
        if ttl < self.alive_from_ms:
            db.delete_expired_key_and_propagate(entry.key, loop.by)
            loop.expired += 1
            return True
        if ttl > 0:
            loop.ttl_sum += ttl
            loop.ttl_samples += 1
        return False

    def charge(self, loop: LoopReport, bucket_ns: int) -> None:
        """Let the time pass that a window costs, where a bucket costs *bucket_ns*."""
        cost, clock = self.server.cost, self.server.clock
        ns = cost.window_ns + loop.buckets * bucket_ns + loop.sampled * cost.sampled_ns
        if not loop.expired:
            clock.spend_ns(ns)
            return
        now = clock.us()
        if now - self.deleted_until_us > COLD_AFTER_US:
            self.cold_until_us = now + COLD_FOR_US
        buckets = self.server.databases[loop.db].dict.slots()
        ns += loop.expired * cost.deletion_ns(buckets, now < self.cold_until_us)
        clock.spend_ns(ns)
        self.deleted_until_us = clock.us()

    def update_avg_ttl(self, db: RedisDb, loop: LoopReport) -> None:
        """Let the window's mean TTL (ms) weigh 2 % in the database's.

        Redis divides each term before it adds, so up to 49 + 1 ms are lost each time: the
        average of one untouched key falls faster than the key's TTL.
        """
        if not loop.ttl_samples:
            return
        avg = loop.ttl_sum // loop.ttl_samples
        if db.avg_ttl == 0:
            db.avg_ttl = avg
        db.avg_ttl = db.avg_ttl // AVG_TTL_SAMPLES * (AVG_TTL_SAMPLES - 1) + avg // AVG_TTL_SAMPLES

    def out_of_time(self, report: CycleReport) -> bool:
        """Look at the clock; remember and count if the limit has passed."""
        if self.server.ustime() - report.start_us <= report.time_limit_us:
            return False
        self.timelimit_exit = True
        self.server.stat_expired_time_cap_reached_count += 1
        report.exit = ExitReason.TIME_LIMIT
        return True

    def worth_another_window(self, loop: LoopReport) -> bool:
        """Whether the window was empty, or held more dead keys than is acceptable."""
        if loop.sampled == 0:
            return True
        return loop.expired * 100 // loop.sampled > self.acceptable_stale

    def account(self, report: CycleReport) -> None:
        """Statistics at the end of a call; one that sampled nothing counts as 0 % stale."""
        server = self.server
        report.elapsed_us = server.ustime() - report.start_us
        server.stat_expire_cycle_time_used += report.elapsed_us
        server.latency_add_sample_if_needed("expire-cycle", report.elapsed_us // 1000)
        server.stat_expired_stale_perc = (
            report.stale_share * STALE_WEIGHT + server.stat_expired_stale_perc * (1 - STALE_WEIGHT)
        )
        report.stale_perc = server.stat_expired_stale_perc
        if server.probed:
            server.probe.expire_cycle(report)


def rehash_work(db: RedisDb) -> tuple[int, int]:
    """Buckets passed and entries moved by rehashing both dicts of *db*, ever."""
    main, expires = db.dict, db.expires
    return (
        main.rehash_passed + expires.rehash_passed,
        main.rehash_moved + expires.rehash_moved,
    )
