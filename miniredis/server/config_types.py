"""The kinds of parameters: how each reads a text, prints its value and takes a Python value.

A kind is a class, a parameter an instance of it, with its name, default and flags. The
functions at the end make the rows of the table in ``config_table.py``; they say ``Any``, as
``dataclasses.field`` does, so that a row can carry the annotation of its values. Kinds
with a syntax of their own are in ``config_special.py``.

Redis: the generic config types of config.c.
"""

from __future__ import annotations

import copy
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Any, ClassVar

from miniredis.commands.args import c_string, word
from miniredis.keyspace.object import string2ll
from miniredis.server.config_numbers import (
    ULLONG_MAX,
    c_long_long,
    memtoull,
    strtoll,
)

_ENUM_ERROR_BYTES = 255  # config.c: LOADBUF_SIZE without the NUL


class ConfigFlag(Flag):
    """What may be done with a parameter. server.h: *_CONFIG"""

    MODIFIABLE = 0
    IMMUTABLE = auto()  # set at start only
    SENSITIVE = auto()  # its value is kept out of SLOWLOG and MONITOR
    DEBUG = auto()  # crash reports print it
    MULTI_ARG = auto()  # the value is a list of words
    HIDDEN = auto()  # CONFIG GET finds it by its full name only
    PROTECTED = auto()  # CONFIG SET needs enable-protected-configs
    DENY_LOADING = auto()  # not while the server loads its data


class ArgumentError(Exception):
    """A text that a parameter refuses; the message is what Redis says after the dash."""


class ApplyError(Exception):
    """A value that cannot be put to use; the message is what Redis says after the dash.

    *name* is the parameter, where that is known.
    """

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text)
        self.name = name


def not_one_of(words: Sequence[str]) -> ArgumentError:
    """The complaint about a word that is none of *words*. config.c: enumConfigSet()"""
    text = "argument(s) must be one of the following: " + ", ".join(words)
    return ArgumentError(text[:_ENUM_ERROR_BYTES])


@dataclass(kw_only=True, eq=False)
class Parameter:
    """One parameter. config.c: standardConfig"""

    accepts: ClassVar[str] = "a str or bytes"  # what take() takes, for messages

    default: Any
    flags: ConfigFlag = ConfigFlag.MODIFIABLE
    name: str = ""  # Redis's name; that of the attribute with dashes when not given
    alias: str = ""  # a second name, often an older one
    attribute: str = field(init=False, default="")

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute
        self.name = self.name or attribute.replace("_", "-")

    def as_alias(self) -> Parameter:
        """The same parameter under its other name."""
        other = copy.copy(self)
        other.name, other.alias = self.alias, self.name
        return other

    def read(self, argument: bytes, current: Any) -> Any:
        """The value that *argument* stands for, where *current* is the value so far.

        Raises ArgumentError. config.c: the interface's set()
        """
        raise NotImplementedError

    def show(self, value: Any) -> bytes:
        """*value* as CONFIG GET prints it. config.c: the interface's get()"""
        raise NotImplementedError

    def take(self, value: object) -> Any:
        """The value for what a Python caller gave; ValueError or TypeError if it is bad."""
        text = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        if not isinstance(text, bytes):
            kind = type(value).__name__
            raise TypeError(f"{self.attribute} must be {self.accepts}, got {kind}")
        try:
            return self.read(text, self.default)
        except ArgumentError as error:
            shown = reprlib.repr(value)
            raise ValueError(f"{self.attribute} does not accept {shown}: {error}") from None


@dataclass(kw_only=True, eq=False)
class YesNo(Parameter):
    """A bool. config.c: boolConfigSet()"""

    accepts: ClassVar[str] = "a bool, 'yes' or 'no'"

    refuse_yes: str = ""  # why it can't be switched on

    def read(self, argument: bytes, current: Any) -> bool:
        """config.c: yesnotoi()"""
        answer = word(argument)
        if answer not in (b"yes", b"no"):
            raise ArgumentError("argument must be 'yes' or 'no'")
        if answer == b"yes" and self.refuse_yes:
            raise ArgumentError(self.refuse_yes)
        return answer == b"yes"

    def show(self, value: Any) -> bytes:
        return b"yes" if value else b"no"

    def take(self, value: object) -> Any:
        return super().take(self.show(value) if isinstance(value, bool) else value)


