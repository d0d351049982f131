"""Publishing keyspace events.

Redis: ``notifyKeyspaceEvent()`` in notify.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.pubsub import pubsub_publish_message
from miniredis.keyspace.notify import NOTIFY_KEYEVENT, NOTIFY_KEYSPACE

if TYPE_CHECKING:
    from miniredis.server.server import Server


def publish_keyspace_event(server: Server, type: int, event: bytes, key: bytes, dbid: int) -> None:
    """Publish on ``__keyspace@<db>__:<key>``, then on ``__keyevent@<db>__:<event>``.

    Only if the event's class is configured; which of the two channels is used is too.
    """
    flags = server.config.notify_keyspace_events
    if not flags & type:
        return
    if flags & NOTIFY_KEYSPACE:
        pubsub_publish_message(server, b"__keyspace@%d__:%s" % (dbid, key), event)
    if flags & NOTIFY_KEYEVENT:
        pubsub_publish_message(server, b"__keyevent@%d__:%s" % (dbid, event), key)
