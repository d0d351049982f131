"""t_hash.py, t_hash_walk.py: what replicas are told, and what is drawn at random."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from miniredis.server.server import Server
from tests.commands.conftest import Call


def test_a_hash_goes_with_its_last_field(call: Call) -> None:
    call("HSET h a 1 b 2")
    assert call("HDEL h a nope b x") == 2
    assert call("EXISTS h") == 0


def test_hincrbyfloat_tells_replicas_the_result(server: Server, call: Call) -> None:
    heard: list[list[bytes]] = []
    server.add_sink(lambda _dbid, argv: heard.append(argv))
    call("HINCRBYFLOAT h f 10.5")
    call("HINCRBYFLOAT h f 0.1")
    call("HINCRBY h g 3")
    assert heard == [
        [b"HSET", b"h", b"f", b"10.5"],
        [b"HSET", b"h", b"f", b"10.6"],
        [b"HINCRBY", b"h", b"g", b"3"],
    ]


def test_numbers_of_thousands_of_digits(call: Call) -> None:
    huge = call("HINCRBYFLOAT h f 1e4900")
    assert len(huge) == 4901
    assert call("HINCRBYFLOAT", "h", "f", b"-" + huge) == b"0"
    call("SET", "s", huge)
    assert call("INCRBYFLOAT s 0") == huge


@pytest.mark.parametrize("command", ["HSET h f", "HSET h f v g", "HMSET h f v g"])
def test_a_field_without_value(call: Call, command: str) -> None:
    name = command.split()[0].lower()
    assert call(command) == f"ERR wrong number of arguments for '{name}' command"
    assert call("EXISTS h") == 0


def fill(call: Call, count: int) -> None:
    for i in range(count):
        call(f"HSET h f{i} v{i}")


@pytest.mark.parametrize("count", [10, 520])
def test_hrandfield_picks_every_field_alike(call: Call, count: int) -> None:
    fill(call, count)
    picked = Counter(call(f"HRANDFIELD h -{30 * count}"))
    assert len(picked) == count
    # Of a hash table the choice is near to uniform only, see Dict.get_fair_random_key().
    assert min(picked.values()) > 5
    assert max(picked.values()) < 100


@pytest.mark.parametrize("size", [10, 600])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.4, 0.9, 1, 2])
def test_hrandfield_of_different_fields(call: Call, size: int, share: float) -> None:
    fill(call, size)
    count = int(size * share)
    found = call(f"HRANDFIELD h {count} WITHVALUES")
    fields, values = found[::2], found[1::2]
    assert len(set(fields)) == len(fields) == min(count, size)
    assert values == [b"v" + field[1:] for field in fields]


def test_a_scan_meets_every_field_while_the_table_grows(call: Call) -> None:
    fill(call, 520)
    seen: set[bytes] = set()
    cursor: Any = b"0"
    for i in range(10_000):
        cursor, found = call("HSCAN", "h", cursor, "COUNT", 5)
        seen.update(found[::2])
        call(f"HSET h new{i} v")
        if cursor == b"0":
            break
    assert {b"f%d" % i for i in range(520)} <= seen
