"""repl_wait.py: who waits for replicas over a slow link, and what ends it."""

from __future__ import annotations

import threading

import pytest

from miniredis import Server, SystemClock, VirtualClock
from miniredis.clock import FREE
from miniredis.errors import CommandError
from miniredis.reply import BLOCKED, NO_REPLY, Reply
from miniredis.server.client import Client


def run(c: Client, text: str) -> Reply:
    return c.server.process_command(c, text.encode().split())


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def primary(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1, cost=FREE)


def replica_of(primary: Server, delay_ms: float) -> Server:
    server = Server(replica_of=primary, link_delay_ms=delay_ms, seed=2, cost=FREE)
    primary.clock.advance(2 * delay_ms)  # type: ignore[attr-defined]
    return server


def test_the_example_of_the_module(clock: VirtualClock, primary: Server) -> None:
    replica_of(primary, 20), replica_of(primary, 300)
    clock.advance(1_000 - clock.us() // 1000 % 100 + 1)  # a cron has just run
    c = primary.create_client()
    run(c, "SET k v")
    assert run(c, "WAIT 2 100") is BLOCKED
    assert b" flags=b " in run(c.server.create_client(), "CLIENT LIST").text  # type: ignore[attr-defined]
    clock.advance(39)
    assert primary.repl.waits.count_acks_by_offset(c.woff) == 0
    clock.advance(1)
    assert primary.repl.waits.count_acks_by_offset(c.woff) == 1
    clock.advance(60)
    assert c.blocked
    clock.advance(100)
    assert not c.blocked and list(c.outbox) == [1]
    primary._check()


def test_the_answer_takes_the_way_there_and_back(clock: VirtualClock, primary: Server) -> None:
    replica_of(primary, 30)
    r = primary.client()
    r.set("k", "v")
    before = clock.us()
    assert r.wait(1, 0) == 1
    assert clock.us() - before == 60_000
    assert r.wait(5, 1_000) == 1
    assert 1_000_000 < clock.us() - before - 60_000 <= 1_200_000


def test_without_replicas_only_the_time_ends_it(clock: VirtualClock, primary: Server) -> None:
    r = primary.client()
    assert r.wait(0, 0) == 0
    assert r.wait(1, 50) == 0
    assert not primary.gates


def test_in_a_transaction_nobody_waits(primary: Server) -> None:
    replica_of(primary, 30)
    p = primary.client().pipeline()
    p.set("k", "v")
    p.execute_command("WAIT", 3, 0)
    assert p.execute() == [True, 0]


def test_who_waits_for_less_hears_what_others_hear(clock: VirtualClock, primary: Server) -> None:
    replica_of(primary, 10), replica_of(primary, 10)
    a, b = primary.create_client(), primary.create_client()
    run(a, "SET k v")
    run(b, "SET k w")
    assert run(a, "WAIT 1 0") is BLOCKED and run(b, "WAIT 2 0") is BLOCKED
    clock.advance(20)
    assert list(a.outbox) == list(b.outbox) == [2]
    assert not primary.repl.waits.busy


def test_one_that_becomes_a_replica_hangs_up(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 10)
    c = primary.create_client()
    run(c, "SET k v")
    assert run(c, "WAIT 9 0") is BLOCKED
    replica.promote()
    primary.replicate(replica)
    [error] = c.outbox
    assert isinstance(error, CommandError) and error.code == "UNBLOCKED"
    assert c.close_after_reply and not c.blocked
    refused = run(primary.create_client(), "WAIT 0 0")
    assert isinstance(refused, CommandError)
    primary._check()


def test_a_client_that_goes_away_waits_no_more(primary: Server) -> None:
    c = primary.create_client()
    run(c, "WAIT 1 0")
    primary.free_client(c)
    assert not primary.repl.waits.busy or not primary.repl.waits.waiting
    primary._check()


def test_a_client_without_replies(clock: VirtualClock, primary: Server) -> None:
    c = primary.create_client()
    run(c, "CLIENT REPLY OFF")
    assert run(c, "WAIT 1 10") is BLOCKED
    clock.advance(300)
    assert list(c.outbox) == [NO_REPLY]
    assert not c.blocked


def test_a_pause_holds_the_question_back(clock: VirtualClock, primary: Server) -> None:
    replica_of(primary, 10)
    c = primary.create_client()
    run(c, "SET k v")
    run(c, "CLIENT PAUSE 500 WRITE")
    assert run(c, "WAIT 1 0") is BLOCKED
    primary.repl.slaves[0].repl_ack_off = 0  # not to be answered by the replica's own ack
    clock.advance(400)
    assert primary.repl.waits.get_ack_from_slaves
    clock.advance(1_000)
    assert not c.blocked


def test_in_real_time_another_thread_brings_the_answer() -> None:
    primary = Server(clock=SystemClock(), seed=1)
    Server(replica_of=primary, link_delay_ms=5)
    r = primary.client()
    r.set("k", "v")
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(r.wait(1, 20_000)))
    thread.start()
    thread.join(30)
    assert answers == [1]
