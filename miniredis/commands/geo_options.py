"""The arguments of GEORADIUS, GEOSEARCH and their kin.

Redis: the first half of ``georadiusGeneric()`` in geo.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from miniredis.commands.args import get_double, get_long_long, word
from miniredis.commands.geo import extract_long_lat, extract_unit, place_of
from miniredis.commands.subcommands import one_line
from miniredis.errors import CommandError, syntax_error
from miniredis.keyspace.zset_object import Zset
from miniredis.structs.geo_areas import GeoShape

if TYPE_CHECKING:
    from miniredis.server.client import Client


class Search:
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


def _read_common_option(search: Search, rest: list[bytes], option: bytes) -> bool:
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


def read_radius_options(search: Search, args: Sequence[bytes], store: bool) -> None:
    """The options of GEORADIUS and its kin; STORE and STOREDIST if *store* allows them."""
    rest = list(args)
    while rest:
        option = word(rest.pop(0))
        if _read_common_option(search, rest, option):
            continue
        if not store or not rest or option not in (b"store", b"storedist"):
            raise syntax_error()
        search.storekey = rest.pop(0)
        search.storedist = option == b"storedist"


def read_search_options(
    search: Search, zset: Zset | None, args: Sequence[bytes], store: bool
) -> None:
    """The options of GEOSEARCH, centre and shape among them, in any order."""
    rest = list(args)
    while rest:
        option = word(rest.pop(0))
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


def check_options(c: Client, search: Search, what: str, is_geosearch: bool) -> None:
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
