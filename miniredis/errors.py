"""Errors of commands, with Redis's texts to the byte.

A command raises :class:`CommandError`; whoever called it decides what becomes of it (a
``-ERR …`` line, a redis-py exception, an element of EXEC's reply). Texts that more than
one module needs are made here.

Redis: ``createSharedObjects`` in server.c, ``addReplyError*`` in networking.c.
"""

from __future__ import annotations


class CommandError(Exception):
    """An error reply. *text* is the whole line without the leading ``-``.

    It begins with the error code, e.g. ``ERR syntax error`` or ``WRONGTYPE …``.
    """

    def __init__(self, text: str | bytes) -> None:
        self.text = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        #: Statistics know of it already: an error of a script's command, passed on.
        self.counted = False
        super().__init__(self.text.decode("utf-8", "replace"))

    @property
    def code(self) -> str:
        """The first word, e.g. ``ERR``: the key under which INFO errorstats counts it."""
        return self.text.split(b" ", 1)[0].decode("utf-8", "replace")


#: What a connection too many is told. networking.c: acceptCommonHandler()
MAX_CLIENTS_REACHED = "ERR max number of clients reached"


class ServerClosedError(ConnectionError):
    """The in-process server was closed; it answers no command any more."""


class WaitForeverError(RuntimeError):
    """A blocking command without a time-out can never return: nobody is there to end it."""


def wrong_type() -> CommandError:
    """The key holds another type. Redis: ``shared.wrongtypeerr``."""
    return CommandError("WRONGTYPE Operation against a key holding the wrong kind of value")


def syntax_error() -> CommandError:
    """Redis: ``shared.syntaxerr``."""
    return CommandError("ERR syntax error")


def not_an_integer() -> CommandError:
    """Redis: the default text of ``getLongLongFromObjectOrReply``."""
    return CommandError("ERR value is not an integer or out of range")


def not_a_float() -> CommandError:
    """Redis: the default text of ``getDoubleFromObjectOrReply``."""
    return CommandError("ERR value is not a valid float")


def no_such_key() -> CommandError:
    """Redis: ``shared.nokeyerr``."""
    return CommandError("ERR no such key")


def out_of_range() -> CommandError:
    """Redis: ``shared.outofrangeerr``."""
    return CommandError("ERR index out of range")


def db_out_of_range() -> CommandError:
    """Redis: ``selectDb`` failing."""
    return CommandError("ERR DB index is out of range")


def wrong_arity(fullname: str) -> CommandError:
    """*fullname* is the command's full lower-case name, e.g. ``config|get``."""
    return CommandError(f"ERR wrong number of arguments for '{fullname}' command")


def invalid_expire(fullname: str) -> CommandError:
    """Redis: ``addReplyErrorExpireTime``."""
    return CommandError(f"ERR invalid expire time in '{fullname}' command")
