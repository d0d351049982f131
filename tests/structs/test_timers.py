"""timer_heap.py, timing_wheel.py: both against a sorted list, step by step."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miniredis.structs.timer_heap import TimerHeap
from miniredis.structs.timing_wheel import MAX_INSTANT, SLOTS, TimingWheel

START = 1_391_234_400_123
KEYS = [b"a", b"b", b"c", b"d", b"e", b"f", b"g"]
# Near, on borders of slots, far, and past.
DELAYS = st.one_of(
    st.integers(-5, 300),
    st.sampled_from([63, 64, 65, 4095, 4096, 4097, SLOTS**3, SLOTS**4 + 1]),
    st.integers(0, 10**12),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("schedule"), st.sampled_from(KEYS), DELAYS),
        st.tuples(st.just("cancel"), st.sampled_from(KEYS), st.just(0)),
        st.tuples(st.just("advance"), st.just(b""), DELAYS.map(abs)),
        st.tuples(st.just("to the next"), st.just(b""), st.just(0)),
    ),
    max_size=60,
)

Timers = TimerHeap[bytes] | TimingWheel[bytes]


class Model:
    """A list sorted anew for every question."""

    def __init__(self) -> None:
        self.timers: dict[bytes, tuple[int, int]] = {}
        self.sequence = 0

    def schedule(self, key: bytes, when: int) -> None:
        self.timers[key] = (when, self.sequence)
        self.sequence += 1

    def due(self, now: int) -> list[bytes]:
        keys = sorted(self.timers, key=lambda key: self.timers[key])
        found = [key for key in keys if self.timers[key][0] <= now]
        for key in found:
            del self.timers[key]
        return found


def all_due(timers: Timers, now: int) -> list[bytes]:
    found = []
    while (key := timers.pop_due(now)) is not None:
        found.append(key)
        timers._check()
    return found


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_heap_and_wheel_do_what_a_sorted_list_does(steps: list[tuple[str, bytes, int]]) -> None:
    model, now = Model(), START
    both: list[Timers] = [TimerHeap(), TimingWheel(now)]
    for action, key, number in steps:
        if action == "schedule":
            model.schedule(key, now + number)
            for timers in both:
                timers.schedule(key, now + number)
        elif action == "cancel":
            had = model.timers.pop(key, None) is not None
            assert [timers.cancel(key) for timers in both] == [had, had]
        else:
            if action == "to the next" and model.timers:
                number = max(min(model.timers.values())[0] - now, 0)
            now += number
            expected = model.due(now)
            assert [all_due(timers, now) for timers in both] == [expected, expected]
        earliest = min(model.timers.values())[0] if model.timers else None
        for timers in both:
            timers._check()
            assert dict(timers) == {key: when for key, (when, _) in model.timers.items()}
            assert len(timers) == len(model.timers)
        heap, wheel = both
        assert heap.next_wake() == earliest
        wake = wheel.next_wake()
        assert (wake is None) == (earliest is None)
        assert wake is None or wake <= max(earliest or 0, now)


@pytest.mark.parametrize("make", [TimerHeap, lambda: TimingWheel(START)], ids=["heap", "wheel"])
def test_thousands_of_timers_in_order(make: type[TimerHeap[bytes]]) -> None:
    rng = random.Random(1)
    timers, model, now = make(), Model(), START
    for n in range(20_000):
        key = b"%d" % rng.randrange(3_000)
        if rng.random() < 0.1:
            assert timers.cancel(key) == (model.timers.pop(key, None) is not None)
        else:
            when = now + rng.choice([0, 1, 50, 1_000, 100_000]) + rng.randrange(2_000)
            timers.schedule(key, when)
            model.schedule(key, when)
        now += rng.randrange(3)
        if n % 100 == 0:
            expected = model.due(now)
            assert [timers.pop_due(now) for _ in expected] == expected
            assert timers.pop_due(now) is None
    timers._check()
    assert len(timers) > 500


def test_waking_when_told_finds_every_timer_at_its_instant() -> None:
    rng = random.Random(2)
    wheel: TimingWheel[int] = TimingWheel(START)
    whens = {key: START + rng.randrange(1, 500_000) for key in range(2_000)}
    for key, when in whens.items():
        wheel.schedule(key, when)
    wakes = 0
    while (now := wheel.next_wake()) is not None:
        wakes += 1
        assert now >= wheel.elapsed
        while (key := wheel.pop_due(now)) is not None:
            assert whens.pop(key) == now
    assert not whens
    assert wakes < 2_000 + 500_000 / SLOTS + 500_000 / SLOTS**2 + SLOTS
    # In, out, and at most once more of both for each of the levels 2, 1, 0 and due.
    assert wheel.steps <= 2_000 * 2 * 5


def test_idle_time_costs_nothing() -> None:
    wheel: TimingWheel[bytes] = TimingWheel(0)
    wheel.schedule(b"far", 10**15)
    steps = wheel.steps
    assert wheel.pop_due(10**14) is None
    assert wheel.elapsed == 10**14
    assert wheel.steps - steps <= 2 * 11
    wheel._check()
    assert wheel.pop_due(10**15) == b"far"


def test_a_heap_holds_one_entry_a_key_and_works_in_logarithmic_time() -> None:
    heap: TimerHeap[int] = TimerHeap()
    for i in range(4096):
        heap.schedule(i, 4096 - i)  # each becomes the root: the most work
    assert heap.steps <= 4096 * 13
    for i in range(4096):
        heap.schedule(i, i)
    assert len(heap) == 4096
    heap._check()
    heap.clear()
    assert heap.pop_due(10**9) is None
    heap._check()


def test_the_ends_of_the_wheel() -> None:
    wheel: TimingWheel[bytes] = TimingWheel()
    wheel.schedule(b"last", MAX_INSTANT)
    wheel.schedule(b"first", 0)
    assert wheel.next_wake() == 0
    assert wheel.pop_due(0) == b"first"
    wheel._check()
    assert wheel.pop_due(MAX_INSTANT - 1) is None
    wheel._check()
    assert wheel.pop_due(MAX_INSTANT) == b"last"
    wheel.clear()
    assert wheel.next_wake() is None
    for bad in (-1, MAX_INSTANT + 1):
        with pytest.raises(ValueError, match="an instant must be"):
            wheel.schedule(b"k", bad)
    with pytest.raises(ValueError, match="an instant must be"):
        TimingWheel(-1)
    wheel._check()
