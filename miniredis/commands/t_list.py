"""Lists: pushing, popping and moving elements.

Looking into lists and changing them in the middle is in ``t_list_parts.py``, waiting in
``t_list_blocking.py``.

Redis: t_list.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_positive_long, get_range_long, word
from miniredis.commands.table import KeySpec, command
from miniredis.errors import syntax_error, wrong_type
from miniredis.keyspace.list_object import ListObject, create_list_object
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_LIST
from miniredis.keyspace.object import LLONG_MAX, OBJ_LIST, RedisObject
from miniredis.reply import NULL_ARRAY, Reply

if TYPE_CHECKING:
    from miniredis.server.client import Client

LIST_HEAD, LIST_TAIL = 0, 1
PUSH_EVENTS = (b"lpush", b"rpush")
POP_EVENTS = (b"lpop", b"rpop")
POP_NAMES = (b"LPOP", b"RPOP")
POSITIONS = (b"left", b"right")


def get_list(o: RedisObject | None) -> ListObject | None:
    """The list of an object, None of a missing one; WRONGTYPE for other types."""
    if o is None:
        return None
    if o.type != OBJ_LIST:
        raise wrong_type()
    value: ListObject = o.ptr
    return value


def list_type_pop(value: ListObject, where: int) -> bytes:
    """Take an element from an end. t_list.c: listTypePop()"""
    return value.pop_tail() if where else value.pop_head()


def push_generic(c: Client, where: int, xx: bool, key: bytes, elements: tuple[bytes, ...]) -> Reply:
    """Behind LPUSH, RPUSH, LPUSHX and RPUSHX. t_list.c: pushGenericCommand()"""
    db, server = c.db, c.server
    o = db.lookup_key_write(key)
    if o is None:
        if xx:
            return 0
        o = create_list_object(server)
        db.add(key, o)
    elif o.type != OBJ_LIST:
        raise wrong_type()
    value: ListObject = o.ptr
    push = value.push_tail if where else value.push_head
    for element in elements:
        push(element)
    server.dirty += len(elements)
    if db.signals:
        server.signal_modified_key(db, key)
    if server.notify_mask & NOTIFY_LIST:
        db.notify(NOTIFY_LIST, PUSH_EVENTS[where], key)
    return value.count


def _declare_push(name: str, where: int, xx: bool, since: str, doc: str) -> None:
    def push(c: Client, key: bytes, *elements: bytes) -> Reply:
        return push_generic(c, where, xx, key, elements)

    push.__doc__ = doc
    command(
        name,
        arity=-3,
        flags="write denyoom fast",
        keys=(1, 1, 1),
        access="RW insert",
        group="list",
        since=since,
        complexity="O(1) for each element",
    )(push)


_declare_push(
    "lpush",
    LIST_HEAD,
    False,
    "1.0.0",
    """LPUSH key element [element ...]

    Puts elements before all others of a list, one after the other: the last one given
    comes first.

    t_list.c: lpushCommand()
    """,
)
_declare_push(
    "rpush",
    LIST_TAIL,
    False,
    "1.0.0",
    """RPUSH key element [element ...]

    Puts elements after all others of a list.

    t_list.c: rpushCommand()
    """,
)
_declare_push(
    "lpushx",
    LIST_HEAD,
    True,
    "2.2.0",
    """LPUSHX key element [element ...]

    Puts elements before all others of a list that exists.

    t_list.c: lpushxCommand()
    """,
)
_declare_push(
    "rpushx",
    LIST_TAIL,
    True,
    "2.2.0",
    """RPUSHX key element [element ...]

    Puts elements after all others of a list that exists.

    t_list.c: rpushxCommand()
    """,
)


# -- popping ----------------------------------------------------------------------------


def list_elements_removed(c: Client, key: bytes, where: int, value: ListObject, count: int) -> None:
    """What follows a pop: events, the key's end, watchers. t_list.c: listElementsRemoved()"""
    db, server = c.db, c.server
    if server.notify_mask & NOTIFY_LIST:
        db.notify(NOTIFY_LIST, POP_EVENTS[where], key)
    if not value.count:
        db.delete(key)
        db.notify(NOTIFY_GENERIC, b"del", key)
    if db.signals:
        server.signal_modified_key(db, key)
    server.dirty += count


def pop_range(c: Client, key: bytes, where: int, value: ListObject, count: int) -> list[bytes]:
    """Take up to *count* elements from an end, in the order in which they are taken.

    t_list.c: listPopRangeAndReplyWithKey()
    """
    count = min(count, value.count)
    if where:
        popped = value.range(value.count - count, value.count)[::-1]
        value.del_range(-count, count)
    else:
        popped = value.range(0, count)
        value.del_range(0, count)
    list_elements_removed(c, key, where, value, count)
    return popped


def _pop_generic(c: Client, where: int, key: bytes, args: tuple[bytes, ...]) -> Reply:
    """t_list.c: popGenericCommand()"""
    if len(args) > 1:
        raise c.wrong_arity()
    count = get_positive_long(args[0]) if args else None
    value = get_list(c.db.lookup_key_write(key))
    if value is None:
        return None if count is None else NULL_ARRAY
    if count is None:
        element = value.pop_tail() if where else value.pop_head()
        list_elements_removed(c, key, where, value, 1)
        return element
    return pop_range(c, key, where, value, count) if count else []


@command(
    "lpop",
    arity=-2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access delete",
    group="list",
    since="1.0.0",
    complexity="O(N) in the number of elements taken",
)
def lpop(c: Client, key: bytes, *args: bytes) -> Reply:
    """LPOP key [count]

    Takes the first element of a list, or with a count the first ones as an array.

    t_list.c: lpopCommand()
    """
    return _pop_generic(c, LIST_HEAD, key, args)


