"""The stream of commands that a server writes to its replicas or append-only file.

Redis: ``catAppendOnlyGenericCommand()`` in aof.c, ``replicationFeedSlaves()`` in replication.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType


def select_command(dbid: int) -> list[bytes]:
    """The command that says which database the following ones mean."""
    return [b"SELECT", b"%d" % dbid]


def resp_command(argv: Sequence[bytes]) -> bytes:
    """*argv* as it is written to a file or socket. O(bytes)."""
    parts = [b"*%d\r\n" % len(argv)]
    parts += [b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in argv]
    return b"".join(parts)


def resp_command_size(argv: Sequence[bytes]) -> int:
    """The length of :func:`resp_command`, by which replication offsets grow. O(arguments).

    ``["DEL", "k"]`` is ``*2 $3 DEL $1 k`` with line ends: 4 + 4+5 + 4+3 = 20 bytes.
    """
    # "*", "$" and "\r\n" around each number, "\r\n" after each argument.
    return len(str(len(argv))) + 3 + sum(len(str(len(arg))) + 3 + len(arg) + 2 for arg in argv)


class CommandStream:
    """Commands in the order in which they were written, SELECT included.

    Made by :meth:`Server.replication_stream` and :meth:`Server.append_only_stream`; grows
    until :meth:`close`. Use it as a context manager, iterate over it, index it.
    """

    def __init__(self) -> None:
        self.commands: list[list[bytes]] = []
        self._on_close: Callable[[], None] | None = None

    def append(self, argv: list[bytes]) -> None:
        """Note a command as it stands."""
        self.commands.append(list(argv))

    def resp(self) -> bytes:
        """All commands as bytes on the wire, or in the file."""
        return b"".join(map(resp_command, self.commands))

    def lines(self) -> list[str]:
        """One command a line for people to read: ``SET k v PXAT 1391234400100``."""
        return [" ".join(_readable(arg) for arg in argv) for argv in self.commands]

    def clear(self) -> None:
        """Forget what was heard so far."""
        self.commands.clear()

    def close(self) -> None:
        """Hear nothing more; what was heard stays. Harmless when called again."""
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    def when_closed(self, undo: Callable[[], None]) -> None:
        """Call *undo* once when the stream is closed."""
        self._on_close = undo

    def __iter__(self) -> Iterator[list[bytes]]:
        return iter(self.commands)

    def __len__(self) -> int:
        return len(self.commands)

    def __getitem__(self, i: int) -> list[bytes]:
        return self.commands[i]

    def __enter__(self) -> CommandStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<CommandStream: {len(self.commands)} commands>"


class AppendOnlyStream(CommandStream):
    """What an append-only file would hold: a sink that puts SELECT before a change of database."""

    def __init__(self) -> None:
        super().__init__()
        self.selected_db = -1  # server.h: aof_selected_db

    def feed(self, dbid: int, argv: list[bytes]) -> None:
        """Write a command. aof.c: feedAppendOnlyFile()"""
        if dbid != self.selected_db:
            self.append(select_command(dbid))
            self.selected_db = dbid
        self.append(argv)


def _readable(arg: bytes) -> str:
    """An argument as text; quoted like a Python literal if it is not plain."""
    text = arg.decode("latin-1")
    plain = bool(text) and text.isascii() and text.isprintable() and " " not in text
    return text if plain else repr(arg)[1:]
