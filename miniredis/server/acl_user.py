"""A user of the ACL: its passwords, and its selectors, which say what it may do.

A user has one *root* selector and may have more, written ``(+get ~k*)``. A command may run if
any one of them allows the command, all its keys and all its channels.

A selector keeps the set of allowed commands, subcommands each by itself (``config|get``).
``+@all`` also allows commands that are yet to come, which is remembered, because it
decides how the rules are written down: as ``+@all`` less something, or ``-@all`` plus something.

Worked example: ``+@read -get`` gives the set of all reading commands but GET. It is described
as ``-@all +@read -get``: the category that fits best first, then what differs one by one.

Redis: ``ACLSetUser()``, ``ACLSetSelector()``, ``ACLDescribeUser()`` in acl.c.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from miniredis.commands.args import c_string, word
from miniredis.commands.table import (
    ACL_CATEGORIES,
    Command,
    every_command,
    lookup_by_name,
)
from miniredis.errors import CommandError
from miniredis.structs.words import split_args

READ, WRITE = 1, 2  # what may be done to keys: ACL_READ_PERMISSION, ACL_WRITE_PERMISSION
READ_WRITE = READ | WRITE
_PREFIX = {READ_WRITE: b"~", READ: b"%R~", WRITE: b"%W~"}
# In the order in which they are shown. acl.c: ACLUserFlags
USER_FLAGS = (b"on", b"off", b"nopass", b"skip-sanitize-payload", b"sanitize-payload")
_EXCLUDES = {b"on": b"off", b"skip-sanitize-payload": b"sanitize-payload"}
_EXCLUDES |= {other: flag for flag, other in _EXCLUDES.items()}
_HASH = re.compile(rb"[0-9a-f]{64}")
_SPACE_OR_NUL = re.compile(rb"[\s\0]")

SYNTAX = "Syntax error"
UNKNOWN = "Unknown command or category name in ACL"
ALL_KEYS_ALREADY = (
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not "
    "have any effect. Try 'resetkeys' to start with an empty list of patterns"
)
ALL_CHANNELS_ALREADY = (
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does "
    "not have any effect. Try 'resetchannels' to start with an empty list of channels"
)
NO_SUCH_PASSWORD = "The password you are trying to remove from the user does not exist"
BAD_HASH = (
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
    "characters"
)
FIRST_ARG_OF_SUBCOMMAND = "Allowing first-arg of a subcommand is not supported"


class RuleError(ValueError):
    """A rule that is not understood, and why. acl.c: ACLSetUserStringError()"""


def has_spaces(name: bytes) -> bool:
    """Whether a name or pattern has what it must not. acl.c: ACLStringHasSpaces()"""
    return _SPACE_OR_NUL.search(name) is not None


def hash_password(password: bytes) -> bytes:
    """SHA-256 in hexadecimal. acl.c: ACLHashPassword()"""
    return hashlib.sha256(password).hexdigest().encode()


def commands_of_category(name: str) -> list[str]:
    """Full names of a category's commands, subcommands included."""
    return [row.name for row in every_command() if name in row.acl]


