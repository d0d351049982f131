"""Places on Earth as members of a sorted set, whose scores are geohashes of 52 bits.

Redis: geo.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.args import get_double, word
from miniredis.commands.t_zset import lookup_zset_read, zadd_generic
from miniredis.commands.table import command
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.zset_add import (
    ZADD_IN_NONE,
)
from miniredis.keyspace.zset_object import (
    Zset,
)
from miniredis.reply import NULL_ARRAY, HumanDouble, Reply
from miniredis.structs.double import fixedpoint_d2string
from miniredis.structs.geo_areas import geohash_get_distance
from miniredis.structs.geohash import (
    GEO_LAT_MAX,
    GEO_LAT_MIN,
    GEO_LONG_MAX,
    GEO_LONG_MIN,
    GEO_STEP_MAX,
    decode_score,
    geohash_align_52_bits,
    geohash_encode,
    geohash_text,
)

if TYPE_CHECKING:
    from miniredis.server.client import Client

#: Metres of each unit.
UNITS = {b"m": 1.0, b"km": 1000.0, b"ft": 0.3048, b"mi": 1609.34}
DISTANCE_DECIMALS = 4


def extract_long_lat(longitude: bytes, latitude: bytes) -> tuple[float, float]:
    """Two arguments as a place on the map, in degrees. geo.c: extractLongLatOrReply()"""
    x, y = get_double(longitude), get_double(latitude)
    if not (GEO_LONG_MIN <= x <= GEO_LONG_MAX and GEO_LAT_MIN <= y <= GEO_LAT_MAX):
        raise CommandError(f"ERR invalid longitude,latitude pair {x:f},{y:f}")
    return x, y


def extract_unit(unit: bytes) -> float:
    """Metres of a unit. geo.c: extractUnitOrReply()"""
    meters = UNITS.get(word(unit))
    if meters is None:
        raise CommandError("ERR unsupported unit provided. please use M, KM, FT, MI")
    return meters


def distance_reply(distance: float) -> bytes:
    """A distance with four decimals, in both protocols. geo.c: addReplyDoubleDistance()"""
    return fixedpoint_d2string(distance, DISTANCE_DECIMALS)


def place_reply(place: tuple[float, float]) -> Reply:
    """Longitude and latitude in full."""
    return [HumanDouble(place[0]), HumanDouble(place[1])]


def place_of(zset: Zset | None, member: bytes) -> tuple[float, float] | None:
    """Longitude and latitude of *member*, or None. geo.c: longLatFromMember()"""
    score = None if zset is None else zset.score(member)
    return None if score is None else decode_score(score)


@command(
    "geoadd",
    arity=-5,
    flags="write denyoom",
    keys=(1, 1, 1),
    access="RW update",
    group="geo",
    since="3.2.0",
    complexity="O(log(N)) for each member added, in the size of the set",
)
def geoadd(c: Client, key: bytes, *args: bytes) -> Reply:
    """GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]

    Adds members with their places. It is a ZADD of geohashes, and replicas see that.

    geo.c: geoaddCommand()
    """
    options = 0
    while options < len(args) and word(args[options]) in (b"nx", b"xx", b"ch"):
        options += 1
    given = {word(option) for option in args[:options]}
    if (len(args) - options) % 3 or given >= {b"nx", b"xx"}:
        raise syntax_error()
    zadd_args = list(args[:options])
    for i in range(options, len(args), 3):
        place = extract_long_lat(args[i], args[i + 1])
        score = geohash_align_52_bits(geohash_encode(*place, GEO_STEP_MAX))
        zadd_args += (b"%d" % score, args[i + 2])
    c.rewrite(b"zadd", key, *zadd_args)
    return zadd_generic(c, key, tuple(zadd_args), ZADD_IN_NONE)


@command(
    "geodist",
    arity=-4,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="geo",
    since="3.2.0",
    complexity="O(log(N))",
)
def geodist(c: Client, key: bytes, member1: bytes, member2: bytes, *args: bytes) -> Reply:
    """GEODIST key member1 member2 [M | KM | FT | MI]

    The distance between two members.

    geo.c: geodistCommand()
    """
    if len(args) > 1:
        raise syntax_error()
    to_meters = extract_unit(args[0]) if args else 1.0
    zset = lookup_zset_read(c, key)
    place1 = place_of(zset, member1)
    place2 = None if place1 is None else place_of(zset, member2)
    if place1 is None or place2 is None:
        return None
    return distance_reply(geohash_get_distance(*place1, *place2) / to_meters)


@command(
    "geohash",
    arity=-2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="geo",
    since="3.2.0",
    complexity="O(log(N)) for each member asked for",
)
def geohash(c: Client, key: bytes, *members: bytes) -> Reply:
    """GEOHASH key member [member ...]

    The places of members as usual geohashes of 11 characters.

    geo.c: geohashCommand()
    """
    zset = lookup_zset_read(c, key)
    scores = (None if zset is None else zset.score(member) for member in members)
    return [None if score is None else geohash_text(score) for score in scores]


@command(
    "geopos",
    arity=-2,
    flags="readonly",
    keys=(1, 1, 1),
    access="RO access",
    group="geo",
    since="3.2.0",
    complexity="O(N) in the number of members asked for",
)
def geopos(c: Client, key: bytes, *members: bytes) -> Reply:
    """GEOPOS key member [member ...]

    Longitude and latitude of members, as exact as 52 bits are.

    geo.c: geoposCommand()
    """
    zset = lookup_zset_read(c, key)
    places = (place_of(zset, member) for member in members)
    return [NULL_ARRAY if place is None else place_reply(place) for place in places]
