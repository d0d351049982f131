"""Leaderboards: sorted sets of players by score, the best first.

A sorted set orders equal scores by the bytes of their members, so of two equal players the
one whose name comes later in the alphabet leads. Players want the one who was first. Three
boards, with the same methods:

- ``Leaderboard``: the plain sorted set, ties by name.
- ``CompositeLeaderboard``: time packed into the score, as textbooks do; scores are limited.
- ``FairLeaderboard``: order of arrival in the member's name; any whole score that a double
  holds, and any number of ties in one second.

Ranks begin with 1. All keys of a board carry its hash tag and share a slot of a cluster.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from patterns.clock import Clock
from patterns.text import as_text

# A Redis score is a double: whole numbers are exact up to 2^53.
MAX_EXACT = 2**53
# The composite score is score · SHIFT + (LAST_SECOND − seconds).
SHIFT = 10**10
LAST_SECOND = SHIFT - 1
# The largest score whose composites are exact at any second: 900,718.
MAX_COMPOSITE = (MAX_EXACT - LAST_SECOND) // SHIFT


class Entry(NamedTuple):
    """A line of the board."""

    rank: int
    player: str
    score: float


# KEYS: board and, if players are not themselves the members, the hash player → member.
# ARGV: player, neighbours. One script, so that nobody moves between the rank and the range.
AROUND = """
local member = ARGV[1]
if KEYS[2] then member = redis.call('HGET', KEYS[2], member) end
local rank = member and redis.call('ZREVRANK', KEYS[1], member)
if not rank then return false end
local first = math.max(rank - ARGV[2], 0)
return {first, redis.call('ZREVRANGE', KEYS[1], first, rank + ARGV[2], 'WITHSCORES')}
"""


class Leaderboard:
    """The plain board. Equal scores: the name that comes later in byte order leads."""

    def __init__(self, conn: Any, name: str) -> None:
        self.conn, self.key = conn, f"{{{name}}}:board"

    @property
    def keys(self) -> list[str]:
        """All keys of the board; the first is the sorted set."""
        return [self.key]

    def set(self, player: str, score: float) -> None:
        """Give *player* the score *score*. O(log n)."""
        self.conn.zadd(self.key, {player: score})

    def add(self, player: str, points: float) -> float:
        """Add *points*, which may be negative; returns the new score. O(log n)."""
        return float(self.conn.zincrby(self.key, points, player))

    def score(self, player: str) -> float | None:
        """The score of *player*; None if not on the board. O(log n)."""
        me = self._me(player)
        return None if me is None else me.score

    def rank(self, player: str) -> int | None:
        """The rank of *player*, 1 for the best; None if not on the board. O(log n)."""
        me = self._me(player)
        return None if me is None else me.rank

    def page(self, number: int, size: int = 10) -> list[Entry]:
        """Page *number*, from 1, of *size* entries; empty beyond the last. O(log n + size)."""
        if number < 1 or size < 1:
            raise ValueError(f"pages begin with 1 and have a size, got {number} and {size}")
        first = (number - 1) * size
        found = self.conn.zrevrange(self.key, first, first + size - 1, withscores=True)
        return self._entries(first, found)

    def around_me(self, player: str, neighbours: int = 2) -> list[Entry]:
        """*player* with as many *neighbours* above and below; empty if not on the board.

        O(log n + neighbours).
        """
        reply = self.conn.eval(AROUND, len(self.keys[:2]), *self.keys[:2], player, neighbours)
        if reply is None:
            return []
        first, flat = reply
        return self._entries(first, list(zip(flat[::2], flat[1::2], strict=True)))

    def around_me_naive(self, player: str, neighbours: int = 2) -> list[Entry]:
        """The rank, then the range: two commands.

        How it fails: whoever overtakes between them moves *player* out of the middle, or
        off the list altogether.
        """
        rank = self.rank(player)
        if rank is None:
            return []
        first = max(rank - 1 - neighbours, 0)
        found = self.conn.zrevrange(self.key, first, rank - 1 + neighbours, withscores=True)
        return self._entries(first, found)

    def remove(self, player: str) -> bool:
        """Take *player* off; False if not on the board. O(log n)."""
        return bool(self.conn.zrem(self.key, player))

    def delete(self) -> None:
        """Delete the whole board. O(n), in another thread of the server."""
        self.conn.unlink(*self.keys)

    def __len__(self) -> int:
        return int(self.conn.zcard(self.key))

    def _me(self, player: str) -> Entry | None:
        return next(iter(self.around_me(player, 0)), None)

    def _entries(self, first: int, found: list[Any]) -> list[Entry]:
        return [
            Entry(first + i, self._player(as_text(member)), self._score(float(score)))
            for i, (member, score) in enumerate(found, 1)
        ]

    def _player(self, member: str) -> str:
        return member

    def _score(self, score: float) -> float:
        return score


# -- time in the score ------------------------------------------------------------------------


class CompositeLeaderboardNaive(Leaderboard):
    """score · 10^10 + (9999999999 − seconds), computed by the client, never checked.

    Of equal scores the one with the smaller time has the larger composite, and leads.

    How it fails. A double has 53 bits: from a score of 900,720 on a composite is rounded to
    an even number, then to a multiple of 4, and so on, so seconds fall together and the tie
    is by name again. Clients' clocks decide who was first. And *add* by ZINCRBY keeps the
    time of the old score.
    """

    def __init__(self, conn: Any, name: str, clock: Clock = time) -> None:
        super().__init__(conn, name)
        self.clock = clock

    def set(self, player: str, score: float) -> None:
        seconds = int(self.clock.time())
        self.conn.zadd(self.key, {player: int(score) * SHIFT + LAST_SECOND - seconds})

    def add(self, player: str, points: float) -> float:
        return self._score(float(self.conn.zincrby(self.key, int(points) * SHIFT, player)))

    def _score(self, score: float) -> float:
        return float(int(score) // SHIFT)


# KEYS: board. ARGV: player, "set" or "add", score or points, the largest score allowed.
# All numbers stay below 2^53, where Lua's doubles are exact. Who keeps a score keeps its time.
COMPOSITE = """
local old = redis.call('ZSCORE', KEYS[1], ARGV[1])
old = old and math.floor(old / 10000000000)
local score = tonumber(ARGV[3])
if ARGV[2] == 'add' then score = (old or 0) + score end
if math.abs(score) > tonumber(ARGV[4]) then return false end
if score ~= old then
    local seconds = redis.call('TIME')[1]
    redis.call('ZADD', KEYS[1], string.format('%.0f', score * 1e10 + 9999999999 - seconds), ARGV[1])
