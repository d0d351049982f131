"""Waiting on an embedded server, which has no thread of its own to make time pass.

Whoever waits (a client whose command is blocked, a subscriber) drives the server
meanwhile: under a virtual clock time jumps from event to event, under the system clock
the thread sleeps between them and wakes when another thread brings output.

Redis: ``aeApiPoll()`` in ae.c, seen from the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.clock import VirtualClock
from miniredis.errors import ServerClosedError
from miniredis.reply import NO_REPLY, Push, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

US_PER_SECOND = 1_000_000


def let_time_pass(server: Server, ready: Callable[[], bool], until_us: int | None = None) -> bool:
    """Let time pass until *ready*; False if the instant *until_us* comes first.

    None waits for ever. Raises :class:`ServerClosedError` when the server is closed.
    """
    clock = server.clock
    while True:
        with server.lock:
            if ready():
                return True
            # An event of another server may bring what this one waits for.
            virtual = clock if isinstance(clock, VirtualClock) else None
            next_us = virtual.next_event_us() if virtual else server.family_next_event_us()
            if server.closed or next_us is None:
                raise ServerClosedError("this miniredis server was closed")
            now = clock.us()
            if until_us is not None:
                if now >= until_us:
                    return False
                next_us = min(next_us, until_us)
            if virtual is None:
                server.unblocked.wait(max(next_us - now, 0) / US_PER_SECOND)
                server.process_family_events()
                continue
        # Without the lock, as this may drive other servers of the same clock too.
        virtual.advance_to_us(max(next_us, now))


def wait_for_reply(server: Server, c: Client) -> Reply:
    """Wait until a blocked client has its reply, and return it.

    Messages that came meanwhile stay in the outbox. ``NO_REPLY`` if the client is killed.
    """
    let_time_pass(server, lambda: not c.blocked or c.id not in server.clients)
    with server.lock:
        if c.id not in server.clients:
            return NO_REPLY
        reply = next(item for item in c.outbox if item.__class__ is not Push)
        c.outbox.remove(reply)
        return reply
