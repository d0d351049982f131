"""The active expire cycle of Redis 7.2 and later: the buckets in the order of SCAN.

What is new in 7.2. The cursor no longer walks the buckets in ascending order but counts
with its bits reversed, as SCAN's does: 0, 4, 2, 6, 1, 5, 3, 7 in a table of 8. In the
plain order a table that grows or shrinks meanwhile has regions that are visited twice
or late; the reversed order keeps its place. While a window is taken the table is not
rehashed, and if it has two halves, one step visits a bucket of the smaller one together
with all that belong to it in the larger one.

What is new in 7.4. A database is done when the cursor comes back to 0, whatever the share
of dead keys was. Databases without any TTL no longer count among the 16 of a call. The
average TTL is computed once for up to 16 windows, and without loss by rounding.

What is new in 8.2. The cycle takes a key for dead in the very millisecond of its death.

Limits: hash fields with a TTL are not simulated, and in cluster mode the keyspace of 7.4
is made of many dicts; here it is one.

Redis: expire.c of 7.2 and 7.4, ``activeExpireCycle()``, ``expireScanCallback()``.
"""

from __future__ import annotations

from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.expire import (
    ACTIVE_EXPIRE_CYCLE_FAST,
    BUCKETS_PER_KEY,
    DICT_HT_INITIAL_SIZE,
    MIN_FILL_PERCENT,
    TIME_CHECK_ITERATIONS,
    ActiveExpireCycle,
    CycleReport,
    ExitReason,
    LoopReport,
)
from miniredis.structs.dict import DictEntry

# How much of the old average is left after 1...16 windows: powers of 0.98, rounded as there.
AVG_TTL_FACTOR = tuple(round(0.98**windows, 6) for windows in range(1, TIME_CHECK_ITERATIONS + 1))


class ScanCycle72(ActiveExpireCycle):
    """The cycle of Redis 7.2."""

    buckets_per_key = BUCKETS_PER_KEY

    def sample_window(self, db: RedisDb, loop: LoopReport) -> None:
        """Scan from the cursor until the window is full; delete what has died.

        What one call of the scan returns is complete before its first key is deleted; in
        Redis a callback deletes while the chain is walked. With rehashing paused that
        makes no difference.
        """
        expires = db.expires
        want = min(len(expires), self.keys_per_loop)
        max_buckets = want * self.buckets_per_key
        now = self.window_ms()
        expires.pauserehash += 1
        try:
            while loop.sampled < want and loop.buckets < max_buckets and loop.exit is None:
                db.expires_cursor, entries = self.scan(db, loop)
                loop.buckets += 1
                for entry in entries:
                    if self.try_expire(db, entry, now, loop):
                        self.server.propagate_pending_commands()
        finally:
            expires.pauserehash -= 1
        self.charge(loop, self.server.cost.bucket_ns)

    def scan(self, db: RedisDb, loop: LoopReport) -> tuple[int, list[DictEntry]]:
        """The next cursor and the entries at this one."""
        return db.expires.scan(db.expires_cursor)


