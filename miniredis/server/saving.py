"""What a ``Server`` offers about its data as files: bytes out, bytes in.

:class:`Saving` is a base of ``Server``; the work is done in ``persistence.py``, which is
imported when it is first needed.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, cast

from miniredis.server.config import Config

if TYPE_CHECKING:
    from miniredis.server.persistence import Persistence
    from miniredis.server.server import Server


class Saving:
    """Base of ``Server``; the attributes below are its."""

    config: Config
    lock: threading.RLock

    def _check_open(self) -> None:
        raise NotImplementedError

    @cached_property
    def persistence(self) -> Persistence:
        """What SAVE and the append-only file keep."""
        from miniredis.server.persistence import Persistence

        return Persistence(cast("Server", self))

    def follow_appendonly(self) -> None:
        """Keep an append-only file, or none any more, as ``appendonly`` says now."""
        if self.config.appendonly or "persistence" in self.__dict__:
            self.persistence.aof.follow_config()

    def rdb(self) -> bytes:
        """The data set as an RDB file of version 10, which Redis 7.0 and later load.

        Times to live, libraries of functions and every encoding are in it. O(bytes).
        rdb.c: rdbSaveRio()
        """
        with self.lock:
            self._check_open()
            return self.persistence.rdb()

    def load_rdb(self, data: bytes) -> int:
        """Replace all data and libraries by those of an RDB file; how many keys were loaded.

        Keys past their time are passed over. Raises ``ValueError``, with nothing changed, if
        *data* is no RDB file, damaged, newer than version 10, or needs modules or more
        databases; ``TypeError`` if it is not bytes. O(bytes). rdb.c: rdbLoad()
        """
        if not isinstance(data, bytes):
            raise TypeError(f"an RDB file is bytes, not {type(data).__name__}")
        with self.lock:
            self._check_open()
            return self.persistence.replace(data)
