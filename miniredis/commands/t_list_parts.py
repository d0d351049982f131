"""Lists: looking at elements, and changing them in the middle.

Redis: t_list.c.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, get_positive_long, word
from miniredis.commands.t_list import get_list
from miniredis.commands.table import command
from miniredis.errors import CommandError, no_such_key, out_of_range, syntax_error
from miniredis.keyspace.list_object import ListObject
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_LIST
from miniredis.keyspace.object import LLONG_MIN
from miniredis.keyspace.quicklist_insert import insert_beside, replace_at_index
from miniredis.reply import OK, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client


@command(
    "llen",
    arity=2,
    flags="readonly fast",
    keys=(1, 1, 1),
    access="RO",
    group="list",
    since="1.0.0",
)
def llen(c: Client, key: bytes) -> Reply:
    """LLEN key

    Number of elements of a list.

    t_list.c: llenCommand()
    """
    value = get_list(c.db.lookup_key_read(key))
    return 0 if value is None else value.count


@command(
    "lindex",
    arity=3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="list",
    since="1.0.0",
    complexity="O(N) in the number of nodes up to the element; O(1) at both ends",
)
def lindex(c: Client, key: bytes, index: bytes) -> Reply:
    """LINDEX key index

    An element by its place, from 0 on, or counted from the tail, -1 being the last.

    t_list.c: lindexCommand()
    """
    value = get_list(c.db.lookup_key_read(key))
    return None if value is None else value.index(get_long_long(index))


@command(
    "lset",
    arity=4,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="RW update",
    group="list",
    since="1.0.0",
    complexity="O(N) in the number of nodes up to the element; O(1) at both ends",
)
def lset(c: Client, key: bytes, index: bytes, element: bytes) -> Reply:
    """LSET key index element

    Puts another element in the place of one.

    t_list.c: lsetCommand()
    """
    value = get_list(c.db.lookup_key_write(key))
    if value is None:
        raise no_such_key()
    if not replace_at_index(value, get_long_long(index), element):
        raise out_of_range()
    c.server.signal_modified_key(c.db, key)
    c.db.notify(NOTIFY_LIST, b"lset", key)
    c.server.dirty += 1
    return OK


@command(
    "linsert",
    arity=5,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="RW insert",
    group="list",
    since="2.2.0",
    complexity="O(N) in the number of elements before the pivot",
)
def linsert(c: Client, key: bytes, where: bytes, pivot: bytes, element: bytes) -> Reply:
    """LINSERT key BEFORE | AFTER pivot element

    Puts an element beside the first one that equals the pivot; -1 if there is none.

    t_list.c: linsertCommand()
    """
    option = word(where)
    if option not in (b"before", b"after"):
        raise syntax_error()
    value = get_list(c.db.lookup_key_write(key))
    if value is None:
        return 0
    if not insert_beside(value, pivot, element, after=option == b"after"):
        return -1
    c.server.signal_modified_key(c.db, key)
    c.db.notify(NOTIFY_LIST, b"linsert", key)
    c.server.dirty += 1
    return value.count


@command(
    "lrange",
    arity=4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="list",
    since="1.0.0",
    complexity="O(S+N): nodes up to the start from the nearer end, elements of the range",
)
def lrange(c: Client, key: bytes, start: bytes, stop: bytes) -> Reply:
    """LRANGE key start stop

    Elements of a list by their places, the one at stop included.

    t_list.c: lrangeCommand()
    """
    first, last = get_long_long(start), get_long_long(stop)
    value = get_list(c.db.lookup_key_read(key))
    if value is None:
        return []
    length = value.count
    if first < 0:
        first = max(first + length, 0)
    if last < 0:
        last += length
    if first > last or first >= length:
        return []
    return value.range(first, min(last + 1, length))


@command(
    "ltrim",
    arity=4,
    flags="write",
    keys=(1, 1, 1),
    access="RW delete",
    group="list",
    since="1.0.0",
    complexity="O(N) in the number of elements removed",
)
def ltrim(c: Client, key: bytes, start: bytes, stop: bytes) -> Reply:
    """LTRIM key start stop

    Keeps only the elements of a range, the one at stop included.

    t_list.c: ltrimCommand()
    """
    db, server = c.db, c.server
    first, last = get_long_long(start), get_long_long(stop)
    value = get_list(db.lookup_key_write(key))
    if value is None:
        return OK
    length = value.count
    if first < 0:
        first = max(first + length, 0)
    if last < 0:
        last += length
    if first > last or first >= length:
        ltrim, rtrim = length, 0
    else:
        ltrim, rtrim = first, max(length - last - 1, 0)
    value.del_range(0, ltrim)
    value.del_range(-rtrim, rtrim)
    db.notify(NOTIFY_LIST, b"ltrim", key)
    _delete_if_empty(c, key, value)
    server.signal_modified_key(db, key)
    server.dirty += ltrim + rtrim
    return OK


def _delete_if_empty(c: Client, key: bytes, value: ListObject) -> None:
    if not value.count:
        c.db.delete(key)
        c.db.notify(NOTIFY_GENERIC, b"del", key)


@command(
    "lrem",
    arity=4,
    flags="write",
    keys=(1, 1, 1),
    access="RW delete",
    group="list",
    since="1.0.0",
    complexity="O(N+M) in the number of elements of the list and of those removed",
)
def lrem(c: Client, key: bytes, count: bytes, element: bytes) -> Reply:
    """LREM key count element

    Removes elements that equal the given one: so many from the head, or from the tail if
    the count is negative, or all if it is 0.

    t_list.c: lremCommand()
    """
    wanted = get_long_long(count)
    value = get_list(c.db.lookup_key_write(key))
    if value is None:
        return 0
    removed = value.remove(element, wanted)
    if removed:
        c.server.dirty += removed
        c.server.signal_modified_key(c.db, key)
        c.db.notify(NOTIFY_LIST, b"lrem", key)
    _delete_if_empty(c, key, value)
    return removed


def _lpos_options(args: tuple[bytes, ...]) -> tuple[int, int | None, int]:
    """RANK, COUNT (None if not given) and MAXLEN (0: no limit)."""
    rank, count, maxlen = 1, None, 0
    for i in range(0, len(args), 2):
        option = word(args[i])
        if i + 1 == len(args):
            raise syntax_error()
        if option == b"rank":
            rank = get_long_long(args[i + 1])
            if not rank:
                raise CommandError(
                    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the "
                    "second ... or use negative to start from the end of the list"
                )
        elif option == b"count":
            count = get_positive_long(args[i + 1], "COUNT can't be negative")
        elif option == b"maxlen":
            maxlen = get_positive_long(args[i + 1], "MAXLEN can't be negative")
        else:
            raise syntax_error()
    return rank, count, maxlen


def _positions(value: ListObject, element: bytes, rank: int, maxlen: int) -> Iterator[int]:
    """Where *element* is, from the match number *rank* on, among the first *maxlen*."""
    length = value.count
    walk: Iterator[bytes] = iter(value) if rank > 0 else reversed(value)
    looked_at = islice(walk, maxlen or None)
    found = (
        i if rank > 0 else length - i - 1 for i, other in enumerate(looked_at) if other == element
    )
    return islice(found, min(abs(rank) - 1, length), None)


@command(
    "lpos",
    arity=-3,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="list",
    since="6.0.6",
    complexity="O(N) in the number of elements looked at",
)
def lpos(c: Client, key: bytes, element: bytes, *args: bytes) -> Reply:
    """LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]

    Where in a list an element is; with COUNT all its places, or so many, as an array.

    t_list.c: lposCommand()
    """
    rank, count, maxlen = _lpos_options(args)
    if rank == LLONG_MIN:  # has no negative in 64 bits: Redis takes every match from the tail
        rank, count = -1, 0 if count is not None else None
    value = get_list(c.db.lookup_key_read(key))
    if value is None:
        return None if count is None else []
    positions = _positions(value, element, rank, min(maxlen, value.count))
    if count is None:
        return next(positions, None)
    return list(islice(positions, min(count, value.count) or None))