@command(
    "rpop",
    arity=-2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access delete",
    group="list",
    since="1.0.0",
    complexity="O(N) in the number of elements taken",
)
def rpop(c: Client, key: bytes, *args: bytes) -> Reply:
    """RPOP key [count]

    Takes the last element of a list, or with a count the last ones, the very last first.

    t_list.c: rpopCommand()
    """
    return _pop_generic(c, LIST_TAIL, key, args)


def get_list_position(arg: bytes) -> int:
    """LEFT or RIGHT as an end. t_list.c: getListPositionFromObjectOrReply()"""
    option = word(arg)
    if option == b"right":
        return LIST_TAIL
    if option == b"left":
        return LIST_HEAD
    raise syntax_error()


def parse_mpop(args: tuple[bytes, ...]) -> tuple[tuple[bytes, ...], int, int]:
    """``numkeys key [key ...] LEFT|RIGHT [COUNT count]`` as keys, end and count.

    t_list.c: lmpopGenericCommand()
    """
    numkeys = get_range_long(args[0], 1, LLONG_MAX, "numkeys should be greater than 0")
    if numkeys + 1 >= len(args):
        raise syntax_error()
    where = get_list_position(args[numkeys + 1])
    count = None
    options = args[numkeys + 2 :]
    for i in range(0, len(options), 2):
        if count is not None or word(options[i]) != b"count" or i + 1 == len(options):
            raise syntax_error()
        count = get_range_long(options[i + 1], 1, LLONG_MAX, "count should be greater than 0")
    return args[1 : numkeys + 1], where, 1 if count is None else count


def mpop(c: Client, keys: tuple[bytes, ...], where: int, count: int) -> Reply:
    """Pop from the first of *keys* that exists; None if none does.

    t_list.c: mpopGenericCommand()
    """
    for key in keys:
        value = get_list(c.db.lookup_key_write(key))
        if value is not None:
            popped = pop_range(c, key, where, value, count)
            c.rewrite(POP_NAMES[where], key, b"%d" % len(popped))
            return [key, popped]
    return None


@command(
    "lmpop",
    arity=-4,
    flags="write movablekeys",
    specs=(KeySpec("RW access delete", index=1, keynumidx=0, firstkey=1),),
    group="list",
    since="7.0.0",
    complexity="O(N+M) in the number of keys and of elements taken",
)
def lmpop(c: Client, *args: bytes) -> Reply:
    """LMPOP numkeys key [key ...] LEFT | RIGHT [COUNT count]

    Takes elements from the first list that exists, with the name of its key.

    t_list.c: lmpopCommand()
    """
    reply = mpop(c, *parse_mpop(args))
    return NULL_ARRAY if reply is None else reply


# -- moving -----------------------------------------------------------------------------


def lmove_handle_push(
    c: Client, dstkey: bytes, dst: RedisObject | None, element: bytes, where: int
) -> None:
    """Push what was popped elsewhere. t_list.c: lmoveHandlePush()"""
    db, server = c.db, c.server
    if dst is None:
        dst = create_list_object(server)
        db.add(dstkey, dst)
    server.signal_modified_key(db, dstkey)
    value: ListObject = dst.ptr
    if where:
        value.push_tail(element)
    else:
        value.push_head(element)
    db.notify(NOTIFY_LIST, PUSH_EVENTS[where], dstkey)


def lmove_generic(c: Client, source: bytes, dest: bytes, wherefrom: int, whereto: int) -> Reply:
    """Behind LMOVE, RPOPLPUSH, and their waiting forms when there is something to move.

    t_list.c: lmoveGenericCommand()
    """
    db, server = c.db, c.server
    value = get_list(db.lookup_key_write(source))
    if value is None:
        return None
    dst = db.lookup_key_write(dest)
    get_list(dst)  # a value of another type is refused
    element = list_type_pop(value, wherefrom)
    lmove_handle_push(c, dest, dst, element, whereto)
    db.notify(NOTIFY_LIST, POP_EVENTS[wherefrom], source)
    if not value.count:
        db.delete(source)
        db.notify(NOTIFY_GENERIC, b"del", source)
    server.signal_modified_key(db, source)
    server.dirty += 1
    return element


MOVE_SPECS = (
    KeySpec("RW access delete", index=1),
    KeySpec("RW insert", index=2),
)


@command(
    "rpoplpush",
    arity=3,
    flags="write denyoom",
    keys=(1, 2, 1),
    specs=MOVE_SPECS,
    group="list",
    since="1.2.0",
)
def rpoplpush(c: Client, source: bytes, destination: bytes) -> Reply:
    """RPOPLPUSH source destination

    Moves the last element of a list to the front of a list, which may be the same.

    t_list.c: rpoplpushCommand()
    """
    return lmove_generic(c, source, destination, LIST_TAIL, LIST_HEAD)


@command(
    "lmove",
    arity=5,
    flags="write denyoom",
    keys=(1, 2, 1),
    specs=MOVE_SPECS,
    group="list",
    since="6.2.0",
)
def lmove(c: Client, source: bytes, dest: bytes, wherefrom: bytes, whereto: bytes) -> Reply:
    """LMOVE source destination LEFT | RIGHT LEFT | RIGHT

    Moves an element from an end of a list to an end of a list, which may be the same.

    t_list.c: lmoveCommand()
    """
    ends = get_list_position(wherefrom), get_list_position(whereto)
    return lmove_generic(c, source, dest, *ends)
