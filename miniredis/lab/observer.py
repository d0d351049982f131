"""A client that polls a simulated server, and what it sees.

Watching changes what is watched. A request wakes the event loop, and before the loop
sleeps again a fast cycle may run, if the last cycle ran out of time. So the more often
somebody asks, the sooner dead keys go. The order in one turn of the loop: commands, then
time events that are due, then the fast cycle, then the replies. An observer therefore
sees the number of keys from before the cycle that it causes, and hears of it after that.

Redis: ae.c, ``aeProcessEvents()``; server.c, ``beforeSleep()``.
"""

from __future__ import annotations

from miniredis.clock import NS_PER_US, US_PER_MS, VirtualClock
from miniredis.net.sighting import Sighting
from miniredis.server.server import Server

# Of one poll, as redis-py on the same machine needs it.
REPLY_US = 100  # the server's work for DBSIZE and INFO stats
TRIP_US = 400  # the client's and the network's part, half of it before the server's
LEAD_MS = 200  # the first poll comes so long before the first death


class Observer:
    """Polls *server* every *poll_us*, counted from 200 ms before *first_death_us*.

    Like a client that waits for the reply: while the server is busy in a cycle the
    request waits, and instants that have passed meanwhile are left out. ``next_us`` is
    when the next request goes out.
    """

    def __init__(
        self, server: Server, clock: VirtualClock, poll_us: int, first_death_us: int, start_us: int
    ) -> None:
        self.server = server
        self.clock = clock
        self.poll_us = poll_us
        self.origin_us = first_death_us - LEAD_MS * US_PER_MS
        self.start_us = start_us
        self.sightings: list[Sighting] = []
        self.next_us = self._after(max(clock.us(), self.origin_us) - 1)

    @property
    def saw_none(self) -> bool:
        """Whether the last poll found no key."""
        return bool(self.sightings) and self.sightings[-1].dbsize == 0

    def poll(self) -> None:
        """One request, now or as soon as the server is free: a turn of the event loop."""
        server, clock = self.server, self.clock
        sent = self.next_us
        clock.advance_to_us(max(clock.us(), sent + TRIP_US // 2))
        keys, expired = server.dbsize(), server.stat_expiredkeys
        stale, caps = server.stat_expired_stale_perc, server.stat_expired_time_cap_reached_count
        cpu = server.stat_expire_cycle_time_used
        clock.spend_ns(REPLY_US * NS_PER_US)
        event = server.next_event_us()
        if event is not None and event <= clock.us():
            server.process_events()
        else:
            server.before_sleep()
        received = clock.us() + TRIP_US // 2
        self.sightings.append(
            Sighting(
                (sent - self.start_us) / US_PER_MS,
                (received - self.start_us) / US_PER_MS,
                keys,
                expired,
                stale,
                caps,
                cpu / US_PER_MS,
            )
        )
        self.next_us = self._after(received)

    def skip_to(self, us: int) -> None:
        """Leave out the requests before *us*."""
        if self.next_us < us:
            self.next_us = self._after(us - 1)

    def _after(self, us: int) -> int:
        """The first instant of the grid later than *us*."""
        return self.origin_us + ((us - self.origin_us) // self.poll_us + 1) * self.poll_us
