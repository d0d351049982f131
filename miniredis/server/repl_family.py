"""What servers need to replicate each other: one clock, one lock, ports of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from miniredis.clock import Clock

if TYPE_CHECKING:
    from miniredis.server.server import Server

US_PER_MS = 1_000


def join_family(
    primary: Server, clock: Clock | None, config: dict[str, Any]
) -> tuple[Clock, dict[str, Any]]:
    """Clock and configuration of a server that is made as a replica of *primary*.

    It gets the primary's clock and number of databases, and the next free port. Raises
    ``TypeError`` if *primary* is no server, ``ValueError`` for a clock, port or number of
    databases that does not fit.
    """
    # By what a server has, as its class is not known yet when this is imported.
    repl = getattr(primary, "repl", None)
    if repl is None:
        raise TypeError(f"replica_of must be a miniredis.Server, not {primary!r}")
    if primary.closed:
        raise ValueError("replica_of names a server that was closed")
    if clock is not None and clock is not primary.clock:
        raise ValueError("a replica needs the clock of its primary: leave out the clock argument")
    if "replicaof" in config:
        raise ValueError("give either replica_of or replicaof, not both")
    ports = {peer.config.port for peer in repl.peers}
    port = config.get("port", max(ports) + 1)
    if port in ports:
        raise ValueError(f"port {port} is taken by another server of this family: {sorted(ports)}")
    databases = config.get("databases", primary.config.databases)
    if isinstance(databases, int) and databases < primary.config.databases:
        raise ValueError(
            f"a replica needs at least the {primary.config.databases} databases of its primary, "
            f"got {databases}"
        )
    return primary.clock, {**config, "port": port, "databases": databases}


def check_primary(server: Server, primary: Server) -> None:
    """``ValueError`` unless *server* can be a replica of *primary*."""
    if getattr(primary, "repl", None) is None:
        raise TypeError(f"a server replicates a miniredis.Server, not {primary!r}")
    if primary is server:
        raise ValueError("a server cannot replicate itself")
    if primary not in server.repl.peers:
        raise ValueError(
            "servers that replicate each other must be made as one family: Server(replica_of=...)"
        )
    if len(server.databases) < len(primary.databases):
        raise ValueError(
            f"a replica needs at least the {len(primary.databases)} databases of its primary, "
            f"got {len(server.databases)}"
        )


def delay_us(ms: float) -> int:
    """*ms* in whole µs; ``TypeError`` or ``ValueError`` if it is no delay."""
    if isinstance(ms, bool) or not isinstance(ms, (int, float)):
        raise TypeError(f"link_delay_ms must be a number of milliseconds, not {ms!r}")
    if not 0 <= ms < float("inf"):
        raise ValueError(f"link_delay_ms must be finite and 0 or more, got {ms!r}")
    return round(ms * US_PER_MS)
