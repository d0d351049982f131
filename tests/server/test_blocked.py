"""blocked.py: who is served, in which order, and what ends a wait."""

from __future__ import annotations

from typing import Any

import pytest

from miniredis.clock import FREE, VirtualClock
from miniredis.commands.blocking import BLOCKED_STREAM, BLOCKED_WAIT
from miniredis.errors import CommandError
from miniredis.keyspace.object import OBJ_STREAM, RedisObject
from miniredis.reply import BLOCKED, NULL_ARRAY, OK, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server

START_MS = 1_391_234_400_000


@pytest.fixture
def server() -> Server:
    return Server(clock=VirtualClock(START_MS), seed=1, cost=FREE)


def run(c: Client, text: str) -> Any:
    reply = c.server.process_command(c, text.encode().split())
    c.server._check()
    return reply.text.decode() if isinstance(reply, CommandError) else reply


def clients(server: Server, number: int) -> list[Client]:
    return [server.create_client() for _ in range(number)]


def output(c: Client) -> list[Any]:
    items = [item.text.decode() if isinstance(item, CommandError) else item for item in c.outbox]
    c.outbox.clear()
    return items


def advance(server: Server, ms: float) -> None:
    assert isinstance(server.clock, VirtualClock)
    server.clock.advance(ms)
    server._check()


def events_of(server: Server) -> list[tuple[int, list[bytes]]]:
    stream: list[tuple[int, list[bytes]]] = []
    server.add_sink(lambda dbid, argv: stream.append((dbid, argv)))
    return stream


# -- order ----------------------------------------------------------------------------


def test_first_come_first_served(server: Server) -> None:
    pusher, *waiting = clients(server, 5)
    for c in waiting:
        assert run(c, "BLPOP k 0") is BLOCKED
    assert run(pusher, "RPUSH k 1 2 3") == 3
    assert [output(c) for c in waiting] == [[[b"k", b"1"]], [[b"k", b"2"]], [[b"k", b"3"]], []]
    assert run(pusher, "EXISTS k") == 0
    assert server.clients_waiting() == [waiting[3]]


def test_keys_are_served_in_the_order_in_which_they_became_ready(server: Server) -> None:
    """The example of the module's docstring."""
    pusher, a, b, c = clients(server, 4)
    run(a, "BLPOP k 0")
    run(b, "BLPOP k m 0")
    run(c, "BLPOP m 0")
    for text in ("MULTI", "RPUSH m 1", "RPUSH k 2", "EXEC"):
        run(pusher, text)
    assert [output(x) for x in (a, b, c)] == [[[b"k", b"2"]], [[b"m", b"1"]], []]


def test_served_after_the_transaction_only(server: Server) -> None:
    pusher, a = clients(server, 2)
    run(a, "BLPOP k 0")
    for text in ("MULTI", "RPUSH k 1", "DEL k", "RPUSH k 2 3", "LPOP k", "EXEC"):
        reply = run(pusher, text)
    assert reply == [1, 1, 2, b"2"]
    assert output(a) == [[b"k", b"3"]]


def test_a_key_that_is_gone_again_serves_nobody(server: Server) -> None:
    pusher, a = clients(server, 2)
    run(a, "BLPOP k 0")
    for text in ("MULTI", "RPUSH k 1", "DEL k", "EXEC"):
        run(pusher, text)
    assert a.blocked
    run(pusher, "RPUSH k 2")
    assert output(a) == [[b"k", b"2"]]


def test_moved_elements_serve_those_who_wait_for_the_destination(server: Server) -> None:
    pusher, a, b, c = clients(server, 4)
    run(a, "BLMOVE k m LEFT RIGHT 0")
    run(b, "BRPOPLPUSH m n 0")
    run(c, "BLMPOP 0 2 x n LEFT COUNT 5")
    assert run(pusher, "RPUSH k v") == 1
    assert [output(x) for x in (a, b, c)] == [[b"v"], [b"v"], [[b"n", [b"v"]]]]
    assert run(pusher, "DBSIZE") == 0


def test_a_list_may_be_moved_onto_itself(server: Server) -> None:
    pusher, a = clients(server, 2)
    run(a, "BLMOVE k k LEFT RIGHT 0")
    run(pusher, "RPUSH k 1 2")
    assert output(a) == [b"1"]
    assert run(pusher, "LRANGE k 0 -1") == [b"2", b"1"]


def test_a_destination_of_another_type_is_an_error_and_takes_nothing(server: Server) -> None:
    pusher, a, b = clients(server, 3)
    run(pusher, "SET s x")
    run(a, "BLMOVE k s LEFT RIGHT 0")
    run(b, "BLPOP k 0")
    run(pusher, "RPUSH k 1")
    assert output(a)[0].startswith("WRONGTYPE")
    assert output(b) == [[b"k", b"1"]]
    assert "errorstat_WRONGTYPE:count=1" in server.info([b"errorstats"]).decode()


