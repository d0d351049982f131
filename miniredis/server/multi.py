"""Transactions: MULTI's queue, and WATCH's optimistic locking.

Between MULTI and EXEC commands are queued; EXEC runs them without anything in between.
WATCH remembers keys; if one of them is changed before EXEC, the watcher becomes dirty and
EXEC answers null. A watched key that *expires* before EXEC counts as changed, one that
had expired before WATCH does not.

Redis: multi.c.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import (
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_DENY_BLOCKING,
    CLIENT_DIRTY_CAS,
    CLIENT_DIRTY_EXEC,
    CLIENT_MULTI,
    CLIENT_REPLY_OFF,
    CLIENT_REPLY_SKIP,
)
from miniredis.commands.table import Command
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, NULL_ARRAY, InProtocol, Interleaved, Reply

if TYPE_CHECKING:
    from miniredis.keyspace.db import RedisDb
    from miniredis.server.client import Client


CLIENT_SILENT = CLIENT_REPLY_OFF | CLIENT_REPLY_SKIP
CLIENT_QUIET = CLIENT_SILENT | CLIENT_CLOSE_AFTER_REPLY


@dataclass(slots=True)
class MultiState:
    """Commands queued since MULTI. server.h: multiState"""

    commands: list[tuple[Command, list[bytes]]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class WatchedKey:
    """One client watching one key. ``expired``: the key had died when WATCH was called."""

    key: bytes
    db: RedisDb
    client: Client
    expired: bool


def queue_multi_command(c: Client, cmd: Command, argv: list[bytes]) -> None:
    """Remember a command for EXEC, unless the transaction is lost already."""
    if c.flags & (CLIENT_DIRTY_CAS | CLIENT_DIRTY_EXEC):
        return
    c.mstate.commands.append((cmd, argv))


def discard_transaction(c: Client) -> None:
    """Forget queue, flags and watched keys."""
    c.mstate = MultiState()
    c.flags &= ~(CLIENT_MULTI | CLIENT_DIRTY_CAS | CLIENT_DIRTY_EXEC)
    unwatch_all_keys(c)


def flag_transaction(c: Client) -> None:
    """An error while queueing: EXEC must fail."""
    if c.flags & CLIENT_MULTI:
        c.flags |= CLIENT_DIRTY_EXEC


def exec_command(c: Client) -> Reply:
    """Run the queued commands; null if a watched key changed. multi.c: execCommand()"""
    if not c.flags & CLIENT_MULTI:
        raise CommandError("ERR EXEC without MULTI")
    if is_watched_key_expired(c):
        c.flags |= CLIENT_DIRTY_CAS
    if c.flags & CLIENT_DIRTY_EXEC:
        discard_transaction(c)
        raise CommandError("EXECABORT Transaction discarded because of previous errors.")
    if c.flags & CLIENT_DIRTY_CAS:
        discard_transaction(c)
        return NULL_ARRAY
    deny_blocking = c.flags & CLIENT_DENY_BLOCKING
    c.flags |= CLIENT_DENY_BLOCKING
    # At once, so that our own writes need not look for watchers.
    unwatch_all_keys(c)
    server, cmd, argv = c.server, c.cmd, c.argv
    server.in_exec = True
    silent = c.flags & CLIENT_SILENT
    plain = not silent
    closing = False
    outbox = c.outbox
    before = len(outbox)
    resp = c.resp
    stream: list[Reply] = []
    try:
        for queued, args in c.mstate.commands:
            refused = server.acl.refuse_in_exec(c, queued, args) if server.acl.active else None
            reply = server.call(c, queued, args) if refused is None else refused
            if len(outbox) > before:
                messages = [outbox.pop() for _ in range(len(outbox) - before)][::-1]
                if not closing:
                    stream += messages
                plain = False
            if c.resp != resp:  # HELLO: what was sent before it is in the older protocol
                stream = [InProtocol(item, resp) for item in stream]
                resp = c.resp
            if reply is not NO_REPLY and not c.flags & CLIENT_QUIET:
                stream.append(reply)
            elif reply is not NO_REPLY and not c.flags & CLIENT_SILENT and not closing:
                closing = True  # CLIENT KILL of oneself answers; nothing after it does
                stream.append(reply)
            else:
                plain = False
    finally:
        server.in_exec = False
        c.cmd, c.argv = cmd, argv
        if not deny_blocking:
            c.flags &= ~CLIENT_DENY_BLOCKING
        count = len(c.mstate.commands)
        discard_transaction(c)
    return stream if plain else _answer(c, count, stream, bool(silent))


def _answer(c: Client, count: int, stream: list[Reply], silent: bool) -> Reply:
    """Send *count* replies, with what else was sent in between.

    The length of the array goes out before the first command runs; after it comes
    whatever the commands send. So messages to oneself (PUBLISH by a subscriber, SUBSCRIBE)
    stand among the replies, and CLIENT REPLY OFF cuts the array short.
    """
    if silent:  # the length is not sent, messages still are
        for message in stream:
            c.push(message)
    else:
        c.push(Interleaved(count, stream))
    return NO_REPLY


def abort_exec(c: Client, error: CommandError) -> CommandError:
    """EXEC was rejected before it ran. multi.c: execCommandAbort()"""
    discard_transaction(c)
    # The reason stands without the general code; others, such as NOAUTH, stay.
    text = error.text.removeprefix(b"ERR ").decode("utf-8", "surrogateescape")
    return CommandError(f"EXECABORT Transaction discarded because of: {text}")


def watch_for_key(c: Client, key: bytes) -> None:
    """Watch *key* in the client's database. multi.c: watchForKey()"""
    for watched in c.watched_keys:
        if watched.db is c.db and watched.key == key:
            return
    watched = WatchedKey(key, c.db, c, c.db.key_is_expired(key))
    c.watched_keys.append(watched)
    c.db.watched_keys.setdefault(key, []).append(watched)
    c.db.signals = True


