"""What a replica serves and keeps: the same as a real replica of a real primary.

The line between the two takes the same time on both sides, by the frozen clock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import missing
from tests.differential.pair import Step
from tests.differential.replica_pair import PRIMARY, REPLICA, ReplicaPair, fields, info
from tests.differential.test_commands import parse
from tests.differential.test_state_machine import command, commands
from tests.real.servers import version_of

EXAMPLES = 100 if os.environ.get("CI") else 25
STEPS = 40

walks = st.one_of(
    command(b"SCAN", b"0", b"COUNT", b"100"),
    command(b"KEYS", b"*"),
)
steps = st.one_of(
    st.tuples(st.just(PRIMARY), commands),
    st.tuples(st.just(PRIMARY), commands),
    st.tuples(st.just(REPLICA), commands),
    st.tuples(st.just(REPLICA), walks),
    st.sampled_from([1, 2, 49, 50, 99, 100, 101, 500, 1000]),
)


@pytest.fixture(scope="module")
def pair(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaPair]:
    if version_of(real_binary) < (7, 0):
        pytest.skip("replicas are compared with those of Redis 7.0")
    try:
        pair = ReplicaPair(real_binary, tmp_path_factory.mktemp("frozen"))
    except RuntimeError as error:
        missing(str(error))
    yield pair
    pair.stop()


def run(pair: ReplicaPair, script: str) -> list[bytes]:
    """Lines as in command_scripts.py; ``b:`` is said to the replica. The replies."""
    return [pair.step(parse(line.strip(), pair.primary.ms)) for line in script.strip().splitlines()]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # two servers in step are too slow for shrinking
    suppress_health_check=list(HealthCheck),
)
@given(
    script=st.lists(steps, min_size=STEPS, max_size=STEPS),
    delay_ms=st.sampled_from([0, 1, 30, 150, 1200]),
    writable=st.booleans(),
    active=st.booleans(),
)
def test_random_scripts(
    pair: ReplicaPair, script: list[Step], delay_ms: int, writable: bool, active: bool
) -> None:
    # Which of its own keys a writable replica looks at is chance; see below.
    pair.start(delay_ms, writable, active and not writable)
    for step in script:
        pair.step(step)
    pair.compare_all()
    pair.step(2500)
    pair.compare_all()


def test_dead_keys_stay_until_the_primary_deletes_them(pair: ReplicaPair) -> None:
    pair.start(delay_ms=250)
    replies = run(
        pair,
        """
        SET a 1 PX 400
        SET b 2
        @250
        b: GET a
        @151
        b: GET a
        b: EXISTS a
        b: TTL a
        b: TYPE a
        b: KEYS *
        b: SCAN 0 COUNT 100
        b: DBSIZE
        b: INFO keyspace
        @100
        DBSIZE
        b: DBSIZE
        @300
        b: DBSIZE
        """,
    )
    assert replies[3] == b"$1\r\n1\r\n"
    assert replies[5:8] == [b"$-1\r\n", b":0\r\n", b":-2\r\n"]
    assert replies[-5] == b""
    assert replies[-4:] == [b":1\r\n", b":2\r\n", b"", b":1\r\n"]
    pair.compare_all()


def test_randomkey_gives_up_after_a_hundred_dead_keys(pair: ReplicaPair) -> None:
    pair.start(active=False)
    run(pair, "SET a 1 PX 10\n@11")
    assert run(pair, "b: RANDOMKEY\nb: RANDOMKEY") == [b"$1\r\na\r\n"] * 2
    run(pair, "RANDOMKEY")
    assert run(pair, "b: RANDOMKEY") == [b"$-1\r\n"]


def test_read_only(pair: ReplicaPair) -> None:
    pair.start()
    replies = run(
        pair,
        """
        b: SET a 1
        b: DEL nope
        b: MULTI
        b: GET a
        b: SET a 1
        b: EXEC
        b: EXPIRE a 1
        b: FLUSHALL
        b: PUBLISH x y
        b: WATCH a
        SET a 1
        b: MULTI
        b: EXEC
        b: GETEX a
        b: nope
        b: SET a
        """,
    )
    assert replies[0] == b"-READONLY You can't write against a read only replica.\r\n"
    pair.compare_all()


def test_watch_on_a_replica(pair: ReplicaPair) -> None:
    """The DEL that comes later changes nothing for who saw the key dead."""
    pair.start(delay_ms=30)
    replies = run(
        pair,
        """
        SET a 1 PX 150
        @149
        b: WATCH a
        @2
        b: MULTI
        b: GET a
        b: EXEC
        b: WATCH a
        @300
        b: MULTI
        b: GET a
        b: EXEC
        """,
    )
    assert replies[6] == b"*-1\r\n"
    assert replies[-1] == b"*1\r\n$-1\r\n"


def test_primary_writes_to_keys_that_are_dead_on_the_replica(pair: ReplicaPair) -> None:
    """Commands of the link see every key as it is, whatever the replica's clock says."""
    pair.start(delay_ms=500)
    run(
        pair,
        """
        SET a 1 PX 300
        @290
        INCR a
        APPEND b x
        PEXPIRE a 100000
        @30
        b: GET a
        @200
        b: GET a
        @300
        b: GET a
        b: PTTL a
        """,
    )
    assert run(pair, "b: GET a") == [b"$1\r\n2\r\n"]
    pair.compare_all()


