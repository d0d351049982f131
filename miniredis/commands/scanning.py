"""Walking the keyspace: KEYS and SCAN.

Redis: ``keysCommand()``, ``scanGenericCommand()`` in db.c.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.db import LOOKUP_NOTOUCH
from miniredis.keyspace.object import TYPE_NAMES
from miniredis.reply import Reply
from miniredis.structs.dict import Dict
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


def scan_dict(d: Dict, cursor: int, count: int) -> tuple[int, list[bytes]]:
    """Visit buckets until *count* keys or ten times as many buckets are seen.

    Whole chains are taken, so more keys than *count* may come. db.c: scanGenericCommand()
    """
    found: list[bytes] = []
    iterations = count * SCAN_ITERATIONS_PER_COUNT
    while True:
        cursor, entries = d.scan(cursor)
        found.extend(entry.key for entry in entries)
        if not cursor or iterations == 0 or len(found) >= count:
            return cursor, found
        iterations -= 1


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
    for key in found:
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
