"""Reading a whole RDB file, also those of older servers, before anything is done with it.

A file that is damaged in any place, or holds what this server cannot (data of modules),
changes nothing: it is read to its end first. :func:`rdb_load_db` of ``rdb.py`` then puts
the values where they belong.

Redis: ``rdbLoadRioWithLoadingCtx()`` in rdb.c, which fills the databases as it reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from miniredis.keyspace.db import NO_EXPIRE
from miniredis.keyspace.object import LRU_CLOCK_MAX, RedisObject, lfu_get_time_in_minutes
from miniredis.keyspace.rdb import SavedDb
from miniredis.keyspace.rdb_load import LoadServer, rdb_load_object
from miniredis.keyspace.rdb_reader import RdbEmptyKeyError, RdbError, RdbReader
from miniredis.keyspace.rdb_types import (
    RDB_CRC_SIZE,
    RDB_MAGIC,
    RDB_OPCODE_AUX,
    RDB_OPCODE_EOF,
    RDB_OPCODE_EXPIRETIME,
    RDB_OPCODE_EXPIRETIME_MS,
    RDB_OPCODE_FREQ,
    RDB_OPCODE_FUNCTION2,
    RDB_OPCODE_FUNCTION_PRE_GA,
    RDB_OPCODE_IDLE,
    RDB_OPCODE_MODULE_AUX,
    RDB_OPCODE_RESIZEDB,
    RDB_OPCODE_SELECTDB,
    RDB_VERSION,
    RDB_VERSION_CHECKSUM,
    RDB_VERSION_DIGITS,
)
from miniredis.structs.crc64 import crc64

MS_PER_SECOND = 1000


class FileServer(LoadServer, Protocol):
    """What a file needs of the server that it is read for."""

    maxmemory_lfu: bool
    lruclock: int

    def now_ms(self) -> int:
        """The time in ms."""


@dataclass(slots=True)
class RdbFile:
    """What was in a file. ``size`` is its length in bytes."""

    aux: dict[bytes, bytes] = field(default_factory=dict)
    functions: list[bytes] = field(default_factory=list)
    databases: dict[int, SavedDb] = field(default_factory=dict)
    size: int = 0


def rdb_load_file(data: bytes, server: FileServer, databases: int) -> RdbFile:
    """All that is in *data*, for a server of so many *databases*. O(bytes).

    RdbError if it is no RDB file, damaged, too new, or needs modules or more databases.
    """
    return _FileReader(data, server, databases).read()


class _FileReader:
    """One pass over a file; ``when``, ``idle`` and ``freq`` belong to the key that follows."""

    def __init__(self, data: bytes, server: FileServer, databases: int) -> None:
        self.rdb = RdbReader(data)
        self.server = server
        self.dbnum = databases
        self.file = RdbFile()
        self.version = self._version()
        self.seen: set[bytes] = set()
        self.when = NO_EXPIRE
        self.idle = self.freq = -1  # not given
        self.db = self._select(0)

    def _version(self) -> int:
        magic = self.rdb.raw(len(RDB_MAGIC))
        digits = self.rdb.raw(RDB_VERSION_DIGITS)
        if magic != RDB_MAGIC or not digits.isdigit():
            raise RdbError("this is no RDB file")
        version = int(digits)
        if not 1 <= version <= RDB_VERSION:
            raise RdbError(f"RDB files of version {version} are not known, up to {RDB_VERSION} are")
        return version

    def _select(self, dbid: int) -> SavedDb:
        if dbid >= self.dbnum:
            raise RdbError(f"the file has database {dbid}, the server only {self.dbnum}")
        db = self.file.databases.setdefault(dbid, SavedDb([], 0, 0))
        self.seen = {key for key, _, _ in db.keys}
        return db

    def read(self) -> RdbFile:
        """The whole file."""
        rdb = self.rdb
        while (type := rdb.byte()) != RDB_OPCODE_EOF:
            if type < RDB_OPCODE_FUNCTION2:
                self._key(type)
            else:
                self._opcode(type)
        if self.version >= RDB_VERSION_CHECKSUM:
            body = rdb.data[: rdb.at]
            checksum = int.from_bytes(rdb.raw(RDB_CRC_SIZE), "little")
            if checksum and checksum != crc64(0, body):
                raise RdbError("the checksum of the file is wrong")
        self.file.size = rdb.at
        return self.file

    def _opcode(self, opcode: int) -> None:
        """What stands between keys."""
        rdb, file = self.rdb, self.file
        if opcode == RDB_OPCODE_EXPIRETIME_MS:
            self.when = rdb.ms()
        elif opcode == RDB_OPCODE_EXPIRETIME:
            self.when = int.from_bytes(rdb.raw(4), "little", signed=True) * MS_PER_SECOND
        elif opcode == RDB_OPCODE_FREQ:
            self.freq = rdb.byte()
        elif opcode == RDB_OPCODE_IDLE:
            self.idle = rdb.number()
        elif opcode == RDB_OPCODE_SELECTDB:
            self.db = self._select(rdb.number())
        elif opcode == RDB_OPCODE_RESIZEDB:
            self.db.db_size, self.db.expires_size = rdb.len(), rdb.len()
        elif opcode == RDB_OPCODE_AUX:
            name = rdb.string()
            file.aux[name.lower()] = rdb.string()
        elif opcode == RDB_OPCODE_FUNCTION2:
            file.functions.append(rdb.string())
        elif opcode == RDB_OPCODE_FUNCTION_PRE_GA:
            raise RdbError("the file has functions of a preliminary Redis 7")
        else:
            assert opcode == RDB_OPCODE_MODULE_AUX
            raise RdbError("the file has data of a module")

    def _key(self, type: int) -> None:
        key = self.rdb.string()
        try:
            o = rdb_load_object(type, self.rdb, self.server)
        except RdbEmptyKeyError:
            o = None  # older servers could write such; they are passed over
        if o is not None:
            if key in self.seen:
                raise RdbError("a key comes twice")
            self.seen.add(key)
            self._note_access(o)
            self.db.keys.append((key, o, self.when))
        self.when = NO_EXPIRE
        self.idle = self.freq = -1

    def _note_access(self, o: RedisObject) -> None:
        """How long ago, or how often, it was used. object.c: objectSetLRUOrLFU()"""
        server = self.server
        if server.maxmemory_lfu:
            if self.freq >= 0:
                minutes = lfu_get_time_in_minutes(server.now_ms() // MS_PER_SECOND)
                o.lru = minutes << 8 | self.freq
        elif self.idle >= 0:
            lru = server.lruclock - self.idle
            o.lru = (lru + LRU_CLOCK_MAX if lru < 0 else lru) & LRU_CLOCK_MAX
