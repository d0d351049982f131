"""CLIENT PAUSE: holding commands back, all of them or those that write.

While clients are paused nothing expires either, neither on access nor actively, so that
the data set stands still for a failover. Held commands are taken up again, in order,
when the pause ends, see ``blocked.py``; its end is compared with the *cached* clock.

Redis: ``pauseClients()`` in networking.c, ``blockPostponeClient`` in blocked.c.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from miniredis.commands.blocking import BLOCKED_POSTPONE, BlockingState

if TYPE_CHECKING:
    from miniredis.server.client import Client
    from miniredis.server.server import Server

CLIENT_PAUSE_OFF = 0
CLIENT_PAUSE_WRITE = 1  # hold commands that write or may replicate
CLIENT_PAUSE_ALL = 2


class ClientPause:
    """The pause of a server, and the clients whose command it holds back."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.type = CLIENT_PAUSE_OFF
        self.end_time = 0  # Unix time in ms
        self.postponed_clients: deque[Client] = deque()

    def pause(self, end: int, type: int) -> None:
        """Pause until *end* (Unix ms). A second call only prolongs or tightens a pause.

        networking.c: pauseClients()
        """
        self.type = max(self.type, type)
        self.end_time = max(self.end_time, end)
        self._update()

    def unpause(self) -> None:
        """End the pause; held commands run at the next turn of the event loop."""
        self.end_time = -1
        self._update()

    def check_timeout(self) -> bool:
        """Whether clients are paused; lifts a pause that is over.

        networking.c: checkClientPauseTimeoutAndReturnIfPaused()
        """
        if self.type != CLIENT_PAUSE_OFF and self.end_time < self.server.mstime:
            self._update()
        return self.type != CLIENT_PAUSE_OFF

    def _update(self) -> None:
        """networking.c: updateClientPauseTypeAndEndTime()"""
        if self.type != CLIENT_PAUSE_OFF and self.end_time < self.server.mstime:
            self.type = CLIENT_PAUSE_OFF
            self.end_time = 0
            while self.postponed_clients:
                self.server.blocking.unblock_client(self.postponed_clients.popleft())
        self.server.update_gates()

    def postpone(self, c: Client) -> None:
        """Hold the client's current command back. blocked.c: blockPostponeClient()"""
        self.server.blocking.block_client(c, BlockingState(BLOCKED_POSTPONE))
        self.postponed_clients.append(c)

    def forget(self, c: Client) -> None:
        """The client goes away."""
        if c in self.postponed_clients:
            self.postponed_clients.remove(c)
