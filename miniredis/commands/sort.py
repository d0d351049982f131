"""SORT and SORT_RO.

Redis: sort.c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string, get_long_long, word
from miniredis.commands.client_flags import CLIENT_SCRIPT
from miniredis.commands.key_specs import KeyReference
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error, wrong_type
from miniredis.keyspace.db import RedisDb
from miniredis.keyspace.list_object import ListObject
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_LIST
from miniredis.keyspace.object import (
    OBJ_HASH,
    OBJ_LIST,
    OBJ_SET,
    OBJ_STRING,
    OBJ_ZSET,
    RedisObject,
)
from miniredis.keyspace.zset_object import Zset, ZsetListpack, skiplist_of
from miniredis.reply import Reply
from miniredis.structs.double import strtod
from miniredis.structs.pqsort import pqsort

if TYPE_CHECKING:
    from miniredis.server.client import Client

SELF = b"#"  # GET #: the element itself
SMALLEST_NORMAL = 2.0**-1022  # of a double

_Key = tuple[bool, bytes]  # whether there is a text to compare, and the text
_Item = tuple[_Key, bytes]  # with the element


@dataclass(slots=True)
class _Options:
    desc: bool = False
    alpha: bool = False
    offset: int = 0
    count: int = -1  # of LIMIT; negative: all
    by: bytes | None = None
    dontsort: bool = False  # BY a pattern without a star
    get: list[bytes] = field(default_factory=list)
    store: bytes | None = None


def _parse(c: Client, args: tuple[bytes, ...], readonly: bool) -> _Options:
    """sort.c: sortCommandGeneric()"""
    options = _Options()
    may_read_all_keys = not c.server.acl.active or c.server.acl.may_read_all_keys(c)
    i = 0
    while i < len(args):
        option, left = word(args[i]), len(args) - i - 1
        if option in (b"asc", b"desc"):
            options.desc = option == b"desc"
        elif option == b"alpha":
            options.alpha = True
        elif option == b"limit" and left >= 2:
            options.offset = get_long_long(args[i + 1])
            options.count = get_long_long(args[i + 2])
            i += 2
        elif option == b"store" and left and not readonly:
            options.store = args[i + 1]
            i += 1
        elif option == b"by" and left:
            options.by = args[i + 1]
            # Once without a star, it stays so whatever BY comes after.
            plain = b"*" not in c_string(options.by)
            options.dontsort |= plain
            if not plain and not may_read_all_keys:
                raise _denied("BY")
            i += 1
        elif option == b"get" and left:
            if not may_read_all_keys:
                raise _denied("GET")
            options.get.append(args[i + 1])
            i += 1
        else:
            raise syntax_error()
        i += 1
    return options


def _denied(option: str) -> CommandError:
    return CommandError(f"ERR {option} option of SORT denied due to insufficient ACL permissions.")


def lookup_key_by_pattern(db: RedisDb, pattern: bytes, element: bytes) -> bytes | None:
    """The value of the key, or of the field of a hash, that *pattern* names for *element*.

    The first star is replaced by the element; ``weight_*->field`` reads a field of a hash;
    ``#`` is the element itself. None for a pattern without a star, a missing key or a
    value of another type. As the pattern is searched as a C string, star and arrow count
    only before the first NUL.

    sort.c: lookupKeyByPattern()
    """
    text = c_string(pattern)
    if text == SELF:
        return element
    star = text.find(b"*")
    if star < 0:
        return None
    arrow = text.find(b"->", star + 1)
    name, of_field = pattern, None
    if arrow >= 0 and arrow + 2 < len(text):
        name, of_field = pattern[:arrow], pattern[arrow + 2 :]
    o = db.lookup_key_read(name[:star] + element + name[star + 1 :])
    if o is None or o.type != (OBJ_STRING if of_field is None else OBJ_HASH):
        return None
    if of_field is None:
        return bytes(o.ptr)
    value: bytes | None = o.ptr.get(of_field)
    return value


def _score(value: bytes) -> float | None:
    """*value* as a double, as C's strtod() reads it; None if that is not all of it.

    Blanks before it and hexadecimal are allowed, and an empty string is 0. None also for
    NaN and for what over- or underflows.
    """
    text = c_string(value)
    number, end = strtod(text)
    if end != len(text) or math.isnan(number):
        return None
    lower = text.lower()
    if math.isinf(number):
        return number if b"inf" in lower else None
    if abs(number) < SMALLEST_NORMAL and text and _is_inexact(lower, number):
        return None
    return number


def _is_inexact(text: bytes, number: float) -> bool:
    """Whether a number too small for full precision has lost digits: ERANGE."""
    text = text.strip()
    if b"x" not in text:
        return Fraction(text.decode()) != Fraction(number)
    mantissa, _, exponent = text.partition(b"p")
    digits = mantissa.lstrip(b"+-")[2:]
    whole, _, part = digits.partition(b".")
    exact = Fraction(int(whole + part, 16)) * Fraction(2) ** (int(exponent or 0) - 4 * len(part))
    return exact != abs(Fraction(number))


def _elements(c: Client, o: RedisObject | None, options: _Options) -> tuple[list[bytes], int, int]:
    """The elements to sort, and the first and last of them that are wanted.

    Without sorting, a list or sorted set gives just the part that is wanted, in its own
    order or backwards. Otherwise a sorted set gives its members as its hash table holds
    them: it is made a skiplist for that, and stays one.
    """
    length = 0 if o is None else len(o.ptr)
    start = min(max(options.offset, 0), length)
    count = min(max(options.count, -1), length)
    end = length - 1 if count < 0 else start + count - 1
    if start >= length:
        start, end = length - 1, length - 2
    end = min(end, length - 1)
    if o is None:
        return [], start, end
    if o.type == OBJ_ZSET and o.ptr.__class__ is ZsetListpack:
        o.ptr = skiplist_of(o.ptr, c.server)
    if options.dontsort and o.type != OBJ_SET:
        return _part(o, start, end + 1, options.desc), 0, end - start
    if o.type == OBJ_ZSET:
        table = o.ptr.scan_table()
        assert table is not None
        return [entry.key for entry in table.entries()], start, end
    return list(o.ptr), start, end


def _part(o: RedisObject, start: int, stop: int, backwards: bool) -> list[bytes]:
    """Some elements of a list or sorted set, counted from the end if *backwards*."""
    if start >= stop:
        return []
    length = len(o.ptr)
    low, high = (length - stop, length - start) if backwards else (start, stop)
    if o.type == OBJ_LIST:
        ql: ListObject = o.ptr
        part = ql.range(low, high)
        return part[::-1] if backwards else part
    zset: Zset = o.ptr
    return [member for _, member in zset.pairs(low, high, reverse=backwards)]


def _sort(c: Client, elements: list[bytes], options: _Options, start: int, end: int) -> list[bytes]:
    """The elements in order; equal ones as Redis leaves them.

    By number: equal numbers stand by their elements, byte by byte. By text: as strcoll()
    compares in the C locale, up to the first NUL, but all bytes if the result is stored.
    A missing text comes first.
    """
    by = options.by
    values: list[bytes | None] = (
        list(elements) if by is None else [lookup_key_by_pattern(c.db, by, e) for e in elements]
    )
    if not options.alpha:
        scores = [0.0 if value is None else _score(value) for value in values]
        if None in scores:
            raise CommandError("ERR One or more scores can't be converted into double")
        return [e for _, e in sorted(zip(scores, elements, strict=True), reverse=options.desc)]
    shown = bytes if options.store is not None else c_string
    keys = [(value is not None, shown(value or b"")) for value in values]
    items = list(zip(keys, elements, strict=True))
    if by is not None and (start, end) != (0, len(elements) - 1):
        pqsort(items, _descending if options.desc else _ascending, start, end)
    else:
        items.sort(key=_key, reverse=options.desc)  # stable, as qsort() of glibc
    return [element for _, element in items]


def _key(item: _Item) -> _Key:
    return item[0]


def _ascending(a: _Item, b: _Item) -> int:
    return (a[0] > b[0]) - (a[0] < b[0])


def _descending(a: _Item, b: _Item) -> int:
    return (a[0] < b[0]) - (a[0] > b[0])


def _store(c: Client, key: bytes, result: list[bytes]) -> int:
    """Put the result into a list; an empty one deletes the key."""
    db, server = c.db, c.server
    if result:
        # With the limits of a list that nobody has configured.
        value = ListObject(packed=server.quicklist_packed_threshold)
        for element in result:
            value.push_tail(element)
        db.set_key(key, RedisObject(OBJ_LIST, value, server.new_object_lru))
        db.notify(NOTIFY_LIST, b"sortstore", key)
        server.dirty += len(result)
    elif db.delete(key):
        server.signal_modified_key(db, key)
        db.notify(NOTIFY_GENERIC, b"del", key)
        server.dirty += 1
    return len(result)


def _sort_generic(c: Client, key: bytes, args: tuple[bytes, ...], readonly: bool) -> Reply:
    """sort.c: sortCommandGeneric()"""
    options = _parse(c, args, readonly)
    o = c.db.lookup_key_read(key)
    if o is not None and o.type not in (OBJ_LIST, OBJ_SET, OBJ_ZSET):
        raise wrong_type()
    must_repeat = options.store is not None or c.flags & CLIENT_SCRIPT
    if options.dontsort and o is not None and o.type == OBJ_SET and must_repeat:
        # A set has no order of its own that a replica would share.
        options.dontsort, options.alpha, options.by = False, True, None
    elements, start, end = _elements(c, o, options)
    if not options.dontsort:
        elements = _sort(c, elements, options, start, end)
    wanted = elements[max(start, 0) : end + 1]
    result: list[bytes | None] = list(wanted)
    if options.get:
        result = [lookup_key_by_pattern(c.db, get, e) for e in wanted for get in options.get]
    if options.store is not None:
        return _store(c, options.store, [value or b"" for value in result])
    return result


def _sort_get_keys(argv: list[bytes]) -> list[KeyReference]:
    """The key to sort, and the last STORE. db.c: sortGetKeys()"""
    store = 0
    i = 2
    while i < len(argv):
        option = word(argv[i])
        if option == b"limit":
            i += 2
        elif option == b"store" and i + 1 < len(argv):
            store = i + 1
        elif option in (b"get", b"by"):
            i += 1
        i += 1
    found: list[KeyReference] = [(1, "RO access")]
    return [*found, (store, "OW update")] if store else found


def _sort_ro_get_keys(argv: list[bytes]) -> list[KeyReference]:
    """db.c: sortROGetKeys()"""
    return [(1, "RO access")]


_BY_GET = KeySpec(
    "RO access", unknown=True, notes="Keys of BY and GET follow from the content of the first"
)


@command(
    "sort",
    arity=-2,
    flags="write denyoom movablekeys",
    keys=(1, 1, 1),
    specs=(
        KeySpec("RO access", index=1),
        _BY_GET,
        KeySpec("OW update", unknown=True, notes="STORE may stand anywhere"),
    ),
    acl="set sortedset list dangerous",
    group="generic",
    since="1.0.0",
    complexity="O(N+M*log(M)) for M of N elements; O(N) if nothing is sorted",
    getkeys=_sort_get_keys,
)
def sort(c: Client, key: bytes, *args: bytes) -> Reply:
    """SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC]
        [ALPHA] [STORE destination]

    Sorts a list, set or sorted set, by its elements or by what other keys hold for them.

    sort.c: sortCommand()
    """
    return _sort_generic(c, key, args, readonly=False)


@command(
    "sort_ro",
    arity=-2,
    flags="readonly movablekeys",
    keys=(1, 1, 1),
    specs=(KeySpec("RO access", index=1), _BY_GET),
    acl="set sortedset list dangerous",
    group="generic",
    since="7.0.0",
    complexity="O(N+M*log(M)) for M of N elements; O(N) if nothing is sorted",
    getkeys=_sort_ro_get_keys,
)
def sort_ro(c: Client, key: bytes, *args: bytes) -> Reply:
    """SORT_RO key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC]
        [ALPHA]

    Sorts like SORT, and cannot store.

    sort.c: sortroCommand()
    """
    return _sort_generic(c, key, args, readonly=True)
