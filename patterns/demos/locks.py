"""A lease that ends under its holder, a late release, a late write, and a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patterns.demos.lanes import Lanes, alt_text_lanes, draw_lanes
from patterns.demos.stage import PREFIX, Stage, clear
from patterns.locks import Lock, write_fenced
from patterns.text import as_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEASE_S = 1.0
NAME = f"{PREFIX}locks"
DATA = f"{NAME}:data"


def run(stage: Stage) -> Lanes:
    """Four clients and one lock with a lease of a second."""
    shown = Lanes("A lock with a lease of 1 s")
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    anna, ben, carl, dora = (
        Lock(stage.new_client(), NAME, LEASE_S, 5, stage.clock) for _ in range(4)
    )
    lane = {name: shown.lane(name) for name in ("Anna", "Ben", "Carl", "Dora")}

    anna.acquire()
    started = stage.now
    stage.say(f"Anna has the lock, token {anna.token}, and stalls for 1.5 s")
    lane["Anna"].mark(started, "acquired", f"token {anna.token}")
    stage.clock.sleep(0.3)

    stage.say("Ben waits for it")
    asked = stage.now
    ben.acquire()
    got = stage.now
    stage.say(f"Ben has the lock, token {ben.token}: Anna's lease is over")
    lane["Anna"].bar(started, started + LEASE_S, "holds")
    lane["Anna"].mark(started + LEASE_S, "expired")
    lane["Ben"].bar(asked, got, "waits")
    lane["Ben"].mark(got, "acquired", f"token {ben.token}")
    write_fenced(conn, DATA, ben.token or 0, "Ben's")
    stage.clock.sleep(0.5)

    done = write_fenced(conn, DATA, anna.token or 0, "Anna's")
    stage.say(f"Anna wakes and writes with token {anna.token}: {'done' if done else 'refused'}")
    woke = stage.now
    lane["Anna"].bar(started + LEASE_S, woke, "overdue")
    lane["Anna"].mark(woke, "refused", "write")
    stage.clock.sleep(0.3)
    stage.say(f"Anna releases: {'done' if anna.release() else 'too late, it is not hers'}")
    lane["Anna"].mark(stage.now, "late", "release")

    stage.clock.sleep(0.05)
    stage.say(f"Ben releases: {'done' if ben.release() else 'too late'}")
    lane["Ben"].bar(got, stage.now, "holds")
    lane["Ben"].mark(stage.now, "released")

    carl.acquire()
    got = stage.now
    lane["Carl"].mark(got, "acquired", f"token {carl.token}")
    stage.clock.sleep(0.3)
    stage.say(f"Carl got the lock, token {carl.token}, and has crashed")
    lane["Carl"].bar(got, got + LEASE_S, "holds")
    lane["Carl"].mark(stage.now, "crash")

    asked = stage.now
    dora.acquire()
    lane["Carl"].mark(got + LEASE_S, "expired")
    lane["Dora"].bar(asked, stage.now, "waits")
    got = stage.now
    lane["Dora"].mark(got, "acquired", f"token {dora.token}")
    stage.say(f"Dora has the lock, token {dora.token}: a dead holder blocks for a lease at most")
    stage.clock.sleep(0.4)
    dora.release()
    lane["Dora"].bar(got, stage.now, "holds")
    lane["Dora"].mark(stage.now, "released")
    kept = as_text(conn.hget(DATA, "value") or "")
    stage.say(f"what was written is {kept}; the lock is free again")
    clear(conn, f"*{NAME}*")
    return shown


def draw(shown: Lanes, ax: Axes | None = None) -> Axes:
    """Swim lanes: leases, their ends, the late release."""
    return draw_lanes(shown, ax)


def alt_text(shown: Lanes) -> str:
    """The figure in words."""
    return alt_text_lanes(shown)