@dataclass(slots=True)
class AclSelector:
    """What may be done by way of one selector. acl.c: aclSelector

    ``keys`` maps patterns to READ | WRITE. ``first_args`` are arguments that allow a
    command otherwise forbidden (``+select|0``).
    """

    all_keys: bool = False
    all_channels: bool = False
    all_commands: bool = False
    future_commands: bool = False
    commands: set[str] | None = field(default_factory=set)  # None: all
    first_args: dict[str, list[bytes]] = field(default_factory=dict)
    keys: dict[bytes, int] = field(default_factory=dict)
    channels: dict[bytes, None] = field(default_factory=dict)

    def obey(self, rule: bytes) -> None:
        """Obey a rule. RuleError if it makes no sense. acl.c: ACLSetSelector()"""
        name = word(rule)
        if name in (b"allkeys", b"~*"):
            self.all_keys, self.keys = True, {}
        elif name == b"resetkeys":
            self.all_keys, self.keys = False, {}
        elif name in (b"allchannels", b"&*"):
            self.all_channels, self.channels = True, {}
        elif name == b"resetchannels":
            self.all_channels, self.channels = False, {}
        elif name in (b"allcommands", b"+@all"):
            self.commands = None
            self.all_commands = self.future_commands = True
            self.first_args = {}
        elif name in (b"nocommands", b"-@all"):
            self.commands = set()
            self.all_commands = self.future_commands = False
            self.first_args = {}
        elif name[:1] in (b"~", b"%"):
            self._add_keys(rule)
        elif name[:1] == b"&":
            self._add_channels(rule)
        elif name[:2] in (b"+@", b"-@"):
            self._set_category(name[2:].decode("latin-1"), name[:1] == b"+")
        elif name[:1] == b"+":
            self._allow(c_string(rule)[1:])
        elif name[:1] == b"-":
            self._change(_lookup(name[1:]), False)
        else:
            raise RuleError(SYNTAX)

    def _add_keys(self, rule: bytes) -> None:
        if self.all_keys:
            raise RuleError(ALL_KEYS_ALREADY)
        flags, pattern = READ_WRITE, rule[1:]
        if rule[:1] == b"%":
            # %R without a pattern means the empty one.
            match = re.fullmatch(rb"%([RWrw]{1,2})(?:~(.*))?", rule, re.DOTALL)
            letters = match[1].upper() if match else b""
            if match is None or len(set(letters)) != len(letters):
                raise RuleError(SYNTAX)
            flags = READ * (b"R" in letters) | WRITE * (b"W" in letters)
            pattern = match[2] or b""
        if has_spaces(pattern):
            raise RuleError(SYNTAX)
        self.keys[pattern] = self.keys.get(pattern, 0) | flags

    def _add_channels(self, rule: bytes) -> None:
        if self.all_channels:
            raise RuleError(ALL_CHANNELS_ALREADY)
        if has_spaces(rule[1:]):
            raise RuleError(SYNTAX)
        self.channels[rule[1:]] = None

    def _set_category(self, name: str, allow: bool) -> None:
        if name not in ACL_CATEGORIES:
            raise RuleError(UNKNOWN)
        for row in every_command():
            if name in row.acl:
                self._change(row, allow)

    def _allow(self, name: bytes) -> None:
        parent, bar, argument = name.rpartition(b"|")
        if not bar:
            self._change(_lookup(name), True)
            return
        row = _lookup(parent)
        if "|" in row.name:
            raise RuleError(FIRST_ARG_OF_SUBCOMMAND)
        if not argument:
            raise RuleError(SYNTAX)
        if row.subcommands:
            self._change(_lookup(name), True)
            return
        allowed = self.first_args.setdefault(row.name, [])
        if argument.lower() not in [other.lower() for other in allowed]:
            allowed.append(argument)

    def _change(self, row: Command, allow: bool) -> None:
        """Allow or forbid a command with its subcommands. acl.c: ACLChangeSelectorPerm()"""
        names = [row.name, *(sub.name for sub in row.subcommands.values())]
        allowed = self.command_names()
        if allow:
            allowed.update(names)
        else:
            allowed.difference_update(names)
            self.all_commands = False
        self.first_args.pop(row.name, None)

    def command_names(self) -> set[str]:
        """The allowed commands by name. O(commands) if that has not been asked before."""
        if self.commands is None:
            self.commands = {row.name for row in every_command()}
        return self.commands

    # -- describing -------------------------------------------------------------------

    def describe(self) -> bytes:
        """The rules that make this selector. acl.c: ACLDescribeSelector()"""
        channels = [b"resetchannels", *(b"&" + pattern for pattern in self.channels)]
        words = [
            *([b"~*"] if self.all_keys else self.key_rules()),
            *([b"&*"] if self.all_channels else channels),
            self.describe_commands(),
        ]
        return b" ".join(words)

    def key_rules(self) -> list[bytes]:
        """A rule for each key pattern. acl.c: sdsCatPatternString()"""
        return [_PREFIX[flags] + pattern for pattern, flags in self.keys.items()]

    def describe_commands(self) -> bytes:
        """The rules for commands: all or none, categories that fit, then single commands.

        acl.c: ACLDescribeSelectorCommandRules()
        """
        additive = not self.future_commands
        made = AclSelector()
        made.obey(b"-@all" if additive else b"+@all")
        rules = [b"-@all" if additive else b"+@all"]
        sign = "+" if additive else "-"
        for category in self._fitting_categories(additive):
            rule = f"{sign}@{category}".encode()
            made.obey(rule)
            rules.append(rule)
        names = self.command_names()
        for row in every_command():
            allowed = row.name in names
            if allowed is not (row.name in made.command_names()):
                made._change(row, allowed)
                rules.append((b"+" if allowed else b"-") + row.name.encode())
            if not allowed:
                for argument in self.first_args.get(row.name, ()):
                    rules.append(b"+%s|%s" % (row.name.encode(), argument))
        return b" ".join(rules)

    def _fitting_categories(self, additive: bool) -> Iterator[str]:
        """Categories of which more is to be changed than not, the best first."""
        left = AclSelector(commands=set(self.command_names()))
        untried = list(ACL_CATEGORIES)
        while True:
            best, least, most = "", 1 << 31, 0
            for category in untried:
                names = commands_of_category(category)
                on = sum(name in left.command_names() for name in names)
                off = len(names) - on
                differ, same = (off, on) if additive else (on, off)
                if same > differ and (differ < least or (differ == least and same > most)):
                    best, least, most = category, differ, same
            if not best:
                return
            left._set_category(best, not additive)
            untried.remove(best)
            yield best


