"""The access control list: who may run which command on which keys and channels.

While every user may do anything, which is how a server begins, ``Acl.active`` is false and
no command is looked at. Else each passes :meth:`Acl.check` before it runs: as a client sends
it, once more in EXEC (rules may have changed), and for each command of a script. What is
refused, and each wrong password, is noted in a log that ACL LOG shows.

Clients know their user by name. A user that is deleted takes its connections along.

Redis: acl.c.
"""

from __future__ import annotations

import hmac
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string
from miniredis.commands.client_flags import (
    CLIENT_CLOSE_AFTER_REPLY,
    CLIENT_MASTER,
    CLIENT_MULTI,
    CLIENT_UNAUTHENTICATED,
)
from miniredis.commands.client_info import client_info, client_type
from miniredis.commands.key_specs import (
    does_command_have_keys,
    get_keys_from_command_with_specs,
)
from miniredis.commands.table import Command
from miniredis.errors import CommandError
from miniredis.reply import Reply
from miniredis.server.acl_user import (
    READ,
    WRITE,
    AclSelector,
    RuleError,
    User,
    hash_password,
    merge_selector_arguments,
)
from miniredis.structs.glob import stringmatch

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

DEFAULT = b"default"
LOG_GROUPING_MAX_TIME_DELTA = 60_000  # ms within which like entries become one
LOG_SCANNED = 10  # entries that are looked at for a like one
_PERMISSIONS = {"access": READ, "insert": WRITE, "delete": WRITE, "update": WRITE}
# Commands with channels, and whether these are patterns. db.c: commands_with_channels
_CHANNELS = {
    "subscribe": False,
    "ssubscribe": False,
    "psubscribe": True,
    "publish": False,
    "spublish": False,
}
_ONE_CHANNEL = frozenset({"publish", "spublish"})


class Denied(IntEnum):
    """Why a command is refused; the higher, the nearer it was to be allowed.

    acl.h: ACL_DENIED_CMD, ACL_DENIED_KEY, ACL_DENIED_CHANNEL, ACL_DENIED_AUTH
    """

    COMMAND = 1
    KEY = 2
    AUTH = 3
    CHANNEL = 4


#: A refusal, and the position of the key or channel that caused it.
Refusal = tuple[Denied, int]


@dataclass(slots=True)
class AclLogEntry:
    """acl.c: ACLLogEntry. ``ctime`` is in ms."""

    reason: str
    context: str
    object: bytes
    username: bytes
    ctime: int
    client: bytes
    count: int = 1

    def is_like(self, other: AclLogEntry) -> bool:
        """Whether both are one thing that happened again. acl.c: ACLLogMatchEntry()"""
        return (self.reason, self.context, self.object, self.username) == (
            other.reason,
            other.context,
            other.object,
            other.username,
        ) and abs(self.ctime - other.ctime) <= LOG_GROUPING_MAX_TIME_DELTA


