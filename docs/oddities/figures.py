"""Draws the figures of these pages: ``python docs/oddities/figures.py [directory]``.

Each function makes one figure from a run of the simulator and returns its axes; the file
has the function's name, with hyphens. ``make figures`` writes them beside the pages.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from miniredis import Server, StaleGate, VirtualClock
from miniredis.keyspace.expire import CycleReport
from miniredis.lab.plots import BLUE, GREY, ORANGE, VERMILLION
from miniredis.lab.recorder import ExpiryRecorder
from miniredis.lab.snapshot import picture_of_db

SEED = 7
MS_PER_SECOND = 1000

# Letters stay letters, and the same data give the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "miniredis"


def new_axes() -> Axes:
    return plt.subplots(figsize=(7, 3.6), layout="constrained")[1]


def filled(keys: int, ttl_ms: int, **config: object) -> tuple[VirtualClock, Server]:
    """A server with *keys* keys that all die after *ttl_ms*."""
    clock = VirtualClock()
    server = Server(clock, seed=SEED, **config)
    client = server.create_client()
    for n in range(keys):
        server.process_command(client, [b"SET", b"key:%d" % n, b"x", b"PX", b"%d" % ttl_ms])
    return clock, server


def inflow(seconds: int, ttl_max: int, **config: object) -> list[tuple[float, float, float]]:
    """1,000 keys a second; every 100 ms: s, true stale share, INFO's estimate, both in %."""
    clock = VirtualClock()
    server = Server(clock, seed=SEED, **config)
    client = server.create_client()
    rng = random.Random(SEED)
    rows = []
    for n in range(1, seconds * 1_000 + 1):
        ttl = rng.randint(1, ttl_max)
        server.process_command(client, [b"SET", b"key:%d" % n, b"x", b"PX", b"%d" % ttl])
        clock.advance(1)
        if n % 100 == 0:
            db = picture_of_db(server, server.databases[0])
            share = 100 * db.dead / db.keys
            rows.append((n / MS_PER_SECOND, share, 100 * server.stat_expired_stale_perc))
    return rows


def dead_stale_gate(ax: Axes) -> None:
    for gate, color, style in (
        (StaleGate.DEAD, VERMILLION, "-"),
        (StaleGate.REPAIRED, BLUE, "--"),
    ):
        rows = inflow(20, 5_000, stale_gate=gate)
        label = f"gate {'as it is' if gate is StaleGate.DEAD else 'as it was meant'}"
        ax.plot([r[0] for r in rows], [r[2] for r in rows], style, color=color, label=label)
    ax.axhline(10, color=GREY, linestyle=":", label="limit at effort 1")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("expired_stale_perc (%)")
    ax.set_title("INFO's estimate, 1,000 keys/s")
    ax.legend(loc="lower right")


def estimate_above_truth(ax: Axes) -> None:
    rows = inflow(30, 10_000)
    t = [r[0] for r in rows]
    ax.plot(t, [r[1] for r in rows], color=VERMILLION, label="true")
    ax.plot(t, [r[2] for r in rows], "--", color=BLUE, label="INFO expired_stale_perc")
    ax.axhline(10, color=GREY, linestyle=":", label="10 %, acceptable in a window")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("stale keys (%)")
    ax.set_ylim(0, None)
    ax.set_title("True stale share and estimate, 1,000 keys/s")
    ax.legend(loc="lower right")


def sparse_tail(ax: Axes) -> None:
    for activerehashing, color, style in ((True, BLUE, "-"), (False, VERMILLION, "--")):
        clock, server = filled(10_000, 50, activerehashing=activerehashing)
        t, keys = [], []
        for ms in range(0, 1_000, 10):
            t.append(ms - 50)
            keys.append(server.dbsize())
            clock.advance(10)
        # A logarithmic axis has no 0; the curve ends where the last key goes.
        t = t[: keys.index(0)] if 0 in keys else t
        label = f"activerehashing {'yes' if activerehashing else 'no'}"
        ax.step(t, keys[: len(t)], style, where="post", color=color, label=label)
        if len(t) < len(keys):
            ax.plot([t[-1] + 10], [1], "X", color=color, label="all gone")
            ax.vlines(t[-1] + 10, 1, keys[len(t) - 1], color=color)
            ax.hlines(keys[len(t) - 1], t[-1], t[-1] + 10, color=color)
    ax.set_yscale("log")
    ax.set_xlabel("time since the keys died (ms)")
    ax.set_ylabel("keys in memory")
    ax.set_title("10,000 keys die at once")
    ax.legend()


def cron_period(ax: Axes) -> None:
    clock, server = filled(100_000, 50)
    recorder = ExpiryRecorder()
    server.probe = recorder
    clock.advance(430)
    slow = [c for c in recorder.cycles if c.type == "slow" and c.expired]
    start = slow[0].start_us

    def spans(cycles: list[CycleReport]) -> list[tuple[float, float]]:
        return [((c.start_us - start) / 1000, c.elapsed_us / 1000) for c in cycles]

    fast = [c for c in recorder.cycles if c.type == "fast"]
    ax.broken_barh(spans(slow), (0.6, 0.8), color=BLUE, label="slow cycle")
    ax.broken_barh(
        spans(fast), (0.6, 0.8), facecolor=ORANGE, edgecolor="black", hatch="//", label="fast cycle"
    )
    for cycle, following in pairwise(slow):
        end = (cycle.start_us + cycle.elapsed_us - start) / 1000
        begin = (following.start_us - start) / 1000
        ax.annotate("", (begin, 0.45), (end, 0.45), arrowprops={"arrowstyle": "<->"})
        ax.text((begin + end) / 2, 0.38, f"{begin - end:.0f} ms", ha="center", va="top")
        ax.annotate("", (begin, 1.55), (begin - 125, 1.55), arrowprops={"arrowstyle": "<->"})
        ax.text(begin - 62.5, 1.6, f"{begin - end + 25:.0f} ms", ha="center", va="bottom")
    ax.set_ylim(0, 2)
    ax.set_yticks([])
    ax.set_ylabel("active expire cycle")
    ax.set_xlabel("time since the first cycle (ms)")
    ax.set_title("100 ms from end to beginning, 125 ms from beginning to beginning")
    ax.legend(loc="upper right", ncols=2)


def avg_ttl_drift(ax: Axes) -> None:
    clock = VirtualClock()
    server = Server(clock, seed=SEED)
    r = server.client()
    clock.advance(1)
    r.set("k", "v", px=1_000_000)
    t, left, average = [], [], []
    for cron in range(1, 201):
        clock.advance(100)
        t.append(cron / 10)
        left.append(r.pttl("k") / MS_PER_SECOND)
        average.append(server.databases[0].avg_ttl / MS_PER_SECOND)
    ax.plot(t, average, "--", color=BLUE, label="avg_ttl in INFO")
    ax.plot(t, left, color=VERMILLION, label="PTTL, the truth")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("time to live (s)")
    ax.set_title("One key of 1,000 s to live, hz 10")
    ax.legend()


FIGURES: tuple[Callable[[Axes], None], ...] = (
    dead_stale_gate,
    estimate_above_truth,
    sparse_tail,
    cron_period,
    avg_ttl_drift,
)


def file_name(draw: Callable[[Axes], None]) -> str:
    return draw.__name__.replace("_", "-") + ".svg"


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for draw in FIGURES:
        ax = new_axes()
        draw(ax)
        # Without the date, so that the same figure is the same file.
        ax.figure.savefig(directory / file_name(draw), metadata={"Date": None})
        plt.close()


if __name__ == "__main__":
    here = Path(__file__).resolve().parent / "figures"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
