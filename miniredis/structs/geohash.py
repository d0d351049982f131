"""Geohashes: a place on Earth as one integer, near places mostly having near integers.

Longitude and latitude are each cut in half again and again; the answers, 1 for the upper
half, are the bits of a number, and the bits of both numbers alternate in the hash. A hash
of *step* cuts of each has ``2 * step`` bits and stands for a rectangle, its cell. The first
bits of a hash are the hash of a larger cell around it, so all places of a cell form one
range of hashes.

Example with 2 steps: longitude 90 of -180...180 is 11 (upper half, and its upper half again),
latitude -50 of -85...85 is 00. Alternating, longitude first, that is 1010.

Redis: geohash.c.
"""

from __future__ import annotations

from typing import NamedTuple

GEO_STEP_MAX = 26  # cuts of each coordinate: 52 bits, as many as a double holds exactly
# Of a map in the Mercator projection, which cannot show the poles (EPSG:900913). Degrees.
GEO_LAT_MIN, GEO_LAT_MAX = -85.05112878, 85.05112878
GEO_LONG_MIN, GEO_LONG_MAX = -180.0, 180.0
_SCORES_OF_THE_MAP = 2.0 ** (2 * GEO_STEP_MAX)  # scores below are places on it
_STANDARD_LAT_MIN, _STANDARD_LAT_MAX = -90.0, 90.0

_U32, _U64 = (1 << 32) - 1, (1 << 64) - 1
_LONG_BITS, _LAT_BITS = 0xAAAA_AAAA_AAAA_AAAA, 0x5555_5555_5555_5555
# How bits are spread out: shift, and what is kept. Each line doubles the gaps.
_SPREAD = (
    (16, 0x0000_FFFF_0000_FFFF),
    (8, 0x00FF_00FF_00FF_00FF),
    (4, 0x0F0F_0F0F_0F0F_0F0F),
    (2, 0x3333_3333_3333_3333),
    (1, _LAT_BITS),
)
_GATHER = (
    (1, 0x3333_3333_3333_3333),
    (2, 0x0F0F_0F0F_0F0F_0F0F),
    (4, 0x00FF_00FF_00FF_00FF),
    (8, 0x0000_FFFF_0000_FFFF),
    (16, _U32),
)
_ALPHABET = b"0123456789bcdefghjkmnpqrstuvwxyz"
_TEXT_LENGTH = 11  # characters of a geohash as text
_BITS_PER_CHARACTER = 5


class GeoHashBits(NamedTuple):
    """The hash of a cell, of ``2 * step`` bits. geohash.h: GeoHashBits"""

    bits: int
    step: int


class GeoHashArea(NamedTuple):
    """The edges of a cell in degrees. geohash.h: GeoHashArea"""

    min_long: float
    max_long: float
    min_lat: float
    max_lat: float


def _spread(number: int) -> int:
    """The bits of a 32-bit number at every other place of 64."""
    for shift, mask in _SPREAD:
        number = (number | number << shift) & mask
    return number


def _gather(number: int) -> int:
    """Every other bit of a 64-bit number, close together."""
    number &= _LAT_BITS
    for shift, mask in _GATHER:
        number = (number | number >> shift) & mask
    return number


def _fixed_point(value: float, low: float, high: float, step: int) -> int:
    return int((value - low) / (high - low) * (1 << step)) & _U32


def geohash_encode(
    longitude: float,
    latitude: float,
    step: int,
    min_lat: float = GEO_LAT_MIN,
    max_lat: float = GEO_LAT_MAX,
) -> GeoHashBits:
    """The hash of the cell that a place, which must be on the map, lies in. O(1).

    geohash.c: geohashEncode()
    """
    x = _fixed_point(longitude, GEO_LONG_MIN, GEO_LONG_MAX, step)
    y = _fixed_point(latitude, min_lat, max_lat, step)
    return GeoHashBits(_spread(y) | _spread(x) << 1, step)


