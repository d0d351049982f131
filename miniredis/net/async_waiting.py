"""Waiting in an event loop on an embedded server, which has no thread to make time pass.

As in ``server/waiting.py`` whoever waits drives the server, but never keeps the loop from
running others:

- under the system clock the task sleeps in the loop until the server's next event is due, or
  until somebody brings what it waits for;
- under a virtual clock time jumps to the next event, but only when the loop has nothing better
  to do: if there are other tasks, each jump waits for some turns of the loop in which the clock
  has stood still. So what tasks can still do at this instant, they do at this instant. A task
  that sleeps in the loop's own time (``asyncio.sleep``) does not hold the virtual clock up.

A wait without a limit lets an hour of virtual time pass. Then, if no other task is about, a
command raises :class:`WaitForeverError` and a listener goes on; else the clock stands still
until somebody brings what is waited for.

*Example.* Task A waits in ``BLPOP k 1``; task B adds to ``k`` after three turns of the loop. A
looks up to ten times, finds its reply at the third, and the clock has not moved. Without B the
clock jumps to the cron's next run, 100 ms on, ten turns later to the one after it, and so on:
A has its nil after 1,001 ms of virtual time, which are 11 jumps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from miniredis.clock import VirtualClock
from miniredis.errors import ServerClosedError
from miniredis.server.server import Server
from miniredis.server.waiting import PATIENCE_US, US_PER_SECOND

TURNS = 10  # of the loop in which the clock stands still, before it jumps


class Bell:
    """Wakes the task that waits at it; may be rung from any thread."""

    __slots__ = ("_event", "_loop")

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def ring(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._event.set)

    def listen(self) -> None:
        """From now on hear the bell, in the running loop."""
        self._loop = asyncio.get_running_loop()
        self._event.clear()

    async def wait(self, seconds: float | None) -> None:
        """Until the bell rings, or *seconds* have passed."""
        loop = asyncio.get_running_loop()
        timer = None if seconds is None else loop.call_later(seconds, self._event.set)
        try:
            await self._event.wait()
        finally:
            if timer is not None:
                timer.cancel()


def alone() -> bool:
    """Whether no other task is in the running loop."""
    return len(asyncio.all_tasks()) == 1


async def let_time_pass(
    server: Server, ready: Callable[[], bool], bell: Bell, until_us: int | None = None
) -> bool:
    """Let time pass until *ready*; False if the instant *until_us* comes first.

    *bell* rings when *ready* may have changed. Raises :class:`ServerClosedError` when the
    server is closed.
    """
    if isinstance(server.clock, VirtualClock):
        return await _let_virtual_time_pass(server, server.clock, ready, bell, until_us)
    while True:
        bell.listen()
        with server.lock:
            if ready():
                return True
            next_us = server.family_next_event_us()
            now = server.clock.us()
            if server.closed or next_us is None:
                raise ServerClosedError("this miniredis server was closed")
            if until_us is not None:
                if now >= until_us:
                    return False
                next_us = min(next_us, until_us)
        await bell.wait(max(next_us - now, 0) / US_PER_SECOND)
        server.process_family_events()


async def _let_virtual_time_pass(
    server: Server,
    clock: VirtualClock,
    ready: Callable[[], bool],
    bell: Bell,
    until_us: int | None,
) -> bool:
    turns, seen = 0, clock.us()
    patience_us = seen + PATIENCE_US
    while True:
        bell.listen()
        with server.lock:
            if ready():
                return True
            now, next_us = clock.us(), clock.next_event_us()
            if server.closed or next_us is None:
                raise ServerClosedError("this miniredis server was closed")
            if until_us is not None:
                if now >= until_us:
                    return False
                next_us = min(next_us, until_us)
        if until_us is None and now >= patience_us and not alone():
            await bell.wait(None)
        elif now != seen or turns < (1 if alone() else TURNS):  # another may have moved the clock
            turns, seen = (turns + 1, seen) if now == seen else (0, now)
            await asyncio.sleep(0)
        else:
            # Without the lock, as this may drive other servers of the same clock too.
            clock.advance_to_us(max(next_us, now))
            turns, seen = 0, clock.us()
