"""replication.py and its neighbours: families, links, histories, streams."""

from __future__ import annotations

import threading

import pytest

from miniredis import Server, SystemClock, VirtualClock
from miniredis.clock import FREE
from miniredis.errors import CommandError
from miniredis.lab.recorder import Recorder
from miniredis.server.client import Client
from miniredis.server.command_stream import resp_command, resp_command_size
from miniredis.server.repl_backlog import ReplBacklog


def run(c: Client, text: str) -> object:
    return c.server.process_command(c, text.encode().split())


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def primary(clock: VirtualClock) -> Server:
    return Server(clock=clock, seed=1, cost=FREE)


def replica_of(primary: Server, delay_ms: float = 0, **config: object) -> Server:
    server = Server(replica_of=primary, link_delay_ms=delay_ms, seed=2, cost=FREE, **config)
    primary.clock.advance(delay_ms)  # type: ignore[attr-defined]
    assert server.repl.connected
    return server


def fields(server: Server, section: str = "replication") -> dict[str, str]:
    lines = server.info([section.encode()]).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


# -- making a replica -----------------------------------------------------------------------


def test_the_data_set_comes_after_the_delay(clock: VirtualClock, primary: Server) -> None:
    c = primary.create_client()
    run(c, "MSET a 1 b 2")
    replica = Server(replica_of=primary, link_delay_ms=40, seed=2)
    run(c, "SET late 1")
    clock.advance(39)
    assert replica.dbsize() == 0
    assert fields(replica)["master_sync_in_progress"] == "1"
    clock.advance(1)
    assert replica.dbsize() == 2 + 1
    assert fields(replica)["master_link_status"] == "up"
    assert fields(primary)["slave0"].endswith("state=send_bulk,offset=0,lag=0")
    clock.advance(40)
    assert "state=online" in fields(primary)["slave0"]


