"""``miniredis strategies``: ways to expire compared, as a table and a figure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from miniredis.cli.output import check_output, output_option, save_figure
from miniredis.cli.params import Duration
from miniredis.cli.progress import show_progress
from miniredis.lab.workload import MAX_KEYS, MAX_SKEW, TTL_KINDS, UNIFORM, TtlDistribution, Workload

if TYPE_CHECKING:
    from miniredis.lab.strategy_results import StrategyResult

DEFAULT = Workload()
LONGEST_FACTOR = 10  # --ttl-max is so many times --ttl unless given
PLAIN_TTL_MS = 10_000  # --ttl of a distribution that is not uniform unless given
BLOCKS, ASCII_BLOCKS = "▁▂▃▄▅▆▇█", " .:-=+*#"
SPARK_WIDTH = 9

Row = tuple[str, Callable[["StrategyResult"], str]]
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def _share(name: str, default: float, help: str) -> Callable[[AnyFunction], AnyFunction]:
    return click.option(
        f"--{name}", type=click.FloatRange(0, 1), default=default, show_default=True, help=help
    )


@click.command()
@click.option(
    "--keys",
    type=click.IntRange(1, MAX_KEYS),
    default=DEFAULT.keys,
    show_default=True,
    help="Number of different keys that clients ask for.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 1_000_000, min_open=True),
    default=DEFAULT.rate,
    show_default=True,
    help="Commands a second.",
)
@click.option("--duration", type=Duration(), default="40s", show_default=True)
@_share("reads", DEFAULT.reads, "Share of the commands that are GET; the rest are SET.")
@_share("expires", DEFAULT.expires, "Share that give a key a new time to live.")
@_share("persists", DEFAULT.persists, "Share that make a key persistent.")
@_share("deletes", DEFAULT.deletes, "Share that delete a key.")
@click.option(
    "--skew",
    type=click.FloatRange(0, MAX_SKEW),
    default=DEFAULT.skew,
    show_default=True,
    help="Of Zipf's law, by which reads choose keys; 0 makes all alike.",
)
@click.option(
    "--write-skew",
    type=click.FloatRange(0, MAX_SKEW),
    default=DEFAULT.write_skew,
    show_default=True,
    help="The same for all other commands.",
)
@click.option(
    "--ttl-dist",
    type=click.Choice(TTL_KINDS),
    default=UNIFORM,
    show_default=True,
    help="Times to live: --ttl each; evenly from --ttl to --ttl-max; exponential with mean "
    "--ttl; or up to the next multiple of --ttl, when all die at once.",
)
@click.option("--ttl", type=Duration(), help="[default: 1s if uniform, else 10s]")
@click.option("--ttl-max", type=Duration(), help="Only if uniform.  [default: 10 times --ttl]")
@click.option("--effort", type=click.IntRange(1, 10), default=1, show_default=True)
@click.option("--hz", type=click.IntRange(1, 500), default=10, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--only",
    metavar="NAMES",
    help="Some of heap, wheel, lazy, periodic, redis, with commas between them.",
)
@output_option()
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def strategies(
    keys: int,
    rate: float,
    duration: int,
    reads: float,
    expires: float,
    persists: float,
    deletes: float,
    skew: float,
    write_skew: float,
    ttl_dist: str,
    ttl: int | None,
    ttl_max: int | None,
    effort: int,
    hz: int,
    seed: int,
    only: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare ways to expire keys under the same commands.

    Timers in a heap and in a timing wheel delete each key on the instant. Lazy only:
    commands delete the dead keys that they meet. Periodic only: the active cycle does, and
    reading does not. Redis does both. Memory held and owed, CPU time, deletion lag and
    longest pause are simulated.
    """
    check_output(output)
    from miniredis.lab.strategies import find_strategy, run_strategies
    from miniredis.lab.strategy_dbs import STRATEGIES

    names = list(STRATEGIES) if only is None else [name.strip() for name in only.split(",")]
    try:
        workload = Workload(
            keys=keys,
            rate=rate,
            duration_ms=duration,
            reads=reads,
            expires=expires,
            persists=persists,
            deletes=deletes,
            skew=skew,
            write_skew=write_skew,
            ttls=_find_ttls(ttl_dist, ttl, ttl_max),
            seed=seed,
        )
        for name in names:
            find_strategy(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with show_progress() as progress:
        results = run_strategies(
            workload, names, hz=hz, active_expire_effort=effort, progress=progress
        )
        if output is not None:
            progress("draw", 0, 1)
            _draw(results, workload, output)
            progress("draw", 1, 1)
    if as_json:
        click.echo(json.dumps([result.as_dict() for result in results], indent=2))
    else:
        _print_table(results, f"{workload}, hz {hz}, effort {effort}", output)


def _find_ttls(kind: str, ttl: int | None, ttl_max: int | None) -> TtlDistribution:
    if kind == UNIFORM:
        ttl = DEFAULT.ttls.ttl_ms if ttl is None else ttl
        return TtlDistribution(kind, ttl, LONGEST_FACTOR * ttl if ttl_max is None else ttl_max)
    return TtlDistribution(kind, PLAIN_TTL_MS if ttl is None else ttl, ttl_max)


def _draw(results: Sequence[StrategyResult], workload: Workload, output: Path) -> None:
    from miniredis.lab import plots

    page = plots.strategies_page(results, workload)
    save_figure(page, output, plots.strategies_alt_text(results))


def _print_table(results: Sequence[StrategyResult], title: str, output: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    unicode = console.encoding.lower().startswith("utf")

    def plain(text: str) -> str:
        return text if unicode else text.replace("≥", ">=").replace("µ", "u")

    table = Table(title=plain(title), padding=(0, 1, 0, 0))
    table.add_column("")
    for result in results:
        table.add_column(result.strategy.title.replace(" ", "\n", 1), justify="right")
    for group in _rows(results):
        for label, text in group:
            table.add_row(label, *(plain(text(result)) for result in results))
        table.add_section()
    most = max(max(result.curve.held) for result in results)
    blocks = BLOCKS if unicode else ASCII_BLOCKS
    sparks = [_spark(result.curve.held, most, blocks) for result in results]
    table.add_row("keys held over time", *sparks)
    console.print(table)
    if output is not None:
        console.print(f"figure: {output}", highlight=False, soft_wrap=True)


def _rows(results: Sequence[StrategyResult]) -> list[list[Row]]:
    """Groups of rows: a label, and what to show of each result."""
    kinds = [kind for kind in results[0].cpu_us if any(r.cpu_us[kind] for r in results)]
    return [
        [
            ("keys held, mean", lambda r: f"{r.mean_held:,.0f}"),
            ("keys held, peak", lambda r: f"{max(r.curve.held):,}"),
            ("memory held, mean", lambda r: _bytes(sum(r.memory_parts().values()))),
            ("memory held, peak", lambda r: _bytes(max(r.held_bytes()))),
        ],
        [
            ("dead keys held, mean", lambda r: f"{r.mean_owed:,.0f}"),
            ("dead keys held, peak", lambda r: f"{r.peak_owed:,}"),
            ("memory owed, mean", lambda r: _bytes(r.owed_bytes(r.mean_owed))),
            ("memory owed, peak", lambda r: _bytes(r.owed_bytes(r.peak_owed))),
            ("dead among held", lambda r: f"{100 * r.stale_share:.1f} %"),
        ],
        [
            ("CPU for expiry", lambda r: f"{r.total_cpu_us / 1000:,.1f} ms"),
            *((f"  {kind}", _cpu_of(kind)) for kind in kinds),
        ],
        [
            ("deletion lag, median", lambda r: _lag(r, 0.5)),
            ("deletion lag, 99 %", lambda r: _lag(r, 0.99)),
            ("deletion lag, longest", lambda r: _lag(r, 1)),
            ("longest pause", lambda r: _time(r.longest_pause_us)),
        ],
        [
            ("keys that died", lambda r: f"{r.deaths:,}"),
            ("  by commands", lambda r: f"{r.deleted_by.get('lazy', 0):,}"),
            ("  by the cycle", lambda r: f"{_by_cycle(r):,}"),
            ("  by timers", lambda r: f"{r.deleted_by.get('timer', 0):,}"),
            ("  held at the end", lambda r: f"{len(r.open_lags_ms):,}"),
        ],
    ]


def _cpu_of(kind: str) -> Callable[[StrategyResult], str]:
    return lambda result: f"{result.cpu_us[kind] / 1000:,.1f} ms"


def _by_cycle(result: StrategyResult) -> int:
    return result.deleted_by.get("slow", 0) + result.deleted_by.get("fast", 0)


def _lag(result: StrategyResult, share: float) -> str:
    lag = result.lag(share)
    return "-" if lag is None else ("≥ " if lag.at_least else "") + _time(lag.ms * 1000)


def _time(us: float) -> str:
    if us >= 10_000_000:
        return f"{us / 1_000_000:,.1f} s"
    if us >= 1_000_000:
        return f"{us / 1_000:,.0f} ms"
    return f"{us / 1_000:,.3g} ms" if us >= 1_000 or us == 0 else f"{us:,.3g} µs"


def _bytes(n: float) -> str:
    return f"{n / 1e6:,.2f} MB" if n >= 1e6 else f"{n / 1e3:,.0f} kB"


def _spark(values: Sequence[int], most: int, blocks: str) -> str:
    """*values* as a few bars, the largest of each stretch; *most* is a full bar."""
    step, top = len(values) / SPARK_WIDTH, len(blocks) - 1
    peaks = [max(values[int(i * step) : int((i + 1) * step)]) for i in range(SPARK_WIDTH)]
    return "".join(blocks[min(peak * len(blocks) // max(most, 1), top)] for peak in peaks)
