"""Strings: SET and its family, GET and its family, counters, ranges.

Redis: t_string.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.client_flags import CLIENT_PUBSUB
from miniredis.commands.table import KeySpec, command
from miniredis.errors import (
    invalid_expire,
    syntax_error,
    wrong_arity,
    wrong_type,
)
from miniredis.keyspace.db import LOOKUP_WRITE
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_STRING
from miniredis.keyspace.object import (
    LLONG_MAX,
    OBJ_STRING,
    RedisObject,
)
from miniredis.reply import NO_REPLY, OK, Interleaved, Push, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

# Options of SET and GETEX. t_string.c: OBJ_*
OBJ_SET_NX = 1 << 0
OBJ_SET_XX = 1 << 1
OBJ_EX = 1 << 2
OBJ_PX = 1 << 3
OBJ_KEEPTTL = 1 << 4
OBJ_SET_GET = 1 << 5
OBJ_EXAT = 1 << 6
OBJ_PXAT = 1 << 7
OBJ_PERSIST = 1 << 8
_ANY_TIME = OBJ_EX | OBJ_PX | OBJ_EXAT | OBJ_PXAT
_TIMES = {b"ex": OBJ_EX, b"px": OBJ_PX, b"exat": OBJ_EXAT, b"pxat": OBJ_PXAT}
_SECONDS = OBJ_EX | OBJ_EXAT
_RELATIVE = OBJ_EX | OBJ_PX


def get_string(o: RedisObject | None) -> bytes | None:
    """The bytes of a string object, None of a missing one; WRONGTYPE for other types."""
    if o is None:
        return None
    if o.type != OBJ_STRING:
        raise wrong_type()
    value = o.ptr
    return value if value.__class__ is bytes else bytes(value)


def parse_extended_string_arguments(
    args: tuple[bytes, ...], for_set: bool
) -> tuple[int, bytes | None]:
    """Options of SET (or GETEX) as flags, and the time argument if one was given.

    A time excludes another kind of time and KEEPTTL or PERSIST; repeating the same option
    is allowed, and the last time wins. t_string.c: parseExtendedStringArgumentsOrReply()
    """
    flags = 0
    expire: bytes | None = None
    i = 0
    while i < len(args):
        option = word(args[i])
        time = _TIMES.get(option)
        if time is not None:
            excluded = (_ANY_TIME & ~time) | OBJ_KEEPTTL | OBJ_PERSIST
            if flags & excluded or i + 1 == len(args):
                raise syntax_error()
            flags |= time
            expire = args[i + 1]
            i += 1
        elif for_set and option == b"nx" and not flags & OBJ_SET_XX:
            flags |= OBJ_SET_NX
        elif for_set and option == b"xx" and not flags & OBJ_SET_NX:
            flags |= OBJ_SET_XX
        elif for_set and option == b"get":
            flags |= OBJ_SET_GET
        elif for_set and option == b"keepttl" and not flags & _ANY_TIME:
            flags |= OBJ_KEEPTTL
        elif not for_set and option == b"persist" and not flags & _ANY_TIME:
            flags |= OBJ_PERSIST
        else:
            raise syntax_error()
        i += 1
    return flags, expire


def get_expire_milliseconds(c: Client, expire: bytes, flags: int) -> int:
    """The absolute Unix time in ms that a time argument means; it must lie after 1970.

    A relative time counts from a fresh reading of the clock (until 7.0). t_string.c:
    getExpireMillisecondsOrReply()
    """
    when = get_long_long(expire)
    seconds = flags & _SECONDS
    if when <= 0 or (seconds and when > LLONG_MAX // 1000):
        raise invalid_expire(c.fullname())
    if seconds:
        when *= 1000
    if flags & _RELATIVE:
        when += c.server.ttl_clock_ms()
        if when > LLONG_MAX:
            raise invalid_expire(c.fullname())
    return when


def set_generic(
    c: Client,
    flags: int,
    key: bytes,
    val: bytes,
    expire: bytes | None = None,
    ok_reply: Reply = OK,
    abort_reply: Reply = None,
) -> Reply:
    """Behind SET, SETNX, SETEX and PSETEX. t_string.c: setGenericCommand()"""
    db, server = c.db, c.server
    when = get_expire_milliseconds(c, expire, flags) if expire is not None else None
    if flags & OBJ_SET_GET:
        ok_reply = abort_reply = c.reply_first(get_string(db.lookup_key_read(key)))
    found = db.lookup_key(key, LOOKUP_WRITE) is not None
    if flags and ((flags & OBJ_SET_NX and found) or (flags & OBJ_SET_XX and not found)):
        return abort_reply
    o = RedisObject(OBJ_STRING, val, server.new_object_lru)
    keepttl = flags & OBJ_KEEPTTL != 0 or (when is not None and db.set_updates_expire)
    db.set_key(key, o, keepttl=keepttl, exists=found)
    server.dirty += 1
    listened = server.notify_mask
    if listened & NOTIFY_STRING:
        db.notify(NOTIFY_STRING, b"set", key)
    if when is not None:
        db.set_expire_by_link(key, when)
        if server.propagation.targets:
            c.rewrite(b"SET", key, val, b"PXAT", b"%d" % when)
        if listened & NOTIFY_GENERIC:
            db.notify(NOTIFY_GENERIC, b"expire", key)
    elif flags & OBJ_SET_GET:
        c.rewrite(*c.argv[:3], *(arg for arg in c.argv[3:] if word(arg) != b"get"))
    return ok_reply


@command(
    "set",
    arity=-3,
    flags="write denyoom",
    keys=(1, 1, 1),
    specs=(
        KeySpec(
            "RW access update variable_flags",
            index=1,
            notes="Reads the old value only if GET asks for it",
        ),
    ),
    group="string",
    since="1.0.0",
)
def set_command(c: Client, key: bytes, val: bytes, *args: bytes) -> Reply:
    """SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds
        | PXAT unix-time-milliseconds | KEEPTTL]

    Sets a key to a string whatever it held before. The time to live goes unless KEEPTTL
    is given. With GET the old value is the reply.

    t_string.c: setCommand()
    """
    if not args:
        return set_generic(c, 0, key, val)
    if len(args) == 2 and (time := _TIMES.get(args[0].lower())) is not None:
        return set_generic(c, time, key, val, args[1])
    flags, expire = parse_extended_string_arguments(args, for_set=True)
    return set_generic(c, flags, key, val, expire)


@command(
    "setnx",
    arity=3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="OW insert",
    group="string",
    since="1.0.0",
)
def setnx(c: Client, key: bytes, val: bytes) -> Reply:
    """SETNX key value

    Sets a key only if it does not exist.

    t_string.c: setnxCommand()
    """
    return set_generic(c, OBJ_SET_NX, key, val, ok_reply=1, abort_reply=0)


@command(
    "setex",
    arity=4,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="OW update",
    group="string",
    since="2.0.0",
)
def setex(c: Client, key: bytes, seconds: bytes, val: bytes) -> Reply:
    """SETEX key seconds value

    Sets a key together with its time to live in seconds.

    t_string.c: setexCommand()
    """
    return set_generic(c, OBJ_EX, key, val, seconds)


@command(
    "psetex",
    arity=4,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="OW update",
    group="string",
    since="2.6.0",
)
def psetex(c: Client, key: bytes, milliseconds: bytes, val: bytes) -> Reply:
    """PSETEX key milliseconds value

    Sets a key together with its time to live in milliseconds.

    t_string.c: psetexCommand()
    """
    return set_generic(c, OBJ_PX, key, val, milliseconds)


@command(
    "get",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="string",
    since="1.0.0",
)
def get(c: Client, key: bytes) -> Reply:
    """GET key

    The string that a key holds.

    t_string.c: getCommand()
    """
    o = c.db.lookup_key(key)
    if o is None:
        return None
    if o.type != OBJ_STRING:
        raise wrong_type()
    value = o.ptr
    return value if value.__class__ is bytes else bytes(value)


@command(
    "getex",
    arity=-2,
    flags="write fast",
    keys=(1, 1, 1),
    specs=(KeySpec("RW access update", index=1, notes="Writes only if an option changes the TTL"),),
    group="string",
    since="6.2.0",
)
def getex(c: Client, key: bytes, *args: bytes) -> Reply:
    """GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds
        | PXAT unix-time-milliseconds | PERSIST]

    The string that a key holds, and a change of its time to live. A point in time that has
    passed deletes the key. The time argument is looked at only if the key exists.

    t_string.c: getexCommand()
    """
    flags, expire = parse_extended_string_arguments(args, for_set=False)
    db = c.db
    o = db.lookup_key_read(key)
    if o is None:
        return None
    value = get_string(o)
    if expire is not None:
        when = get_expire_milliseconds(c, expire, flags)
        reply = c.reply_first(value) if c.flags else value
        if flags & (OBJ_EXAT | OBJ_PXAT) and c.server.check_already_expired(when):
            _delete_and_tell(c, key, c.server.lazyfree_lazy_expire)
        else:
            db.set_expire(key, when)
            c.rewrite(b"PEXPIREAT", key, b"%d" % when)
            c.server.signal_modified_key(db, key)
            db.notify(NOTIFY_GENERIC, b"expire", key)
            c.server.dirty += 1
        return reply
    reply = c.reply_first(value) if c.flags else value
    if flags & OBJ_PERSIST and db.remove_expire(key):
        c.server.signal_modified_key(db, key)
        c.rewrite(b"PERSIST", key)
        db.notify(NOTIFY_GENERIC, b"persist", key)
        c.server.dirty += 1
    return reply


def _delete_and_tell(c: Client, key: bytes, lazy: bool) -> None:
    """Delete an existing key and propagate that instead of the command."""
    if c.db.delete(key):
        c.rewrite(b"UNLINK" if lazy else b"DEL", key)
        c.server.signal_modified_key(c.db, key)
        c.db.notify(NOTIFY_GENERIC, b"del", key)
        c.server.dirty += 1


@command(
    "getdel",
    arity=2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access delete",
    group="string",
    since="6.2.0",
)
def getdel(c: Client, key: bytes) -> Reply:
    """GETDEL key

    The string that a key holds, while deleting the key.

    t_string.c: getdelCommand()
    """
    reply = c.reply_first(get_string(c.db.lookup_key_read(key)))
    _delete_and_tell(c, key, c.server.config.lazyfree_lazy_user_del)
    return reply


@command(
    "getset",
    arity=3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="string",
    since="1.0.0",
)
def getset(c: Client, key: bytes, val: bytes) -> Reply:
    """GETSET key value

    Sets a key and answers with what it held before; the time to live goes.

    t_string.c: getsetCommand()
    """
    db = c.db
    reply = c.reply_first(get_string(db.lookup_key_read(key)))
    db.set_key(key, RedisObject(OBJ_STRING, val, c.server.new_object_lru))
    db.notify(NOTIFY_STRING, b"set", key)
    c.server.dirty += 1
    c.rewrite(b"SET", key, val)
    return reply


@command(
    "mget",
    arity=-2,
    flags="readonly fast",
    keys=(1, -1, 1),
    access="RO access",
    tips="request_policy:multi_shard",
    group="string",
    since="1.0.0",
    complexity="O(N) in the number of keys",
)
def mget(c: Client, *keys: bytes) -> Reply:
    """MGET key [key ...]

    The strings that several keys hold; nil for a missing key and for another type.

    t_string.c: mgetCommand()
    """
    if c.flags & CLIENT_PUBSUB:
        return _mget_among_messages(c, keys)
    values = []
    for key in keys:
        o = c.db.lookup_key_read(key)
        values.append(get_string(o) if o is not None and o.type == OBJ_STRING else None)
    return values


def _mget_among_messages(c: Client, keys: tuple[bytes, ...]) -> Reply:
    """MGET of a client that may hear of its own look-ups (``keymiss``, ``expired``).

    As the array's length has been sent by then, such a message stands before its value.
    """
    outbox, before = c.outbox, len(c.outbox)
    items: list[Reply] = []
    for key in keys:
        o = c.db.lookup_key_read(key)
        value = get_string(o) if o is not None and o.type == OBJ_STRING else None
        messages = [outbox.pop() for _ in range(len(outbox) - before)][::-1]
        items += [*messages, value]
    if len(items) == len(keys):
        return items
    if c.silenced:  # by CLIENT REPLY, which lets messages through
        outbox.extend(item for item in items if item.__class__ is Push)
    else:
        outbox.append(Interleaved(len(keys), items))
    return NO_REPLY


def _mset(c: Client, args: tuple[bytes, ...], nx: bool) -> Reply:
    """t_string.c: msetGenericCommand()"""
    if len(args) % 2:
        raise wrong_arity(c.fullname())
    db = c.db
    if nx and any(db.lookup_key_write(key) is not None for key in args[::2]):
        return 0
    for key, val in zip(args[::2], args[1::2], strict=True):
        db.set_key(key, RedisObject(OBJ_STRING, val, c.server.new_object_lru))
        db.notify(NOTIFY_STRING, b"set", key)
    c.server.dirty += len(args) // 2
    return 1 if nx else OK


@command(
    "mset",
    arity=-3,
    flags="write denyoom",
    keys=(1, -1, 2),
    access="OW update",
    tips="request_policy:multi_shard response_policy:all_succeeded",
    group="string",
    since="1.0.1",
    complexity="O(N) in the number of keys",
)
def mset(c: Client, *args: bytes) -> Reply:
    """MSET key value [key value ...]

    Sets several keys at once.

    t_string.c: msetCommand()
    """
    return _mset(c, args, nx=False)


@command(
    "msetnx",
    arity=-3,
    flags="write denyoom",
    keys=(1, -1, 2),
    access="OW insert",
    tips="request_policy:multi_shard response_policy:agg_min",
    group="string",
    since="1.0.1",
    complexity="O(N) in the number of keys",
)
def msetnx(c: Client, *args: bytes) -> Reply:
    """MSETNX key value [key value ...]

    Sets several keys at once, but none of them if any exists.

    t_string.c: msetnxCommand()
    """
    return _mset(c, args, nx=True)
