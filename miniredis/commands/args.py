"""Reading arguments: numbers with Redis's strictness and error texts.

Redis: ``get*FromObjectOrReply()`` in object.c.
"""

from __future__ import annotations

from miniredis.errors import CommandError, not_a_float, not_an_integer
from miniredis.keyspace.object import LLONG_MAX, LLONG_MIN
from miniredis.structs.double import string2d

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def c_string(arg: bytes) -> bytes:
    """*arg* up to its first NUL: what C takes for the whole of it."""
    return arg.partition(b"\0")[0]


def word(arg: bytes) -> bytes:
    """*arg* as an option, to be compared: in lower case, up to where strcasecmp() stops.

    So ``NX`` followed by a NUL and anything is NX. Names of commands and subcommands are
    compared whole instead, see docs/design.md.
    """
    return c_string(arg).lower()


def get_long_long(arg: bytes | bytearray) -> int:
    """*arg* as a signed 64-bit integer, exactly as Redis would print it.

    No spaces, no plus sign, no leading zeros. object.c: getLongLongFromObjectOrReply()
    """
    # 20 characters hold every 64-bit number; longer ones are not worth converting.
    if 0 < len(arg) <= 20:
        try:
            number = int(arg)
        except ValueError:
            raise not_an_integer() from None
        if b"%d" % number == arg and LLONG_MIN <= number <= LLONG_MAX:
            return number
    raise not_an_integer()


def get_int(arg: bytes, message: str | None = None) -> int:
    """*arg* as a 32-bit integer; *message* replaces both error texts.

    object.c: getIntFromObjectOrReply()
    """
    try:
        number = get_long_long(arg)
    except CommandError:
        if message is None:
            raise
        raise CommandError(f"ERR {message}") from None
    if INT_MIN <= number <= INT_MAX:
        return number
    if message is None:
        message = f"value is out of range, value must between {INT_MIN} and {INT_MAX}"
    raise CommandError(f"ERR {message}")


def get_range_long(arg: bytes, min: int, max: int, message: str | None = None) -> int:
    """*arg* as an integer from *min* to *max*; *message* replaces both error texts.

    object.c: getRangeLongFromObjectOrReply()
    """
    try:
        number = get_long_long(arg)
    except CommandError:
        if message is None:
            raise
        raise CommandError(f"ERR {message}") from None
    if min <= number <= max:
        return number
    if message is None:
        message = f"value is out of range, value must between {min} and {max}"
    raise CommandError(f"ERR {message}")


def get_positive_long(arg: bytes, message: str = "value is out of range, must be positive") -> int:
    """*arg* as an integer from 0 on. object.c: getPositiveLongFromObjectOrReply()"""
    return get_range_long(arg, 0, LLONG_MAX, message)


def get_double(arg: bytes, message: str | None = None) -> float:
    """*arg* as a double, infinities included; *message* replaces the error text.

    object.c: getDoubleFromObjectOrReply()
    """
    value = string2d(arg)
    if value is None:
        raise not_a_float() if message is None else CommandError(f"ERR {message}")
    return value
