"""Members of a sorted set of places that lie within a circle or a rectangle.

Redis: ``georadiusGeneric()`` in geo.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miniredis.commands.args import get_double, get_long_long
from miniredis.commands.geo import (
    distance_reply,
    extract_long_lat,
    extract_unit,
    place_of,
    place_reply,
)
from miniredis.commands.subcommands import one_line
from miniredis.commands.t_zset import lookup_zset_read
from miniredis.commands.t_zset_ranges import delete_destination
from miniredis.commands.table import KeySpec, command
from miniredis.errors import CommandError, syntax_error
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


class _Search:
    """A search and its options, filled as the arguments are read."""

    __slots__ = (
        "any",
        "area",
        "centre",
        "conversion",
        "count",
        "has_area",
        "has_centre",
        "sort",
        "storedist",
        "storekey",
        "withcoord",
        "withdist",
        "withhash",
    )

    def __init__(self) -> None:
        self.centre = (0.0, 0.0)
        self.conversion = 1.0  # metres of the unit that lengths are in
        self.area: tuple[float, ...] = (0.0,)  # a radius, or width and height
        self.has_centre = b""  # the option that gave the centre
        self.has_area = b""
        self.withdist = self.withhash = self.withcoord = False
        self.any = False
        self.sort = b""  # "asc", "desc" or nothing
        self.count = 0  # 0: all
        self.storekey: bytes | None = None
        self.storedist = False

    def read_radius(self, radius: bytes, unit: bytes) -> None:
        """geo.c: extractDistanceOrReply()"""
        distance = get_double(radius, "need numeric radius")
        if distance < 0:
            raise CommandError("ERR radius cannot be negative")
        self.conversion = extract_unit(unit)
        self.area = (distance,)

    def read_box(self, width: bytes, height: bytes, unit: bytes) -> None:
        """geo.c: extractBoxOrReply()"""
        w = get_double(width, "need numeric width")
        h = get_double(height, "need numeric height")
        if h < 0 or w < 0:
            raise CommandError("ERR height or width cannot be negative")
        self.conversion = extract_unit(unit)
        self.area = (w, h)

    def read_member(self, zset: Zset | None, member: bytes) -> None:
        """The centre is the place of *member*; nothing is asked of a missing key."""
        place = place_of(zset, member)
        if place is not None:
            self.centre = place
        elif zset is not None:
            raise CommandError("ERR could not decode requested zset member")

    def shape(self) -> GeoShape:
        if len(self.area) == 1:
            return GeoShape(*self.centre, self.conversion, radius=self.area[0])
        return GeoShape(*self.centre, self.conversion, width=self.area[0], height=self.area[1])


# -- reading the arguments ------------------------------------------------------------------


def _read_common_option(search: _Search, rest: list[bytes], option: bytes) -> bool:
    """An option that all six commands have; False if it is none of them."""
    if option in (b"withdist", b"withhash", b"withcoord"):
        setattr(search, option.decode(), True)
    elif option == b"any":
        search.any = True
    elif option in (b"asc", b"desc"):
        search.sort = option
    elif option == b"count" and rest:
        search.count = get_long_long(rest.pop(0))
        if search.count <= 0:
            raise CommandError("ERR COUNT must be > 0")
    else:
        return False
    return True


def _read_radius_options(search: _Search, args: Sequence[bytes], store: bool) -> None:
    """The options of GEORADIUS and its kin; STORE and STOREDIST if *store* allows them."""
    rest = list(args)
    while rest:
        option = rest.pop(0).lower()
        if _read_common_option(search, rest, option):
            continue
        if not store or not rest or option not in (b"store", b"storedist"):
            raise syntax_error()
        search.storekey = rest.pop(0)
        search.storedist = option == b"storedist"


def _read_search_options(
    search: _Search, zset: Zset | None, args: Sequence[bytes], store: bool
) -> None:
    """The options of GEOSEARCH, centre and shape among them, in any order."""
    rest = list(args)
    while rest:
        option = rest.pop(0).lower()
        if _read_common_option(search, rest, option):
            continue
        if option == b"storedist" and store:
            search.storedist = True
        elif option == b"frommember" and rest and search.has_centre in (b"", option):
            search.read_member(zset, rest.pop(0))
            search.has_centre = option
        elif option == b"fromlonlat" and len(rest) > 1 and search.has_centre in (b"", option):
            search.centre = extract_long_lat(rest.pop(0), rest.pop(0))
            search.has_centre = option
        elif option == b"byradius" and len(rest) > 1 and search.has_area in (b"", option):
            search.read_radius(rest.pop(0), rest.pop(0))
            search.has_area = option
        elif option == b"bybox" and len(rest) > 2 and search.has_area in (b"", option):
            search.read_box(rest.pop(0), rest.pop(0), rest.pop(0))
            search.has_area = option
        else:
            raise syntax_error()


def _check_options(c: Client, search: _Search, what: str, is_geosearch: bool) -> None:
    """Options that exclude each other; *what* is the name of what stores, in the error."""
    if search.storekey is not None and (search.withdist or search.withhash or search.withcoord):
        raise CommandError(
            f"ERR {what} is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
        )
    if is_geosearch:
        name = one_line(c.argv[0])
        if not search.has_centre:
            raise CommandError(
                b"ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name
            )
        if not search.has_area:
            raise CommandError(
                b"ERR exactly one of BYRADIUS and BYBOX can be specified for " + name
            )
    if search.any and not search.count:
        raise CommandError("ERR the ANY argument requires COUNT argument")


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


def _run(c: Client, zset: Zset | None, search: _Search, event: bytes) -> Reply:
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


def _point_reply(search: _Search, point: _Point) -> Reply:
    parts: list[Reply] = [point.member]
    if search.withdist:
        parts.append(distance_reply(point.distance / search.conversion))
    if search.withhash:
        parts.append(to_signed(point.score))
    if search.withcoord:
        parts.append(place_reply(point.place))
    return parts if len(parts) > 1 else point.member


def _store(c: Client, key: bytes, search: _Search, found: list[_Point], event: bytes) -> Reply:
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
    search = _Search()
    if len(place) == 2:
        search.centre = extract_long_lat(*place)
        search.read_radius(args[0], args[1])
    elif zset is not None:
        search.read_member(zset, place[0])
        search.read_radius(args[0], args[1])
    _read_radius_options(search, args[2:], store)
    _check_options(c, search, "STORE option in GEORADIUS", is_geosearch=False)
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
    [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]

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
    [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]

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
    search = _Search()
    search.storekey = storekey
    _read_search_options(search, zset, args, store=storekey is not None)
    _check_options(c, search, "GEOSEARCHSTORE", is_geosearch=True)
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
