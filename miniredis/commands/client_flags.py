"""Flags of a connected client, set by commands and obeyed by the server; propagation's targets.

Redis: ``CLIENT_*``, ``PROPAGATE_*`` in server.h.
"""

from __future__ import annotations

CLIENT_SLAVE = 1 << 0
CLIENT_MASTER = 1 << 1
CLIENT_MONITOR = 1 << 2
CLIENT_MULTI = 1 << 3  # between MULTI and EXEC
CLIENT_BLOCKED = 1 << 4
CLIENT_DIRTY_CAS = 1 << 5  # a watched key was changed: EXEC will fail
CLIENT_CLOSE_AFTER_REPLY = 1 << 6
CLIENT_UNBLOCKED = 1 << 7
CLIENT_DIRTY_EXEC = 1 << 12  # an error while queueing: EXEC will fail
CLIENT_PUBSUB = 1 << 18  # subscribed to something
CLIENT_SCRIPT = 1 << 8  # not a connection, but a script that runs commands
CLIENT_REPLY_OFF = 1 << 22
CLIENT_REPLY_SKIP_NEXT = 1 << 23
CLIENT_REPLY_SKIP = 1 << 24
CLIENT_PENDING_COMMAND = 1 << 30  # its command waits to be run
CLIENT_NO_EVICT = 1 << 43
CLIENT_DENY_BLOCKING = 1 << 41
CLIENT_TRACKING = 1 << 31  # remembers which keys it reads: server/tracking.py
CLIENT_TRACKING_BROKEN_REDIR = 1 << 32  # the client it redirects to has gone
CLIENT_TRACKING_BCAST = 1 << 33
CLIENT_TRACKING_OPTIN = 1 << 34
CLIENT_TRACKING_OPTOUT = 1 << 35
CLIENT_TRACKING_CACHING = 1 << 36  # CLIENT CACHING was called for the next command
CLIENT_TRACKING_NOLOOP = 1 << 37
CLIENT_UNAUTHENTICATED = 1 << 60  # not a flag in Redis, where ``authenticated`` is a field

# Who is told of a command.
PROPAGATE_AOF = 1 << 0
PROPAGATE_REPL = 1 << 1
PROPAGATE_BOTH = PROPAGATE_AOF | PROPAGATE_REPL