def geohash_decode(hash: GeoHashBits | tuple[int, int]) -> GeoHashArea:
    """The cell of a hash. O(1). geohash.c: geohashDecode()"""
    bits, step = hash
    y, x = _gather(bits), _gather(bits >> 1)
    cells = 1 << step
    lat_scale, long_scale = GEO_LAT_MAX - GEO_LAT_MIN, GEO_LONG_MAX - GEO_LONG_MIN
    # The next number is taken modulo 2^32, as C does for hashes that lie beyond the map.
    return GeoHashArea(
        GEO_LONG_MIN + (x / cells) * long_scale,
        GEO_LONG_MIN + ((x + 1 & _U32) / cells) * long_scale,
        GEO_LAT_MIN + (y / cells) * lat_scale,
        GEO_LAT_MIN + ((y + 1 & _U32) / cells) * lat_scale,
    )


def _clamp(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


def decode_score(score: float) -> tuple[float, float]:
    """Longitude and latitude, in degrees, of the middle of the cell that a score means.

    Any score means something. O(1). geo.c: decodeGeohash()
    """
    bits = int(score) if 0 <= score < _SCORES_OF_THE_MAP else to_unsigned(score)
    min_long, max_long, min_lat, max_lat = geohash_decode((bits, GEO_STEP_MAX))
    longitude, latitude = (min_long + max_long) / 2, (min_lat + max_lat) / 2
    return (
        _clamp(longitude, GEO_LONG_MIN, GEO_LONG_MAX),
        _clamp(latitude, GEO_LAT_MIN, GEO_LAT_MAX),
    )


def geohash_align_52_bits(hash: GeoHashBits) -> int:
    """The least score in a cell. geohash_helper.c: geohashAlign52Bits()"""
    return hash.bits << (2 * GEO_STEP_MAX - 2 * hash.step) & _U64


def geohash_text(score: float) -> bytes:
    """The usual geohash of 11 characters: there latitudes go from -90 to 90.

    52 bits are 10 characters and a bit; the last is always 0. geo.c: geohashCommand()
    """
    longitude, latitude = decode_score(score)
    bits = geohash_encode(
        longitude, latitude, GEO_STEP_MAX, _STANDARD_LAT_MIN, _STANDARD_LAT_MAX
    ).bits
    shift = 2 * GEO_STEP_MAX
    text = bytearray()
    for _ in range(_TEXT_LENGTH - 1):
        shift -= _BITS_PER_CHARACTER
        text.append(_ALPHABET[bits >> shift & 31])
    text.append(_ALPHABET[0])
    return bytes(text)


# -- neighbours ---------------------------------------------------------------------------


def _move(hash: GeoHashBits, d: int, mine: int, others: int) -> GeoHashBits:
    """The cell *d* cells on, in the coordinate whose bits are *mine*.

    Adding 1 to bits that lie apart: those between them are filled with ones first, so that
    a carry passes through. Of 0010 the bits of the longitude are 0_1_; with the others
    filled in, 0111 plus 1 is 1000, that is 1_0_. geohash.c: geohash_move_x(), _y()
    """
    bits, step = hash
    if not d:
        return hash
    shift = 64 - step * 2
    value, fill = bits & mine, others >> shift
    value = value + fill + 1 if d > 0 else (value | fill) - (fill + 1)
    return GeoHashBits(value & mine >> shift | bits & others, step)


def geohash_neighbor(hash: GeoHashBits, east: int, north: int) -> GeoHashBits:
    """The cell so many cells (-1, 0, 1) to the east and north, around the edges of the map.

    geohash.c: geohashNeighbors()
    """
    return _move(_move(hash, east, _LONG_BITS, _LAT_BITS), north, _LAT_BITS, _LONG_BITS)


# -- doubles as integers --------------------------------------------------------------------


def to_signed(score: float) -> int:
    """*score* as x86-64 makes a ``long long`` of it: what does not fit is -2^63."""
    if not -(2.0**63) <= score < 2.0**63:
        return -(1 << 63)
    return int(score)


def to_unsigned(score: float) -> int:
    """*score* as compilers for x86-64 make a ``uint64_t`` of it; negative ones wrap."""
    if not score >= 2.0**63:
        return to_signed(score) & _U64
    return to_signed(score - 2.0**63) & _U64 ^ 1 << 63
