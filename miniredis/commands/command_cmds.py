"""COMMAND: what the server tells about its own commands.

Only commands of this server's table are known. COMMAND DOCS tells summary, age, group,
complexity and what is deprecated; arguments and history of changes are left out.

Redis: server.c from ``addReplyCommandFlags()`` to ``commandHelpCommand()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from miniredis.commands.args import word
from miniredis.commands.index import MODULES_OF
from miniredis.commands.key_specs import (
    KEY_FLAGS,
    KeyReference,
    does_command_have_keys,
    get_keys_from_command_with_specs,
)
from miniredis.commands.table import (
    FLAGS,
    Command,
    KeySpec,
    command,
    every_command,
    lookup,
    lookup_by_name,
    top_level_commands,
)
from miniredis.errors import CommandError, syntax_error
from miniredis.reply import Reply, SetReply, Status
from miniredis.structs.glob import matcher

if TYPE_CHECKING:
    from miniredis.server.client import Client

# Left to the server, not to be sent by an application. commands.h: CMD_DOC_SYSCMD
SYSCMD = frozenset({"debug", "pfdebug", "pfselftest", "replconf", "restore-asking"})
# Superseded commands, and the version since when. commands.h: CMD_DOC_DEPRECATED
DEPRECATED = {
    "brpoplpush": "6.2.0",
    "cluster|slaves": "5.0.0",
    "cluster|slots": "7.0.0",
    "georadius": "6.2.0",
    "georadius_ro": "6.2.0",
    "georadiusbymember": "6.2.0",
    "georadiusbymember_ro": "6.2.0",
    "getset": "6.2.0",
    "hmset": "4.0.0",
    "rpoplpush": "6.2.0",
    "slaveof": "5.0.0",
    "substr": "2.0.0",
    "zrangebylex": "6.2.0",
    "zrangebyscore": "6.2.0",
    "zrevrange": "6.2.0",
    "zrevrangebylex": "6.2.0",
    "zrevrangebyscore": "6.2.0",
}
HIDDEN_FLAGS = frozenset({"may_replicate"})


# -- rows as replies --------------------------------------------------------------------


def _flags(words: Iterable[str], order: Iterable[str]) -> SetReply:
    """server.c: addReplyCommandFlags()"""
    present = set(words)
    return SetReply([Status(word.encode()) for word in order if word in present])


def command_info(cmd: Command) -> Reply:
    """The ten fields of COMMAND INFO. server.c: addReplyCommandInfo()"""
    subcommands: Reply = [command_info(sub) for sub in cmd.subcommands.values()]
    return [
        cmd.name.encode(),
        cmd.arity,
        _flags(cmd.flags - HIDDEN_FLAGS, FLAGS),
        *cmd.keys,
        SetReply([Status(b"@" + category.encode()) for category in cmd.acl]),
        SetReply([tip.encode() for tip in cmd.tips]),
        SetReply([_key_spec(spec) for spec in cmd.key_specs]),
        subcommands or SetReply([]),
    ]


def _key_spec(spec: KeySpec) -> Reply:
    """server.c: addReplyCommandKeySpecs()"""
    begin: dict[bytes, Reply]
    find: dict[bytes, Reply]
    if spec.unknown:
        begin = find = {}
        begin_type = find_type = b"unknown"
    else:
        begin_type, begin = b"index", {b"index": spec.index}
        if spec.keyword:
            begin_type = b"keyword"
            begin = {b"keyword": spec.keyword.encode(), b"startfrom": spec.startfrom}
        find_type = b"range"
        find = {b"lastkey": spec.lastkey, b"keystep": spec.keystep, b"limit": spec.limit}
        if spec.keynumidx is not None:
            find_type = b"keynum"
            find = {
                b"keynumidx": spec.keynumidx,
                b"firstkey": spec.firstkey,
                b"keystep": spec.keystep,
            }
    notes: dict[bytes, Reply] = {b"notes": spec.notes.encode()} if spec.notes else {}
    return notes | {
        b"flags": _flags(spec.flags.split(), KEY_FLAGS),
        b"begin_search": {b"type": begin_type, b"spec": begin},
        b"find_keys": {b"type": find_type, b"spec": find},
    }


def command_docs(cmd: Command) -> dict[bytes, Reply]:
    """The documentation of a command. server.c: addReplyCommandDocs()"""
    docs: dict[bytes, Reply] = {
        b"summary": cmd.summary.encode(),
        b"since": cmd.since.encode(),
        b"group": cmd.group.encode(),
    }
    if cmd.complexity:
        docs[b"complexity"] = cmd.complexity.encode()
    if cmd.name in SYSCMD:
        docs[b"doc_flags"] = SetReply([Status(b"syscmd")])
    if cmd.name in DEPRECATED:
        docs[b"doc_flags"] = SetReply([Status(b"deprecated")])
        docs[b"deprecated_since"] = DEPRECATED[cmd.name].encode()
    if cmd.subcommands:
        subcommands = cmd.subcommands.values()
        docs[b"subcommands"] = {sub.name.encode(): command_docs(sub) for sub in subcommands}
    return docs


# -- commands -----------------------------------------------------------------------------


@command(
    "command",
    arity=-1,
    flags="loading stale",
    acl="connection",
    tips="nondeterministic_output_order",
    group="server",
    since="2.8.13",
    complexity="O(N) in the number of commands of the server",
)
def command_(c: Client) -> Reply:
    """COMMAND

    Tells about all commands: arity, flags, keys, ACL categories.

    server.c: commandCommand()
    """
    return [command_info(cmd) for cmd in top_level_commands()]


@command(
    "command|count",
    arity=2,
    flags="loading stale",
    acl="connection",
    group="server",
    since="2.8.13",
)
def command_count(c: Client, _: bytes) -> Reply:
    """COMMAND COUNT

    Tells how many commands the server has, subcommands not counted.

    server.c: commandCountCommand()
    """
    return len(MODULES_OF)


@command(
    "command|info",
    arity=-2,
    flags="loading stale",
    acl="connection",
    tips="nondeterministic_output_order",
    group="server",
    since="2.8.13",
    complexity="O(N) in the number of commands asked for",
)
def command_info_command(c: Client, _: bytes, *names: bytes) -> Reply:
    """COMMAND INFO [command-name [command-name ...]]

    Tells about some commands, or about all; null for an unknown name.

    server.c: commandInfoCommand()
    """
    if not names:
        return command_(c)
    rows = map(lookup_by_name, names)
    return [None if cmd is None else command_info(cmd) for cmd in rows]


@command(
    "command|docs",
    arity=-2,
    flags="loading stale",
    acl="connection",
    tips="nondeterministic_output_order",
    group="server",
    since="7.0.0",
    complexity="O(N) in the number of commands asked for",
)
def command_docs_command(c: Client, _: bytes, *names: bytes) -> Reply:
    """COMMAND DOCS [command-name [command-name ...]]

    Documents some commands, or all; unknown names are left out.

    server.c: commandDocsCommand()
    """
    rows = map(lookup_by_name, names) if names else top_level_commands()
    return {cmd.name.encode(): command_docs(cmd) for cmd in rows if cmd is not None}


@command(
    "command|list",
    arity=-2,
    flags="loading stale",
    acl="connection",
    tips="nondeterministic_output_order",
    group="server",
    since="7.0.0",
    complexity="O(N) in the number of commands of the server",
)
def command_list(c: Client, _: bytes, *args: bytes) -> Reply:
    """COMMAND LIST [FILTERBY MODULE module-name | ACLCAT category | PATTERN pattern]

    Names the commands and subcommands, all of them or those that pass a filter.

    server.c: commandListCommand()
    """
    wanted: Callable[[Command], bool] = lambda cmd: True  # noqa: E731
    if args:
        if len(args) != 3 or word(args[0]) != b"filterby":
            raise syntax_error()
        wanted = _list_filter(word(args[1]), args[2])
    return [cmd.name.encode() for cmd in every_command() if wanted(cmd)]


def _list_filter(type: bytes, arg: bytes) -> Callable[[Command], bool]:
    """server.c: shouldFilterFromCommandList()"""
    if type == b"module":
        return lambda cmd: False  # there are no modules, so no module has commands
    if type == b"aclcat":
        category = word(arg).decode("latin-1")
        return lambda cmd: category in cmd.acl
    if type == b"pattern":
        matches = matcher(arg, nocase=True)
        return lambda cmd: matches(cmd.name.encode())
    raise syntax_error()


@command(
    "command|getkeys",
    arity=-4,
    flags="loading stale",
    acl="connection",
    group="server",
    since="2.8.13",
    complexity="O(N) in the number of arguments of the command",
)
def command_getkeys(c: Client, _: bytes, *argv: bytes) -> Reply:
    """COMMAND GETKEYS command [arg ...]

    Finds the keys among the arguments of a command.

    server.c: getKeysSubcommandImpl()
    """
    return [argv[position] for position, _flags in _find_keys(argv)]


@command(
    "command|getkeysandflags",
    arity=-4,
    flags="loading stale",
    acl="connection",
    group="server",
    since="7.0.0",
    complexity="O(N) in the number of arguments of the command",
)
def command_getkeysandflags(c: Client, _: bytes, *argv: bytes) -> Reply:
    """COMMAND GETKEYSANDFLAGS command [arg ...]

    Finds the keys among the arguments of a command, and what it does to each.

    server.c: commandGetKeysAndFlagsCommand()
    """
    found = _find_keys(argv)
    return [[argv[position], _flags(flags.split(), KEY_FLAGS)] for position, flags in found]


def _find_keys(args: tuple[bytes, ...]) -> list[KeyReference]:
    argv = list(args)
    cmd = lookup(argv)
    if cmd is None:
        raise CommandError("ERR Invalid command specified")
    if not does_command_have_keys(cmd):
        raise CommandError("ERR The command has no key arguments")
    if not cmd.arity_ok(len(argv)):
        raise CommandError("ERR Invalid number of arguments specified for command")
    found = get_keys_from_command_with_specs(cmd, argv)
    if not found and "no_mandatory_keys" not in cmd.flags:
        raise CommandError("ERR Invalid arguments specified for command")
    return found


@command(
    "command|help",
    arity=2,
    flags="loading stale",
    acl="connection",
    group="server",
    since="5.0.0",
)
def command_help(c: Client, _: bytes) -> Reply:
    """COMMAND HELP

    Shows the subcommands.

    server.c: commandHelpCommand()
    """
    return c.help(
        ("(no subcommand)", "Tell about all commands."),
        ("COUNT", "How many commands there are."),
        ("LIST", "The names of all commands."),
        ("INFO [<command-name> ...]", "Tell about some commands, by default all."),
        ("DOCS [<command-name> ...]", "Document some commands, by default all."),
        ("GETKEYS <full-command>", "The keys among the arguments of a command."),
        ("GETKEYSANDFLAGS <full-command>", "Those keys, with what is done to each."),
    )
