"""What a ``Server`` tells those who look in from outside, without a client.

:class:`Outside` is a base of ``Server``; all of it may be called from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from miniredis.keyspace.db import RedisDb
from miniredis.server.arguments import check_database, section_names
from miniredis.server.latency import create_latency_report
from miniredis.server.propagation import Propagation

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server


class Sink(Protocol):
    """A listener to the replication stream: a replica link, an append-only file, a test."""

    def __call__(self, dbid: int, argv: list[bytes]) -> None: ...


class Outside:
    """Base of ``Server``; the attributes below are its."""

    clients: dict[int, Client]
    databases: list[RedisDb]
    lock: threading.RLock
    propagation: Propagation

    def dbsize(self, db: int = 0) -> int:
        """Number of keys of a database, dead ones included. DBSIZE"""
        self._check_db(db)
        return len(self.databases[db])

    def info(self, sections: Sequence[bytes | str] = ()) -> bytes:
        """The text of INFO for some sections, or for the default ones.

        ``TypeError`` if *sections* is a single name or holds something else than names.
        """
        from miniredis.server.info import gen_redis_info_string  # few programs ask

        return gen_redis_info_string(cast("Server", self), section_names(sections))

    def latency_report(self) -> str:
        """The text of LATENCY DOCTOR."""
        return create_latency_report(cast("Server", self))

    def add_sink(self, sink: Sink) -> None:
        """Let *sink* hear what an append-only file would be told from now on; see also
        :meth:`append_only_stream`, which keeps it. ``TypeError`` if it cannot be called.
        """
        if not callable(sink):
            raise TypeError(f"a sink is a function of a database number and argv, not {sink!r}")
        with self.lock:
            self.propagation.add_sink(sink)

    def clients_waiting(self) -> Iterable[Client]:
        """Clients that are blocked now."""
        with self.lock:
            return [c for c in self.clients.values() if c.blocked]

    def _check_db(self, db: int) -> None:
        """``TypeError`` or ``ValueError`` unless there is a database of this number."""
        check_database(db, len(self.databases))
