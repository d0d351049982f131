"""Walking the keyspace and large values: KEYS, and what SCAN, HSCAN, SSCAN and ZSCAN share.

Redis: ``keysCommand()``, ``scanGenericCommand()`` in db.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.db import LOOKUP_NOTOUCH
from miniredis.keyspace.object import TYPE_NAMES
from miniredis.reply import Reply
from miniredis.structs.dict import Dict, DictEntry
from miniredis.structs.glob import stringmatch

if TYPE_CHECKING:
    from miniredis.server.client import Client

SCAN_DEFAULT_COUNT = 10
SCAN_ITERATIONS_PER_COUNT = 10  # buckets visited at most for each key wanted
ULONG_MAX = 2**64 - 1
ULONG_DIGITS = 20  # of the largest; leading zeros may come before, any number of them
_CURSOR = re.compile(rb"([+-]?)(?=\d)0*(\d*)\Z")


@command(
    "keys",
    arity=2,
    flags="readonly",
    tips="request_policy:all_shards nondeterministic_output_order",
    group="generic",
    acl="keyspace dangerous",
    since="1.0.0",
    complexity="O(N) in the number of keys",
)
def keys(c: Client, pattern: bytes) -> Reply:
    """KEYS pattern

    All keys whose name matches a glob pattern; dead ones are hidden but not deleted.

    db.c: keysCommand()
    """
    db = c.db
    everything = pattern == b"*"
    return [
        entry.key
        for entry in db.entries()
        if (everything or stringmatch(pattern, entry.key)) and not db.key_is_expired(entry.key)
    ]


def parse_scan_cursor(text: bytes) -> int:
    """The cursor that a client sent, read as C's strtoul() does: a sign and wrapping count.

    db.c: parseScanCursorOrReply()
    """
    text = c_string(text)
    if not text:
        return 0
    found = _CURSOR.match(text)
    if found is None or len(found[2]) > ULONG_DIGITS or int(found[2] or b"0") > ULONG_MAX:
        raise CommandError("ERR invalid cursor")
    number = int(found[2] or b"0")
    return (-number if found[1] == b"-" else number) & ULONG_MAX


def parse_scan_options(
    args: tuple[bytes, ...], types: bool
) -> tuple[int, bytes | None, bytes | None]:
    """COUNT, MATCH and, where *types* allows it, TYPE. The last of each wins."""
    count, pattern, typename = SCAN_DEFAULT_COUNT, None, None
    i = 0
    while i < len(args):
        option = word(args[i])
        if i + 1 == len(args):
            raise syntax_error()
        value = args[i + 1]
        if option == b"count":
            count = get_long_long(value)
            if count < 1:
                raise syntax_error()
        elif option == b"match":
            pattern = None if value == b"*" else value
        elif option == b"type" and types:
            typename = value
        else:
            raise syntax_error()
        i += 2
    return count, pattern, typename


class Scannable(Protocol):
    """What HSCAN, SSCAN and ZSCAN need of a value, see :func:`scan_generic`."""

    #: Whether an element is a pair, such as field and value. Both halves are counted.
    scan_pairs: bool

    def scan_table(self) -> Dict | None:
        """The hash table that a cursor walks over; None while the encoding has none."""

    def scan_items(self, entries: Iterable[DictEntry] | None) -> Iterable[tuple[bytes, ...]]:
        """Elements as they are replied, the name first: of *entries* of the table, or, if
        that is None, all elements in the order of the encoding."""


def scan_dict(d: Dict, cursor: int, count: int, width: int = 1) -> tuple[int, list[DictEntry]]:
    """Visit buckets until *count* elements or ten times as many buckets are seen.

    Whole chains are taken, so more than *count* may come. *width* is how many replies an
    element makes: Redis doubles COUNT for pairs and counts both halves, so as many elements
    are wanted as without, but twice the buckets may be visited.

    db.c: scanGenericCommand()
    """
    found: list[DictEntry] = []
    # Redis multiplies in a C long: a COUNT near 2**64 / 10 wraps around to few buckets.
    iterations = count * width * SCAN_ITERATIONS_PER_COUNT & ULONG_MAX
    while True:
        cursor, entries = d.scan(cursor)
        found.extend(entries)
        if not cursor or iterations == 0 or len(found) >= count:
            return cursor, found
        iterations -= 1


def scan_generic(value: Scannable, cursor: int, args: tuple[bytes, ...]) -> Reply:
    """The reply of HSCAN, SSCAN and ZSCAN for *value*, an existing one of the right type.

    A small encoding has no buckets: all of it is replied at once, whatever COUNT and the
    cursor say, and the walk is over. MATCH looks at names only.

    ``args`` are the options after the cursor. The caller has read the cursor with
    :func:`parse_scan_cursor` before it looked the key up; if there is no key the reply is
    :func:`empty_scan`, whatever the options are.

    O(COUNT) for each call, O(N) for a small encoding and for the whole walk.
    db.c: scanGenericCommand()
    """
    count, pattern, _ = parse_scan_options(args, types=False)
    table = value.scan_table()
    if table is None:
        cursor, items = 0, value.scan_items(None)
    else:
        cursor, entries = scan_dict(table, cursor, count, width=2 if value.scan_pairs else 1)
        items = value.scan_items(entries)
    found = [
        part for item in items if pattern is None or stringmatch(pattern, item[0]) for part in item
    ]
    return [b"%d" % cursor, found]


def empty_scan() -> Reply:
    """The reply of HSCAN, SSCAN and ZSCAN for a missing key. server.c: shared.emptyscan"""
    return [b"0", []]


@command(
    "scan",
    arity=-2,
    flags="readonly",
    tips="nondeterministic_output request_policy:special",
    group="generic",
    since="2.8.0",
    complexity="O(1) for each call, O(N) for the whole walk",
    touches_arbitrary_keys=True,
)
def scan(c: Client, cursor: bytes, *args: bytes) -> Reply:
    """SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]

    Walks over the keys in steps. Filters work on what a step has found, after it was
    counted; a key found dead is deleted.

    db.c: scanCommand()
    """
    position = parse_scan_cursor(cursor)
    count, pattern, typename = parse_scan_options(args, types=True)
    db = c.db
    position, found = scan_dict(db.dict, position, count)
    kept = []
    for entry in found:
        key = entry.key
        if pattern is not None and not stringmatch(pattern, key):
            continue
        if typename is not None:
            o = db.lookup_key(key, LOOKUP_NOTOUCH)
            name = b"none" if o is None else TYPE_NAMES[o.type]
            if name != word(typename):
                continue
        if not db.expire_if_needed(key):
            kept.append(key)
    return [b"%d" % position, kept]
