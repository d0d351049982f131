"""Time events over a clock: the half of Redis's event loop that is about time.

An event is a callback due at an instant. It returns after how many milliseconds it
wants to run again, counted from the *end* of its run, or :data:`AE_NOMORE`.

Redis: ae.c, ``aeCreateTimeEvent``, ``processTimeEvents``.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from miniredis.clock import US_PER_MS, Clock

ARRIVALS_FIRST = 1 << 62  # taken from the id of an arrival
AE_NOMORE = -1  # returned by a callback that does not want to run again

TimeProc = Callable[[], int]


class TimeEvent:
    """A planned call. ``when_us`` is its instant in µs of the loop's clock."""

    __slots__ = ("id", "proc", "when_us")

    def __init__(self, id: int, when_us: int, proc: TimeProc) -> None:
        self.id = id
        self.when_us = when_us
        self.proc: TimeProc | None = proc


class EventLoop:
    """Time events, earliest first; equal instants run in order of creation.

    ``next_us`` is the instant of the earliest one (None: nothing planned), kept as a
    plain attribute because the hot path compares it with the clock before each command.
    """

    __slots__ = ("_heap", "_last_us", "_next_id", "clock", "next_us")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.next_us: int | None = None
        self._heap: list[tuple[int, int, TimeEvent]] = []
        self._next_id = 0
        self._last_us = clock.us()

    def create_time_event(self, milliseconds: int, proc: TimeProc) -> TimeEvent:
        """Call *proc* in *milliseconds* from now. O(log N). ae.c: aeCreateTimeEvent()"""
        return self.create_time_event_at(self.clock.us() + milliseconds * US_PER_MS, proc)

    def create_time_event_at(self, when_us: int, proc: TimeProc) -> TimeEvent:
        """Call *proc* at the instant *when_us* in µs; Redis itself counts in ms. O(log N)."""
        return self._create(self._next_id, when_us, proc)

    def create_arrival(self, when_us: int, proc: TimeProc) -> TimeEvent:
        """Call *proc* when something arrives, before the time events of the same instant.

        So the order is that of a turn of Redis's loop: sockets first. ae.c: aeProcessEvents()
        """
        return self._create(self._next_id - ARRIVALS_FIRST, when_us, proc)

    def _create(self, id: int, when_us: int, proc: TimeProc) -> TimeEvent:
        event = TimeEvent(id, when_us, proc)
        self._next_id += 1
        self._push(event)
        return event

    def delete_time_event(self, event: TimeEvent) -> None:
        """Forget *event*; harmless when it has run. ae.c: aeDeleteTimeEvent()"""
        event.proc = None
        self._drop_deleted()

    def process_time_events(self) -> int:
        """Run every event that is due by now, each once; return how many ran.

        Events planned by those that run wait for the next call. A clock that was set
        back makes all events due at once: running early does less harm than waiting for
        the old time to come again.

        ae.c: processTimeEvents()
        """
        now = self.clock.us()
        if now < self._last_us:
            self._make_all_due(now)
        self._last_us = now
        newest = self._next_id
        due: list[TimeEvent] = []
        while self._heap and self._heap[0][0] <= now and self._heap[0][1] < newest:
            due.append(heapq.heappop(self._heap)[2])
        self._drop_deleted()
        ran = 0
        for event in due:
            if event.proc is None:
                continue
            ran += 1
            again_ms = event.proc()
            if again_ms != AE_NOMORE and event.proc is not None:
                event.when_us = self.clock.us() + again_ms * US_PER_MS
                self._push(event)
        return ran

    def __len__(self) -> int:
        """Events planned, deleted ones included that are not the earliest."""
        return len(self._heap)

    def pass_to(self, last_us: int, next_us: int) -> None:
        """As if the only event had come again and again: last at *last_us*, next at *next_us*."""
        assert len(self._heap) == 1
        event = self._heap.pop()[2]
        event.when_us = next_us
        self._last_us = last_us
        self._push(event)

    def _push(self, event: TimeEvent) -> None:
        heapq.heappush(self._heap, (event.when_us, event.id, event))
        self.next_us = self._heap[0][0]

    def _drop_deleted(self) -> None:
        heap = self._heap
        while heap and heap[0][2].proc is None:
            heapq.heappop(heap)
        self.next_us = heap[0][0] if heap else None

    def _make_all_due(self, now: int) -> None:
        events = [entry[2] for entry in self._heap]
        self._heap = []
        for event in events:
            event.when_us = min(event.when_us, now)
            self._push(event)

    def _check(self) -> None:
        """Assert that the heap is one and that ``next_us`` is its top."""
        for i in range(1, len(self._heap)):
            assert self._heap[(i - 1) // 2][:2] <= self._heap[i][:2]
        assert self.next_us == (self._heap[0][0] if self._heap else None)
        for when_us, id, event in self._heap:
            assert (when_us, id) == (event.when_us, event.id)
