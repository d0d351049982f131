"""MIGRATE: giving keys to another server, and losing them here.

Each key is sent as RESTORE with the bytes of DUMP and the time it has left; it is deleted
when the other server has taken it. While that lasts nobody else is served.

Redis: ``migrateCommand()`` in cluster.c.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_GENERIC
from miniredis.keyspace.object import RedisObject
from miniredis.keyspace.rdb_save import create_dump_payload
from miniredis.reply import OK, Reply, Status
from miniredis.structs.c_numbers import atoi

if TYPE_CHECKING:
    from miniredis.server.client import Client

FIRST_OPTION = 6  # place in argv
KEY = 3
DEFAULT_TIMEOUT_MS = 1000
_KEY_FLAGS = "RW access delete"
# Options, and how many words follow each.
_OPTIONS = {b"copy": 0, b"replace": 0, b"auth": 1, b"auth2": 2}


@dataclass(slots=True)
class _Options:
    keys: list[bytes]
    copy: bool = False
    replace: bool = False
    auth: list[bytes] = field(default_factory=list)


def _parse(c: Client, argv: list[bytes]) -> _Options:
    options = _Options([argv[KEY]])
    at = FIRST_OPTION
    while at < len(argv):
        option = word(argv[at])
        following = _OPTIONS.get(option)
        if option == b"keys":
            if argv[KEY]:
                raise CommandError(
                    "ERR When using MIGRATE KEYS option, the key argument must be set to the "
                    "empty string"
                )
            options.keys = argv[at + 1 :]
            return options
        if following is None or at + following >= len(argv):
            raise syntax_error()
        if following:
            options.auth = argv[at + 1 : at + 1 + following]
            for position in range(at + 1, at + 1 + following):
                c.redact(position)
        options.copy |= option == b"copy"
        options.replace |= option == b"replace"
        at += 1 + following
    return options


def _get_keys(argv: list[bytes]) -> list[tuple[int, str]]:
    """Where the keys stand. db.c: migrateGetKeys()"""
    at = FIRST_OPTION
    while at < len(argv):
        option = word(argv[at])
        if option == b"keys":
            return [] if argv[KEY] else [(i, _KEY_FLAGS) for i in range(at + 1, len(argv))]
        at += 1 + _OPTIONS.get(option, 0)
    return [(KEY, _KEY_FLAGS)]


def _command(*argv: bytes) -> bytes:
    """A request as it is sent."""
    return b"*%d\r\n" % len(argv) + b"".join(b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in argv)


class _Transfer:
    """One MIGRATE: what is sent, what comes back, which keys have gone."""

    def __init__(self, c: Client, options: _Options, dbid: int, timeout_ms: int) -> None:
        self.c = c
        self.options = options
        self.dbid = dbid
        self.timeout_ms = timeout_ms
        self.host, self.port = c.argv[1:3]
        self.error: bytes | None = None  # the first one of the other server
        self.answered = 0
        self.gone: list[bytes] = []
        self.writing = False

    def run(self, found: list[tuple[bytes, RedisObject]]) -> None:
        """Send the keys. OSError if the line breaks."""
        sockets = self.c.server.migrate_sockets
        try:
            cached = sockets.get(self.host, self.port, atoi(self.port), self.timeout_ms)
        except ConnectionError:
            self.writing = True  # Redis finds out when it writes. connBlockingConnect()
            raise
        except OSError:
            raise CommandError("IOERR error or timeout connecting to the client") from None
        head = [_command(b"AUTH", *self.options.auth)] if self.options.auth else []
        if cached.last_dbid != self.dbid:
            head.append(_command(b"SELECT", b"%d" % self.dbid))
        sent, requests = self._restores(found)
        self.writing = True
        cached.wire.send(b"".join(head + requests), self.timeout_ms)
        self.writing = False
        replies = [cached.wire.read_line(self.timeout_ms) for _ in head]
        refused = next((reply for reply in replies if reply.startswith(b"-")), None)
        for key in sent:
            reply = refused or cached.wire.read_line(self.timeout_ms)
            if refused is not None:
                cached.wire.read_line(self.timeout_ms)
            self._answer(key, reply)
        cached.last_dbid = self.dbid if self.error is None else -1

    def _restores(self, found: list[tuple[bytes, RedisObject]]) -> tuple[list[bytes], list[bytes]]:
        """The keys that are still alive, and the request for each."""
        c, keys, requests = self.c, [], []
        replace = [b"REPLACE"] if self.options.replace else []
        for key, o in found:
            ttl = 0
            when = c.db.get_expire(key)
            if when >= 0:
                ttl = when - c.server.now_ms()
                if ttl < 0:
                    continue
                ttl = max(ttl, 1)
            payload = create_dump_payload(o, c.server.config.rdbcompression)
            keys.append(key)
            requests.append(_command(b"RESTORE", key, b"%d" % ttl, payload, *replace))
        return keys, requests

    def _answer(self, key: bytes, reply: bytes) -> None:
        """The other server has taken *key*, or refused it."""
        self.answered += 1
        if reply.startswith(b"-"):
            self.error = self.error or reply[1:]
        elif not self.options.copy:
            c, db = self.c, self.c.db
            db.delete(key)
            c.server.signal_modified_key(db, key)
            db.notify(NOTIFY_GENERIC, b"del", key)
            c.server.dirty += 1
            self.gone.append(key)


def _migrate(c: Client, options: _Options, dbid: int, timeout_ms: int) -> Reply:
    found = []
    for key in options.keys:
        o = c.db.lookup_key_read(key)
        if o is not None:
            found.append((key, o))
    if not found:
        return Status(b"NOKEY")
    transfer = _Transfer(c, options, dbid, timeout_ms)
    broken = _run_twice(c, transfer, found)
    if transfer.gone:
        c.rewrite(b"DEL", *transfer.gone)
    if transfer.error is not None:
        raise CommandError(b"ERR Target instance replied with error: " + transfer.error)
    if broken:
        what = "writing" if transfer.writing else "reading"
        raise CommandError(f"IOERR error or timeout {what} to target instance")
    return OK


def _run_twice(c: Client, transfer: _Transfer, found: list[tuple[bytes, RedisObject]]) -> bool:
    """Whether the line broke. A kept one is often closed by then, so it is called again, if
    nothing was answered yet and it was no time-out.
    """
    for may_retry in (True, False):
        try:
            transfer.run(found)
        except OSError as error:
            c.server.migrate_sockets.close(transfer.host, transfer.port)
            if isinstance(error, TimeoutError) or transfer.answered or not may_retry:
                return True
        else:
            return False
    return True


@command(
    "migrate",
    arity=-6,
    flags="write movablekeys",
    keys=(3, 3, 1),
    specs=(
        KeySpec(_KEY_FLAGS, index=3),
        KeySpec(_KEY_FLAGS + " incomplete", keyword="KEYS", startfrom=-2, lastkey=-1),
    ),
    acl="keyspace dangerous",
    tips="nondeterministic_output",
    group="generic",
    since="2.6.0",
    complexity="Of DUMP and DEL here and of RESTORE there; O(N) in the bytes that are sent",
    getkeys=_get_keys,
)
def migrate(c: Client, host: bytes, port: bytes, key: bytes, db: bytes, *args: bytes) -> Reply:
    """MIGRATE host port key | "" destination-db timeout [COPY] [REPLACE]
    [[AUTH password] | [AUTH2 username password]] [KEYS key [key ...]]

    Gives keys to another server; they are gone here once it has taken them.

    cluster.c: migrateCommand()
    """
    options = _parse(c, c.argv)
    timeout_ms = get_long_long(args[0])
    dbid = get_long_long(db)
    return _migrate(c, options, dbid, timeout_ms if timeout_ms > 0 else DEFAULT_TIMEOUT_MS)
