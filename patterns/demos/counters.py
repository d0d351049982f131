"""Hits counted by slots of time, and a cleaner that forgets the old ones."""

from __future__ import annotations

from patterns.counters import (
    KNOWN,
    PRECISIONS,
    clean_counter,
    count_key,
    get_counter,
    read_and_reset,
    update_counter,
)
from patterns.demos.stage import PREFIX, Stage

NAME = f"{PREFIX}hits"


def run(stage: Stage) -> dict[int, int]:
    """The number of slots kept in each precision, in the end."""
    conn = stage.new_client()
    start = stage.clock.time()
    keys = [count_key(NAME, precision) for precision in PRECISIONS]
    names = [f"{precision}:{NAME}" for precision in PRECISIONS]
    conn.delete(*keys)
    for second in range(0, 1000, 2):  # as if it had gone on for a thousand seconds
        update_counter(conn, NAME, 1 + second % 3, start - 1000 + second)
    for precision in (1, 60, 3600):
        slots = get_counter(conn, NAME, precision)
        stage.say(f"slots of {precision:4} s: {len(slots):3}, the last {slots[-3:]}")
    for name in names:
        clean_counter(conn, name, start)
    kept = {p: len(get_counter(conn, NAME, p)) for p in PRECISIONS}
    stage.say(f"cleaned; slots kept: {kept}")
    conn.incrby(f"{NAME}:plain", 41)
    stage.say(f"read and reset: {read_and_reset(conn, f'{NAME}:plain')}")
    for name in names:
        clean_counter(conn, name, start + 1e9)
    forgotten = all(conn.zscore(KNOWN, name) is None for name in names)
    stage.say(f"much later the counter is forgotten: {forgotten}")
    return kept
