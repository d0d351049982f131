"""LCS: the longest common subsequence of two strings.

Redis: ``lcsCommand()`` in t_string.c.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.t_string import get_string
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.object import OBJ_STRING
from miniredis.reply import Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

CELL_BYTES = 4  # of Redis's table, whose size is limited by proto-max-bulk-len


@dataclass(frozen=True, slots=True)
class Match:
    """A run of equal bytes: first and last position in both strings."""

    a: tuple[int, int]
    b: tuple[int, int]

    def __len__(self) -> int:
        return self.a[1] - self.a[0] + 1


def lcs_table(a: bytes, b: bytes) -> list[array[int]]:
    """``table[i][j]`` is the length of the LCS of ``a[:i]`` and ``b[:j]``. O(N*M)."""
    previous = array("I", bytes(4 * (len(b) + 1)))
    table = [previous]
    for x in a:
        row = array("I", bytes(4 * (len(b) + 1)))
        left = 0
        for j, y in enumerate(b):
            if x == y:
                left = previous[j] + 1
            elif previous[j + 1] > left:
                left = previous[j + 1]
            row[j + 1] = left
        table.append(row)
        previous = row
    return table


def trace_back(a: bytes, b: bytes, table: list[array[int]]) -> tuple[bytes, list[Match]]:
    """The subsequence itself and its runs, from the ends of the strings backwards.

    A run is closed when the next match does not adjoin it. One that begins at the first
    byte of either string is closed at once, as in Redis.
    """
    i, j = len(a), len(b)
    found = bytearray()
    matches: list[Match] = []
    run: Match | None = None
    while i > 0 and j > 0:
        close = False
        if a[i - 1] == b[j - 1]:
            found.append(a[i - 1])
            if run is None:
                run = Match((i - 1, i - 1), (j - 1, j - 1))
            elif run.a[0] == i and run.b[0] == j:
                run = Match((i - 1, run.a[1]), (j - 1, run.b[1]))
            else:
                close = True
            close = close or run.a[0] == 0 or run.b[0] == 0
            i -= 1
            j -= 1
        else:
            if table[i - 1][j] > table[i][j - 1]:
                i -= 1
            else:
                j -= 1
            close = run is not None
        if close and run is not None:
            matches.append(run)
            run = None
    found.reverse()
    return bytes(found), matches


@command(
    "lcs",
    arity=-3,
    flags="readonly",
    keys=(1, 2, 1),
    access="RO access",
    group="string",
    since="7.0.0",
    complexity="O(N*M) in the lengths of the strings",
)
def lcs(c: Client, key1: bytes, key2: bytes, *args: bytes) -> Reply:
    """LCS key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]

    The longest common subsequence of two strings, its length, or where its runs lie.

    t_string.c: lcsCommand()
    """
    objects = [c.db.lookup_key_read(key1), c.db.lookup_key_read(key2)]
    if any(o is not None and o.type != OBJ_STRING for o in objects):
        raise CommandError("ERR The specified keys must contain string values")
    a, b = (get_string(o) or b"" for o in objects)
    options, minmatchlen = _parse(args)
    if "len" in options and "idx" in options:
        raise CommandError("ERR If you want both the length and indexes, please just use IDX.")
    if (len(a) + 1) * (len(b) + 1) * CELL_BYTES > c.server.config.proto_max_bulk_len:
        raise CommandError(
            "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
        )
    table = lcs_table(a, b)
    length = table[len(a)][len(b)]
    if "idx" not in options:
        return length if "len" in options else trace_back(a, b, table)[0]
    rows: list[Reply] = []
    for match in trace_back(a, b, table)[1]:
        if len(match) >= minmatchlen:
            row: list[Reply] = [list(match.a), list(match.b)]
            rows.append([*row, len(match)] if "withmatchlen" in options else row)
    return {b"matches": rows, b"len": length}


def _parse(args: tuple[bytes, ...]) -> tuple[set[str], int]:
    options: set[str] = set()
    minmatchlen = 0
    i = 0
    while i < len(args):
        option = word(args[i])
        if option in (b"idx", b"len", b"withmatchlen"):
            options.add(option.decode())
        elif option == b"minmatchlen" and i + 1 < len(args):
            minmatchlen = max(get_long_long(args[i + 1]), 0)
            i += 1
        else:
            raise syntax_error()
        i += 1
    return options, minmatchlen
