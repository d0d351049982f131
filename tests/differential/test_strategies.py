"""The strategies that a real server can follow give what it gives, command by command."""

from __future__ import annotations

from dataclasses import replace

import pytest

from miniredis import Redis
from miniredis.clock import FREE, VirtualClock
from miniredis.lab.strategies import strategy_server
from miniredis.lab.strategy_costs import StrategyCosts
from miniredis.lab.strategy_dbs import STRATEGIES, TimerWork
from miniredis.lab.workload import TtlDistribution, Workload
from tests.real.frozen import FrozenServer

WORKLOAD = Workload(
    keys=200,
    rate=400,
    duration_ms=5_000,
    reads=0.4,
    expires=0.1,
    persists=0.05,
    deletes=0.1,
    write_skew=0.5,
    ttls=TtlDistribution("exponential", 400, None),
)
FREE_COSTS = StrategyCosts(FREE, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(("name", "seed"), [("lazy", 1), ("lazy", 2), ("redis", 3), ("wheel", 4)])
def test_replies_and_what_is_held(frozen_server: FrozenServer, name: str, seed: int) -> None:
    """All answer as a real server; lazy only holds and has deleted just as many keys."""
    strategy = STRATEGIES[name]
    real = frozen_server.client()
    real.flushall()
    real.config_resetstat()
    real.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", int(strategy.cycle))
    try:
        server = strategy_server(strategy, FREE_COSTS, TimerWork(), seed)
        clock, ours = server.clock, Redis(server=server)
        assert isinstance(clock, VirtualClock)
        clock.advance_to(frozen_server.ms)
        start_ms = clock.ms()
        deleted_before = server.stat_expiredkeys
        for at_us, argv in replace(WORKLOAD, seed=seed).operations(start_ms):
            step = start_ms + at_us // 1000 - clock.ms()
            frozen_server.advance_ms(step)
            clock.advance(step)
            assert ours.execute_command(*argv) == real.execute_command(*argv), argv
            if name == "lazy":
                assert server.dbsize() == real.dbsize()
        assert server.stat_expiredkeys - deleted_before > 100
        if name == "lazy":
            assert server.stat_expiredkeys == real.info("stats")["expired_keys"]
    finally:
        real.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)
