"""Two places, a slow clock that makes three of them, and the sound one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patterns.demos.lanes import Lanes, alt_text_lanes, draw_lanes
from patterns.demos.stage import PREFIX, Stage, clear
from patterns.semaphores import Semaphore, acquire_semaphore, release_semaphore

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIMIT = 2
LEASE_S = 1.0
SLOW_S = 0.5
NAME = f"{PREFIX}semaphores"


def run(stage: Stage) -> Lanes:
    """Three clients and two places: by clients' clocks, then by the server's."""
    shown = Lanes("Two places, leases of 1 s; Carl's clock is 0.5 s slow")
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    by_clients_clocks(stage, shown)
    clear(conn, f"*{NAME}*")
    stage.clock.sleep(0.3)
    by_the_servers_clock(stage, shown)
    clear(conn, f"*{NAME}*")
    return shown


def by_clients_clocks(stage: Stage, shown: Lanes) -> None:
    """acquire_semaphore: Carl's slow clock puts him before those who are in."""
    conn = stage.new_client()
    clocks = {"Anna": stage.clock, "Ben": stage.clock, "Carl": stage.skewed(-SLOW_S)}
    held = {}
    for name, clock in clocks.items():
        identifier = acquire_semaphore(conn, NAME, LIMIT, LEASE_S, clock)
        got = stage.now
        lane = shown.lane(f"naive: {name}")
        held[name] = (identifier, lane, got)
        lane.mark(got, "acquired" if identifier else "refused")
        stage.say(f"naive: {name} {'is in' if identifier else 'is refused'}")
        stage.clock.sleep(0.15)
    stage.say(f"naive: {sum(i is not None for i, _, _ in held.values())} are in; {LIMIT} may be")
    for identifier, lane, got in held.values():
        if identifier:
            stage.clock.sleep(0.1)
            release_semaphore(conn, NAME, identifier)
            lane.bar(got, stage.now, "holds")
            lane.mark(stage.now, "released")


def by_the_servers_clock(stage: Stage, shown: Lanes) -> None:
    """Semaphore: Carl waits until Anna, who has crashed, has had her time."""
    anna, ben = (Semaphore(stage.new_client(), NAME, LIMIT, LEASE_S, 0, stage.clock) for _ in "AB")
    carl = Semaphore(stage.new_client(), NAME, LIMIT, LEASE_S, 5, stage.skewed(-SLOW_S))
    lane = {name: shown.lane(name) for name in ("Anna", "Ben", "Carl")}
    anna.acquire()
    anna_in = stage.now
    lane["Anna"].mark(anna_in, "acquired")
    stage.clock.sleep(0.15)
    lane["Anna"].mark(stage.now, "crash")
    stage.say("Anna is in, and has crashed")
    ben.acquire()
    ben_in = stage.now
    lane["Ben"].mark(ben_in, "acquired")
    stage.say("Ben is in")
    stage.clock.sleep(0.15)
    asked = stage.now
    if not carl.acquire(0):
        stage.say("Carl is refused, and waits")
        lane["Carl"].mark(asked, "refused")
    stage.clock.sleep(0.3)
    ben.refresh()
    refreshed = stage.now
    stage.say("Ben refreshes: his second begins anew")
    carl.acquire()
    carl_in = stage.now
    stage.say(f"Carl is in, as number {carl.number}: Anna's lease is over")
    lane["Anna"].bar(anna_in, anna_in + LEASE_S, "holds")
    lane["Anna"].mark(anna_in + LEASE_S, "expired")
    lane["Carl"].bar(asked, carl_in, "waits")
    lane["Carl"].mark(carl_in, "acquired")
    ben_end = refreshed + LEASE_S
    stage.clock.sleep(max(ben_end + 0.2 - stage.now, 0))
    stage.say(f"Ben leaves: {'in time' if ben.release() else 'too late'}")
    lane["Ben"].bar(ben_in, ben_end, "holds")
    lane["Ben"].bar(ben_end, stage.now, "overdue")
    lane["Ben"].mark(refreshed, "refreshed")
    lane["Ben"].mark(ben_end, "expired")
    lane["Ben"].mark(stage.now, "late")
    carl.release()
    lane["Carl"].bar(carl_in, stage.now, "holds")
    lane["Carl"].mark(stage.now, "released")


def draw(shown: Lanes, ax: Axes | None = None) -> Axes:
    """Swim lanes: three hold where two may, and where they may not."""
    return draw_lanes(shown, ax)


def alt_text(shown: Lanes) -> str:
    """The figure in words."""
    return alt_text_lanes(shown)
