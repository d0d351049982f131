"""Look-up by a part of a name, and pages of a long table.

SCAN and its sisters walk through keys, fields or members in small steps, so the server goes
on serving others in between; KEYS does it in one step and stops everybody. An element that is
there from the first step to the last is returned at least once, perhaps more often; one that
comes or goes meanwhile may or may not be. The functions here return each once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from patterns.text import as_text

STEP = 100  # elements that a step of SCAN looks at, about
SPECIAL = "\\*?[]^"


def containing(text: str) -> str:
    """The pattern of names that have *text* in them, whatever *text* is."""
    escaped = "".join("\\" + letter if letter in SPECIAL else letter for letter in text)
    return f"*{escaped}*"


# -- fuzzy look-up ------------------------------------------------------------------------------


def find_keys(conn: Any, pattern: str, step: int = STEP) -> list[str]:
    """Keys that match *pattern*, in no order. O(all keys), in steps of O(*step*).

    On a cluster, keys of all its primaries.
    """
    return list(dict.fromkeys(as_text(key) for key in conn.scan_iter(match=pattern, count=step)))


def find_keys_naive(conn: Any, pattern: str, step: int = STEP) -> list[str]:
    """SCAN until a step returns nothing.

    How it fails: MATCH is applied to what a step has found, so a step may well return
    nothing long before the end. Only the cursor 0 says that it is over.
    """
    cursor, found = 0, []
    while True:
        cursor, page = conn.scan(cursor, match=pattern, count=step)
        found += [as_text(key) for key in page]
        if not page:
            return found


def find_keys_blocking_naive(conn: Any, pattern: str) -> list[str]:
    """KEYS. How it fails: one command looks at all keys, and everybody else waits for it."""
    return [as_text(key) for key in conn.keys(pattern)]


def find_fields(conn: Any, key: str, pattern: str, step: int = STEP) -> dict[str, str]:
    """Fields of a hash that match, with their values. O(all fields), in steps."""
    found = conn.hscan_iter(key, match=pattern, count=step)
    return {as_text(field): as_text(value) for field, value in found}


def find_members(conn: Any, key: str, pattern: str, step: int = STEP) -> list[str]:
    """Members of a set that match. O(all members), in steps."""
    found = conn.sscan_iter(key, match=pattern, count=step)
    return list(dict.fromkeys(as_text(member) for member in found))


def find_scored(conn: Any, key: str, pattern: str, step: int = STEP) -> dict[str, float]:
    """Members of a sorted set that match, with their scores. O(all members), in steps."""
    return {
        as_text(member): float(score)
        for member, score in conn.zscan_iter(key, match=pattern, count=step)
    }


# -- pages --------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of a table: its id, its place (later rows have higher ones), its fields."""

    id: int
    place: int
    fields: dict[str, str]


# KEYS: sorted set of ids, counter of places, row. ARGV: id, fields and values. The place is
# drawn where the row becomes visible, so no row ever appears below one that has been seen.
PUBLISH = """
redis.call('HSET', KEYS[3], 'id', unpack(ARGV))
return redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[2]), ARGV[1])
"""


class Table:
    """Rows as hashes, and a sorted set of their ids in the order in which they came.

    All keys carry the hash tag ``{name}``: one slot of a cluster.
    """

    def __init__(self, conn: Any, name: str) -> None:
        self.conn = conn
        self.ids, self.places = f"{{{name}}}:ids", f"{{{name}}}:places"
        self.next_id, self._row = f"{{{name}}}:next", f"{{{name}}}:row:"

    def add(self, **fields: str) -> int:
        """Add a row at the top; returns its id. Row and place become visible at once.

        O(log n + fields).
        """
        row_id = int(self.conn.incr(self.next_id))
        keys = self.ids, self.places, self._row + str(row_id)
        flat = [text for pair in fields.items() for text in pair]
        self.conn.eval(PUBLISH, 3, *keys, row_id, *flat)
        return row_id

    def add_naive(self, **fields: str) -> int:
        """INCR, ZADD by the id, HSET: three commands.

        How it fails: a reader between ZADD and HSET finds an id without a row, and after a
        crash there it stays. A slow writer's row appears below rows that have been read, and
        shifts the pages of those who page by number.
        """
        row_id = int(self.conn.incr(self.next_id))
        self.conn.zadd(self.ids, {row_id: row_id})
        self.conn.hset(self._row + str(row_id), mapping={"id": row_id, **fields})
        return row_id

    def remove(self, row_id: int) -> bool:
        """Take a row away; False if it was not there. O(log n)."""
        pipe = self.conn.pipeline(transaction=True)
        pipe.zrem(self.ids, row_id)
        pipe.delete(self._row + str(row_id))
        return bool(pipe.execute()[0])

    def page_naive(self, number: int, size: int = 10) -> list[Row]:
        """Page *number*, from 1, of what is there now, the newest first.

        How it fails: while the reader reads page 1 a row is added; page 2 then begins with
        the row that page 1 ended with.
        """
        first = _first(number, size)
        return self._rows(self.conn.zrevrange(self.ids, first, first + size - 1, withscores=True))

    def page(self, number: int, size: int = 10, until: int | None = None) -> tuple[list[Row], int]:
        """Page *number*, from 1, the newest first, of the rows up to the place *until*.

        Returns the rows and *until*, to be handed on to the next call: so pages stay as they
        were when the first was read, however many rows are added. A row that is removed
        makes those behind it move up by one. O(log n + number · size).
        """
        first = _first(number, size)
        if until is None:
            until = int(self.conn.get(self.places) or 0)
        found = self.conn.zrevrangebyscore(
            self.ids, until, "-inf", start=first, num=size, withscores=True
        )
        return self._rows(found), until

    def after(self, place: int | None = None, size: int = 10) -> list[Row]:
        """The next rows behind *place*, that of the last row seen; None for the newest.

        Stable while rows are added and removed. O(log n + size), however far down.
        """
        _first(1, size)
        top = "+inf" if place is None else f"({place}"
        found = self.conn.zrevrangebyscore(
            self.ids, top, "-inf", start=0, num=size, withscores=True
        )
        return self._rows(found)

    def _rows(self, found: list[Any]) -> list[Row]:
        """The rows of ids with places, those removed meanwhile left out."""
        pipe = self.conn.pipeline(transaction=False)
        for row_id, _ in found:
            pipe.hgetall(self._row + as_text(row_id))
        rows = []
        for (row_id, place), raw in zip(found, pipe.execute(), strict=True):
            fields = {as_text(name): as_text(value) for name, value in raw.items()}
            if fields.pop("id", None) is not None:
                rows.append(Row(int(as_text(row_id)), int(place), fields))
        return rows


def _first(number: int, size: int) -> int:
    if number < 1 or size < 1:
        raise ValueError(f"pages begin with 1 and have a size, got {number} and {size}")
    return (number - 1) * size
