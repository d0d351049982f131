"""A frozen real server with an append-only file and a replica, and a simulated one, in step."""

from __future__ import annotations

from miniredis import Server
from miniredis.clock import FREE
from tests.differential.layout import learn_hashes
from tests.differential.pair import KEYS, Pair
from tests.real.frozen import FrozenServer
from tests.real.streams import AofReader, SyncReader

MARK = [b"PUBLISH", b"stream_pair", b"end"]
PING = [b"ping"]


class StreamPair(Pair):
    """Compares what both servers write: to the file, and to replicas.

    The hashes of KEYS are those of the real server, so that keys which die together are
    deleted in the same order.
    """

    def __init__(self, frozen: FrozenServer) -> None:
        super().__init__(frozen)
        self.hashes = learn_hashes(self.real[0], KEYS)
        self.aof = AofReader(frozen)
        self.sync = SyncReader(frozen, lambda: frozen.advance_ms(100))
        self.lazy = False

    def new_server(self) -> Server:
        return Server(
            self.clock,
            cost=FREE,
            hash_function=lambda key: self.hashes.get(key, 0),
            lazyfree_lazy_expire=self.lazy,
            notify_keyspace_events="AKEmn",
        )

    def start(self, resp: int = 2, *, active: bool = False, lazy: bool = False) -> None:
        """Begin anew; the streams of both sides stand in database 0, with nothing to compare."""
        self.lazy = lazy
        yes = b"yes" if lazy else b"no"
        self.real[0](b"CONFIG", b"SET", b"lazyfree-lazy-expire", yes)
        # The real cron counts from its own start.
        self.frozen.advance_ms((self.frozen.next_cron_us - self.frozen.us) // 1000 - 1)
        super().start(resp)
        self.my_aof = self.server.append_only_stream()
        self.my_sync = self.server.replication_stream()
        for _ in range(2):  # from another database, so that a SELECT is due
            self.step((0, (b"SELECT", b"1")))
            self.step((0, (b"FLUSHALL",)))
            self.step((0, (b"SELECT", b"0")))
            self.step((0, (b"FLUSHALL",)))
        self.new_commands()
        self.real[0](b"DEBUG", b"SET-ACTIVE-EXPIRE", b"%d" % active)
        self.server.active_expire_enabled = active

    def new_commands(self) -> list[tuple[list[list[bytes]], list[list[bytes]]]]:
        """What was written since the last call: (real, simulated) of the file and the replica.

        The PINGs that a replica gets follow a count of seconds since the server's start.
        """
        self.step((0, tuple(MARK)))
        mine = [argv for argv in self.my_sync if argv != PING]
        assert mine.pop() == MARK
        real = [argv for argv in self.sync.until(MARK) if argv != PING]
        written = [(self.aof.new(), list(self.my_aof)), (real, mine)]
        self.my_aof.clear()
        self.my_sync.clear()
        return written

    def compare_streams(self) -> list[list[bytes]]:
        """The same commands on both sides; those of the file."""
        (real_aof, my_aof), (real_sync, my_sync) = self.new_commands()
        assert my_aof == real_aof, (my_aof, real_aof)
        assert my_sync == real_sync, (my_sync, real_sync)
        return my_aof

    def close(self) -> None:
        self.aof.close()
        self.sync.close()
