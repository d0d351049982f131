"""Members of a sorted set of places that lie within a circle or a rectangle.

Redis: the second half of ``georadiusGeneric()`` in geo.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miniredis.commands.geo import distance_reply, extract_long_lat, place_reply
from miniredis.commands.geo_options import (
    Search,
    check_options,
    read_radius_options,
    read_search_options,
)
from miniredis.commands.t_zset import lookup_zset_read
from miniredis.commands.t_zset_ranges import delete_destination
from miniredis.commands.table import KeySpec, command
from miniredis.keyspace.notify import NOTIFY_ZSET
from miniredis.keyspace.object import OBJ_ZSET, RedisObject
from miniredis.keyspace.zset_object import Zset, ZsetSkiplist, smallest_encoding
from miniredis.keyspace.zset_ranges import ZRangeSpec
from miniredis.reply import Reply
from miniredis.structs.geo_areas import (
    GeoShape,
    distance_within,
    geohash_calculate_areas_by_shape,
)
from miniredis.structs.geohash import (
    GeoHashBits,
    decode_score,
    geohash_align_52_bits,
    to_signed,
)
from miniredis.structs.pqsort import pqsort

if TYPE_CHECKING:
    from miniredis.server.client import Client


class _Point(NamedTuple):
    """A member found, with its distance in metres. geo.h: geoPoint"""

    member: bytes
    score: float
    place: tuple[float, float]
    distance: float


# -- searching ------------------------------------------------------------------------------


def _members_of_cell(
    zset: Zset, cell: GeoHashBits, shape: GeoShape, found: list[_Point], limit: int
) -> None:
    """Add the places of a cell that lie within *shape*; stop at *limit*, 0 for none.

    All scores of a cell begin with its hash: they go from the hash followed by zeros up
    to, exclusively, the next hash followed by zeros.
    geo.c: membersOfGeoHashBox(), geoGetPointsInRange()
    """
    following = GeoHashBits(cell.bits + 1, cell.step)
    low, high = geohash_align_52_bits(cell), geohash_align_52_bits(following)
    start, stop = zset.score_bounds(ZRangeSpec(float(low), float(high), False, True))
    for score, member in zset.pairs(start, stop):
        place = decode_score(score)
        distance = distance_within(shape, *place)
        if distance is not None:
            found.append(_Point(member, score, place, distance))
        if limit and len(found) >= limit:
            return


def _members_of_all_neighbors(zset: Zset, shape: GeoShape, limit: int) -> list[_Point]:
    """All places within *shape*, cell by cell. geo.c: membersOfAllNeighbors()

    With one cut the map has four cells: the northern neighbour is the southern one too, and
    so on. Such a pair comes one after the other, so it is enough to look at the last cell.
    """
    found: list[_Point] = []
    last: GeoHashBits | None = None
    for i, cell in enumerate(geohash_calculate_areas_by_shape(shape)):
        if cell == last:
            continue
        if limit and len(found) >= limit:
            break
        _members_of_cell(zset, cell, shape, found, limit)
        if i:
            last = cell
    return found


def _sorted(found: list[_Point], descending: bool, count: int) -> list[_Point]:
    """The nearest, or farthest, *count* places in order. geo.c: sort_gp_asc(), _desc()"""
    if count == len(found):
        return sorted(found, key=lambda point: point.distance, reverse=descending)

    def compare(a: _Point, b: _Point) -> int:
        order = 1 if a.distance > b.distance else 0 if a.distance == b.distance else -1
        return -order if descending else order

    pqsort(found, compare, 0, count - 1)
    return found[:count]


def _run(c: Client, zset: Zset | None, search: Search, event: bytes) -> Reply:
    """The second half of georadiusGeneric(): search, sort, reply or store."""
    storekey = search.storekey
    if zset is None:
        return [] if storekey is None else delete_destination(c, storekey)
    sort = search.sort
    if search.count and not sort and not search.any:
        sort = b"asc"
    found = _members_of_all_neighbors(zset, search.shape(), search.count if search.any else 0)
    count = min(len(found), search.count) if search.count else len(found)
    found = _sorted(found, sort == b"desc", count) if sort else found[:count]
    if storekey is None:
        return [_point_reply(search, point) for point in found]
    return _store(c, storekey, search, found, event)


def _point_reply(search: Search, point: _Point) -> Reply:
    parts: list[Reply] = [point.member]
    if search.withdist:
        parts.append(distance_reply(point.distance / search.conversion))
    if search.withhash:
        parts.append(to_signed(point.score))
    if search.withcoord:
        parts.append(place_reply(point.place))
    return parts if len(parts) > 1 else point.member


def _store(c: Client, key: bytes, search: Search, found: list[_Point], event: bytes) -> Reply:
    if not found:
        return delete_destination(c, key)
    server = c.server
    result = ZsetSkiplist.of(server)
    for point in found:
        score = point.distance / search.conversion if search.storedist else point.score
        result.insert(score, point.member)
    value = smallest_encoding(result, server)
    c.db.set_key(key, RedisObject(OBJ_ZSET, value, server.new_object_lru))
    c.db.notify(NOTIFY_ZSET, event, key)
    server.dirty += len(found)
    return len(found)


# -- the commands ---------------------------------------------------------------------------

_COMPLEXITY = "O(N+log(M)) for N members in the cells around the area, and a set of M"


def _georadius(
    c: Client, key: bytes, place: tuple[bytes, ...], args: tuple[bytes, ...], store: bool
) -> Reply:
    """Behind the four old commands; *place* is longitude and latitude, or a member."""
    zset = lookup_zset_read(c, key)
    search = Search()
    if len(place) == 2:
        search.centre = extract_long_lat(*place)
        search.read_radius(args[0], args[1])
    elif zset is not None:
        search.read_member(zset, place[0])
        search.read_radius(args[0], args[1])
    read_radius_options(search, args[2:], store)
    check_options(c, search, "STORE option in GEORADIUS", is_geosearch=False)
    return _run(c, zset, search, b"georadiusstore")


def _specs(startfrom: int) -> tuple[KeySpec, ...]:
    return (
        KeySpec("RO access", index=1),
        KeySpec("OW update", keyword="STORE", startfrom=startfrom),
        KeySpec("OW update", keyword="STOREDIST", startfrom=startfrom),
    )


@command(
    "georadius",
    arity=-6,
    flags="write denyoom movablekeys",
    keys=(1, 1, 1),
    specs=_specs(6),
    group="geo",
    since="3.2.0",
    complexity=_COMPLEXITY,
)
def georadius(c: Client, key: bytes, longitude: bytes, latitude: bytes, *args: bytes) -> Reply:
    """GEORADIUS key longitude latitude radius M | KM | FT | MI [WITHCOORD] [WITHDIST]
    [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]

    Members within a circle around a place.

    geo.c: georadiusCommand()
    """
    return _georadius(c, key, (longitude, latitude), args, store=True)


@command(
    "georadius_ro",
    arity=-6,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="geo",
    since="3.2.10",
    complexity=_COMPLEXITY,
)
def georadius_ro(c: Client, key: bytes, longitude: bytes, latitude: bytes, *args: bytes) -> Reply:
    """GEORADIUS_RO key longitude latitude radius M | KM | FT | MI [WITHCOORD] [WITHDIST]
    [WITHHASH] [COUNT count [ANY]] [ASC | DESC]

    Members within a circle around a place; it stores nothing.

    geo.c: georadiusroCommand()
    """
    return _georadius(c, key, (longitude, latitude), args, store=False)


@command(
    "georadiusbymember",
    arity=-5,
    flags="write denyoom movablekeys",
    keys=(1, 1, 1),
    specs=_specs(5),
    group="geo",
    since="3.2.0",
    complexity=_COMPLEXITY,
)
def georadiusbymember(c: Client, key: bytes, member: bytes, *args: bytes) -> Reply:
    """GEORADIUSBYMEMBER key member radius M | KM | FT | MI [WITHCOORD] [WITHDIST]
    [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]

    Members within a circle around a member.

    geo.c: georadiusbymemberCommand()
    """
    return _georadius(c, key, (member,), args, store=True)


@command(
    "georadiusbymember_ro",
    arity=-5,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="geo",
    since="3.2.10",
    complexity=_COMPLEXITY,
)
def georadiusbymember_ro(c: Client, key: bytes, member: bytes, *args: bytes) -> Reply:
    """GEORADIUSBYMEMBER_RO key member radius M | KM | FT | MI [WITHCOORD] [WITHDIST]
    [WITHHASH] [COUNT count [ANY]] [ASC | DESC]

    Members within a circle around a member; it stores nothing.

    geo.c: georadiusbymemberroCommand()
    """
    return _georadius(c, key, (member,), args, store=False)


def _geosearch(
    c: Client, key: bytes, args: tuple[bytes, ...], storekey: bytes | None = None
) -> Reply:
    zset = lookup_zset_read(c, key)
    search = Search()
    search.storekey = storekey
    read_search_options(search, zset, args, store=storekey is not None)
    check_options(c, search, "GEOSEARCHSTORE", is_geosearch=True)
    return _run(c, zset, search, b"geosearchstore")


@command(
    "geosearch",
    arity=-7,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="geo",
    since="6.2.0",
    complexity=_COMPLEXITY,
)
def geosearch(c: Client, key: bytes, *args: bytes) -> Reply:
    """GEOSEARCH key FROMMEMBER member | FROMLONLAT longitude latitude
    BYRADIUS radius M | KM | FT | MI | BYBOX width height M | KM | FT | MI
    [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]

    Members within a circle or a rectangle around a member or a place.

    geo.c: geosearchCommand()
    """
    return _geosearch(c, key, args)


@command(
    "geosearchstore",
    arity=-8,
    flags="write denyoom",
    keys=(1, 2, 1),
    specs=(KeySpec("OW update", index=1), KeySpec("RO access", index=2)),
    group="geo",
    since="6.2.0",
    complexity=_COMPLEXITY,
)
def geosearchstore(c: Client, destination: bytes, key: bytes, *args: bytes) -> Reply:
    """GEOSEARCHSTORE destination source FROMMEMBER member | FROMLONLAT longitude latitude
    BYRADIUS radius M | KM | FT | MI | BYBOX width height M | KM | FT | MI
    [ASC | DESC] [COUNT count [ANY]] [STOREDIST]

    Stores what GEOSEARCH would find, with its places or, with STOREDIST, with distances.

    geo.c: geosearchstoreCommand()
    """
    return _geosearch(c, key, args, destination)
