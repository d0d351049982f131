"""SUBSCRIBE, PUBLISH and their kin; PUBSUB. Replies are compared with Redis's elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from miniredis.clock import VirtualClock
from miniredis.commands.client_flags import CLIENT_PUBSUB
from miniredis.commands.pubsub import pubsub_publish_message, pubsub_unsubscribe_all
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, NULL_ARRAY, OK, PONG, Interleaved, Push, Reply
from miniredis.server.client import Client
from miniredis.server.server import Server


@pytest.fixture
def server() -> Server:
    return Server(clock=VirtualClock(), seed=1)


class Subscriber:
    """A client, and what it has been sent."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client: Client = server.create_client()
        self.outputs = 0
        self.client.on_output = self._count

    def _count(self) -> None:
        self.outputs += 1

    def __call__(self, text: str) -> Reply:
        reply = self.server.process_command(self.client, text.encode().split())
        check(self.server)
        return reply

    def messages(self) -> list[Any]:
        """The messages since the last call."""
        items = [message.items for message in self.client.outbox]
        self.client.outbox.clear()
        return items


def check(server: Server) -> None:
    """What clients know of themselves and the server of everybody is the same."""
    for attribute in ("pubsub_channels", "pubsub_patterns", "pubsub_shard_channels"):
        everybody = getattr(server, attribute)
        assert all(everybody.values()), "a name without subscribers must go"
        pairs = {(name, c.id) for name, clients in everybody.items() for c in clients}
        mine = {(n, c.id) for c in server.clients.values() for n in getattr(c, attribute)}
        assert pairs == mine


@pytest.fixture
def a(server: Server) -> Subscriber:
    return Subscriber(server)


@pytest.fixture
def b(server: Server) -> Subscriber:
    return Subscriber(server)


def test_one_message_a_channel_counts_channels_and_patterns(a: Subscriber) -> None:
    assert a("SUBSCRIBE x y x") is NO_REPLY
    assert a("PSUBSCRIBE p*") is NO_REPLY
    assert a.messages() == [
        [b"subscribe", b"x", 1],
        [b"subscribe", b"y", 2],
        [b"subscribe", b"x", 2],
        [b"psubscribe", b"p*", 3],
    ]
    assert a.outputs == 4
    a("UNSUBSCRIBE nope y")
    a("UNSUBSCRIBE")
    a("PUNSUBSCRIBE")
    a("PUNSUBSCRIBE")
    assert a.messages() == [
        [b"unsubscribe", b"nope", 3],
        [b"unsubscribe", b"y", 2],
        [b"unsubscribe", b"x", 1],
        [b"punsubscribe", b"p*", 0],
        [b"punsubscribe", None, 0],
    ]


def test_shard_channels_are_counted_and_delivered_apart(a: Subscriber, b: Subscriber) -> None:
    a("SUBSCRIBE x")
    a("SSUBSCRIBE x s")
    a("PSUBSCRIBE *")
    a.messages()
    assert b("SPUBLISH x hi") == 1
    assert b("SPUBLISH y hi") == 0
    assert a.messages() == [[b"smessage", b"x", b"hi"]]
    a("SUNSUBSCRIBE")
    assert a.messages() == [[b"sunsubscribe", b"x", 1], [b"sunsubscribe", b"s", 0]]
    assert b("PUBSUB SHARDCHANNELS") == []


def test_a_client_with_channel_and_patterns_hears_a_message_by_each(
    a: Subscriber, b: Subscriber
) -> None:
    a("PSUBSCRIBE n* *s")
    a("SUBSCRIBE news")
    b.client.resp = 3
    b("SUBSCRIBE news")
    a.messages()
    b.messages()
    assert b("PUBLISH news hi") == 4, "in RESP3 a subscriber may publish"
    assert a.messages() == [
        [b"message", b"news", b"hi"],
        [b"pmessage", b"n*", b"news", b"hi"],
        [b"pmessage", b"*s", b"news", b"hi"],
    ]
    assert b.messages() == [[b"message", b"news", b"hi"]]


