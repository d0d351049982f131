"""Bitmaps: what the differential tests do not look at."""

from __future__ import annotations

from miniredis.server.server import Server
from tests.commands.conftest import Call


def test_setbit_changes_a_large_string_in_place(call: Call, server: Server) -> None:
    call("SETBIT k 800000000 1")
    value = server.databases[0].dict.index[b"k"].val.ptr
    call("SETBIT k 3 1")
    call("BITFIELD k SET u8 80 255")
    assert server.databases[0].dict.index[b"k"].val.ptr is value
    assert call("BITCOUNT k") == 10
    assert call("BITPOS k 1 4") == 80
    assert call("BITPOS k 1 12") == 800000000


def test_a_raw_string_keeps_its_object(call: Call, server: Server) -> None:
    call("SET", "k", "x" * 45)
    o = server.databases[0].dict.index[b"k"].val
    call("SETBIT k 0 1")
    assert server.databases[0].dict.index[b"k"].val is o
    assert call("OBJECT ENCODING k") == b"raw"


def test_propagation_is_of_changes_only(call: Call, server: Server) -> None:
    stream: list[list[bytes]] = []
    server.add_sink(lambda dbid, argv: stream.append(argv))
    for line in (
        "SETBIT a 1 1",
        "SETBIT a 1 1",
        "BITFIELD a SET u8 0 64",
        "BITFIELD a SET u8 0 65",
        "BITOP OR b a",
        "BITOP OR b missing",
        "BITOP OR b missing",
    ):
        call(line)
    assert [b" ".join(argv) for argv in stream] == [
        b"SETBIT a 1 1",
        b"BITFIELD a SET u8 0 65",
        b"BITOP OR b a",
        b"BITOP OR b missing",
    ]
