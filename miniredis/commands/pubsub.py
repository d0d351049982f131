"""Publish and subscribe.

A message goes to the subscribers of its channel, then, pattern by pattern, to those of
matching patterns; a client subscribed by both gets it twice. Nothing is stored. Shard
channels are a name space of their own, without patterns.

SUBSCRIBE and its kin answer by one message a channel instead of a reply: arrays in RESP2,
pushes in RESP3.

Redis: pubsub.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING, CLIENT_MULTI
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.table import command, container
from miniredis.errors import CommandError
from miniredis.reply import NO_REPLY, Push, Reply
from miniredis.structs.glob import stringmatch

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

_FLAGS = "pubsub noscript loading stale"
Subscribers = dict[bytes, dict["Client", None]]


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
    """Send *message* to the subscribers of a shard channel."""
    clients = server.pubsub_shard_channels.get(channel, ())
    for c in clients:
        c.push(Push([b"smessage", channel, message]))
    return len(clients)


def pubsub_unsubscribe_all(c: Client) -> None:
    """End all subscriptions without a word, for a client that goes away or is reset."""
    for mine, everybody in (
        (c.pubsub_channels, c.server.pubsub_channels),
        (c.pubsub_patterns, c.server.pubsub_patterns),
        (c.pubsub_shard_channels, c.server.pubsub_shard_channels),
    ):
        for name in list(mine):
            _remove(c, name, mine, everybody)
    c.update_pubsub_flag()


def _add(c: Client, name: bytes, mine: dict[bytes, None], everybody: Subscribers) -> None:
    mine[name] = None
    everybody.setdefault(name, {})[c] = None


def _remove(c: Client, name: bytes, mine: dict[bytes, None], everybody: Subscribers) -> None:
    if name in mine:
        del mine[name]
        clients = everybody[name]
        del clients[c]
        if not clients:
            del everybody[name]


def _subscribe(
    c: Client,
    names: tuple[bytes, ...],
    kind: bytes,
    mine: dict[bytes, None],
    everybody: Subscribers,
) -> Reply:
    if c.flags & CLIENT_DENY_BLOCKING and not c.flags & CLIENT_MULTI:
        raise CommandError(f"ERR {kind.decode().upper()} isn't allowed for a DENY BLOCKING client")
    for name in names:
        _add(c, name, mine, everybody)
        c.push(Push([kind, name, _count(c, mine)]))
    c.update_pubsub_flag()
    return NO_REPLY


def _unsubscribe(
    c: Client,
    names: tuple[bytes, ...],
    kind: bytes,
    mine: dict[bytes, None],
    everybody: Subscribers,
) -> Reply:
    """Without names: from all, and with a message even if there were none."""
    names = names or tuple(mine)
    for name in names:
        _remove(c, name, mine, everybody)
        c.push(Push([kind, name, _count(c, mine)]))
    if not names:
        c.push(Push([kind, None, _count(c, mine)]))
    c.update_pubsub_flag()
    return NO_REPLY


def _count(c: Client, mine: dict[bytes, None]) -> int:
    return len(mine) if mine is c.pubsub_shard_channels else c.subscription_count()


@command(
    "subscribe",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    acl="pubsub",
    complexity="O(N) in the number of channels",
)
def subscribe(c: Client, *channels: bytes) -> Reply:
    """SUBSCRIBE channel [channel ...]

    Hears messages published to channels.

    pubsub.c: subscribeCommand()
    """
    return _subscribe(c, channels, b"subscribe", c.pubsub_channels, c.server.pubsub_channels)


@command(
    "unsubscribe",
    arity=-1,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    acl="pubsub",
    complexity="O(N) in the number of channels",
)
def unsubscribe(c: Client, *channels: bytes) -> Reply:
    """UNSUBSCRIBE [channel [channel ...]]

    Hears channels no longer; without names, none of them.

    pubsub.c: unsubscribeCommand()
    """
    return _unsubscribe(c, channels, b"unsubscribe", c.pubsub_channels, c.server.pubsub_channels)


@command(
    "psubscribe",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    acl="pubsub",
    complexity="O(N) in the number of patterns",
)
def psubscribe(c: Client, *patterns: bytes) -> Reply:
    """PSUBSCRIBE pattern [pattern ...]

    Hears messages to every channel whose name matches a glob pattern.

    pubsub.c: psubscribeCommand()
    """
    return _subscribe(c, patterns, b"psubscribe", c.pubsub_patterns, c.server.pubsub_patterns)


@command(
    "punsubscribe",
    arity=-1,
    flags=_FLAGS,
    group="pubsub",
    since="2.0.0",
    acl="pubsub",
    complexity="O(N) in the number of patterns",
)
def punsubscribe(c: Client, *patterns: bytes) -> Reply:
    """PUNSUBSCRIBE [pattern [pattern ...]]

    Hears patterns no longer; without names, none of them.

    pubsub.c: punsubscribeCommand()
    """
    return _unsubscribe(c, patterns, b"punsubscribe", c.pubsub_patterns, c.server.pubsub_patterns)


@command(
    "ssubscribe",
    arity=-2,
    flags=_FLAGS,
    keys=(1, -1, 1),
    access="not_key",
    group="pubsub",
    since="7.0.0",
    acl="pubsub",
    complexity="O(N) in the number of shard channels",
)
def ssubscribe(c: Client, *channels: bytes) -> Reply:
    """SSUBSCRIBE shardchannel [shardchannel ...]

    Hears messages published to shard channels.

    pubsub.c: ssubscribeCommand()
    """
    return _subscribe(
        c, channels, b"ssubscribe", c.pubsub_shard_channels, c.server.pubsub_shard_channels
    )


@command(
    "sunsubscribe",
    arity=-1,
    flags=_FLAGS,
    keys=(1, -1, 1),
    access="not_key",
    group="pubsub",
    since="7.0.0",
    acl="pubsub",
    complexity="O(N) in the number of shard channels",
)
def sunsubscribe(c: Client, *channels: bytes) -> Reply:
    """SUNSUBSCRIBE [shardchannel [shardchannel ...]]

    Hears shard channels no longer; without names, none of them.

    pubsub.c: sunsubscribeCommand()
    """
    return _unsubscribe(
        c, channels, b"sunsubscribe", c.pubsub_shard_channels, c.server.pubsub_shard_channels
    )


@command(
    "publish",
    arity=3,
    flags="pubsub loading stale fast",
    group="pubsub",
    since="2.0.0",
    acl="pubsub",
    complexity="O(N+M) in the channel's subscribers and all patterns",
)
def publish(c: Client, channel: bytes, message: bytes) -> Reply:
    """PUBLISH channel message

    Sends a message to a channel; how many clients got it.

    pubsub.c: publishCommand()
    """
    c.force_propagation = True
    return pubsub_publish_message(c.server, channel, message)


@command(
    "spublish",
    arity=3,
    flags="pubsub loading stale fast",
    keys=(1, 1, 1),
    access="not_key",
    group="pubsub",
    since="7.0.0",
    acl="pubsub",
    complexity="O(N) in the shard channel's subscribers",
)
def spublish(c: Client, channel: bytes, message: bytes) -> Reply:
    """SPUBLISH shardchannel message

    Sends a message to a shard channel; how many clients got it.

    pubsub.c: spublishCommand()
    """
    c.force_propagation = True
    return pubsub_publish_shard_message(c.server, channel, message)


# -- PUBSUB -----------------------------------------------------------------------------

container("pubsub", group="pubsub", since="2.8.0", summary="Tells who is subscribed to what.")
_LOOK = "pubsub loading stale"


def _channels(everybody: Subscribers, patterns: tuple[bytes, ...]) -> list[Reply]:
    return [name for name in everybody if not patterns or stringmatch(patterns[0], name)]


def _numsub(everybody: Subscribers, channels: tuple[bytes, ...]) -> list[Reply]:
    return [item for name in channels for item in (name, len(everybody.get(name, ())))]


@command(
    "pubsub|channels",
    arity=-2,
    flags=_LOOK,
    group="pubsub",
    since="2.8.0",
    acl="pubsub",
    complexity="O(N) in the number of channels",
)
def pubsub_channels(c: Client, _: bytes, *pattern: bytes) -> Reply:
    """PUBSUB CHANNELS [pattern]

    Channels with at least one subscriber; subscriptions by pattern do not count.

    pubsub.c: pubsubCommand()
    """
    if len(pattern) > 1:
        raise subcommand_syntax_error(c.argv)
    return _channels(c.server.pubsub_channels, pattern)


@command(
    "pubsub|shardchannels",
    arity=-2,
    flags=_LOOK,
    group="pubsub",
    since="7.0.0",
    acl="pubsub",
    complexity="O(N) in the number of shard channels",
)
def pubsub_shardchannels(c: Client, _: bytes, *pattern: bytes) -> Reply:
    """PUBSUB SHARDCHANNELS [pattern]

    Shard channels with at least one subscriber.

    pubsub.c: pubsubCommand()
    """
    if len(pattern) > 1:
        raise subcommand_syntax_error(c.argv)
    return _channels(c.server.pubsub_shard_channels, pattern)


@command(
    "pubsub|numsub",
    arity=-2,
    flags=_LOOK,
    group="pubsub",
    since="2.8.0",
    acl="pubsub",
    complexity="O(N) in the number of channels asked for",
)
def pubsub_numsub(c: Client, _: bytes, *channels: bytes) -> Reply:
    """PUBSUB NUMSUB [channel [channel ...]]

    How many clients are subscribed to each channel.

    pubsub.c: pubsubCommand()
    """
    return _numsub(c.server.pubsub_channels, channels)


@command(
    "pubsub|shardnumsub",
    arity=-2,
    flags=_LOOK,
    group="pubsub",
    since="7.0.0",
    acl="pubsub",
    complexity="O(N) in the number of shard channels asked for",
)
def pubsub_shardnumsub(c: Client, _: bytes, *channels: bytes) -> Reply:
    """PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]

    How many clients are subscribed to each shard channel.

    pubsub.c: pubsubCommand()
    """
    return _numsub(c.server.pubsub_shard_channels, channels)


@command("pubsub|numpat", arity=2, flags=_LOOK, group="pubsub", since="2.8.0", acl="pubsub")
def pubsub_numpat(c: Client, _: bytes) -> Reply:
    """PUBSUB NUMPAT

    How many different patterns are subscribed to.

    pubsub.c: pubsubCommand()
    """
    return len(c.server.pubsub_patterns)


@command("pubsub|help", arity=2, flags="loading stale", group="pubsub", since="6.2.0", acl="")
def pubsub_help(c: Client, _: bytes) -> Reply:
    """PUBSUB HELP

    What PUBSUB can tell.

    pubsub.c: pubsubCommand()
    """
    return c.help(
        ("CHANNELS [<pattern>]", "Channels with subscribers."),
        ("NUMPAT", "Number of patterns subscribed to."),
        ("NUMSUB [<channel> ...]", "Subscribers of each channel."),
        ("SHARDCHANNELS [<pattern>]", "Shard channels with subscribers."),
        ("SHARDNUMSUB [<shardchannel> ...]", "Subscribers of each shard channel."),
    )