class Acl:
    """The users of one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.active = False  # commands have to be checked
        self.log: deque[AclLogEntry] = deque()  # the youngest first
        self.default = User(DEFAULT)
        for rule in (b"+@all", b"~*", b"&*", b"on", b"nopass"):
            self.default.obey(rule, False)
        self.users: dict[bytes, User] = {DEFAULT: self.default}
        self._requirepass = b""

    def default_needs_password(self) -> bool:
        """Whether a new connection must show a password. networking.c: authRequired()"""
        flags = self.default.flags
        return b"nopass" not in flags or b"off" in flags

    def configure(self, requirepass: bytes) -> None:
        """``requirepass`` may have been set. acl.c: ACLUpdateDefaultUserPassword()"""
        if requirepass != self._requirepass:
            self._requirepass = requirepass
            self.default.obey(b"resetpass", False)
            self.default.obey(b">" + requirepass if requirepass else b"nopass", False)
            self.update()

    def update(self) -> None:
        """Users have changed: note whether commands have to be checked."""
        self.active = self.default_needs_password() or not all(
            user.may_do_anything() for user in self.users.values()
        )
        self.server.update_gates()

    # -- users ------------------------------------------------------------------------

    def set_user(self, name: bytes, rules: list[bytes]) -> None:
        """Make or change a user: all *rules*, or none if one is wrong. ACLStringSetUser()"""
        all_channels = self.server.config.acl_pubsub_default == "allchannels"
        old = self.users.get(name)
        new = User(name)
        new.root.all_channels = all_channels
        if old is not None:
            new.copy_from(old)
        for rule in merge_selector_arguments(rules):
            try:
                new.obey(rule, all_channels)
            except RuleError as error:
                text = b"ERR Error in ACL SETUSER modifier '%s': %s"
                raise CommandError(text % (c_string(rule), str(error).encode())) from None
        if old is None:
            self.users[name] = new
        else:
            self._kill_pubsub_clients_if_needed(new, old)
            old.copy_from(new)
        self.update()

    def delete_user(self, name: bytes) -> bool:
        """Remove a user and its connections; whether there was one. ACLFreeUserAndKillClients()"""
        if self.users.pop(name, None) is None:
            return False
        for c in list(self.server.clients.values()):
            if c.user == name:
                c.user = DEFAULT
                c.flags |= CLIENT_UNAUTHENTICATED
                if c is self.server.current_client:
                    c.flags |= CLIENT_CLOSE_AFTER_REPLY
                else:
                    self.server.kill_client(c)
        self.update()
        return True

    def _kill_pubsub_clients_if_needed(self, new: User, old: User) -> None:
        """Hang up on subscribers of what their user may not hear any more.

        acl.c: ACLKillPubsubClientsIfNeeded()
        """
        if any(s.all_channels for s in new.selectors):
            return
        allowed = {pattern for s in new.selectors for pattern in s.channels}
        if not any(s.all_channels or s.channels.keys() - allowed for s in old.selectors):
            return
        for c in list(self.server.clients.values()):
            if c.user != old.name or client_type(c) != b"pubsub":
                continue
            names = [*c.pubsub_channels, *c.pubsub_shard_channels]
            if not all(_channel_allowed(allowed, name, False) for name in names) or not all(
                pattern in allowed for pattern in c.pubsub_patterns
            ):
                if c is self.server.current_client:
                    c.flags |= CLIENT_CLOSE_AFTER_REPLY
                else:
                    self.server.kill_client(c)

    def authenticate(self, c: Client, name: bytes, password: bytes) -> bool:
        """Make *c* the user *name* if the password is right. ACLAuthenticateUser()"""
        if not self.credentials_are_right(name, password):
            context = "multi" if c.flags & CLIENT_MULTI else "toplevel"
            self.add_log_entry(c, "auth", context, c.argv[0], name)
            return False
        c.flags &= ~CLIENT_UNAUTHENTICATED
        c.user = name
        return True

    def credentials_are_right(self, name: bytes, password: bytes) -> bool:
        """acl.c: ACLCheckUserCredentials()"""
        user = self.users.get(name)
        if user is None or b"off" in user.flags:
            return False
        if b"nopass" in user.flags:
            return True
        hashed = hash_password(password)
        # Each is compared, whichever is right: time tells nothing.
        return bool(sum(hmac.compare_digest(hashed, right) for right in user.passwords))

    # -- checking ---------------------------------------------------------------------

    def check(self, c: Client, cmd: Command, argv: list[bytes]) -> Refusal | None:
        """Why the user of *c* may not run a command. acl.c: ACLCheckAllPerm()"""
        user = self.users.get(c.user)
        if user is None or c.flags & CLIENT_MASTER:
            return None
        return check_all_user_command_perm(user, cmd, argv)

    def refuse(self, c: Client, cmd: Command, argv: list[bytes]) -> CommandError | None:
        """The error for a command that a client has sent, noted in the log.

        server.c: processCommand()
        """
        refusal = self.check(c, cmd, argv)
        if refusal is None:
            return None
        context = "multi" if c.flags & CLIENT_MULTI else "toplevel"
        self.note_refusal(c, refusal, context, cmd, argv)
        return CommandError(
            {
                Denied.COMMAND: "NOPERM this user has no permissions to run the "
                f"'{cmd.name}' command",
                Denied.KEY: "NOPERM this user has no permissions to access one of the keys used "
                "as arguments",
            }.get(
                refusal[0],
                "NOPERM this user has no permissions to access one of the channels used as "
                "arguments",
            )
        )

    def refuse_in_exec(self, c: Client, cmd: Command, argv: list[bytes]) -> CommandError | None:
        """The same for a command that was queued. multi.c: execCommand()"""
        refusal = self.check(c, cmd, argv)
        if refusal is None:
            return None
        self.note_refusal(c, refusal, "multi", cmd, argv)
        reason = {
            Denied.COMMAND: "no permission to execute the command or subcommand",
            Denied.KEY: "no permission to touch the specified keys",
        }.get(refusal[0], "no permission to access one of the channels used as arguments")
        error = CommandError(
            "NOPERM ACLs rules changed between the moment the transaction was accumulated and "
            "the EXEC call. This command is no longer allowed for the following reason: " + reason
        )
        self.server.count_error(error)
        return error

    def refuse_in_script(self, c: Client, cmd: Command, argv: list[bytes]) -> CommandError | None:
        """The same for a command of a script that *c* runs. script.c: scriptVerifyACL()"""
        refusal = self.check(c, cmd, argv)
        if refusal is None:
            return None
        self.note_refusal(c, refusal, "lua", cmd, argv)
        reason = {
            Denied.COMMAND: "can't run this command or subcommand",
            Denied.KEY: "can't access at least one of the keys mentioned in the command arguments",
        }.get(refusal[0], "can't publish to the channel mentioned in the command")
        return CommandError(f"ERR The user executing the script {reason}")

    def may_read_all_keys(self, c: Client) -> bool:
        """Whether some selector allows the running command, and to read any key: SORT BY.

        acl.c: ACLUserCheckCmdWithUnrestrictedKeyAccess()
        """
        user, cmd = self.users.get(c.user), c.cmd
        if user is None or cmd is None:
            return True
        return any(
            (s.all_keys or s.keys.get(b"*", 0) & READ) and _selector_check(s, cmd, c.argv) is None
            for s in user.selectors
        )

    def dry_run(self, name: bytes, cmd: Command, argv: list[bytes]) -> bytes | None:
        """Why the user *name* might not run a command, in words; None if it might."""
        refusal = check_all_user_command_perm(self.users[name], cmd, argv)
        if refusal is None:
            return None
        denied, position = refusal
        if denied is Denied.COMMAND:
            return f"This user has no permissions to run the '{cmd.name}' command".encode()
        what = b"key" if denied is Denied.KEY else b"channel"
        text = b"This user has no permissions to access the '%s' %s"
        return text % (c_string(argv[position]), what)

    @staticmethod
    def describe_selector(s: AclSelector) -> dict[bytes, Reply]:
        """Part of ACL GETUSER's reply. acl.c: aclAddReplySelectorDescription()"""
        channels = [b"&" + pattern for pattern in s.channels]
        return {
            b"commands": s.describe_commands(),
            b"keys": b"~*" if s.all_keys else b" ".join(s.key_rules()),
            b"channels": b"&*" if s.all_channels else b" ".join(channels),
        }

    # -- the log ----------------------------------------------------------------------

    def note_refusal(
        self, c: Client, refusal: Refusal, context: str, cmd: Command, argv: list[bytes]
    ) -> None:
        """Note a refused command in the log."""
        denied, position = refusal
        what = cmd.name.encode() if denied is Denied.COMMAND else argv[position]
        self.add_log_entry(c, denied.name.lower(), context, what, c.user)

    def add_log_entry(
        self, c: Client, reason: str, context: str, what: bytes, username: bytes
    ) -> None:
        """Note what was refused, or count a like entry once more. acl.c: addACLLogEntry()"""
        now = self.server.now_ms()
        entry = AclLogEntry(reason, context, what, username, now, client_info(c))
        for old in list(self.log)[:LOG_SCANNED]:
            if old.is_like(entry):
                self.log.remove(old)
                entry.count += old.count
                break
        self.log.appendleft(entry)
        while len(self.log) > self.server.config.acllog_max_len:
            self.log.pop()


