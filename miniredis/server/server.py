"""The server: its state, and the way of a command through it.

:meth:`Server.process_command` is what everything comes through, whatever a client is
connected by: due time events first, then the checks that cut across commands, then
:meth:`Server.call`, which runs the command and accounts for it.

Redis: server.c.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from typing import Any, NoReturn

from miniredis.clock import Clock, CostModel, SystemClock, VirtualClock
from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_MASTER,
    CLIENT_SLAVE,
    CLIENT_UNAUTHENTICATED,
)
from miniredis.commands.pubsub import pubsub_unsubscribe_all
from miniredis.commands.table import Command, lookup
from miniredis.errors import CommandError, ServerClosedError
from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.engine import DEFAULT_ENGINE, Engine, find_engine
from miniredis.keyspace.expire import (
    ACTIVE_EXPIRE_CYCLE_FAST,
    ExpireEngine,
    StaleGate,
)
from miniredis.keyspace.notify import NOTIFY_EVERYTHING
from miniredis.keyspace.quicklist import PACKED_THRESHOLD
from miniredis.keyspace.writable_replica import SlaveKeysWithExpire
from miniredis.probe import SILENT, Probe, hears
from miniredis.reply import BLOCKED, NO_REPLY, Reply
from miniredis.server.acl import Acl
from miniredis.server.arguments import (
    check_clock,
    check_options,
    refuse_copy,
)
from miniredis.server.blocked import Blocking
from miniredis.server.checks import check_command, reply_is_wanted
from miniredis.server.client import Client
from miniredis.server.config import PROTECTED_ACTION_YES, Config
from miniredis.server.cron import server_cron
from miniredis.server.evict import Eviction
from miniredis.server.idle import IdleTime
from miniredis.server.keyspace_hooks import KeyspaceHooks
from miniredis.server.latency import LatencyMonitor
from miniredis.server.listeners import Listeners
from miniredis.server.migrate import Dial, MigrateSockets
from miniredis.server.monitor import replication_feed_monitors
from miniredis.server.multi import unwatch_all_keys
from miniredis.server.outside import Outside
from miniredis.server.pause import (
    CLIENT_PAUSE_OFF,
    ClientPause,
)
from miniredis.server.propagation import Propagation
from miniredis.server.repl_family import join_family
from miniredis.server.repl_link import LOCALHOST
from miniredis.server.replication import Replication
from miniredis.server.replication_api import ReplicationApi
from miniredis.server.saving import Saving
from miniredis.server.script import Scripting
from miniredis.server.slowlog import SlowLog
from miniredis.server.tracking import Tracking
from miniredis.structs.ae import EventLoop
from miniredis.structs.hashing import HashFunction, fast_hash

IDLE_CRONS_ENOUGH = 100  # missed cron runs without a deletion after which the rest is skipped


class Server(Outside, Saving, ReplicationApi, Listeners, KeyspaceHooks):
    """A Redis server in this process.

    *clock* is a :class:`SystemClock` (default) or :class:`VirtualClock`. *seed* decides
    every random choice and the layout of the tables; None draws one. *cost* is what work
    costs in virtual time. *hash_function* replaces the seeded hash. *expire_engine* names
    the version of Redis whose expiry it is, see ``keyspace/engines.py``; *stale_gate* chooses
    between the gate as it is and as it was meant, see ``keyspace/expire.py``. *probe*
    hears internal events; *record_history* keeps what happens to each key, see
    ``server/listeners.py``.

    *replica_of* makes it a replica of another server, on that server's clock;
    *link_delay_ms* is how long a message between the two takes. Other keywords are
    parameters of redis.conf in Python's spelling, e.g. ``hz=100``,
    ``active_expire_effort=5``, ``databases=4``.

    Plain attributes carry Redis's names. All of them may be read; ``lock`` is held while
    a command or a time event runs.
    """

    dial: Dial | None = None  # calls other servers, if there is a network

    def __init__(
        self,
        clock: Clock | None = None,
        seed: int | None = None,
        *,
        cost: CostModel | None = None,
        hash_function: HashFunction | None = None,
        expire_engine: str | Engine = DEFAULT_ENGINE,
        stale_gate: StaleGate = StaleGate.DEAD,
        probe: Probe = SILENT,
        replica_of: Server | None = None,
        link_delay_ms: float = 0,
        record_history: bool = False,
        **config: Any,
    ) -> None:
        if replica_of is not None:
            clock, config = join_family(replica_of, clock, config)
        self.clock = SystemClock() if clock is None else clock
        check_clock(self.clock)
        check_options(seed, cost, hash_function, stale_gate, record_history)
        self.seed = random.SystemRandom().getrandbits(63) if seed is None else seed
        self.rng = random.Random(self.seed)
        self.hash_function = hash_function or fast_hash(self.seed)
        self.cost = cost or CostModel()
        self.propagation = Propagation(self)
        self.monitors: list[Client] = []
        self.acl = Acl(self)
        self.tracking = Tracking(self)
        self.eviction = Eviction(self)
        self.config = Config(**config)
        self.repl_slave_ro: bool = self.config.replica_read_only
        self.masterhost: str | None = None
        self.us = self.clock.us()  # cached clock, and the highest one seen by a command
        self.mstime = self.us // 1000
        # Servers that replicate each other share one lock, lest two wait for each other's.
        self.lock = threading.RLock() if replica_of is None else replica_of.lock
        self.repl = Replication(self, [] if replica_of is None else replica_of.repl.peers)
        self.probe = probe
        self.closing = self.closed = False
        self.migrate_sockets = MigrateSockets(self)
        self.config.on_change = self.config_changed
        self.run_id = "%040x" % self.rng.getrandbits(160)

        self.start_us = self.us
        # Depth of call(). Redis has a second counter, in_nested_call, that goes with it; from
        # 7.2 on there is one, execution_nesting.
        self.fixed_time_expire = 0
        self.in_exec = False
        self.loading = False
        self.current_client: Client | None = None
        self.clients: dict[int, Client] = {}
        self.clients_to_close: deque[Client] = deque()
        self.next_client_id = 1
        self.pubsub_channels: dict[bytes, dict[Client, None]] = {}
        self.pubsub_patterns: dict[bytes, dict[Client, None]] = {}
        self.pubsub_shard_channels: dict[bytes, dict[Client, None]] = {}
        # One for all of them too: what one does may be what another one's client waits for.
        self.unblocked: threading.Condition = (
            threading.Condition(self.lock) if replica_of is None else replica_of.unblocked
        )
        self.blocked_clients = 0
        self.unblocked_clients: deque[Client] = deque()
        self.ready_keys: list[tuple[RedisDb, bytes]] = []  # in the order they became ready
        self.blocking = Blocking(self)
        self.pause = ClientPause(self)
        self.slowlog = SlowLog()
        self.latency = LatencyMonitor()
        self.scripting = Scripting(self)

        self.pause_cron = False
        self.active_expire_enabled = True
        self.cronloops = 0
        self.resize_db = self.rehash_db = 0  # databases the cron looks at next
        self.quicklist_packed_threshold = PACKED_THRESHOLD  # bytes, see keyspace/quicklist.py
        self.dirty = 0  # changes of the data set, ever
        super().__init__()
        self.gates = False
        self.stale_gate = stale_gate
        self.hz: int = self.config.hz
        self.apply_config()
        self.refresh_lru_clock(self.mstime)
        engine = find_engine(expire_engine)
        self.databases = [engine.database(id, self) for id in range(self.config.databases)]
        self.expire_engine: ExpireEngine = engine.cycle(self, stale_gate)
        self.slave_keys_with_expire = SlaveKeysWithExpire(self)
        self.ttl_clock_frozen = engine.ttl_clock_frozen
        self.rehash_databases = engine.rehash_databases
        self._command_cache: dict[bytes, Command] = {}
        self.saving_scheduled = False  # the cron has something to save
        self.follow_appendonly()
        self.idle = IdleTime(self)
        self.el = EventLoop(self.clock)
        self.el.create_time_event(1, lambda: server_cron(self))
        self.eviction.configure()
        if isinstance(self.clock, VirtualClock):
            self.clock.attach(self)
        if record_history:
            self.record_history()
        self.repl.peers.append(self)
        self.link_delay_ms = link_delay_ms
        if replica_of is not None:
            self.repl.begin_as_replica(LOCALHOST, replica_of.config.port)
        elif self.config.replicaof is not None:
            host, port = self.config.replicaof
            self.repl.begin_as_replica(host.decode("utf-8", "surrogateescape"), port)

    # -- listeners ------------------------------------------------------------------

    def update_listeners(self) -> None:
        """Note who listens to what, so that hot paths need not ask for it."""
        self.probed = self._probe is not SILENT
        events: int = self.config.notify_keyspace_events
        probe = self._probe
        self.notify_mask = NOTIFY_EVERYTHING if hears(probe, "keyspace_event") else events
        self.propagation.update_targets(hears(probe, "propagated"))
        self.overheard = (
            self.propagation.active
            or bool(self.monitors)
            or self.tracking.active
            or hears(probe, "command")
        )
        self.writable_replica = self.masterhost is not None and not self.repl_slave_ro
        self.hears_expires = self.probed or self.writable_replica

    # -- configuration --------------------------------------------------------------

    def apply_config(self) -> None:
        """Cache what hot paths ask of the configuration; run after every change."""
        config = self.config
        self.hz = config.hz
        self.active_expire_effort: int = config.active_expire_effort
        self.activerehashing: bool = config.activerehashing
        self.repl_slave_ro = config.replica_read_only
        self.update_listeners()
        self.acl.configure(config.requirepass)
        self.lazyfree_lazy_expire: bool = config.lazyfree_lazy_expire
        self.latency_monitor_threshold: int = config.latency_monitor_threshold
        self.latency_tracking: bool = config.latency_tracking
        self.maxmemory_lfu = "lfu" in config.maxmemory_policy
        # The shortest command in µs that slow log or latency monitor want to hear of.
        thresholds = []
        if config.slowlog_log_slower_than >= 0:
            thresholds.append(config.slowlog_log_slower_than)
        if self.latency_monitor_threshold:
            thresholds.append(self.latency_monitor_threshold * 1000)
        self.slow_us = min(thresholds, default=1 << 62)
        self.refresh_lru_clock(self.mstime)
        self.update_gates()
        if hasattr(self, "el"):  # not while the server is made
            self.follow_appendonly()

    def update_gates(self) -> None:
        """Note whether any command has more to pass than existence and arity."""
        config = self.config
        self.gates = (
            self.pause.type != CLIENT_PAUSE_OFF
            or self.acl.active
            or config.enable_debug_command != PROTECTED_ACTION_YES
            or self.masterhost is not None
            or config.min_replicas_to_write > 0
            or self.stale_gate is StaleGate.REPAIRED
            or self.scripting.is_timed_out
            or self.tracking.active
            or config.maxmemory > 0
        )

    # -- clients ----------------------------------------------------------------------

    def create_client(self, addr: str = "", laddr: str = "") -> Client:
        """A new client; *addr* and *laddr* are the far and near ``host:port``.

        networking.c: createClient()
        """
        with self.lock:
            self._check_open()
            self.free_clients_in_async_free_queue()
            c = Client(self, self.next_client_id, addr or "127.0.0.1:0", laddr or "127.0.0.1:0")
            self.next_client_id += 1
            if self.acl.default_needs_password():
                c.flags |= CLIENT_UNAUTHENTICATED
            self.clients[c.id] = c
            self.stat_numconnections += 1
            return c

    def free_client_async(self, c: Client) -> None:
        """Forget a client at once, or, if something runs just now, soon.

        For a transport that the garbage collector takes away, which it may do in the middle
        of a command. networking.c: freeClientAsync()
        """
        self.clients_to_close.append(c)
        if not self.lock._is_owned() and self.lock.acquire(blocking=False):  # type: ignore[attr-defined]
            try:
                self.free_clients_in_async_free_queue()
            finally:
                self.lock.release()

    def free_clients_in_async_free_queue(self) -> None:
        """Forget the clients that have waited for it. networking.c"""
        while self.clients_to_close:
            self.free_client(self.clients_to_close.popleft())

    def free_client(self, c: Client) -> None:
        """Forget a client whose connection has ended. networking.c: freeClient()"""
        with self.lock:
            if self.clients.pop(c.id, None) is None:
                return
            was_blocked = c.blocked
            pubsub_unsubscribe_all(c)
            unwatch_all_keys(c)
            self.pause.forget(c)
            self.blocking.forget(c)
            self.stop_monitoring(c)
            self.tracking.disable(c)
            c.outbox.clear()
            if c.flags & (CLIENT_MASTER | CLIENT_SLAVE):
                self.repl.client_freed(c, was_blocked)
            c.flags |= CLIENT_CLOSE_AFTER_REPLY
            self.unblocked.notify_all()  # a thread that waits for this client

    def kill_client(self, c: Client) -> None:
        """Close another client's connection: CLIENT KILL."""
        with self.lock:
            self.free_client(c)
            c.on_close()

    # -- a command's way ----------------------------------------------------------------

    def process_command(self, c: Client, argv: list[bytes]) -> Reply:
        """Run one command of a client. *argv* must not be empty and is not copied.

        Returns the reply; an error is returned, not raised, as a ``CommandError``.
        ``BLOCKED`` means that the reply will come later through ``c.outbox``.

        Raises :class:`ServerClosedError` after :meth:`close`.

        server.c: processCommand()
        """
        with self.lock:
            now = self.clock.us()
            next_us = self.el.next_us
            if next_us is None or not self.us <= now < next_us:
                self._check_open()
                self.process_events()
                now = self.clock.us()
            cmd = self._command_cache.get(argv[0]) or self._lookup_command(argv)
            self.current_client = c
            c.lastcmd = cmd
            c.lastinteraction_us = now
            try:
                if (
                    cmd is None
                    or c.flags
                    or self.gates
                    or (len(argv) != cmd.arity and not 0 > cmd.arity >= -len(argv))
                ):
                    reply = self._process_unusual(c, cmd, argv, now)
                else:
                    reply = self.call(c, cmd, argv, now)
                    if c.flags and not reply_is_wanted(c):
                        reply = NO_REPLY
            finally:
                self.current_client = None
            if self.blocked_clients or self.unblocked_clients or self.expire_engine.timelimit_exit:
                self._after_command()
            return reply

    def _after_command(self) -> None:
        """What may follow a command at once: serving who waited for it, and more."""
        if self.scripting.is_timed_out:
            return  # what the slow script has made ready waits for its end
        if self.ready_keys:
            self.blocking.handle_clients_blocked_on_keys()
        if (
            self.unblocked_clients
            or self.expire_engine.timelimit_exit
            or self.blocking.timeout_due()
            or self.repl.waits.get_ack_from_slaves
        ):
            self.before_sleep()

    def _process_unusual(
        self, c: Client, cmd: Command | None, argv: list[bytes], now: int
    ) -> Reply:
        """A command that needs a closer look before it may run, and whose reply does too."""
        c.cmd = cmd
        c.argv = argv
        reply = check_command(c, cmd, argv)
        if reply is None:
            assert cmd is not None
            reply = self.call(c, cmd, argv, now)
        if self.stale_gate is StaleGate.REPAIRED and not self.scripting.is_timed_out:
            self.before_sleep()  # a fast cycle may follow any command, not only a time-out
        if c.flags and reply is not BLOCKED and not reply_is_wanted(c):
            reply = NO_REPLY
        return self.tracking.after_command(c, reply) if self.tracking.active else reply

    def _lookup_command(self, argv: list[bytes]) -> Command | None:
        """Find the row of a command, remembering names that have no subcommands."""
        cmd = lookup(argv)
        if cmd is not None and not cmd.subcommands and "|" not in cmd.name:
            name = cmd.name.encode()
            for spelling in (name, name.upper()):
                self._command_cache[spelling] = cmd
        return cmd

    def call(self, c: Client, cmd: Command, argv: list[bytes], now: int | None = None) -> Reply:
        """Run a command that has passed all checks, and account for it.

        Inside, the cached clock stands still (``fixed_time_expire``): only the outermost
        call sets it, so all commands of a transaction see the same keys alive. What the
        command changed, and the DELs of keys that it found expired, are propagated
        together at the end of the outermost call.

        server.c: call()
        """
        call_timer = self.clock.us() if now is None else now
        if self.fixed_time_expire == 0:
            self.us = call_timer
            self.mstime = call_timer // 1000
        dirty = self.dirty
        c.cmd = cmd
        c.argv = argv
        self.fixed_time_expire += 1
        stats = self.command_stats.get(cmd) or self.new_command_stats(cmd)
        try:
            reply = cmd.proc(c, *argv[1:])  # type: ignore[misc]
        except CommandError as error:
            stats.failed_calls += 1
            if not error.counted:
                self.count_error(error)
            reply = error
        finally:
            self.fixed_time_expire -= 1
        duration = self.clock.us() - call_timer
        stats.calls += 1
        stats.usec += duration
        if reply is BLOCKED:
            c.duration = duration
        elif self.latency_tracking:
            stats.histogram[duration] += 1
        self.stat_numcommands += 1
        if duration >= self.slow_us:
            self._note_slow(c, cmd, argv, duration)
        if self.overheard:
            return self._tell_listeners(c, cmd, argv, reply, duration, self.dirty > dirty)
        return reply

    def _tell_listeners(
        self,
        c: Client,
        cmd: Command,
        argv: list[bytes],
        reply: Reply,
        duration: int,
        changed: bool,
    ) -> Reply:
        """Pass on a command that has just run; the reply, unless it was sent here."""
        if self.monitors and not cmd.hidden_from_monitor:
            reply = replication_feed_monitors(c, argv, reply)
        if self.propagation.targets:
            self.propagation.after_call(c, cmd, argv, changed)
            if reply is not BLOCKED:
                c.woff = self.repl.master_repl_offset
        if self.probed:
            self.probe.command(c, c.redacted(argv), reply, duration)
        return self.tracking.after_call(c, cmd, reply) if self.tracking.active else reply

    def _note_slow(self, c: Client, cmd: Command, argv: list[bytes], duration: int) -> None:
        """Slow log and latency monitor. server.c: call()"""
        event = "fast-command" if "fast" in cmd.flags else "command"
        self.latency_add_sample_if_needed(event, duration // 1000)
        if not c.flags & CLIENT_BLOCKED:
            self.slowlog_push(c, cmd, argv, duration)

    def slowlog_push(self, c: Client, cmd: Command, argv: list[bytes], duration: int) -> None:
        """Log a command if it took long enough. server.c: slowlogPushCurrentCommand()"""
        threshold = self.config.slowlog_log_slower_than
        max_len = self.config.slowlog_max_len
        if 0 <= threshold <= duration and "skip_slowlog" not in cmd.flags and max_len:
            argv = c.redacted(argv)
            self.slowlog.push_entry(
                argv, duration, self.clock.us() // 1_000_000, c.addr.encode(), c.name, max_len
            )

    # -- time events --------------------------------------------------------------------

    def next_event_us(self) -> int | None:
        """The instant of the next time event in µs; for the virtual clock."""
        return self.el.next_us

    def process_due_events(self) -> None:
        """Run what is due now; for the virtual clock, which is perhaps moved on so far that
        idle time may be passed over.
        """
        if not (self.clock.quiet_until_us and self.idle.pass_until(self.clock.quiet_until_us)):
            self.process_events()

    def process_events(self) -> None:
        """Run due time events, then what precedes a sleep.

        After a time in which nobody came (an embedded server has no thread of its own),
        the cron runs that were missed are made up for, as long as they find work.
        """
        with self.lock:
            if self.closed or self.scripting.is_timed_out:
                return  # nothing may change under a slow script. ae.c: AE_FILE_EVENTS alone
            now = self.clock.us()
            late_us = 0 if self.clock.virtual or self.el.next_us is None else now - self.el.next_us
            self.us = min(self.us, now)
            self.el.process_time_events()
            self.before_sleep()
            self._make_up_for_missed_crons(late_us * self.hz // 1_000_000)

    def _make_up_for_missed_crons(self, missed: int) -> None:
        """Run up to *missed* crons now, until 100 in a row have found nothing to do."""
        idle = 0
        while missed > 0 and idle < IDLE_CRONS_ENOUGH:
            if not any(db.expires.index or db.dict.is_rehashing() for db in self.databases):
                return
            before = self.stat_expiredkeys
            server_cron(self)
            self.before_sleep()
            missed -= 1
            idle = 0 if self.stat_expiredkeys > before else idle + 1

    def before_sleep(self) -> None:
        """Waits that are over, a fast cycle if one is wanted, then clients let go.

        server.c: beforeSleep()
        """
        with self.lock:
            if self.blocked_clients:
                self.blocking.handle_blocked_clients_timeout()
            if self.clients_to_close:
                self.free_clients_in_async_free_queue()
            if self.active_expire_enabled and self.masterhost is None:
                if self.expire_engine.fast_cycle_wanted():
                    self.expire_engine.active_expire_cycle(ACTIVE_EXPIRE_CYCLE_FAST)
                else:
                    self.ustime()  # a call that is refused has looked at the clock
            if self.repl.failover.active:
                self.repl.failover.update()
            if self.repl.waits.busy:
                self.repl.waits.process_clients_waiting_replicas()
            if self.unblocked_clients:
                self.blocking.process_unblocked_clients()
            if self.repl.waits.get_ack_from_slaves:
                self.repl.waits.send_getack_to_replicas()
            if self.tracking.has_news:
                self.tracking.broadcast_invalidation_messages()
            if self.ready_keys:
                self.blocking.handle_clients_blocked_on_keys()

    def close(self) -> None:
        """Answer no command any more and drop all clients. Harmless when called again."""
        with self.lock:
            if self.closed:
                return
            self.closing = True
            self.repl.shut_down()
            self.migrate_sockets.close_all()
            for c in list(self.clients.values()):
                self.kill_client(c)
            self.closed = True
            self.el = EventLoop(self.clock)
            if isinstance(self.clock, VirtualClock):
                self.clock.detach(self)
            self.unblocked.notify_all()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        refuse_copy(self)

    def _check_open(self) -> None:
        if self.closed:
            raise ServerClosedError("this miniredis server was closed")

    def _check(self) -> None:
        """Assert the invariants of all databases and of the event loop."""
        for db in self.databases:
            db._check()
        self.el._check()
        self.repl._check()
        self.blocking._check()
        self.tracking._check()
        self.eviction._check()
        assert self.fixed_time_expire == 0
        assert not self.in_exec
