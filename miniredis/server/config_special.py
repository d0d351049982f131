"""Parameters with a syntax of their own, and rules that single parameters have.

Redis: the special configs and the isValid functions of config.c; the texts of a process
title are expanded in server.c.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from miniredis.commands.args import c_string, word
from miniredis.keyspace import notify
from miniredis.server.config_numbers import (
    c_int,
    memtoull,
    string2d,
    strtoll,
)
from miniredis.server.config_types import ArgumentError, Parameter, not_one_of

CONFIG_BINDADDR_MAX = 16  # addresses
NET_HOST_STR_LEN = 256  # bytes of a host name with its NUL
OOM_SCORE_LIMIT = 2000  # of an oom-score-adj value, either side of 0
PORT_MAX = 65535
PERCENTILE_MAX = 100.0


class SaveParam(NamedTuple):
    """Save after *seconds* if there were *changes*. server.h: saveparam"""

    seconds: int
    changes: int


class ClientBufferLimit(NamedTuple):
    """When a client that does not read is closed. server.h: clientBufferLimitsConfig"""

    hard_limit_bytes: int  # at once; 0 for no limit
    soft_limit_bytes: int  # after soft_limit_seconds above it; 0 for no limit
    soft_limit_seconds: int


class ClientBufferLimits(NamedTuple):
    """The limits by class of client. server.h: client_obuf_limits"""

    normal: ClientBufferLimit
    slave: ClientBufferLimit
    pubsub: ClientBufferLimit


def split(argument: bytes) -> list[bytes]:
    """The words of a MULTI_ARG value; every space separates. config.c: performInterfaceSet()"""
    return argument.split(b" ") if argument else []


class SaveParams(Parameter):
    """Pairs of seconds and changes. config.c: setConfigSaveOption()"""

    def read(self, argument: bytes, current: Any) -> tuple[SaveParam, ...]:
        words = split(argument)
        if len(words) == 1 and not c_string(words[0]):
            return ()
        numbers = [strtoll(number) for number in words]
        if len(numbers) % 2:
            raise ArgumentError("Invalid save parameters")
        params = []
        for seconds, changes in zip(numbers[::2], numbers[1::2], strict=True):
            if seconds is None or seconds < 1 or changes is None or changes < 0:
                raise ArgumentError("Invalid save parameters")
            params.append(SaveParam(seconds, c_int(changes)))
        return tuple(params)

    def show(self, value: Any) -> bytes:
        return b" ".join(b"%d %d" % param for param in value)


class OutputBufferLimits(Parameter):
    """Four words a class: its name, hard limit, soft limit, seconds. Others stay as they are.

    config.c: updateClientOutputBufferLimit()
    """

    _FIELDS: ClassVar = {b"normal": "normal", b"slave": "slave", b"replica": "slave"} | {
        b"pubsub": "pubsub"
    }

    def read(self, argument: bytes, current: Any) -> ClientBufferLimits:
        words = split(argument)
        if len(words) % 4:
            raise ArgumentError("Wrong number of arguments in buffer limit configuration.")
        limits: ClientBufferLimits = current
        for i in range(0, len(words), 4):
            field = self._FIELDS.get(word(words[i]))
            if field is None:
                raise ArgumentError("Invalid client class specified in buffer limit configuration.")
            limits = limits._replace(**{field: self._read_limit(words[i + 1 : i + 4])})
        return limits

    def _read_limit(self, words: list[bytes]) -> ClientBufferLimit:
        hard, soft, seconds = memtoull(words[0]), memtoull(words[1]), strtoll(words[2])
        if hard is None or soft is None or seconds is None or c_int(seconds) < 0:
            raise ArgumentError(
                "Error in hard, soft or soft_seconds setting in buffer limit configuration."
            )
        return ClientBufferLimit(hard, soft, c_int(seconds))

    def show(self, value: Any) -> bytes:
        names = [name.encode() for name in value._fields]
        return b" ".join(
            b"%s %d %d %d" % (name, *limit) for name, limit in zip(names, value, strict=True)
        )


class OomScoreAdjValues(Parameter):
    """Three integers: master, replica, child. config.c: setConfigOOMScoreAdjValuesOption()"""

    def read(self, argument: bytes, current: Any) -> tuple[int, ...]:
        words = split(argument)
        if len(words) != len(self.default):
            raise ArgumentError("wrong number of arguments")
        values = []
        for number in words:
            value = strtoll(number)
            if value is None or abs(value) > OOM_SCORE_LIMIT:
                limits = f"-{OOM_SCORE_LIMIT} and {OOM_SCORE_LIMIT}"
                raise ArgumentError(
                    f"Invalid oom-score-adj-values, elements must be between {limits}."
                )
            values.append(value)
        return tuple(values)

    def show(self, value: Any) -> bytes:
        return b" ".join(b"%d" % number for number in value)


class KeyspaceEvents(Parameter):
    """Letters, kept as flags. config.c: setConfigNotifyKeyspaceEventsOption()"""

    accepts: ClassVar[str] = "a str of class letters or an int of flags"

    def read(self, argument: bytes, current: Any) -> int:
        letters = c_string(argument).decode("latin-1")
        flags = notify.keyspace_events_string_to_flags(letters)
        if flags is None:
            raise ArgumentError("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
        return flags

    def show(self, value: Any) -> bytes:
        return notify.keyspace_events_flags_to_string(value).encode()

    def take(self, value: object) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            known = notify.keyspace_events_string_to_flags("AKEmn") or 0
            if value & ~known:
                raise ValueError(f"{self.attribute} has unknown flags; known are {known:#x}")
            return value
        return super().take(value)


class BindAddresses(Parameter):
    """Up to 16 addresses, taken as they are. config.c: setConfigBindOption()"""

    def read(self, argument: bytes, current: Any) -> tuple[bytes, ...]:
        addresses = tuple(c_string(word) for word in split(argument))
        if len(addresses) > CONFIG_BINDADDR_MAX:
            raise ArgumentError("Too many bind addresses specified.")
        return addresses

    def show(self, value: Any) -> bytes:
        return b" ".join(value)


class ReplicaOf(Parameter):
    """Host and port, or None. config.c: setConfigReplicaOfOption()"""

    def read(self, argument: bytes, current: Any) -> tuple[bytes, int] | None:
        words = split(argument)
        if not words:
            return None  # what CONFIG GET prints for no master
        if len(words) != 2:
            raise ArgumentError("wrong number of arguments")
        if [word(part) for part in words] == [b"no", b"one"]:
            return None
        port = strtoll(words[1])
        if port is None or not 0 <= port <= PORT_MAX:
            raise ArgumentError("Invalid master port")
        return words[0], port

    def show(self, value: Any) -> bytes:
        return b"%s %d" % value if value else b""


class Percentiles(Parameter):
    """Floats from 0 to 100. config.c: setConfigLatencyTrackingInfoPercentilesOutputOption()"""

    def read(self, argument: bytes, current: Any) -> tuple[float, ...]:
        percentiles = []
        for number in split(argument):
            percentile = string2d(number)
            if percentile is None:
                raise ArgumentError(f"Invalid {self.name} parameters")
            if not 0.0 <= percentile <= PERCENTILE_MAX:
                raise ArgumentError(f"{self.name} parameters should sit between [0.0,100.0]")
            percentiles.append(percentile)
        return tuple(percentiles)

    def show(self, value: Any) -> bytes:
        return b" ".join(format_percentile(percentile) for percentile in value)


class Directory(Parameter):
    """Where files would be written, as a whole path. config.c: setConfigDirOption()

    Redis makes it the working directory of its process; here nothing is written, and the
    process is not the server's own. So a path is only resolved, from the value so far;
    ``.`` stands for the directory of the process.
    """

    def read(self, argument: bytes, current: Any) -> bytes:
        path = c_string(argument)
        try:
            if not stat.S_ISDIR(os.stat(os.path.join(current, path) if path else path).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        except OSError as error:
            raise ArgumentError(error.strerror or str(error)) from None
        whole = os.path.realpath(os.path.join(current, path))
        return b"." if whole == os.path.realpath(b".") else whole

    def show(self, value: Any) -> bytes:
        return bytes(os.path.realpath(value))


def format_percentile(percentile: float) -> bytes:
    """*percentile* with up to six decimals: ``99.9``. util.c: trimDoubleString()"""
    return (b"%f" % percentile).rstrip(b"0").rstrip(b".")


@dataclass(kw_only=True, eq=False)
class ShutdownFlags(Parameter):
    """Words of a list, kept in the list's order; the first says that there is none.

    config.c: enumConfigSet() with MULTI_ARG_CONFIG, isValidShutdownOnSigFlags()
    """

    words: Sequence[str] = ("default", "save", "nosave", "now", "force")

    def read(self, argument: bytes, current: Any) -> str:
        given = {word(part).decode("latin-1") for part in split(argument)}
        if not given or not given <= set(self.words):
            raise not_one_of(self.words)
        if given >= {"save", "nosave"}:
            raise ArgumentError("shutdown options SAVE and NOSAVE can't be used simultaneously")
        none, *flags = self.words
        return " ".join(word for word in flags if word in given) or none

    def show(self, value: Any) -> bytes:
        return str(value).encode()


def is_file_name(value: bytes) -> None:
    """config.c: isValidDBfilename()"""
    if b"/" in value or b"\\" in value:
        raise ArgumentError("dbfilename can't be a path, just a filename")


def is_aof_name(value: bytes) -> None:
    """config.c: isValidAOFfilename()"""
    if not value:
        raise ArgumentError("appendfilename can't be empty")
    if b"/" in value or b"\\" in value:
        raise ArgumentError("appendfilename can't be a path, just a filename")


def is_aof_folder(value: bytes) -> None:
    """config.c: isValidAOFdirname()"""
    if not value:
        raise ArgumentError("appenddirname can't be empty")
    if b"/" in value or b"\\" in value:
        raise ArgumentError("appenddirname can't be a path, just a dirname")


def is_host_name(value: bytes) -> None:
    """config.c: isValidAnnouncedHostname()"""
    if len(value) >= NET_HOST_STR_LEN:
        raise ArgumentError(f"Hostnames must be less than {NET_HOST_STR_LEN} characters")
    if not re.fullmatch(rb"[A-Za-z0-9.-]*", value):
        raise ArgumentError("Hostnames may only contain alphanumeric characters, hyphens or dots")


# What a title's variables stand for here: a server on a port, out of a cluster, that was
# given no title, no socket and no file. Only whether a text is empty matters.
_TITLE_VARIABLES = {
    b"title": b"",
    b"listen-addr": b"*:6379",
    b"server-mode": b"",
    b"config-file": b"-",
    b"port": b"6379",
    b"tls-port": b"0",
    b"unixsocket": b"",
}


def is_title_template(value: bytes) -> None:
    """A template whose variables are known and which comes to more than spaces.

    server.c: validateProcTitleTemplate(), sds.c: sdstemplate()
    """

    def expand(found: re.Match[bytes]) -> bytes:
        if found[0] == b"{{":
            return b"{"
        if found[1] not in _TITLE_VARIABLES:
            raise ArgumentError("template format is invalid or contains unknown variables")
        return _TITLE_VARIABLES[found[1]]

    title = re.sub(rb"\{\{|\{([^}]*)\}?", expand, value)
    if not title.strip():
        raise ArgumentError("template format is invalid or contains unknown variables")
