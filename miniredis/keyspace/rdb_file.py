"""A whole RDB file as bytes: a header, fields about it, libraries, databases, a checksum.

    REDIS0010              magic and version of the format
    fa <name> <value>      fields: who wrote it, when, where the replication stream stands
    f5 <code>              a library of functions
    fe 00  fb 02 01        database 0; it will hold 2 keys, 1 of them with a time to live
    fc <8 bytes>           the key that follows dies at this time (Unix ms)
    00 <key> <value>       type, key, value
    ff <8 bytes>           the end, and the checksum of all that is before it

Redis: ``rdbSaveRio()`` in rdb.c.
"""

from __future__ import annotations

from collections.abc import Callable

from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.object import RedisObject
from miniredis.keyspace.rdb_save import RdbWriter, rdb_object_type, rdb_save_value
from miniredis.keyspace.rdb_types import (
    RDB_CRC_SIZE,
    RDB_MAGIC,
    RDB_OPCODE_AUX,
    RDB_OPCODE_EOF,
    RDB_OPCODE_EXPIRETIME_MS,
    RDB_OPCODE_FREQ,
    RDB_OPCODE_FUNCTION2,
    RDB_OPCODE_IDLE,
    RDB_OPCODE_RESIZEDB,
    RDB_OPCODE_SELECTDB,
    RDB_VERSION,
    RDB_VERSION_DIGITS,
)
from miniredis.structs.crc64 import crc64

AccessField = tuple[int, int]
#: What is saved of a value's accesses: (RDB_OPCODE_IDLE, seconds), (RDB_OPCODE_FREQ, counter).
Access = Callable[[RedisObject], AccessField | None]


class RdbFileWriter(RdbWriter):
    """A file that grows in the order of its methods; :meth:`end` returns its bytes."""

    __slots__ = ()

    def __init__(self, compression: bool = True) -> None:
        super().__init__(compression)
        self.out += RDB_MAGIC + str(RDB_VERSION).zfill(RDB_VERSION_DIGITS).encode()

    def aux(self, name: bytes, value: bytes) -> None:
        """A field that readers may ignore. rdb.c: rdbSaveAuxField()"""
        self.out.append(RDB_OPCODE_AUX)
        self.string(name)
        self.string(value)

    def function(self, code: bytes) -> None:
        """A library of functions. rdb.c: rdbSaveFunctions()"""
        self.out.append(RDB_OPCODE_FUNCTION2)
        self.string(code)

    def database(self, db: RedisDb, access: Access) -> None:
        """All keys of *db* in the order of its buckets. O(bytes). rdb.c: rdbSaveDb()"""
        if not len(db.dict):
            return
        self.out.append(RDB_OPCODE_SELECTDB)
        self.len(db.id)
        self.out.append(RDB_OPCODE_RESIZEDB)
        self.len(len(db.dict))
        self.len(len(db.expires))
        expires = db.expires.index
        for entry in db.entries():
            when = expires.get(entry.key)
            self._key(entry.key, entry.val, None if when is None else when.val, access(entry.val))

    def _key(self, key: bytes, o: RedisObject, when: int | None, used: AccessField | None) -> None:
        """rdb.c: rdbSaveKeyValuePair()"""
        if when is not None:
            self.out.append(RDB_OPCODE_EXPIRETIME_MS)
            self.ms(when)
        if used is not None:
            opcode, number = used
            self.out.append(opcode)
            if opcode == RDB_OPCODE_FREQ:
                self.out.append(number)
            else:
                assert opcode == RDB_OPCODE_IDLE
                self.len(number)
        self.out.append(rdb_object_type(o))
        self.string(key)
        rdb_save_value(self, o)

    def end(self, checksum: bool = True) -> bytes:
        """The whole file; without *checksum* it ends with zeros, which are not checked."""
        self.out.append(RDB_OPCODE_EOF)
        crc = crc64(0, self.out) if checksum else 0
        self.out += crc.to_bytes(RDB_CRC_SIZE, "little")
        return bytes(self.out)
