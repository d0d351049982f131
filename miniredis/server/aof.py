"""The append-only file of a server that writes no files: kept in memory, and replayed.

With ``appendonly yes`` the server keeps a *base*, the data set as it was at the last
rewrite, and the commands that came after it. DEBUG LOADAOF forgets everything and makes the
data set anew from both, which shows what such a file does to the order and encoding of
values: the base is an RDB file, or, with ``aof-use-rdb-preamble no``, commands.

A worked example: ``SADD s a``, CONFIG SET appendonly yes, ``SADD s b``. The base holds
``s = {a}``; what follows is ``SELECT 0``, ``SADD s b``. BGREWRITEAOF makes a base with
``{a, b}`` and nothing after it.

Its limits: a rewrite is done when the command that asks for it ends, so none is ever in
progress; nothing survives the process; a server cannot be started from such a file.

Redis: aof.c.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING, CLIENT_MASTER, CLIENT_MULTI
from miniredis.commands.table import lookup
from miniredis.errors import CommandError
from miniredis.keyspace.rdb_reader import RdbError
from miniredis.server.aof_rewrite import rewrite_append_only_file
from miniredis.server.client import Client
from miniredis.server.command_stream import AppendOnlyStream, resp_command_size
from miniredis.server.multi import queue_multi_command

if TYPE_CHECKING:
    from miniredis.server.server import Server

AOF_CLIENT_ID = 0  # networking.c: CLIENT_ID_AOF, of no connection
US_PER_SECOND = 1_000_000


class AppendOnlyFile:
    """Base and tail of one server; ``base`` is None until there is a file at all.

    ``enabled``: what happens is appended. ``size`` and ``base_size`` are in bytes.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.enabled = False
        self.rewrite_scheduled = False
        self.base: bytes | list[list[bytes]] | None = None
        self.base_size = 0
        self.size = 0
        self.rewrites = 0
        self.last_rewrite_seconds = -1
        self._tail = AppendOnlyStream()

    def follow_config(self) -> None:
        """Begin or stop to append, as ``appendonly`` says now. config.c: updateAppendonly()"""
        wanted: bool = self.server.config.appendonly
        if wanted and not self.enabled:
            self.enabled = True
            if self.server.in_exec:
                self.schedule_rewrite()
            else:
                self.rewrite()
        elif self.enabled and not wanted:
            self.enabled = self.rewrite_scheduled = False
            self.server.propagation.remove_sink(self._append)

    def schedule_rewrite(self) -> None:
        """Rewrite in the next cron."""
        self.rewrite_scheduled = self.server.saving_scheduled = True

    def rewrite(self) -> None:
        """Make a new base of the data set as it is. O(bytes).

        aof.c: rewriteAppendOnlyFileBackground(), backgroundRewriteDoneHandler()
        """
        server = self.server
        self.rewrite_scheduled = False
        started = server.clock.us() // US_PER_SECOND
        if server.config.aof_use_rdb_preamble:
            self.base = server.persistence.rdb(aof_base=True, compress=False)
            self.base_size = len(self.base)
        else:
            self.base = list(rewrite_append_only_file(server))
            self.base_size = sum(map(resp_command_size, self.base))
        self._tail = AppendOnlyStream()
        self.size = self.base_size
        self.rewrites += 1
        self.last_rewrite_seconds = server.clock.us() // US_PER_SECOND - started
        server.propagation.remove_sink(self._append)
        if self.enabled:
            server.propagation.add_sink(self._append)

    def _append(self, dbid: int, argv: list[bytes]) -> None:
        """aof.c: feedAppendOnlyFile()"""
        known = len(self._tail)
        self._tail.feed(dbid, argv)
        self.size += sum(map(resp_command_size, self._tail.commands[known:]))
        config = self.server.config
        percentage: int = config.auto_aof_rewrite_percentage
        if self.size > config.auto_aof_rewrite_min_size and percentage:
            growth = self.size * 100 // (self.base_size or 1) - 100
            if growth >= percentage:
                self.schedule_rewrite()

    def load(self) -> None:
        """Forget all data and make it anew from base and tail: DEBUG LOADAOF.

        RdbError, with nothing changed, if there is no file. aof.c: loadAppendOnlyFiles()
        """
        server = self.server
        if self.base is None:
            raise RdbError("there is no append-only file")
        persistence = server.persistence
        overheard = server.overheard
        server.loading, server.overheard = True, False
        server.propagation.targets = 0  # nobody is told. server.c: shouldPropagate()
        try:
            if isinstance(self.base, bytes):
                persistence.replace(self.base, keep_dead=True)
            else:
                persistence.empty()
                self._replay(self.base)
            self._replay(self._tail.commands)
        finally:
            server.loading, server.overheard = False, overheard
            server.update_listeners()
        server.dirty = 0

    def _replay(self, commands: list[list[bytes]]) -> None:
        """Run *commands* without telling anybody; a transaction that never ends is dropped.

        aof.c: loadSingleAppendOnlyFile()
        """
        c = Client(self.server, AOF_CLIENT_ID, "", "")
        # Commands of the file are obeyed as a primary's are. server.c: mustObeyClient()
        c.flags |= CLIENT_DENY_BLOCKING | CLIENT_MASTER
        for argv in commands:
            cmd = lookup(argv)
            assert cmd is not None and cmd.proc is not None, argv[0]
            if c.flags & CLIENT_MULTI and cmd.queueable:
                queue_multi_command(c, cmd, argv)
                continue
            c.cmd, c.argv = cmd, argv
            with contextlib.suppress(CommandError):  # Redis goes on too
                cmd.proc(c, *argv[1:])
            c.outbox.clear()
        c.unwatch_all_keys()
