"""WAIT and REPLCONF: the same as on a real primary with a real replica.

The real replica's answers pass the relay at once, so the line has no delay here; what a
slow line does to WAIT is in ``tests/server/test_wait.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from miniredis.net.resp import encode_reply
from miniredis.reply import NO_REPLY
from miniredis.server.client import Client
from tests.conftest import missing
from tests.differential.replica_pair import PRIMARY, REPLICA, TRIES, ReplicaPair, info
from tests.differential.test_replicas import run
from tests.real.raw import RawClient
from tests.real.servers import version_of


@pytest.fixture(scope="module")
def pair(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaPair]:
    if version_of(real_binary) < (7, 0):
        pytest.skip("replicas are compared with those of Redis 7.0")
    try:
        pair = ReplicaPair(real_binary, tmp_path_factory.mktemp("frozen"))
    except RuntimeError as error:
        missing(str(error))
    pair.start()
    yield pair
    pair.stop()


class Waiter:
    """One more client of both primaries, which may block."""

    def __init__(self, pair: ReplicaPair) -> None:
        self.pair = pair
        self.real = RawClient(pair.primary.port)
        self.mine: Client = pair.servers[PRIMARY].create_client()

    def __call__(self, *argv: bytes) -> bytes:
        expected = self.real(*argv)
        assert self.pair.run_mine(self.mine, argv) == expected, argv
        return expected

    def send(self, *argv: bytes) -> None:
        self.real.send(*argv)
        self.pair.servers[PRIMARY].process_command(self.mine, list(argv))
        self.pair.admins[PRIMARY](b"PING")  # the real server has read it

    def settle(self) -> None:
        """What was sent has arrived on both sides, and the answers too."""
        pair, server = self.pair, self.pair.servers[PRIMARY]
        pair.settle()
        pair.clock.advance(0)
        behind = server.repl.master_repl_offset - server.repl.slaves[0].repl_ack_off
        for _ in range(TRIES):
            state = info(pair.admins[PRIMARY], b"replication")
            acked = int(state[b"slave0"].split(b"offset=")[1].split(b",")[0])
            if int(state[b"master_repl_offset"]) - acked == behind:
                return
        raise RuntimeError(f"the real primary knows {state}, the simulated one lags {behind}")

    def heard(self) -> bytes | None:
        """The reply of both sides, None if both still wait."""
        if self.mine.blocked:
            self.pair.admins[PRIMARY](b"PING")
            assert self.real.is_silent()
            return None
        expected = self.real.read()
        [reply] = [item for item in self.mine.outbox if item is not NO_REPLY]
        self.mine.outbox.clear()
        assert encode_reply(reply, 2) == expected
        return expected


@pytest.fixture
def waiter(pair: ReplicaPair) -> Iterator[Waiter]:
    waiter = Waiter(pair)
    yield waiter
    waiter.real.close()
    pair.servers[PRIMARY].free_client(waiter.mine)
    for server in pair.servers:
        server._check()


@pytest.mark.parametrize(
    "line",
    [
        "WAIT",
        "WAIT 1",
        "WAIT x 1",
        "WAIT 1 x",
        "WAIT 1 -1",
        "WAIT 0 0",
        "WAIT -1 0",
        "REPLCONF",
        "REPLCONF a",
        "REPLCONF foo bar",
        "REPLCONF listening-port x",
        "REPLCONF listening-port 1 capa eof capa psync2 capa other ip-address 1.2.3.4",
        "REPLCONF rdb-only 2",
        "REPLCONF rdb-only 0 foo bar",
        "REPLCONF rdb-filter-only functions",
        "REPLCONF rdb-filter-only x",
        """REPLCONF rdb-filter-only 'functions "functions" x'""",
        """REPLCONF rdb-filter-only '"functions'""",
        "REPLCONF rdb-filter-only ''",
        "REPLCONF ip-address {long}",
        "b: WAIT 1 1",
        "b: WAIT x",
        "MULTI\nWAIT 5 0\nEXEC",
        "MULTI\nSET a 1\nWAIT 5 0\nREPLCONF capa eof\nEXEC",
        "CLIENT UNBLOCK 1000000",
        "FAILOVER x",
        "FAILOVER ABORT",
        "FAILOVER abort x",
        "FAILOVER TO localhost 1",
        "FAILOVER TO localhost x",
        "FAILOVER TO localhost",
        "FAILOVER TO localhost 1 TO localhost 1",
        "FAILOVER TIMEOUT 0",
        "FAILOVER TIMEOUT x",
        "FAILOVER TIMEOUT 1 TIMEOUT 1",
        "FAILOVER FORCE",
        "FAILOVER FORCE TIMEOUT 1",
        "FAILOVER FORCE FORCE",
        "b: FAILOVER",
        "b: FAILOVER TIMEOUT 1",
        "PSYNC",
        "SYNC x",
        "PSYNC ? x FAILOVER",
        "MULTI\nSYNC\nEXEC",
        "CLIENT UNBLOCK 1000000 SOON",
    ],
)
def test_replies(pair: ReplicaPair, line: str) -> None:
    run(pair, line.replace("{long}", "x" * 300))


def test_silent_options(pair: ReplicaPair) -> None:
    """ACK and GETACK have no reply, so the next one is PING's."""
    for which in (PRIMARY, REPLICA):
        for option in ((b"ACK", b"1"), (b"getack", b"*")):
            pair.real[which].send(b"REPLCONF", *option)
            mine = pair.run_mine(pair.mine[which], (b"REPLCONF", *option))
            assert mine == b""
            pair.step((which, (b"PING",)))


