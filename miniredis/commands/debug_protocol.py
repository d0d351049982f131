"""DEBUG PROTOCOL: one reply of each type, for testing clients.

Redis: ``debugCommand()`` in debug.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import word
from miniredis.errors import CommandError
from miniredis.reply import Attributed, BigNumber, Push, Reply, SetReply, Verbatim

if TYPE_CHECKING:
    from miniredis.server.client import Client

_REPLIES: dict[bytes, Reply] = {
    b"string": b"Hello World",
    b"integer": 12345,
    b"double": 3.141,
    b"bignum": BigNumber(b"1234567999999999999999999999999999999"),
    b"null": None,
    b"array": [0, 1, 2],
    b"set": SetReply([0, 1, 2]),
    b"map": {0: False, 1: True, 2: False},
    b"attrib": Attributed(
        {b"key-popularity": [b"key:123", 90]}, b"Some real reply following the attribute"
    ),
    b"push": b"Some real reply following the push reply",
    b"verbatim": Verbatim(b"This is a verbatim\nstring"),
    b"true": True,
    b"false": False,
}


def debug_protocol(c: Client, name: bytes) -> Reply:
    """The test value of type *name*."""
    name = word(name)
    if name not in _REPLIES:
        types = "|".join(key.decode() for key in _REPLIES)
        raise CommandError(
            f"ERR Wrong protocol type name. Please use one of the following: {types}"
        )
    if name == b"push":
        if c.resp < 3:
            raise CommandError("ERR RESP2 is not supported by this command")
        c.push(Push([b"server-cpu-usage", 42]))
    return _REPLIES[name]