def unwatch_all_keys(c: Client) -> None:
    """Watch nothing any more; the dirty flag is the caller's. multi.c: unwatchAllKeys()"""
    for watched in c.watched_keys:
        watchers = watched.db.watched_keys[watched.key]
        watchers.remove(watched)
        if not watchers:
            del watched.db.watched_keys[watched.key]
            watched.db.update_signals(c.server.hears_changes)
    c.watched_keys.clear()


def is_watched_key_expired(c: Client) -> bool:
    """Whether a watched key has died since WATCH. multi.c: isWatchedKeyExpired()"""
    return any(not w.expired and w.db.key_is_expired(w.key) for w in c.watched_keys)


def touch_watched_key(db: RedisDb, key: bytes) -> None:
    """*key* changes: mark its watchers dirty. multi.c: touchWatchedKey()

    If the key had died before WATCH and is deleted only now, nothing has changed for the
    watcher; from then on it is a missing key like any other.
    """
    for watched in list(db.watched_keys.get(key, ())):
        if watched.expired:
            if db.dict.find(key) is None:
                watched.expired = False
                continue
            # Redis leaves the loop here, so watchers after this one are not marked.
            break
        watched.client.flags |= CLIENT_DIRTY_CAS
        unwatch_all_keys(watched.client)


def touch_all_watched_keys_in_db(emptied: RedisDb, replaced_with: RedisDb | None) -> None:
    """All of *emptied* goes away, or is exchanged for *replaced_with* (SWAPDB).

    Watchers of a key become dirty if it exists on either side and is not merely dead on
    both. multi.c: touchAllWatchedKeysInDb()
    """
    for key, watchers in list(emptied.watched_keys.items()):
        exists = emptied.dict.find(key) is not None
        if not exists and (replaced_with is None or replaced_with.dict.find(key) is None):
            continue
        for watched in watchers:
            if watched.expired:
                if replaced_with is None or replaced_with.dict.find(key) is None:
                    # The dead key goes: no logical change.
                    watched.expired = False
                    continue
                if replaced_with.key_is_expired(key):
                    continue  # dead before and after
            elif not exists and replaced_with is not None and replaced_with.key_is_expired(key):
                watched.expired = True  # a missing key is exchanged for a dead one
                continue
            watched.client.flags |= CLIENT_DIRTY_CAS
