"""``miniredis expire --against``: simulator and real server side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miniredis.cli.output import save_figure

if TYPE_CHECKING:
    from miniredis.clock import CostModel
    from miniredis.lab.experiments import ExpiryResult
    from miniredis.net.live_expiry import LiveResult

DEFAULT_POLL_MS = 20


@contextmanager
def failing_plainly() -> Iterator[None]:
    """Turn what can go wrong with a real server into messages of the command line."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except (RuntimeError, OSError) as error:  # among them PermissionError, ConnectionError
        raise click.ClickException(str(error)) from None


@dataclass(frozen=True, slots=True)
class Beside:
    """What is to be shown."""

    runs: list[ExpiryResult]
    live: LiveResult
    poll_ms: int
    output: Path | None

    def show(self, as_json: bool) -> None:
        """Print the numbers as JSON, or as a table."""
        if as_json:
            click.echo(json.dumps(_as_dict(self.runs, self.live, self.poll_ms), indent=2))
        else:
            _print_table(self.runs, self.live, self.poll_ms, self.output)


def run_beside(
    url: str,
    ttls_ms: Sequence[int],
    poll_ms: int | None,
    cost: CostModel | None,
    engine: str,
    output: Path | None,
    progress: Callable[[str, int, int], None],
) -> Beside:
    """Run the experiment on the server at *url*, then in the simulator set up alike; draw both.

    The real server stays configured as it is: hz, effort and activerehashing are read from
    it. Asking for others on the command line is an error.
    """
    from miniredis.lab.curves import run_phases
    from miniredis.lab.experiments import DEFAULT_PATIENCE_MS
    from miniredis.net.live_expiry import run_live
    from miniredis.net.scratch import scratch_database

    poll = poll_ms or DEFAULT_POLL_MS
    with failing_plainly(), scratch_database(url) as scratch:
        settings = scratch.settings()
        _check_settings(settings)
        live = run_live(scratch, ttls_ms, poll, DEFAULT_PATIENCE_MS, progress)
    try:
        runs = run_phases(
            ttls_ms,
            live.hz,
            effort=live.effort,
            poll_ms=poll,
            cost=cost,
            engine=engine,
            activerehashing=settings["activerehashing"],
            progress=progress,
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if output is not None:
        progress("draw", 0, 1)
        from miniredis.lab import plots

        save_figure(plots.beside_page(runs, live), output, plots.beside_alt_text(runs, live))
        progress("draw", 1, 1)
    return Beside(runs, live, poll, output)


def _check_settings(settings: dict[str, Any]) -> None:
    """``ValueError`` if the command line asks for other settings than the server has."""
    context = click.get_current_context()
    for option, asked in (("hz", "hz"), ("effort", "effort")):
        given = context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE
        if given and context.params[option] != settings[asked]:
            raise ValueError(
                f"--{option} {context.params[option]}, but the server has {settings[asked]}; "
                f"with --against its own settings are used, and left as they are"
            )
    if context.params["no_activerehashing"] and settings["activerehashing"]:
        raise ValueError("--no-activerehashing, but the server has activerehashing yes")


def _as_dict(runs: list[ExpiryResult], live: LiveResult, poll_ms: int) -> dict[str, Any]:
    from miniredis.lab.experiments import SHARES

    last = [run.sightings[-1] for run in runs]
    real = live.sightings[-1]
    return {
        "keys": live.keys,
        "hz": live.hz,
        "active_expire_effort": live.effort,
        "poll_ms": poll_ms,
        "simulated": {
            "engine": runs[0].engine,
            "runs": len(runs),
            "gone_after_first_death_ms": {
                f"{share:.0%}": [_rounded(run.seen_gone_ms(share)) for run in runs]
                for share in SHARES
            },
            "peak_expired_stale_perc": [
                round(100 * max(s.stale_perc for s in run.sightings), 2) for run in runs
            ],
            "time_limit_exits": [seen.time_cap_reached for seen in last],
            "cycle_cpu_ms": [round(seen.cycle_cpu_ms, 3) for seen in last],
            "remaining": [seen.dbsize for seen in last],
        },
        "real": {
            "redis_version": live.version,
            "volatile_keys_elsewhere": live.volatile_elsewhere,
            "gone_after_first_death_ms": {
                f"{share:.0%}": _rounded(live.seen_gone_ms(share)) for share in SHARES
            },
            "peak_expired_stale_perc": round(100 * max(s.stale_perc for s in live.sightings), 2),
            "time_limit_exits": real.time_cap_reached,
            "cycle_cpu_ms": real.cycle_cpu_ms,
            "remaining": real.dbsize,
        },
    }


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 2)


def _print_table(
    runs: list[ExpiryResult], live: LiveResult, poll_ms: int, output: Path | None
) -> None:
    from rich.console import Console
    from rich.table import Table

    from miniredis.lab.words import count

    numbers = _as_dict(runs, live, poll_ms)
    simulated, real = numbers["simulated"], numbers["real"]
    table = Table(
        title=f"{count(live.keys, 'key')}, hz {live.hz}, effort {live.effort}, "
        f"asked every {poll_ms} ms"
    )
    table.add_column("after the first death")
    table.add_column(f"simulated, {len(runs)} phases of the cron", justify="right")
    table.add_column(f"real server {live.version}", justify="right")
    for share, times in simulated["gone_after_first_death_ms"].items():
        name = f"{share} gone (ms)".replace("%", " %")
        table.add_row(name, _span(times), _one(real["gone_after_first_death_ms"][share]))
    for key, name in (
        ("peak_expired_stale_perc", "highest expired_stale_perc (%)"),
        ("time_limit_exits", "time-limit exits"),
        ("cycle_cpu_ms", "cycle CPU (ms)"),
        ("remaining", "still held"),
    ):
        table.add_row(name, _span(simulated[key]), _one(real[key]))
    console = Console()
    console.print(table)
    if live.volatile_elsewhere:
        console.print(
            f"The real server's other databases held {live.volatile_elsewhere:,} keys with a "
            "time to live, on which its cycle spends time too."
        )
    if output is not None:
        console.print(f"figure: {output}", highlight=False, soft_wrap=True)


def _span(values: list[Any]) -> str:
    """The least and the greatest; None is a time that the run did not see."""
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return "not within the run"
    low, high = _one(min(known)), _one(max(known))
    return low if low == high else f"{low} to {high}"


def _one(value: float | None) -> str:
    if value is None:
        return "not within the run"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
