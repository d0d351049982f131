"""DEBUG subcommands about values: comparing them, and how they are kept.

Redis: ``computeDatasetDigest()``, ``debugCommand()`` in debug.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.errors import CommandError, no_such_key
from miniredis.keyspace.db import LOOKUP_NONOTIFY, LOOKUP_NOTOUCH, NO_EXPIRE, RedisDb
from miniredis.keyspace.digest import Digest
from miniredis.keyspace.object import OBJ_STRING, RedisObject
from miniredis.reply import OK, Reply, Status, Verbatim
from miniredis.structs.dict_stats import dict_get_stats

if TYPE_CHECKING:
    from miniredis.server.client import Client

TYPE_BYTES = 4  # a type, and a database's number, go into a digest as 32 bits
EXPIRE_MARK = b"!!expire!!"  # goes into a digest if the key has a time to live


def add_object_to_digest(db: RedisDb, key: bytes, digest: Digest, o: RedisObject) -> None:
    """Add type and elements, and whether *key* has a time to live, not how long it is.

    debug.c: xorObjectDigest()
    """
    digest.mix(o.type.to_bytes(TYPE_BYTES, "big"))
    expire = db.get_expire(key)
    if o.type == OBJ_STRING:
        digest.mix(bytes(o.ptr))
    else:
        o.ptr.add_to_digest(digest)
    if expire != NO_EXPIRE:
        digest.xor(EXPIRE_MARK)


def debug_digest(c: Client) -> Reply:
    """DEBUG DIGEST: of all databases. O(elements). debug.c: computeDatasetDigest()"""
    final = Digest()
    for db in c.server.databases:
        if not len(db):
            continue
        final.mix(db.id.to_bytes(TYPE_BYTES, "big"))
        for entry in db.entries():
            digest = Digest()
            digest.mix(entry.key)
            add_object_to_digest(db, entry.key, digest, entry.val)
            final.xor(digest.raw())
    return Status(final.hex())


def debug_digest_value(c: Client, *keys: bytes) -> Reply:
    """DEBUG DIGEST-VALUE: of each key's value alone; zeros for a missing key.

    Dead keys that were not met yet count. debug.c: debugCommand()
    """
    digests = []
    for key in keys:
        digest = Digest()
        entry = c.db.dict.find(key)
        if entry is not None:
            add_object_to_digest(c.db, key, digest, entry.val)
        digests.append(Status(digest.hex()))
    return digests


def debug_htstats_key(c: Client, key: bytes) -> Reply:
    """DEBUG HTSTATS-KEY: size and chains of a value's hash table. debug.c: debugCommand()"""
    o = c.db.lookup_key(key, LOOKUP_NOTOUCH | LOOKUP_NONOTIFY)
    if o is None:
        raise no_such_key()
    scan_table = getattr(o.ptr, "scan_table", None)
    table = None if scan_table is None else scan_table()
    if table is None:
        raise CommandError(
            "ERR The value stored at the specified key is not represented using an hash table"
        )
    return Verbatim(dict_get_stats(table).encode())


def debug_quicklist_packed_threshold(c: Client, size: bytes) -> Reply:
    """DEBUG QUICKLIST-PACKED-THRESHOLD: from which size an element of a list has its own node.

    O(keys). debug.c: debugCommand()
    """
    if not c.server.set_quicklist_packed_threshold(size):
        raise CommandError("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
    return OK
