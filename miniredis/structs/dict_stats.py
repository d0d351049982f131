"""The layout of a dict in words: sizes, chains and how long they are.

Redis: ``dictGetStats()`` in dict.c.
"""

from __future__ import annotations

from collections import Counter

from miniredis.structs.dict import Dict, DictEntry
from miniredis.structs.float32 import float32, float32_ratio

DICT_STATS_VECTLEN = 50  # chains of this length less one, or longer, are not listed


def dict_get_stats(d: Dict) -> str:
    """One paragraph for the main table, and one for the target of a rehash. O(buckets + keys).

    Some lines, to explain them: with 5 keys in 8 buckets, two of them in one chain::

        different slots: 4                     buckets that hold anything
        avg chain length (counted): 1.25       keys met while walking / different slots
        avg chain length (computed): 1.25      keys as the table counts them / different slots
        Chain length distribution:
          0: 4 (50.00%)                        empty buckets, as a share of all
          1: 3 (37.50%)

    dict.c: dictGetStats()
    """
    text = _table_stats(d, 0)
    return text + _table_stats(d, 1) if d.is_rehashing() else text


def _table_stats(d: Dict, i: int) -> str:
    """dict.c: _dictGetStatsHt()"""
    table, used = d.ht_table[i], d.ht_used[i]
    name = "main hash table" if i == 0 else "rehashing target"
    heading = f"Hash table {i} stats ({name}):\n"
    if used == 0:
        return heading + "No stats available for empty dictionaries\n"
    lengths = Counter(_chain_length(head) for head in table)
    size = len(table)
    slots = size - lengths[0]
    counted = sum(length * buckets for length, buckets in lengths.items())
    lines = [
        f" table size: {size}",
        f" number of elements: {used}",
        f" different slots: {slots}",
        f" max chain length: {max(lengths)}",
        f" avg chain length (counted): {float32_ratio(counted, slots):.2f}",
        f" avg chain length (computed): {float32_ratio(used, slots):.2f}",
        " Chain length distribution:",
    ]
    for length in sorted(lengths):
        if length < DICT_STATS_VECTLEN - 1 and lengths[length]:
            percent = float32(float32_ratio(lengths[length], size) * 100)
            lines.append(f"   {length}: {lengths[length]} ({percent:.2f}%)")
    return heading + "".join(line + "\n" for line in lines)


def _chain_length(head: DictEntry | None) -> int:
    length = 0
    while head is not None:
        length += 1
        head = head.next
    return length