def test_each_has_a_port_of_its_own(primary: Server) -> None:
    assert [replica_of(primary).config.port for _ in range(3)] == [6380, 6381, 6382]
    with pytest.raises(ValueError, match=r"port 6380 is taken .* \[6379, 6380, 6381, 6382\]"):
        Server(replica_of=primary, port=6380)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"clock": VirtualClock()}, ValueError, "the clock of its primary"),
        ({"databases": 4}, ValueError, "at least the 16 databases"),
        ({"replicaof": "127.0.0.1 1"}, ValueError, "not both"),
        ({"link_delay_ms": -1}, ValueError, "finite and 0 or more"),
        ({"link_delay_ms": float("inf")}, ValueError, "finite and 0 or more"),
        ({"link_delay_ms": "5"}, TypeError, "a number of milliseconds"),
        ({"replica_of": "127.0.0.1"}, TypeError, "must be a miniredis.Server"),
    ],
)
def test_bad_arguments(
    primary: Server, arguments: dict[str, object], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        Server(**{"replica_of": primary, **arguments})  # type: ignore[arg-type]


def test_a_closed_server_has_no_replicas(primary: Server) -> None:
    primary.close()
    with pytest.raises(ValueError, match="was closed"):
        Server(replica_of=primary)


def test_only_a_family_replicates(clock: VirtualClock, primary: Server) -> None:
    stranger = Server(clock=clock)
    with pytest.raises(ValueError, match="one family"):
        stranger.replicate(primary)
    with pytest.raises(ValueError, match="itself"):
        primary.replicate(primary)
    with pytest.raises(TypeError, match=r"a miniredis\.Server"):
        primary.replicate(None)  # type: ignore[arg-type]


def test_redis_conf_names_a_primary_that_does_not_answer(clock: VirtualClock) -> None:
    server = Server(clock=clock, replicaof="example.com 6379")
    clock.advance(5_000)
    assert run(server.create_client(), "ROLE") == [b"slave", b"example.com", 6379, b"connect", -1]
    assert fields(server)["master_link_status"] == "down"


def test_under_the_system_clock() -> None:
    primary = Server(clock=SystemClock(), seed=1)
    replica = Server(replica_of=primary)
    assert replica.clock is primary.clock
    run(primary.create_client(), "SET a 1")
    assert run(replica.create_client(), "GET a") == b"1"


def test_whoever_waits_is_woken_by_what_arrives() -> None:
    """Pub/sub on a replica, in real time: the event that was planned wakes the listener."""
    primary = Server(clock=SystemClock(), seed=1)
    replica = Server(replica_of=primary)
    from miniredis.server.waiting import let_time_pass

    c = replica.create_client()
    run(c, "SUBSCRIBE news")
    c.outbox.clear()
    heard = threading.Event()

    def listen() -> None:
        until = replica.clock.us() + 10_000_000
        assert let_time_pass(replica, lambda: bool(c.outbox), until)
        heard.set()

    listener = threading.Thread(target=listen)
    listener.start()
    run(primary.create_client(), "PUBLISH news hello")
    listener.join(20)
    assert heard.is_set()


def test_no_deadlock_between_threads() -> None:
    """Primary and replica share one lock, so writing here and asking there cannot block."""
    primary = Server(clock=SystemClock(), seed=1)
    replica = Server(replica_of=primary, replica_read_only=False)
    a, b = primary.create_client(), replica.create_client()

    def work(c: Client) -> None:
        for i in range(300):
            run(c, f"SET k{i} 1 PX 1")
            run(c, "ROLE")

    threads = [threading.Thread(target=work, args=(c,)) for c in (a, b)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


# -- the link ---------------------------------------------------------------------------------


def test_the_delay_may_change_but_nothing_overtakes(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 100)
    c, q = primary.create_client(), replica.create_client()
    run(c, "SET a 1")
    replica.link_delay_ms = 0
    run(c, "SET a 2")
    clock.advance(99)
    assert run(q, "GET a") is None
    clock.advance(1)
    assert run(q, "GET a") == b"2"
    assert replica.link_delay_ms == 0


def test_lag_is_what_info_shows(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 5_000)
    clock.advance(20_000)
    run(primary.create_client(), "SET a 1")
    offset = primary.repl.master_repl_offset
    assert replica.repl.reploff < offset
    clock.advance(6_000)
    assert replica.repl.reploff >= offset
    clock.advance(6_000)
    assert int(fields(primary)["slave0"].split("offset=")[1].split(",")[0]) >= offset


def test_a_killed_link_comes_back_where_it_was(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 10)
    c, q = primary.create_client(), replica.create_client()
    run(c, "SET a 1")
    clock.advance(10)
    run(q, "CLIENT KILL TYPE master SKIPME no")
    assert replica.repl.repl_state == "handshake"
    run(c, "SET a 2")
    clock.advance(20)
    assert run(q, "GET a") == b"2"
    assert fields(primary, "stats")["sync_partial_ok"] == "1"
    assert fields(primary, "stats")["sync_full"] == "1"
    run(c, "CLIENT KILL TYPE replica")
    run(c, "SET a 3")
    clock.advance(2_000)
    assert run(q, "GET a") == b"3"
    assert fields(primary, "stats")["sync_partial_ok"] == "2"
    for server in (primary, replica):
        server._check()


def test_what_the_backlog_lost_takes_a_full_sync(clock: VirtualClock, primary: Server) -> None:
    primary.process_command(
        primary.create_client(), [b"CONFIG", b"SET", b"repl-backlog-size", b"16kb"]
    )
    replica = replica_of(primary)
    port = replica.config.port
    run(replica.create_client(), "REPLICAOF 127.0.0.1 1")
    run(primary.create_client(), "SET a " + "x" * 20_000)
    assert int(fields(primary)["repl_backlog_histlen"]) <= 16 * 1024
    run(replica.create_client(), "REPLICAOF localhost 6379")
    clock.advance(0)
    assert fields(primary, "stats")["sync_full"] == "2"
    assert fields(primary, "stats")["sync_partial_err"] == "1"
    assert replica.dbsize() == 1
    assert replica.config.port == port


def test_replicas_of_replicas(clock: VirtualClock, primary: Server) -> None:
    middle = replica_of(primary, 10)
    last = replica_of(middle, 10)
    c = primary.create_client()
    with middle.replication_stream() as passed_on, last.append_only_stream() as written:
        for line in ("SELECT 1", "SET a 1 PX 50", "MULTI", "INCR n", "INCR n", "EXEC"):
            run(c, line)
        clock.advance(20)
        assert last.dbsize(1) == 2
        clock.advance(300)
        assert last.dbsize(1) == 1
    life = "SELECT 1, SET a 1 PXAT 1391234400070, MULTI, INCR n, INCR n, EXEC, DEL a"
    assert ", ".join(passed_on.lines()) == life
    assert ", ".join(written.lines()) == life
    assert middle.repl.master_repl_offset == last.repl.master_repl_offset
    assert {s.replid for s in (primary, middle, last)} == {primary.replid}
    for server in (primary, middle, last):
        server._check()


def test_failover_moves_the_duties(clock: VirtualClock, primary: Server) -> None:
    """The promoted replica expires; the old primary waits for its DEL. Nothing is copied."""
    replica, other = replica_of(primary, 5), replica_of(primary, 5)
    run(primary.create_client(), "SET a 1 PX 1000")
    clock.advance(5)
    replica.promote()
    primary.replicate(replica)
    other.replicate(replica)
    clock.advance(5)
    assert fields(replica, "stats")["sync_partial_ok"] == "2"
    assert fields(replica, "stats")["sync_full"] == "0"
    assert run(primary.create_client(), "SET x 1").code == "READONLY"  # type: ignore[attr-defined]
    clock.advance(2_000)
    counts = [int(fields(s, "stats")["expired_keys"]) for s in (primary, replica, other)]
    assert counts == [0, 1, 0]
    assert [s.dbsize() for s in (primary, replica, other)] == [0, 0, 0]
    assert fields(primary)["role"] == "slave"
    for server in (primary, replica, other):
        server._check()


def test_a_primary_that_wrote_on_is_copied_anew(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary)
    replica.promote()
    run(primary.create_client(), "SET lost 1")
    run(replica.create_client(), "SET kept 1")
    primary.replicate(replica)
    clock.advance(0)
    assert [primary.databases[0].dict.index.keys(), primary.dbsize()] == [{b"kept"}, 1]
    assert fields(replica, "stats")["sync_full"] == "1"


def test_a_replica_serves_on_without_its_primary(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 10)
    run(primary.create_client(), "SET a 1 PX 100")
    primary.close()
    clock.advance(2_000)
    q = replica.create_client()
    assert fields(replica)["master_link_status"] == "down"
    assert run(q, "GET a") is None
    assert replica.dbsize() == 1
    replica.promote()
    clock.advance(200)
    assert replica.dbsize() == 0


def test_a_closed_replica_is_forgotten(clock: VirtualClock, primary: Server) -> None:
    replica = replica_of(primary, 10)
    replica.close()
    assert fields(primary)["connected_slaves"] == "1"
    clock.advance(10)
    assert fields(primary)["connected_slaves"] == "0"
    primary._check()


def test_connected_clients_does_not_count_replicas(primary: Server) -> None:
    primary.create_client()
    replica = replica_of(primary)
    assert fields(primary, "clients")["connected_clients"] == "1"
    listed = run(replica.create_client(), "CLIENT LIST TYPE master")
    assert b" flags=M " in listed.text  # type: ignore[attr-defined]


def test_an_error_of_the_link_is_counted(clock: VirtualClock, primary: Server) -> None:
    """A writable replica has changed what the primary counts on."""
    replica = replica_of(primary, replica_read_only=False)
    run(replica.create_client(), "SET n x")
    run(primary.create_client(), "INCR n")
    clock.advance(0)
    assert fields(replica, "stats")["unexpected_error_replies"] == "1"
    assert replica.repl.connected


def test_min_replicas_to_write(clock: VirtualClock, primary: Server) -> None:
    c = primary.create_client()
    run(c, "CONFIG SET min-replicas-to-write 1")
    refused = run(c, "SET a 1")
    assert isinstance(refused, CommandError)
    assert refused.text == b"NOREPLICAS Not enough good replicas to write."
    replica_of(primary)
    clock.advance(1_100)
    assert run(c, "SET a 1") is not refused
    assert fields(primary)["min_slaves_good_slaves"] == "1"
    assert run(c, "GET a") == b"1"


def test_a_backlog_without_replicas_is_given_up(clock: VirtualClock, primary: Server) -> None:
    run(primary.create_client(), "CONFIG SET repl-backlog-ttl 10")
    replica = replica_of(primary)
    replica.close()
    clock.advance(9_000)
    assert primary.propagation.active
    clock.advance(3_000)
    assert fields(primary)["repl_backlog_active"] == "0"
    assert not primary.propagation.active


# -- streams -----------------------------------------------------------------------------------


def test_streams_are_closed(primary: Server) -> None:
    c = primary.create_client()
    with primary.append_only_stream() as file, primary.replication_stream() as replicas:
        assert primary.overheard
        run(c, "SET a 1 EX 1")
    run(c, "SET b 1")
    assert not primary.overheard
    assert list(file) == list(replicas)
    assert file.lines() == ["SELECT 0", "SET a 1 PXAT 1391234401000"]
    assert len(file) == 2 and file[0] == [b"SELECT", b"0"]
    file.close()
    assert repr(file) == "<CommandStream: 2 commands>"


def test_a_stream_as_bytes_and_as_text(primary: Server) -> None:
    stream = primary.append_only_stream()
    primary.process_command(primary.create_client(), [b"SET", b"a b", b"\r\n\xff"])
    assert stream.resp() == (
        b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$3\r\na b\r\n$3\r\n\r\n\xff\r\n"
    )
    assert stream.lines()[1] == r"SET 'a b' '\r\n\xff'"
    stream.clear()
    assert stream.lines() == []


@pytest.mark.parametrize("argv", [[b"x"], [b"DEL", b"k"], [b"SET", b"k", b"v" * 1000], [b""] * 12])
def test_the_size_of_a_command(argv: list[bytes]) -> None:
    assert resp_command_size(argv) == len(resp_command(argv))


def test_a_probe_hears_what_goes_to_anybody(clock: VirtualClock) -> None:
    recorder = Recorder()
    server = Server(clock=clock, seed=1, probe=recorder)
    run(server.create_client(), "PUBLISH a b")
    assert recorder.stream == [(0, [b"PUBLISH", b"a", b"b"])]


# -- the backlog ---------------------------------------------------------------------------------


def test_backlog() -> None:
    backlog = ReplBacklog(master_repl_offset=100)
    for i in range(4):
        backlog.feed([b"%d" % i], 10, limit=30)
        backlog._check()
    assert (backlog.offset, backlog.histlen) == (111, 30)
    assert [backlog.holds(offset) for offset in (110, 111, 141, 142)] == [False, True, True, False]
    assert backlog.since(121) == [([b"2"], 10), ([b"3"], 10)]
    assert backlog.since(141) == []


def test_the_bytes_of_a_backlog_begin_anywhere() -> None:
    backlog = ReplBacklog(master_repl_offset=0)
    whole = b"*2\r\n$3\r\nDEL\r\n$1\r\na\r\n*2\r\n$3\r\nDEL\r\n$1\r\nb\r\n"
    for key in (b"a", b"b"):
        backlog.feed([b"DEL", key], 20, limit=100)
    for offset in range(1, 42):
        assert backlog.bytes_since(offset) == whole[offset - 1 :]
