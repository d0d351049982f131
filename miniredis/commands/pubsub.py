"""Publish and subscribe.

A message goes to the subscribers of its channel, then, pattern by pattern, to those of
matching patterns; a client subscribed by both gets it twice. Nothing is stored. Shard
channels are a name space of their own, without patterns.

SUBSCRIBE and its kin answer by one message a channel instead of a reply: arrays in RESP2,
pushes in RESP3. CLIENT REPLY OFF does not silence messages.

Redis: pubsub.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import (
    CLIENT_DENY_BLOCKING,
    CLIENT_MULTI,
    PROPAGATE_REPL,
)
from miniredis.commands.table import command
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, Push, Reply
from miniredis.structs.glob import stringmatch

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

_FLAGS = "pubsub noscript loading stale"
_PUBLISH_FLAGS = "pubsub loading stale fast may_replicate"
Subscribers = dict[bytes, dict["Client", None]]


@dataclass(frozen=True, slots=True)
class PubsubType:
    """A kind of subscription. pubsub.c: struct pubsubtype

    ``attribute`` is the same in a client (its names) and in the server (who has each).
    """

    attribute: str
    subscribe: bytes
    unsubscribe: bytes

    def mine(self, c: Client) -> dict[bytes, None]:
        """What *c* is subscribed to."""
        names: dict[bytes, None] = getattr(c, self.attribute)
        return names

    def everybody(self, server: Server) -> Subscribers:
        """Everybody's subscriptions."""
        subscribers: Subscribers = getattr(server, self.attribute)
        return subscribers

    def count(self, c: Client) -> int:
        """The number in a SUBSCRIBE message: shard channels are counted apart."""
        return len(self.mine(c)) if self is SHARD_CHANNELS else c.subscription_count()


CHANNELS = PubsubType("pubsub_channels", b"subscribe", b"unsubscribe")
PATTERNS = PubsubType("pubsub_patterns", b"psubscribe", b"punsubscribe")
SHARD_CHANNELS = PubsubType("pubsub_shard_channels", b"ssubscribe", b"sunsubscribe")


def pubsub_publish_message(server: Server, channel: bytes, message: bytes) -> int:
    """Send *message* to all who hear *channel*; how many deliveries that were.

    O(N+M) in the channel's subscribers and all patterns. pubsub.c: pubsubPublishMessage()
    """
    receivers = 0
    for c in server.pubsub_channels.get(channel, ()):
        c.push(Push([b"message", channel, message]))
        receivers += 1
    for pattern, clients in server.pubsub_patterns.items():
        if stringmatch(pattern, channel):
            for c in clients:
                c.push(Push([b"pmessage", pattern, channel, message]))
                receivers += 1
    return receivers


def pubsub_publish_shard_message(server: Server, channel: bytes, message: bytes) -> int:
    """Send *message* to the subscribers of a shard channel; how many they are. O(N)"""
    clients = server.pubsub_shard_channels.get(channel, ())
    for c in clients:
        c.push(Push([b"smessage", channel, message]))
    return len(clients)


def pubsub_unsubscribe_all(c: Client) -> None:
    """End all subscriptions without a word, for a client that goes away or is reset.

    O(N) in its subscriptions. networking.c: clearClientConnectionState(), freeClient()
    """
    for type in (CHANNELS, SHARD_CHANNELS, PATTERNS):
        for name in tuple(type.mine(c)):
            _remove(c, name, type)
    c.update_pubsub_flag()


def _remove(c: Client, name: bytes, type: PubsubType) -> None:
    mine, everybody = type.mine(c), type.everybody(c.server)
    if name in mine:
        del mine[name]
        clients = everybody[name]
        del clients[c]
        if not clients:
            del everybody[name]


def _subscribe(c: Client, names: tuple[bytes, ...], type: PubsubType) -> Reply:
    """pubsub.c: pubsubSubscribeChannel(), pubsubSubscribePattern()"""
    # A client that must get one reply a command can't subscribe. MULTI was allowed before
    # that was a rule and still is, but for the younger shard channels.
    if c.flags & CLIENT_DENY_BLOCKING and (not c.flags & CLIENT_MULTI or type is SHARD_CHANNELS):
        command_name = type.subscribe.decode().upper()
        raise CommandError(f"ERR {command_name} isn't allowed for a DENY BLOCKING client")
    mine, everybody = type.mine(c), type.everybody(c.server)
    messages = []
    for name in names:
        mine[name] = None
        everybody.setdefault(name, {})[c] = None
        messages.append(Push([type.subscribe, name, type.count(c)]))
    return _answer(c, messages)


