"""FAILOVER between servers of one family, on a virtual clock."""

from __future__ import annotations

import pytest

from miniredis.clock import FREE, VirtualClock
from miniredis.reply import BLOCKED, OK
from miniredis.server.server import Server

START_MS = 1_000_000_000_000


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START_MS)


@pytest.fixture
def primary(clock: VirtualClock) -> Server:
    return Server(clock, seed=1, cost=FREE)


def replica_of(primary: Server, delay_ms: float) -> Server:
    replica = Server(replica_of=primary, link_delay_ms=delay_ms, seed=2, cost=FREE)
    primary.clock.advance(2 * delay_ms + 100)  # type: ignore[attr-defined]
    return replica


def run(server: Server, line: str) -> object:
    return server.process_command(server.create_client(), [w.encode() for w in line.split()])


def role(server: Server) -> object:
    return run(server, "ROLE")[0]  # type: ignore[index]


def state(server: Server) -> str:
    info = server.info(["replication"]).decode()
    return next(
        line.split(":")[1] for line in info.splitlines() if line.startswith("master_failover")
    )


@pytest.mark.parametrize("delay_ms", [0, 5, 50])
def test_the_two_change_roles_and_nothing_is_lost(
    clock: VirtualClock, primary: Server, delay_ms: float
) -> None:
    replica = replica_of(primary, delay_ms)
    run(primary, "SET a 1")
    writer = primary.create_client()
    assert run(primary, "FAILOVER TIMEOUT 5000") is OK
    assert state(primary) == "waiting-for-sync"
    assert primary.process_command(writer, [b"SET", b"b", b"2"]) is BLOCKED
    assert run(primary, "GET a") == b"1"
    clock.advance(2_500)
    assert (role(primary), role(replica)) == (b"slave", b"master")
    assert state(primary) == "no-failover"
    # The write that was held back is refused: it would have been lost.
    assert writer.outbox.pop().code in ("READONLY", "UNBLOCKED")
    assert run(replica, "GET a") == b"1"
    assert run(replica, "SET b 3") is OK
    clock.advance(200)
    assert run(primary, "GET b") == b"3"
    assert (primary.stat_sync_full, replica.stat_sync_full) == (1, 0)
    assert replica.stat_sync_partial_ok == 1
    for server in (primary, replica):
        server._check()


def test_a_replica_that_never_catches_up(clock: VirtualClock, primary: Server) -> None:
    """The time-out gives up, and held writes run; with FORCE roles change all the same."""
    replica = replica_of(primary, 3_000)
    clock.advance(10_000)
    run(primary, "SET a 1")
    writer = primary.create_client()
    assert run(primary, "FAILOVER TIMEOUT 1000") is OK
    assert primary.process_command(writer, [b"SET", b"b", b"2"]) is BLOCKED
    clock.advance(1_300)
    assert role(primary) == b"master" and state(primary) == "no-failover"
    assert writer.outbox.pop() is OK
    assert run(primary, f"FAILOVER TO 127.0.0.1 {replica.config.port} TIMEOUT 100 FORCE") is OK
    clock.advance(500)
    assert (role(primary), role(replica)) == (b"slave", b"master")
    clock.advance(7_000)
    assert run(primary, "ROLE")[3] == b"connected"  # type: ignore[index]
    for server in (primary, replica):
        server._check()


def test_abort(clock: VirtualClock, primary: Server) -> None:
    replica_of(primary, 3_000)
    clock.advance(10_000)
    run(primary, "SET a 1")
    assert run(primary, "FAILOVER") is OK
    assert run(primary, "FAILOVER").text == b"ERR FAILOVER already in progress."  # type: ignore[attr-defined]
    assert run(primary, "FAILOVER ABORT") is OK
    assert run(primary, "SET b 1") is OK
    assert role(primary) == b"master"
    primary._check()


def test_there_must_be_a_replica(primary: Server) -> None:
    refused = run(primary, "FAILOVER")
    assert refused.text == b"ERR FAILOVER requires connected replicas."  # type: ignore[attr-defined]
