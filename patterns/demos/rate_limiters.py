"""The same requests before each limiter, with a burst at the edge of two windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from patterns import rate_limiters as rl
from patterns.demos.stage import PREFIX, Stage, clear

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIMIT, WINDOW = 5, 10.0  # requests, seconds
RATE = LIMIT / WINDOW
NAME = f"{PREFIX}rate"
# Seconds since the beginning: one request opens the window, a burst ends it, another begins
# the next, then they come evenly.
REQUESTS = (
    0.0,
    *(9.0 + 0.12 * i for i in range(8)),
    *(10.1 + 0.12 * i for i in range(8)),
    *(12.0 + i for i in range(12)),
)


def take_token(conn: Any, name: str) -> bool:
    """A token bucket whose timer has just come by."""
    rl.fill_bucket(conn, name, LIMIT, RATE)
    return rl.take_token(conn, name)


LIMITERS: dict[str, Callable[[Any, str], bool]] = {
    "fixed window": lambda conn, name: rl.fixed_window(conn, name, LIMIT, WINDOW),
    "sliding window": lambda conn, name: rl.sliding_window(conn, name, LIMIT, WINDOW),
    "token bucket": take_token,
    "leaky bucket": lambda conn, name: rl.leaky_bucket(conn, name, LIMIT, RATE),
    "GCRA": lambda conn, name: rl.gcra(conn, name, LIMIT, WINDOW).allowed,
}


@dataclass
class Shown:
    """Of each limiter, the instants in seconds of requests that passed and were refused."""

    passed: dict[str, list[float]] = field(default_factory=dict)
    refused: dict[str, list[float]] = field(default_factory=dict)

    def at_the_edge(self, limiter: str) -> int:
        """How many passed in the two bursts."""
        return sum(9 <= at < 11 for at in self.passed[limiter])


def run(stage: Stage) -> Shown:
    """Ask every limiter at the same instants, and count what passes."""
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    stage.say(f"{len(REQUESTS)} requests; {LIMIT} in {WINDOW:.0f} s are allowed")
    shown = Shown({n: [] for n in LIMITERS}, {n: [] for n in LIMITERS})
    for at in REQUESTS:
        stage.clock.sleep(max(at - stage.now, 0))
        for name, allow in LIMITERS.items():
            passed = allow(conn, NAME)
            (shown.passed if passed else shown.refused)[name].append(stage.now)
    for name in LIMITERS:
        stage.say(
            f"{name:14}: {len(shown.passed[name]):2} passed, {len(shown.refused[name]):2} refused;"
            f" {shown.at_the_edge(name)} passed in the 2 s around the edge of the windows"
        )
    clear(conn, f"*{NAME}*")
    return shown


def draw(shown: Shown, ax: Axes | None = None) -> Axes:
    """A row for each limiter: a dot for each request that passed, a cross for the others."""
    from miniredis.lab.plots.style import BLUE, GREY, VERMILLION, axes_for, legend_below

    ax = axes_for(ax, (8, 4))
    rows = range(len(LIMITERS))
    for row, name in zip(rows, LIMITERS, strict=True):
        passed, refused = shown.passed[name], shown.refused[name]
        ax.plot(
            passed, [row - 0.12] * len(passed), "o", color=BLUE, ms=6,
            label="passed" if row == 0 else None,
        )  # fmt: skip
        ax.plot(
            refused, [row + 0.12] * len(refused), "x", color=VERMILLION, ms=6,
            label="refused" if row == 0 else None,
        )  # fmt: skip
    ax.axvline(WINDOW, color=GREY, linestyle="--", linewidth=1, label="edge of the fixed windows")
    ax.set_yticks(list(rows), list(LIMITERS))
    ax.set_ylim(len(LIMITERS) - 0.5, -0.5)
    ax.set_ylabel("limiter")
    ax.set_xlabel("time since the first request (s)")
    ax.set_title(f"{LIMIT} requests in {WINDOW:.0f} s, as five limiters count them")
    legend_below(ax)
    return ax


def alt_text(shown: Shown) -> str:
    """The figure in words."""
    counts = ", ".join(f"{name} {shown.at_the_edge(name)}" for name in LIMITERS)
    return (
        f"Requests that passed and were refused against time, a row for each of"
        f" {len(LIMITERS)} limiters of {LIMIT} requests in {WINDOW:.0f} s. Two bursts come just"
        f" before and just after the edge of two fixed windows. Of them pass: {counts}."
    )
