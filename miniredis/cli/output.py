"""The option ``-o`` of commands that draw, and what becomes of a file that cannot be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from miniredis.cli.params import FilePath

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def output_option() -> Callable[[AnyFunction], AnyFunction]:
    """``-o FILE``, which :func:`check_output` is to look at before work begins."""
    return click.option(
        "-o",
        "--output",
        type=FilePath(),
        help="Figure to draw; the suffix chooses the format, e.g. .png, .svg, .pdf.",
    )


def check_output(output: Path | None) -> None:
    """``UsageError`` if no figure can be written to *output*, before long work is done."""
    if output is None:
        return
    if str(output) == "-":
        raise click.UsageError("-o needs the name of a file; standard output shows the numbers")
    use_no_screen()
    from miniredis.lab import plots

    try:
        plots.check_target(output)
        plots.format_of(output)
    except ValueError as error:
        raise click.UsageError(f"-o: {error}") from None


def use_no_screen() -> None:
    """Let matplotlib draw into files alone."""
    import matplotlib

    matplotlib.use("Agg")


def save_figure(figure: Figure, output: Path, description: str) -> None:
    """Write the figure; ``ClickException`` if that fails."""
    from miniredis.lab import plots

    try:
        plots.save(figure, output, description)
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    except ValueError as error:
        raise click.ClickException(str(error)) from None