@dataclass(kw_only=True, eq=False)
class Text(Parameter):
    """Bytes, up to the first NUL unless *binary*. config.c: stringConfigSet(), sdsConfigSet()"""

    rule: Callable[[bytes], None] | None = None  # raises ArgumentError
    binary: bool = False

    def read(self, argument: bytes, current: Any) -> bytes:
        value = argument if self.binary else c_string(argument)
        if self.rule is not None:
            self.rule(value)
        return value

    def show(self, value: Any) -> bytes:
        return bytes(value)


@dataclass(kw_only=True, eq=False)
class Choice(Parameter):
    """One word of a list. *same* maps words to the one that they stand for.

    config.c: enumConfigSet()
    """

    words: Sequence[str]
    same: dict[str, str] = field(default_factory=dict)

    def read(self, argument: bytes, current: Any) -> str:
        chosen = word(argument).decode("latin-1")
        if chosen not in self.words:
            raise not_one_of(self.words)
        return self.same.get(chosen, chosen)

    def show(self, value: Any) -> bytes:
        return str(value).encode()


@dataclass(kw_only=True, eq=False)
class Number(Parameter):
    """An integer between two bounds, read as decimal, memory, percent or octal.

    A percentage is kept as a negative number. *unsigned* is how C compares it with the
    bounds; it matters for what overflows on the way. config.c: numericConfigSet()
    """

    accepts: ClassVar[str] = "an int or a str"

    lower: int
    upper: int
    unsigned: bool = False
    memory: bool = False
    percent: bool = False
    octal: bool = False

    def read(self, argument: bytes, current: Any) -> int:
        number = self._parse(argument)
        if self.unsigned:
            number &= ULLONG_MAX
        if self.percent and number < 0:
            if number < self.lower:
                raise ArgumentError(f"percentage argument must be less or equal to {-self.lower}")
        elif not self.lower <= number <= self.upper:
            raise ArgumentError(f"argument must be between {self._bounds()} inclusive")
        return number

    def _parse(self, argument: bytes) -> int:
        """*argument* as a long long. config.c: numericParseString()"""
        number: int | None = None
        if self.memory:
            number = memtoull(argument)
        if number is None and self.percent and argument[-1:] == b"%":
            number = string2ll(argument[:-1])
            number = None if number is None or number < 0 else -number
        if self.octal:
            number = strtoll(argument, base=8)
        if not (self.memory or self.percent or self.octal):
            number = string2ll(argument)
        if number is None:
            raise ArgumentError(self._not_a_number())
        return c_long_long(number)

    def _not_a_number(self) -> str:
        if self.memory:
            return f"argument must be a memory{' or percent' if self.percent else ''} value"
        if self.octal:
            return "argument couldn't be parsed as an octal number"
        return "argument couldn't be parsed into an integer"

    def _bounds(self) -> str:
        digits = "o" if self.octal else "d"
        return f"{self.lower:{digits}} and {self.upper:{digits}}"

    def show(self, value: Any) -> bytes:
        if self.percent and value < 0:
            return b"%d%%" % -value
        return b"%o" % value if self.octal else b"%d" % value

    def take(self, value: object) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            if not self.lower <= value <= self.upper:
                digits = "o" if self.octal else "d"
                got = f"{value:{digits}}" if value.bit_length() <= 64 else "a larger number"
                raise ValueError(f"{self.attribute} must be between {self._bounds()}, got {got}")
            return value
        return super().take(value)


def yes_no(default: bool, flags: ConfigFlag = ConfigFlag.MODIFIABLE, **more: Any) -> Any:
    """A row for a bool."""
    return YesNo(default=default, flags=flags, **more)


def text(default: bytes = b"", flags: ConfigFlag = ConfigFlag.MODIFIABLE, **more: Any) -> Any:
    """A row for bytes."""
    return Text(default=default, flags=flags, **more)


def choice(default: str, words: str, flags: ConfigFlag = ConfigFlag.MODIFIABLE, **more: Any) -> Any:
    """A row for one of *words*, which are separated by spaces."""
    return Choice(default=default, words=words.split(), flags=flags, **more)


def integer(
    default: int, lower: int, upper: int, flags: ConfigFlag = ConfigFlag.MODIFIABLE, **more: Any
) -> Any:
    """A row for an integer from *lower* to *upper*."""
    return Number(default=default, lower=lower, upper=upper, flags=flags, **more)


def memory(
    default: int, lower: int, upper: int, flags: ConfigFlag = ConfigFlag.MODIFIABLE, **more: Any
) -> Any:
    """A row for a number of bytes, which may be given with a unit."""
    return Number(default=default, lower=lower, upper=upper, flags=flags, memory=True, **more)
