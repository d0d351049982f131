"""PUBSUB: who is subscribed to what.

Channels are listed in the order of their first subscription; Redis's order is that of a
hash table with a random seed.

Redis: ``pubsubCommand()`` in pubsub.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.pubsub import Subscribers
from miniredis.commands.subcommands import subcommand_syntax_error
from miniredis.commands.table import command, container
from miniredis.reply import Reply
from miniredis.structs.glob import stringmatch

if TYPE_CHECKING:
    from miniredis.server.client import Client

_FLAGS = "pubsub loading stale"

container("pubsub", group="pubsub", since="2.8.0", summary="Tells who is subscribed to what.")


def _channel_list(c: Client, everybody: Subscribers, patterns: tuple[bytes, ...]) -> Reply:
    """pubsub.c: channelList()"""
    if len(patterns) > 1:
        raise subcommand_syntax_error(c.argv)
    return [name for name in everybody if not patterns or stringmatch(patterns[0], name)]


def _numsub(everybody: Subscribers, channels: tuple[bytes, ...]) -> Reply:
    return [item for name in channels for item in (name, len(everybody.get(name, ())))]


@command(
    "pubsub|channels",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="2.8.0",
    complexity="O(N) in the number of channels",
)
def pubsub_channels(c: Client, _: bytes, *pattern: bytes) -> Reply:
    """PUBSUB CHANNELS [pattern]

    Channels with at least one subscriber; subscriptions by pattern do not count.

    pubsub.c: pubsubCommand()
    """
    return _channel_list(c, c.server.pubsub_channels, pattern)


@command(
    "pubsub|shardchannels",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="7.0.0",
    complexity="O(N) in the number of shard channels",
)
def pubsub_shardchannels(c: Client, _: bytes, *pattern: bytes) -> Reply:
    """PUBSUB SHARDCHANNELS [pattern]

    Shard channels with at least one subscriber.

    pubsub.c: pubsubCommand()
    """
    return _channel_list(c, c.server.pubsub_shard_channels, pattern)


@command(
    "pubsub|numsub",
    arity=-2,
    flags=_FLAGS,
    group="pubsub",
    since="2.8.0",
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
    flags=_FLAGS,
    group="pubsub",
    since="7.0.0",
    complexity="O(N) in the number of shard channels asked for",
)
def pubsub_shardnumsub(c: Client, _: bytes, *channels: bytes) -> Reply:
    """PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]

    How many clients are subscribed to each shard channel.

    pubsub.c: pubsubCommand()
    """
    return _numsub(c.server.pubsub_shard_channels, channels)


@command("pubsub|numpat", arity=2, flags=_FLAGS, group="pubsub", since="2.8.0")
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
        ("NUMPAT", "Number of different patterns subscribed to."),
        ("NUMSUB [<channel> ...]", "Subscribers of each channel."),
        ("SHARDCHANNELS [<pattern>]", "Shard channels with subscribers."),
        ("SHARDNUMSUB [<shardchannel> ...]", "Subscribers of each shard channel."),
    )
