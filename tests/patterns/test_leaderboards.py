"""Leaderboards: ranks, pages, neighbours; ties by time, and where doubles end."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import pytest
from redis.cluster import RedisCluster

import miniredis
from patterns.leaderboards import (
    MAX_COMPOSITE,
    MAX_EXACT,
    SHIFT,
    CompositeLeaderboard,
    CompositeLeaderboardNaive,
    Entry,
    FairLeaderboard,
    Leaderboard,
)
from tests.patterns.conftest import Ahead, Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

BOARDS = (Leaderboard, CompositeLeaderboard, FairLeaderboard)
BY_TIME = (CompositeLeaderboard, FairLeaderboard)
each = pytest.mark.parametrize("kind", BOARDS)
each_by_time = pytest.mark.parametrize("kind", BY_TIME)


def players(entries: list[Entry]) -> str:
    return "".join(entry.player for entry in entries)


@each
def test_all_methods(target: Target, kind: type[Leaderboard]) -> None:
    board = kind(target.conn, "game")
    for score, player in enumerate("abcdefghij"):
        board.set(player, score * 10)
    assert len(board) == 10
    assert board.score("c") == 20 and board.rank("c") == 8 and board.rank("j") == 1
    assert board.score("nobody") is None and board.rank("nobody") is None
    assert players(board.page(1, 4)) == "jihg" and players(board.page(3, 4)) == "ba"
    assert board.page(2, 4)[0] == Entry(5, "f", 50) and board.page(4, 4) == []
    assert board.around_me("e", 1) == [Entry(5, "f", 50), Entry(6, "e", 40), Entry(7, "d", 30)]
    assert players(board.around_me("j", 2)) == "jih" and players(board.around_me("a", 2)) == "cba"
    assert board.around_me("nobody") == []
    assert board.add("a", 45) == 45 and board.add("new", -5) == -5 and board.score("new") == -5
    assert board.rank("a") == 6 and board.rank("new") == 11
    assert board.remove("j") and not board.remove("j") and board.rank("i") == 1
    board.delete()
    assert len(board) == 0 and list(target.conn.scan_iter()) == []


def test_plain_ties_are_by_name(target: Target) -> None:
    board = Leaderboard(target.conn, "game")
    for player in "bca":
        board.set(player, 5)
    assert players(board.page(1)) == "cba"


@each_by_time
def test_equal_scores_earlier_first(timed: Target, kind: type[Leaderboard]) -> None:
    board = kind(timed.conn, "game")
    for order in map("".join, itertools.permutations("abc")):
        for player in order:
            board.set(player, 5)
            timed.clock.sleep(1)
        assert players(board.page(1)) == order
        board.delete()


@each_by_time
def test_a_score_is_reached_when_it_is_set_or_added(timed: Target, kind: type[Leaderboard]) -> None:
    board = kind(timed.conn, "game")
    for player, score in (("a", 3), ("b", 5), ("c", 5)):
        board.set(player, score)
        timed.clock.sleep(1)
    board.add("a", 2)  # reaches 5 last, though it came first
    assert players(board.page(1)) == "bca"
    timed.clock.sleep(1)
    board.set("b", 5)  # has been there all the time
    board.add("b", 0)
    assert players(board.page(1)) == "bca"
    board.add("b", -1)
    board.add("b", 1)
    assert players(board.page(1)) == "cab"


def test_naive_add_keeps_the_old_time(timed: Target) -> None:
    board = CompositeLeaderboardNaive(timed.conn, "game", timed.clock)
    board.set("a", 3)
    timed.clock.sleep(1)
    board.set("b", 5)
    timed.clock.sleep(1)
    assert board.add("a", 2) == 5
    assert players(board.page(1)) == "ab"  # b was first to have 5


def test_naive_times_are_clients_times(timed: Target) -> None:
    CompositeLeaderboardNaive(timed.conn, "game", timed.clock).set("a", 5)
    timed.clock.sleep(1)
    late = CompositeLeaderboardNaive(timed.conn, "game", Ahead(timed.clock, -60))
    late.set("b", 5)
    assert players(late.page(1)) == "ba"


def tied_at(kind: type[Leaderboard], timed: Target, score: int) -> list[str]:
    """Players whose names would order them wrongly, a second apart, with one score."""
    timed.conn.flushall()
    args = (timed.clock,) if kind is CompositeLeaderboardNaive else ()
    board = kind(timed.conn, "game", *args)
    for player in "ab":
        board.set(player, score)
        timed.clock.sleep(1)
    assert {entry.score for entry in board.page(1)} == {score}
    return [entry.player for entry in board.page(1)]


def test_where_doubles_end(timed: Target) -> None:
    """Up to 900,719 seconds are told apart; from 900,720 on every other pair falls together."""
    assert MAX_COMPOSITE == 900_718
    assert (MAX_COMPOSITE + 1) * SHIFT < MAX_EXACT < (MAX_COMPOSITE + 2) * SHIFT
    exact = [tied_at(CompositeLeaderboardNaive, timed, MAX_COMPOSITE) for _ in range(4)]
    assert exact == [["a", "b"]] * 4
    beyond = []
    for second in range(4):
        if int(timed.clock.time()) % 2 != second % 2:
            timed.clock.sleep(1)
        beyond.append(tied_at(CompositeLeaderboardNaive, timed, 10**6))
    assert ["b", "a"] in beyond and ["a", "b"] in beyond
    # Further on many seconds are one.
    assert [tied_at(CompositeLeaderboardNaive, timed, 10**9) for _ in range(4)].count(
        ["b", "a"]
    ) >= 3
    for score in (MAX_COMPOSITE, 10**6, 10**9, MAX_EXACT - 1, 1 - MAX_EXACT):
        assert tied_at(FairLeaderboard, timed, score) == ["a", "b"]
    assert tied_at(CompositeLeaderboard, timed, MAX_COMPOSITE) == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "score"),
    [(CompositeLeaderboard, MAX_COMPOSITE + 1), (CompositeLeaderboard, -MAX_COMPOSITE - 1)]
    + [(k, s) for k in BY_TIME for s in (2**53, -(2**53), 0.5, float("nan"), float("inf"))],
)
def test_scores_beyond_are_refused(target: Target, kind: type[Leaderboard], score: float) -> None:
    board = kind(target.conn, "game")
    with pytest.raises(ValueError, match="score"):
        board.set("a", score)
    assert len(board) == 0


@each_by_time
def test_adding_beyond_changes_nothing(target: Target, kind: type[Leaderboard]) -> None:
    board = kind(target.conn, "game")
    most = MAX_COMPOSITE if kind is CompositeLeaderboard else MAX_EXACT - 1
    board.set("a", most)
    with pytest.raises(ValueError, match="scores"):
        board.add("a", 1)
    assert board.score("a") == most


def test_within_one_second(target: Target) -> None:
    """The composite falls back on names; the fair one does not."""
    for kind, order in ((CompositeLeaderboard, "ba"), (FairLeaderboard, "ab")):
        board = kind(target.conn, kind.__name__)
        if kind is CompositeLeaderboard and target.name.startswith("system"):
            time.sleep(1 - time.time() % 1)  # not across the edge of a second
        board.set("a", 1)
        board.set("b", 1)
        assert players(board.page(1)) == order


def test_bad_pages_are_told(target: Target) -> None:
    for number, size in ((0, 10), (1, 0)):
        with pytest.raises(ValueError, match="pages begin"):
            Leaderboard(target.conn, "game").page(number, size)


def test_neighbours_move_between_two_commands_only_if_naive() -> None:
    def around(method: str) -> list[str]:
        scheduler = Scheduler(order="abb" if method == "around_me_naive" else "bba")
        board = Leaderboard(scheduler.client(), "game")
        for score, player in enumerate(["v", "w", "me", "x", "y", "z"]):
            board.set(player, score)

        def overtake(actor: Actor) -> None:
            for player in "vw":
                Leaderboard(actor.conn, "game").add(player, 10)

        a = scheduler.add("a", lambda a: getattr(Leaderboard(a.conn, "game"), method)("me", 1))
        scheduler.add("b", overtake)
        scheduler.run()
        return [entry.player for entry in a.result]

    assert "me" not in around("around_me_naive")
    assert around("around_me")[1] == "me"


# -- random schedules -------------------------------------------------------------------------

STORM = Chance(latency=0.8, pause=0.05, pause_s=5, crash=0.02, skew_s=60)


def play(kind: type[Leaderboard], seed: int) -> None:
    scheduler = Scheduler(seed, STORM, decode_responses=bool(seed % 2))
    rng = scheduler.rng
    model: dict[str, tuple[int, int, int]] = {}  # player -> score, second, arrival

    def note(player: str, score: float) -> None:
        if player not in model or model[player][0] != score:
            second = scheduler.now_us // 1_000_000
            model[player] = int(score), second, next(arrivals)

    def client(actor: Actor) -> None:
        board = kind(actor.conn, "game")
        for _ in range(6):
            player, score = rng.choice("abcd"), rng.randrange(3)
            what = rng.randrange(8)
            if what < 3:
                board.set(player, score)
                note(player, score)
            elif what < 6:
                was = model.get(player)
                now = board.add(player, score)
                was = model.get(player, (0, 0, 0))
                assert now == was[0] + score, "lost points"
                note(player, now)
            elif what == 6:
                assert board.remove(player) is (model.pop(player, None) is not None)
            else:
                near = board.around_me(player, 1)
                assert (player in [e.player for e in near]) is (player in model)

    arrivals = itertools.count()
    for i in range(3):
        scheduler.add(f"client {i}", client)
    scheduler.run()
    board = kind(scheduler.client(), "game")

    def place(player: str) -> tuple[Any, ...]:
        score, second, arrival = model[player]
        tie = (-second, player) if kind is CompositeLeaderboard else (-arrival,)
        return (score, *tie)

    expected = sorted(model, key=place, reverse=True)
    assert [entry.player for entry in board.page(1)] == expected
    assert [entry.score for entry in board.page(1)] == [model[p][0] for p in expected]
    assert [board.rank(player) for player in expected] == list(range(1, len(expected) + 1))


@each_by_time
def test_random_schedules(kind: type[Leaderboard]) -> None:
    run_schedules(lambda seed: play(kind, seed))


def test_the_schedules_catch_the_others() -> None:
    for kind in (Leaderboard, CompositeLeaderboardNaive):
        with pytest.raises(AssertionError):
            run_schedules(lambda seed, kind=kind: play(kind, seed), 50)


@each_by_time
def test_threads_lose_no_points(kind: type[Leaderboard]) -> None:
    server = miniredis.Server(seed=7)

    def score() -> None:
        board = kind(server.client(), "game")
        for i in range(50):
            board.add("abc"[i % 3], 1)

    threads = [threading.Thread(target=score) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    scores = {entry.player: entry.score for entry in kind(server.client(), "game").page(1)}
    assert scores == {"a": 6 * 17, "b": 6 * 17, "c": 6 * 16}


@each
def test_in_a_cluster(cluster: RedisCluster, kind: type[Leaderboard]) -> None:
    for name in ("x", "y", "z"):
        board = kind(cluster, name)
        for player, points in (("a", 1), ("b", 3), ("c", 2)):
            board.add(player, points)
        assert players(board.page(1)) == "bca"
        assert players(board.around_me("a", 1)) == "ca"
        assert board.remove("b")
        board.delete()
        assert len(board) == 0


@pytest.mark.slow
@each_by_time
def test_ties_in_real_time(real_time: Target, kind: type[Leaderboard]) -> None:
    board = kind(real_time.conn, "game")
    for player in "abc":
        board.set(player, 7)
        time.sleep(1.01)
    assert players(board.page(1)) == "abc"
