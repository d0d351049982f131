"""Hashes in steps and at random: HSCAN, HRANDFIELD.

Redis: t_hash.c.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from miniredis.commands.args import get_range_long, word
from miniredis.commands.scanning import empty_scan, parse_scan_cursor, scan_generic
from miniredis.commands.t_hash import hash_type_lookup_read
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.hash_object import HashObject
from miniredis.keyspace.object import LLONG_MAX
from miniredis.reply import Reply
from miniredis.structs.dict import Dict

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

# A hash of fewer than this many times the fields wanted is copied, and the rest thrown away.
HRANDFIELD_SUB_STRATEGY_MUL = 3


@command(
    "hscan",
    arity=-3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="hash",
    since="2.8.0",
    complexity="O(1) for each call, O(N) for the whole walk",
)
def hscan(c: Client, key: bytes, cursor: bytes, *args: bytes) -> Reply:
    """HSCAN key cursor [MATCH pattern] [COUNT count]

    Walks over the fields of a hash and their values in steps.

    t_hash.c: hscanCommand()
    """
    position = parse_scan_cursor(cursor)
    h = hash_type_lookup_read(c, key)
    return empty_scan() if h is None else scan_generic(h, position, args)


@command(
    "hrandfield",
    arity=-2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="hash",
    since="6.2.0",
    complexity="O(N) in the number of fields returned",
)
def hrandfield(c: Client, key: bytes, *args: bytes) -> Reply:
    """HRANDFIELD key [count [WITHVALUES]]

    Some fields of a hash: different ones, or with a negative count as many as that, each
    drawn anew.

    t_hash.c: hrandfieldCommand()
    """
    if args:
        count = get_range_long(args[0], -LLONG_MAX, LLONG_MAX)
        if len(args) > 2 or (len(args) == 2 and word(args[1]) != b"withvalues"):
            raise syntax_error()
        if len(args) == 2 and abs(count) > LLONG_MAX // 2:
            raise CommandError("ERR value is out of range")
        return _hrandfield_with_count(c, key, count, len(args) == 2)
    h = hash_type_lookup_read(c, key)
    return None if h is None else h.random_element(c.server.rng)[0]


def _hrandfield_with_count(c: Client, key: bytes, count: int, withvalues: bool) -> Reply:
    """t_hash.c: hrandfieldWithCountCommand()"""
    h = hash_type_lookup_read(c, key)
    if h is None or count == 0:
        return []
    pairs = _random_fields(c.server, h, count)
    if not withvalues:
        return [field for field, _ in pairs]
    if c.resp > 2:
        return [list(pair) for pair in pairs]
    return [item for pair in pairs for item in pair]


def _random_fields(server: Server, h: HashObject, count: int) -> Iterable[tuple[bytes, bytes]]:
    """*count* pairs of *h* as HRANDFIELD picks them. The four cases of Redis:

    1. A negative count, or one: each is drawn anew, so the order is random too.
    2. As many as there are, or more: all of them in the order of the encoding.
    3. More than a third: all go into a table of their own, random ones are thrown out of it,
       and what is left comes in the order of that table.
    4. Few: random ones are drawn, and those that came before are left out. A hash table
       gives them as they come; a listpack is walked once, so its order stays.

    Take 10 fields in a listpack. Count 4 is case 3, since 4 * 3 > 10: the order is a hash
    table's. Count 3 is case 4: the fields come in the order in which they were added.

    O(count), in case 3 and in a listpack O(N).
    """
    if count < 0 or count == 1:
        return h.random_pairs(abs(count), server.rng)
    size = len(h)
    if count >= size:
        return h.items()
    if count * HRANDFIELD_SUB_STRATEGY_MUL > size:
        d = Dict(server.hash_function, server.rng)
        d.expand(size)
        for field, value in h.items():
            d.add(field, value)
        throw_out_random_entries(d, size - count)
        return ((entry.key, entry.val) for entry in d.entries())
    if h.listpack is not None:
        return h.random_pairs_unique(count, server.rng)
    picked: dict[bytes, bytes] = {}
    while len(picked) < count:
        field, value = h.random_element(server.rng)
        picked.setdefault(field, value)
    return picked.items()


def throw_out_random_entries(d: Dict, number: int) -> None:
    """Delete so many random entries. O(number). Case 3 of HRANDFIELD and SRANDMEMBER."""
    for _ in range(number):
        entry = d.get_fair_random_key()
        assert entry is not None
        d.delete(entry.key)
