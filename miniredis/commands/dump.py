"""DUMP and RESTORE: values as bytes that other servers understand.

Redis: cluster.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_GENERIC
from miniredis.keyspace.object import (
    LLONG_MAX,
    LRU_CLOCK_MAX,
    RedisObject,
    lfu_get_time_in_minutes,
)
from miniredis.keyspace.rdb_load import load_dump_payload, verify_dump_payload
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.keyspace.rdb_save import create_dump_payload
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

LFU_COUNTER_MAX = 255
_LLONG_RANGE = 1 << 64
_MS_PER_SECOND = 1000


@command(
    "dump",
    arity=2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="generic",
    since="2.6.0",
    complexity="O(1) to find the key, O(N) in the bytes of the value",
)
def dump(c: Client, key: bytes) -> Reply:
    """DUMP key

    The value as bytes, for RESTORE.

    cluster.c: dumpCommand()
    """
    o = c.db.lookup_key_read(key)
    return None if o is None else create_dump_payload(o, c.server.config.rdbcompression)


@dataclass(slots=True)
class _Options:
    replace: bool = False
    absttl: bool = False
    idle: int = -1  # seconds, -1: not given
    freq: int = -1


def _parse_options(args: tuple[bytes, ...]) -> _Options:
    options = _Options()
    rest = list(args)
    while rest:
        word = rest.pop(0).lower()
        if word == b"replace":
            options.replace = True
        elif word == b"absttl":
            options.absttl = True
        elif word == b"idletime" and rest and options.freq == -1:
            options.idle = get_long_long(rest.pop(0))
            if options.idle < 0:
                raise CommandError("ERR Invalid IDLETIME value, must be >= 0")
        elif word == b"freq" and rest and options.idle == -1:
            options.freq = get_long_long(rest.pop(0))
            if not 0 <= options.freq <= LFU_COUNTER_MAX:
                raise CommandError("ERR Invalid FREQ value, must be >= 0 and <= 255")
        else:
            raise syntax_error()
    return options


def _set_lru_or_lfu(c: Client, o: RedisObject, options: _Options) -> None:
    """Note how long ago, or how often, a value was used. object.c: objectSetLRUOrLFU()"""
    server = c.server
    if server.maxmemory_lfu:
        if options.freq >= 0:
            o.lru = lfu_get_time_in_minutes(server.now_ms() // _MS_PER_SECOND) << 8 | options.freq
    elif options.idle >= 0:
        lru = server.lru_clock() - options.idle
        # The clock wraps, and so does its difference; the field has 24 bits.
        o.lru = (lru + LRU_CLOCK_MAX if lru < 0 else lru) & LRU_CLOCK_MAX


def _restore(c: Client, key: bytes, ttl: bytes, payload: bytes, args: tuple[bytes, ...]) -> Reply:
    """cluster.c: restoreCommand()"""
    db, server = c.db, c.server
    options = _parse_options(args)
    if not options.replace and db.lookup_key_write(key) is not None:
        raise CommandError("BUSYKEY Target key name already exists.")
    when = get_long_long(ttl)
    if when < 0:
        raise CommandError("ERR Invalid TTL value, must be >= 0")
    if not verify_dump_payload(payload):
        raise CommandError("ERR DUMP payload version or checksum are wrong")
    try:
        o = load_dump_payload(payload, server)
    except RdbError:
        raise CommandError("ERR Bad data format") from None
    deleted = options.replace and db.delete(key)
    if when and not options.absttl:
        when += server.now_ms()
        if when > LLONG_MAX:  # it wraps around in C
            when -= _LLONG_RANGE
    if when and server.check_already_expired(when):
        if deleted:
            c.rewrite(b"DEL", key)
            server.signal_modified_key(db, key)
            db.notify(NOTIFY_GENERIC, b"del", key)
            server.dirty += 1
        return OK
    db.add(key, o)
    if when:
        db.set_expire(key, when)
        if not options.absttl:
            c.rewrite(c.argv[0], key, b"%d" % when, *c.argv[3:], b"ABSTTL")
    _set_lru_or_lfu(c, o, options)
    server.signal_modified_key(db, key)
    db.notify(NOTIFY_GENERIC, b"restore", key)
    server.dirty += 1
    return OK


@command(
    "restore",
    arity=-4,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="OW update",
    group="generic",
    acl="keyspace dangerous",
    since="2.6.0",
    complexity="O(1) to find the key, O(N) in the bytes of the value; O(N log N) for sorted sets",
)
def restore(c: Client, key: bytes, ttl: bytes, payload: bytes, *args: bytes) -> Reply:
    """RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]

    Makes a key of bytes that DUMP has returned. A ttl of 0 ms is none.

    cluster.c: restoreCommand()
    """
    return _restore(c, key, ttl, payload, args)


@command(
    "restore-asking",
    arity=-4,
    flags="write denyoom asking",
    keys=(1, 1, 1),
    access="OW update",
    group="server",
    acl="keyspace dangerous",
    since="3.0.0",
    complexity="O(1) to find the key, O(N) in the bytes of the value; O(N log N) for sorted sets",
)
def restore_asking(c: Client, key: bytes, ttl: bytes, payload: bytes, *args: bytes) -> Reply:
    """RESTORE-ASKING key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds]
    [FREQ frequency]

    What nodes of a cluster send each other instead of RESTORE.

    cluster.c: restoreCommand()
    """
    return _restore(c, key, ttl, payload, args)
