"""ae.py: time events over a clock."""

from __future__ import annotations

from miniredis.clock import Clock, VirtualClock
from miniredis.structs.ae import AE_NOMORE, EventLoop


def test_order_and_rearming_from_the_end() -> None:
    clock = VirtualClock(0)
    loop = EventLoop(clock)
    ran: list[tuple[str, int]] = []

    def periodic() -> int:
        ran.append(("periodic", clock.us()))
        clock.spend_ns(250_000)
        return 10

    def once() -> int:
        ran.append(("once", clock.us()))
        return AE_NOMORE

    loop.create_time_event(5, periodic)
    loop.create_time_event(5, once)
    clock.advance(4)
    assert loop.process_time_events() == 0
    clock.advance(1)
    assert loop.process_time_events() == 2
    assert ran == [("periodic", 5000), ("once", 5250)]
    assert loop.next_us == 5250 + 10_000
    loop._check()


def test_deleted_events_do_not_run() -> None:
    clock = VirtualClock(0)
    loop = EventLoop(clock)
    event = loop.create_time_event(1, lambda: 1)
    assert loop.next_us == 1000
    loop.delete_time_event(event)
    assert loop.next_us is None
    clock.advance(5)
    assert loop.process_time_events() == 0


def test_events_made_by_events_wait_for_the_next_call() -> None:
    clock = VirtualClock(0)
    loop = EventLoop(clock)
    ran: list[str] = []

    def outer() -> int:
        ran.append("outer")
        loop.create_time_event(0, inner)
        return AE_NOMORE

    def inner() -> int:
        ran.append("inner")
        return AE_NOMORE

    loop.create_time_event(0, outer)
    loop.process_time_events()
    assert ran == ["outer"]
    loop.process_time_events()
    assert ran == ["outer", "inner"]


class HandClock(Clock):
    """A wall clock that the test sets, backwards too."""

    now = 10_000_000

    def us(self) -> int:
        return self.now


def test_a_clock_set_back_makes_all_events_due() -> None:
    clock = HandClock()
    loop = EventLoop(clock)
    ran: list[int] = []

    def note() -> int:
        ran.append(clock.us())
        return 1000

    loop.create_time_event(1000, note)
    clock.now = 3_000_000
    loop.process_time_events()
    assert ran == [3_000_000]
    assert loop.next_us == 4_000_000


def test_an_event_at_an_instant_comes_then_to_the_microsecond() -> None:
    clock = VirtualClock(0)
    clock.advance(0.7)
    loop = EventLoop(clock)
    loop.create_time_event_at(3_001, lambda: AE_NOMORE)
    assert loop.next_us == 3_001
    clock.advance_to_us(3_000)
    assert loop.process_time_events() == 0
    clock.advance_to_us(3_001)
    assert loop.process_time_events() == 1
    loop._check()
