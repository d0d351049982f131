"""Clients that wait: for an element of a list or sorted set, a stream's entry, replicas.

A command that has to wait calls ``Client.block_for_keys`` and returns ``BLOCKED``. Whoever
adds a key (``RedisDb.add``; XADD for a stream that is there) signals it as ready. After the
command, transaction or script, never within it, the ready keys are served in the order
in which they became ready, each to the clients that wait for it in the order in which
they came.

Worked example: A waits for k, B for k and m, C for m. ``MULTI, RPUSH m 1, RPUSH k 2, EXEC``
makes m ready, then k. m is served first: B has come before C and gets 1. Then k: A gets 2.
C waits on.

Times are looked at once in each turn of the event loop, after commands and after the
cron, and compared in whole ms: a client whose time is up at t is let go in the first turn
at t + 1 ms or later, which without other commands is the next cron. A push that comes
before that still serves it.

Redis: blocked.c, timeout.c.
"""

from __future__ import annotations

import heapq
from collections import deque
from itertools import count
from typing import TYPE_CHECKING

from miniredis.commands.blocking import (
    BLOCKED_BY_TYPE,
    BLOCKED_POSTPONE,
    BLOCKED_STREAM,
    BLOCKED_TYPES,
    NO_TIMEOUT,
    BlockingState,
)
from miniredis.commands.client_flags import (
    CLIENT_BLOCKED,
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_PENDING_COMMAND,
    CLIENT_UNBLOCKED,
)
from miniredis.errors import CommandError
from miniredis.keyspace.db import LOOKUP_NONOTIFY, LOOKUP_NOSTATS, RedisDb
from miniredis.keyspace.object import OBJ_STREAM, RedisObject
from miniredis.reply import BLOCKED, NO_REPLY, Blocked, Reply
from miniredis.server.checks import reply_is_wanted

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server


