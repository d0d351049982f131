"""Passing idle time: runs of the cron in which nothing happens, worked out and not run.

A server whose keys live long does the same at every tick of its cron: it reads the clock
some ten times, samples one window of keys that are all alive, and lets two averages decay.
A year of that are 315,360,000 ticks at hz 10. Under a virtual clock they are passed over in
two ways, and what comes out is equal to the last digit:

* **Worked out.** A tick is a window (which entries, how long it takes) and some sums.
  :meth:`IdleStretch.tick` does that and nothing else, several times as fast as the cron.
* **Jumped over.** A tick begins at a whole µs, and what it does depends on the cursors
  alone, as long as no key dies and no table changes. So once the cursors stand where they
  stood before, the ticks since then will repeat: same windows, same µs. As many rounds of
  them as fit before the next death are done at once: sums are multiplied,
  ``expired_stale_perc`` decays until it does not change any more, ``avg_ttl`` is the
  business of ``keyspace/avg_ttl.py``.

Its limits. Only the cycle that walks buckets (6.0 to 7.0), up to 16 databases, a cron that
is the only event, and nobody who wants to hear of each cycle; see :func:`is_idle`. All
else ticks one by one. Before a server's first stretch is trusted, some worked-out ticks are
compared with real ones, so a change of the cron that is forgotten here costs speed and not
truth. ``server.idle.enabled = False`` makes every tick a real one.

A worked example: one key in a table of 4 buckets, hz 10. Window and readings take 1.0 µs, so
ticks come every 100,001 µs, and every window ends with the cursor behind the same bucket.
The second tick finds the cursors of the first: a round of 1 tick. The rest is one jump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.clock import NS_PER_MS, NS_PER_US, US_PER_MS, VirtualClock
from miniredis.keyspace.avg_ttl import Window, average_after
from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.expire import (
    ACTIVE_EXPIRE_CYCLE_SLOW,
    AVG_TTL_SAMPLES,
    BUCKETS_PER_KEY,
    CRON_DBS_PER_CALL,
    DICT_HT_INITIAL_SIZE,
    MIN_FILL_PERCENT,
    STALE_WEIGHT,
    TIME_CHECK_ITERATIONS,
    ActiveExpireCycle,
)
from miniredis.probe import Probe, hears, members
from miniredis.server.cron import METRICS_PERIOD_MS, REPLICATION_CRON_MS, effective_hz
from miniredis.structs.dict import HASHTABLE_MIN_FILL, Dict

if TYPE_CHECKING:
    from miniredis.server.server import Server

WORTH_TICKS = 3  # fewer are run one by one
TRIALS = 64  # worked-out ticks that are compared with real ones
MAX_ROUND = 500_000  # ticks that are remembered in search of a repetition: 400 bytes each
SAFETY_MS = 1000  # before the first death, after which no jump goes on
CURSOR_BITS = 0xFFFF_FFFF_FFFF_FFFF
MAX_REFUSALS = 64  # ticks after which it is tried again whether a server is idle

# Readings of the clock in one run of the cron, each charged: the cached clock, the LRU
# clock and the clients' idle time come before the cycle; five rates now and then.
READINGS_BEFORE_CYCLE = 3


class IdleTime:
    """The idle time of one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.enabled = True
        #: False leaves ``avg_ttl`` roughly right after a jump, for whoever does not look at it.
        self.exact_averages = True
        self._trials_left = TRIALS
        self._refusals = 0  # in a row
        self._try_at_us = 0

    @staticmethod
    def knows(engine: object) -> bool:
        """Whether the idle cycles of *engine* can be worked out."""
        return type(engine) is ActiveExpireCycle

    def pass_until(self, limit_us: int) -> bool:
        """Let crons that are due by *limit_us* (Unix µs) pass, as long as nothing happens.

        Whether any did. Called while the clock stands at the next one's instant.
        """
        server = self.server
        next_us = server.el.next_us
        tick_us = US_PER_MS * (1000 // server.hz)
        if not self.enabled or next_us is None or next_us < self._try_at_us:
            return False
        if limit_us - next_us < WORTH_TICKS * tick_us:
            return False
        with server.lock:
            if is_idle(server) and (
                self._compare() if self._trials_left else IdleStretch(server).run(limit_us)
            ):
                self._refusals = 0
                return True
        # Asking costs time too: wait longer and longer if it is in vain.
        self._refusals = min(2 * self._refusals + 1, MAX_REFUSALS)
        self._try_at_us = next_us + self._refusals * tick_us
        return False

    def _compare(self) -> bool:
        """Work the tick that is due out, then run it; whether it was one that can be.

        Unless both come to the same, this server ticks one by one for ever.
        """
        stretch = IdleStretch(self.server)
        if not stretch.tick():
            return False
        self.server.process_events()
        self._trials_left -= 1
        self.enabled = stretch.agrees()
        return True


def is_idle(server: Server) -> bool:
    """Whether a run of *server*'s cron does nothing but what :class:`IdleStretch` knows."""
    engine, pause, clock = server.expire_engine, server.pause, server.clock
    return (
        isinstance(clock, VirtualClock)
        and clock.ns() == (server.el.next_us or 0) * NS_PER_US
        and len(server.el) == 1
        and server.idle.knows(engine)
        and not engine.fast_cycle_wanted()
        and server.active_expire_enabled
        and server.masterhost is None
        and not server.repl.has_listeners()
        and not server.migrate_sockets.cached
        and not server.tracking.active
        and all(c.reply_buffer is None for c in server.clients.values())
        and not (pause.type or server.pause_cron or server.saving_scheduled)
        and not (server.blocked_clients or server.unblocked_clients)
        and len(server.databases) <= CRON_DBS_PER_CALL
        and not (server.config.timeout and server.clients)
        and not server.latency_monitor_threshold
        and server.hz == effective_hz(server)
        and all(metric.last_sample_count == count for metric, count in server.rates())
        and all(_accepts(probe) for probe in members(server.probe))
        and all(_rests(server, db) for db in server.databases)
    )


def _accepts(probe: Probe) -> bool:
    """Whether a probe needs not hear of each cycle."""
    each = ("cron", "expire_cycle", "expire_cycle_started")
    return hears(probe, "idle_crons") or not any(hears(probe, event) for event in each)


def _rests(server: Server, db: RedisDb) -> bool:
    """Whether the cron neither shrinks nor rehashes a table of *db*."""
    for d in (db.dict, db.expires):
        if d.rehashidx >= 0:
            if server.activerehashing:
                return False
        elif d.slots() > DICT_HT_INITIAL_SIZE and len(d) * 100 // d.slots() < HASHTABLE_MIN_FILL:
            return False
    return bool(db.expires.index) or db.avg_ttl == 0


class IdleDb:
    """One database with TTLs during a stretch. Its tables do not change."""

    __slots__ = (
        "avg_ttl",
        "cursor",
        "db",
        "empty_before",
        "mask",
        "next_avg",
        "next_cursor",
        "sparse",
        "tables",
        "want",
    )

    def __init__(self, engine: ActiveExpireCycle, db: RedisDb, empty_before: int) -> None:
        self.db = db
        self.empty_before = empty_before  # databases without TTLs visited since the last one
        expires: Dict = db.expires
        self.want = min(len(expires), engine.keys_per_loop)
        tables = expires.ht_table if expires.rehashidx >= 0 else expires.ht_table[:1]
        self.tables = [(table, len(table) - 1) for table in tables]
        self.mask = max(mask for _, mask in self.tables)
        slots = expires.slots()
        self.sparse = (
            slots > DICT_HT_INITIAL_SIZE and len(expires) * 100 // slots < MIN_FILL_PERCENT
        )
        self.cursor = self.next_cursor = db.expires_cursor
        self.avg_ttl = self.next_avg = db.avg_ttl

    def window(self, now_ms: int) -> tuple[int, int, int] | None:
        """Sampled keys, buckets, and the sum of the keys' instants of death, from the next cursor.

        None if one of them is not to be alive in this ms or dies with it.
        expire.c: activeExpireCycle(), of living keys
        """
        want, most, cursor = self.want, self.want * BUCKETS_PER_KEY, self.next_cursor
        tables = self.tables
        sampled = buckets = total = 0
        while sampled < want and buckets < most:
            for table, mask in tables:
                entry = table[cursor & mask]
                buckets += 1
                while entry is not None:
                    when = entry.val
                    if when <= now_ms:
                        return None
                    total += when
                    sampled += 1
                    entry = entry.next
            cursor += 1
        self.next_cursor = cursor & CURSOR_BITS
        return sampled, buckets, total


class IdleStretch:
    """Ticks of an idle server, worked out from the one that is due on.

    Nothing is written to the server before :meth:`run` ends.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        engine, cost = server.expire_engine, server.cost
        assert isinstance(engine, ActiveExpireCycle)
        self.engine = engine
        self.reading_ns = cost.clock_read_ns
        self.window_ns, self.bucket_ns = cost.window_ns, cost.bucket_ns
        self.sampled_ns = cost.sampled_ns
        self.limit_us = engine.time_limit_us(ACTIVE_EXPIRE_CYCLE_SLOW)
        tick_ms = 1000 // server.hz
        self.tick_us = tick_ms * US_PER_MS
        self.period = max(METRICS_PERIOD_MS // tick_ms, 1)  # ticks from rate to rate
        self.rates = len(server.rates())
        self.dbs = self._find_dbs()
        # What a tick changes.
        self.next_us = self.first_us = self.last_us = server.el.next_us or 0
        self.ns = 0  # when the last tick was over
        self.cronloops = self.first_loop = server.cronloops
        self.repl_loops = server.repl.cron_loops
        self.stale = server.stat_expired_stale_perc
        self.used_before, self.time_used = server.stat_expire_cycle_time_used, 0
        self.ticks = self.rate_samples = 0
        self.last_rate_us = 0
        # Of each tick: its start; time used and cursors before it; its windows.
        self.log: list[tuple[int, int, list[int], list[tuple[IdleDb, int, int]]]] = []
        self.seen: dict[tuple[int, ...], int] = {}

    def _find_dbs(self) -> list[IdleDb]:
        """Databases with TTLs in the order of a call, which visits all."""
        databases = self.server.databases
        found = []
        empty = 0
        for i in range(len(databases)):
            db = databases[(self.engine.current_db + i) % len(databases)]
            if db.expires.index:
                found.append(IdleDb(self.engine, db, empty))
                empty = 0
            else:
                empty += 1
        return found

    def run(self, limit_us: int) -> bool:
        """Work ticks out until *limit_us* or until one is none of the idle ones; keep them."""
        searching = True
        while self.next_us <= limit_us:
            if searching:
                state = (self.cronloops % self.period, *(d.cursor & d.mask for d in self.dbs))
                before = self.seen.setdefault(state, len(self.log))
                if before < len(self.log):
                    self._jump(before, limit_us)
                    searching = False
                    self.log.clear()
                    continue
                searching = before < MAX_ROUND
            if not self.tick():
                break
            if not searching:
                self.log.clear()
        if self.ticks:
            self._keep()
        return self.ticks > 0

    def tick(self) -> bool:
        """Work one tick out; False, and nothing changed, if it is none of the idle ones."""
        start_us, reading_ns = self.next_us, self.reading_ns
        rates = self.cronloops % self.period == 0
        ns = start_us * NS_PER_US + (READINGS_BEFORE_CYCLE + rates * self.rates) * reading_ns
        begun_us = ns // NS_PER_US
        ns += reading_ns
        iterations = 0
        windows = []
        for d in self.dbs:
            d.next_cursor, d.next_avg = d.cursor, d.avg_ttl
            iterations += d.empty_before + 1
            if d.sparse:
                ns += reading_ns
                continue
            while True:
                now_us = ns // NS_PER_US
                window = d.window(now_us // US_PER_MS)
                if window is None:
                    return False
                sampled, buckets, total = window
                ns += reading_ns + self.window_ns
                ns += buckets * self.bucket_ns + sampled * self.sampled_ns
                if iterations % TIME_CHECK_ITERATIONS == 0:
                    if ns // NS_PER_US - begun_us > self.limit_us:
                        return False
                    ns += reading_ns
                if sampled:
                    break
                iterations += 1
            mean = total // sampled
            windows.append((d, mean, now_us - start_us))
            ttl = mean - now_us // US_PER_MS
            average = d.next_avg or ttl
            d.next_avg = average // AVG_TTL_SAMPLES * (AVG_TTL_SAMPLES - 1) + ttl // AVG_TTL_SAMPLES
        self._end_tick(ns, ns // NS_PER_US - begun_us, windows)
        return True

    def _end_tick(self, ns: int, elapsed_us: int, windows: list[tuple[IdleDb, int, int]]) -> None:
        """Take over what a tick has come to that began its account at *ns*."""
        self.log.append((self.next_us, self.time_used, [d.cursor for d in self.dbs], windows))
        for d in self.dbs:
            d.cursor, d.avg_ttl = d.next_cursor, d.next_avg
        if self.cronloops % self.period == 0:
            self.rate_samples += 1
            self.last_rate_us = self.next_us
        self.time_used += elapsed_us
        self.stale *= 1 - STALE_WEIGHT
        self.cronloops += 1
        self.ticks += 1
        self.last_us = self.next_us
        ns += self.reading_ns  # the account of the cycle; then the cron is over
        self.next_us = ns // NS_PER_US + self.tick_us
        self.ns = ns + self.reading_ns  # of the fast cycle that is refused

    def _jump(self, before: int, limit_us: int) -> None:
        """Pass over as many rounds like the ticks from number *before* on as have room."""
        begun_us, used_before, cursors, _ = self.log[before]
        round_us, ticks = self.next_us - begun_us, len(self.log) - before
        deaths = (e.val for d in self.dbs if not d.sparse for e in d.db.expires.index.values())
        first_death_us = min(deaths, default=limit_us) * US_PER_MS
        rounds = (min(limit_us, first_death_us - SAFETY_MS * US_PER_MS) - self.next_us) // round_us
        if rounds < 1:
            return
        for d, cursor in zip(self.dbs, cursors, strict=True):
            d.cursor = d.cursor + rounds * (d.cursor - cursor) & CURSOR_BITS
            windows = self._windows_of(d, before)
            if windows and self.server.idle.exact_averages:
                d.avg_ttl = average_after(d.avg_ttl, windows, round_us, self.next_us, rounds)
        for _ in range(rounds * ticks):
            stale = self.stale * (1 - STALE_WEIGHT)
            if stale == self.stale:
                break  # 0, or so small that rounding keeps it
            self.stale = stale
        self.time_used += rounds * (self.time_used - used_before)
        self.rate_samples += rounds * ticks // self.period
        self.cronloops += rounds * ticks
        self.ticks += rounds * ticks
        self.ns += rounds * round_us * NS_PER_US
        self.next_us += rounds * round_us
        self.last_us += rounds * round_us
        self.last_rate_us += rounds * round_us

    def _windows_of(self, d: IdleDb, before: int) -> list[Window]:
        """The windows of a database since tick number *before*, which begins a round."""
        begun_us = self.log[before][0]
        return [
            (mean, start_us - begun_us + at_us)
            for start_us, _, _, windows in self.log[before:]
            for of, mean, at_us in windows
            if of is d
        ]

    def _keep(self) -> None:
        """Write to the server what the ticks have come to."""
        server, engine, dbnum = self.server, self.engine, len(self.server.databases)
        for d in self.dbs:
            d.db.expires_cursor, d.db.avg_ttl = d.cursor, d.avg_ttl
        engine.current_db += self.ticks * dbnum
        engine.cycles += self.ticks
        server.resize_db += self.ticks * dbnum
        server.repl.cron_loops = self.repl_loops + self._replication_crons()
        server.cronloops = self.cronloops
        server.stat_expired_stale_perc = self.stale
        server.stat_expire_cycle_time_used += self.time_used
        server.update_cached_time(self.last_us)
        rates = (self.cronloops - 1) % self.period == 0
        server.refresh_lru_clock(self._reading_ms(self.last_us, 1 + rates * self.rates))
        for i, (metric, _) in enumerate(server.rates()):
            if self.rate_samples:
                metric.stand_still(self.rate_samples, self._reading_ms(self.last_rate_us, 1 + i))
        assert isinstance(server.clock, VirtualClock)
        server.clock.pass_to_ns(self.ns)
        server.el.pass_to(self.last_us, self.next_us)
        if server.probed:
            server.probe.idle_crons(self.first_us, self.last_us, self.ticks, self.time_used)

    def _replication_crons(self) -> int:
        """How many of the ticks have run the cron of replication, which only counts."""
        period = max(REPLICATION_CRON_MS * US_PER_MS // self.tick_us, 1)
        return -(-self.cronloops // period) - -(-self.first_loop // period)

    def _reading_ms(self, tick_us: int, readings: int) -> int:
        """What the clock shows after so many *readings* in the tick that began at *tick_us*."""
        return (tick_us * NS_PER_US + readings * self.reading_ns) // NS_PER_MS

    def agrees(self) -> bool:
        """Whether the server, which has really run these ticks, has come to the same."""
        server, clock = self.server, self.server.clock
        assert isinstance(clock, VirtualClock)
        return (
            (clock.ns(), server.el.next_us, server.us) == (self.ns, self.next_us, self.last_us)
            and all(d.db.expires_cursor == d.cursor for d in self.dbs)
            and all(d.db.avg_ttl == d.avg_ttl for d in self.dbs)
            and server.cronloops == self.cronloops
            and server.repl.cron_loops == self.repl_loops + self._replication_crons()
            and server.stat_expired_stale_perc == self.stale
            and server.stat_expire_cycle_time_used == self.used_before + self.time_used
        )
