"""Client-side caching: who may hold a copy of which key, and telling them that it is stale.

A client that tracks (CLIENT TRACKING ON) is remembered for each key it reads. When such a
key changes, expires or is evicted, everybody remembered for it gets an invalidation message
and is forgotten: it must read the key again to hear of the next change. In broadcasting
mode nothing is remembered; a client names prefixes and hears of every changed key that begins
with one of them, once a turn of the event loop.

Three moments have to be told apart, because the receiver sees the order:

* A message to *another* client goes out at once.
* A message to the client whose command runs waits for the end of the outermost command
  (``pending``), so that it stands behind the reply and not in the middle of EXEC's.
* Broadcasts wait for the end of the turn (``before_sleep``).

Worked example: A and B have read k, B redirects to C. ``SET k 1`` by A: the table names A and
B; B's message goes to C now, A's waits; A gets OK, then its message; k is forgotten, so a
second ``SET k 2`` tells nobody.

Limits as in Redis: databases are not told apart, and the client of an entry may be long gone,
which is noticed only when the key changes. Order: clients of a key by the bytes of their
number, lowest byte first, as the radix tree has it; prefixes and keys by their bytes.

Nobody tracks: ``Tracking.active`` is false and nothing here is called.

Redis: tracking.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import (
    CLIENT_PUBSUB,
    CLIENT_SCRIPT,
    CLIENT_TRACKING,
    CLIENT_TRACKING_BCAST,
    CLIENT_TRACKING_BROKEN_REDIR,
    CLIENT_TRACKING_CACHING,
    CLIENT_TRACKING_NOLOOP,
    CLIENT_TRACKING_OPTIN,
    CLIENT_TRACKING_OPTOUT,
)
from miniredis.commands.key_specs import get_keys_from_command_with_specs
from miniredis.commands.table import Command
from miniredis.reply import BLOCKED, NO_REPLY, InProtocol, Push, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

TRACKING_CHANNEL_NAME = b"__redis__:invalidate"  # where RESP2 clients hear of it
EFFORT = 100  # keys forgotten in one go when the table is too full; more from time to time
ID_BYTES = 8  # of a client's number in the table

_MODES = CLIENT_TRACKING_BCAST | CLIENT_TRACKING_OPTIN | CLIENT_TRACKING_OPTOUT
_OPTIONS = CLIENT_TRACKING_OPTIN | CLIENT_TRACKING_OPTOUT | CLIENT_TRACKING_NOLOOP
_ALL_FLAGS = (
    CLIENT_TRACKING
    | CLIENT_TRACKING_BROKEN_REDIR
    | CLIENT_TRACKING_CACHING
    | CLIENT_TRACKING_NOLOOP
    | _MODES
)
# They read, but what they have read is what their script's commands have.
_RUNS_SCRIPT = frozenset({"eval_ro", "evalsha_ro", "fcall_ro"})


class TrackedKey:
    """The numbers of the clients that may hold a key, and the key's place in ``_keys``."""

    __slots__ = ("ids", "position")

    def __init__(self, position: int) -> None:
        self.ids: set[int] = set()
        self.position = position


class BcastState:
    """One prefix: who wants it, and what has changed in this turn. tracking.c: bcastState

    ``keys`` maps a changed key to the client that changed it last, None for the server.
    """

    __slots__ = ("clients", "keys")

    def __init__(self) -> None:
        self.keys: dict[bytes, Client | None] = {}
        self.clients: dict[Client, None] = {}