end
return string.format('%.0f', score)
"""


class CompositeLeaderboard(Leaderboard):
    """The same by the server's clock, in a script, and with its limits guarded.

    Promises: of equal scores the earlier second leads. Limits: whole scores from -900,718 to
    900,718, else ``ValueError`` and nothing is changed; within one second ties are by name;
    the server's clock decides, so if it is put back the later may lead. After the year 2286
    seconds have more than ten digits.
    """

    def set(self, player: str, score: float) -> None:
        self._change(player, "set", score)

    def add(self, player: str, points: float) -> float:
        return self._change(player, "add", points)

    def _change(self, player: str, how: str, number: float) -> float:
        whole = _whole(number)
        reply = self.conn.eval(COMPOSITE, 1, self.key, player, how, whole, MAX_COMPOSITE)
        if reply is None:
            raise ValueError(
                f"{how} {whole}: scores of a composite board go to {MAX_COMPOSITE:,} either way"
            )
        return float(reply)

    def _score(self, score: float) -> float:
        return float(int(score) // SHIFT)


# -- arrival in the member ----------------------------------------------------------------------


# KEYS: board, hash player → member, counter. ARGV: player, "set" or "add", score or points.
# The number of an arrival counts down and has always 16 digits, so the earlier member is the
# greater one in byte order, and leads among equals. Who keeps a score keeps the place.
FAIR = """
local most = 9007199254740992
local member = redis.call('HGET', KEYS[2], ARGV[1])
local old = member and tonumber(redis.call('ZSCORE', KEYS[1], member))
local score = tonumber(ARGV[3])
if ARGV[2] == 'add' then score = (old or 0) + score end
if math.abs(score) >= most then return false end
if score ~= old then
    if member then redis.call('ZREM', KEYS[1], member) end
    local left = most - 1 - redis.call('INCR', KEYS[3])
    member = string.format('%016.0f:', left) .. ARGV[1]
    redis.call('ZADD', KEYS[1], string.format('%.0f', score), member)
    redis.call('HSET', KEYS[2], ARGV[1], member)
end
return string.format('%.0f', score)
"""

# KEYS: board, hash player → member. ARGV: player.
FAIR_REMOVE = """
local member = redis.call('HGET', KEYS[2], ARGV[1])
if not member then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
return redis.call('ZREM', KEYS[1], member)
"""


class FairLeaderboard(Leaderboard):
    """Equal scores: whoever reached the score first leads. No clock is asked.

    A member is ``{number of arrival, counted down}:{player}``, and a hash knows each player's
    member. Whole scores below 2^53 either way, else ``ValueError``. Costs a hash entry and 17
    bytes for each player.
    """

    @property
    def keys(self) -> list[str]:
        tag = self.key.removesuffix(":board")
        return [self.key, f"{tag}:members", f"{tag}:arrivals"]

    def set(self, player: str, score: float) -> None:
        self._change(player, "set", score)

    def add(self, player: str, points: float) -> float:
        return self._change(player, "add", points)

    def remove(self, player: str) -> bool:
        return bool(self.conn.eval(FAIR_REMOVE, 2, *self.keys[:2], player))

    def _change(self, player: str, how: str, number: float) -> float:
        whole = _whole(number)
        reply = self.conn.eval(FAIR, 3, *self.keys, player, how, whole)
        if reply is None:
            raise ValueError(f"{how} {whole}: scores are whole numbers below 2^53 either way")
        return float(reply)

    def _player(self, member: str) -> str:
        return member.split(":", 1)[1]


def _whole(number: float) -> int:
    """*number* as int. ``ValueError`` if it is not whole, or beyond what a double holds."""
    if number != number or number in (float("inf"), float("-inf")) or int(number) != number:
        raise ValueError(f"a score here is a whole number, not {number!r}")
    if abs(number) >= MAX_EXACT:
        raise ValueError(f"a score must be below 2^53 either way, got {number!r}")
    return int(number)