def test_the_replica_answers(pair: ReplicaPair, waiter: Waiter) -> None:
    waiter(b"SET", b"a", b"1")
    waiter.settle()
    waiter.send(b"WAIT", b"1", b"0")
    assert waiter.mine.blocked
    waiter.settle()
    assert waiter.heard() == b":1\r\n"
    assert waiter(b"WAIT", b"1", b"0") == b":1\r\n"  # at once, nothing was written since
    # An oddity: the question to the replicas is itself part of the stream that the client
    # asks for after that, and nobody has acknowledged it yet.
    assert waiter(b"WAIT", b"0", b"0") == b":0\r\n"


def test_the_stream_grows_by_getack(pair: ReplicaPair, waiter: Waiter) -> None:
    def offsets() -> tuple[int, int]:
        real = pair.admins[PRIMARY](b"INFO", b"replication")
        offset = int(real.split(b"master_repl_offset:")[1].split(b"\r\n")[0])
        return offset, pair.servers[PRIMARY].repl.master_repl_offset

    before = offsets()
    waiter.send(b"WAIT", b"2", b"50")
    after = offsets()
    assert after[0] - before[0] == after[1] - before[1] == 37
    waiter.settle()
    pair.step(200)
    assert waiter.heard() == b":1\r\n"


def test_a_time_that_is_over(pair: ReplicaPair, waiter: Waiter) -> None:
    """It is over one ms later than said, and noticed when the loop turns."""
    ms_to_cron = (pair.primary.next_cron_us - pair.primary.us) // 1000
    pair.step(ms_to_cron)
    waiter(b"SET", b"a", b"2")
    waiter.send(b"WAIT", b"3", b"100")
    waiter.settle()
    assert waiter.heard() is None
    pair.step(50)
    assert waiter.heard() is None
    pair.step(50)  # a cron: the time is over, but only just
    assert waiter.heard() is None
    pair.step(1)
    pair.step((PRIMARY, (b"PING",)))
    assert waiter.heard() == b":1\r\n"


def test_unblocked_by_hand(pair: ReplicaPair, waiter: Waiter) -> None:
    real_id, my_id = waiter.real(b"CLIENT", b"ID")[1:-2], b"%d" % waiter.mine.id
    for reason, expected in (
        ((), b":1\r\n"),
        ((b"TIMEOUT",), b":1\r\n"),
        ((b"ERROR",), b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"),
    ):
        waiter.send(b"WAIT", b"9", b"0")
        waiter.settle()
        assert waiter.heard() is None
        words = b"CLIENT", b"UNBLOCK"
        assert pair.real[PRIMARY](*words, real_id, *reason) == b":1\r\n"
        assert pair.run_mine(pair.mine[PRIMARY], (*words, my_id, *reason)) == b":1\r\n"
        assert waiter.heard() == expected
        assert pair.real[PRIMARY](*words, real_id) == b":0\r\n"
        assert pair.run_mine(pair.mine[PRIMARY], (*words, my_id)) == b":0\r\n"


def test_no_getack_while_clients_are_paused(pair: ReplicaPair, waiter: Waiter) -> None:
    waiter(b"SET", b"a", b"3")
    waiter.settle()
    pair.step((PRIMARY, (b"CLIENT", b"PAUSE", b"1000", b"WRITE")))
    offset = pair.servers[PRIMARY].repl.master_repl_offset
    waiter.send(b"WAIT", b"2", b"5000")
    waiter.settle()
    assert pair.servers[PRIMARY].repl.master_repl_offset == offset
    pair.step(1100)
    assert waiter.heard() is None
    assert pair.servers[PRIMARY].repl.master_repl_offset > offset
    pair.step(4000)
    assert waiter.heard() == b":1\r\n"
