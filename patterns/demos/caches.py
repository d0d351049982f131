"""What is missing, what is popular, and a session; how often the database is asked."""

from __future__ import annotations

from patterns.caches import DataCache, Sessions
from patterns.demos.stage import PREFIX, Stage, clear

NAME = f"{PREFIX}caches"
TTL_S = 2.0
EARLY_S = 0.5


def run(stage: Stage) -> dict[str, int]:
    """How often the database was asked, by what was tried."""
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    asked = {"naive, missing": 0, "sound, missing": 0, "early refresh": 0}

    def loader(what: str, value: str | None) -> str | None:
        asked[what] += 1
        return value

    cache = DataCache(conn, TTL_S, jitter=0, empty_ttl=1, clock=stage.clock)
    for _ in range(10):
        cache.get_naive(NAME + ":naive", lambda: loader("naive, missing", None))
        cache.get(NAME, lambda: loader("sound, missing", None))
    stage.say("ten clients want what does not exist; the database is asked")
    stage.say(f"    {asked['naive, missing']} times if only values are kept")
    stage.say(f"    {asked['sound, missing']} time if that it is missing is kept")

    key = NAME + ":hot"
    early = DataCache(
        conn, TTL_S, jitter=0, refresh_before=EARLY_S, clock=stage.clock
    )  # fmt: skip
    for _ in range(8):
        value = early.get(key, lambda: loader("early refresh", f"made at {stage.now:.1f} s"))
        left = conn.pttl(f"cache:{{{key}}}") / 1_000
        stage.say(f"hot value {value}, {left:.1f} s to live")
        stage.clock.sleep(0.6)
    stage.say(f"    loaded {asked['early refresh']} times, each before it died")

    jittered = DataCache(conn, TTL_S, jitter=0.25, clock=stage.clock)
    ttls = sorted(jittered.jittered(TTL_S) for _ in range(1_000))
    stage.say(f"with a jitter of 25 % a TTL of {TTL_S} s is {ttls[0]:.2f} to {ttls[-1]:.2f} s")

    token = Sessions(conn, 1).create("ann", cart="3")
    stage.say(f"a session, read by another server: {Sessions(stage.new_client(), 1).get(token)}")
    Sessions(conn).end(token)
    clear(conn, f"*{NAME}*")
    return asked
