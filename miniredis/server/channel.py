"""One direction of a connection between two servers of this process, with a delay.

What is sent arrives at the receiver's event loop after the delay, in order. As over a
socket, a receiver that is busy leaves the rest waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from miniredis.structs.ae import AE_NOMORE

if TYPE_CHECKING:
    from miniredis.server.server import Server


class Channel:
    """Messages on their way to *receiver*, which gets each by *deliver*.

    ``held``: nothing is delivered until :meth:`release`. ``queue`` holds (instant of
    arrival in µs, message), earliest first.
    """

    def __init__(self, receiver: Server, deliver: Callable[[Any], None]) -> None:
        self.receiver = receiver
        self.deliver = deliver
        self.queue: deque[tuple[int, Any]] = deque()
        self.held = False
        self.closed = False
        self._planned = False

    def send(self, message: Any, delay_us: int) -> None:
        """Let *message* arrive in *delay_us* µs, but never before what was sent earlier."""
        if self.closed:
            return
        due_us = self.receiver.clock.us() + delay_us
        if self.queue:
            due_us = max(due_us, self.queue[-1][0])
        self.queue.append((due_us, message))
        self._plan()

    def release(self) -> None:
        """The receiver takes messages again."""
        self.held = False
        self._plan()

    def close(self) -> None:
        """Drop what is on its way, and take nothing more."""
        self.closed = True
        self.queue.clear()

    def _check(self) -> None:
        """Assert that messages arrive in order, and that none of them is forgotten."""
        due = [due_us for due_us, _ in self.queue]
        assert due == sorted(due)
        assert not due or self._planned or self.held
        assert not self.closed or not due

    def _plan(self) -> None:
        if self._planned or self.held or self.closed or not self.queue:
            return
        self._planned = True
        self.receiver.el.create_arrival(self.queue[0][0], self._arrive)
        self.receiver.wake()

    def _arrive(self) -> int:
        """A time event: deliver all that is due."""
        clock = self.receiver.clock
        while self.queue and not self.held and self.queue[0][0] <= clock.us():
            self.deliver(self.queue.popleft()[1])
        self._planned = False
        self._plan()
        return AE_NOMORE
