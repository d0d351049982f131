"""Union, intersection and difference of sorted sets, and of sets, whose members score 1.

Redis: ``zunionInterDiffGenericCommand()`` in t_zset.c.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from miniredis.commands.args import get_double, get_long_long, get_positive_long, word
from miniredis.commands.t_zset_ranges import delete_destination, reply_pairs
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error, wrong_type
from miniredis.keyspace.notify import NOTIFY_ZSET
from miniredis.keyspace.object import OBJ_SET, OBJ_ZSET, RedisObject
from miniredis.keyspace.zset_object import ZsetSkiplist, smallest_encoding
from miniredis.reply import Reply
from miniredis.structs.dict import Dict
from miniredis.structs.ranked_list import Pair

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

_SET_SCORE = 1.0  # of the members of a set
_AGGREGATES = (b"sum", b"min", b"max")
# The names, by which the events are called too.
UNION, INTER, DIFF = "zunion", "zinter", "zdiff"


class _Source:
    """One of the sets to combine; a missing key is an empty set. t_zset.c: zsetopsrc"""

    __slots__ = ("is_set", "value", "weight")

    def __init__(self, o: RedisObject | None) -> None:
        if o is not None and o.type not in (OBJ_ZSET, OBJ_SET):
            raise wrong_type()
        self.value = None if o is None else o.ptr
        self.is_set = o is not None and o.type == OBJ_SET
        self.weight = 1.0

    def __len__(self) -> int:
        """t_zset.c: zuiLength()"""
        return 0 if self.value is None else len(self.value)

    def pairs(self) -> Iterator[Pair]:
        """All scores and members, those of a sorted set from the highest. zuiNext()"""
        if self.value is None:
            return iter(())
        if self.is_set:
            return ((_SET_SCORE, member) for member in self.value)
        pairs: Iterator[Pair] = reversed(self.value)
        return pairs

    def score(self, member: bytes) -> float | None:
        """t_zset.c: zuiFind()"""
        if self.value is None:
            return None
        if self.is_set:
            return _SET_SCORE if self.value.is_member(member) else None
        score: float | None = self.value.score(member)
        return score


class _Request:
    """The arguments of the nine commands, from the number of keys on."""

    __slots__ = ("aggregate", "limit", "sources", "withscores")

    def __init__(
        self, c: Client, args: tuple[bytes, ...], op: str, store: bool, cardinality: bool
    ) -> None:
        """Looks the keys up before it reads the options, as Redis does."""
        numkeys = get_long_long(args[0])
        if numkeys < 1:
            raise CommandError(f"ERR at least 1 input key is needed for '{c.fullname()}' command")
        if numkeys > len(args) - 1:
            raise syntax_error()
        self.sources = [_Source(c.db.lookup_key_read(key)) for key in args[1 : numkeys + 1]]
        self.aggregate = b"sum"
        self.withscores = False
        self.limit = 0  # 0: none
        rest = list(args[numkeys + 1 :])
        combines = op != DIFF and not cardinality
        while rest:
            option = word(rest.pop(0))
            if option == b"weights" and combines and len(rest) >= numkeys:
                for source in self.sources:
                    source.weight = get_double(rest.pop(0), "weight value is not a float")
            elif option == b"aggregate" and combines and rest:
                self.aggregate = word(rest.pop(0))
                if self.aggregate not in _AGGREGATES:
                    raise syntax_error()
            elif option == b"withscores" and not store and not cardinality:
                self.withscores = True
            elif option == b"limit" and cardinality and rest:
                self.limit = get_positive_long(rest.pop(0), "LIMIT can't be negative")
            else:
                raise syntax_error()
        if op != DIFF:
            self.sources.sort(key=len)


def _weighted(weight: float, score: float) -> float:
    """The product; 0 times infinity is 0."""
    score *= weight
    return score if score == score else 0.0


def _aggregate(target: float, value: float, aggregate: bytes) -> float:
    """Infinity minus infinity is 0. t_zset.c: zunionInterAggregate()"""
    if aggregate == b"sum":
        target += value
        return target if target == target else 0.0
    if aggregate == b"min":
        return value if value < target else target
    return value if value > target else target


def _inter(sources: list[_Source], aggregate: bytes) -> Iterator[Pair]:
    """Members of the smallest set that all others have. O(N*K) for K sets, the smallest of N.

    *sources* come by size; a missing key is the smallest.
    """
    first, *others = sources
    for given, member in first.pairs():
        score = _weighted(first.weight, given)
        for other in others:
            value = given if other.value is first.value else other.score(member)
            if value is None:
                break
            score = _aggregate(score, value * other.weight, aggregate)
        else:
            yield score, member


def _union(server: Server, sources: list[_Source], aggregate: bytes) -> list[Pair]:
    """All members of all sets, in the order of the hash table that gathers them. O(N)."""
    gathered = Dict(server.hash_function, server.rng)
    gathered.expand(len(sources[-1]))
    index = gathered.index
    for source in sources:
        for given, member in source.pairs():
            score = _weighted(source.weight, given)
            if gathered.add(member, score) is None:
                entry = index[member]
                entry.val = _aggregate(entry.val, score, aggregate)
    return [(entry.val, entry.key) for entry in gathered.entries()]


def _diff(server: Server, sources: list[_Source]) -> ZsetSkiplist:
    """The members of the first set that no other has.

    There are two ways, and Redis chooses the one with less to do. The first asks for each
    of the N members of the first set whether any of the other sets has it: at most N*M
    questions for M sets. The second takes the first set and removes all members of the
    others from it: as many removals as all sets together have members. The first way gets
    half its work for free, as it often finds a member in the first set it asks.

    The result is the same, but the layout of its hash table is not: the second way leaves
    a table of the size that the whole first set needed. Example: sets of 10, 1 and 1. The
    first way counts 10*3/2 = 15, the second 10+1+1 = 12 and is taken.

    t_zset.c: zsetChooseDiffAlgorithm(), zdiffAlgorithm1(), zdiffAlgorithm2()
    """
    first, *others = sources
    result = ZsetSkiplist.of(server)
    if not len(first) or any(other.value is first.value for other in others):
        return result
    if len(first) * len(sources) // 2 <= sum(map(len, sources)):
        others.sort(key=len, reverse=True)
        for score, member in first.pairs():
            if all(other.score(member) is None for other in others):
                result.insert(score, member)
        return result
    for score, member in first.pairs():
        result.insert(score, member)
    for other in others:
        for _, member in other.pairs():
            result.remove(member)
            if not len(result):
                break
        if not len(result):
            break
    result.dict.try_resize()
    return result


def _combine(c: Client, request: _Request, op: str) -> ZsetSkiplist:
    """The result, with the hash table that it would have in Redis."""
    server = c.server
    if op == DIFF:
        return _diff(server, request.sources)
    pairs: Iterable[Pair]
    if op == INTER:
        pairs = list(_inter(request.sources, request.aggregate))
    else:
        pairs = _union(server, request.sources, request.aggregate)
    result = ZsetSkiplist(server.hash_function, server.rng, pairs)
    if op == UNION:
        result.dict.expand(len(pairs))
    for score, member in pairs:
        result.dict.add(member, score)
    return result


def _combine_and_reply(c: Client, args: tuple[bytes, ...], op: str) -> Reply:
    request = _Request(c, args, op, store=False, cardinality=False)
    pairs: Iterable[Pair]
    if op == INTER:
        pairs = sorted(_inter(request.sources, request.aggregate))
    elif op == UNION:
        pairs = sorted(_union(c.server, request.sources, request.aggregate))
    else:
        pairs = _diff(c.server, request.sources)
    return reply_pairs(c, pairs, request.withscores)


def _combine_and_store(c: Client, dst: bytes, args: tuple[bytes, ...], op: str) -> Reply:
    request = _Request(c, args, op, store=True, cardinality=False)
    result = _combine(c, request, op)
    if not len(result):
        return delete_destination(c, dst)
    server = c.server
    value = smallest_encoding(result, server)
    c.db.set_key(dst, RedisObject(OBJ_ZSET, value, server.new_object_lru))
    c.db.notify(NOTIFY_ZSET, f"{op}store".encode(), dst)
    server.dirty += 1
    return len(result)


# -- the commands -------------------------------------------------------------------------

_NUMKEYS = (KeySpec("RO access", index=1, keynumidx=0, firstkey=1),)
_STORE = (
    KeySpec("OW update", index=1),
    KeySpec("RO access", index=2, keynumidx=0, firstkey=1),
)


@command(
    "zunion",
    arity=-3,
    flags="readonly movablekeys",
    specs=_NUMKEYS,
    group="sorted-set",
    since="6.2.0",
    complexity="O(N)+O(M*log(M)) for N members of all sets and M of the result",
)
def zunion(c: Client, *args: bytes) -> Reply:
    """ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]]
    [AGGREGATE SUM | MIN | MAX] [WITHSCORES]

    The members of any of the sets; scores are multiplied by weights and added up.

    t_zset.c: zunionCommand()
    """
    return _combine_and_reply(c, args, UNION)


@command(
    "zinter",
    arity=-3,
    flags="readonly movablekeys",
    specs=_NUMKEYS,
    group="sorted-set",
    since="6.2.0",
    complexity="O(N*K)+O(M*log(M)) for K sets, the smallest of N members, and M of the result",
)
def zinter(c: Client, *args: bytes) -> Reply:
    """ZINTER numkeys key [key ...] [WEIGHTS weight [weight ...]]
    [AGGREGATE SUM | MIN | MAX] [WITHSCORES]

    The members that all sets have; scores are multiplied by weights and added up.

    t_zset.c: zinterCommand()
    """
    return _combine_and_reply(c, args, INTER)


@command(
    "zdiff",
    arity=-3,
    flags="readonly movablekeys",
    specs=_NUMKEYS,
    group="sorted-set",
    since="6.2.0",
    complexity="O(L + (N-K)log(N)) for L members of all sets, N of the first, K of the result",
)
def zdiff(c: Client, *args: bytes) -> Reply:
    """ZDIFF numkeys key [key ...] [WITHSCORES]

    The members of the first set that no other set has.

    t_zset.c: zdiffCommand()
    """
    return _combine_and_reply(c, args, DIFF)


@command(
    "zintercard",
    arity=-3,
    flags="readonly movablekeys",
    specs=_NUMKEYS,
    group="sorted-set",
    since="7.0.0",
    complexity="O(N*K) for K sets, the smallest of N members",
)
def zintercard(c: Client, *args: bytes) -> Reply:
    """ZINTERCARD numkeys key [key ...] [LIMIT limit]

    How many members all sets have in common; counting stops at a limit.

    t_zset.c: zinterCardCommand()
    """
    request = _Request(c, args, INTER, store=False, cardinality=True)
    count = 0
    for _ in _inter(request.sources, request.aggregate):
        count += 1
        if count == request.limit:
            break
    return count


@command(
    "zunionstore",
    arity=-4,
    flags="write denyoom movablekeys",
    keys=(1, 1, 1),
    specs=_STORE,
    group="sorted-set",
    since="2.0.0",
    complexity="O(N)+O(M log(M)) for N members of all sets and M of the result",
)
def zunionstore(c: Client, dst: bytes, *args: bytes) -> Reply:
    """ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
    [AGGREGATE SUM | MIN | MAX]

    Stores what ZUNION would reply.

    t_zset.c: zunionstoreCommand()
    """
    return _combine_and_store(c, dst, args, UNION)


@command(
    "zinterstore",
    arity=-4,
    flags="write denyoom movablekeys",
    keys=(1, 1, 1),
    specs=_STORE,
    group="sorted-set",
    since="2.0.0",
    complexity="O(N*K)+O(M*log(M)) for K sets, the smallest of N members, and M of the result",
)
def zinterstore(c: Client, dst: bytes, *args: bytes) -> Reply:
    """ZINTERSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
    [AGGREGATE SUM | MIN | MAX]

    Stores what ZINTER would reply.

    t_zset.c: zinterstoreCommand()
    """
    return _combine_and_store(c, dst, args, INTER)


@command(
    "zdiffstore",
    arity=-4,
    flags="write denyoom movablekeys",
    keys=(1, 1, 1),
    specs=_STORE,
    group="sorted-set",
    since="6.2.0",
    complexity="O(L + (N-K)log(N)) for L members of all sets, N of the first, K of the result",
)
def zdiffstore(c: Client, dst: bytes, *args: bytes) -> Reply:
    """ZDIFFSTORE destination numkeys key [key ...]

    Stores what ZDIFF would reply.

    t_zset.c: zdiffstoreCommand()
    """
    return _combine_and_store(c, dst, args, DIFF)
