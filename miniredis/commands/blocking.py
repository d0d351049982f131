"""What commands that wait have in common: the kinds of waiting, and what is waited for.

The machinery is in ``server/blocked.py``, time-outs are in ``commands/timeout.py``.

Redis: blocked.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from miniredis.errors import CommandError
from miniredis.keyspace.object import (
    OBJ_LIST,
    OBJ_STREAM,
    OBJ_ZSET,
    RedisObject,
)
from miniredis.reply import NULL_ARRAY, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

# What a client waits for. server.h: BLOCKED_*
BLOCKED_NONE = 0
BLOCKED_LIST = 1
BLOCKED_WAIT = 2
BLOCKED_MODULE = 3
BLOCKED_STREAM = 4
BLOCKED_ZSET = 5
BLOCKED_POSTPONE = 6  # held back by CLIENT PAUSE
BLOCKED_SHUTDOWN = 7
BLOCKED_TYPES = 8

#: What waits for a value of a type. blocked.c: getBlockedTypeByType()
BLOCKED_BY_TYPE = {OBJ_LIST: BLOCKED_LIST, OBJ_ZSET: BLOCKED_ZSET, OBJ_STREAM: BLOCKED_STREAM}

NO_TIMEOUT = 0  # wait for ever

# Gives the client that waits what has come: (client, value, its key). The reply, or BLOCKED
# if this is not what the client waits for.
Serve = Callable[["Client", RedisObject, bytes], Reply]
# Makes the reply of a client that has waited long enough.
OnTimeout = Callable[["Client"], Reply]


def reply_null_array(c: Client) -> Reply:
    """The reply of most commands when they have waited long enough."""
    return NULL_ARRAY


@dataclass(slots=True, eq=False)
class BlockingState:
    """What one client waits for, until when, and what then. server.h: blockingState

    ``timeout`` is the Unix time in ms after which it waits no more, 0: never. ``keys``
    are those waited for, each with what the command wants to remember of it (a stream's
    id). ``gone`` makes the error for when a key is deleted or comes to hold another
    type; None waits on.
    """

    btype: int
    timeout: int = NO_TIMEOUT
    keys: dict[bytes, Any] = field(default_factory=dict)
    serve: Serve | None = None
    on_timeout: OnTimeout = reply_null_array
    gone: Callable[[], CommandError] | None = None
