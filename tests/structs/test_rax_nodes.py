"""The number of nodes of a radix tree, against a tree that is built."""

from __future__ import annotations

import random

import pytest

from miniredis.structs.rax_nodes import KEY_BYTES, rax_num_nodes


def count(keys: list[bytes]) -> int:
    """Nodes of the tree of *keys*, which have the same length, built from the top."""
    if not keys[0]:
        return 1
    if len({key[0] for key in keys}) > 1:
        children = sorted({key[0] for key in keys})
        return 1 + sum(count([k[1:] for k in keys if k[0] == first]) for first in children)
    shared = 1
    while shared < len(keys[0]) and len({key[: shared + 1] for key in keys}) == 1:
        shared += 1
    return 1 + count([key[shared:] for key in keys])


@pytest.mark.parametrize("seed", range(50))
def test_against_a_tree(seed: int) -> None:
    rng = random.Random(seed)
    bits = rng.choice([3, 8, 12, 128])
    base = rng.getrandbits(128) >> bits << bits
    shift = rng.choice([0, 64, 100]) if bits < 28 else 0
    keys = sorted({base ^ rng.getrandbits(bits) << shift for _ in range(rng.randint(1, 60))})
    assert rax_num_nodes(keys) == count([key.to_bytes(KEY_BYTES, "big") for key in keys])


def test_empty_tree_is_its_root() -> None:
    assert rax_num_nodes([]) == 1
    assert rax_num_nodes([5]) == 2
