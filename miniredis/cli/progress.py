"""Progress of long work, shown on standard error when that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error, one line a phase; silent when that is no terminal.

    What is yielded takes a phase, steps done and steps in all, 0 if nobody knows.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    names = {
        "read": "reading times to live",
        "write": "writing keys",
        "expire": "letting them expire",
        "measure": "measuring",
        "watch": "watching the real server",
        "run": "running the strategies",
        "draw": "drawing",
        "engines": "comparing engines",
    }
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description:22}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    tasks: dict[str, Any] = {}
    with bar:

        def progress(phase: str, done: int, total: int) -> None:
            steps = total or None  # unknown: the bar only shows that work goes on
            if phase not in tasks:
                tasks[phase] = bar.add_task(names[phase], total=steps)
            bar.update(tasks[phase], completed=done, total=steps)

        yield progress
