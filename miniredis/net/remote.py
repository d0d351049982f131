"""Reading times to live from a live server, without changing anything on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

import redis

SCAN_COUNT = 1000  # keys asked for in one step
CONNECT_TIMEOUT, READ_TIMEOUT = 5, 30  # s
SCHEMES = ("redis", "rediss", "unix")
EXAMPLE = "redis://user:password@host:6379/0"

Progress = Callable[[str, int, int], None]


def read_ttls(url: str, progress: Progress | None = None) -> list[int]:
    """The times to live in ms of all volatile keys of the database that *url* names.

    Needs only SCAN and PTTL. DBSIZE is asked for the sake of *progress*, which hears of 0
    keys in all if the server does not say. Keys that expire meanwhile, and persistent ones,
    are left out. ``ConnectionError`` with a plain text if the server cannot be reached or
    answers with an error; ``ValueError`` for a URL that is none. No text holds a password.
    """
    check_url(url)
    shown = without_secrets(url)
    try:
        with client_of(url) as client:
            return _scan(client, progress)
    except redis.AuthenticationError as error:
        raise ConnectionError(f"cannot read from {shown}: {_refusal(url, error)}") from None
    except redis.RedisError as error:
        raise ConnectionError(f"cannot read from {shown}: {error}") from None


def check_url(url: str) -> None:
    """``ValueError`` unless *url* names a database of a Redis server.

    The texts quote nothing of it that may be a password, which may stand anywhere.
    """
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in SCHEMES:
        raise ValueError(f"a URL of a server begins with redis://, rediss:// or unix://: {EXAMPLE}")
    if "#" in url:
        raise ValueError("a # in a URL is written %23")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  (raises if it is none)
    except ValueError:
        raise ValueError(
            f"the URL has no valid host and port; it is written {EXAMPLE}, and of user name and "
            "password the letters / ? # @ : as %2F %3F %23 %40 %3A"
        ) from None
    for option in filter(None, parts.query.split("&")):
        if not re.match("[a-z_]+=", option):
            raise ValueError("after the ? of a URL options are written name=value; ? itself as %3F")
    if scheme != "unix" and not re.fullmatch(r"(/[0-9]*)?", unquote(parts.path)):
        what = "" if "@" in parts.path else f", not {parts.path[1:]!r}"
        raise ValueError(f"the database after the host must be a number{what}")


def without_secrets(url: str) -> str:
    """A URL that :func:`check_url` has let pass, without user name, password and options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def client_of(url: str) -> redis.Redis:
    """A client of the older protocol, which logs in by AUTH alone.

    ``ValueError`` for options that redis-py does not know.
    """
    try:
        client = redis.Redis.from_url(
            url,
            protocol=2,
            socket_connect_timeout=CONNECT_TIMEOUT,
            socket_timeout=READ_TIMEOUT,
        )
        client.connection_pool.make_connection()
    except TypeError as error:
        name = re.search(r"argument '(\w+)'", str(error))
        what = f"the option {name[1]}" if name else "one of the options"
        raise ValueError(f"{what} in the URL is not known") from None
    except ValueError:
        raise ValueError("one of the options in the URL has a wrong value") from None
    return client


def _refusal(url: str, error: redis.RedisError) -> str:
    parts = urlsplit(url)
    if parts.password is None and "password=" not in parts.query:
        return f"the server wants a password; give it as in {EXAMPLE}"
    return f"the server does not accept the user name or the password ({error})"


def _scan(client: redis.Redis, progress: Progress | None) -> list[int]:
    total = 0
    if progress is not None:
        total = _dbsize(client)
        progress("read", 0, total)
    ttls: list[int] = []
    cursor, done = 0, 0
    while True:
        cursor, keys = client.scan(cursor=cursor, count=SCAN_COUNT)
        pipeline = client.pipeline(transaction=False)
        for key in keys:
            pipeline.pttl(key)
        replies: list[Any] = pipeline.execute(raise_on_error=False)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
            if reply > 0:
                ttls.append(reply)
        done += len(keys)
        if progress is not None:
            progress("read", min(done, total), total)
        if cursor == 0:
            return ttls


def _dbsize(client: redis.Redis) -> int:
    """The number of keys, or 0 if this user may not ask."""
    try:
        return int(client.dbsize())
    except redis.AuthenticationError:
        raise
    except redis.ResponseError:
        return 0
