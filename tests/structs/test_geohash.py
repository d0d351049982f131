"""geohash.py, geo_areas.py: places as integers, and what is near."""

from __future__ import annotations

import math
import random

import pytest

from miniredis.structs.geo_areas import (
    GeoShape,
    distance_within,
    geohash_calculate_areas_by_shape,
    geohash_get_distance,
)
from miniredis.structs.geohash import (
    GEO_LAT_MAX,
    GEO_LAT_MIN,
    GEO_STEP_MAX,
    GeoHashBits,
    decode_score,
    geohash_align_52_bits,
    geohash_decode,
    geohash_encode,
    geohash_neighbor,
    geohash_text,
    to_signed,
    to_unsigned,
)


def score_of(longitude: float, latitude: float) -> int:
    return geohash_align_52_bits(geohash_encode(longitude, latitude, GEO_STEP_MAX))


def test_the_example_of_the_module() -> None:
    assert geohash_encode(90, -50, 2) == (0b1010, 2)


def test_known_places() -> None:
    """The example of Redis's documentation."""
    palermo, catania = score_of(13.361389, 38.115556), score_of(15.087269, 37.502669)
    assert (palermo, catania) == (3479099956230698, 3479447370796909)
    assert geohash_text(palermo) == b"sqc8b49rny0"
    distance = geohash_get_distance(*decode_score(palermo), *decode_score(catania))
    assert f"{distance:.4f}" == "166274.1516"


@pytest.mark.parametrize("step", [1, 2, 5, 13, 26])
def test_a_place_lies_in_its_cell_and_next_to_its_neighbours(step: int) -> None:
    rng = random.Random(step)
    for _ in range(50):
        longitude, latitude = rng.uniform(-179, 179), rng.uniform(-84, 84)
        hash = geohash_encode(longitude, latitude, step)
        area = geohash_decode(hash)
        assert area.min_long <= longitude <= area.max_long
        assert area.min_lat <= latitude <= area.max_lat
        east = geohash_decode(geohash_neighbor(hash, 1, 0))
        assert math.isclose(east.min_long % 360, area.max_long % 360, abs_tol=1e-9) or (
            abs(east.min_long + 180) < 1e-9
        ), "around the edge of the map"
        back = geohash_neighbor(geohash_neighbor(hash, 1, -1), -1, 1)
        assert back == hash


def test_neighbours_wrap_around_the_map() -> None:
    west_edge = GeoHashBits(0, 3)
    assert geohash_decode(geohash_neighbor(west_edge, -1, 0)).max_long == 180
    assert geohash_decode(geohash_neighbor(west_edge, 0, -1)).max_lat == GEO_LAT_MAX


def test_the_cells_cover_the_shape() -> None:
    """All places within a circle lie in one of its cells, unless it crosses the map's edge."""
    rng = random.Random(5)
    for _ in range(100):
        x, y = rng.uniform(-60, 60), rng.uniform(-60, 60)
        shape = GeoShape(x, y, 1000.0, radius=10 ** rng.uniform(-2, 3))
        cells = geohash_calculate_areas_by_shape(shape)
        for _ in range(20):
            degrees = 2 * (shape.radius or 0) / 111
            longitude = x + rng.uniform(-degrees, degrees)
            latitude = y + rng.uniform(-degrees, degrees)
            if distance_within(shape, longitude, latitude) is None:
                continue
            areas = [geohash_decode(cell) for cell in cells]
            assert any(
                area.min_long <= longitude <= area.max_long
                and area.min_lat <= latitude <= area.max_lat
                for area in areas
            )


@pytest.mark.parametrize("score", [-1.0, 0.5, 1e19, 1e30, -1e30, math.inf, -math.inf, 2.0**52])
def test_any_score_is_some_place(score: float) -> None:
    longitude, latitude = decode_score(score)
    assert -180 <= longitude <= 180
    assert GEO_LAT_MIN <= latitude <= GEO_LAT_MAX


@pytest.mark.parametrize(
    ("score", "signed", "unsigned"),
    [
        (5.9, 5, 5),
        (-5.9, -5, 2**64 - 5),
        (2.0**63, -(2**63), 2**63),
        (1e19, -(2**63), 10**19),
        (1e20, -(2**63), 0),
        (math.inf, -(2**63), 0),
        (-math.inf, -(2**63), 2**63),
    ],
)
def test_doubles_as_integers(score: float, signed: int, unsigned: int) -> None:
    assert to_signed(score) == signed
    assert to_unsigned(score) == unsigned


def test_shapes_without_end() -> None:
    everywhere = GeoShape(10, 10, 1.0, radius=math.inf)
    assert len(geohash_calculate_areas_by_shape(everywhere)) == 9
    assert distance_within(everywhere, -170, -80) is not None
    assert distance_within(GeoShape(0, 0, 1.0, width=math.inf, height=1), 90, 0) is not None
    assert distance_within(GeoShape(0, 0, 1.0, width=1, height=math.inf), 90, 0) is None
