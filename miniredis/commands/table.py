"""The command table: one row a command, declared where the command is written.

``@command`` puts a function and its row into :data:`COMMANDS`. That happens when a module
of commands is imported, which a look-up does when it needs one (``commands/index.py``);
so everybody asks the functions at the end of this module. The words of a row are
those of COMMAND INFO, and a test compares every row with a real server's. Nothing here
knows what a command does, and nothing that cuts across commands (arity, MULTI, stats)
is done here; that lives once, in ``server/server.py``.

Redis: ``struct redisCommand`` in server.h, commands.c, ``populateCommandTable``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from miniredis.commands.index import MODULES_OF

Proc = Callable[..., Any]
# Finds keys where key specs can't: (position in argv, flags of a key spec) of each.
KeyFinder = Callable[[list[bytes]], list[tuple[int, str]]]

# In the order of the ACL bits, which is the order of COMMAND INFO's reply.
# acl.c: ACLCommandCategories
ACL_CATEGORIES = (
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
)

# In the order of COMMAND INFO's reply, which hides may_replicate.
# server.h: CMD_*, server.c: addReplyFlagsForCommand
FLAGS = (
    "write",
    "readonly",
    "denyoom",
    "module",
    "admin",
    "pubsub",
    "noscript",
    "blocking",
    "loading",
    "stale",
    "skip_monitor",
    "skip_slowlog",
    "asking",
    "fast",
    "no_auth",
    "may_replicate",
    "no_mandatory_keys",
    "no_async_loading",
    "no_multi",
    "movablekeys",
    "allow_busy",
)

# Run at once between MULTI and EXEC. server.c: processCommand()
NOT_QUEUED = frozenset({"exec", "discard", "multi", "watch", "quit", "reset"})

# The category that belongs to a group as COMMAND DOCS names it.
_GROUP_CATEGORY = {
    "generic": "keyspace",
    "string": "string",
    "bitmap": "bitmap",
    "list": "list",
    "set": "set",
    "sorted-set": "sortedset",
    "hash": "hash",
    "hyperloglog": "hyperloglog",
    "geo": "geo",
    "stream": "stream",
    "pubsub": "pubsub",
    "transactions": "transaction",
    "scripting": "scripting",
    "connection": "connection",
    "server": "",
}


@dataclass(frozen=True)
class KeySpec:
    """Where keys stand in the arguments, and what is done to them.

    *flags* are words such as ``RW access update``. Exactly one way to begin (``index``,
    or ``keyword`` searched from ``startfrom``) and one way to go on (a range of
    ``lastkey``/``keystep``/``limit``, or a number of keys at ``keynumidx``).
    """

    flags: str
    index: int = 0
    keyword: str = ""
    startfrom: int = 0
    lastkey: int = 0
    keystep: int = 1
    limit: int = 0
    keynumidx: int | None = None
    firstkey: int = 0
    notes: str = ""  # a remark, in our own words
    unknown: bool = False  # begin_search and find_keys both of type "unknown"


@dataclass(eq=False, slots=True)
class Command:
    """One row of the table. ``struct redisCommand``."""

    name: str  # full lower-case name, a subcommand's as "config|get"
    proc: Proc | None
    arity: int  # exact number of arguments with the name, or minus the least number
    flags: frozenset[str]
    keys: tuple[int, int, int]  # first key, last key, step
    key_specs: tuple[KeySpec, ...]
    acl: tuple[str, ...]
    tips: tuple[str, ...]
    group: str
    since: str
    complexity: str
    summary: str
    getkeys: KeyFinder | None = None
    subcommands: dict[bytes, Command] = field(default_factory=dict)
    is_write: bool = False
    # Hidden from COMMAND INFO: server.h, CMD_TOUCHES_ARBITRARY_KEYS
    touches_arbitrary_keys: bool = False
    hidden_from_monitor: bool = False  # skip_monitor or admin
    queueable: bool = False  # between MULTI and EXEC it is queued, not run

    def arity_ok(self, argc: int) -> bool:
        """Whether *argc* arguments, the name included, are an acceptable number."""
        return argc == self.arity if self.arity > 0 else argc >= -self.arity


#: Rows declared so far, by lower-case name. Subcommands stand in their container's row.
COMMANDS: dict[bytes, Command] = {}


def command(
    name: str,
    *,
    arity: int,
    flags: str = "",
    keys: tuple[int, int, int] = (0, 0, 0),
    access: str = "",
    specs: tuple[KeySpec, ...] = (),
    acl: str | None = None,
    tips: str = "",
    group: str,
    since: str,
    complexity: str = "O(1)",
    getkeys: KeyFinder | None = None,
    touches_arbitrary_keys: bool = False,
) -> Callable[[Proc], Proc]:
    """Declare the decorated function as the command *name*.

    *keys* with *access* (words of a key spec) describe the usual single range of keys;
    anything else is spelled out as *specs*. *acl* adds to the category that follows from
    *group* when None, and replaces it otherwise. *getkeys* finds the positions of keys
    where specs cannot. The first paragraph of the docstring is the summary, after the
    line that shows the arguments.
    """

    def register(proc: Proc) -> Proc:
        words = frozenset(flags.split())
        unknown = words.difference(FLAGS)
        if unknown:
            raise ValueError(f"{name}: unknown flags {sorted(unknown)}")
        row = Command(
            name=name,
            proc=proc,
            arity=arity,
            flags=words,
            keys=keys,
            key_specs=specs or _range_spec(keys, access),
            acl=_categories(words, _GROUP_CATEGORY[group] if acl is None else acl),
            tips=tuple(tips.split()),
            group=group,
            since=since,
            complexity=complexity,
            summary=_summary(proc),
            getkeys=getkeys,
            is_write="write" in words,
            touches_arbitrary_keys=touches_arbitrary_keys,
            hidden_from_monitor=bool(words & {"skip_monitor", "admin"}),
            queueable=name not in NOT_QUEUED and "no_multi" not in words,
        )
        _insert(row)
        return proc

    return register


def container(
    name: str,
    *,
    arity: int = -2,
    flags: str = "",
    acl: str = "",
    group: str,
    since: str,
    summary: str,
) -> None:
    """Declare *name* as a command that only holds subcommands, like CONFIG."""
    words = frozenset(flags.split())
    row = Command(
        name=name,
        proc=None,
        arity=arity,
        flags=words,
        keys=(0, 0, 0),
        key_specs=(),
        acl=_categories(words, acl),
        tips=(),
        group=group,
        since=since,
        complexity="Depends on subcommand.",
        summary=summary,
    )
    _insert(row)


def _insert(row: Command) -> None:
    key = row.name.encode()
    table = COMMANDS
    if b"|" in key:
        parent, key = key.split(b"|")
        table = COMMANDS[parent].subcommands
    if key in table:
        raise ValueError(f"command {row.name!r} is declared twice")
    table[key] = row


def _range_spec(keys: tuple[int, int, int], access: str) -> tuple[KeySpec, ...]:
    first, last, step = keys
    if not first:
        return ()
    lastkey = last - first if last > 0 else last
    return (KeySpec(access, index=first, lastkey=lastkey, keystep=step),)


def _categories(flags: frozenset[str], words: str) -> tuple[str, ...]:
    """The ACL categories: those named, and those that follow from the flags.

    acl.c, commands.c: setImplicitACLCategories()
    """
    named = set(words.split())
    if "write" in flags:
        named.add("write")
    if "readonly" in flags and "scripting" not in named:
        named.add("read")
    if "admin" in flags:
        named |= {"admin", "dangerous"}
    if "pubsub" in flags:
        named.add("pubsub")
    if "blocking" in flags:
        named.add("blocking")
    named.add("fast" if "fast" in flags else "slow")
    return tuple(category for category in ACL_CATEGORIES if category in named)


def _summary(proc: Proc) -> str:
    paragraphs = (proc.__doc__ or "").strip().split("\n\n")
    text = paragraphs[1] if len(paragraphs) > 1 else paragraphs[0]
    return " ".join(text.split()).replace("*", "")


def lookup_container(name: bytes) -> Command | None:
    """The row of the command *name*, given in lower case; None if there is none."""
    row = COMMANDS.get(name)
    if row is None:
        for module in MODULES_OF.get(name, ()):
            import_module(f"miniredis.commands.{module}")
        row = COMMANDS.get(name)
    return row


def lookup(argv: list[bytes]) -> Command | None:
    """The row for *argv*, in any case; None for an unknown command or subcommand.

    server.c: lookupCommandLogic()
    """
    name = argv[0].lower()
    row = COMMANDS.get(name) or lookup_container(name)
    if row is not None and row.subcommands and len(argv) > 1:
        return row.subcommands.get(argv[1].lower())
    return row


def lookup_by_name(name: bytes) -> Command | None:
    """The row for a full name such as ``config|get``, in any case.

    server.c: lookupCommandBySds()
    """
    words = name.lower().split(b"|")
    row = lookup_container(words[0])
    if row is None or len(words) == 1:
        return row
    return row.subcommands.get(words[1]) if len(words) == 2 else None


def top_level_commands() -> list[Command]:
    """All rows without subcommands, in the order of the index. Imports every module."""
    rows = [lookup_container(name) for name in MODULES_OF]
    return [row for row in rows if row is not None]


def every_command() -> list[Command]:
    """All rows, each container followed by its subcommands. Imports every module."""
    return _with_subcommands(top_level_commands())


def commands_in_use() -> list[Command]:
    """The rows declared so far, in the order of :func:`every_command`."""
    return _with_subcommands([COMMANDS[name] for name in MODULES_OF if name in COMMANDS])


def _with_subcommands(containers: list[Command]) -> list[Command]:
    rows: list[Command] = []
    for row in containers:
        rows.append(row)
        rows.extend(row.subcommands.values())
    return rows
