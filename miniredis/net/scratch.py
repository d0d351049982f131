"""A database of a real server lent for an experiment, and given back as it was: empty.

What is promised to the user, and kept here:

* Only the database whose number the address names is written to, and only if it is empty
  and no other client has selected it.
* Only keys under :data:`PREFIX` are written, and all of them are deleted in the end.
* No configuration is changed and no statistics are reset. What the server is set to is
  read, and the caller adapts to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import redis

from miniredis.clock import US_PER_MS, SystemClock
from miniredis.net.remote import check_url, client_of, without_secrets
from miniredis.net.sighting import Sighting

PREFIX = "miniredis:experiment:"
BATCH = 1000  # keys of one pipeline
WRITE_US_PER_KEY = 40  # allowed for writing one key before the first dies ...
WRITE_US_LEAST = 500_000  # ... and at least so long
WRITE_TRIES = 3  # each time allowing four times as long
SLACK_MS = 200  # between the last writing and the first death
CLOCK_READINGS = 5  # of which the one with the shortest way counts

Progress = Callable[[str, int, int], None]


class ScratchDatabase:
    """The database that *url* names. Use :func:`scratch_database` to get one."""

    def __init__(self, client: redis.Redis, number: int) -> None:
        self.client = client
        self.number = number
        self.clock = SystemClock()
        self.written = 0  # names handed out, ever
        self.offset_us = 0  # the server's clock minus ours

    # -- what the server is like ------------------------------------------------------

    def check(self) -> None:
        """``PermissionError`` unless the database may be used."""
        if self.client.info("replication").get("role") != "master":
            raise PermissionError("the server is a replica: it does not expire keys by itself")
        held = self.client.dbsize()
        if held:
            raise PermissionError(
                f"database {self.number} is not empty: it holds {held:,} key" + "s" * (held != 1)
            )
        if self.others():
            raise PermissionError(f"another client has selected database {self.number}")

    def others(self) -> int:
        """How many other clients have selected the database; 0 if the server does not tell."""
        try:
            own, rows = self.client.client_id(), self.client.client_list()
        except redis.ResponseError:
            return 0
        return sum(row["db"] == str(self.number) and row["id"] != str(own) for row in rows)

    def volatile_keys_elsewhere(self) -> int:
        """Keys with a time to live in other databases, on which the cycle spends time too."""
        keyspace: dict[str, Any] = self.client.info("keyspace")
        return sum(
            int(row["expires"]) for name, row in keyspace.items() if name != f"db{self.number}"
        )

    def settings(self) -> dict[str, Any]:
        """``hz`` (effective), ``effort``, ``activerehashing``, ``version`` of the server."""
        info: dict[str, Any] = self.client.info("server")
        return {
            "hz": int(info.get("hz", 10)),
            "effort": int(self._config("active-expire-effort", "1")),
            "activerehashing": self._config("activerehashing", "yes") == "yes",
            "version": str(info.get("redis_version", "unknown")),
        }

    def _config(self, name: str, default: str) -> str:
        """A parameter's value; *default*, which is Redis's, if it must not or cannot be read."""
        try:
            return str(self.client.config_get(name).get(name, default))
        except redis.ResponseError:
            return default

    def measure_offset(self) -> None:
        """Learn how the server's clock differs from ours, to half a round trip."""
        best = None
        for _ in range(CLOCK_READINGS):
            before = self.clock.us()
            seconds, micros = self.client.time()
            after = self.clock.us()
            if best is None or after - before < best:
                best = after - before
                self.offset_us = seconds * 1_000_000 + micros - (before + after) // 2

    def server_us(self) -> int:
        """The server's Unix time in µs, by our clock."""
        return self.clock.us() + self.offset_us

    def sleep_until_us(self, us: int) -> None:
        """Sleep until the server's clock shows *us*."""
        self.clock.sleep(max(us - self.server_us(), 0) / 1_000_000)

    # -- keys --------------------------------------------------------------------------

    def write(self, deadlines_ms: Sequence[int], progress: Progress | None = None) -> int:
        """Write a key for each deadline (Unix ms). Returns the number of the first.

        ``PermissionError`` if somebody else has written to the database meanwhile.
        """
        first = self.written
        held = self.client.dbsize()
        total = len(deadlines_ms)
        for start in range(0, total, BATCH):
            pipeline = self.client.pipeline(transaction=False)
            for i, when in enumerate(deadlines_ms[start : start + BATCH], first + start):
                self.written = i + 1
                pipeline.set(f"{PREFIX}{i}", "x", pxat=when)
            pipeline.execute()
            if progress is not None:
                progress("write", min(start + BATCH, total), total)
        if self.client.dbsize() > held + total:
            raise PermissionError(f"somebody else writes to database {self.number}")
        return first

    def write_before_death(
        self, ttls_ms: Sequence[int], progress: Progress | None = None
    ) -> tuple[int, int]:
        """Write a key for each time to live, all counted from one instant (Unix ms).

        Returns the number of the first key and the instant, which lies ahead by as long as
        writing should take; if a key would have died before all were written, it is done
        again with more time. :class:`TimeoutError` after three tries.
        """
        shortest = min(ttls_ms)
        allowed_us = max(len(ttls_ms) * WRITE_US_PER_KEY, WRITE_US_LEAST)
        for _ in range(WRITE_TRIES):
            base_ms = (self.server_us() + allowed_us) // US_PER_MS
            first = self.write([base_ms + ttl for ttl in ttls_ms], progress)
            if self.server_us() < (base_ms + shortest - SLACK_MS) * US_PER_MS:
                return first, base_ms
            self.delete(range(first, self.written))
            allowed_us *= 4
        raise TimeoutError("keys could not be written before the first of them died")

    def delete(self, numbers: Sequence[int]) -> None:
        """Delete own keys by their numbers, those that are left."""
        for start in range(0, len(numbers), BATCH):
            self.client.delete(*[f"{PREFIX}{i}" for i in numbers[start : start + BATCH]])

    def clean_up(self) -> None:
        """Delete whatever is left of the keys written here."""
        # An interrupted call has left its connection in the middle of a reply.
        self.client.connection_pool.disconnect()
        if self.written and self.client.dbsize():
            self.delete(range(self.written))

    # -- watching -----------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """INFO stats."""
        stats: dict[str, Any] = self.client.info("stats")
        return stats

    def watch(
        self, poll_ms: float, origin_us: int, lead_ms: int, until_us: int
    ) -> Iterator[Sighting]:
        """Poll until no key is left or the server's clock has passed *until_us*.

        Polls lie on a grid of *poll_ms* that begins *lead_ms* before *origin_us*, from
        which times in the rows count; instants missed while waiting are left out.
        Counters count from the first poll.
        """
        poll_us = max(round(poll_ms * US_PER_MS), 1)
        grid = origin_us - lead_ms * US_PER_MS
        zero: tuple[int, int, int] | None = None
        now = self.server_us()
        while now <= until_us:
            due = grid + max(-(-(now - grid) // poll_us), 0) * poll_us
            self.sleep_until_us(due)
            sent = self.server_us()
            pipeline = self.client.pipeline(transaction=False)
            pipeline.dbsize()
            pipeline.info("stats")
            held, stats = pipeline.execute()
            now = self.server_us()
            counters = (
                int(stats["expired_keys"]),
                int(stats.get("expired_time_cap_reached_count", 0)),
                int(stats.get("expire_cycle_cpu_milliseconds", 0)),
            )
            zero = zero or counters
            expired, caps, cpu = (now_ - then for now_, then in zip(counters, zero, strict=True))
            yield Sighting(
                (sent - origin_us) / US_PER_MS,
                (now - origin_us) / US_PER_MS,
                held,
                expired,
                float(stats.get("expired_stale_perc", 0)) / 100,
                caps,
                cpu,
            )
            if held == 0:
                return


@contextmanager
def scratch_database(url: str) -> Iterator[ScratchDatabase]:
    """Borrow the empty database that *url* names, and leave it empty.

    ``ValueError`` if *url* is none or names no database number; ``PermissionError`` if the
    database may not be used; ``ConnectionError`` if the server cannot be reached or
    answers with an error.
    """
    check_url(url)
    number = database_number(url)
    try:
        with client_of(url) as client:
            scratch = ScratchDatabase(client, number)
            scratch.check()
            scratch.measure_offset()
            try:
                yield scratch
            finally:
                scratch.clean_up()
    except redis.RedisError as error:
        raise ConnectionError(f"{without_secrets(url)}: {error}") from None


def database_number(url: str) -> int:
    """The database number in *url*, which must be there: nobody's database 0 by accident."""
    number = client_of(url).connection_pool.connection_kwargs.get("db")
    if number is None:
        raise ValueError("the URL must name a database number, such as redis://localhost/9")
    return int(number)
