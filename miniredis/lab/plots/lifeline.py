"""The life of keys as lines: alive, dead but held, gone.

Draws what ``Server.history(key)`` returns. Each key is a row; a bar is solid while the
key was alive and hatched while it was dead and nobody had noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from miniredis.lab.plots.style import BLUE, GREEN, GREY, ORANGE, VERMILLION, axes_for
from miniredis.server.life import ByCommand, History, Life, LifeEvent, What

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

US_PER_SECOND = 1_000_000
US_PER_MS = 1000
BAR = 0.22  # height of a bar, rows being 1 apart
MARKER_SIZE = 7  # points
SMALL = 8  # points, the size of notes
LIFT = {"^": 1.2, "v": 2.0}  # bars that markers of the TTL stand above their cause
ROW_INCHES, REST_INCHES = 0.65, 2.0  # height of a row, and of title, axis and legend
BELOW_AXIS = 5.5  # from the axis to the legend, in letters of its size
MARGIN = 0.04  # of the time drawn, left and right

# What → marker, colour, label. Shapes differ, so the colours only repeat what they say.
_MARKS = {
    What.WRITTEN: ("o", BLUE, "written"),
    What.CHANGED: ("s", ORANGE, "overwritten or changed"),
    What.TTL_SET: ("^", GREEN, "TTL set"),
    What.TTL_REMOVED: ("v", GREEN, "TTL removed"),
    What.ARRIVED: (">", BLUE, "came from elsewhere"),
    What.LOADED: ("D", BLUE, "saved and loaded"),
    What.LEFT: ("<", GREY, "went elsewhere"),
    What.REPLACED: ("X", GREY, "replaced"),
    What.DELETED: ("X", GREY, "deleted while alive"),
    What.EXPIRED: ("X", VERMILLION, "deleted when dead"),
}


def plot_lifeline(
    history: History | Sequence[History],
    ax: Axes | None = None,
    names: Sequence[str] | None = None,
) -> Axes:
    """One history, or several as rows on the same axis of time.

    Time counts from the earliest event drawn. A dotted line marks the time at which a
    key that died was to die. *names* of the rows replace those of the keys. ``ValueError``
    if nothing was recorded, or names are too many or too few.
    """
    histories = _as_list(history)
    if names is not None and len(names) != len(histories):
        raise ValueError(f"{len(histories)} histories need as many names, not {len(names)}")
    ax = axes_for(ax, (7, REST_INCHES + ROW_INCHES * len(histories)))
    zero = min(h.events[0].at_us for h in histories)
    span = max(max(_end_us(h.lives[-1]) for h in histories) - zero, US_PER_MS)
    margin = MARGIN * span / US_PER_SECOND
    ax.set_xlim(-margin, span / US_PER_SECOND + margin)
    for row, h in enumerate(histories):
        for life in h.lives:
            _draw_life(ax, row, life, zero)
        _draw_note(ax, row, h.lives[-1], zero, span)
    _draw_marks(ax, histories, zero)
    ax.set_yticks(range(len(histories)), names or [_name(h) for h in histories])
    ax.set_ylim(len(histories) - 0.4, -0.6)  # the first row on top
    ax.set_xlabel("time since the first event (s)")
    ax.set_ylabel("key")
    ax.set_title("The life of a key" if len(histories) == 1 else "The lives of keys")
    handles = ax.get_legend_handles_labels()[0] + _legend_of_bars(histories)
    # Below the axis: the distance is counted in letters, whatever the height of the axes.
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=BELOW_AXIS,
        ncols=4,
        fontsize=SMALL,
    )
    return ax


def alt_text_lifeline(history: History | Sequence[History]) -> str:
    """The figure in words, for those who cannot see it."""
    histories = _as_list(history)
    parts = [f"Lifelines of {len(histories)} key{'s' if len(histories) > 1 else ''}."]
    for h in histories:
        zero = h.events[0].at_us
        for life in h.lives:
            alive = (
                (_end_us(life) if life.dead_us is None else life.dead_us) - life.start_us
            ) / 1e6
            text = f"{_name(h)}, from {(life.start_us - zero) / 1e6:g} s on: alive {alive:.3f} s"
            if life.lag_us is not None:
                text += f", then dead and held {life.lag_us // US_PER_MS} ms"
            parts.append(f"{text}; {_end(life)}.")
    return " ".join(parts)


def _as_list(history: History | Sequence[History]) -> list[History]:
    histories = [history] if isinstance(history, History) else list(history)
    if not histories:
        raise ValueError("there must be at least one history to draw")
    for h in histories:
        if not h.events:
            raise ValueError(f"nothing was recorded of {_name(h)}; was the name spelt right?")
    return histories


def _draw_life(ax: Axes, row: int, life: Life, zero: int) -> None:
    def seconds(us: int) -> float:
        return (us - zero) / US_PER_SECOND

    start, end, dead = life.start_us, _end_us(life), life.dead_us
    alive_until = end if dead is None else max(dead, start)
    ax.barh(row, seconds(alive_until) - seconds(start), BAR, seconds(start), color=BLUE)
    if dead is None:
        return
    left = seconds(alive_until)
    width = seconds(end) - left
    ax.barh(row, width, BAR, left, facecolor="white", edgecolor=VERMILLION, hatch="////")
    if life.when_ms is not None and life.when_ms * US_PER_MS >= start:
        x = seconds(life.when_ms * US_PER_MS)
        ax.plot([x, x], [row - 1.5 * BAR, row + 0.5 * BAR], color="black", linestyle=":")


def _draw_note(ax: Axes, row: int, life: Life, zero: int, span: int) -> None:
    """How the life ended, below its bar: flush with the end that leaves room for it."""
    end = _end_us(life)
    right = end - zero > span / 2
    x = end if right else life.start_us
    ax.text(
        (x - zero) / US_PER_SECOND,
        row + 0.8 * BAR,
        _end(life),
        ha="right" if right else "left",
        va="top",
        fontsize=SMALL,
    )


def _draw_marks(ax: Axes, histories: list[History], zero: int) -> None:
    """Every event as a marker on its row, and the legend for those that occur."""
    for what, (marker, color, label) in _MARKS.items():
        points = [
            ((event.at_us - zero) / US_PER_SECOND, row)
            for row, h in enumerate(histories)
            for life in h.lives
            for event in life.events
            if _mark(event, life) is what
        ]
        if points:
            x, y = zip(*points, strict=True)
            lifted = [v - LIFT.get(marker, 0) * BAR for v in y]
            ax.plot(
                x, lifted, marker, color=color, markersize=MARKER_SIZE, label=label,
                markeredgecolor="white", zorder=3,
            )  # fmt: skip


def _mark(event: LifeEvent, life: Life) -> What:
    """What the marker of an event says: a DEL may find the key dead, as on a replica."""
    if event is life.end and event.what is What.DELETED and life.dead_us is not None:
        return What.EXPIRED
    return event.what


def _legend_of_bars(histories: list[History]) -> list[Artist]:
    handles: list[Artist] = [Patch(color=BLUE, label="alive")]
    if any(life.dead_us is not None for h in histories for life in h.lives):
        handles += [
            Patch(facecolor="white", edgecolor=VERMILLION, hatch="////", label="dead, held"),
            Line2D([], [], color="black", linestyle=":", label="its time"),
        ]
    return handles


def _end_us(life: Life) -> int:
    return life.now_us if life.end is None else life.end.at_us


def _end(life: Life) -> str:
    """How a life ended, in a few words."""
    end = life.end
    if end is None:
        return "dead, still held" if life.dead_us is not None else "alive"
    by = str(end.by)
    if isinstance(end.by, ByCommand):
        by = end.by.words[0].decode("utf-8", "backslashreplace").upper()
        by += " of the primary" if end.by.from_primary else f" of client {end.by.client_id}"
    verb = {What.LEFT: "left by", What.REPLACED: "replaced by"}.get(end.what, "deleted by")
    lag = "" if life.lag_us is None else f", {life.lag_us // US_PER_MS} ms after its death"
    return f"{verb} {by}{lag}"


def _name(h: History) -> str:
    name = h.key.decode("utf-8", "backslashreplace")
    return name if h.dbid == 0 else f"{name} (db {h.dbid})"
