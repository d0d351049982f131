"""clock.py: virtual time runs events at their own instants."""

from __future__ import annotations

import gc
import time

import pytest

from miniredis.clock import FREE, CostModel, SkewedClock, SystemClock, VirtualClock


class Ticker:
    """Events at fixed instants in µs; each notes the time at which it ran."""

    def __init__(self, clock: VirtualClock, instants: list[int], work_ns: int = 0) -> None:
        self.clock = clock
        self.instants = sorted(instants)
        self.ran: list[int] = []
        self.work_ns = work_ns

    def next_event_us(self) -> int | None:
        return self.instants[0] if self.instants else None

    def process_due_events(self) -> None:
        while self.instants and self.instants[0] <= self.clock.us():
            self.instants.pop(0)
            self.ran.append(self.clock.us())
            self.clock.spend_ns(self.work_ns)


def test_advance_runs_each_event_at_its_instant() -> None:
    clock = VirtualClock(1000)
    ticker = Ticker(clock, [1_000_500, 1_002_000, 1_010_000])
    clock.attach(ticker)
    clock.advance(5)
    assert ticker.ran == [1_000_500, 1_002_000]
    assert clock.ms() == 1005
    assert clock.next_event_us() == 1_010_000
    clock.advance_to(1010)
    assert ticker.ran[-1] == 1_010_000


def test_work_in_an_event_moves_time_on() -> None:
    clock = VirtualClock(0)
    ticker = Ticker(clock, [1000, 1001], work_ns=5_000)
    clock.attach(ticker)
    clock.advance(1)
    assert ticker.ran == [1000, 1005]
    assert clock.us() == 1010


def test_sources_are_held_weakly_and_can_be_detached() -> None:
    clock = VirtualClock(0)
    first, second = Ticker(clock, [10]), Ticker(clock, [20])
    clock.attach(first)
    clock.attach(second)
    del first
    gc.collect()
    assert clock.next_event_us() == 20
    clock.detach(second)
    assert clock.next_event_us() is None


def test_sleep_wakes_at_the_exact_instant() -> None:
    clock = VirtualClock(1000)
    clock.sleep(0.0125)
    assert clock.us() == 1_012_500
    assert clock.time() == 1.0125


@pytest.mark.parametrize("ms", [-1, float("nan"), float("inf"), "5", None, True])
def test_advance_refuses(ms: object) -> None:
    with pytest.raises((ValueError, TypeError), match="advance"):
        VirtualClock(0).advance(ms)  # type: ignore[arg-type]


def test_time_never_goes_back() -> None:
    clock = VirtualClock(1000)
    with pytest.raises(ValueError, match="never goes back"):
        clock.advance_to(999)
    with pytest.raises(ValueError, match="negative"):
        VirtualClock(-1)
    with pytest.raises(TypeError, match="int"):
        VirtualClock(1.5)  # type: ignore[arg-type]


def test_skewed_clock_has_a_constant_error() -> None:
    base = VirtualClock(1000)
    skewed = SkewedClock(base, offset_ms=-250)
    assert skewed.ms() == 750
    skewed.sleep(1)
    assert (base.ms(), skewed.ms()) == (2000, 1750)


def test_system_clock_is_the_machines() -> None:
    before = time.time()
    assert before - 0.001 <= SystemClock().time() <= time.time() + 0.001
    with pytest.raises(ValueError, match="0 or more"):
        SystemClock().sleep(-1)


@pytest.mark.parametrize(
    ("buckets", "warm", "cold"),
    [(16_384, 290, 290), (131_072, 540, 815), (1_048_576, 671, 1090)],
)
def test_a_deletion_costs_more_in_a_large_table_and_after_a_sleep(
    buckets: int, warm: int, cold: int
) -> None:
    cost = CostModel()
    assert cost.deletion_ns(buckets) == warm
    assert cost.deletion_ns(buckets, cold=True) == cold
    assert FREE.deletion_ns(buckets, cold=True) == 0


def test_cost_model_refuses_negative_and_fractional_costs() -> None:
    with pytest.raises(ValueError, match="deleted_ns"):
        CostModel(deleted_ns=-1)
    with pytest.raises(TypeError, match="bucket_ns"):
        CostModel(bucket_ns=0.5)  # type: ignore[arg-type]
