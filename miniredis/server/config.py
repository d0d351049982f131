"""The configuration of a server: reading, setting and printing its parameters.

A parameter's value is a plain attribute under Redis's name with underscores, e.g.
``config.active_expire_effort``. CONFIG SET changes several at once or none.

Redis: config.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from miniredis.commands.args import c_string
from miniredis.errors import CommandError, syntax_error
from miniredis.server.config_table import ConfigTable
from miniredis.server.config_types import (
    ApplyError,
    ArgumentError,
    ConfigFlag,
    Parameter,
)
from miniredis.structs.glob import stringmatch

CONFIG_MIN_HZ, CONFIG_MAX_HZ = 1, 500
MS_PER_SECOND = 1000
WATCHDOG_MIN_CRONS = 2  # cron runs that the watchdog waits at least
REPL_BACKLOG_MIN_SIZE = 16 * 1024  # bytes. server.h: CONFIG_REPL_BACKLOG_MIN_SIZE
PROTECTED_ACTION_YES = "yes"  # of the enable-* parameters; "local" needs a local client

PARAMETERS: dict[str, Parameter] = {
    attribute: row for attribute, row in vars(ConfigTable).items() if isinstance(row, Parameter)
}
# By every name that CONFIG knows. An alias is a row of its own over the same value, as it is
# in Redis: it is listed, and named in errors, beside the other. config.c: registerConfigValue()
_BY_NAME: dict[bytes, Parameter] = {}
for _row in PARAMETERS.values():
    _BY_NAME[_row.name.encode()] = _row
    if _row.alias:
        _BY_NAME[_row.alias.encode()] = _row.as_alias()


class Config(ConfigTable):
    """The parameters of one server.

    Keywords give values at start, in Python's spelling, immutable ones too: ``hz=100``,
    ``activerehashing=False``, ``maxmemory="100mb"``. Raises ``TypeError`` for an unknown
    name or a wrong type, ``ValueError`` for a value that Redis would refuse.

    ``on_change`` is called after parameters were set; it may raise ``ApplyError``.
    """

    def __init__(self, **values: Any) -> None:
        self.on_change: Callable[[], None] = _nothing
        for attribute, row in PARAMETERS.items():
            self.__dict__[attribute] = row.default
        for name, value in values.items():
            row_or_none = PARAMETERS.get(name)
            if row_or_none is None:
                import difflib  # slow to import, and only for a mistake

                near = difflib.get_close_matches(name, PARAMETERS, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise TypeError(f"there is no configuration parameter {name!r}{hint}")
            self.__dict__[name] = row_or_none.take(value)
        self._clamp(["hz", "watchdog-period"], self.hz)

    def _clamp(self, changed: list[str], hz: int) -> None:
        """Bring what has another range than CONFIG SET accepts into it.

        One after the other, as they were set: the watchdog's least period follows from the
        *hz* of that moment. config.c: updateHZ(), updateReplBacklogSize(), debug.c:
        applyWatchdogPeriod()
        """
        for name in changed:
            if name == "hz":
                hz = self.hz = max(CONFIG_MIN_HZ, min(self.hz, CONFIG_MAX_HZ))
            elif name == "watchdog-period" and self.watchdog_period:
                least_ms = MS_PER_SECOND // hz * WATCHDOG_MIN_CRONS
                self.watchdog_period = max(self.watchdog_period, least_ms)
            elif name == "repl-backlog-size":
                self.repl_backlog_size = max(self.repl_backlog_size, REPL_BACKLOG_MIN_SIZE)

    def get(self, patterns: list[bytes]) -> dict[bytes, bytes]:
        """Names and values for names or glob patterns, as CONFIG GET replies.

        config.c: configGetCommand()
        """
        found: dict[bytes, tuple[bytes, Parameter]] = {}  # by its name in lower case
        for pattern in patterns:
            if not any(special in c_string(pattern) for special in (b"[", b"*", b"?")):
                row = _BY_NAME.get(pattern.lower())
                if row is not None:
                    found.setdefault(pattern.lower(), (pattern, row))
                continue
            for name, row in _BY_NAME.items():
                if row.flags & ConfigFlag.HIDDEN or name in found:
                    continue
                if stringmatch(c_string(pattern), name, nocase=True):
                    found[name] = name, row
        return {name: row.show(self.__dict__[row.attribute]) for name, row in found.values()}

    def set(self, pairs: list[tuple[bytes, bytes]], local: bool = True) -> list[str]:
        """Set parameters from their texts, all or none; the names of those that changed.

        *local* tells whether the client is on this machine, for protected parameters.
        Raises ``CommandError`` with CONFIG SET's texts. config.c: configSetCommand()
        """
        if not pairs:
            raise syntax_error()
        rows = self._rows_to_set(pairs, local)
        before = {row.attribute: self.__dict__[row.attribute] for row, _ in rows}
        changed: list[str] = []
        for row, argument in rows:
            try:
                value = row.read(argument, self.__dict__[row.attribute])
            except ArgumentError as error:
                self.__dict__.update(before)
                raise _failed(row.name.encode(), str(error)) from None
            if value != self.__dict__[row.attribute]:
                self.__dict__[row.attribute] = value
                changed.append(row.name)
        try:
            self._clamp(changed, before.get("hz", self.hz))
            self.on_change()
        except ApplyError as error:
            self.__dict__.update(before)
            self.on_change()
            name = error.name or (changed or [rows[0][0].name])[0]
            raise _failed(name.encode(), str(error)) from None
        return changed

    def _rows_to_set(
        self, pairs: list[tuple[bytes, bytes]], local: bool
    ) -> list[tuple[Parameter, bytes]]:
        rows: list[tuple[Parameter, bytes]] = []
        for name, argument in pairs:
            row = _BY_NAME.get(name.lower())
            if row is None:
                text = b"ERR Unknown option or number of arguments for CONFIG SET - '%s'"
                raise CommandError(text % c_string(name))
            if row.flags & ConfigFlag.IMMUTABLE:
                raise _failed(name, "can't set immutable config")
            if row.flags & ConfigFlag.PROTECTED and not self.allows(
                self.enable_protected_configs, local
            ):
                raise _failed(name, "can't set protected config")
            if any(row is other for other, _ in rows):
                raise _failed(name, "duplicate parameter")
            rows.append((row, argument))
        return rows

    def is_sensitive(self, name: bytes) -> bool:
        """Whether the value of this parameter is kept out of logs; False if it is unknown."""
        row = _BY_NAME.get(name.lower())
        return row is not None and ConfigFlag.SENSITIVE in row.flags

    def allows(self, setting: str, local: bool) -> bool:
        """Whether an enable-* *setting* lets a client act. server.c: allowProtectedAction()"""
        return setting == PROTECTED_ACTION_YES or (setting == "local" and local)

    def rewrite(self) -> None:
        """CONFIG REWRITE: there is no file to write to."""
        raise CommandError("ERR The server is running without a config file")


def _nothing() -> None:
    """Nobody wants to know."""


def _failed(name: bytes, why: str) -> CommandError:
    text = b"ERR CONFIG SET failed (possibly related to argument '%s') - %s"
    return CommandError(text % (name, why.encode()))
