"""Lists: popping and moving elements, and waiting while there are none.

A command that finds something does at once what LPOP, RPOP, LMPOP or LMOVE does. Otherwise
it waits, see ``server/blocked.py``, and is served by a function made here.

Redis: t_list.c.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miniredis.commands.blocking import BLOCKED_LIST
from miniredis.commands.client_flags import CLIENT_DENY_BLOCKING
from miniredis.commands.t_list import (
    LIST_HEAD,
    LIST_TAIL,
    MOVE_SPECS,
    POP_EVENTS,
    POP_NAMES,
    POSITIONS,
    get_list,
    get_list_position,
    list_elements_removed,
    list_type_pop,
    lmove_generic,
    lmove_handle_push,
    mpop,
    parse_mpop,
    pop_range,
)
from miniredis.commands.table import KeySpec, command
from miniredis.commands.timeout import get_timeout_in_seconds
from miniredis.keyspace.list_object import ListObject
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_LIST
from miniredis.keyspace.object import RedisObject
from miniredis.reply import NULL_ARRAY, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

# -- serving those who waited -------------------------------------------------------------


def _delete_if_empty(c: Client, key: bytes, value: ListObject) -> None:
    """Watchers need not be told: they were when the element was pushed."""
    if not value.count:
        c.db.delete(key)
        c.db.notify(NOTIFY_GENERIC, b"del", key)


def _serve_pop(where: int, c: Client, o: RedisObject, key: bytes) -> Reply:
    """BLPOP and BRPOP. t_list.c: serveClientBlockedOnList()"""
    value: ListObject = o.ptr
    c.also_propagate(POP_NAMES[where], key)
    element = list_type_pop(value, where)
    c.db.notify(NOTIFY_LIST, POP_EVENTS[where], key)
    _delete_if_empty(c, key, value)
    return [key, element]


def _serve_mpop(where: int, count: int, c: Client, o: RedisObject, key: bytes) -> Reply:
    """BLMPOP. t_list.c: serveClientBlockedOnList()"""
    value: ListObject = o.ptr
    c.also_propagate(POP_NAMES[where], key, b"%d" % min(count, value.count))
    return [key, pop_range(c, key, where, value, count)]


def _serve_move(
    dest: bytes, wherefrom: int, whereto: int, c: Client, o: RedisObject, key: bytes
) -> Reply:
    """BLMOVE and BRPOPLPUSH. t_list.c: serveClientBlockedOnList()

    If the destination holds another type, the client gets the error and the element stays
    for the next one.
    """
    value: ListObject = o.ptr
    dst = c.db.lookup_key_write(dest)
    get_list(dst)
    element = list_type_pop(value, wherefrom)
    lmove_handle_push(c, dest, dst, element, whereto)
    assert c.lastcmd is not None
    if c.lastcmd.name == "brpoplpush":
        c.also_propagate(b"RPOPLPUSH", key, dest)
    else:
        c.also_propagate(b"LMOVE", key, dest, POSITIONS[wherefrom], POSITIONS[whereto])
    c.db.notify(NOTIFY_LIST, POP_EVENTS[wherefrom], key)
    _delete_if_empty(c, key, value)
    return element


# -- popping ----------------------------------------------------------------------------


def _bpop(c: Client, keys: tuple[bytes, ...], where: int) -> Reply:
    """Behind BLPOP and BRPOP. t_list.c: blockingPopGenericCommand()"""
    timeout = get_timeout_in_seconds(c, keys[-1])
    keys = keys[:-1]
    for key in keys:
        value = get_list(c.db.lookup_key_write(key))
        if value is not None:
            element = list_type_pop(value, where)
            list_elements_removed(c, key, where, value, 1)
            c.rewrite(POP_NAMES[where], key)
            return [key, element]
    if c.flags & CLIENT_DENY_BLOCKING:
        return NULL_ARRAY
    return c.block_for_keys(BLOCKED_LIST, keys, timeout, partial(_serve_pop, where))


@command(
    "blpop",
    arity=-3,
    flags="write noscript blocking",
    keys=(1, -2, 1),
    specs=(KeySpec("RW access delete", index=1, lastkey=-2),),
    group="list",
    since="2.0.0",
    complexity="O(N) in the number of keys",
)
def blpop(c: Client, *args: bytes) -> Reply:
    """BLPOP key [key ...] timeout

    Takes the first element of the first list that exists; waits up to so many seconds for
    one, for ever if 0.

    t_list.c: blpopCommand()
    """
    return _bpop(c, args, LIST_HEAD)


@command(
    "brpop",
    arity=-3,
    flags="write noscript blocking",
    keys=(1, -2, 1),
    specs=(KeySpec("RW access delete", index=1, lastkey=-2),),
    group="list",
    since="2.0.0",
    complexity="O(N) in the number of keys",
)
def brpop(c: Client, *args: bytes) -> Reply:
    """BRPOP key [key ...] timeout

    Takes the last element of the first list that exists; waits up to so many seconds for
    one, for ever if 0.

    t_list.c: brpopCommand()
    """
    return _bpop(c, args, LIST_TAIL)


@command(
    "blmpop",
    arity=-5,
    flags="write blocking movablekeys",
    specs=(KeySpec("RW access delete", index=2, keynumidx=0, firstkey=1),),
    group="list",
    since="7.0.0",
    complexity="O(N+M) in the number of keys and of elements taken",
)
def blmpop(c: Client, timeout: bytes, *args: bytes) -> Reply:
    """BLMPOP timeout numkeys key [key ...] LEFT | RIGHT [COUNT count]

    Takes elements from the first list that exists; waits up to so many seconds for one.

    t_list.c: blmpopCommand()
    """
    keys, where, count = parse_mpop(args)
    until = get_timeout_in_seconds(c, timeout)
    reply = mpop(c, keys, where, count)
    if reply is not None:
        return reply
    if c.flags & CLIENT_DENY_BLOCKING:
        return NULL_ARRAY
    return c.block_for_keys(BLOCKED_LIST, keys, until, partial(_serve_mpop, where, count))


# -- moving -----------------------------------------------------------------------------


def _blmove(
    c: Client, source: bytes, dest: bytes, wherefrom: int, whereto: int, timeout: int
) -> Reply:
    """t_list.c: blmoveGenericCommand()"""
    if get_list(c.db.lookup_key_write(source)) is not None:
        return lmove_generic(c, source, dest, wherefrom, whereto)
    if c.flags & CLIENT_DENY_BLOCKING:
        return None
    serve = partial(_serve_move, dest, wherefrom, whereto)
    return c.block_for_keys(BLOCKED_LIST, (source,), timeout, serve)


@command(
    "blmove",
    arity=6,
    flags="write denyoom noscript blocking",
    keys=(1, 2, 1),
    specs=MOVE_SPECS,
    group="list",
    since="6.2.0",
)
def blmove(
    c: Client, source: bytes, dest: bytes, wherefrom: bytes, whereto: bytes, timeout: bytes
) -> Reply:
    """BLMOVE source destination LEFT | RIGHT LEFT | RIGHT timeout

    Moves an element from list to list; waits up to so many seconds for one.

    t_list.c: blmoveCommand()
    """
    ends = get_list_position(wherefrom), get_list_position(whereto)
    reply = _blmove(c, source, dest, *ends, get_timeout_in_seconds(c, timeout))
    c.rewrite(b"LMOVE", source, dest, wherefrom, whereto)
    return reply


@command(
    "brpoplpush",
    arity=4,
    flags="write denyoom noscript blocking",
    keys=(1, 2, 1),
    specs=MOVE_SPECS,
    group="list",
    since="2.2.0",
)
def brpoplpush(c: Client, source: bytes, destination: bytes, timeout: bytes) -> Reply:
    """BRPOPLPUSH source destination timeout

    Moves the last element of a list to the front of a list; waits up to so many seconds
    for one.

    t_list.c: brpoplpushCommand()
    """
    until = get_timeout_in_seconds(c, timeout)
    reply = _blmove(c, source, destination, LIST_TAIL, LIST_HEAD, until)
    c.rewrite(b"RPOPLPUSH", source, destination)
    return reply