@pytest.mark.parametrize(
    "how",
    [
        ["RPUSH other 1", "RENAME other k"],
        ["RPUSH other 1", "COPY other k"],
        ["SELECT 1", "RPUSH k 1", "MOVE k 0"],
        ["SELECT 1", "RPUSH k 1", "SWAPDB 0 1"],
        ["SELECT 1", "RPUSH other 1", "COPY other k DB 0"],
        ["RPUSH other 1", "LMOVE other k LEFT LEFT"],
        ["RPUSH other 1", "SET k x", "RENAME other k"],
    ],
)
def test_any_way_in_which_a_list_comes_into_being(server: Server, how: list[str]) -> None:
    pusher, a = clients(server, 2)
    run(a, "BLPOP k 0")
    for text in how:
        assert not a.outbox
        run(pusher, text)
    assert output(a) == [[b"k", b"1"]]


def test_other_types_do_not_serve(server: Server) -> None:
    pusher, a = clients(server, 2)
    run(a, "BLPOP k 0")
    for text in ("SET k x", "DEL k", "SADD k x", "DEL k", "HSET k f v", "DEL k"):
        run(pusher, text)
        assert a.blocked
    run(pusher, "RPUSH k 1")
    assert output(a) == [[b"k", b"1"]]


def test_a_list_that_has_died_serves_nobody(server: Server) -> None:
    """Time stands still within EXEC, so it dies only before it would be served."""
    pusher, a = clients(server, 2)
    stream = events_of(server)
    run(a, "BLPOP k 0")
    for text in ("MULTI", "RPUSH k 1", f"PEXPIREAT k {START_MS + 1}", "DEBUG SLEEP 0.005", "EXEC"):
        run(pusher, text)
    assert a.blocked
    assert not server.databases[0].dict.index
    assert stream[-1] == (0, [b"DEL", b"k"])


# -- time -----------------------------------------------------------------------------


@pytest.mark.parametrize(("timeout", "ends_ms"), [("0.05", 101), ("0.1", 101), ("0.1001", 201)])
def test_a_wait_ends_with_the_first_cron_after_its_time(
    server: Server, timeout: str, ends_ms: int
) -> None:
    """The first cron comes after 1 ms, then one every 100 ms."""
    (a,) = clients(server, 1)
    run(a, f"BLPOP k {timeout}")
    for _ in range(ends_ms - 1):
        advance(server, 1)
        assert a.blocked
    advance(server, 0.999)
    assert a.blocked
    advance(server, 0.001)
    assert output(a) == [NULL_ARRAY]


def test_a_command_ends_waits_whose_time_is_up_after_it_has_run(server: Server) -> None:
    """In whole ms, and later than the limit: at 50 ms the time is not up yet."""
    admin, a, b, c = clients(server, 4)
    advance(server, 10)
    run(b, "BLPOP k 0.051")
    run(a, "BLPOP k 0.05")
    run(c, "BLPOP m 0.05")
    advance(server, 50.999)
    assert run(admin, "INFO clients").text.count(b"clients_in_timeout_table:3") == 1
    assert a.blocked
    advance(server, 0.001)
    run(admin, "RPUSH m 1")
    assert [output(x) for x in (a, b, c)] == [[NULL_ARRAY], [], [[b"m", b"1"]]]
    advance(server, 1)
    run(admin, "PING")
    assert output(b) == [NULL_ARRAY]


@pytest.mark.parametrize(
    ("timeout", "error"),
    [
        ("-1", "ERR timeout is negative"),
        ("inf", "ERR timeout is negative"),
        ("-inf", "ERR timeout is negative"),
        ("1e300", "ERR timeout is negative"),
        ("9223372036854776", "ERR timeout is negative"),
        ("nan", "ERR timeout is not a float or out of range"),
        ("1e5000", "ERR timeout is not a float or out of range"),
        ("x", "ERR timeout is not a float or out of range"),
        ("1s", "ERR timeout is not a float or out of range"),
    ],
)
def test_bad_timeouts(server: Server, timeout: str, error: str) -> None:
    (a,) = clients(server, 1)
    assert run(a, f"BLPOP k {timeout}") == error
    assert run(a, f"BLMPOP {timeout} 1 k LEFT") == error
    assert run(a, f"BLMOVE k m LEFT LEFT {timeout}") == error


@pytest.mark.parametrize("timeout", ["0", "-0", "-0.0001", "0.0"])
def test_waits_for_ever(server: Server, timeout: str) -> None:
    (a,) = clients(server, 1)
    assert run(a, f"BRPOP k {timeout}") is BLOCKED
    advance(server, 10**5)
    assert a.blocked


