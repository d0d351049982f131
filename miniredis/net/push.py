"""What redis-py does with messages that come between replies under RESP3.

redis-py asks ``connection._parser`` to call a handler: ``set_pubsub_push_handler`` (its PubSub
does so for ``push_handler_func``) and ``set_invalidation_push_handler``, for the keys that
CLIENT TRACKING finds stale. A connection within the process parses nothing, so what stands
there is this.
"""

from __future__ import annotations

from typing import Any

from redis._parsers.base import PushNotificationsParser


class PushHandlers(PushNotificationsParser):
    """The handlers of one connection. Without any, messages are dropped."""

    def __init__(self) -> None:
        self.pubsub_push_handler_func = self.handle_pubsub_push_response

    def handle_pubsub_push_response(self, response: Any) -> Any:
        """Leave a message as it is, for whoever reads it."""
        return response