def test_a_writable_replica_expires_its_own_keys(pair: ReplicaPair) -> None:
    pair.start(writable=True)
    run(
        pair,
        """
        SET a 1 PX 150
        b: SET b 1 PX 150
        b: SET c 1
        b: EXPIRE c 1
        b: SELECT 1
        b: SET d 1 PX 150
        b: SELECT 0
        @140
        b: DBSIZE
        """,
    )
    tracked = pair.servers[REPLICA].slave_keys_with_expire
    assert len(tracked) == 3
    for _ in range(30):
        pair.advance_real(100, settle=True)
        pair.clock.advance(100)
    for which in (PRIMARY, REPLICA):
        assert sorted(pair.my_events(which)) == sorted(pair.real_events(which))
    assert len(tracked) == 0
    assert run(pair, "b: DBSIZE") == [b":0\r\n"]
    pair.compare_all()


def test_dead_keys_of_a_writable_replica(pair: ReplicaPair) -> None:
    """A write finds the primary's dead key and deletes it; a read leaves it."""
    pair.start(writable=True, active=False)
    replies = run(
        pair,
        """
        SET a 1 PX 10
        SET b 1 PX 10
        SET c 1 PX 10
        SET d 1 PX 10
        @11
        b: GET a
        b: DBSIZE
        b: APPEND a x
        b: SETNX b 2
        b: DEL c
        b: RENAME d a
        b: PEXPIRE d 10
        b: DBSIZE
        b: GET a
        DBSIZE
        GET a
        b: GET a
        """,
    )
    assert replies[6] == b":4\r\n"
    pair.compare_all()


def test_remembered_keys_and_flush(pair: ReplicaPair) -> None:
    pair.start(writable=True, active=False)
    run(pair, "b: SET a 1 PX 1000\nb: SET b 1\nb: RENAME a c\nb: COPY c d\nb: GETEX b EX 5")
    assert len(pair.servers[REPLICA].slave_keys_with_expire) == 4
    pair.compare_all()
    run(pair, "FLUSHDB\nb: SET a 1 PX 1000")
    pair.compare_all()
    run(pair, "FLUSHALL")
    assert len(pair.servers[REPLICA].slave_keys_with_expire) == 0
    pair.compare_all()


def test_a_promoted_replica_takes_over_the_duty(pair: ReplicaPair) -> None:
    pair.start(delay_ms=0)
    run(pair, "SET a 1 PX 500\nSET b 1 PX 500\nSET c 1\n@50")
    pair.detached = True
    replies = run(
        pair,
        """
        b: REPLICAOF NO ONE
        b: REPLICAOF no one
        b: SET d 1 PX 500
        @600
        DBSIZE
        b: DBSIZE
        """,
    )
    assert replies[-2:] == [b":1\r\n", b":1\r\n"]


