"""Reply values that Python has no type for.

A command returns plain Python values: ``bytes`` is a bulk string, ``int`` an integer,
``None`` the null bulk, ``list`` an array, ``float`` a double, ``bool`` a boolean and
``dict`` a map (RESP2 has neither, there they become bulk strings, integers and flat
arrays). Everything else is here. Errors are raised, see ``errors.py``; inside an array
(EXEC) they stand as values.

Redis: the ``addReply*`` family in networking.c.
"""

from __future__ import annotations

from typing import Any

# The value of a command: see the module's docstring.
Reply = Any


class Status:
    """A simple string such as ``+OK``. Redis: ``addReplyStatus``."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Status({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Status) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class NullArray:
    """The null array: ``*-1`` in RESP2, ``_`` in RESP3. Redis: ``addReplyNullArray``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NULL_ARRAY"


class NoReply:
    """Nothing is sent: CLIENT REPLY OFF, or a command that answers by pushes of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_REPLY"


class SetReply:
    """A set in the order sent; RESP2 sends an array. Redis: ``addReplySetLen``."""

    __slots__ = ("items",)

    def __init__(self, items: list[Reply]) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"SetReply({self.items!r})"


class MapReply:
    """A map in the order sent that may repeat a key, which a dict can't. addReplyMapLen"""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[Reply, Reply]]) -> None:
        self.pairs = pairs

    def __repr__(self) -> str:
        return f"MapReply({self.pairs!r})"


class Push:
    """An out-of-band message; RESP2 sends an array. Redis: ``addReplyPushLen``."""

    __slots__ = ("items",)

    def __init__(self, items: list[Reply]) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"Push({self.items!r})"


class Interleaved:
    """An array of *count* replies with messages in between, in the order sent.

    EXEC answers so when queued commands send messages to their own client or silence it:
    ``items`` may then be more or fewer than the announced ``count``. MGET does when the
    client hears of its own look-ups.
    """

    __slots__ = ("count", "items")

    def __init__(self, count: int, items: list[Reply]) -> None:
        self.count = count
        self.items = items

    def __repr__(self) -> str:
        return f"Interleaved({self.count}, {self.items!r})"


class InProtocol:
    """A reply that is sent in protocol *resp*, whatever the client speaks by then.

    Only EXEC answers so, when a queued HELLO changes the protocol half-way.
    """

    __slots__ = ("reply", "resp")

    def __init__(self, reply: Reply, resp: int) -> None:
        self.reply = reply
        self.resp = resp

    def __repr__(self) -> str:
        return f"InProtocol({self.reply!r}, {self.resp})"


class Verbatim:
    """Text with a three-letter format; RESP2 sends a bulk. Redis: ``addReplyVerbatim``."""

    __slots__ = ("format", "text")

    def __init__(self, text: bytes, format: bytes = b"txt") -> None:
        self.text = text
        self.format = format

    def __repr__(self) -> str:
        return f"Verbatim({self.text!r}, {self.format!r})"


class Attributed:
    """A reply, and attributes that RESP3 sends before it. Redis: ``addReplyAttributeLen``."""

    __slots__ = ("attributes", "reply")

    def __init__(self, attributes: dict[Reply, Reply], reply: Reply) -> None:
        self.attributes = attributes
        self.reply = reply

    def __repr__(self) -> str:
        return f"Attributed({self.attributes!r}, {self.reply!r})"


class Wire:
    """Bytes that are sent as they are: a replica's file and stream. Redis: ``addReplyProto``."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"Wire({len(self.data)} bytes)"


class HumanDouble:
    """A double in plain decimals, a bulk in RESP2. Redis: ``addReplyHumanLongDouble``.

    0.1 is 0.10000000000000001 either way, but 1e-5 is 0.00001.
    """

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"HumanDouble({self.value!r})"


class BigNumber:
    """A number of any size in RESP3, a bulk in RESP2. Redis: ``addReplyBigNum``."""

    __slots__ = ("digits",)

    def __init__(self, digits: bytes) -> None:
        self.digits = digits

    def __repr__(self) -> str:
        return f"BigNumber({self.digits!r})"


OK = Status(b"OK")
PONG = Status(b"PONG")
QUEUED = Status(b"QUEUED")
NULL_ARRAY = NullArray()
NO_REPLY = NoReply()


class Blocked:
    """The client waits; its reply comes later, through its outbox. Redis: ``CLIENT_BLOCKED``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "BLOCKED"


BLOCKED = Blocked()
