"""The latency monitor: the last spikes of named events, above a threshold.

An event is a place where the server can be slow: ``command``, ``fast-command``,
``expire-cycle``, ``expire-del``. One sample a second is kept, the worst, and 160 of them.

Redis: latency.c. LATENCY DOCTOR's report says the same things in other words; remarks on
what this server lacks (disks, fork, huge pages) are left out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miniredis.structs.sparkline import sparkline_render

if TYPE_CHECKING:
    from miniredis.server.server import Server

LATENCY_TS_LEN = 160  # samples kept per event
LATENCY_GRAPH_COLS = 80
US_PER_SECOND = 1_000_000
HIGH_HZ = 100  # LATENCY DOCTOR does not advise a higher hz than this
# Units of a sample's age, largest first: seconds, letter.
_AGES = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))


@dataclass(slots=True)
class LatencyTimeSeries:
    """Spikes of one event: (Unix seconds, ms), and the worst ever in ms."""

    samples: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=LATENCY_TS_LEN))
    max: int = 0


class LatencyStats(NamedTuple):
    """What the samples of one event amount to, in ms; ``period``: s since the oldest."""

    samples: int
    avg: int
    mad: int  # mean absolute deviation from avg
    period: int


class LatencyMonitor:
    """All events with at least one spike. latency.c: ``server.latency_events``"""

    def __init__(self) -> None:
        self.events: dict[str, LatencyTimeSeries] = {}

    def add_sample(self, event: str, ms: int, unix_seconds: int) -> None:
        """Remember a spike of *ms*; within one second only the worst is kept.

        latency.c: latencyAddSample()
        """
        series = self.events.setdefault(event, LatencyTimeSeries())
        series.max = max(series.max, ms)
        if series.samples and series.samples[-1][0] == unix_seconds:
            if ms > series.samples[-1][1]:
                series.samples[-1] = (unix_seconds, ms)
            return
        series.samples.append((unix_seconds, ms))

    def reset(self, event: str | None = None) -> int:
        """Forget one event, in any case, or all; how many. latency.c: latencyResetEvent()"""
        if event is None:
            count = len(self.events)
            self.events.clear()
            return count
        return 1 if self.events.pop(event.lower(), None) is not None else 0

    def analyze(self, event: str, unix_seconds: int) -> LatencyStats:
        """Means over the samples of *event*, which must be there, in whole ms.

        latency.c: analyzeLatencyForEvent()
        """
        samples = self.events[event].samples
        avg = sum(ms for _, ms in samples) // len(samples)
        mad = sum(abs(avg - ms) for _, ms in samples) // len(samples)
        oldest = min(seconds for seconds, _ in samples)
        return LatencyStats(len(samples), avg, mad, unix_seconds - oldest or 1)

    def graph(self, event: str, unix_seconds: int) -> str:
        """The samples of *event*, which must be there, as bars labelled with their age.

        latency.c: latencyCommandGenSparkeline()
        """
        series = self.events[event]
        values = [ms for _, ms in series.samples]
        heading = f"{event} - high {max(values)} ms, low {min(values)} ms"
        heading += f" (all time high {series.max} ms)\n" + "-" * LATENCY_GRAPH_COLS + "\n"
        samples = [(ms, _age(unix_seconds - seconds)) for seconds, ms in series.samples]
        return heading + sparkline_render(samples, LATENCY_GRAPH_COLS)


def _age(seconds: int) -> str:
    """*seconds* in the largest unit that makes it at least 1: ``59s``, ``2m``, ``3h``."""
    for size, letter in _AGES:
        if seconds >= size:
            return f"{seconds // size}{letter}"
    return f"{seconds}s"


def create_latency_report(server: Server) -> str:
    """What LATENCY DOCTOR says: each event in figures, then advice. latency.c"""
    monitor = server.latency
    threshold = server.latency_monitor_threshold
    if not monitor.events and not threshold:
        return (
            "Latency monitoring is off. CONFIG SET latency-monitor-threshold <milliseconds> "
            "switches it on.\n"
        )
    if not monitor.events:
        return f"No event has taken {threshold} ms or longer so far.\n"
    now = server.clock.us() // US_PER_SECOND
    lines = ["Latency spikes were observed:", ""]
    for number, (event, series) in enumerate(monitor.events.items(), 1):
        stats = monitor.analyze(event, now)
        lines.append(
            f"{number}. {event}: {stats.samples} latency spikes (average {stats.avg}ms, mean "
            f"deviation {stats.mad}ms, period {stats.period / stats.samples:.2f} sec). "
            f"Worst all time event {series.max}ms."
        )
    lines += ["", "Advice:", "", *(f"- {advice}" for advice in _advices(server))]
    return "".join(line + "\n" for line in lines)


def _advices(server: Server) -> list[str]:
    """Remedies for the events seen, each named once. latency.c: createLatencyReport()"""
    events = server.latency.events
    threshold_us = server.latency_monitor_threshold * 1000
    slower_than = server.config.slowlog_log_slower_than
    advices = []
    if "command" in events:
        if slower_than < 0:
            advices.append(
                "The slow log is off, so slow commands leave no trace. Switch it on: "
                f"CONFIG SET slowlog-log-slower-than {threshold_us}."
            )
        elif slower_than // 1000 > server.latency_monitor_threshold:
            advices.append(
                "The slow log misses commands that the latency monitor sees. Lower its "
                f"threshold: CONFIG SET slowlog-log-slower-than {threshold_us}."
            )
        advices.append("SLOWLOG GET shows which commands were slow.")
    if "fast-command" in events:
        advices.append(
            "Even commands of constant cost were slow: the machine is busy with something "
            "else, or this process was not given the CPU."
        )
    if "expire-cycle" in events and server.hz < HIGH_HZ:
        advices.append(f"Expire keys in smaller portions, more often: CONFIG SET hz {HIGH_HZ}.")
    if "command" in events or "expire-cycle" in events:
        advices.append(
            "Deleting or expiring a large value takes long, whoever does it. Split large "
            "values, or delete them with UNLINK."
        )
    return advices or ["No remedy is known for these events."]
