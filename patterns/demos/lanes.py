"""Swim lanes: one row for each client, with what it held and what befell it.

Used by the demonstrations of locks and semaphores. Colours are Okabe and Ito's; hatching and
the shape of markers say the same once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from miniredis.lab.plots.style import BLUE, GREEN, GREY, ORANGE, SMALL, VERMILLION, axes_for

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

BAR = 0.36  # height of a bar, in rows
ROW_INCHES, REST_INCHES = 0.55, 1.9
NOTE_DROP = 0.3  # rows, from a row's middle to the text of a mark

# What a bar can say: colour, hatch, words.
BARS = {
    "waits": ("white", GREY, "---", "waits"),
    "holds": (BLUE, BLUE, "", "holds, lease runs"),
    "overdue": ("white", VERMILLION, "////", "believes it holds; lease over"),
}
# What a mark can say: marker, colour, words.
MARKS = {
    "acquired": ("^", GREEN, "acquired"),
    "released": ("v", GREEN, "released"),
    "expired": ("|", "black", "lease ends"),
    "late": ("X", VERMILLION, "came too late"),
    "refused": ("s", ORANGE, "refused"),
    "refreshed": ("D", GREEN, "lease begins anew"),
    "crash": ("*", "black", "crashes"),
}


@dataclass
class Lane:
    """What one client did: bars (start, end, kind of BARS), marks (instant, kind of MARKS)."""

    name: str
    bars: list[tuple[float, float, str]] = field(default_factory=list)
    marks: list[tuple[float, str, str]] = field(default_factory=list)  # and a note

    def bar(self, start: float, end: float, kind: str) -> None:
        """A bar from *start* to *end*, in seconds."""
        self.bars.append((start, end, kind))

    def mark(self, at: float, kind: str, note: str = "") -> None:
        """A mark at *at* seconds, with a few words below it."""
        self.marks.append((at, kind, note))


@dataclass
class Lanes:
    """The lanes of one demonstration, the first on top."""

    title: str
    lanes: list[Lane] = field(default_factory=list)

    def lane(self, name: str) -> Lane:
        """A new lane at the bottom."""
        self.lanes.append(Lane(name))
        return self.lanes[-1]


def draw_lanes(shown: Lanes, ax: Axes | None = None) -> Axes:
    """Draw *shown* into *ax* or new axes."""
    ax = axes_for(ax, (7.5, REST_INCHES + ROW_INCHES * len(shown.lanes)))
    for row, lane in enumerate(shown.lanes):
        for start, end, kind in lane.bars:
            face, edge, hatch, _ = BARS[kind]
            ax.barh(row, end - start, BAR, start, facecolor=face, edgecolor=edge, hatch=hatch)
        for at, kind, note in lane.marks:
            marker, color, _ = MARKS[kind]
            size = 14 if marker in "|*" else 9
            ax.plot(
                [at], [row], marker, color=color, markersize=size, zorder=3,
                markeredgecolor=None if marker == "|" else "white", markeredgewidth=1.5,
            )  # fmt: skip
            if note:
                ax.text(at, row + NOTE_DROP, note, ha="center", va="top", fontsize=SMALL - 1)
    ax.set_yticks(range(len(shown.lanes)), [lane.name for lane in shown.lanes])
    ax.set_ylim(len(shown.lanes) - 0.3, -0.5)  # the first row on top
    ax.use_sticky_edges = False
    ax.margins(x=0.06)
    ax.autoscale_view(scaley=False)
    ax.set_xlabel("time since the beginning (s)")
    ax.set_ylabel("client")
    ax.set_title(shown.title)
    ax.legend(
        handles=_legend(shown), loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4.5,
        ncols=4, fontsize=SMALL,
    )  # fmt: skip
    return ax


def _legend(shown: Lanes) -> list[Artist]:
    """One entry for each kind of bar and mark that occurs."""
    bars = {kind for lane in shown.lanes for _, _, kind in lane.bars}
    marks = {kind for lane in shown.lanes for _, kind, _ in lane.marks}
    handles: list[Artist] = [
        Patch(facecolor=face, edgecolor=edge, hatch=hatch, label=words)
        for kind, (face, edge, hatch, words) in BARS.items()
        if kind in bars
    ]
    for kind, (marker, color, words) in MARKS.items():
        if kind in marks:
            handles.append(
                Line2D([], [], color=color, marker=marker, linestyle="none", label=words)
            )
    return handles


def alt_text_lanes(shown: Lanes) -> str:
    """The figure in words, for those who cannot see it."""
    parts = [f"{shown.title}: {len(shown.lanes)} lanes."]
    for lane in shown.lanes:
        said = [
            f"{BARS[kind][3]} from {start:.3f} to {end:.3f} s" for start, end, kind in lane.bars
        ]
        said += [
            f"{MARKS[kind][2]} at {at:.3f} s{f' ({note})' if note else ''}"
            for at, kind, note in lane.marks
        ]
        parts.append(f"{lane.name}: {'; '.join(said)}.")
    return " ".join(parts)
