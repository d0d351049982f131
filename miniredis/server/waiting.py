"""Waiting on an embedded server, which has no thread of its own to make time pass.

Whoever waits (a client whose command is blocked, a subscriber) drives the server
meanwhile: under a virtual clock time jumps from event to event, under the system clock
the thread sleeps between them and wakes when another thread brings output.

A command may wait for ever (``BLPOP k 0``). Under a virtual clock nothing but another thread
or another event source of the clock can end that, so:

- with other threads about, the thread sleeps, and virtual time stands still, until one of
  them brings the reply;
- a thread that is alone lets an hour of virtual time pass, and then gives up with
  :class:`WaitForeverError`: it would never return.

Redis: ``aeApiPoll()`` in ae.c, seen from the other side.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.clock import VirtualClock
from miniredis.commands.blocking import NO_TIMEOUT
from miniredis.errors import ServerClosedError, WaitForeverError
from miniredis.reply import NO_REPLY, Push, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

US_PER_SECOND = 1_000_000
PATIENCE_US = 3_600 * US_PER_SECOND  # of virtual time, that a thread waits alone for nothing


def let_time_pass(server: Server, ready: Callable[[], bool], until_us: int | None = None) -> bool:
    """Let time pass until *ready*; False if the instant *until_us* comes first.

    None waits for ever. Raises :class:`ServerClosedError` when the server is closed.
    """
    clock = server.clock
    while True:
        with server.lock:
            if ready():
                return True
            virtual = clock if isinstance(clock, VirtualClock) else None
            # Another server's event may bring what this one waits for.
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
    """Wait until a blocked client has its reply, and return it; ``NO_REPLY`` if it is killed."""

    def ready() -> bool:
        return not c.blocked or c.id not in server.clients

    while not ready():
        state = c.bpop
        if c.held_back:  # the command, when it runs, may wait in its turn
            let_time_pass(server, lambda: not c.held_back or ready())
        elif server.clock.virtual and state is not None and state.timeout == NO_TIMEOUT:
            _wait_for_ever(server, c, ready)
        else:
            let_time_pass(server, ready)
    return reply_after_waiting(server, c)


def reply_after_waiting(server: Server, c: Client) -> Reply:
    """The reply that a client has got that was blocked; ``NO_REPLY`` if it was killed.

    Messages that came meanwhile stay in the outbox.
    """
    with server.lock:
        if c.id not in server.clients:
            return NO_REPLY
        for i, item in enumerate(c.outbox):
            if item.__class__ is not Push:
                del c.outbox[i]
                return item
        return NO_REPLY


def _wait_for_ever(server: Server, c: Client, ready: Callable[[], bool]) -> None:
    """Wait under a virtual clock without a limit; see the module's docstring.

    A client that gives up is gone for the server, as if its connection had been lost.
    """
    alone = threading.active_count() == 1
    clock = server.clock
    assert isinstance(clock, VirtualClock)
    if alone or clock.drives_others(server):
        if let_time_pass(server, ready, clock.us() + PATIENCE_US):
            return
        if alone:
            name = "" if c.lastcmd is None else c.lastcmd.name.upper()
            server.kill_client(c)
            raise WaitForeverError(
                f"{name} would wait for ever: it has no time-out, the clock is virtual, this "
                "is the only thread, and an hour of virtual time has brought nothing"
            )
    with server.lock:
        while not ready():
            if server.closed:
                raise ServerClosedError("this miniredis server was closed")
            server.unblocked.wait()
