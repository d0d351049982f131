"""A bar chart in text: one column a sample, with its label written downwards below it.

Redis: sparkline.c.
"""

from __future__ import annotations

from collections.abc import Sequence

STEPS = "_o#"  # the top of a bar within its row, from low to high
BELOW_TOP = "|"


def sparkline_render(samples: Sequence[tuple[int, str]], columns: int = 80, rows: int = 4) -> str:
    """*samples* as (value, label), *columns* of them in a chart, *rows* lines high.

    The lowest value of all is drawn as the lowest step and the highest as the highest.

    sparkline.c: sparklineRender()
    """
    values = [value for value, _ in samples]
    low = min(values)
    span = (max(values) - low) or 1
    steps = len(STEPS) * rows
    heights = [min((value - low) * steps // span, steps - 1) for value in values]
    charts = []
    for start in range(0, len(samples), columns):
        labels = [label for _, label in samples[start : start + columns]]
        charts.append(_chart(heights[start : start + columns], labels, rows))
    return "\n".join(charts)


def _chart(heights: list[int], labels: list[str], rows: int) -> str:
    """sparkline.c: sparklineRenderRange()"""
    lines = []
    for row in range(rows - 1, -1, -1):
        lines.append("".join(_cell(height - row * len(STEPS)) for height in heights))
    lines.append(" " * len(heights))
    for i in range(max(map(len, labels))):
        lines.append("".join(label[i] if i < len(label) else " " for label in labels))
    return "".join(line + "\n" for line in lines)


def _cell(height: int) -> str:
    """What a row shows of a bar that rises *height* steps above the row's foot."""
    if height < 0:
        return " "
    return STEPS[height] if height < len(STEPS) else BELOW_TOP
