"""lab/calibration.py, lab/costs.py: a cost model from measured times, and its file."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from miniredis.clock import CostModel
from miniredis.keyspace.expire import COLD_FOR_US
from miniredis.lab.calibration import (
    WINDOW_KEYS,
    Measurements,
    Plan,
    calibrated_file,
    fit,
    fit_rehash,
    warm_surcharge,
)
from miniredis.lab.costs import COST_FIELDS, cost_toml, read_cost
from miniredis.net.calibrate import CycleWork, DisturbedError, RehashWork, Rounds
from miniredis.net.scratch import scratch_database
from miniredis.structs.dict import next_power
from tests.real.servers import RealServer

LIMIT_US = 25_000
TRUTH = CostModel(
    sampled_ns=60,
    deleted_ns=400,
    missed_ns=500,
    cold_ns=550,
    cached_buckets=40_000,
    rehash_entry_ns=200,
    rehash_empty_ns=4,
)


def work(cost: CostModel, keys: int, dead_share: float, cold: bool) -> CycleWork:
    """What a server of *cost* would count while such a table is deleted."""
    buckets = next_power(keys)
    visit = buckets / keys * cost.bucket_ns + (cost.window_ns + cost.clock_read_ns) / WINDOW_KEYS
    beside = (cost.sampled_ns + visit) / dead_share
    warm_ns = cost.deletion_ns(buckets) + beside
    if not cold:
        ns = warm_ns
    else:
        # Of a time limit's length some is cold; what is deleted in each part adds up.
        share = COLD_FOR_US / LIMIT_US
        cold_ns = cost.deletion_ns(buckets, cold=True) + beside
        ns = 1 / (share / cold_ns + (1 - share) / warm_ns)
    deleted = 100_000_000  # so many that rounding to ms does not count
    return CycleWork(keys, dead_share, deleted, round(deleted * ns / 1_000_000))


def measured(cost: CostModel) -> Measurements:
    full = 1.582 * cost.rehash_empty_ns + 1.582 * cost.rehash_entry_ns
    rehash = RehashWork(full, 7.0 * cost.rehash_empty_ns + 0.6 * cost.rehash_entry_ns, 0.08)
    return Measurements(
        small=work(cost, 10_000, 1.0, False),
        half=work(cost, 10_000, 0.5, False),
        middle=work(cost, 100_000, 1.0, True),
        large=work(cost, 1_000_000, 1.0, True),
        rehash=rehash,
        slow_limit_us=LIMIT_US,
    )


def test_fit_finds_the_costs_that_made_the_measurements() -> None:
    found = fit(measured(TRUTH)).cost
    assert found.deleted_ns == pytest.approx(TRUTH.deleted_ns, abs=3)
    assert found.sampled_ns == pytest.approx(TRUTH.sampled_ns, abs=3)
    assert found.missed_ns == pytest.approx(TRUTH.missed_ns, rel=0.03)
    assert found.cold_ns == pytest.approx(TRUTH.cold_ns, rel=0.03)
    assert found.cached_buckets == pytest.approx(TRUTH.cached_buckets, rel=0.05)


def test_what_cannot_be_measured_is_the_default_and_said_to_be() -> None:
    result = fit(replace(measured(TRUTH), rehash=None))
    default = CostModel()
    assert result.cost.rehash_entry_ns == default.rehash_entry_ns
    assert {"rehash_entry_ns", "rehash_empty_ns", "window_ns"} <= result.assumed
    assert "deleted_ns" not in result.assumed


def test_noise_in_which_sampling_drowns_leaves_the_default() -> None:
    noisy = measured(TRUTH)
    result = fit(replace(noisy, half=replace(noisy.half, cpu_ms=noisy.small.cpu_ms)))
    assert "sampled_ns" in result.assumed
    assert result.cost.sampled_ns == CostModel().sampled_ns


def test_a_large_table_that_is_cheaper_than_a_middle_one_gives_no_negative_cost() -> None:
    odd = measured(TRUTH)
    cost = fit(replace(odd, large=replace(odd.large, cpu_ms=odd.small.cpu_ms // 2))).cost
    assert cost.missed_ns == 0 and cost.cached_buckets == 0


def test_rehash_steps_of_two_fills_give_two_costs() -> None:
    # A full table: a step passes e/(e-1) = 1.58 buckets and moves as many entries. One with
    # an entry in every tenth bucket: 6.6 buckets, ten at most, and 0.66 entries.
    costs = fit_rehash(RehashWork(1.582 * 4 + 1.582 * 200, 6.642 * 4 + 0.6642 * 200, 0.1))
    assert costs is not None
    empty, entry = costs
    assert entry == pytest.approx(200, abs=2)
    assert empty == pytest.approx(4, abs=1)
    assert fit_rehash(RehashWork(0.0, 50.0, 0.1)) is None


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "cost.toml"
    path.write_text(cost_toml(TRUTH, {"server": {"address": 'a "b" \\ c', "hz": 10}}))
    assert read_cost(path) == TRUTH
    assert tomllib.loads(path.read_text())["server"]["address"] == 'a "b" \\ c'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "is not TOML"),
        ("[other]\n", "has no table"),
        ("[cost]\nprice = 1\n", "has no 'price'; it takes clock_read_ns"),
        ("[cost]\ndeleted_ns = 1.5\n", "whole number"),
        ("[cost]\ndeleted_ns = -1\n", "negative"),
        ("cost = 3\n", "has no table"),
    ],
)
def test_a_wrong_file_is_named_with_its_fault(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "cost.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_cost(path)


SMALL_PLAN = Plan(
    small=Rounds(300),
    half=Rounds(300, dead_share=0.5, rounds=2),
    middle=Rounds(3000),
    large=Rounds(10_000),
)


def test_calibrating_a_real_server_leaves_it_as_it_was(
    real_server: RealServer, tmp_path: Path
) -> None:
    client = real_server.client()
    client.set("mine", "x")
    before = client.config_get("*")
    with scratch_database(f"redis://127.0.0.1:{real_server.port}/3") as scratch:
        text = calibrated_file(scratch, "under test", SMALL_PLAN)
    path = tmp_path / "cost.toml"
    path.write_text(text)
    read_cost(path)  # so few keys cost less than the ms that the server counts
    content = tomllib.loads(text)
    assert tuple(content["cost"]) == COST_FIELDS
    assert content["server"]["hz"] == 10
    assert content["measured"]["half"]["deleted"] == 300
    assert content["measured"]["large"]["keys"] == 10_000
    assert client.config_get("*") == before
    assert client.info("keyspace").keys() == {"db0"} and client.get("mine") == b"x"


def test_keys_that_expire_elsewhere_would_spoil_the_measurement(real_server: RealServer) -> None:
    real_server.client().set("session", "x", ex=3600)
    url = f"redis://127.0.0.1:{real_server.port}/3"
    with (
        scratch_database(url) as scratch,
        pytest.raises(DisturbedError, match="hold 1 key with a time to live"),
    ):
        calibrated_file(scratch, "under test", SMALL_PLAN)


@pytest.mark.parametrize(("mean", "near"), [(0.0, 0.0), (300.0, 400.0), (300.0, 300.0)])
def test_no_surcharge_where_a_large_table_cost_no_more(mean: float, near: float) -> None:
    assert warm_surcharge(mean, near, cold_share=0.2, ratio=1.1) == 0
