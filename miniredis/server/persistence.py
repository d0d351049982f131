"""Saving the data set and loading it: SAVE, BGSAVE, and the file of a server without files.

The simulator writes no file by itself. What Redis would write is made in full, byte for
byte in its format, and kept in memory as :attr:`Persistence.saved`; ``Server.rdb`` hands it
out, and ``miniredis serve --rdb`` keeps it on disk. So DEBUG RELOAD passes through the same
bytes as a real server's, and a real server can read them.

Nothing is done in the background: a BGSAVE has ended when its command has, and what it
reports meanwhile ("started") is all that differs from SAVE. Save points are kept and not
acted on.

Redis: ``rdbSave()``, ``rdbSaveBackground()``, ``rdbPopulateSaveInfo()`` in rdb.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from miniredis.errors import CommandError
from miniredis.keyspace.object import (
    RedisObject,
    estimate_object_idle_time,
    lfu_decr_and_return,
    lfu_get_time_in_minutes,
)
from miniredis.keyspace.rdb import rdb_load_db
from miniredis.keyspace.rdb_file import Access, AccessField, RdbFileWriter
from miniredis.keyspace.rdb_file_load import RdbFile, rdb_load_file
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.keyspace.rdb_types import RDB_OPCODE_FREQ, RDB_OPCODE_IDLE
from miniredis.server.aof import AppendOnlyFile
from miniredis.server.functions import Functions
from miniredis.server.info_memory import info_memory

if TYPE_CHECKING:
    from miniredis.server.server import Server

REDIS_VERSION = b"7.0.15"
POINTER_BITS = b"64"
US_PER_SECOND = 1_000_000
MS_PER_SECOND = 1000


class Persistence:
    """What one server has saved.

    ``saved`` is the file as it was last written, None before; ``on_save``, if set, is given
    every new one, and an OSError that it raises makes SAVE fail. A BGSAVE, or a rewrite of
    the append-only file, that is scheduled waits for the next cron.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.saved: bytes | None = None
        self.on_save: Callable[[bytes], None] | None = None
        self.bgsave_scheduled = False
        self.last_bgsave_ok = True
        self.last_bgsave_seconds = -1
        self.rdb_saves = 0
        self.aof = AppendOnlyFile(server)

    def schedule_bgsave(self) -> None:
        """Save in the next cron."""
        self.bgsave_scheduled = self.server.saving_scheduled = True

    def cron(self) -> None:
        """Do what was put off because a transaction ran. server.c: serverCron()"""
        self.server.saving_scheduled = False
        if self.aof.rewrite_scheduled:
            self.aof.rewrite()
        if self.bgsave_scheduled:
            self.bgsave()

    # -- writing -----------------------------------------------------------------------------

    def rdb(
        self,
        *,
        aof_base: bool = False,
        data: bool = True,
        functions: bool = True,
        compress: bool = True,
    ) -> bytes:
        """The data set as an RDB file, or only its keys or libraries. O(bytes).

        *compress* as the configuration says, or not at all: compressing a value takes some
        µs a byte here, more than sending it. rdb.c: rdbSaveRio()
        """
        server = self.server
        config = server.config
        rdb = RdbFileWriter(compress and config.rdbcompression)
        rdb.aux(b"redis-ver", REDIS_VERSION)
        rdb.aux(b"redis-bits", POINTER_BITS)
        rdb.aux(b"ctime", b"%d" % (server.clock.us() // US_PER_SECOND))
        rdb.aux(b"used-mem", str(info_memory(server)["used_memory"]).encode())
        if server.repl.has_history():
            rdb.aux(b"repl-stream-db", b"%d" % server.repl.repl_stream_db())
            rdb.aux(b"repl-id", server.replid.encode())
            rdb.aux(b"repl-offset", b"%d" % server.repl.master_repl_offset)
        rdb.aux(b"aof-base", b"1" if aof_base else b"0")
        if functions:
            for library in server.scripting.functions.libraries.values():
                rdb.function(library.code)
        if data:
            access = self._access()
            for db in server.databases:
                rdb.database(db, access)
        return rdb.end(config.rdbchecksum)

    def _access(self) -> Access:
        """What to save of accesses: it depends on the policy. rdb.c: rdbSaveKeyValuePair()"""
        server = self.server
        if server.maxmemory_lfu:
            minutes = lfu_get_time_in_minutes(server.mstime // MS_PER_SECOND)
            decay_time: int = server.config.lfu_decay_time
            return lambda o: (RDB_OPCODE_FREQ, lfu_decr_and_return(o, minutes, decay_time))
        if "lru" in server.config.maxmemory_policy:
            clock = server.lru_clock()
            return lambda o: _idle(o, clock)
        return lambda o: None

    def save(self, *, compress: bool = True) -> None:
        """Make ``saved`` anew; OSError if it cannot be kept where ``on_save`` wants it.

        rdb.c: rdbSave()
        """
        server = self.server
        data = self.rdb(compress=compress)
        if self.on_save is not None:
            self.on_save(data)
        self.saved = data
        server.dirty = 0
        server.lastsave = server.clock.us() // US_PER_SECOND
        self.last_bgsave_ok = True

    def bgsave(self) -> bool:
        """The same in the background, which is here at once; whether it worked.

        rdb.c: rdbSaveBackground(), backgroundSaveDoneHandlerDisk()
        """
        self.bgsave_scheduled = False
        self.rdb_saves += 1
        started = self.server.clock.us() // US_PER_SECOND
        try:
            self.save()
        except OSError:
            self.last_bgsave_ok = False
        self.last_bgsave_seconds = self.server.clock.us() // US_PER_SECOND - started
        return self.last_bgsave_ok

    # -- loading -----------------------------------------------------------------------------

    def read(self, data: bytes) -> RdbFile:
        """What is in a file, before anything is changed. RdbError if it is not usable."""
        return rdb_load_file(data, self.server, len(self.server.databases))

    def read_libraries(self, file: RdbFile) -> Functions:
        """The libraries of a file, loaded, but not yet the server's. RdbError if one fails."""
        scripting = self.server.scripting
        old = scripting.functions
        scripting.functions = loaded = Functions(scripting)
        try:
            for code in file.functions:
                loaded.load(code, replace=False)
        except CommandError as error:
            raise RdbError(f"a library does not load: {error}") from error
        finally:
            scripting.functions = old
        return loaded

    def load(self, file: RdbFile, libraries: Functions, *, keep_dead: bool = False) -> None:
        """Fill the server, which must be empty, with what was in a file.

        *keep_dead* takes in keys past their time too: what follows may still mean them.
        rdb.c: rdbLoadRioWithLoadingCtx()
        """
        server = self.server
        server.scripting.functions = libraries
        now = None if keep_dead else server.now_ms()
        server.rdb_last_load_keys_expired = 0
        loaded = 0
        for dbid, saved in file.databases.items():
            expired = rdb_load_db(server.databases[dbid], saved, now)
            server.rdb_last_load_keys_expired += expired
            loaded += len(saved.keys) - expired
        server.rdb_last_load_keys_loaded = loaded

    def replace(self, data: bytes, *, keep_dead: bool = False) -> int:
        """Take what is in a file instead of everything; how many keys were loaded.

        RdbError, with nothing changed, if the file is not usable.
        """
        file = self.read(data)
        libraries = self.read_libraries(file)
        self.empty()
        self.load(file, libraries, keep_dead=keep_dead)
        return self.server.rdb_last_load_keys_loaded

    def empty(self) -> None:
        """Drop all keys and libraries. db.c: emptyData()"""
        server = self.server
        server.empty_data(server.databases)
        if server.scripting.functions.libraries:
            server.scripting.functions.flush()

    def reload(self, *, save: bool = True, flush: bool = True, merge: bool = False) -> None:
        """DEBUG RELOAD: save, forget everything, load what was saved.

        RdbError, with nothing changed, if there is nothing to load, or if a key is there
        already and *merge* does not let the loaded one take its place. debug.c: debugCommand()
        """
        if save:
            self.save(compress=self.on_save is not None)
        if self.saved is None:
            raise RdbError("nothing was saved yet")
        if flush:
            self.replace(self.saved)
        else:
            self._add(self.read(self.saved), merge)

    def _add(self, file: RdbFile, merge: bool) -> None:
        """Load what is in a file beside what is there. rdb.c: RDBFLAGS_ALLOW_DUP"""
        server = self.server
        twice = [
            (server.databases[dbid], key)
            for dbid, saved in file.databases.items()
            for key, _, _ in saved.keys
            if key in server.databases[dbid].dict.index
        ]
        libraries = self.read_libraries(file)
        old = server.scripting.functions.libraries
        if not merge and (twice or libraries.libraries.keys() & old.keys()):
            raise RdbError("a key or library is there already")
        file.functions += [
            library.code for name, library in old.items() if name not in libraries.libraries
        ]
        libraries = self.read_libraries(file)
        for db, key in twice:
            db.delete(key)
        self.load(file, libraries)


def _idle(o: RedisObject, lru_clock: int) -> AccessField:
    return RDB_OPCODE_IDLE, estimate_object_idle_time(o, lru_clock) // MS_PER_SECOND