def _unsubscribe(c: Client, names: tuple[bytes, ...], type: PubsubType) -> Reply:
    """Without *names* from all; with a message even if that is none.

    pubsub.c: pubsubUnsubscribeChannel(), pubsubUnsubscribeAllChannels() and their kin
    """
    messages = []
    for name in names or tuple(type.mine(c)):
        _remove(c, name, type)
        messages.append(Push([type.unsubscribe, name, type.count(c)]))
    if not messages:
        messages.append(Push([type.unsubscribe, None, type.count(c)]))
    return _answer(c, messages)


def _answer(c: Client, messages: list[Push]) -> Reply:
    """Send *messages* in place of a reply."""
    c.update_pubsub_flag()
    for message in messages:
        c.push(message)
    return NO_REPLY


@command(
    "subscribe",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) in the number of channels",
)
def subscribe(c: Client, *channels: bytes) -> Reply:
    """SUBSCRIBE channel [channel ...]

    Hears messages published to channels.

    pubsub.c: subscribeCommand()
    """
    return _subscribe(c, channels, CHANNELS)


@command(
    "unsubscribe",
    arity=-1,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) in the number of channels",
)
def unsubscribe(c: Client, *channels: bytes) -> Reply:
    """UNSUBSCRIBE [channel [channel ...]]

    Hears channels no longer; without names, none of them.

    pubsub.c: unsubscribeCommand()
    """
    return _unsubscribe(c, channels, CHANNELS)


@command(
    "psubscribe",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) in the number of patterns",
)
def psubscribe(c: Client, *patterns: bytes) -> Reply:
    """PSUBSCRIBE pattern [pattern ...]

    Hears messages to every channel whose name matches a glob pattern.

    pubsub.c: psubscribeCommand()
    """
    return _subscribe(c, patterns, PATTERNS)


@command(
    "punsubscribe",
    arity=-1,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    complexity="O(N+M) in the client's patterns and all patterns; here O(N)",
)
def punsubscribe(c: Client, *patterns: bytes) -> Reply:
    """PUNSUBSCRIBE [pattern [pattern ...]]

    Hears patterns no longer; without names, none of them.

    pubsub.c: punsubscribeCommand()
    """
    return _unsubscribe(c, patterns, PATTERNS)


@command(
    "ssubscribe",
    arity=-2,
    flags=_FLAGS,
    keys=(1, -1, 1),
    access="not_key",
    group="pubsub",
    since="7.0.0",
    complexity="O(N) in the number of shard channels",
)
def ssubscribe(c: Client, *channels: bytes) -> Reply:
    """SSUBSCRIBE shardchannel [shardchannel ...]

    Hears messages published to shard channels.

    pubsub.c: ssubscribeCommand()
    """
    return _subscribe(c, channels, SHARD_CHANNELS)


@command(
    "sunsubscribe",
    arity=-1,
    flags=_FLAGS,
    keys=(1, -1, 1),
    access="not_key",
    group="pubsub",
    since="7.0.0",
    complexity="O(N) in the number of shard channels",
)
def sunsubscribe(c: Client, *channels: bytes) -> Reply:
    """SUNSUBSCRIBE [shardchannel [shardchannel ...]]

    Hears shard channels no longer; without names, none of them.

    pubsub.c: sunsubscribeCommand()
    """
    return _unsubscribe(c, channels, SHARD_CHANNELS)


@command(
    "publish",
    arity=3,
    flags=_PUBLISH_FLAGS,
    group="pubsub",
    since="2.0.0",
    complexity="O(N+M) in the channel's subscribers and all patterns",
)
def publish(c: Client, channel: bytes, message: bytes) -> Reply:
    """PUBLISH channel message

    Sends a message to a channel; how many clients got it.

    pubsub.c: publishCommand()
    """
    c.force_command_propagation(PROPAGATE_REPL)
    return pubsub_publish_message(c.server, channel, message)


@command(
    "spublish",
    arity=3,
    flags=_PUBLISH_FLAGS,
    keys=(1, 1, 1),
    access="not_key",
    group="pubsub",
    since="7.0.0",
    complexity="O(N) in the shard channel's subscribers",
)
def spublish(c: Client, channel: bytes, message: bytes) -> Reply:
    """SPUBLISH shardchannel message

    Sends a message to a shard channel; how many clients got it.

    pubsub.c: spublishCommand()
    """
    c.force_command_propagation(PROPAGATE_REPL)
    return pubsub_publish_shard_message(c.server, channel, message)
