"""Lists and SORT: what the comparison with a real server does not show."""

from __future__ import annotations

import pytest

from miniredis.server.server import Server
from tests.commands.conftest import Call


def test_propagation(server: Server, call: Call) -> None:
    stream: list[bytes] = []
    server.add_sink(lambda dbid, argv: stream.append(b" ".join(argv)))
    for text in (
        "RPUSH k 3 1 2",
        "LPUSHX none 1",
        "LMPOP 2 none k LEFT COUNT 9",
        "LMPOP 1 none LEFT",
        "RPUSH k 3 1 2",
        "LPOP k 1",
        "LPOP k 0",
        "LREM k 0 nobody",
        "SORT k",
        "SORT k STORE m",
        "SORT none STORE m",
        "SORT none STORE m",
        "LMOVE k m LEFT LEFT",
        "LTRIM k 0 -1",
    ):
        call(text)
    assert stream == [
        b"RPUSH k 3 1 2",
        b"LPOP k 3",
        b"RPUSH k 3 1 2",
        b"LPOP k 1",
        b"SORT k STORE m",
        b"SORT none STORE m",
        b"LMOVE k m LEFT LEFT",
    ]


@pytest.mark.parametrize(
    ("before", "text", "dirty"),
    [
        ("RPUSH k 1 2 3", "LPUSH k 1 2", 2),
        ("RPUSH k 1 2 3", "LPOP k 5", 3),
        ("RPUSH k 1 2 3", "LTRIM k 1 1", 2),
        ("RPUSH k 1 1 3", "LREM k 0 1", 2),
        ("RPUSH k 1 2 3", "LMPOP 1 k LEFT COUNT 2", 2),
        ("RPUSH k 1 2 3", "RPOPLPUSH k k", 1),
        ("RPUSH k 1 2 3", "SORT k STORE m", 3),
        ("RPUSH m 1 2 3", "SORT k STORE m", 1),
        ("RPUSH k 1 2 3", "LSET k 9 x", 0),
    ],
)
def test_changes_that_are_counted(
    server: Server, call: Call, before: str, text: str, dirty: int
) -> None:
    call(before)
    counted = server.dirty
    call(text)
    assert server.dirty - counted == dirty


def test_limits_of_a_node_are_those_of_the_time_of_creation(server: Server, call: Call) -> None:
    call("CONFIG SET list-max-ziplist-size 2")
    call("RPUSH old 1 2 3")
    call("CONFIG SET list-max-listpack-size 3")
    call("RPUSH old 4 5")
    call("RPUSH new 1 2 3 4 5")
    assert "ql_nodes:3 " in call("DEBUG OBJECT old")
    assert "ql_nodes:2 " in call("DEBUG OBJECT new")
    call("DEBUG RELOAD")
    call("RPUSH old 6 7")
    assert "ql_nodes:3 " in call("DEBUG OBJECT old")
    assert "ql_listpack_max:3 " in call("DEBUG OBJECT old")


def test_the_threshold_of_plain_nodes_is_the_server_s(server: Server, call: Call) -> None:
    call("RPUSH k 1")
    assert call("DEBUG QUICKLIST-PACKED-THRESHOLD 5b") == "OK"
    call("RPUSH k 12345 2")
    assert "ql_nodes:3 " in call("DEBUG OBJECT k")
    assert "bigger than 1 and smaller" in call("DEBUG QUICKLIST-PACKED-THRESHOLD 5gb")


def test_sort_counts_a_look_up_for_each_key_named(server: Server, call: Call) -> None:
    call("RPUSH k 1 2 3")
    call("MSET w_1 3 w_2 2")
    hits, misses = server.stat_keyspace_hits, server.stat_keyspace_misses
    assert call("SORT k BY w_* GET w_* GET #") == [None, b"3", b"2", b"2", b"3", b"1"]
    assert server.stat_keyspace_hits - hits == 1 + 2 + 2
    assert server.stat_keyspace_misses - misses == 1 + 1