class Tracking:
    """The keys and prefixes that the clients of one server track."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.active = False  # somebody tracks, or there are entries to be looked up
        self.has_news = False  # a key of some prefix has changed in this turn
        self.tracking_clients = 0
        self.total_items = 0  # numbers in the whole table
        self.prefixes: dict[bytes, BcastState] = {}  # tracking.c: PrefixTable
        self.table: dict[bytes, TrackedKey] = {}  # tracking.c: TrackingTable
        self._keys: list[bytes] = []  # the keys of the table, to pick one at random in O(1)
        self._pending: list[bytes | None] = []  # for the running client; None: all keys
        self._timeout_counter = 0  # times in a row that the table stayed too full

    # -- who tracks -------------------------------------------------------------------

    def enable(self, c: Client, redirect_to: int, options: int, prefixes: list[bytes]) -> None:
        """Let *c* track; messages go to the client *redirect_to*, 0: to itself.

        *options* are CLIENT_TRACKING_*; *prefixes* are those to add in broadcasting mode,
        none for all keys. tracking.c: enableTracking()
        """
        if not c.flags & CLIENT_TRACKING:
            self.tracking_clients += 1
        c.flags &= ~(_ALL_FLAGS & ~CLIENT_TRACKING_CACHING)
        c.flags |= CLIENT_TRACKING | options & _OPTIONS
        c.tracking_redirection = redirect_to
        if options & CLIENT_TRACKING_BCAST:
            c.flags |= CLIENT_TRACKING_BCAST
            for prefix in prefixes or [b""]:
                self.prefixes.setdefault(prefix, BcastState()).clients[c] = None
                c.tracking_prefixes[prefix] = None
        self._update()

    def disable(self, c: Client) -> None:
        """Let *c* track no more; its entries stay until their keys change.

        tracking.c: disableTracking()
        """
        for prefix in c.tracking_prefixes:
            state = self.prefixes[prefix]
            del state.clients[c]
            if not state.clients:
                del self.prefixes[prefix]
        c.tracking_prefixes = {}
        if c.flags & CLIENT_TRACKING:
            self.tracking_clients -= 1
            c.flags &= ~_ALL_FLAGS
            self._update()

    def _update(self) -> None:
        """Note whether anybody has to be told of changes, so that hot paths need not ask."""
        active = bool(self.tracking_clients or self.table)
        if active is not self.active:
            self.active = active
            self.server.update_listeners()
            self.server.update_gates()
            self.server.update_signals()

    # -- reading ----------------------------------------------------------------------

    def after_call(self, c: Client, cmd: Command, reply: Reply) -> Reply:
        """A command has run: remember what it read; at the end of the outermost one, send
        what had to wait. The reply, unless it was sent here. server.c: call()
        """
        if "readonly" in cmd.flags and cmd.name not in _RUNS_SCRIPT:
            # A script that reads anything is taken to have read the keys it declared.
            run = self.server.scripting.running if c.flags & CLIENT_SCRIPT else None
            caller = c if run is None else run.caller
            if caller.flags & CLIENT_TRACKING and not caller.flags & CLIENT_TRACKING_BCAST:
                self.remember_keys(caller)
        if self._pending and not self.server.fixed_time_expire:
            return self.handle_pending_key_invalidations(c, reply)
        return reply

    def remember_keys(self, c: Client) -> None:
        """Note that *c* may hold the keys of its command. tracking.c: trackingRememberKeys()"""
        caching_given = c.flags & CLIENT_TRACKING_CACHING
        if c.flags & CLIENT_TRACKING_OPTIN and not caching_given:
            return
        if c.flags & CLIENT_TRACKING_OPTOUT and caching_given:
            return
        cmd, argv = c.cmd, c.argv
        if cmd is None or "pubsub" in cmd.flags:
            return
        for position, _ in get_keys_from_command_with_specs(cmd, argv):
            key = argv[position]
            tracked = self.table.get(key)
            if tracked is None:
                tracked = self.table[key] = TrackedKey(len(self._keys))
                self._keys.append(key)
            if c.id not in tracked.ids:
                tracked.ids.add(c.id)
                self.total_items += 1

    # -- changing ---------------------------------------------------------------------

    def invalidate_key(self, key: bytes, c: Client | None, bcast: bool = True) -> None:
        """*key* has changed by *c*, None: by the server itself.

        With *bcast* false it has not: its entry is dropped for want of room.
        O(prefixes + clients of the key). tracking.c: trackingInvalidateKey()
        """
        if bcast:
            for prefix, state in self.prefixes.items():
                if key.startswith(prefix):
                    state.keys[key] = c
                    self.has_news = True
        if key not in self.table:
            return
        server = self.server
        for id in sorted(self._forget(key).ids, key=_id_bytes):
            target = server.clients.get(id)
            if (
                target is None
                or not target.flags & CLIENT_TRACKING
                or target.flags & CLIENT_TRACKING_BCAST
            ):
                continue
            running = target is server.current_client
            if running and target.flags & CLIENT_TRACKING_NOLOOP:
                continue
            if running and server.fixed_time_expire:
                self._pending.append(key)
            else:
                self.send_message(target, [key])
        if not self.tracking_clients:
            self._update()

    def _forget(self, key: bytes) -> TrackedKey:
        """Take *key* out of the table. O(1)"""
        tracked = self.table.pop(key)
        last = self._keys.pop()
        if last != key:
            self._keys[tracked.position] = last
            self.table[last].position = tracked.position
        self.total_items -= len(tracked.ids)
        return tracked

    def invalidate_keys_on_flush(self) -> None:
        """Keys are about to go at once: tell everybody who tracks that all are stale.

        tracking.c: trackingInvalidateKeysOnFlush()
        """
        for c in list(self.server.clients.values()) if self.tracking_clients else ():
            if c.flags & CLIENT_TRACKING:
                if c is self.server.current_client:
                    self._pending.append(None)
                else:
                    self.send_message(c, None)
        self.table.clear()
        self._keys.clear()
        self.total_items = 0
        self._update()

    def limit_used_slots(self) -> None:
        """Drop entries at random while there are more than ``tracking-table-max-keys``.

        At most 100 in one go, 200 if that was not enough, 300, ... As if the keys had
        changed, their clients are told. tracking.c: trackingLimitUsedSlots()
        """
        max_keys: int = self.server.config.tracking_table_max_keys
        if not max_keys:
            return
        effort = EFFORT * (self._timeout_counter + 1)
        while effort and len(self.table) > max_keys:
            key = self._keys[self.server.rng.randrange(len(self._keys))]
            self.invalidate_key(key, None, bcast=False)
            effort -= 1
        self._timeout_counter = self._timeout_counter + 1 if len(self.table) > max_keys else 0

    # -- telling ----------------------------------------------------------------------

    def handle_pending_key_invalidations(self, c: Client, reply: Reply = NO_REPLY) -> Reply:
        """Send the running client what waited for its command's end, behind its *reply*.

        The reply, unless it was sent here. tracking.c: trackingHandlePendingKeyInvalidations()
        """
        pending, self._pending = self._pending, []
        receiver = self.server.current_client
        if receiver is None or not pending:
            return reply
        reply = self._reply_first(c, reply)
        for key in pending:
            self.send_message(receiver, None if key is None else [key])
        return reply

    def _reply_first(self, c: Client, reply: Reply) -> Reply:
        """Send the command's *reply* before the messages that follow it."""
        if reply is NO_REPLY or reply is BLOCKED:
            return reply
        if not c.silenced:
            c.push(reply)
        return NO_REPLY

    def after_command(self, c: Client, reply: Reply) -> Reply:
        """A client's command is over. Unless its transport has more of it at hand, so is the
        turn: broadcast. The reply, unless it was sent here.
        """
        if self.server.ready_keys:
            self.server.blocking.handle_clients_blocked_on_keys()
        if self.has_news:
            reply = self._reply_first(c, reply)
            if not c.turn_open:
                self.broadcast_invalidation_messages()
        return reply

    def broadcast_invalidation_messages(self) -> None:
        """End a turn: tell those who want prefixes which keys have changed, a message a prefix.

        O(keys log keys) for each prefix, plus keys for each client of it.
        tracking.c: trackingBroadcastInvalidationMessages()
        """
        self.has_news = False
        for prefix in sorted(self.prefixes):
            state = self.prefixes[prefix]
            changed, state.keys = state.keys, {}
            if not changed:
                continue
            keys = sorted(changed)
            for c in list(state.clients):
                if not c.flags & CLIENT_TRACKING_NOLOOP:
                    self.send_message(c, keys)
                elif others := [key for key in keys if changed[key] is not c]:
                    self.send_message(c, others)

    def send_message(self, c: Client, keys: list[bytes] | None) -> None:
        """Tell *c*, or the client it redirects to, that *keys* are stale; None: all.

        A RESP2 client without a redirection hears nothing, and one that is redirected to
        must be subscribed to something. tracking.c: sendTrackingMessage()
        """
        target = c
        if c.tracking_redirection:
            found = self.server.clients.get(c.tracking_redirection)
            if found is None:
                c.flags |= CLIENT_TRACKING_BROKEN_REDIR
                if c.resp > 2:
                    c.push(Push([b"tracking-redir-broken", c.tracking_redirection]))
                return
            target = found
        # Redis makes the null in the protocol of the one that tracks.
        what: Reply = InProtocol(None, c.resp) if keys is None else keys
        if target.resp > 2:
            target.push(Push([b"invalidate", what]))
        elif c.tracking_redirection and target.flags & CLIENT_PUBSUB:
            target.push(Push([b"message", TRACKING_CHANNEL_NAME, what]))

    def _check(self) -> None:
        """Assert that table, counters and clients agree."""
        clients = self.server.clients.values()
        assert self.tracking_clients == sum(bool(c.flags & CLIENT_TRACKING) for c in clients)
        assert self.total_items == sum(len(tracked.ids) for tracked in self.table.values())
        assert len(self._keys) == len(self.table)
        for key, tracked in self.table.items():
            assert self._keys[tracked.position] == key and tracked.ids
        wanted = {(prefix, c) for prefix, s in self.prefixes.items() for c in s.clients}
        assert wanted == {(prefix, c) for c in clients for prefix in c.tracking_prefixes}
        assert all(state.clients for state in self.prefixes.values())
        assert self.has_news or not any(state.keys for state in self.prefixes.values())
        assert self.active is bool(self.tracking_clients or self.table)
        assert not self._pending


def _id_bytes(id: int) -> bytes:
    """How the radix tree orders the number of a client: by its bytes, the lowest first."""
    return id.to_bytes(ID_BYTES, "little")
