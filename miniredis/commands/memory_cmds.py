"""MEMORY: how many bytes keys would take in redis-server, and the server as a whole.

The model is in ``keyspace/memory_usage.py``, the sums are in ``server/info_memory.py``.

Redis: ``memoryCommand()`` in object.c.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from miniredis.commands.args import get_long_long, word
from miniredis.commands.table import command, container
from miniredis.errors import syntax_error
from miniredis.keyspace.memory_usage import OBJ_COMPUTE_SIZE_DEF_SAMPLES, memory_usage
from miniredis.reply import OK, Reply, Verbatim

if TYPE_CHECKING:
    from miniredis.server.client import Client

_ALL_SHARDS = "nondeterministic_output request_policy:all_shards response_policy:special"

container("memory", group="server", since="4.0.0", summary="Commands about memory.")


@command(
    "memory|usage",
    arity=-3,
    flags="readonly",
    keys=(2, 2, 1),
    access="RO",
    group="server",
    since="4.0.0",
    complexity="O(N) in the number of samples",
)
def memory_usage_command(c: Client, _: bytes, key: bytes, *args: bytes) -> Reply:
    """MEMORY USAGE key [SAMPLES count]

    Bytes that a key and its value take; of large values count elements are looked at, 0 for all.

    A key that is past its time and not yet deleted counts as any other.

    object.c: memoryCommand()
    """
    samples = OBJ_COMPUTE_SIZE_DEF_SAMPLES
    for i in range(0, len(args), 2):
        if word(args[i]) != b"samples" or i + 1 == len(args):
            raise syntax_error()
        samples = get_long_long(args[i + 1])
        if samples < 0:
            raise syntax_error()
    entry = c.db.dict.find(key)
    return None if entry is None else memory_usage(key, entry.val, samples or sys.maxsize)


@command("memory|stats", arity=2, tips=_ALL_SHARDS, group="server", since="4.0.0")
def memory_stats(c: Client, _: bytes) -> Reply:
    """MEMORY STATS

    What the memory of the server is used for.

    object.c: memoryCommand()
    """
    return c.server.memory_stats()


@command("memory|doctor", arity=2, tips=_ALL_SHARDS, group="server", since="4.0.0")
def memory_doctor(c: Client, _: bytes) -> Reply:
    """MEMORY DOCTOR

    What is unusual about the memory of the server, in words.

    object.c: getMemoryDoctorReport()
    """
    return Verbatim(c.server.memory_report())


@command(
    "memory|malloc-stats",
    arity=2,
    tips=_ALL_SHARDS,
    group="server",
    since="4.0.0",
    complexity="Depends on how much memory is allocated; here O(1)",
)
def memory_malloc_stats(c: Client, _: bytes) -> Reply:
    """MEMORY MALLOC-STATS

    The statistics of the allocator. Here is none, which Redis says so if built without jemalloc.

    object.c: memoryCommand()
    """
    return b"Stats not supported for the current allocator"


@command(
    "memory|purge",
    arity=2,
    tips="request_policy:all_shards response_policy:all_succeeded",
    group="server",
    since="4.0.0",
    complexity="Depends on how much memory is allocated; here O(1)",
)
def memory_purge(c: Client, _: bytes) -> Reply:
    """MEMORY PURGE

    Gives memory that the allocator keeps back to the system. Here none is kept.

    object.c: memoryCommand()
    """
    return OK


@command("memory|help", arity=2, flags="loading stale", group="server", since="4.0.0")
def memory_help(c: Client, _: bytes) -> Reply:
    """MEMORY HELP

    What MEMORY can tell.

    object.c: memoryCommand()
    """
    return c.help(
        ("DOCTOR", "What is unusual, in words."),
        ("MALLOC-STATS", "Statistics of the allocator."),
        ("PURGE", "Give back what the allocator keeps."),
        ("STATS", "What the memory is used for."),
        (
            "USAGE <key> [SAMPLES <count>]",
            "Bytes of a key and its value; of a large value <count> elements are",
            "looked at, 5 unless given, 0 for all.",
        ),
    )
