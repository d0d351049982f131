"""DEBUG SET-DISABLE-DENY-SCRIPTS."""

from __future__ import annotations

import pytest
import redis

import miniredis


def test_commands_not_meant_for_scripts_run_on_demand() -> None:
    r = miniredis.Redis(server=miniredis.Server(seed=1, enable_debug_command="yes"))
    script = "return redis.call('script', 'exists', 'x')"
    with pytest.raises(redis.ResponseError, match="not allowed from script"):
        r.eval(script, 0)
    assert r.execute_command("DEBUG", "SET-DISABLE-DENY-SCRIPTS", "1") == b"OK"
    assert r.eval(script, 0) == [0]
    assert r.execute_command("DEBUG", "SET-DISABLE-DENY-SCRIPTS", "0") == b"OK"
    with pytest.raises(redis.ResponseError, match="not allowed from script"):
        r.eval(script, 0)
