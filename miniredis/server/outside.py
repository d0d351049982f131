"""What a ``Server`` tells those who look in from outside, without a client.

:class:`Outside` is a base of ``Server``; all of it may be called from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.expire import CycleReport, ExpireEngine
from miniredis.reply import Reply
from miniredis.server.arguments import check_database, section_names
from miniredis.server.config import Config
from miniredis.server.latency import create_latency_report
from miniredis.server.propagation import Propagation

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server


class Sink(Protocol):
    """A listener to the replication stream: a replica link, an append-only file, a test."""

    def __call__(self, dbid: int, argv: list[bytes]) -> None: ...


def _anywhere(port: int) -> None:
    """Nobody listens."""


class Outside:
    """Base of ``Server``; the attributes below are its."""

    clients: dict[int, Client]
    config: Config
    databases: list[RedisDb]
    expire_engine: ExpireEngine
    lock: threading.RLock
    propagation: Propagation
    stat_rejected_conn: int

    def _check_open(self) -> None:
        raise NotImplementedError

    #: Who listens for clients is told of ``port``, and may raise ``ApplyError``.
    listen_on: Callable[[int], None] = staticmethod(_anywhere)

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

    def config_changed(self) -> None:
        """Parameters were set: obey them."""
        server = cast("Server", self)
        server.apply_config()
        server.eviction.configure()
        self.listen_on(server.config.port)

    def memory_stats(self) -> dict[bytes, Reply]:
        """What the memory is used for, in bytes: MEMORY STATS."""
        from miniredis.server.info_memory import memory_stats  # asked for by few

        return memory_stats(cast("Server", self))

    def memory_report(self) -> bytes:
        """The text of MEMORY DOCTOR."""
        from miniredis.server.info_memory import memory_report

        return memory_report(cast("Server", self))

    def add_sink(self, sink: Sink) -> None:
        """Let *sink* hear what an append-only file would be told from now on; see also
        :meth:`append_only_stream`, which keeps it. ``TypeError`` if it cannot be called.
        """
        if not callable(sink):
            raise TypeError(f"a sink is a function of a database number and argv, not {sink!r}")
        with self.lock:
            self.propagation.add_sink(sink)

    def active_expire_cycle(self, type: str = "slow") -> CycleReport:
        """Run one active expire cycle now and tell what it did, window by window.

        *type* is ``slow`` or ``fast``. ``ValueError`` for anything else.
        """
        with self.lock:
            self._check_open()
            return self.expire_engine.active_expire_cycle(type, record=True)

    def client_limit_reached(self) -> bool:
        """Whether ``maxclients`` are connected; the one that asks is counted as rejected.

        networking.c: acceptCommonHandler()
        """
        with self.lock:
            if len(self.clients) < self.config.maxclients:
                return False
            self.stat_rejected_conn += 1
            return True

    def clients_waiting(self) -> Iterable[Client]:
        """Clients that are blocked now."""
        with self.lock:
            return [c for c in self.clients.values() if c.blocked]

    def _check_db(self, db: int) -> None:
        """``TypeError`` or ``ValueError`` unless there is a database of this number."""
        check_database(db, len(self.databases))
