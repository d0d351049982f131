"""Access counters under an LFU policy."""

from __future__ import annotations

from miniredis import Server


def test_a_new_key_begins_with_a_counter_of_five() -> None:
    server = Server(seed=1)
    c = server.create_client()
    server.process_command(c, [b"CONFIG", b"SET", b"maxmemory-policy", b"allkeys-lfu"])
    server.process_command(c, [b"SET", b"k", b"v"])
    assert server.process_command(c, [b"OBJECT", b"FREQ", b"k"]) == 5
