"""The active expire cycle of Redis 2.4 to 5.0: keys drawn at random.

How it works. A window is 20 draws from the expires table (10 in 2.4). If more than a
quarter of a full window had died, another window follows. The same key may be drawn
twice; nothing is remembered between windows but which database is next.

Why so. A random sample of any table tells its share of dead keys, without a cursor that
could be wrong after a change. If a quarter of the sample had died, so has about a
quarter of the table, and it is worth going on.

Its limits, for which 6.0 gave it up: a key may have bad luck for a long time; the dead
settle near 25 % under load; every draw misses the processor's cache; and in a table
filled to 1 % a hundred draws find one key.

A worked example: 40 keys, all dead. Window 1 draws and deletes 20, 20 > 5: again.
Window 2: 20. Now no key is left. With 12 dead of 40, window 1 meets six of them on
average; 6 > 5 repeats, 5 ends the visit.

Since 2.4 the rule has kept its shape and changed in detail; each class below says how.
``active-expire-effort`` came with 6.0 and means nothing here.

Redis: expire.c of 5.0, redis.c of 2.4 to 3.0, ``activeExpireCycle()``.
"""

from __future__ import annotations

from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.expire import (
    ActiveExpireCycle,
    CycleReport,
    ExitReason,
    LoopReport,
)

REPEAT_SHARE = 4  # another window follows if more than 1 in 4 of a full window had died

REDIS_EXPIRELOOKUPS_PER_CRON = 10  # keys of a window in 2.4
REDIS_EXPIRELOOKUPS_TIME_LIMIT = 25  # ms, whatever hz is; in 2.4 that is always 10
TIME_CHECK_ITERATIONS_24 = 256  # windows of one database between two looks at the clock


class RandomCycle40(ActiveExpireCycle):
    """The cycle of Redis 4.0.3 to 5.0."""

    @property
    def effort(self) -> int:
        """Always the least: the parameters are those of effort 1 later."""
        return 0

    def fast_cycle_wanted(self) -> bool:
        """Only after a time-out; there is no second condition yet."""
        return self.timelimit_exit

    def sample_window(self, db: RedisDb, loop: LoopReport) -> None:
        """Draw keys; each draw moves a rehash by one step."""
        expires = db.expires
        now = self.window_ms()
        for _ in range(min(len(expires), self.keys_per_loop)):
            entry, draws = expires.pick_random_key()
            loop.buckets += draws
            if entry is None:
                break
            self.try_expire(db, entry, now, loop)
        # A bucket drawn at random is as far from the cache as the entry in it.
        self.charge(loop, self.server.cost.sampled_ns)

    def worth_another_window(self, loop: LoopReport) -> bool:
        """Whether more than a quarter of a full window had died, however long this one was."""
        return loop.expired > self.keys_per_loop // REPEAT_SHARE


class RandomCycle32(RandomCycle40):
    """The cycle of Redis 3.2 to 4.0.2: databases left at once are not counted.

    So the clock is looked at after 16 windows that were worked, not after 16 looks.
    """

    early_exit_iterations = 0


class RandomCycle26(RandomCycle32):
    """The cycle of Redis 2.6.15 to 3.0: avg_ttl is the mean of the old value and the window's."""

    def update_avg_ttl(self, db: RedisDb, loop: LoopReport) -> None:
        """Half the old value and half the window's mean, in which dead keys count as 0 ms."""
        if not loop.sampled:
            return
        avg = loop.ttl_sum // loop.sampled
        if db.avg_ttl == 0:
            db.avg_ttl = avg
        db.avg_ttl = (db.avg_ttl + avg) // 2


class RandomCycle24(RandomCycle26):
    """The cycle of Redis 2.4: 10 keys a window, every database in every cron.

    It knows no fast cycle, no share of the CPU, no rule for sparse tables and no average.
    Time goes by in seconds (see :class:`~miniredis.keyspace.db_old.RedisDb24`), and 25 ms
    may have passed for long before anybody looks: each database counts to 256 by itself.
    """

    @property
    def keys_per_loop(self) -> int:
        """Keys of a window."""
        return REDIS_EXPIRELOOKUPS_PER_CRON

    def fast_cycle_wanted(self) -> bool:
        """Never."""
        return False

    def dbs_per_call(self) -> int:
        """All."""
        return len(self.server.databases)

    def time_limit_us(self, type: str) -> int:
        """25 ms, in µs."""
        return REDIS_EXPIRELOOKUPS_TIME_LIMIT * 1000

    def visit_databases(self, report: CycleReport, record: bool) -> None:
        """Begin with database 0 in each call."""
        self.current_db = 0
        super().visit_databases(report, record)

    def expire_db(self, db: RedisDb, report: CycleReport, record: bool) -> None:
        """Take windows of one database until few of one had died, or time is up."""
        iterations = 0
        while True:
            loop = LoopReport(db.id, by=report.type)
            if record:
                report.loops.append(loop)
            self.take_window(db, loop)
            report.add(loop)
            iterations += 1
            if iterations % TIME_CHECK_ITERATIONS_24 == 0 and self.out_of_time(report):
                loop.exit = ExitReason.TIME_LIMIT
                return
            if not self.worth_another_window(loop):
                loop.exit = ExitReason.FEW_STALE if db.expires.index else ExitReason.NO_TTLS
                return

    def window_ms(self) -> int:
        """The last whole second, in ms."""
        return super().window_ms() // 1000 * 1000
