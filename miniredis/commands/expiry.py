"""Times to live: the EXPIRE family, the TTL family, PERSIST.

All four EXPIRE commands become one thing, an absolute Unix time in ms, and all but
PEXPIREAT itself are propagated as PEXPIREAT. A time that has passed deletes the key there
and then, with the event ``del``, not ``expired``.

Redis: expire.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.table import command
from miniredis.errors import CommandError, invalid_expire
from miniredis.keyspace.db import LOOKUP_NOTOUCH, NO_EXPIRE
from miniredis.keyspace.notify import NOTIFY_GENERIC
from miniredis.keyspace.object import LLONG_MAX, LLONG_MIN
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

EXPIRE_NX = 1 << 0  # only if the key has no TTL
EXPIRE_XX = 1 << 1  # only if it has one
EXPIRE_GT = 1 << 2  # only to a later time; no TTL counts as for ever
EXPIRE_LT = 1 << 3  # only to an earlier time
_OPTIONS = {b"nx": EXPIRE_NX, b"xx": EXPIRE_XX, b"gt": EXPIRE_GT, b"lt": EXPIRE_LT}

SECONDS, MILLISECONDS = 1000, 1  # ms of one unit


def parse_extended_expire_arguments(args: tuple[bytes, ...]) -> int:
    """Options as flags. expire.c: parseExtendedExpireArgumentsOrReply()"""
    flags = 0
    for arg in args:
        flag = _OPTIONS.get(word(arg))
        if flag is None:
            raise CommandError(b"ERR Unsupported option " + c_string(arg))
        flags |= flag
    if flags & EXPIRE_NX and flags & (EXPIRE_XX | EXPIRE_GT | EXPIRE_LT):
        raise CommandError("ERR NX and XX, GT or LT options at the same time are not compatible")
    if flags & EXPIRE_GT and flags & EXPIRE_LT:
        raise CommandError("ERR GT and LT options at the same time are not compatible")
    return flags


def expire_generic(
    c: Client, key: bytes, arg: bytes, args: tuple[bytes, ...], basetime: int, unit: int
) -> Reply:
    """Let *key* die at ``basetime + arg * unit``; 1 if done, 0 if not.

    *basetime* is now for a relative time and 0 for an absolute one. expire.c:
    expireGenericCommand()
    """
    flags = parse_extended_expire_arguments(args)
    when = get_long_long(arg)
    if unit == SECONDS and not -(-LLONG_MIN // SECONDS) <= when <= LLONG_MAX // SECONDS:
        raise invalid_expire(c.fullname())
    when = when * unit + basetime
    if when > LLONG_MAX:
        raise invalid_expire(c.fullname())
    db, server = c.db, c.server
    if db.lookup_key_write(key) is None:
        return 0
    if flags and not _options_allow(flags, db.get_expire(key), when):
        return 0
    server.dirty += 1
    if server.check_already_expired(when):
        db.delete(key)
        c.rewrite(b"UNLINK" if server.lazyfree_lazy_expire else b"DEL", key)
        server.signal_modified_key(db, key)
        db.notify(NOTIFY_GENERIC, b"del", key)
        return 1
    db.set_expire(key, when)
    c.rewrite(b"PEXPIREAT", key, b"%d" % when, *args)
    reply = c.reply_first(1) if c.flags else 1
    server.signal_modified_key(db, key)
    db.notify(NOTIFY_GENERIC, b"expire", key)
    return reply


def _options_allow(flags: int, current: int, when: int) -> bool:
    """Whether NX, XX, GT, LT let the TTL become *when*; *current* is NO_EXPIRE for none."""
    persistent = current == NO_EXPIRE
    if flags & EXPIRE_NX and not persistent:
        return False
    if flags & EXPIRE_XX and persistent:
        return False
    if flags & EXPIRE_GT and (persistent or when <= current):
        return False
    return not (flags & EXPIRE_LT and not persistent and when >= current)


@command(
    "expire",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    group="generic",
    since="1.0.0",
)
def expire(c: Client, key: bytes, seconds: bytes, *args: bytes) -> Reply:
    """EXPIRE key seconds [NX | XX | GT | LT]

    Lets a key die after so many seconds.

    expire.c: expireCommand()
    """
    return expire_generic(c, key, seconds, args, c.server.ttl_clock_ms(), SECONDS)


@command(
    "pexpire",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    group="generic",
    since="2.6.0",
)
def pexpire(c: Client, key: bytes, milliseconds: bytes, *args: bytes) -> Reply:
    """PEXPIRE key milliseconds [NX | XX | GT | LT]

    Lets a key die after so many milliseconds.

    expire.c: pexpireCommand()
    """
    return expire_generic(c, key, milliseconds, args, c.server.ttl_clock_ms(), MILLISECONDS)


@command(
    "expireat",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    group="generic",
    since="1.2.0",
)
def expireat(c: Client, key: bytes, unix_time_seconds: bytes, *args: bytes) -> Reply:
    """EXPIREAT key unix-time-seconds [NX | XX | GT | LT]

    Lets a key die at a Unix time in seconds.

    expire.c: expireatCommand()
    """
    return expire_generic(c, key, unix_time_seconds, args, 0, SECONDS)


@command(
    "pexpireat",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    group="generic",
    since="2.6.0",
)
def pexpireat(c: Client, key: bytes, unix_time_milliseconds: bytes, *args: bytes) -> Reply:
    """PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]

    Lets a key die at a Unix time in milliseconds.

    expire.c: pexpireatCommand()
    """
    return expire_generic(c, key, unix_time_milliseconds, args, 0, MILLISECONDS)


def ttl_generic(c: Client, key: bytes, output_ms: bool, output_abs: bool) -> int:
    """-2 without the key, -1 without a TTL, else the time left or the time of death.

    Seconds are rounded to the nearest, halves up: a living key may show 0. Until 7.0 the
    clock is read afresh, so within a transaction the answer may be 0 for a key that
    look-ups, whose clock stands still, go on seeing.

    expire.c: ttlGenericCommand()
    """
    if c.db.lookup_key(key, LOOKUP_NOTOUCH) is None:
        return -2
    when = c.db.get_expire(key)
    if when == NO_EXPIRE:
        return -1
    ttl = max(when if output_abs else when - c.server.ttl_clock_ms(), 0)
    return ttl if output_ms else (ttl + 500) // 1000


@command(
    "ttl",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="generic",
    since="1.0.0",
)
def ttl(c: Client, key: bytes) -> Reply:
    """TTL key

    The time a key has left, in seconds.

    expire.c: ttlCommand()
    """
    return ttl_generic(c, key, output_ms=False, output_abs=False)


@command(
    "pttl",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="generic",
    since="2.6.0",
)
def pttl(c: Client, key: bytes) -> Reply:
    """PTTL key

    The time a key has left, in milliseconds.

    expire.c: pttlCommand()
    """
    return ttl_generic(c, key, output_ms=True, output_abs=False)


@command(
    "expiretime",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="generic",
    since="7.0.0",
)
def expiretime(c: Client, key: bytes) -> Reply:
    """EXPIRETIME key

    The Unix time in seconds at which a key dies.

    expire.c: expiretimeCommand()
    """
    return ttl_generic(c, key, output_ms=False, output_abs=True)


@command(
    "pexpiretime",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="generic",
    since="7.0.0",
)
def pexpiretime(c: Client, key: bytes) -> Reply:
    """PEXPIRETIME key

    The Unix time in milliseconds at which a key dies.

    expire.c: pexpiretimeCommand()
    """
    return ttl_generic(c, key, output_ms=True, output_abs=True)


@command(
    "persist",
    arity=2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW update",
    group="generic",
    since="2.2.0",
)
def persist(c: Client, key: bytes) -> Reply:
    """PERSIST key

    Takes a key's time to live away.

    expire.c: persistCommand()
    """
    db = c.db
    if db.lookup_key_write(key) is None or not db.remove_expire(key):
        return 0
    c.server.signal_modified_key(db, key)
    db.notify(NOTIFY_GENERIC, b"persist", key)
    c.server.dirty += 1
    return 1
