"""Commands on keys whatever they hold: DEL, EXISTS, RENAME, COPY, MOVE, flushing.

Redis: db.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_int, word
from miniredis.commands.client_flags import PROPAGATE_BOTH
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, db_out_of_range, no_such_key, syntax_error
from miniredis.keyspace.db import LOOKUP_NOTOUCH, NO_EXPIRE, RedisDb
from miniredis.keyspace.lazyfree import is_freed_lazily
from miniredis.keyspace.notify import NOTIFY_GENERIC
from miniredis.keyspace.object import TYPE_NAMES, dup_object
from miniredis.reply import OK, Reply, Status

if TYPE_CHECKING:
    from miniredis.server.client import Client

_SAME_OBJECT = "ERR source and destination objects are the same"


def del_generic(c: Client, keys: tuple[bytes, ...], lazy: bool = False) -> int:
    """Delete keys; a key found expired goes as expired and is not counted.

    *lazy*: large values would be freed by a thread, and are counted.

    db.c: delGenericCommand()
    """
    db, server = c.db, c.server
    numdel = 0
    for key in keys:
        if db.expire_if_needed(key) and db.expired_is_deleted and key not in db.dict:
            continue
        if lazy:
            _count_lazy(c, key)
        if db.delete(key):
            server.signal_modified_key(db, key)
            db.notify(NOTIFY_GENERIC, b"del", key)
            server.dirty += 1
            numdel += 1
    return numdel


@command(
    "del",
    arity=-2,
    flags="write",
    keys=(1, -1, 1),
    access="RM delete",
    tips="request_policy:multi_shard response_policy:agg_sum",
    group="generic",
    since="1.0.0",
    complexity="O(N) in the number of keys, and of elements of what they hold",
)
def del_(c: Client, *keys: bytes) -> Reply:
    """DEL key [key ...]

    Deletes keys.

    db.c: delCommand()
    """
    return del_generic(c, keys, c.server.config.lazyfree_lazy_user_del)


def _count_lazy(c: Client, key: bytes) -> None:
    """A value that is about to be deleted may be one that a thread frees."""
    entry = c.db.dict.index.get(key)
    if entry is not None and is_freed_lazily(entry.val):
        c.server.stat_lazyfreed_objects += 1


@command(
    "unlink",
    arity=-2,
    flags="write fast",
    keys=(1, -1, 1),
    access="RM delete",
    tips="request_policy:multi_shard response_policy:agg_sum",
    group="generic",
    since="4.0.0",
    complexity="O(1) for each key; large values are freed elsewhere",
)
def unlink(c: Client, *keys: bytes) -> Reply:
    """UNLINK key [key ...]

    Deletes keys, leaving it to a background thread to free large values.

    db.c: unlinkCommand()
    """
    return del_generic(c, keys, lazy=True)


@command(
    "exists",
    arity=-2,
    flags="readonly fast",
    keys=(1, -1, 1),
    access="RO",
    tips="request_policy:multi_shard response_policy:agg_sum",
    group="generic",
    since="1.0.0",
    complexity="O(N) in the number of keys",
)
def exists(c: Client, *keys: bytes) -> Reply:
    """EXISTS key [key ...]

    How many of the keys exist; one named twice counts twice.

    db.c: existsCommand()
    """
    return sum(c.db.lookup_key(key, LOOKUP_NOTOUCH) is not None for key in keys)


@command(
    "touch",
    arity=-2,
    flags="readonly fast",
    keys=(1, -1, 1),
    access="RO",
    tips="request_policy:multi_shard response_policy:agg_sum",
    group="generic",
    since="3.2.1",
    complexity="O(N) in the number of keys",
)
def touch(c: Client, *keys: bytes) -> Reply:
    """TOUCH key [key ...]

    Marks keys as used just now; how many of them exist.

    expire.c: touchCommand()
    """
    return sum(c.db.lookup_key_read(key) is not None for key in keys)


@command(
    "type",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="generic",
    since="1.0.0",
)
def type_(c: Client, key: bytes) -> Reply:
    """TYPE key

    The type of what a key holds, or none.

    db.c: typeCommand()
    """
    o = c.db.lookup_key(key, LOOKUP_NOTOUCH)
    return Status(b"none" if o is None else TYPE_NAMES[o.type])


@command(
    "randomkey",
    arity=1,
    flags="readonly",
    tips="request_policy:all_shards nondeterministic_output",
    group="generic",
    since="1.0.0",
    touches_arbitrary_keys=True,
)
def randomkey(c: Client) -> Reply:
    """RANDOMKEY

    The name of some key, each nearly as likely as any other.

    db.c: randomkeyCommand()
    """
    return c.db.random_key()


def _rename(c: Client, key: bytes, newkey: bytes, nx: bool) -> Reply:
    """db.c: renameGenericCommand()"""
    db, server = c.db, c.server
    o = db.lookup_key_write(key)
    if o is None:
        raise no_such_key()
    if key == newkey:
        return 0 if nx else OK
    when = db.get_expire(key)
    if db.lookup_key_write(newkey) is not None:
        if nx:
            return 0
        db.delete(newkey)
    if db.rename_deletes_first:
        db.delete(key)
    db.add(newkey, o)
    if when != NO_EXPIRE:
        db.set_expire_by_link(newkey, when)
    if not db.rename_deletes_first:
        db.delete(key)
    server.signal_modified_key(db, key)
    server.signal_modified_key(db, newkey)
    db.notify(NOTIFY_GENERIC, b"rename_from", key)
    db.notify(NOTIFY_GENERIC, b"rename_to", newkey)
    server.dirty += 1
    return 1 if nx else OK


@command(
    "rename",
    arity=3,
    flags="write",
    keys=(1, 2, 1),
    specs=(KeySpec("RW access delete", index=1), KeySpec("OW update", index=2)),
    group="generic",
    since="1.0.0",
)
def rename(c: Client, key: bytes, newkey: bytes) -> Reply:
    """RENAME key newkey

    Gives a key another name, which takes its time to live along.

    db.c: renameCommand()
    """
    return _rename(c, key, newkey, nx=False)


@command(
    "renamenx",
    arity=3,
    flags="write fast",
    keys=(1, 2, 1),
    specs=(KeySpec("RW access delete", index=1), KeySpec("OW insert", index=2)),
    group="generic",
    since="1.0.0",
)
def renamenx(c: Client, key: bytes, newkey: bytes) -> Reply:
    """RENAMENX key newkey

    Gives a key another name unless that name is taken.

    db.c: renamenxCommand()
    """
    return _rename(c, key, newkey, nx=True)


def _database(c: Client, number: bytes) -> RedisDb:
    id = get_int(number)
    if not 0 <= id < len(c.server.databases):
        raise db_out_of_range()
    return c.server.databases[id]


@command(
    "move",
    arity=3,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access update",
    group="generic",
    since="1.0.0",
)
def move(c: Client, key: bytes, db: bytes) -> Reply:
    """MOVE key db

    Moves a key to another database, unless it exists there.

    db.c: moveCommand()
    """
    src, dst = c.db, _database(c, db)
    if src is dst:
        raise CommandError(_SAME_OBJECT)
    o = src.lookup_key_write(key)
    if o is None:
        return 0
    when = src.get_expire(key)
    if dst.lookup_key_write(key) is not None:
        return 0
    dst.add(key, o)
    if when != NO_EXPIRE:
        dst.set_expire(key, when)
    src.delete(key)
    for side, event in ((src, b"move_from"), (dst, b"move_to")):
        c.server.signal_modified_key(side, key)
        side.notify(NOTIFY_GENERIC, event, key)
    c.server.dirty += 1
    return 1


@command(
    "copy",
    arity=-3,
    flags="write denyoom",
    keys=(1, 2, 1),
    specs=(KeySpec("RO access", index=1), KeySpec("OW update", index=2)),
    group="generic",
    since="6.2.0",
    complexity="O(N) in the number of elements; O(1) for strings",
)
def copy(c: Client, key: bytes, newkey: bytes, *args: bytes) -> Reply:
    """COPY source destination [DB destination-db] [REPLACE]

    Copies a key with its time to live.

    db.c: copyCommand()
    """
    dst, replace = c.db, False
    rest = list(args)
    while rest:
        option = word(rest.pop(0))
        if option == b"replace":
            replace = True
        elif option == b"db" and rest:
            dst = _database(c, rest.pop(0))
        else:
            raise syntax_error()
    if dst is c.db and key == newkey:
        raise CommandError(_SAME_OBJECT)
    o = c.db.lookup_key_read(key)
    if o is None:
        return 0
    when = c.db.get_expire(key)
    occupied = dst.lookup_key_write(newkey) is not None
    if occupied and not replace:
        return 0
    duplicate = dup_object(o, c.server.new_object_lru, c.server.rng)
    if occupied:
        dst.delete(newkey)
    dst.add(newkey, duplicate)
    if when != NO_EXPIRE:
        dst.set_expire(newkey, when)
    c.server.signal_modified_key(dst, newkey)
    dst.notify(NOTIFY_GENERIC, b"copy_to", newkey)
    c.server.dirty += 1
    return 1


# -- whole databases ------------------------------------------------------------------


@command(
    "dbsize",
    arity=1,
    flags="readonly fast",
    tips="request_policy:all_shards response_policy:agg_sum",
    group="server",
    acl="keyspace",
    since="1.0.0",
)
def dbsize(c: Client) -> Reply:
    """DBSIZE

    Number of keys in the database; keys that died and were not met yet count.

    db.c: dbsizeCommand()
    """
    return len(c.db)


def _flush(c: Client, databases: list[RedisDb], args: tuple[bytes, ...]) -> Reply:
    if len(args) > 1 or (args and word(args[0]) not in (b"sync", b"async")):
        raise syntax_error()
    keys = c.server.empty_data(databases)
    c.server.dirty += keys
    if word(args[0]) == b"async" if args else c.server.config.lazyfree_lazy_user_flush:
        c.server.stat_lazyfreed_objects += keys
    c.force_command_propagation(PROPAGATE_BOTH)
    return OK


@command(
    "flushdb",
    arity=-1,
    flags="write",
    tips="request_policy:all_shards response_policy:all_succeeded",
    group="server",
    acl="keyspace dangerous",
    since="1.0.0",
    complexity="O(N) in the number of keys of the database",
)
def flushdb(c: Client, *args: bytes) -> Reply:
    """FLUSHDB [ASYNC | SYNC]

    Deletes all keys of the database.

    db.c: flushdbCommand()
    """
    return _flush(c, [c.db], args)


@command(
    "flushall",
    arity=-1,
    flags="write",
    tips="request_policy:all_shards response_policy:all_succeeded",
    group="server",
    acl="keyspace dangerous",
    since="1.0.0",
    complexity="O(N) in the number of keys of all databases",
)
def flushall(c: Client, *args: bytes) -> Reply:
    """FLUSHALL [ASYNC | SYNC]

    Deletes all keys of all databases.

    db.c: flushallCommand()
    """
    return _flush(c, c.server.databases, args)


@command(
    "swapdb",
    arity=3,
    flags="write fast",
    group="server",
    acl="keyspace dangerous",
    since="4.0.0",
    complexity="O(N) in the number of clients that watch keys of either database",
)
def swapdb(c: Client, index1: bytes, index2: bytes) -> Reply:
    """SWAPDB index1 index2

    Exchanges two databases under the feet of their clients.

    db.c: swapdbCommand()
    """
    id1 = get_int(index1, "invalid first DB index")
    id2 = get_int(index2, "invalid second DB index")
    databases = c.server.databases
    if not (0 <= id1 < len(databases) and 0 <= id2 < len(databases)):
        raise db_out_of_range()
    c.server.swap_databases(databases[id1], databases[id2])
    c.server.dirty += 1
    return OK