def test_publish_without_subscribers_costs_no_match(
    server: Server, a: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    def must_not_be_called(*args: Any) -> bool:
        raise AssertionError

    monkeypatch.setattr("miniredis.commands.pubsub.stringmatch", must_not_be_called)
    assert a("PUBLISH x y") == 0
    assert pubsub_publish_message(server, b"x", b"y") == 0


def test_a_client_that_goes_away_is_forgotten(server: Server, a: Subscriber, b: Subscriber) -> None:
    for text in ("SUBSCRIBE x", "PSUBSCRIBE p*", "SSUBSCRIBE s"):
        a(text)
    server.free_client(a.client)
    check(server)
    assert b("PUBLISH x y") == 0
    assert not server.pubsub_channels
    assert not server.pubsub_patterns
    assert not server.pubsub_shard_channels
    server.free_client(a.client)


def test_unsubscribe_all_says_nothing(server: Server, a: Subscriber) -> None:
    for text in ("SUBSCRIBE x y", "PSUBSCRIBE p*", "SSUBSCRIBE s"):
        a(text)
    a.messages()
    pubsub_unsubscribe_all(a.client)
    check(server)
    assert a.messages() == []
    assert a("GET k") is None, "not in subscribed mode any more"


def test_in_resp2_a_subscriber_may_do_little(a: Subscriber) -> None:
    a("SSUBSCRIBE s")
    reply = a("GET k")
    assert isinstance(reply, CommandError)
    assert reply.text.startswith(b"ERR Can't execute 'get': only (P|S)SUBSCRIBE")
    assert a("PING") == [b"pong", b""]
    assert a("PING hi") == [b"pong", b"hi"]
    a.client.resp = 3
    assert a("GET k") is None
    assert a("PING hi") == b"hi"


@pytest.mark.parametrize("name", ["SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "SUNSUBSCRIBE"])
def test_in_exec_the_message_stands_in_the_array(a: Subscriber, name: str) -> None:
    a("MULTI")
    a(f"{name} x")
    a("PING")
    assert a("EXEC") is NO_REPLY  # it is sent in order with the messages
    [reply] = a.client.outbox
    assert isinstance(reply, Interleaved)
    message, second = reply.items
    assert isinstance(message, Push)
    assert message.items[:2] == [name.lower().encode(), b"x"]
    assert reply.count == 2
    # A subscribed client is answered in the form of a message; one that is not, by PONG.
    assert second == ([b"pong", b""] if a.client.flags & CLIENT_PUBSUB else PONG)


def test_in_exec_shard_channels_are_refused(a: Subscriber) -> None:
    a("MULTI")
    a("SSUBSCRIBE s")
    [error] = a("EXEC")
    assert error.text == b"ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client"
    assert not a.client.pubsub_shard_channels


def test_only_a_subscribing_exec_subscribes(a: Subscriber, b: Subscriber) -> None:
    a("WATCH k")
    b("SET k v")
    a("MULTI")
    a("SUBSCRIBE x")
    assert a("EXEC") is NULL_ARRAY
    assert b("PUBLISH x y") == 0


def test_pubsub_tells_who_listens(a: Subscriber, b: Subscriber) -> None:
    a("SUBSCRIBE x yy")
    a("PSUBSCRIBE p* q*")
    b("PSUBSCRIBE p*")
    look = Subscriber(a.server)
    assert look("PUBSUB CHANNELS") == [b"x", b"yy"]
    assert look("PUBSUB CHANNELS y*") == [b"yy"]
    assert look("PUBSUB NUMSUB x nope x") == [b"x", 1, b"nope", 0, b"x", 1]
    assert look("PUBSUB NUMSUB") == []
    assert look("PUBSUB NUMPAT") == 2
    error = look("PUBSUB CHANNELS a b")
    assert error.text == (
        b"ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP."
    )


def test_replicas_are_told_of_publish_though_nothing_changes(server: Server, a: Subscriber) -> None:
    replicas, file = server.replication_stream(), server.append_only_stream()
    a("PUBLISH x y")
    a("SPUBLISH x y")
    a("PUBSUB NUMPAT")
    assert replicas.lines() == ["SELECT 0", "PUBLISH x y", "SPUBLISH x y"]
    assert file.lines() == []


def test_reply_off_does_not_silence_messages(a: Subscriber, b: Subscriber) -> None:
    a("CLIENT REPLY OFF")
    assert a("SUBSCRIBE x") is NO_REPLY
    assert b("PUBLISH x y") == 1
    assert a.messages() == [[b"subscribe", b"x", 1], [b"message", b"x", b"y"]]
    a("UNSUBSCRIBE")
    assert a("CLIENT REPLY ON") is OK
