"""How many nodes a radix tree of given keys has.

Streams are kept in a sorted list here, not in a tree, but XINFO STREAM tells the number
of nodes of the tree that Redis has. It follows from the keys alone, for a tree that is
compressed wherever it can be, as Redis's always is.

Example: the keys ``foobar``, ``footer`` and ``fox``. Nodes: the run ``fo`` (1), the branch
``o | x`` (2), below ``o`` the branch ``b | t`` (3), the runs ``ar`` (4) and ``er`` (5), and
three leaves: 8. The letter that leads from a branch to its child belongs to the branch.

Redis: numnodes in rax.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

KEY_BYTES = 16  # all keys are so long
ROOT_DEPTH = -1  # no letter leads to the root


def rax_num_nodes(keys: Sequence[int]) -> int:
    """Nodes of the tree of *keys*, different 16-byte numbers in ascending order. O(keys).

    Where two neighbouring keys part there is a branch. The stack holds the depths of the
    branches above the current key. A branch or leaf whose parent is more than one byte
    above it has a run of letters in between.
    """
    if not keys:
        return 1  # the root
    nodes = len(keys)
    path = [ROOT_DEPTH]
    for key, following in zip_longest(keys, keys[1:]):
        common = ROOT_DEPTH  # bytes that the two keys share; the last key closes all branches
        if following is not None:
            common = KEY_BYTES - (((key ^ following).bit_length() + 7) >> 3)
        child = KEY_BYTES
        while path[-1] > common:
            parent = path.pop()
            nodes += child - parent > 1
            child = parent
        if path[-1] < common:
            path.append(common)
            nodes += 1
        nodes += child - common > 1
    return nodes
