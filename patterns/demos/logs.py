"""Four web servers log around a full hour: one of them begins the new one."""

from __future__ import annotations

from patterns.demos.stage import PREFIX, Stage, clear
from patterns.logs import Hour, common_messages, log_common, recent_messages

NAME = f"{PREFIX}web"
MESSAGES = ("out of disk", "time-out", "out of disk", "no such page")
HOUR_S = 3600


def run(stage: Stage) -> Hour:
    """The hour that was put aside."""
    conn = stage.new_client()
    clear(conn, f"*:{NAME}:*")
    servers = [stage.skewed(seconds) for seconds in (0, 1, -1, 2)]
    earlier = [stage.skewed(-HOUR_S) for _ in servers]  # as if an hour had passed
    for clock in earlier:
        for message in MESSAGES:
            log_common(conn, NAME, message, "error", clock=clock)
    hour = common_messages(conn, NAME, "error")
    stage.say(f"the hour from {hour.start}: {hour.counts}")
    for clock in servers:
        log_common(conn, NAME, "time-out", "error", clock=clock)
    now, last = (common_messages(conn, NAME, "error", last=last) for last in (False, True))
    stage.say(f"an hour later: {now.counts}; put aside: {last.counts}")
    stage.say(f"newest of {len(recent_messages(conn, NAME, 'error'))}:")
    for line in recent_messages(conn, NAME, "error", 3):
        stage.say(f"  {line}")
    clear(conn, f"*:{NAME}:*")
    return last
