"""Reading times to live from a live server, without changing anything on it."""

from __future__ import annotations

from collections.abc import Callable

import redis

from miniredis.net.scratch import without_password

SCAN_COUNT = 1000  # keys asked for in one step


def read_ttls(url: str, progress: Callable[[str, int, int], None] | None = None) -> list[int]:
    """The times to live in ms of all volatile keys of the database that *url* names.

    Only SCAN, PTTL and DBSIZE are sent. Keys that expire meanwhile, and persistent ones,
    are left out. ``ConnectionError`` with a plain text if the server cannot be reached or
    answers with an error; ``ValueError`` for a URL that is none.
    """
    client = redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=30)
    ttls: list[int] = []
    try:
        with client:
            total = client.dbsize()
            cursor, done = 0, 0
            while True:
                cursor, keys = client.scan(cursor=cursor, count=SCAN_COUNT)
                pipeline = client.pipeline(transaction=False)
                for key in keys:
                    pipeline.pttl(key)
                ttls.extend(ttl for ttl in pipeline.execute() if ttl > 0)
                done += len(keys)
                if progress is not None:
                    progress("read", min(done, total), total)
                if cursor == 0:
                    return ttls
    except redis.RedisError as error:
        raise ConnectionError(f"cannot read from {without_password(url)}: {error}") from error
