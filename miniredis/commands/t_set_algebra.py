"""Intersections, unions and differences of sets, and what stores them.

Redis: ``sinterGenericCommand()``, ``sunionDiffGenericCommand()`` in t_set.c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miniredis.commands.args import get_positive_long, get_range_long, word
from miniredis.commands.t_set import new_set, set_type_lookup
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_SET
from miniredis.keyspace.object import LLONG_MAX
from miniredis.keyspace.set_object import SetObject
from miniredis.reply import Reply, SetReply

if TYPE_CHECKING:
    from miniredis.server.client import Client


def store_set(c: Client, dstkey: bytes, result: SetObject, event: bytes) -> int:
    """Set *dstkey* to *result*, or delete it if that is empty; the number of members.

    t_set.c: the end of sinterGenericCommand() and sunionDiffGenericCommand()
    """
    db, server = c.db, c.server
    if len(result):
        db.set_key(dstkey, new_set(c, result))
        db.notify(NOTIFY_SET, event, dstkey)
        server.dirty += 1
    elif db.delete(dstkey):
        server.dirty += 1
        server.signal_modified_key(db, dstkey)
        db.notify(NOTIFY_GENERIC, b"del", dstkey)
    return len(result)


# -- intersections ------------------------------------------------------------------------


def _sets_to_intersect(c: Client, keys: Sequence[bytes]) -> list[SetObject]:
    """The sets, smallest first; none at all if one is missing, for then nothing is common.

    All keys are looked up whatever comes: the type of the last one counts as well.
    """
    sets = [set_type_lookup(c, key) for key in keys]
    found = [s for s in sets if s is not None]
    return sorted(found, key=len) if len(found) == len(sets) else []


def intersection(sets: list[SetObject]) -> Iterator[bytes]:
    """Members of all *sets*, in the order of the first, which should be the smallest.

    O(N*M) at worst, for N members of the first and M sets: each member is looked up in one
    set after the other until one does not have it. t_set.c: sinterGenericCommand()
    """
    if not sets:
        return
    others = [s for s in sets[1:] if s is not sets[0]]
    if not others:
        yield from sets[0]
        return
    for member in sets[0]:
        if all(s.is_member(member) for s in others):
            yield member


@command(
    "smembers",
    arity=2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="set",
    since="1.0.0",
    complexity="O(N) in the number of members",
)
def smembers(c: Client, key: bytes) -> Reply:
    """SMEMBERS key

    All members of a set.

    t_set.c: sinterCommand(), of one set
    """
    return SetReply(list(intersection(_sets_to_intersect(c, (key,)))))


@command(
    "sinter",
    arity=-2,
    flags="readonly",
    keys=(1, -1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="set",
    since="1.0.0",
    complexity="O(N*M) at worst for M sets of which the smallest has N members",
)
def sinter(c: Client, *keys: bytes) -> Reply:
    """SINTER key [key ...]

    Members that all of some sets have.

    t_set.c: sinterCommand()
    """
    return SetReply(list(intersection(_sets_to_intersect(c, keys))))


@command(
    "sintercard",
    arity=-3,
    flags="readonly movablekeys",
    specs=(KeySpec("RO access", index=1, keynumidx=0, firstkey=1),),
    group="set",
    since="7.0.0",
    complexity="O(N*M) at worst for M sets of which the smallest has N members",
)
def sintercard(c: Client, numkeys: bytes, *args: bytes) -> Reply:
    """SINTERCARD numkeys key [key ...] [LIMIT limit]

    How many members all of some sets have, counted up to a limit.

    t_set.c: sinterCardCommand()
    """
    number = get_range_long(numkeys, 1, LLONG_MAX, "numkeys should be greater than 0")
    if number > len(args):
        raise CommandError("ERR Number of keys can't be greater than number of args")
    keys, options = args[:number], list(args[number:])
    limit = 0
    while options:
        if word(options.pop(0)) != b"limit" or not options:
            raise syntax_error()
        limit = get_positive_long(options.pop(0), "LIMIT can't be negative")
    cardinality = 0
    for _ in intersection(_sets_to_intersect(c, keys)):
        cardinality += 1
        if cardinality == limit:
            break
    return cardinality


@command(
    "sinterstore",
    arity=-3,
    flags="write denyoom",
    keys=(1, -1, 1),
    specs=(KeySpec("RW update", index=1), KeySpec("RO access", index=2, lastkey=-1)),
    group="set",
    since="1.0.0",
    complexity="O(N*M) at worst for M sets of which the smallest has N members",
)
def sinterstore(c: Client, destination: bytes, *keys: bytes) -> Reply:
    """SINTERSTORE destination key [key ...]

    Stores the members that all of some sets have; how many those are.

    t_set.c: sinterstoreCommand()
    """
    result = SetObject()
    for member in intersection(_sets_to_intersect(c, keys)):
        result.add(member, c.server)
    return store_set(c, destination, result, b"sinterstore")


# -- unions and differences ---------------------------------------------------------------


def _sets_to_combine(c: Client, keys: Sequence[bytes]) -> list[SetObject | None]:
    """The sets, None for each that is missing."""
    return [set_type_lookup(c, key) for key in keys]


def union(c: Client, keys: Sequence[bytes]) -> SetObject:
    """All members of some sets in a new set; its order is that of a table that has grown.

    O(N) in the members of all. t_set.c: sunionDiffGenericCommand()
    """
    result = SetObject()
    for s in _sets_to_combine(c, keys):
        if s is not None:
            for member in s:
                result.add(member, c.server)
    return result


def difference(c: Client, keys: Sequence[bytes]) -> SetObject:
    """Members of the first set that no other has, in a new set.

    Redis has two ways and takes the one that promises less work:

    1. Look each member of the first set up in the others until one has it: at most N*M
       steps, for N members and M sets, the first one counted too.
    2. Copy the first set, and remove all members of the others: as many steps as there
       are members in all sets.

    The first is quicker in practice, so its work is halved for the comparison. Let the
    first set have 100 members. With one other set of 10, way 1 costs 100 * 2 / 2 = 100 and
    way 2 costs 110: way 1. With three others of 10 it is 200 against 130: way 2. The results
    are equal as sets; but a hash table out of which members were removed may have another
    order than one to which they were never added.

    t_set.c: sunionDiffGenericCommand()
    """
    sets = _sets_to_combine(c, keys)
    first, others = sets[0], sets[1:]
    if first is None or any(s is first for s in others):
        return SetObject()
    present = [s for s in others if s is not None]
    algo_one_work = len(first) * (1 + len(present)) // 2
    algo_two_work = len(first) + sum(map(len, present))
    if algo_one_work <= algo_two_work:
        return _difference_by_looking_up(c, first, present)
    return _difference_by_removing(c, first, present)


def _difference_by_looking_up(c: Client, first: SetObject, others: list[SetObject]) -> SetObject:
    """Way 1, largest set first, as it is the likeliest to have a member."""
    others = sorted(others, key=len, reverse=True)
    result = SetObject()
    for member in first:
        if not any(s.is_member(member) for s in others):
            result.add(member, c.server)
    return result


def _difference_by_removing(c: Client, first: SetObject, others: list[SetObject]) -> SetObject:
    """Way 2; it ends as soon as nothing is left."""
    result = SetObject()
    for member in first:
        result.add(member, c.server)
    for s in others:
        for member in s:
            result.remove(member)
        if not len(result):
            break
    return result


@command(
    "sunion",
    arity=-2,
    flags="readonly",
    keys=(1, -1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="set",
    since="1.0.0",
    complexity="O(N) in the number of members of all sets",
)
def sunion(c: Client, *keys: bytes) -> Reply:
    """SUNION key [key ...]

    Members that any of some sets has.

    t_set.c: sunionCommand()
    """
    return SetReply(list(union(c, keys)))


@command(
    "sunionstore",
    arity=-3,
    flags="write denyoom",
    keys=(1, -1, 1),
    specs=(KeySpec("OW update", index=1), KeySpec("RO access", index=2, lastkey=-1)),
    group="set",
    since="1.0.0",
    complexity="O(N) in the number of members of all sets",
)
def sunionstore(c: Client, destination: bytes, *keys: bytes) -> Reply:
    """SUNIONSTORE destination key [key ...]

    Stores the members that any of some sets has; how many those are.

    t_set.c: sunionstoreCommand()
    """
    return store_set(c, destination, union(c, keys), b"sunionstore")


@command(
    "sdiff",
    arity=-2,
    flags="readonly",
    keys=(1, -1, 1),
    access="RO access",
    tips="nondeterministic_output_order",
    group="set",
    since="1.0.0",
    complexity="O(N) in the number of members of all sets",
)
def sdiff(c: Client, *keys: bytes) -> Reply:
    """SDIFF key [key ...]

    Members of the first set that none of the others has.

    t_set.c: sdiffCommand()
    """
    return SetReply(list(difference(c, keys)))


@command(
    "sdiffstore",
    arity=-3,
    flags="write denyoom",
    keys=(1, -1, 1),
    specs=(KeySpec("OW update", index=1), KeySpec("RO access", index=2, lastkey=-1)),
    group="set",
    since="1.0.0",
    complexity="O(N) in the number of members of all sets",
)
def sdiffstore(c: Client, destination: bytes, *keys: bytes) -> Reply:
    """SDIFFSTORE destination key [key ...]

    Stores the members of the first set that none of the others has; how many those are.

    t_set.c: sdiffstoreCommand()
    """
    return store_set(c, destination, difference(c, keys), b"sdiffstore")
