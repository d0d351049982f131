"""writable_replica.py: what is remembered, and when a run ends."""

from __future__ import annotations

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.lab.recorder import Recorder


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def replica(clock: VirtualClock) -> Server:
    primary = Server(clock=clock, seed=1, cost=FREE, databases=70)
    server = Server(replica_of=primary, seed=2, cost=FREE, replica_read_only=False)
    clock.advance(0)
    return server


def run(server: Server, *lines: str) -> None:
    c = server.create_client()
    for line in lines:
        server.process_command(c, line.encode().split())


def test_only_databases_with_a_bit(replica: Server, clock: VirtualClock) -> None:
    run(replica, "SELECT 63", "SET a 1 PX 10", "SELECT 64", "SET b 1 PX 10")
    clock.advance(1_000)
    assert (replica.dbsize(63), replica.dbsize(64)) == (0, 1)


def test_one_name_in_several_databases(replica: Server, clock: VirtualClock) -> None:
    run(replica, "SET a 1 PX 10", "SELECT 1", "SET a 1 PX 500", "SELECT 2", "SET a 1")
    tracked = replica.slave_keys_with_expire
    assert [entry.val for entry in tracked.dict.entries()] == [0b11]
    clock.advance(101)
    assert [entry.val for entry in tracked.dict.entries()] == [0b10]
    clock.advance(1_000)
    assert len(tracked) == 0
    assert [replica.dbsize(i) for i in range(3)] == [0, 0, 1]
    tracked.dict._check()


def test_keys_that_lost_their_ttl_are_dropped(replica: Server, clock: VirtualClock) -> None:
    run(replica, "SET a 1 PX 10", "PERSIST a", "SET b 1 PX 10", "DEL b")
    assert len(replica.slave_keys_with_expire) == 2
    clock.advance(101)
    assert len(replica.slave_keys_with_expire) == 0
    assert replica.dbsize() == 1


def test_a_run_ends_after_four_that_are_not_due(replica: Server) -> None:
    run(replica, *(f"SET k{i} 1 EX 1000" for i in range(100)))
    tracked = replica.slave_keys_with_expire
    picks = 0
    original = tracked.dict.get_random_key

    def counted() -> object:
        nonlocal picks
        picks += 1
        return original()

    class Counting(type(tracked.dict)):  # type: ignore[misc]
        __slots__ = ()

        def get_random_key(self) -> object:
            return counted()

    tracked.dict.__class__ = Counting
    tracked.expire()
    assert picks == 4
    assert len(tracked) == 100


def test_what_the_link_writes_is_not_remembered(replica: Server, clock: VirtualClock) -> None:
    primary = replica.repl.link.master  # type: ignore[union-attr]
    run(primary, "SET a 1 PX 10")
    clock.advance(0)
    assert replica.dbsize() == 1
    assert len(replica.slave_keys_with_expire) == 0


def test_who_deleted_it(replica: Server, clock: VirtualClock) -> None:
    recorder = replica.probe = Recorder()
    with replica.append_only_stream() as stream, replica.replication_stream() as passed_on:
        run(replica, "SET a 1 PX 10")
        clock.advance(101)
    assert [(deletion.key, deletion.by) for deletion in recorder.deletions] == [(b"a", "replica")]
    # Its own file is told, its own replicas are not.
    assert stream.lines() == ["SELECT 0", "SET a 1 PXAT 1391234400010", "DEL a"]
    assert passed_on.lines() == ["ping"]


def test_read_only_again(replica: Server, clock: VirtualClock) -> None:
    """The clean-up goes on; nothing new is remembered."""
    run(replica, "SET a 1 PX 10", "CONFIG SET replica-read-only yes", "SET b 1 PX 10")
    assert len(replica.slave_keys_with_expire) == 1
    clock.advance(101)
    assert len(replica.slave_keys_with_expire) == replica.dbsize() == 0
