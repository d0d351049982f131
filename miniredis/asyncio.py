"""The client for asyncio: ``miniredis.asyncio.Redis`` is a ``redis.asyncio.Redis``."""

from __future__ import annotations

from miniredis.net.async_client import Redis

__all__ = ["Redis"]