class Blocking:
    """The clients of one server that wait, and those that do no more."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.by_type = [0] * BLOCKED_TYPES  # server.h: blocked_clients_by_type
        # (end in ms, number of the wait, client, what it waits for), earliest first; waits
        # that are over stay until their time comes. server.h: clients_timeout_table
        self._timeouts: list[tuple[int, int, Client, BlockingState]] = []
        self._numbers = count()
        self._processing = False

    # -- beginning and ending a wait ------------------------------------------------------

    def block_client(self, c: Client, state: BlockingState) -> Blocked:
        """Let *c* wait; the reply of the command that does. blocked.c: blockClient()"""
        server = self.server
        c.flags |= CLIENT_BLOCKED
        c.bpop = state
        server.blocked_clients += 1
        self.by_type[state.btype] += 1
        if state.timeout != NO_TIMEOUT:
            heapq.heappush(self._timeouts, (state.timeout, next(self._numbers), c, state))
        if state.btype == BLOCKED_POSTPONE:
            c.flags |= CLIENT_PENDING_COMMAND
        for key in state.keys:
            c.db.blocking_keys.setdefault(key, {})[c] = None
        return BLOCKED

    def unblock_client(self, c: Client) -> None:
        """Let *c* wait no more; its reply is up to the caller. blocked.c: unblockClient()

        The client is queued: what it has sent meanwhile is looked at in this turn of the
        event loop.
        """
        state, server = c.bpop, self.server
        assert state is not None
        for key in state.keys:
            waiting = c.db.blocking_keys[key]
            del waiting[c]
            if not waiting:
                del c.db.blocking_keys[key]
        server.blocked_clients -= 1
        self.by_type[state.btype] -= 1
        c.flags &= ~CLIENT_BLOCKED
        c.bpop = None
        if not c.flags & CLIENT_UNBLOCKED:
            c.flags |= CLIENT_UNBLOCKED
            server.unblocked_clients.append(c)

    def release(self, c: Client, reply: Reply) -> None:
        """Unblock *c* and send it the reply of the command that has waited."""
        self.unblock_client(c)
        c.push(reply if reply_is_wanted(c) else NO_REPLY)

    def process_unblocked_clients(self) -> None:
        """Go on with the clients that wait no more, in the order in which they were let go.

        One that a pause has held back runs the command it came with. That may be held
        back once more, end or kill clients still to come, or let others go: those have
        their turn afterwards. The others go on with what they have sent meanwhile, which
        their transport knows.

        blocked.c: processUnblockedClients()
        """
        if self._processing:
            return  # a command that runs below has let clients go: they queue up
        self._processing = True
        server = self.server
        try:
            while server.unblocked_clients:
                c = server.unblocked_clients.popleft()
                c.flags &= ~CLIENT_UNBLOCKED
                if c.flags & CLIENT_BLOCKED:
                    continue
                if c.flags & CLIENT_PENDING_COMMAND:
                    c.flags &= ~CLIENT_PENDING_COMMAND
                    reply = server.process_command(c, c.argv)
                    if not c.blocked:
                        c.push(reply)
                else:
                    c.on_output()
                server.unblocked.notify_all()
        finally:
            self._processing = False

    def forget(self, c: Client) -> None:
        """The client goes away. networking.c: freeClient(), unlinkClient()"""
        if c.bpop is not None:
            self.unblock_client(c)
        if c.flags & CLIENT_UNBLOCKED:
            self.server.unblocked_clients.remove(c)
        c.flags &= ~(CLIENT_UNBLOCKED | CLIENT_PENDING_COMMAND)

    # -- time ---------------------------------------------------------------------------

    def timeout_due(self) -> bool:
        """Whether the time of some client is up. O(1)."""
        timeouts = self._timeouts
        return bool(timeouts) and timeouts[0][0] < self.server.clock.us() // 1000

    def handle_blocked_clients_timeout(self) -> None:
        """Let those go whose time is up. timeout.c: handleBlockedClientsTimeout()"""
        timeouts, now = self._timeouts, self.server.clock.us() // 1000
        while timeouts and timeouts[0][0] < now:
            _, _, c, state = heapq.heappop(timeouts)
            if c.bpop is state:
                self.release(c, state.on_timeout(c))

    def clients_in_timeout_table(self) -> int:
        """How many clients wait with a limit. O(waits)."""
        return sum(c.bpop is state for _, _, c, state in self._timeouts)

    # -- letting go by command ------------------------------------------------------------

    def unblock_by_command(self, c: Client, error: bool) -> bool:
        """CLIENT UNBLOCK: end the wait of *c*; whether it did wait. networking.c

        Told apart from Redis 7.0, which crashes, a command held back by a pause is left
        alone, as in 7.2.
        """
        state = c.bpop
        if state is None or c.held_back:
            return False
        if error:
            self.release(c, self._error("UNBLOCKED client unblocked via CLIENT UNBLOCK"))
        else:
            self.release(c, state.on_timeout(c))
        self._update_stats(c, [], 0, failed=True)
        return True

    def disconnect_all_blocked_clients(self) -> None:
        """The server becomes a replica: who waits gets an error and is disconnected.

        blocked.c: disconnectAllBlockedClients()
        """
        for c in list(self.server.clients.values()):
            if c.bpop is not None and not c.held_back:
                error = self._error(
                    "UNBLOCKED force unblock from blocking operation, "
                    "instance state changed (master -> replica?)"
                )
                c.flags |= CLIENT_CLOSE_AFTER_REPLY
                self.release(c, error)

    def _error(self, text: str) -> CommandError:
        error = CommandError(text)
        self.server.count_error(error)
        return error

    # -- keys that became ready -----------------------------------------------------------

    def signal_key_as_ready(self, db: RedisDb, key: bytes, type: int) -> None:
        """Queue *key* if somebody waits for it, once. O(1). blocked.c: signalKeyAsReady()"""
        btype = BLOCKED_BY_TYPE.get(type)
        if btype is None or not self.by_type[btype] or key not in db.blocking_keys:
            return
        if key not in db.ready_keys:
            db.ready_keys.add(key)
            self.server.ready_keys.append((db, key))

    def scan_database_for_ready_keys(self, db: RedisDb) -> None:
        """Signal keys that clients wait for and that exist: after SWAPDB.

        O(keys waited for). db.c: scanDatabaseForReadyKeys()
        """
        for key in list(db.blocking_keys):
            entry = db.dict.find(key)
            if entry is not None:
                self.signal_key_as_ready(db, key, entry.val.type)

    def scan_database_for_deleted_streams(
        self, emptied: RedisDb, replaced_with: RedisDb | None
    ) -> None:
        """Signal streams that will be none any more: at FLUSHDB and SWAPDB.

        O(keys waited for). db.c: scanDatabaseForDeletedStreams()
        """
        if not self.by_type[BLOCKED_STREAM]:
            return
        for key in list(emptied.blocking_keys):
            was_stream = _is_stream(emptied, key)
            if was_stream and not (replaced_with is not None and _is_stream(replaced_with, key)):
                self.signal_key_as_ready(emptied, key, OBJ_STREAM)

    def handle_clients_blocked_on_keys(self) -> None:
        """Serve clients from the keys that became ready, until no key is.

        Serving BLMOVE makes its destination ready: such keys come after all that are ready
        already. For each key time is read anew and then stands still.

        blocked.c: handleClientsBlockedOnKeys()
        """
        server = self.server
        while server.ready_keys:
            ready, server.ready_keys = deque(server.ready_keys), []
            while ready:
                db, key = ready.popleft()
                db.ready_keys.discard(key)
                server.fixed_time_expire += 1
                try:
                    server.update_cached_time(server.clock.us())
                    self._serve_key(db, key)
                finally:
                    server.fixed_time_expire -= 1

    def _serve_key(self, db: RedisDb, key: bytes) -> None:
        """Serve one key to the clients that wait for its type.

        A client that waits for another type of value stays where it is in the queue.
        """
        o = db.lookup_key(key, LOOKUP_NONOTIFY | LOOKUP_NOSTATS)
        if o is not None:
            btype = BLOCKED_BY_TYPE.get(o.type)
            if btype is not None and self.by_type[btype]:
                for c in self._waiting(db, key, btype):
                    self._serve_client(c, o, key)
                    if not len(o.ptr) and o.type != OBJ_STREAM:
                        break  # nothing is left, and the key is deleted
        if o is None or o.type != OBJ_STREAM:
            for c in self._waiting(db, key, BLOCKED_STREAM):
                if c.bpop is not None and c.bpop.gone is not None:
                    self._serve_client(c, None, key)
        if o is None:
            self._flush_propagation()  # the key was found expired

    def _waiting(self, db: RedisDb, key: bytes, btype: int) -> list[Client]:
        """The clients that wait so for *key*, in the order in which they came."""
        waiting = db.blocking_keys.get(key, ())
        return [c for c in waiting if c.bpop is not None and c.bpop.btype == btype]

    def _serve_client(self, c: Client, o: RedisObject | None, key: bytes) -> None:
        """Serve *c*, or tell it that what it waited for is gone (*o* is None)."""
        state, server = c.bpop, self.server
        assert state is not None
        current, server.current_client = server.current_client, c
        start_us = server.clock.us()
        try:
            try:
                if o is None:
                    assert state.gone is not None
                    raise state.gone()
                assert state.serve is not None
                reply = state.serve(c, o, key)
            except CommandError as error:
                server.count_error(error)
                reply = error
            if reply is not BLOCKED:
                reply_us = server.clock.us() - start_us
                self._update_stats(c, c.argv, reply_us, failed=isinstance(reply, CommandError))
                self.release(c, reply)
            self._flush_propagation()
            server.tracking.handle_pending_key_invalidations(c)
        finally:
            server.current_client = current

    def _update_stats(self, c: Client, argv: list[bytes], reply_us: int, failed: bool) -> None:
        """Account for a command that has waited: how long it worked, not how long it waited.

        Its work until it had to wait is counted once more, as in Redis. blocked.c:
        updateStatsOnUnblock()
        """
        server, cmd = self.server, c.lastcmd
        assert cmd is not None
        stats = server.command_stats.get(cmd) or server.new_command_stats(cmd)
        duration = c.duration + reply_us
        stats.usec += duration
        stats.failed_calls += failed
        if server.latency_tracking:
            stats.histogram[duration] += 1
        server.slowlog_push(c, cmd, argv, duration)
        server.latency_add_sample_if_needed("command-unblocking", reply_us // 1000)

    def _flush_propagation(self) -> None:
        """Send what serving has queued. server.c: afterCommand()"""
        propagation = self.server.propagation
        if propagation.ops:
            propagation.flush(transaction=len(propagation.ops) > 1)

    def _check(self) -> None:
        """Assert that clients, keys and counters agree."""
        server = self.server
        blocked = [c for c in server.clients.values() if c.blocked]
        assert server.blocked_clients == len(blocked) == sum(self.by_type)
        for c in server.clients.values():
            assert (c.bpop is not None) is c.blocked
        for db in server.databases:
            waits = {(key, c) for key, clients in db.blocking_keys.items() for c in clients}
            assert waits == {
                (key, c) for c in blocked if c.db is db and c.bpop for key in c.bpop.keys
            }
            assert all(db.blocking_keys.values())


def _is_stream(db: RedisDb, key: bytes) -> bool:
    entry = db.dict.find(key)
    return entry is not None and entry.val.type == OBJ_STREAM
