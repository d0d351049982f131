"""The benchmark of patterns knows all of them, and its operations run."""

from __future__ import annotations

import pytest

import miniredis
from benchmarks.patterns import MAKERS, measure, present
from patterns import PATTERNS


def test_every_pattern_is_measured() -> None:
    assert list(MAKERS) == list(PATTERNS)


@pytest.mark.parametrize("name", present())
def test_operations_run(name: str) -> None:
    clients = {"simulator": miniredis.Server(seed=7).client()}
    found = list(measure(name, clients, rounds=1, calls=2))
    assert found and all(rates["simulator"] > 0 for _, rates in found)