def test_the_longest_timeouts(server: Server) -> None:
    """The end lies beyond 64 bits; it is far away, not in the past."""
    (a,) = clients(server, 1)
    assert run(a, "BRPOP k 9223372036854775") is BLOCKED
    advance(server, 10**5)
    assert a.blocked


# -- what else ends a wait ----------------------------------------------------------------


def test_client_unblock(server: Server) -> None:
    admin, a, b = clients(server, 3)
    assert run(admin, f"CLIENT UNBLOCK {a.id}") == 0
    run(a, "BLPOP k 0")
    run(b, "BLMOVE k m LEFT LEFT 0")
    assert run(admin, "INFO clients").text.count(b"blocked_clients:2") == 1
    assert b" flags=b " in run(admin, f"CLIENT LIST ID {a.id}").text
    assert run(admin, f"CLIENT UNBLOCK {a.id} timeout") == 1
    assert run(admin, f"CLIENT UNBLOCK {b.id} ERROR") == 1
    assert output(a) == [NULL_ARRAY]
    assert output(b) == ["UNBLOCKED client unblocked via CLIENT UNBLOCK"]
    assert run(admin, f"CLIENT UNBLOCK {a.id}") == 0
    assert run(admin, "CLIENT UNBLOCK 99") == 0
    assert run(admin, "CLIENT UNBLOCK x") == "ERR value is not an integer or out of range"
    assert run(admin, "RPUSH k 1") == 1
    assert run(admin, "LLEN k") == 1


def test_unblocked_between_push_and_serving(server: Server) -> None:
    """The key was ready, but nobody waits any more."""
    admin, a = clients(server, 2)
    run(a, "BLPOP k 0")
    for text in ("MULTI", "RPUSH k 1", f"CLIENT UNBLOCK {a.id}", "CLIENT LIST", "EXEC"):
        reply = run(admin, text)
    assert reply[1] == 1
    assert b" flags=u " in reply[2].text
    assert output(a) == [NULL_ARRAY]
    assert run(admin, "LLEN k") == 1


def test_a_client_that_goes_away_waits_no_more(server: Server) -> None:
    admin, a, b = clients(server, 3)
    run(a, "BLPOP k 5")
    run(b, "BLPOP k 5")
    assert run(admin, f"CLIENT KILL ID {a.id}") == 1
    run(admin, "RPUSH k 1")
    assert output(b) == [[b"k", b"1"]]
    assert not a.outbox
    advance(server, 10_000)


def test_a_replica_disconnects_who_waits(server: Server) -> None:
    admin, a, b = clients(server, 3)
    run(a, "BLPOP k 5")
    run(admin, "CLIENT PAUSE 1000 WRITE")
    run(b, "SET k v")
    server.blocking.disconnect_all_blocked_clients()
    assert output(a) == [
        "UNBLOCKED force unblock from blocking operation, "
        "instance state changed (master -> replica?)"
    ]
    assert a.close_after_reply
    assert b.blocked


def test_a_pause_holds_a_command_back_before_it_waits(server: Server) -> None:
    admin, a = clients(server, 2)
    run(admin, "CLIENT PAUSE 1000 WRITE")
    assert run(a, "BLPOP k 0") is BLOCKED
    assert run(admin, f"CLIENT UNBLOCK {a.id}") == 0
    assert run(admin, "CLIENT UNPAUSE") is OK
    assert a.blocked and not a.held_back and not a.outbox
    run(admin, "RPUSH k 1")
    assert output(a) == [[b"k", b"1"]]


def test_replies_that_are_not_wanted(server: Server) -> None:
    admin, a = clients(server, 2)
    run(a, "CLIENT REPLY SKIP")
    assert run(a, "BLPOP k 0") is BLOCKED
    run(admin, "RPUSH k 1")
    assert not [item for item in output(a) if item is not None and isinstance(item, list)]
    assert run(a, "LLEN k") == 0


# -- accounts -------------------------------------------------------------------------


