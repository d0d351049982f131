"""Searching on Earth: distances, shapes, and the cells of the map that cover a shape.

A search looks at nine cells: the one that its centre lies in, and the eight around it. They
are chosen just large enough to cover the shape, then each place in them is measured.

Redis: geohash_helper.c.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from miniredis.structs.geohash import (
    GEO_STEP_MAX,
    GeoHashBits,
    geohash_decode,
    geohash_encode,
    geohash_neighbor,
)

D_R = math.pi / 180.0  # radians of a degree
EARTH_RADIUS_IN_METERS = 6372797.560856  # quadratic mean radius
MERCATOR_MAX = 20037726.37  # metres from the middle of the map to its edge

# East and north of the nine cells, in the order in which they are searched.
_NINE_CELLS = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))


class GeoShape(NamedTuple):
    """A circle, or a rectangle if *radius* is None. geohash.h: GeoShape

    The centre is in degrees, lengths are in a unit of *conversion* metres.
    """

    longitude: float
    latitude: float
    conversion: float
    radius: float | None = None
    width: float = 0.0
    height: float = 0.0


# -- C's mathematics, which has no exceptions -----------------------------------------------


def _cos(radians: float) -> float:
    return math.cos(radians) if math.isfinite(radians) else math.nan


def _asin(value: float) -> float:
    return math.asin(value) if -1 <= value <= 1 else math.nan


# -- distances ------------------------------------------------------------------------------


def geohash_get_lat_distance(lat1: float, lat2: float) -> float:
    """Metres between two latitudes in degrees. geohashGetLatDistance()"""
    return EARTH_RADIUS_IN_METERS * abs(lat2 * D_R - lat1 * D_R)


def geohash_get_distance(long1: float, lat1: float, long2: float, lat2: float) -> float:
    """Metres between two places in degrees, over a sphere, by the haversine formula.

    geohashGetDistance()
    """
    v = math.sin((long2 * D_R - long1 * D_R) / 2)
    if v == 0.0:
        return geohash_get_lat_distance(lat1, lat2)
    lat1r, lat2r = lat1 * D_R, lat2 * D_R
    u = math.sin((lat2r - lat1r) / 2)
    a = u * u + math.cos(lat1r) * math.cos(lat2r) * v * v
    return 2.0 * EARTH_RADIUS_IN_METERS * _asin(math.sqrt(a))


def distance_within(shape: GeoShape, longitude: float, latitude: float) -> float | None:
    """Metres from the centre of *shape* to a place, or None if that lies outside.

    In a rectangle the place is measured along its own latitude and along its own
    longitude. geohashGetDistanceIfInRadius(), geohashGetDistanceIfInRectangle()
    """
    x, y = shape.longitude, shape.latitude
    if shape.radius is not None:
        distance = geohash_get_distance(x, y, longitude, latitude)
        return None if distance > shape.radius * shape.conversion else distance
    if geohash_get_lat_distance(latitude, y) > shape.height * shape.conversion / 2:
        return None
    if geohash_get_distance(longitude, latitude, x, latitude) > (
        shape.width * shape.conversion / 2
    ):
        return None
    return geohash_get_distance(x, y, longitude, latitude)


# -- the cells of a shape -------------------------------------------------------------------


def geohash_estimate_steps_by_radius(meters: float, latitude: float) -> int:
    """How many cuts leave cells that are large enough, mostly, for nine to cover a circle.

    Towards the poles the map is stretched, so a cell covers less there.
    geohashEstimateStepsByRadius()
    """
    if meters == 0:
        return GEO_STEP_MAX
    step = 1
    while meters < MERCATOR_MAX:
        meters *= 2
        step += 1
    step -= 2
    if abs(latitude) > 66:
        step -= 1
        if abs(latitude) > 80:
            step -= 1
    return min(max(step, 1), GEO_STEP_MAX)


def _bounding_box(shape: GeoShape) -> tuple[float, float, float, float]:
    """Least and greatest longitude, least and greatest latitude. geohashBoundingBox()"""
    if shape.radius is not None:
        width = height = shape.conversion * shape.radius
    else:
        width = shape.conversion * (shape.width / 2)
        height = shape.conversion * (shape.height / 2)
    longitude, latitude = shape.longitude, shape.latitude
    lat_delta = height / EARTH_RADIUS_IN_METERS / D_R
    # Measured at one edge: on each half of Earth at the one that Redis takes.
    edge = latitude - lat_delta if latitude < 0 else latitude + lat_delta
    long_delta = width / EARTH_RADIUS_IN_METERS / _cos(edge * D_R) / D_R
    return (
        longitude - long_delta,
        longitude + long_delta,
        latitude - lat_delta,
        latitude + lat_delta,
    )


def _shape_radius(shape: GeoShape) -> float:
    """Metres from the centre to the farthest place."""
    if shape.radius is not None:
        return shape.radius * shape.conversion
    half_width, half_height = shape.width / 2, shape.height / 2
    return math.sqrt(half_width * half_width + half_height * half_height) * shape.conversion


def geohash_calculate_areas_by_shape(shape: GeoShape) -> list[GeoHashBits]:
    """The cells to search, at most nine and perhaps some twice. O(1).

    If the four nearest neighbours do not reach to the edges of the shape's bounding box,
    cells of twice the size are taken. Neighbours on a side where the middle cell itself
    reaches beyond the box are left out. geohashCalculateAreasByShapeWGS84()
    """
    min_long, max_long, min_lat, max_lat = _bounding_box(shape)
    longitude, latitude = shape.longitude, shape.latitude
    steps = geohash_estimate_steps_by_radius(_shape_radius(shape), latitude)
    hash = geohash_encode(longitude, latitude, steps)
    if steps > 1 and (
        geohash_decode(geohash_neighbor(hash, 0, 1)).max_lat < max_lat
        or geohash_decode(geohash_neighbor(hash, 0, -1)).min_lat > min_lat
        or geohash_decode(geohash_neighbor(hash, 1, 0)).max_long < max_long
        or geohash_decode(geohash_neighbor(hash, -1, 0)).min_long > min_long
    ):
        steps -= 1
        hash = geohash_encode(longitude, latitude, steps)
    useless_east: set[int] = set()
    useless_north: set[int] = set()
    if steps >= 2:
        area = geohash_decode(hash)
        if area.min_lat < min_lat:
            useless_north.add(-1)
        if area.max_lat > max_lat:
            useless_north.add(1)
        if area.min_long < min_long:
            useless_east.add(-1)
        if area.max_long > max_long:
            useless_east.add(1)
    return [
        geohash_neighbor(hash, east, north)
        for east, north in _NINE_CELLS
        if east not in useless_east and north not in useless_north
    ]
