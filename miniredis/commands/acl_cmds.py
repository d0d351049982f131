"""ACL: users and what they may do.

Files of users are not read or written: ACL LOAD and SAVE answer as a server without one.

Redis: ``aclCommand()`` in acl.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.subcommands import one_line, subcommand_syntax_error
from miniredis.commands.table import (
    ACL_CATEGORIES,
    command,
    container,
    every_command,
    lookup,
)
from miniredis.errors import CommandError, wrong_arity
from miniredis.reply import OK, Reply, SetReply

if TYPE_CHECKING:
    from miniredis.server.client import Client

_ADMIN = "admin noscript loading stale"
_ANYBODY = "noscript loading stale"
_USERS = "O(N) in the number of users"
GENPASS_BITS, GENPASS_MAX_BITS = 256, 4096
BITS_PER_CHARACTER = 4  # of a hexadecimal number
LOG_ENTRIES = 10  # shown unless told otherwise
SHOWN_BYTES = 128  # of a category that does not exist
NO_FILE = (
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify "
    "users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a "
    "Redis configuration file set) in order to store users in the Redis configuration."
)

container("acl", group="server", since="6.0.0", summary="Commands about access control.")


def _error(text: bytes) -> CommandError:
    return CommandError(one_line(text))


@command(
    "acl|setuser",
    arity=-3,
    flags=_ADMIN,
    group="server",
    since="6.0.0",
    complexity="O(N) in the number of rules",
)
def acl_setuser(c: Client, _: bytes, name: bytes, *rules: bytes) -> Reply:
    """ACL SETUSER username [rule [rule ...]]

    Makes a user, or changes what it may do.

    acl.c: aclCommand()
    """
    for position in range(2, len(c.argv)):
        c.redact(position)
    if any(byte in b" \t\n\v\f\r\0" for byte in name):
        raise CommandError("ERR Usernames can't contain spaces or null characters")
    c.server.acl.set_user(name, list(rules))
    return OK


@command("acl|deluser", arity=-3, flags=_ADMIN, group="server", since="6.0.0")
def acl_deluser(c: Client, _: bytes, *names: bytes) -> Reply:
    """ACL DELUSER username [username ...]

    Deletes users and closes their connections; how many there were.

    acl.c: aclCommand()
    """
    if any(c_string(name) == b"default" for name in names):
        raise CommandError("ERR The 'default' user cannot be removed")
    return sum(c.server.acl.delete_user(name) for name in names)


@command(
    "acl|getuser",
    arity=3,
    flags=_ADMIN,
    group="server",
    since="6.0.0",
    complexity="O(N) in the passwords, commands and patterns of the user",
)
def acl_getuser(c: Client, _: bytes, name: bytes) -> Reply:
    """ACL GETUSER username

    The rules of a user.

    acl.c: aclCommand()
    """
    user = c.server.acl.users.get(name)
    if user is None:
        return None
    return {
        b"flags": SetReply(user.flag_names()),
        b"passwords": list(user.passwords),
        **c.server.acl.describe_selector(user.root),
        b"selectors": [c.server.acl.describe_selector(s) for s in user.selectors[1:]],
    }


@command("acl|list", arity=2, flags=_ADMIN, group="server", since="6.0.0", complexity=_USERS)
def acl_list(c: Client, _: bytes) -> Reply:
    """ACL LIST

    The rules of all users, as a configuration file has them.

    acl.c: aclCommand()
    """
    users = c.server.acl.users
    return [b"user %s %s" % (name, users[name].describe()) for name in sorted(users)]


@command("acl|users", arity=2, flags=_ADMIN, group="server", since="6.0.0", complexity=_USERS)
def acl_users(c: Client, _: bytes) -> Reply:
    """ACL USERS

    The names of all users.

    acl.c: aclCommand()
    """
    return sorted(c.server.acl.users)


@command("acl|whoami", arity=2, flags=_ANYBODY, group="server", since="6.0.0")
def acl_whoami(c: Client, _: bytes) -> Reply:
    """ACL WHOAMI

    The user of this connection.

    acl.c: aclCommand()
    """
    return c.user


@command("acl|cat", arity=-2, flags=_ANYBODY, group="server", since="6.0.0")
def acl_cat(c: Client, _: bytes, *category: bytes) -> Reply:
    """ACL CAT [categoryname]

    The categories of commands, or the commands of one.

    acl.c: aclCommand()
    """
    if not category:
        return [name.encode() for name in ACL_CATEGORIES]
    if len(category) > 1:
        raise subcommand_syntax_error(c.argv)
    name = word(category[0]).decode("latin-1")
    if name not in ACL_CATEGORIES:
        raise _error(b"ERR Unknown category '%s'" % c_string(category[0])[:SHOWN_BYTES])
    return [row.name.encode() for row in every_command() if name in row.acl]


@command("acl|genpass", arity=-2, flags=_ANYBODY, group="server", since="6.0.0")
def acl_genpass(c: Client, _: bytes, *bits: bytes) -> Reply:
    """ACL GENPASS [bits]

    A random password in hexadecimal, of 256 bits unless told otherwise.

    acl.c: aclCommand()
    """
    if len(bits) > 1:
        raise subcommand_syntax_error(c.argv)
    wanted = get_long_long(bits[0]) if bits else GENPASS_BITS
    if not 0 < wanted <= GENPASS_MAX_BITS:
        raise CommandError(
            "ERR ACL GENPASS argument must be the number of bits for the output password, a "
            f"positive number up to {GENPASS_MAX_BITS}"
        )
    characters = -(-wanted // BITS_PER_CHARACTER)
    number = c.server.rng.getrandbits(characters * BITS_PER_CHARACTER)
    return b"%0*x" % (characters, number)


@command(
    "acl|log",
    arity=-2,
    flags=_ADMIN,
    group="server",
    since="6.0.0",
    complexity="O(N) in the number of entries",
)
def acl_log(c: Client, _: bytes, *args: bytes) -> Reply:
    """ACL LOG [count | RESET]

    What was refused lately, and wrong passwords; or forgets it.

    acl.c: aclCommand()
    """
    if len(args) > 1:
        raise subcommand_syntax_error(c.argv)
    log = c.server.acl.log
    if args and word(args[0]) == b"reset":
        log.clear()
        return OK
    count = max(get_long_long(args[0]), 0) if args else LOG_ENTRIES
    now = c.server.now_ms()
    return [
        {
            b"count": entry.count,
            b"reason": entry.reason.encode(),
            b"context": entry.context.encode(),
            b"object": entry.object,
            b"username": entry.username,
            b"age-seconds": (now - entry.ctime) / 1000,
            b"client-info": entry.client,
        }
        for entry in list(log)[:count]
    ]


@command("acl|dryrun", arity=-4, flags=_ADMIN, group="server", since="7.0.0")
def acl_dryrun(c: Client, _: bytes, name: bytes, *argv: bytes) -> Reply:
    """ACL DRYRUN username command [arg [arg ...]]

    Whether a user might run a command.

    acl.c: aclCommand()
    """
    acl = c.server.acl
    if name not in acl.users:
        raise _error(b"ERR User '%s' not found" % c_string(name))
    words = list(argv)
    cmd = lookup(words)
    if cmd is None:
        raise _error(b"ERR Command '%s' not found" % c_string(words[0]))
    if not cmd.arity_ok(len(words)):
        raise wrong_arity(cmd.name)
    refused = acl.dry_run(name, cmd, words)
    return OK if refused is None else refused


def _no_file(c: Client) -> CommandError:
    if c.server.config.aclfile:
        return CommandError("ERR files of users are not simulated")
    return CommandError(NO_FILE)


@command("acl|load", arity=2, flags=_ADMIN, group="server", since="6.0.0", complexity=_USERS)
def acl_load(c: Client, _: bytes) -> Reply:
    """ACL LOAD

    Reads the file of users, of which there is none.

    acl.c: aclCommand()
    """
    raise _no_file(c)


@command("acl|save", arity=2, flags=_ADMIN, group="server", since="6.0.0", complexity=_USERS)
def acl_save(c: Client, _: bytes) -> Reply:
    """ACL SAVE

    Writes the file of users, of which there is none.

    acl.c: aclCommand()
    """
    raise _no_file(c)


@command("acl|help", arity=2, flags="loading stale", group="server", since="6.0.0")
def acl_help(c: Client, _: bytes) -> Reply:
    """ACL HELP

    What ACL can do.

    acl.c: aclCommand()
    """
    return c.help(
        ("CAT [<category>]", "The categories, or the commands of one."),
        ("DELUSER <username> [<username> ...]", "Delete users."),
        ("DRYRUN <username> <command> [<arg> ...]", "Whether a user might run a command."),
        ("GETUSER <username>", "The rules of a user."),
        ("GENPASS [<bits>]", "A random password."),
        ("LIST", "The rules of all users."),
        ("LOAD", "Read the file of users."),
        ("LOG [<count> | RESET]", "What was refused."),
        ("SAVE", "Write the file of users."),
        ("SETUSER <username> <attribute> [<attribute> ...]", "Make or change a user."),
        ("USERS", "The names of all users."),
        ("WHOAMI", "The user of this connection."),
    )
