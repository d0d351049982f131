"""What one poll of a server saw, be the server real or simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sighting:
    """One row. Times in ms from an origin that the maker of the row names."""

    t_send_ms: float
    t_recv_ms: float
    dbsize: int
    expired_keys: int
    stale_perc: float  # expired_stale_perc as a fraction 0...1
    time_cap_reached: int  # expired_time_cap_reached_count
    cycle_cpu_ms: float  # expire_cycle_cpu_milliseconds


def seen_gone_ms(sightings: Sequence[Sighting], keys: int, share: float) -> float | None:
    """When the reply came that first found *share* of *keys* gone, in ms; None if none did.

    *share* is a fraction 0...1. O(number of sightings).
    """
    held = keys - math.ceil(share * keys)
    return next((s.t_recv_ms for s in sightings if s.dbsize <= held), None)
