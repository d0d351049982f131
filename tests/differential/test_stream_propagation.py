"""What streams tell replicas, compared with a real server's append-only file.

Reading is told as XCLAIM, trimming in an exact form; so the file differs a lot from the
commands as they were sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from miniredis.net.resp import RequestParser
from tests.conftest import START_MS, missing
from tests.differential.pair import Pair, Step
from tests.differential.stream_scripts import STREAMS
from tests.differential.test_commands import parse
from tests.differential.test_streams import steps
from tests.real.frozen import FrozenServer

OPTIONS = ["--appendonly", "yes", "--appendfsync", "always"]
EXAMPLES = 60


class Stream:
    """Both streams, without what only tells about transactions and databases."""

    def __init__(self, frozen: FrozenServer) -> None:
        self.pair = Pair(frozen)
        [self.file] = Path(frozen.dir).glob("appendonlydir/*.incr.aof")
        self.mine: list[list[bytes]] = []

    def start(self) -> None:
        self.pair.start()
        self.mine = []
        self.pair.server.add_sink(lambda dbid, argv: self.mine.append(argv))
        self.size = self.file.stat().st_size

    def compare(self) -> None:
        parser = RequestParser()
        with self.file.open("rb") as file:
            file.seek(self.size)
            parser.feed(file.read())
        theirs = iter(parser.next_request, None)
        skip = (b"SELECT", b"MULTI", b"EXEC")
        assert [argv for argv in self.mine if argv[0] not in skip] == [
            argv for argv in theirs if argv[0] not in skip
        ]


@pytest.fixture(scope="module")
def streams(real_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stream]:
    try:
        server = FrozenServer(real_binary, tmp_path_factory.mktemp("aof"), START_MS, OPTIONS)
    except RuntimeError as error:
        missing(str(error))
    if server.version < (7, 0):
        server.stop()
        pytest.skip("the form compared here is that of Redis 7.0")
    yield Stream(server)
    server.stop()


@pytest.mark.parametrize("name", STREAMS)
def test_script(streams: Stream, name: str) -> None:
    streams.start()
    for line in STREAMS[name].strip().splitlines():
        streams.pair.step(parse(line.strip(), streams.pair.frozen.ms))
    assert streams.mine
    streams.compare()


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(script=st.lists(steps, min_size=30, max_size=30))
def test_random_scripts(streams: Stream, script: list[Step]) -> None:
    streams.start()
    for step in script:
        streams.pair.step(step)
    streams.compare()
