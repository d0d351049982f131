"""The arguments of a client: redis-py's own, checked as redis-py does where it does.

redis-py's parameters differ from version to version, so their names are asked for, not
listed; only those that mean something without a socket are passed on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlparse

import redis
from redis.connection import URL_QUERY_ARGUMENT_PARSERS, ConnectionPool

from miniredis.net.connection import InProcessConnection
from miniredis.server.server import Server

URL_SCHEME = "miniredis"

# Pool settings that mean something without a socket. A health check means nothing.
_POOL_SETTINGS = frozenset(
    [
        "db",
        "username",
        "password",
        "client_name",
        "encoding",
        "encoding_errors",
        "decode_responses",
        "protocol",
        "legacy_responses",
        "retry_on_error",
        "retry",
        "max_connections",
        "credential_provider",
        "redis_connect_func",
    ]
)
# Settings that would be wrong to ignore, and why they can't be obeyed.
_REFUSED = {
    "cache": "client-side caching is not simulated",
    "cache_config": "client-side caching is not simulated",
}
_WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_TEXTS = frozenset(["username", "password", "client_name", "encoding", "encoding_errors"])
_BOOLS = frozenset(["decode_responses", "single_connection_client"])


@cache
def redis_parameters(kind: type = redis.Redis) -> tuple[str, ...]:
    """The names of the parameters of redis-py's client *kind*, in order."""
    return tuple(inspect.signature(kind.__init__).parameters)[1:]  # type: ignore[misc]


def named_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], kind: type = redis.Redis
) -> dict[str, Any]:
    """All arguments of a client by name; ``TypeError`` as for any Python call."""
    names = redis_parameters(kind)
    if len(args) > len(names):
        raise TypeError(f"Redis() takes at most {len(names)} arguments, got {len(args)}")
    named = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name in named:
            raise TypeError(f"Redis() got {name!r} by position and by name")
        if name not in names:
            raise TypeError(f"Redis() has no argument {name!r}{_hint(name, names)}")
        named[name] = value
    for name, reason in _REFUSED.items():
        if named.get(name) is not None:
            raise ValueError(f"{name} cannot be used: {reason}")
    return named


def pool_settings(arguments: dict[str, Any], kind: type = redis.Redis) -> dict[str, Any]:
    """The settings for a pool of connections among *arguments* of a client *kind*."""
    settings = {k: v for k, v in arguments.items() if k in _POOL_SETTINGS}
    if settings.get("retry_on_error") is None:
        settings.pop("retry_on_error", None)  # which redis.Redis takes for none, unlike a pool
    if "maint_notifications_config" in redis_parameters(kind):
        # There is nothing to hear of, and its handlers would tie pool and connections into
        # cycles that only the garbage collector ends.
        from redis.maint_notifications import MaintNotificationsConfig

        settings["maint_notifications_config"] = MaintNotificationsConfig(enabled=False)
    return settings


def new_pool(server: Server, arguments: dict[str, Any]) -> ConnectionPool:
    """A pool of connections into *server* with the settings among *arguments*."""
    settings = pool_settings(arguments)
    return ConnectionPool(connection_class=InProcessConnection, server=server, **settings)


def checked_pool(
    pool: Any,
    server: Server | None,
    pool_class: type = ConnectionPool,
    connection_class: type = InProcessConnection,
) -> Any:
    """*pool* if it leads into *server*, or into any if that is None."""
    name = f"{pool_class.__module__.removesuffix('.connection')}.{pool_class.__name__}"
    if not isinstance(pool, pool_class):
        raise TypeError(f"connection_pool must be a {name}, not {pool!r}")
    kind = cast(Any, pool).connection_class
    if not (isinstance(kind, type) and issubclass(kind, connection_class)):
        raise ValueError(
            "connection_pool must be that of another miniredis client; this one makes "
            f"{kind.__name__} objects (use redis-py itself for a server on a socket)"
        )
    pool = cast(Any, pool)
    if server is not None and pool.connection_kwargs["server"] is not server:
        raise ValueError("connection_pool leads into another server than the one given as server")
    return pool


def url_arguments(url: str) -> dict[str, Any]:
    """The arguments that a URL ``miniredis://[user:password@]/[db][?option=value]`` stands for."""
    if not isinstance(url, str):
        raise TypeError(f"a URL is a str, not {url!r}")
    parts = urlparse(url)
    if parts.scheme != URL_SCHEME:
        raise ValueError(
            f"a miniredis URL begins with {URL_SCHEME}://, not {parts.scheme}:// "
            "(redis.Redis.from_url connects to real servers)"
        )
    arguments = {name: _option(name, values[0]) for name, values in parse_qs(parts.query).items()}
    path = unquote(parts.path).strip("/")
    if path:
        if not (path.isascii() and path.isdigit() and len(path) < 20):
            raise ValueError(f"the path of a miniredis URL is a database number, not {path!r}")
        arguments.setdefault("db", int(path))
    if parts.username:
        arguments["username"] = unquote(parts.username)
    if parts.password:
        arguments["password"] = unquote(parts.password)
    return arguments


def _option(name: str, text: str) -> Any:
    """The value of one option of a URL."""
    if name in _BOOLS:
        if text.lower() not in _WORDS:
            raise ValueError(f"{name} in a URL is one of {', '.join(_WORDS)}, not {text!r}")
        return _WORDS[text.lower()]
    if name in _TEXTS:
        return text
    parse = cast("Callable[[str], Any] | None", URL_QUERY_ARGUMENT_PARSERS.get(name))
    if parse is None or name not in redis_parameters():
        known = sorted(_TEXTS | _BOOLS | URL_QUERY_ARGUMENT_PARSERS.keys() & {*redis_parameters()})
        raise ValueError(f"a miniredis URL has no option {name!r}{_hint(name, known)}")
    try:
        return parse(text)
    except (TypeError, ValueError):
        raise ValueError(f"Invalid value for {name!r} in connection URL: {text!r}") from None


def _hint(name: str, known: Iterable[str]) -> str:
    import difflib  # slow to import, and only for a mistake

    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""
