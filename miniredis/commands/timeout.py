"""Time-outs among the arguments of commands that wait.

Redis: timeout.c.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.blocking import NO_TIMEOUT
from miniredis.errors import CommandError
from miniredis.keyspace.object import LLONG_MAX, LLONG_MIN
from miniredis.structs.long_double import round_long_double, string2ld

if TYPE_CHECKING:
    from miniredis.server.client import Client

MS_PER_SECOND = 1000


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
