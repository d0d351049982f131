"""The Bloom filter: no false negative, its error rate on real words, its memory."""

from __future__ import annotations

import lzma
import math
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from redis.cluster import RedisCluster

import miniredis
from patterns.bloom import MAX_BITS, BloomFilter, BloomFilterNaive, Parameters
from tests.patterns.conftest import Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

DATA = Path(__file__).parent / "data"
ADDED, ERROR_RATE = 100_000, 0.01


def words() -> list[str]:
    """English words of the list SCOWL, see words.copyright; every fourth moved to the end."""
    every = lzma.decompress((DATA / "words.txt.xz").read_bytes()).decode().split()
    return [w for i, w in enumerate(every) if i % 4] + every[::4]


def test_parameters() -> None:
    assert Parameters.of(1_000, 0.01) == Parameters(9_593, 7, 1_000, 0.01)
    assert Parameters.of(1_000, 0.01).memory_bytes == 1_200
    assert Parameters.of(1, 0.99).hashes == 1
    for expected, rate in ((0, 0.1), (10, 0), (10, 1), (10, float("nan"))):
        with pytest.raises(ValueError, match="expects 1 item"):
            Parameters.of(expected, rate)
    with pytest.raises(ValueError, match="a Redis string has 4,294,967,296"):
        Parameters.of(MAX_BITS, 0.01)


def test_positions_are_the_same_in_every_process() -> None:
    code = (
        "from patterns.bloom import Parameters;"
        "print(Parameters.of(100, 0.01).positions('安娜'), hash('安娜'))"
    )
    seen = []
    for seed in "12":
        run = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        seen.append(run.stdout.rsplit(" ", 1))
    assert seen[0][0] == seen[1][0] and seen[0][1] != seen[1][1]
    assert seen[0][0] == str(Parameters.of(100, 0.01).positions("安娜".encode()))


def test_a_filter(target: Target) -> None:
    bloom = BloomFilter(target.conn, "seen")
    with pytest.raises(LookupError, match="try_init"):
        bloom.add("ann")
    assert bloom.try_init(1_000, 0.001) and not bloom.try_init(5, 0.5)
    other = BloomFilter(target.new_client(), "seen")
    assert other.parameters == Parameters.of(1_000, 0.001)
    assert bloom.approximate_count() == 0 and not bloom.contains("ann")
    assert bloom.add("ann") and not other.add(b"ann")
    assert other.contains("ann") and not other.contains("ben")
    assert bloom.add_many(["ben", "cid", "ann"]) == 2
    assert other.contains_many(["ann", "dot", "cid"]) == [True, False, True]
    assert other.contains_many([]) == [] and bloom.approximate_count() == 3
    assert target.conn.strlen("{seen}:bits") == bloom.parameters.memory_bytes
    bloom.delete()
    assert list(target.conn.scan_iter()) == []


def test_a_full_filter_says_yes_to_all(target: Target) -> None:
    bloom = BloomFilter(target.conn, "seen")
    bloom.try_init(2, 0.5)
    bloom.add_many([str(i) for i in range(100)])
    assert bloom.contains("x") and 0 < bloom.approximate_count() < 100


def test_clients_that_disagree_find_nothing(target: Target) -> None:
    items = [str(i) for i in range(100)]
    BloomFilterNaive(target.conn, "naive", 1_000, 0.01).add_many(items)
    assert not all(BloomFilterNaive(target.conn, "naive", 1_000, 0.001).contains_many(items))
    for expected, rate in ((1_000, 0.01), (1_000, 0.001)):
        bloom = BloomFilter(target.new_client(), "sound")
        bloom.try_init(expected, rate)
        bloom.add_many(items)
        assert all(bloom.contains_many(items))


def test_an_init_forgets_bits_without_parameters(target: Target) -> None:
    target.conn.set("{seen}:bits", b"\xff" * 5_000)
    bloom = BloomFilter(target.conn, "seen")
    bloom.try_init(1_000, 0.01)
    assert not bloom.contains("x")
    assert target.conn.strlen("{seen}:bits") == 1_200


@pytest.mark.parametrize("timed", [("virtual", False), ("real", False)], indirect=True)
def test_a_hundred_thousand_words(timed: Target) -> None:
    every = words()
    inside, outside = every[:ADDED], every[ADDED:]
    assert len(set(every)) == len(every) and len(outside) > 30_000
    bloom = BloomFilter(timed.conn, "words")
    bloom.try_init(ADDED, ERROR_RATE)
    new = bloom.add_many(inside)
    assert all(bloom.contains_many(inside)), "a false negative"
    wrong = sum(bloom.contains_many(outside)) / len(outside)
    sigma = math.sqrt(ERROR_RATE * (1 - ERROR_RATE) / len(outside))
    assert ERROR_RATE / 2 < wrong <= ERROR_RATE + 3 * sigma
    assert ADDED * (1 - ERROR_RATE) < new <= ADDED
    assert bloom.approximate_count() == pytest.approx(ADDED, rel=0.01)
    memory = bloom.parameters.memory_bytes
    assert memory == 119_912 == timed.conn.strlen("{words}:bits")
    if timed.name.startswith("real"):
        assert memory < timed.conn.memory_usage("{words}:bits") < memory * 1.1


STORM = Chance(latency=0.01, pause=0.02, pause_s=1, crash=0.03, skew_s=60)


def play(seed: int) -> None:
    """Clients that all make the filter, each as it likes, add and ask; nothing is missed."""
    scheduler = Scheduler(seed, STORM, decode_responses=bool(seed % 2))
    rng = scheduler.rng
    added: set[str] = set()

    def client(actor: Actor) -> None:
        bloom = BloomFilter(actor.conn, "seen")
        bloom.try_init(rng.choice((10, 20, 40)), rng.choice((0.1, 0.01)))
        for _ in range(4):
            item = rng.choice("abcdefghij")
            if rng.random() < 0.6:
                new = bloom.add(item)
                assert not (new and item in added), "new twice"
                added.add(item)
            else:
                was = item in added
                assert bloom.contains(item) or not was, "a false negative"

    for i in range(3):
        scheduler.add(f"client {i}", client)
    scheduler.run()
    bloom = BloomFilter(scheduler.client(), "seen")
    assert not added or all(bloom.contains_many(sorted(added)))


def test_random_schedules() -> None:
    run_schedules(play)


def test_threads_miss_nothing_and_are_told_new_once() -> None:
    server, new = miniredis.Server(seed=7), []
    items = [str(i) for i in range(60)]

    def add() -> None:
        bloom = BloomFilter(server.client(), "seen")
        bloom.try_init(1_000, 1e-6)
        new.append(sum(bloom.add(item) for item in items))

    threads = [threading.Thread(target=add) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sum(new) == 60 and len(new) == 5
    assert all(BloomFilter(server.client(), "seen").contains_many(items))


def test_in_a_cluster(cluster: RedisCluster) -> None:
    for name in ("x", "y", "z"):
        bloom = BloomFilter(cluster, name)
        assert bloom.try_init(100, 0.01) and not bloom.try_init(100, 0.01)
        assert bloom.add("ann") and not bloom.add("ann")
        assert bloom.add_many(["a", "b"]) == 2
        assert bloom.contains("ann") and bloom.contains_many(["a", "-", "b"]) == [True, False, True]
        assert bloom.approximate_count() == 3
        bloom.delete()
