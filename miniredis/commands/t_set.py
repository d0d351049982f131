"""Sets: members in no order of their own.

What combines several sets is in ``t_set_algebra.py``, what picks members at random in
``t_set_random.py``.

Redis: t_set.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.scanning import empty_scan, parse_scan_cursor, scan_generic
from miniredis.commands.table import KeySpec, command
from miniredis.errors import wrong_type
from miniredis.keyspace.db import LOOKUP_NONE, LOOKUP_WRITE
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_SET
from miniredis.keyspace.object import OBJ_SET, RedisObject
from miniredis.keyspace.set_object import SetObject
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def set_type_lookup(c: Client, key: bytes, flags: int = LOOKUP_NONE) -> SetObject | None:
    """The set that *key* holds, None if there is no key; WRONGTYPE for other types."""
    o = c.db.lookup_key(key, flags)
    if o is None:
        return None
    if o.type != OBJ_SET:
        raise wrong_type()
    value: SetObject = o.ptr
    return value


def new_set(c: Client, value: SetObject) -> RedisObject:
    """*value* as an object that can be put into the keyspace."""
    return RedisObject(OBJ_SET, value, c.server.new_object_lru)


@command(
    "sadd",
    arity=-3,
    flags="write denyoom fast",
    keys=(1, 1, 1),
    access="RW insert",
    group="set",
    since="1.0.0",
    complexity="O(1) for each member",
)
def sadd(c: Client, key: bytes, *members: bytes) -> Reply:
    """SADD key member [member ...]

    Adds members to a set; how many of them are new.

    t_set.c: saddCommand()
    """
    server = c.server
    s = set_type_lookup(c, key, LOOKUP_WRITE)
    if s is None:
        s = SetObject()
        c.db.add(key, new_set(c, s))
    added = 0
    for member in members:
        added += s.add(member, server)
    if added:
        server.signal_modified_key(c.db, key)
        c.db.notify(NOTIFY_SET, b"sadd", key)
    server.dirty += added
    return added


@command(
    "srem",
    arity=-3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW delete",
    group="set",
    since="1.0.0",
    complexity="O(N) in the number of members to remove",
)
def srem(c: Client, key: bytes, *members: bytes) -> Reply:
    """SREM key member [member ...]

    Removes members of a set, and deletes the key with the last of them.

    t_set.c: sremCommand()
    """
    db = c.db
    s = set_type_lookup(c, key, LOOKUP_WRITE)
    if s is None:
        return 0
    deleted = 0
    for member in members:
        if s.remove(member):
            deleted += 1
            if not len(s):
                db.delete(key)
                break
    if deleted:
        c.server.signal_modified_key(db, key)
        db.notify(NOTIFY_SET, b"srem", key)
        if not len(s):
            db.notify(NOTIFY_GENERIC, b"del", key)
        c.server.dirty += deleted
    return deleted


@command(
    "smove",
    arity=4,
    flags="write fast",
    keys=(1, 2, 1),
    specs=(KeySpec("RW access delete", index=1), KeySpec("RW insert", index=2)),
    group="set",
    since="1.0.0",
)
def smove(c: Client, source: bytes, destination: bytes, member: bytes) -> Reply:
    """SMOVE source destination member

    Moves a member from one set to another.

    t_set.c: smoveCommand()
    """
    db, server = c.db, c.server
    srcobj = db.lookup_key_write(source)
    dstobj = db.lookup_key_write(destination)
    if srcobj is None:
        return 0
    if srcobj.type != OBJ_SET or (dstobj is not None and dstobj.type != OBJ_SET):
        raise wrong_type()
    src: SetObject = srcobj.ptr
    if srcobj is dstobj:
        return int(src.is_member(member))
    if not src.remove(member):
        return 0
    db.notify(NOTIFY_SET, b"srem", source)
    if not len(src):
        db.delete(source)
        db.notify(NOTIFY_GENERIC, b"del", source)
    if dstobj is None:
        dstobj = new_set(c, SetObject())
        db.add(destination, dstobj)
    dst: SetObject = dstobj.ptr
    server.signal_modified_key(db, source)
    server.dirty += 1
    if dst.add(member, server):
        server.dirty += 1
        server.signal_modified_key(db, destination)
        db.notify(NOTIFY_SET, b"sadd", destination)
    return 1


@command(
    "sismember",
    arity=3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="set",
    since="1.0.0",
)
def sismember(c: Client, key: bytes, member: bytes) -> Reply:
    """SISMEMBER key member

    Whether a set has a member.

    t_set.c: sismemberCommand()
    """
    s = set_type_lookup(c, key)
    return int(s is not None and s.is_member(member))


@command(
    "smismember",
    arity=-3,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO access",
    group="set",
    since="6.2.0",
    complexity="O(N) in the number of members asked for",
)
def smismember(c: Client, key: bytes, *members: bytes) -> Reply:
    """SMISMEMBER key member [member ...]

    Of each member whether a set has it.

    t_set.c: smismemberCommand()
    """
    s = set_type_lookup(c, key)
    return [int(s is not None and s.is_member(member)) for member in members]


@command(
    "scard",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="set",
    since="1.0.0",
)
def scard(c: Client, key: bytes) -> Reply:
    """SCARD key

    Number of members of a set.

    t_set.c: scardCommand()
    """
    s = set_type_lookup(c, key)
    return 0 if s is None else len(s)


@command(
    "sscan",
    arity=-3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="set",
    since="2.8.0",
    complexity="O(1) for each call, O(N) for the whole walk",
)
def sscan(c: Client, key: bytes, cursor: bytes, *args: bytes) -> Reply:
    """SSCAN key cursor [MATCH pattern] [COUNT count]

    Walks over the members of a set in steps.

    t_set.c: sscanCommand()
    """
    position = parse_scan_cursor(cursor)
    s = set_type_lookup(c, key)
    return empty_scan() if s is None else scan_generic(s, position, args)