def test_replicaof_nobody(pair: ReplicaPair) -> None:
    """An address that does not answer: the link is down, and dead keys stay."""
    pair.start()
    pair.detached = True
    run(
        pair,
        """
        b: SLAVEOF NO ONE
        b: REPLICAOF 127.0.0.1 x
        b: REPLICAOF 127.0.0.1 65536
        b: REPLICAOF 127.0.0.1
        b: SET a 1 PX 100
        b: SET b 1
        b: REPLICAOF 127.0.0.1 1
        b: REPLICAOF 127.0.0.1 1
        @300
        b: GET a
        b: DBSIZE
        b: SET b 2
        b: CONFIG GET replicaof
        """,
    )
    # Without steps, as the listeners may not even PING meanwhile.
    for line in (
        "CONFIG SET replica-serve-stale-data no",
        "GET b",
        "PING",
        "INFO keyspace",
        "MULTI",
        "GET b",
        "EXEC",
        "MULTI",
        "EXEC",
        "SET b 2",
        "CONFIG SET replica-serve-stale-data yes",
    ):
        pair.reply(REPLICA, tuple(line.encode().split()))
    run(pair, "b: SLAVEOF NO ONE\n@200\nb: DBSIZE")


WRITES = b"return redis.call('SET','x','1')"
READS = b"return redis.call('GET','a')"
DECLARED = b"#!lua\n", b"#!lua flags=no-writes\n", b"#!lua flags=no-writes,allow-stale\n"
SCRIPTS_OF_ALL_KINDS = [
    (name, flags + body, b"0")
    for name in (b"EVAL", b"EVAL_RO")
    for flags in (b"", *DECLARED)
    for body in (WRITES, READS, b"return redis.call('PING')", b"return 1")
]


def test_scripts_on_a_replica(pair: ReplicaPair) -> None:
    """They may read; what the primary's scripts change arrives as commands."""
    pair.start(delay_ms=20)
    pair.step((PRIMARY, (b"SET", b"a", b"1", b"PX", b"100")))
    pair.step(20)
    for argv in SCRIPTS_OF_ALL_KINDS:
        pair.step((REPLICA, argv))
    pair.step((PRIMARY, (b"EVAL", b"redis.call('INCR','a') return redis.call('PTTL','a')", b"0")))
    pair.step(81)
    for which in (REPLICA, PRIMARY, REPLICA):
        pair.step((which, (b"EVAL", READS, b"0")))
    pair.step(100)
    pair.compare_all()
    pair.start(writable=True)
    pair.step((REPLICA, (b"EVAL", b"return redis.call('SET','a','1','PX','100')", b"0")))
    assert len(pair.servers[REPLICA].slave_keys_with_expire) == 1
    pair.compare_all()


def test_scripts_without_enough_replicas(pair: ReplicaPair) -> None:
    pair.start()
    pair.step((PRIMARY, (b"CONFIG", b"SET", b"min-replicas-to-write", b"3")))
    for argv in SCRIPTS_OF_ALL_KINDS:
        pair.step((PRIMARY, argv))
    pair.step((PRIMARY, (b"CONFIG", b"SET", b"min-replicas-to-write", b"0")))


def test_scripts_while_the_link_is_down(pair: ReplicaPair) -> None:
    pair.start()
    pair.detached = True
    run(pair, "b: REPLICAOF 127.0.0.1 1")
    for value in (b"no", b"yes"):
        pair.reply(REPLICA, (b"CONFIG", b"SET", b"replica-serve-stale-data", value))
        for argv in SCRIPTS_OF_ALL_KINDS:
            pair.reply(REPLICA, argv)
    run(pair, "b: SLAVEOF NO ONE")


def test_a_full_sync(pair: ReplicaPair) -> None:
    """Dead keys are taken in; averages and cursors of the expire cycle begin at zero."""
    pair.start()
    run(pair, "SET a 1 PX 1000\nSET b 1\nSET c 1 PX 90000\n@300")
    pair.detached = True
    run(pair, "b: REPLICAOF NO ONE\nb: SET d 1 EX 100\n@300\nb: INFO keyspace")
    run(pair, "DEBUG SET-ACTIVE-EXPIRE 0\n@600")
    pair.attach()
    primary, replica = pair.servers
    # The real sync has taken some crons.
    pair.clock.advance_to(pair.primary.ms)
    replica.replicate(primary)
    pair.clock.advance(0)
    replies = run(pair, "b: DBSIZE\nb: INFO keyspace\nb: GET a\nb: GET d\nb: PTTL c")
    assert replies[:3] == [
        b":3\r\n",
        b"$44\r\n# Keyspace\r\ndb0:keys=3,expires=2,avg_ttl=0\r\n\r\n",
        b"$-1\r\n",
    ]


