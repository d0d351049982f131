"""The connection to the primary, as a replica uses it.

Redis: ``server.master``, ``server.repl_transfer_s`` in server.h.
"""

from __future__ import annotations

from collections.abc import Callable


class MasterLink:
    """What a replica does to the connection to its primary, whatever it is made of."""

    def ack(self, offset: int) -> None:
        """Tell the primary that the stream is applied up to *offset*. replicationSendAck()"""
        raise NotImplementedError

    def hold(self) -> None:
        """Take nothing from the primary until :meth:`release`."""
        raise NotImplementedError

    def release(self) -> None:
        """Go on."""
        raise NotImplementedError

    def close_from_replica(self) -> None:
        """Hang up."""
        raise NotImplementedError

    def is_silent(self, now_us: int, timeout_s: int) -> bool:
        """Whether nothing has come for more than *timeout_s*."""
        return False


#: Calls a primary at (host, port) to go on from (replication id, offset).
Connector = Callable[[str, int, str, int], MasterLink]
