"""Connections to other servers for MIGRATE, kept open for a while.

They block: while a key travels, nobody is served, as in Redis. A connection that is not
used for ten seconds is closed by the cron.

Redis: ``migrateGetSocket()``, ``migrateCloseTimedoutSockets()`` in cluster.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from miniredis.server.server import Server

MIGRATE_SOCKET_CACHE_ITEMS = 64
MIGRATE_SOCKET_CACHE_TTL_US = 10_000_000
NO_DB = -1  # none is known to be selected


class Wire(Protocol):
    """A connection whose methods wait, each for no longer than *timeout_ms*.

    All raise OSError, TimeoutError if it took too long.
    """

    def send(self, data: bytes, timeout_ms: int) -> None:
        """Send all of *data*."""

    def read_line(self, timeout_ms: int) -> bytes:
        """The next line without its end."""

    def close(self) -> None:
        """Hang up; raises nothing."""


#: Calls (host, port) within so many ms.
Dial = Callable[[bytes, int, int], Wire]


class MigrateSocket:
    """A cached connection. ``last_dbid`` is the database selected there. migrateCachedSocket"""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.last_dbid = NO_DB
        self.last_use_us = 0


class MigrateSockets:
    """Those of one server, by address."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.cached: dict[tuple[bytes, bytes], MigrateSocket] = {}

    def get(self, host: bytes, port: bytes, number: int, timeout_ms: int) -> MigrateSocket:
        """A connection to *host* at port *number*, which *port* is the text of.

        OSError if nobody answers. cluster.c: migrateGetSocket()
        """
        found = self.cached.get((host, port))
        if found is None:
            if len(self.cached) >= MIGRATE_SOCKET_CACHE_ITEMS:
                self.close(*self.server.rng.choice(list(self.cached)))
            dial = self.server.dial
            if dial is None:
                raise OSError("this server has no network")
            found = self.cached[host, port] = MigrateSocket(dial(host, number, timeout_ms))
        found.last_use_us = self.server.clock.us()
        return found

    def close(self, host: bytes, port: bytes) -> None:
        """Hang up, if there is a connection. cluster.c: migrateCloseSocket()"""
        found = self.cached.pop((host, port), None)
        if found is not None:
            found.wire.close()

    def close_all(self) -> None:
        """Hang up everywhere."""
        for address in list(self.cached):
            self.close(*address)

    def close_timed_out(self) -> None:
        """Hang up where nothing was said for ten seconds. O(connections)."""
        now = self.server.clock.us()
        for address, cached in list(self.cached.items()):
            if now - cached.last_use_us > MIGRATE_SOCKET_CACHE_TTL_US:
                self.close(*address)
