"""LATENCY: what the latency monitor noted, and the distribution of commands' durations.

Redis: ``latencyCommand()`` in latency.c.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from miniredis.commands.args import c_string
from miniredis.commands.subcommands import one_line
from miniredis.commands.table import Command, command, container, every_command, lookup_by_name
from miniredis.errors import CommandError
from miniredis.reply import Reply, Verbatim
from miniredis.structs.hdr_histogram import cumulative_distribution

if TYPE_CHECKING:
    from miniredis.server.client import Client

_FLAGS = "admin noscript loading stale"
_TIPS = "nondeterministic_output request_policy:all_nodes response_policy:special"
US_PER_SECOND = 1_000_000

container("latency", group="server", since="2.8.13", summary="Commands of the latency monitor.")


@command("latency|latest", arity=2, flags=_FLAGS, tips=_TIPS, group="server", since="2.8.13")
def latency_latest(c: Client, _: bytes) -> Reply:
    """LATENCY LATEST

    Shows the last spike of each event: name, Unix time, ms, and the worst ms ever.

    latency.c: latencyCommandReplyWithLatestEvents()
    """
    events = c.server.latency.events.items()
    return [[event.encode(), *series.samples[-1], series.max] for event, series in events]


@command("latency|history", arity=3, flags=_FLAGS, tips=_TIPS, group="server", since="2.8.13")
def latency_history(c: Client, _: bytes, event: bytes) -> Reply:
    """LATENCY HISTORY event

    Shows the spikes of an event, oldest first: Unix time and ms.

    latency.c: latencyCommandReplyWithSamples()
    """
    series = c.server.latency.events.get(c_string(event).decode("latin-1"))
    return [] if series is None else [list(sample) for sample in series.samples]


@command("latency|graph", arity=3, flags=_FLAGS, tips=_TIPS, group="server", since="2.8.13")
def latency_graph(c: Client, _: bytes, event: bytes) -> Reply:
    """LATENCY GRAPH event

    Draws the spikes of an event as a bar chart in text.

    latency.c: latencyCommandGenSparkeline()
    """
    event = c_string(event)
    name = event.decode("latin-1")
    if name not in c.server.latency.events:
        raise CommandError(one_line(b"ERR No samples available for event '%s'" % event))
    now = c.server.clock.us() // US_PER_SECOND
    return Verbatim(c.server.latency.graph(name, now).encode())


@command("latency|doctor", arity=2, flags=_FLAGS, tips=_TIPS, group="server", since="2.8.13")
def latency_doctor(c: Client, _: bytes) -> Reply:
    """LATENCY DOCTOR

    Reports the events seen, with advice, for people to read.

    latency.c: createLatencyReport()
    """
    return Verbatim(c.server.latency_report().encode())


@command(
    "latency|reset",
    arity=-2,
    flags=_FLAGS,
    tips="request_policy:all_nodes response_policy:all_succeeded",
    group="server",
    since="2.8.13",
)
def latency_reset(c: Client, _: bytes, *events: bytes) -> Reply:
    """LATENCY RESET [event [event ...]]

    Forgets the spikes of some events, or of all.

    latency.c: latencyResetEvent()
    """
    monitor = c.server.latency
    if not events:
        return monitor.reset()
    return sum(monitor.reset(c_string(event).decode("latin-1")) for event in events)


@command(
    "latency|histogram",
    arity=-2,
    flags=_FLAGS,
    tips=_TIPS,
    group="server",
    since="7.0.0",
    complexity="O(N) in the number of commands asked for",
)
def latency_histogram(c: Client, _: bytes, *names: bytes) -> Reply:
    """LATENCY HISTOGRAM [command [command ...]]

    Shows how many calls of each command took up to so many µs.

    latency.c: latencyAllCommandsFillCDF(), latencySpecificCommandsFillCDF()
    """
    rows = _with_subcommands(names) if names else every_command()
    reply: dict[bytes, Reply] = {}
    for cmd in rows:
        stats = c.server.command_stats.get(cmd)
        if stats is not None and stats.histogram:
            reply[cmd.name.encode()] = {
                b"calls": sum(stats.histogram.values()),
                b"histogram_usec": cumulative_distribution(stats.histogram),
            }
    return reply


def _with_subcommands(names: Iterable[bytes]) -> list[Command]:
    rows: list[Command] = []
    for cmd in map(lookup_by_name, names):
        if cmd is not None:
            rows += [cmd, *cmd.subcommands.values()]
    return rows


@command("latency|help", arity=2, flags="loading stale", group="server", since="2.8.13")
def latency_help(c: Client, _: bytes) -> Reply:
    """LATENCY HELP

    Shows the subcommands.

    latency.c: latencyCommand()
    """
    return c.help(
        ("DOCTOR", "A report for people."),
        ("GRAPH <event>", "A chart of the spikes of an event."),
        ("HISTORY <event>", "The spikes of an event."),
        ("LATEST", "The last spike of each event."),
        ("RESET [<event> ...]", "Forget the spikes of some events, by default all."),
        ("HISTOGRAM [COMMAND ...]", "How long the calls of commands took, by default all."),
    )
