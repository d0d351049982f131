"""What a replica appends to its own file: command for command what a real replica appends.

A replica tells its own replicas nothing, it passes its primary's stream on. Its file is
its own: the primary's commands as they came, and what its clients change if they may.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from miniredis.server.command_stream import AppendOnlyStream
from tests.conftest import missing
from tests.differential.pair import Step
from tests.differential.replica_pair import REPLICA, TRIES, ReplicaPair, info
from tests.differential.test_replicas import run, steps
from tests.real.servers import version_of
from tests.real.streams import AofReader

EXAMPLES = 100 if os.environ.get("CI") else 25
STEPS = 40


class FilePair(ReplicaPair):
    """Both replicas write a file from the first ``start`` on."""

    def begin_file(self) -> None:
        self.start()
        for name, value in ((b"appendfsync", b"always"), (b"appendonly", b"yes")):
            self.admins[REPLICA](b"CONFIG", b"SET", name, value)
        for _ in range(TRIES):
            state = info(self.admins[REPLICA], b"persistence")
            busy = (state[b"aof_rewrite_in_progress"], state[b"aof_rewrite_scheduled"])
            if busy == (b"0", b"0"):
                break
            self.step(100)
        else:
            raise RuntimeError("the replica does not finish its file")
        self.file = AofReader(self.replica)

    def start(self, delay_ms: int = 0, writable: bool = False, active: bool = True) -> None:
        super().start(delay_ms, writable, active)
        stream = self.servers[REPLICA].append_only_stream()
        assert isinstance(stream, AppendOnlyStream)
        stream.selected_db = 0  # there the last FLUSHALL was
        self.stream = stream
        if hasattr(self, "file"):
            self.file.new()

    def compare_file(self) -> list[str]:
        real, mine = self.file.new(), list(self.stream)
        self.stream.clear()
        assert mine == real
        return [b" ".join(argv).decode("latin-1") for argv in mine]


@pytest.fixture(scope="module")
def pair(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilePair]:
    if version_of(real_binary) < (7, 0):
        pytest.skip("replicas are compared with those of Redis 7.0")
    try:
        pair = FilePair(real_binary, tmp_path_factory.mktemp("frozen"))
    except RuntimeError as error:
        missing(str(error))
    pair.begin_file()
    yield pair
    pair.file.close()
    pair.stop()


def test_what_a_replica_writes(pair: FilePair) -> None:
    pair.start(delay_ms=20, writable=True)
    run(
        pair,
        """
        SET a 1 PX 100
        MULTI
        SELECT 1
        INCR n
        EXPIRE n 100
        EXEC
        b: SET own 1 PX 30
        @25
        b: SELECT 1
        b: INCR n
        PUBLISH x y
        @200
        """,
    )
    written = pair.compare_file()
    assert [line.split(" PX")[0] for line in written] == [
        "SET own 1",  # first, because the link is slow
        "SET a 1",
        *("SELECT 1", "MULTI", "INCR n"),
        written[5],  # PEXPIREAT n, and when
        *("EXEC", "INCR n"),
        *("SELECT 0", "DEL own", "DEL a"),
    ]
    assert written[5].startswith("PEXPIREAT n ")


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    script=st.lists(steps, min_size=STEPS, max_size=STEPS),
    delay_ms=st.sampled_from([0, 1, 30, 150]),
    writable=st.booleans(),
    active=st.booleans(),
)
def test_random_scripts(
    pair: FilePair, script: list[Step], delay_ms: int, writable: bool, active: bool
) -> None:
    pair.start(delay_ms, writable, active and not writable)
    for step in script:
        pair.step(step)
    pair.step(500)
    pair.compare_file()