def test_what_is_propagated(server: Server) -> None:
    pusher, a = clients(server, 2)
    stream = events_of(server)
    for wait, push in (
        ("BLPOP k 0", "RPUSH k 1"),
        ("BRPOP x k 0", "RPUSH k 1"),
        ("BLMPOP 0 1 k RIGHT COUNT 5", "RPUSH k 1 2"),
        ("BLMOVE k m left RIGHT 0", "RPUSH k 1"),
        ("BRPOPLPUSH k m 0", "RPUSH k 1"),
    ):
        run(a, wait)
        run(pusher, push)
    assert [b" ".join(argv).decode() for _, argv in stream] == [
        "RPUSH k 1",
        "LPOP k",
        "RPUSH k 1",
        "RPOP k",
        "RPUSH k 1 2",
        "RPOP k 2",
        "RPUSH k 1",
        "LMOVE k m left right",
        "RPUSH k 1",
        "RPOPLPUSH k m",
    ]
    del stream[:]
    run(pusher, "RPUSH k 1 2 3 4 5")
    for text in ("BLPOP k 0", "BLMPOP 0 1 k RIGHT", "BLMOVE k m LEFT right 0", "BRPOPLPUSH k m 0"):
        run(pusher, text)
    run(pusher, "BLMPOP 0 2 nothing k LEFT COUNT 9")
    assert [b" ".join(argv).decode() for _, argv in stream[1:]] == [
        "LPOP k",
        "RPOP k 1",
        "LMOVE k m LEFT right",
        "RPOPLPUSH k m",
        "LPOP k 1",
    ]


def test_statistics(server: Server) -> None:
    admin, a = clients(server, 2)
    run(a, "BLPOP k 0")
    assert "calls=1" in server.info([b"commandstats"]).decode().split("cmdstat_blpop:")[1]
    assert "blpop" not in server.info([b"latencystats"]).decode()
    run(admin, f"CLIENT UNBLOCK {a.id}")
    line = server.info([b"commandstats"]).decode().split("cmdstat_blpop:")[1].split("\r\n")[0]
    assert line.startswith("calls=1,") and line.endswith("failed_calls=1")
    assert "blpop" in server.info([b"latencystats"]).decode()


def test_logged_as_slow_once_served(server: Server) -> None:
    admin, a = clients(server, 2)
    run(admin, "CONFIG SET slowlog-log-slower-than 0")
    run(admin, "SLOWLOG RESET")
    run(a, "BLPOP k 0")
    run(admin, "RPUSH k 1")
    logged = [entry[3][0] for entry in run(admin, "SLOWLOG GET")]
    assert logged == [b"BLPOP", b"RPUSH", b"SLOWLOG"]


def test_watchers_are_told_of_the_push_only(server: Server) -> None:
    pusher, a, watcher = clients(server, 3)
    run(a, "BLPOP k 0")
    run(watcher, "WATCH k")
    run(watcher, "MULTI")
    run(pusher, "RPUSH k 1")
    assert run(watcher, "EXEC") is NULL_ARRAY


# -- for other types --------------------------------------------------------------------


def test_waiting_for_something_that_is_no_key(server: Server) -> None:
    a, b = clients(server, 2)
    for c in (a, b):
        a_wait = c.block_client(BLOCKED_WAIT, START_MS + 500, lambda c: 7)
        assert a_wait is BLOCKED
    server.blocking.unblock_client(b)
    b.push(2)
    advance(server, 1000)
    assert [output(x) for x in (a, b)] == [[7], [2]]


def test_a_value_that_is_not_for_me_and_one_that_is_gone(server: Server) -> None:
    """As XREAD and XREADGROUP do: each key has an id, and a deleted stream is an error."""
    admin, a, b = clients(server, 3)
    db = server.databases[0]

    def serve(c: Client, o: RedisObject, key: bytes) -> Reply:
        assert c.bpop is not None
        wanted = c.bpop.keys[key]
        return [key, o.ptr] if len(o.ptr) >= wanted else BLOCKED

    def gone() -> CommandError:
        return CommandError("UNBLOCKED gone")

    class Stream(list[int]):
        def _check(self) -> None: ...

    a.lastcmd = b.lastcmd = admin.lastcmd = server._lookup_command([b"blpop"])
    a.block_for_keys(BLOCKED_STREAM, {b"s": 2, b"t": 9}, 0, serve)
    b.block_for_keys(BLOCKED_STREAM, {b"s": 3}, 0, serve, gone=gone)
    stream = Stream([1])
    db.add(b"s", RedisObject(OBJ_STREAM, stream, encoding="stream"))
    run(admin, "PING")
    assert a.blocked and b.blocked
    stream.append(2)
    server.signal_key_as_ready(db, b"s", OBJ_STREAM)
    run(admin, "PING")
    assert output(a) == [[b"s", [1, 2]]]
    assert b.blocked
    run(admin, "SET s x")
    assert output(b) == ["UNBLOCKED gone"]
    db.delete(b"s")
    for how in ("DEL s", "FLUSHALL", "SWAPDB 0 3"):
        db.add(b"s", RedisObject(OBJ_STREAM, Stream([1]), encoding="stream"))
        b.block_for_keys(BLOCKED_STREAM, {b"s": 3}, 0, serve, gone=gone)
        run(admin, how)
        assert output(b) == ["UNBLOCKED gone"], how
