"""Two players with equal scores, on three boards: who leads, and where doubles end."""

from __future__ import annotations

from patterns.demos.stage import PREFIX, Stage, clear
from patterns.leaderboards import (
    MAX_COMPOSITE,
    CompositeLeaderboard,
    CompositeLeaderboardNaive,
    FairLeaderboard,
    Leaderboard,
)

NAME = f"{PREFIX}board"
TIES = 4  # pairs of players that are tried at each score
SCORES = (7, MAX_COMPOSITE, 10**6, 10**8)
APART_S = 1.0


def run(stage: Stage) -> dict[tuple[str, int], int]:
    """Of so many pairs, in how many the earlier leads; by board and score."""
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    boards: dict[str, Leaderboard] = {
        "by name": Leaderboard(conn, NAME + ":plain"),
        "in the score": CompositeLeaderboardNaive(conn, NAME + ":naive", stage.clock),
        "in the score, guarded": CompositeLeaderboard(conn, NAME + ":composite"),
        "in the member": FairLeaderboard(conn, NAME + ":fair"),
    }
    earlier: dict[tuple[str, int], int] = {}
    for score in SCORES:
        refused = set()
        for _ in range(TIES):
            for player in ("ann", "ben"):
                for name, board in boards.items():
                    try:
                        board.set(player, score)
                    except ValueError:
                        refused.add(name)
                stage.clock.sleep(APART_S)
            for name, board in boards.items():
                first = [entry.player for entry in board.page(1, 1)] == ["ann"]
                earlier[name, score] = earlier.get((name, score), 0) + first
                board.delete()
            stage.clock.sleep(APART_S / 2)
        stage.say(f"score {score:,}, Ann {APART_S:.0f} s before Ben; Ann leads in")
        for name in boards:
            count = "refused" if name in refused else f"{earlier[name, score]} of {TIES}"
            stage.say(f"    tie {name:22} {count}")
    clear(conn, f"*{NAME}*")
    return earlier
