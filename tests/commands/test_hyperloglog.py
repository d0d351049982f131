"""HyperLogLog commands: what the differential tests do not look at."""

from __future__ import annotations

from miniredis.server.server import Server
from tests.commands.conftest import Call


def test_selftest(call: Call) -> None:
    assert call("PFSELFTEST") == "OK"


def test_an_estimate_is_propagated_when_it_was_worked_out(call: Call, server: Server) -> None:
    stream: list[list[bytes]] = []
    server.add_sink(lambda dbid, argv: stream.append(argv))
    for line in (
        "PFADD a x",
        "PFADD a x",
        "PFCOUNT a",
        "PFCOUNT a",
        "PFCOUNT a b",
        "PFMERGE b a",
        "PFDEBUG GETREG b",
        "PFDEBUG TODENSE b",
    ):
        call(line)
    assert [b" ".join(argv) for argv in stream] == [
        b"PFADD a x",
        b"PFCOUNT a",
        b"PFMERGE b a",
        b"PFDEBUG GETREG b",
    ]


def test_dense_value_is_changed_in_place(call: Call, server: Server) -> None:
    call("PFADD", "k", *range(4000))
    assert call("PFDEBUG ENCODING k") == "dense"
    value = server.databases[0].dict.index[b"k"].val.ptr
    assert call("PFADD", "k", "more", *range(4000, 4100)) == 1
    call("PFCOUNT k")
    assert server.databases[0].dict.index[b"k"].val.ptr is value
    assert call("STRLEN k") == 12304