def _lookup(name: bytes) -> Command:
    """acl.c: ACLLookupCommand()"""
    row = lookup_by_name(name)
    if row is None:
        raise RuleError(UNKNOWN)
    return row


@dataclass(slots=True)
class User:
    """server.h: user. ``flags`` are those of USER_FLAGS that are set; ``passwords`` hashes."""

    name: bytes
    flags: set[bytes] = field(default_factory=lambda: {b"off"})
    passwords: list[bytes] = field(default_factory=list)
    selectors: list[AclSelector] = field(default_factory=lambda: [AclSelector()])

    @property
    def root(self) -> AclSelector:
        """The selector of the rules outside of parentheses."""
        return self.selectors[0]

    def may_do_anything(self) -> bool:
        """Whether no command needs to be looked at."""
        root = self.root
        return root.all_commands and root.all_keys and root.all_channels

    def copy_from(self, other: User) -> None:
        """Get the rules of *other*. acl.c: ACLCopyUser()"""
        self.flags = set(other.flags)
        self.passwords = list(other.passwords)
        self.selectors = copy.deepcopy(other.selectors)

    def obey(self, rule: bytes, all_channels: bool) -> None:
        """Obey a rule; *all_channels* is what ``reset`` allows. acl.c: ACLSetUser()

        RuleError if it makes no sense.
        """
        name = word(rule)
        if not rule:
            return
        if name in _EXCLUDES:
            self.flags -= {_EXCLUDES[name]}
            self.flags |= {name}
        elif name == b"nopass":
            self.flags |= {name}
            self.passwords = []
        elif name == b"resetpass":
            self.flags -= {b"nopass"}
            self.passwords = []
        elif name[:1] in (b">", b"#", b"<", b"!"):
            self._set_password(rule)
        elif name[:1] == b"(" and rule[-1:] == b")":
            selector = AclSelector(all_channels=all_channels)
            for inner in split_args(rule[1:-1]) or ():
                selector.obey(inner)
            self.selectors.append(selector)
        elif name == b"clearselectors":
            del self.selectors[1:]
        elif name == b"reset":
            self.__init__(self.name)  # type: ignore[misc]
            self.flags.add(b"sanitize-payload")
            self.root.all_channels = all_channels
        else:
            self.root.obey(rule)

    def _set_password(self, rule: bytes) -> None:
        if rule[:1] in (b">", b"<"):
            hashed = hash_password(rule[1:])
        else:
            hashed = rule[1:]
            if not _HASH.fullmatch(hashed):
                raise RuleError(BAD_HASH)
        if rule[:1] in (b">", b"#"):
            if hashed not in self.passwords:
                self.passwords.append(hashed)
            self.flags -= {b"nopass"}
        elif hashed in self.passwords:
            self.passwords.remove(hashed)
        else:
            raise RuleError(NO_SUCH_PASSWORD)

    def flag_names(self) -> list[bytes]:
        """The flags in their order."""
        return [flag for flag in USER_FLAGS if flag in self.flags]

    def describe(self) -> bytes:
        """The rules that make this user. acl.c: ACLDescribeUser()"""
        words = [*self.flag_names(), *(b"#" + hashed for hashed in self.passwords)]
        words.append(self.root.describe())
        words += [b"(%s)" % selector.describe() for selector in self.selectors[1:]]
        return b" ".join(words)


def merge_selector_arguments(rules: list[bytes]) -> list[bytes]:
    """*rules* with those in parentheses joined: ``(+get`` and ``~k)`` are one.

    CommandError for a parenthesis that is not closed. acl.c: ACLMergeSelectorArguments()
    """
    merged: list[bytes] = []
    start = -1
    for i, rule in enumerate(rules):
        if rule[:1] == b"(" and rule[-1:] != b")":
            merged.append(rule)
            start = i
        elif start >= 0:
            merged[-1] += b" " + c_string(rule)
            if rule[-1:] == b")":
                start = -1
        else:
            merged.append(rule)
    if start >= 0:
        raise CommandError(
            b"ERR Unmatched parenthesis in acl selector starting at '%s'." % c_string(rules[start])
        )
    return merged
