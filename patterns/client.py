"""What patterns call a client: redis-py's, of one server or of a cluster."""

from __future__ import annotations

from typing import TypeAlias

from redis import Redis
from redis.cluster import RedisCluster

#: For patterns whose keys share a hash tag, so that a cluster keeps them on one node.
AnyClient: TypeAlias = Redis | RedisCluster

__all__ = ["AnyClient"]
