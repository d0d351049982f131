"""Members of sets at random: SPOP, SRANDMEMBER.

Redis: t_set.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_positive_long, get_range_long
from miniredis.commands.t_hash_walk import throw_out_random_entries
from miniredis.commands.t_set import new_set, set_type_lookup
from miniredis.commands.t_set_algebra import union
from miniredis.commands.table import command
from miniredis.errors import syntax_error
from miniredis.keyspace.db import LOOKUP_WRITE
from miniredis.keyspace.notify import NOTIFY_GENERIC, NOTIFY_SET
from miniredis.keyspace.object import LLONG_MAX
from miniredis.keyspace.set_object import SetObject
from miniredis.reply import Reply, SetReply
from miniredis.structs.dict import Dict

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

# When fewer than a fifth as many members stay as go, those that stay are picked.
SPOP_MOVE_STRATEGY_MUL = 5
# A set of fewer than this many times the members wanted is copied, and the rest thrown away.
SRANDMEMBER_SUB_STRATEGY_MUL = 3


@command(
    "spop",
    arity=-2,
    flags="write fast",
    keys=(1, 1, 1),
    access="RW access delete",
    tips="nondeterministic_output",
    group="set",
    since="1.0.0",
    complexity="Without count O(1), with it O(N) in the number of members that go",
)
def spop(c: Client, key: bytes, *args: bytes) -> Reply:
    """SPOP key [count]

    Removes random members of a set and returns them. Replicas are told which: SREM.

    t_set.c: spopCommand()
    """
    if len(args) == 1:
        return _spop_with_count(c, key, get_positive_long(args[0]))
    if args:
        raise syntax_error()
    db = c.db
    s = set_type_lookup(c, key, LOOKUP_WRITE)
    if s is None:
        return None
    member = s.random_element(c.server.rng)
    s.remove(member)
    db.notify(NOTIFY_SET, b"spop", key)
    c.rewrite(b"SREM", key, member)
    if not len(s):
        db.delete(key)
        db.notify(NOTIFY_GENERIC, b"del", key)
    c.server.signal_modified_key(db, key)
    c.server.dirty += 1
    return member


def _spop_with_count(c: Client, key: bytes, count: int) -> Reply:
    """t_set.c: spopWithCountCommand()"""
    db, server = c.db, c.server
    s = set_type_lookup(c, key, LOOKUP_WRITE)
    if s is None or count == 0:
        return SetReply([])
    size = len(s)
    db.notify(NOTIFY_SET, b"spop", key)
    server.dirty += min(count, size)
    if count >= size:
        everything = list(union(c, (key,)))
        db.delete(key)
        db.notify(NOTIFY_GENERIC, b"del", key)
        c.rewrite(b"DEL", key)
        server.signal_modified_key(db, key)
        return SetReply(everything)
    if (size - count) * SPOP_MOVE_STRATEGY_MUL > count:
        popped = _pop_members(s, count, server)
    else:
        popped = _leave_members(c, key, s, size - count)
    if server.propagation.targets:
        for member in popped:
            server.propagation.also_propagate(db.id, [b"SREM", key, member])
    c.prevent_command_propagation()
    server.signal_modified_key(db, key)
    return SetReply(popped)


def _pop_members(s: SetObject, count: int, server: Server) -> list[bytes]:
    """Take *count* random members out, one after the other. O(count)."""
    popped = []
    for _ in range(count):
        member = s.random_element(server.rng)
        s.remove(member)
        popped.append(member)
    return popped


def _leave_members(c: Client, key: bytes, s: SetObject, remaining: int) -> list[bytes]:
    """Move the few random members that stay to a new set, which replaces the old one; the
    members that are left in the old one, in its order. O(N).

    Since the new set begins as any set does, a hash table may become an intset.
    """
    kept = SetObject()
    for _ in range(remaining):
        member = s.random_element(c.server.rng)
        kept.add(member, c.server)
        s.remove(member)
    popped = list(s)
    c.db.overwrite(key, new_set(c, kept))
    return popped


@command(
    "srandmember",
    arity=-2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    tips="nondeterministic_output",
    group="set",
    since="1.0.0",
    complexity="Without count O(1), with it O(N) in the number of members returned",
)
def srandmember(c: Client, key: bytes, *args: bytes) -> Reply:
    """SRANDMEMBER key [count]

    Some members of a set: different ones, or with a negative count as many as that, each
    drawn anew.

    t_set.c: srandmemberCommand()
    """
    if len(args) > 1:
        raise syntax_error()
    count = get_range_long(args[0], -LLONG_MAX, LLONG_MAX) if args else None
    s = set_type_lookup(c, key)
    if count is None:
        return None if s is None else s.random_element(c.server.rng)
    return [] if s is None or count == 0 else _random_members(c.server, s, count)


def _random_members(server: Server, s: SetObject, count: int) -> list[bytes]:
    """*count* members of *s* as SRANDMEMBER picks them. The four cases of Redis:

    1. A negative count, or one: each is drawn anew, so the order is random too.
    2. As many as there are, or more: all of them in the order of the encoding.
    3. More than a third: all go into a table of their own, and random ones are thrown out.
    4. Few: random ones are put into a table until there are enough.

    In cases 3 and 4 the order is that of the table. O(count), in case 3 O(N).

    t_set.c: srandmemberWithCountCommand()
    """
    if count < 0 or count == 1:
        return [s.random_element(server.rng) for _ in range(abs(count))]
    size = len(s)
    if count >= size:
        return list(s)
    d = Dict(server.hash_function, server.rng)
    if count * SRANDMEMBER_SUB_STRATEGY_MUL > size:
        d.expand(size)
        for member in s:
            d.add(member, None)
        throw_out_random_entries(d, size - count)
    else:
        d.expand(count)
        while len(d) < count:
            d.add(s.random_element(server.rng), None)
    return [entry.key for entry in d.entries()]