class KvstoreCycle74(ScanCycle72):
    """The cycle of Redis 7.4 and 8.0."""

    def visit_databases(self, report: CycleReport, record: bool) -> None:
        """Take databases in turn until 16 that have TTLs were visited, or all, or time is up."""
        databases = self.server.databases
        dbs_performed = 0
        for _ in databases:
            if self.timelimit_exit or dbs_performed >= report.dbs_per_call:
                break
            db = databases[self.current_db % len(databases)]
            self.current_db += 1
            if db.expires.index:
                dbs_performed += 1
            elif not record:
                report.iterations += self.early_exit_iterations
                db.avg_ttl = 0
                continue
            self.expire_db(db, report, record)

    def expire_db(self, db: RedisDb, report: CycleReport, record: bool) -> None:
        """Take windows of one database until it is swept or clean enough, or time is up."""
        ttls = LoopReport(db.id)  # of the windows since the last update of the average
        windows = 0  # of these, how many saw a living key
        while True:
            report.iterations += 1
            loop = LoopReport(db.id, by=report.type)
            if record:
                report.loops.append(loop)
            if not db.expires.index:
                db.avg_ttl = 0
                loop.exit = ExitReason.NO_TTLS
                return
            self.take_window(db, loop)
            report.add(loop)
            ttls.ttl_sum += loop.ttl_sum
            ttls.ttl_samples += loop.ttl_samples
            windows += loop.ttl_samples > 0
            if loop.exit is None and not self.worth_another_window(loop):
                loop.exit = ExitReason.FEW_STALE
            check = report.iterations % TIME_CHECK_ITERATIONS == 0
            if check or loop.exit is not None:
                self.update_avg_ttl_over(db, ttls, windows)
                ttls, windows = LoopReport(db.id), 0
            if check and self.out_of_time(report):
                loop.exit = ExitReason.TIME_LIMIT
            if loop.exit is not None:
                return

    def scan(self, db: RedisDb, loop: LoopReport) -> tuple[int, list[DictEntry]]:
        """The next cursor and the entries at this one; at cursor 0 the database is done.

        A sparse table is passed over, which also leads to 0. kvstore.c: kvstoreScan()
        """
        if self.too_sparse(db):
            loop.exit = ExitReason.SPARSE
            return 0, []
        cursor, entries = db.expires.scan(db.expires_cursor)
        if cursor == 0:
            loop.exit = ExitReason.SWEPT
        return cursor, entries

    def too_sparse(self, db: RedisDb) -> bool:
        """Whether too few buckets are filled. expire.c: isExpiryDictValidForSamplingCb()"""
        num, slots = len(db.expires), db.expires.slots()
        return slots > DICT_HT_INITIAL_SIZE and num * 100 // slots < MIN_FILL_PERCENT

    def update_avg_ttl_over(self, db: RedisDb, ttls: LoopReport, windows: int) -> None:
        """Let the mean TTL (ms) of several windows weigh 2 % for each of them.

        The sum of a geometric progression: what is left of the distance between the old
        average and the mean shrinks by 2 % a window. Truncated toward zero.
        """
        if not ttls.ttl_samples:
            return
        avg = ttls.ttl_sum // ttls.ttl_samples
        if db.avg_ttl == 0:
            db.avg_ttl = avg
        else:
            db.avg_ttl = int(avg + (db.avg_ttl - avg) * AVG_TTL_FACTOR[windows - 1])


class KvstoreCycle82(KvstoreCycle74):
    """The cycle of Redis 8.2: it deletes a key one millisecond earlier than look-ups do.

    At ``now == when`` a look-up still finds the key, and the cycle deletes it.
    """

    alive_from_ms = 1


class ValkeyCycle9(KvstoreCycle74):
    """The cycle of Valkey 9, on a table whose buckets hold up to seven keys.

    It goes by the cached clock, needs fewer buckets for a window, and has no exception for
    tiny tables. The time between two fast cycles is asked before whether one is needed,
    and a call that is refused then has used it up. Hash fields, its second job, are not
    simulated.

    Valkey: expire.c, ``activeExpireCycle()``, ``activeExpireCycleJob()``.
    """

    buckets_per_key = 10

    def refusal(self, type: str, start_us: int) -> ExitReason | None:
        """Why this call does nothing, or None."""
        if self.server.check_client_pause_timeout_and_return_if_paused():
            return ExitReason.PAUSED
        if type == ACTIVE_EXPIRE_CYCLE_FAST:
            if start_us < self.last_fast_cycle + 2 * self.fast_duration_us:
                return ExitReason.TOO_SOON
            self.last_fast_cycle = start_us
            if not self.fast_cycle_wanted():
                return ExitReason.NOT_NEEDED
        return None

    def too_sparse(self, db: RedisDb) -> bool:
        """Whether there is less than one key for 100 buckets."""
        num, slots = len(db.expires), db.expires.slots()
        return slots > 0 and num * 100 // slots < MIN_FILL_PERCENT

    def window_ms(self) -> int:
        """The cached clock, which costs nothing."""
        return self.server.mstime