def check_all_user_command_perm(user: User, cmd: Command, argv: list[bytes]) -> Refusal | None:
    """Why *user* may not run a command: of all selectors' refusals that which came nearest.

    acl.c: ACLCheckAllUserCommandPerm()
    """
    nearest: Refusal = (Denied.COMMAND, 0)
    for selector in user.selectors:
        refusal = _selector_check(selector, cmd, argv)
        if refusal is None:
            return None
        nearest = max(nearest, refusal)
    return nearest


def _selector_check(s: AclSelector, cmd: Command, argv: list[bytes]) -> Refusal | None:
    """acl.c: ACLSelectorCheckCmd()"""
    if not s.all_commands and "no_auth" not in cmd.flags and cmd.name not in s.command_names():
        allowed = [argument.lower() for argument in s.first_args.get(cmd.name, ())]
        if len(argv) < 2 or c_string(argv[1]).lower() not in allowed:
            return Denied.COMMAND, 0
    if not s.all_keys and does_command_have_keys(cmd):
        for position, flags in get_keys_from_command_with_specs(cmd, argv):
            if not _key_allowed(s, argv[position], flags):
                return Denied.KEY, position
    if not s.all_channels and cmd.name in _CHANNELS:
        last = 2 if cmd.name in _ONE_CHANNEL else len(argv)
        for position in range(1, last):
            if not _channel_allowed(s.channels, argv[position], _CHANNELS[cmd.name]):
                return Denied.CHANNEL, position
    return None


def _key_allowed(s: AclSelector, key: bytes, flags: str) -> bool:
    """acl.c: ACLSelectorCheckKey()"""
    needed = 0
    for flag in flags.split():
        needed |= _PERMISSIONS.get(flag, 0)
    return any(
        given & needed == needed and stringmatch(pattern, key) for pattern, given in s.keys.items()
    )


def _channel_allowed(
    allowed: set[bytes] | dict[bytes, None], channel: bytes, is_pattern: bool
) -> bool:
    """A pattern must be allowed as it stands. acl.c: ACLCheckChannelAgainstList()"""
    if is_pattern:
        return channel in allowed
    return any(stringmatch(pattern, channel) for pattern in allowed)