def test_a_paused_primary(pair: ReplicaPair) -> None:
    """Nothing expires while clients are paused; afterwards all of it does, on both."""
    pair.start()
    run(pair, "SET a 1 PX 150\nSET b 1 PX 150\nCLIENT PAUSE 1000 WRITE\n@500")
    replies = run(pair, "GET a\nEXISTS a b\nSCAN 0 COUNT 10\nKEYS *\nDBSIZE\nTTL a\nINFO keyspace")
    assert replies[0] == b"$-1\r\n"
    assert replies[4] == b":2\r\n"
    run(pair, "b: GET a\nb: DBSIZE\n@900")
    assert run(pair, "b: DBSIZE\nDBSIZE") == [b":0\r\n"] * 2
    pair.compare_all()


def test_a_primary_paused_for_all(pair: ReplicaPair) -> None:
    pair.start()
    run(pair, "SET a 1 PX 150\nSET b 1 PX 150")
    pair.reply(PRIMARY, (b"CLIENT", b"PAUSE", b"1000", b"ALL"))
    pair.clock.advance(900)
    assert pair.servers[PRIMARY].dbsize() == 2
    pair.jump(12)
    pair.step(100)
    pair.step(100)
    assert run(pair, "DBSIZE\nb: DBSIZE") == [b":0\r\n"] * 2
    pair.compare_all()


def test_a_paused_replica_keeps_its_primary_waiting(pair: ReplicaPair) -> None:
    pair.start(delay_ms=20)
    run(pair, "SET a 1\n@100\nb: CLIENT PAUSE 1000 WRITE\nSET a 2\nSET b 1\nINCR a\n@300")
    run(pair, "MULTI\nINCR a\nINCR a\nEXEC\n@100")
    assert run(pair, "b: GET a\nb: GET b") == [b"$1\r\n1\r\n", b"$-1\r\n"]
    run(pair, "@900")
    assert run(pair, "b: GET a\nb: GET b") == [b"$1\r\n5\r\n", b"$1\r\n1\r\n"]
    pair.compare_all()


def test_a_replica_paused_for_all(pair: ReplicaPair) -> None:
    pair.start()
    run(pair, "SET a 1")
    pair.reply(REPLICA, (b"CLIENT", b"PAUSE", b"1000", b"ALL"))
    pair.reply(PRIMARY, (b"SET", b"a", b"2"))
    pair.clock.advance(500)
    assert pair.servers[REPLICA].databases[0].dict.index[b"a"].val.ptr == b"1"
    pair.jump(12)
    assert run(pair, "b: GET a") == [b"$1\r\n2\r\n"]
    pair.compare_all()


def test_pause_on_a_writable_replica(pair: ReplicaPair) -> None:
    """Its own keys go all the same: the cron's clean-up does not ask for a pause."""
    pair.start(writable=True)
    run(pair, "b: SET a 1 PX 50\nb: CLIENT PAUSE 1000 WRITE\n@300")
    assert run(pair, "b: DBSIZE") == [b":0\r\n"]
    run(pair, "@1000")
    pair.compare_all()


def test_info(pair: ReplicaPair) -> None:
    """The fields of both sides, and their values where they are not names or addresses."""
    pair.start()
    run(pair, "SET a 1\n@2000")
    differs = {b"master_port", b"master_replid", b"slave0"}
    moved = {b"master_repl_offset", b"slave_repl_offset", b"slave_read_repl_offset"}
    moved |= {b"repl_backlog_histlen", b"repl_backlog_first_byte_offset"}
    moved |= {b"master_last_io_seconds_ago"}
    for which in (PRIMARY, REPLICA):
        real = info(pair.admins[which], b"replication")
        mine = fields(pair.servers[which].info([b"replication"]))
        assert list(mine) == list(real)
        for name in set(real) - differs - moved:
            assert mine[name] == real[name], name


def test_the_stream_grows_by_the_same_bytes(pair: ReplicaPair) -> None:
    pair.start()

    def offsets() -> tuple[int, int]:
        real = info(pair.admins[REPLICA], b"replication")[b"slave_repl_offset"]
        return int(real), pair.servers[REPLICA].repl.reploff

    for line in ("SET a 1 EX 10", "SELECT 1", "MSET a 1 b {long}", "INCRBYFLOAT x 1.5", "DEL a"):
        before = offsets()
        run(pair, line)
        after = offsets()
        assert after[0] - before[0] == after[1] - before[1], line
