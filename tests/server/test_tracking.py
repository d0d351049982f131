"""Client-side caching: turns, time, the limit of the table, and what it costs when off."""

from __future__ import annotations

import pytest

import miniredis
from miniredis import Server, VirtualClock
from miniredis.net.resp import encode_reply
from miniredis.reply import NO_REPLY, Push
from miniredis.server.client import Client


class Clients:
    """Clients of one server, each with what it has been sent."""

    def __init__(self) -> None:
        self.clock = VirtualClock(start_ms=1_700_000_000_000)
        self.server = Server(self.clock, seed=1)

    def open(self, *tracking: str) -> Client:
        """A RESP3 client that tracks with these options."""
        client = self.server.create_client()
        client.resp = 3
        self.run(client, "CLIENT", "TRACKING", "ON", *tracking)
        return client

    def run(self, client: Client, *words: str) -> bytes:
        """All that *client* is sent up to the reply, which is included."""
        reply = self.server.process_command(client, [word.encode() for word in words])
        self.server._check()
        sent = self.heard(client)
        return sent if reply is NO_REPLY else sent + encode_reply(reply, client.resp)

    def heard(self, client: Client) -> bytes:
        out = b"".join(encode_reply(item, client.resp) for item in client.outbox)
        client.outbox.clear()
        return out


def message(*keys: bytes) -> bytes:
    return encode_reply(Push([b"invalidate", list(keys)]), 3)


@pytest.fixture
def clients() -> Clients:
    return Clients()


def test_a_key_that_dies_by_the_cron(clients: Clients) -> None:
    a, b = clients.open(), clients.open("BCAST", "PREFIX", "k")
    other = clients.server.create_client()
    clients.run(other, "SET", "k", "v", "PX", "50")
    clients.run(a, "GET", "k")
    clients.heard(b)
    clients.clock.advance(1_000)
    assert clients.heard(a) == message(b"k")
    assert clients.heard(b) == message(b"k")
    clients.server._check()


def test_a_key_found_dead_is_told_before_the_reply_to_others_and_after_it_to_oneself(
    clients: Clients,
) -> None:
    a, b = clients.open(), clients.open("NOLOOP")
    clients.server.active_expire_enabled = False
    clients.run(a, "SET", "k", "v", "PX", "5")
    clients.run(a, "GET", "k")
    clients.run(b, "GET", "k")
    clients.clock.advance(10)
    assert clients.run(a, "GET", "k") == b"_\r\n" + message(b"k")
    assert clients.heard(b) == message(b"k")
    # It was dropped when it was found dead, and then a has read it once more.
    assert list(clients.server.tracking.table) == [b"k"]


def test_an_open_turn_is_ended_by_the_transport(clients: Clients) -> None:
    a = clients.open("BCAST")
    other = clients.server.create_client()
    other.turn_open = True
    clients.run(other, "SET", "b", "1")
    clients.run(other, "SET", "a", "1")
    assert clients.heard(a) == b""
    clients.server.end_turn()
    assert clients.heard(a) == message(b"a", b"b")
    clients.server.end_turn()
    assert clients.heard(a) == b""


def test_the_limit_is_reached_by_growing_effort(clients: Clients) -> None:
    """100 entries go at the first command after the change, 200 more at the second."""
    a = clients.open()
    clients.run(a, "MGET", *(f"k{i}" for i in range(500)))
    other = clients.server.create_client()
    clients.server.pause_cron = True
    clients.run(other, "CONFIG", "SET", "tracking-table-max-keys", "10")
    sizes = []
    for _ in range(4):
        clients.run(other, "PING")
        sizes.append(len(clients.server.tracking.table))
    assert sizes == [400, 200, 10, 10]
    assert clients.heard(a).count(b"invalidate") == 490


def test_the_cron_limits_the_table_too(clients: Clients) -> None:
    a = clients.open()
    clients.run(a, "MGET", *(f"k{i}" for i in range(50)))
    clients.server.config.set([(b"tracking-table-max-keys", b"20")])
    clients.clock.advance(200)
    assert len(clients.server.tracking.table) == 20


def test_when_nobody_tracks_nothing_is_asked(clients: Clients) -> None:
    server = clients.server
    assert not (server.overheard or server.gates or server.databases[0].signals)
    a = clients.open()
    assert server.overheard and server.gates and server.databases[0].signals
    clients.run(a, "GET", "k")
    clients.run(a, "CLIENT", "TRACKING", "OFF")
    assert server.tracking.active  # the entry of k is still to be dropped
    clients.run(server.create_client(), "SET", "k", "v")
    assert not (server.overheard or server.gates or server.databases[0].signals)


def test_a_client_that_goes_takes_its_prefixes_along(clients: Clients) -> None:
    a = clients.open("BCAST", "PREFIX", "x", "PREFIX", "y")
    b = clients.open("BCAST", "PREFIX", "y")
    clients.server.free_client(a)
    clients.server._check()
    assert list(clients.server.tracking.prefixes) == [b"y"]
    clients.server.free_client(b)
    clients.server._check()
    assert not clients.server.tracking.active


def test_clients_of_a_key_are_told_in_the_order_of_the_bytes_of_their_numbers(
    clients: Clients,
) -> None:
    """As the radix tree has them: 256 is 00 01, so it comes before 2, which is 02 00."""
    receiver = clients.server.create_client()
    receiver.resp = 3
    order = []
    receiver.on_output = lambda: None
    for id in (2, 256, 255, 257):
        clients.server.next_client_id = id
        c = clients.open()
        clients.run(c, "GET", "k")
        c.on_output = lambda id=id: order.append(id)
    clients.run(receiver, "SET", "k", "1")
    assert order == [256, 257, 2, 255]


def test_an_in_process_pipeline_is_one_turn() -> None:
    server = miniredis.Server(VirtualClock(), seed=1)
    tracker = server.create_client()
    tracker.resp = 3
    server.process_command(tracker, [b"CLIENT", b"TRACKING", b"ON", b"BCAST"])
    for transaction in (True, False):
        with server.client().pipeline(transaction=transaction) as pipe:
            assert pipe.set("b", 1).set("a", 1).execute() == [True, True]
        assert [item.items for item in tracker.outbox] == [[b"invalidate", [b"a", b"b"]]]
        tracker.outbox.clear()
