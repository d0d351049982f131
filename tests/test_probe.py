"""probe.py and server/listeners.py: who hears what, alone and together."""

from __future__ import annotations

import inspect

import pytest

from miniredis import Probe, Server, VirtualClock
from miniredis.lab.recorder import Recorder
from miniredis.probe import EVENTS, SILENT, ProbeGroup, hears, together


class Cron(Probe):
    """Hears one thing."""

    def __init__(self) -> None:
        self.runs = 0

    def cron(self, now_ms: int, hz: int) -> None:
        self.runs += 1


class All(Probe):
    """Writes down the name and the arguments of every event."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, tuple[object, ...]]] = []
        for event in EVENTS:
            setattr(self, event, self.noting(event))

    def noting(self, event: str) -> object:
        return lambda *args: self.heard.append((event, args))


def test_a_group_passes_every_event_of_the_catalogue_to_all() -> None:
    one, two = All(), All()
    group = ProbeGroup([one, SILENT, two])
    expected = []
    for event in EVENTS:
        parameters = len(inspect.signature(getattr(Probe, event)).parameters) - 1
        args = tuple(range(parameters))
        getattr(group, event)(*args)
        expected.append((event, args))
    assert one.heard == two.heard == expected


def test_what_a_probe_hears() -> None:
    assert [event for event in EVENTS if hears(Cron(), event)] == ["cron"]
    assert [event for event in EVENTS if hears(ProbeGroup([Cron()]), event)] == ["cron"]
    assert not any(hears(SILENT, event) for event in EVENTS)


def test_together() -> None:
    one, two = Cron(), Cron()
    assert together() is SILENT
    assert together(SILENT, one) is one
    group = together(one, two, together(two, one))
    assert isinstance(group, ProbeGroup)
    assert group.probes == (one, two)


def test_probes_beside_each_other() -> None:
    clock = VirtualClock()
    first, second = Cron(), Cron()
    server = Server(clock, seed=1, probe=first)
    assert server.probe is first
    server.add_probe(second)
    server.add_probe(second)
    clock.advance(1)
    assert (first.runs, second.runs) == (1, 1)
    # An experiment that puts its own in place, and the old one back, disturbs nobody.
    before = server.probe
    server.probe = Recorder()
    clock.advance(100)
    server.probe = before
    clock.advance(100)
    assert (first.runs, second.runs) == (2, 3)
    server.remove_probe(second)
    server.remove_probe(second)
    assert server.probe is first
    server.probe = SILENT
    clock.advance(100)
    assert (first.runs, second.runs) == (2, 3)
    assert not server.probed


def test_only_what_is_heard_is_worked_out() -> None:
    server = Server(VirtualClock(), seed=1)
    quiet = (server.notify_mask, server.propagation.active, server.overheard)
    server.add_probe(Cron())
    assert server.probed
    assert (server.notify_mask, server.propagation.active, server.overheard) == quiet
    server.add_probe(Recorder())
    assert (server.notify_mask, server.propagation.active) == (-1, True)


def test_not_a_probe() -> None:
    server = Server(VirtualClock())
    for call in (server.add_probe, server.remove_probe):
        with pytest.raises(TypeError, match=r"miniredis\.Probe"):
            call(print)  # type: ignore[arg-type]
