"""Valkey, whose order is not predicted: how fast it deletes and what it leaves.

The order of keys inside its buckets is not simulated, so single keys cannot be compared. The
share of dead keys under a steady load and the number left after each cron can.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from miniredis import Server, VirtualClock
from miniredis.clock import FREE
from miniredis.lab.engines import SteadyLoad, mean, steady_shares
from tests.differential.layout import CRON_MS
from tests.differential.versions import frozen_version
from tests.real.frozen import FrozenServer
from tests.real.raw import RawClient

KEYS = 20_000
CRONS = 6


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrozenServer]:
    with frozen_version("valkey-8.1", tmp_path_factory) as frozen:
        yield frozen


def test_the_steady_share_of_dead_keys(valkey: FrozenServer) -> None:
    """Within one point; a run of another seed differs by as much as half a point."""
    ask = RawClient(valkey.port)
    ask(b"FLUSHALL")
    valkey.advance_ms((valkey.next_cron_us - valkey.us) // 1000 - 1)
    load = SteadyLoad(
        lambda argv: ask(*argv), valkey.advance_ms, lambda: int(ask(b"DBSIZE")[1:]), valkey.ms
    )
    real = mean(list(load.shares()))
    simulated, _ = steady_shares("valkey-9", cost=FREE)
    ask.close()
    assert 0.05 < real < 0.5
    assert simulated == pytest.approx(real, abs=0.01)


def test_how_many_keys_are_left_after_each_cron(valkey: FrozenServer) -> None:
    """Of keys that all die at once, and of keys half of which die.

    Where every other key lives, one window in 5,000 finds no more than two dead by chance and
    ends the cycle: one cron in ten, as a cron takes 500 of them. So there the first crons may
    differ, and only what is left in the end is compared.
    """
    ask = RawClient(valkey.port)
    for lives in (0, KEYS // 2):
        ask(b"FLUSHALL")
        valkey.advance_ms((valkey.next_cron_us - valkey.us) // 1000 - 1)
        clock = VirtualClock(valkey.ms)
        server = Server(clock, seed=1, cost=FREE, expire_engine="valkey-9")
        c = server.create_client()
        dies_at = valkey.ms + 2000
        for i in range(KEYS):
            when = dies_at + (10**6 if i < lives else 0)
            command = [b"SET", b"key:%d" % i, b"v", b"PXAT", b"%d" % when]
            ask(*command)
            server.process_command(c, command)
        valkey.advance_ms(2000)
        clock.advance(2000)
        for cron in range(CRONS):
            valkey.advance_ms(CRON_MS)
            clock.advance(CRON_MS)
            left = int(ask(b"DBSIZE")[1:])
            if not lives or cron >= CRONS // 2:
                assert server.dbsize() == pytest.approx(left, abs=0.03 * KEYS), (lives, cron)
        assert left <= lives * 1.25
    ask.close()
