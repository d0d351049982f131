"""pause.py: what happens to held clients when a pause ends, or they do."""

from __future__ import annotations

import pytest

from miniredis.clock import VirtualClock
from miniredis.reply import BLOCKED, OK
from miniredis.server.client import Client
from miniredis.server.server import Server


@pytest.fixture
def server() -> Server:
    return Server(clock=VirtualClock(), seed=1)


def run(c: Client, text: str) -> object:
    return c.server.process_command(c, text.encode().split())


def clients(server: Server, number: int) -> list[Client]:
    return [server.create_client() for _ in range(number)]


def value(c: Client) -> object:
    return run(c, "GET k")


@pytest.mark.parametrize("how", ["unpause", "timeout"])
def test_held_commands_run_in_the_order_they_came(server: Server, how: str) -> None:
    admin, *held = clients(server, 6)
    run(admin, "CLIENT PAUSE 1000 WRITE")
    for i, c in enumerate(held):
        assert run(c, f"APPEND k {i}") is BLOCKED
    if how == "unpause":
        assert run(admin, "CLIENT UNPAUSE") is OK
    else:
        server.clock.advance(1_200)  # type: ignore[attr-defined]
    assert value(admin) == b"01234"
    assert [list(c.outbox) for c in held] == [[1], [2], [3], [4], [5]]
    assert not server.clients_waiting()


def test_a_held_command_may_pause_anew(server: Server) -> None:
    """Who comes after it is held once more, and keeps its place."""
    admin, a, b, c = clients(server, 4)
    run(admin, "CLIENT PAUSE 1000 ALL")
    assert run(a, "CLIENT PAUSE 500 ALL") is BLOCKED
    assert run(b, "APPEND k b") is BLOCKED
    assert run(c, "APPEND k c") is BLOCKED
    server.clock.advance(1_200)  # type: ignore[attr-defined]
    assert list(a.outbox) == [OK]
    assert server.clients_waiting() == [b, c]
    server.clock.advance(1_000)  # type: ignore[attr-defined]
    assert value(admin) == b"bc"


def test_a_held_command_may_end_a_pause(server: Server) -> None:
    """Clients that it lets go run after those that were let go before."""
    admin, a, b, c = clients(server, 4)
    run(admin, "CLIENT PAUSE 1000 WRITE")
    run(a, "MULTI")
    run(a, "CLIENT PAUSE 5000 WRITE")
    run(a, "CLIENT UNPAUSE")
    run(a, "PUBLISH x y")  # without a command that may replicate EXEC would not be held
    admin2 = server.create_client()
    run(admin2, "CLIENT UNPAUSE")
    run(a, "DISCARD")
    run(admin, "CLIENT PAUSE 1000 WRITE")
    assert run(a, "SET k a") is BLOCKED
    assert run(b, "APPEND k b") is BLOCKED
    assert run(c, "APPEND k c") is BLOCKED
    run(admin, "CLIENT UNPAUSE")
    assert value(admin) == b"abc"


def test_a_held_client_that_goes_takes_its_command_along(server: Server) -> None:
    admin, a, b = clients(server, 3)
    run(admin, "CLIENT PAUSE 1000 WRITE")
    run(a, "APPEND k a")
    run(b, "APPEND k b")
    server.free_client(a)
    run(admin, "CLIENT UNPAUSE")
    assert value(admin) == b"b"
    assert not a.outbox


@pytest.mark.parametrize(
    ("before", "stays"),
    [
        ([], False),
        (["MULTI", "SET k v"], False),
        (["WATCH k"], False),
        (["CLIENT NO-EVICT ON"], False),
        (["CLIENT REPLY OFF"], False),
        (["SUBSCRIBE x"], True),
        (["SSUBSCRIBE x"], True),
        (["MONITOR"], True),
        (["CLIENT PAUSE 100000000 WRITE", "SET k v"], True),
    ],
)
def test_idle_clients_are_closed(server: Server, before: list[str], stays: bool) -> None:
    c = server.create_client()
    run(c, "CONFIG SET timeout 10")
    for command in before:
        run(c, command)
    server.clock.advance(10_900)  # type: ignore[attr-defined]
    assert c.id in server.clients
    server.clock.advance(1_100)  # type: ignore[attr-defined]
    assert (c.id in server.clients) is stays


def test_a_command_that_fails_or_is_queued_is_a_sign_of_life(server: Server) -> None:
    c = server.create_client()
    run(c, "CONFIG SET timeout 10")
    for command in ("nonsense", "GET", "INCR k x", "MULTI", "PING", "nonsense"):
        server.clock.advance(9_000)  # type: ignore[attr-defined]
        run(c, command)
    assert c.id in server.clients
