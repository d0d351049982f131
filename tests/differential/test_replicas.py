"""What a replica serves and keeps: the same as a real replica of a real primary.

The line between the two takes the same time on both sides, by the frozen clock.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import missing
from tests.differential.pair import Step
from tests.differential.replica_pair import PRIMARY, REPLICA, ReplicaPair
from tests.differential.test_commands import parse
from tests.differential.test_state_machine import command, commands
from tests.real.servers import version_of

EXAMPLES = 100 if os.environ.get("CI") else 25
STEPS = 40

walks = st.one_of(
    command(b"SCAN", b"0", b"COUNT", b"100"),
    command(b"KEYS", b"*"),
)
steps = st.one_of(
    st.tuples(st.just(PRIMARY), commands),
    st.tuples(st.just(PRIMARY), commands),
    st.tuples(st.just(REPLICA), commands),
    st.tuples(st.just(REPLICA), walks),
    st.sampled_from([1, 2, 49, 50, 99, 100, 101, 500, 1000]),
)


@pytest.fixture(scope="module")
def pair(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaPair]:
    if version_of(real_binary) < (7, 0):
        pytest.skip("replicas are compared with those of Redis 7.0")
    try:
        pair = ReplicaPair(real_binary, tmp_path_factory.mktemp("frozen"))
    except RuntimeError as error:
        missing(str(error))
    yield pair
    pair.stop()


def run(pair: ReplicaPair, script: str) -> list[bytes]:
    """Lines as in command_scripts.py; ``b:`` is said to the replica. The replies."""
    return [pair.step(parse(line.strip(), pair.primary.ms)) for line in script.strip().splitlines()]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    script=st.lists(steps, min_size=STEPS, max_size=STEPS),
    delay_ms=st.sampled_from([0, 1, 30, 150, 1200]),
    writable=st.booleans(),
    active=st.booleans(),
)
def test_random_scripts(
    pair: ReplicaPair, script: list[Step], delay_ms: int, writable: bool, active: bool
) -> None:
    # Which of its own keys a writable replica looks at is chance; see below.
    pair.start(delay_ms, writable, active and not writable)
    for step in script:
        pair.step(step)
    pair.compare_all()
    pair.step(2500)
    pair.compare_all()
