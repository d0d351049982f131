"""What commands that wait have in common: the kinds of waiting, and time-outs.

The machinery is in ``server/blocked.py``.

Redis: blocked.c, timeout.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from miniredis.commands.args import get_long_long
from miniredis.errors import CommandError
from miniredis.keyspace.object import (
    LLONG_MAX,
    LLONG_MIN,
    OBJ_LIST,
    OBJ_STREAM,
    OBJ_ZSET,
    RedisObject,
)
from miniredis.reply import NULL_ARRAY, Reply
from miniredis.structs.long_double import round_long_double, string2ld

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
MS_PER_SECOND = 1000

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


def get_timeout_in_seconds(c: Client, arg: bytes) -> int:
    """A time-out in seconds, decimals allowed, as the Unix time in ms at which it ends.

    0 stands for ever. Seconds are read as a long double, multiplied, rounded up and cast
    to 64 bits; the cast of anything too large, infinity included, gives the smallest
    number, so such a time-out "is negative". Counted from a fresh reading of the clock.

    timeout.c: getTimeoutFromObjectOrReply(), UNIT_SECONDS
    """
    seconds = string2ld(arg)
    if seconds is None:
        raise CommandError("ERR timeout is not a float or out of range")
    ms = round_long_double(seconds * MS_PER_SECOND) if abs(seconds) < LLONG_MAX else None
    return _end(c, LLONG_MIN if ms is None else _cast(ms))


def _cast(number: Fraction) -> int:
    """*number* rounded up, as C casts it to a ``long long`` on x86-64."""
    rounded = ceil(number)
    return rounded if LLONG_MIN <= rounded <= LLONG_MAX else LLONG_MIN


def get_timeout_in_ms(c: Client, arg: bytes) -> int:
    """A time-out in ms as the Unix time in ms at which it ends; 0 stands for ever.

    timeout.c: getTimeoutFromObjectOrReply(), UNIT_MILLISECONDS
    """
    try:
        ms = get_long_long(arg)
    except CommandError:
        raise CommandError("ERR timeout is not an integer or out of range") from None
    return _end(c, ms)


def _end(c: Client, ms: int) -> int:
    """A sum beyond 64 bits is taken for a time far away, as Redis's unsigned tree key is."""
    if ms < 0:
        raise CommandError("ERR timeout is negative")
    return ms + c.server.now_ms() if ms else NO_TIMEOUT
