"""The experiment of ``miniredis expire`` on a real server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miniredis.clock import US_PER_MS
from miniredis.net.scratch import Progress, ScratchDatabase
from miniredis.net.sighting import Sighting, seen_gone_ms

LEAD_MS = 200  # the first poll comes so long before the first death


@dataclass(frozen=True, slots=True)
class LiveResult:
    """What the observer of a real server saw. Times in ms from the first death."""

    keys: int
    version: str
    hz: int
    effort: int
    volatile_elsewhere: int  # keys with a time to live in other databases
    sightings: list[Sighting]

    @property
    def remaining(self) -> int:
        """Keys still held when the run ended."""
        return self.sightings[-1].dbsize if self.sightings else self.keys

    def seen_gone_ms(self, share: float) -> float | None:
        """When the observer first saw *share* of the keys gone; None if it never did."""
        return seen_gone_ms(self.sightings, self.keys, share)


def run_live(
    scratch: ScratchDatabase,
    ttls_ms: Sequence[int],
    poll_ms: float,
    patience_ms: int,
    progress: Progress | None = None,
) -> LiveResult:
    """Write a key for each time to live and watch them go, polling every *poll_ms*.

    Ends when all are gone, or *patience_ms* after the last has died. ``PermissionError``
    if somebody else writes to the database, ``TimeoutError`` if writing is too slow.
    """
    settings = scratch.settings()
    elsewhere = scratch.volatile_keys_elsewhere()
    _, base_ms = scratch.write_before_death(ttls_ms, progress)
    total = len(ttls_ms)
    until_us = (base_ms + max(ttls_ms) + patience_ms) * US_PER_MS
    first_us = (base_ms + min(ttls_ms)) * US_PER_MS
    sightings = []
    for sighting in scratch.watch(poll_ms, first_us, LEAD_MS, until_us):
        if sighting.dbsize > total:
            raise PermissionError(f"somebody else writes to database {scratch.number}")
        sightings.append(sighting)
        if progress is not None:
            progress("watch", total - sighting.dbsize, total)
    return LiveResult(
        total, settings["version"], settings["hz"], settings["effort"], elsewhere, sightings
    )
