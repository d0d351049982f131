"""The delay queue: times to the ms, crashes at every step, random schedules."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from typing import Any

import pytest
from redis.cluster import RedisCluster

from patterns import delay_queue as dq
from patterns.delay_queue import DelayQueue, DelayQueueNaive, Job, Timer
from tests.patterns.conftest import Ahead, Target
from tests.patterns.schedules import Actor, Chance, Scheduler, run_schedules

MS = 0.001


def queue_of(target: Target) -> tuple[DelayQueue, Timer]:
    queue = DelayQueue(target.conn, "q", target.clock)
    return queue, Timer(queue)


def test_a_job_goes_through_and_comes_whole(timed: Target) -> None:
    queue, timer = queue_of(timed)
    job = Job("mail", 42, 1_000, 5_000, {"to": "安娜", "tries": [1, 2.5, None]})
    assert queue.put(job) and len(queue.pool) == len(queue.buckets[2]) == 1
    timed.clock.sleep(1)
    assert timer.tick() == 1 and len(queue.ready("mail")) == 1
    assert queue.reserve("other") is None
    assert queue.reserve("mail") == job
    assert queue.finish(42) and not queue.finish(42)
    assert list(timed.conn.scan_iter()) == []


def test_ready_at_its_ms_and_not_before(timed: Target) -> None:
    queue, timer = queue_of(timed)
    for job_id, delay in enumerate((0, 1, 250)):
        queue.put(Job("t", job_id, delay, 1_000))
    seen = []
    for ms in range(300):
        timer.tick()
        while (job := queue.reserve("t")) is not None:
            queue.finish(job.id)
            seen.append((job.id, ms))
        timed.clock.sleep(MS)
    assert seen == [(0, 0), (1, 1), (2, 250)]


def test_comes_back_at_the_ms_after_its_time_to_run(timed: Target) -> None:
    queue, timer = queue_of(timed)
    queue.put(Job("t", 1, 0, 200))
    timer.tick()
    assert queue.reserve("t") is not None
    timed.clock.sleep(0.199)
    assert timer.tick() == 0 and queue.reserve("t") is None
    timed.clock.sleep(MS)
    assert timer.tick() == 1 and queue.reserve("t") is not None
    queue.finish(1)
    timed.clock.sleep(10)
    assert timer.tick() == 0


@pytest.mark.parametrize("state", ["delayed", "ready", "reserved"])
def test_a_deleted_job_never_comes(timed: Target, state: str) -> None:
    queue, timer = queue_of(timed)
    queue.put(Job("t", 1, 10, 200))
    if state != "delayed":
        timed.clock.sleep(1)
        timer.tick()
    if state == "reserved":
        queue.reserve("t")
    assert queue.delete(1)
    timed.clock.sleep(1)
    timer.tick()
    assert queue.reserve("t") is None


def test_an_id_put_again_does_not_come_early(timed: Target) -> None:
    """Its old entry in the ready queue is still there."""
    queue, timer = queue_of(timed)
    queue.put(Job("t", 1, 0, 200, "old"))
    timer.tick()
    queue.delete(1)
    queue.put(Job("t", 1, 5_000, 200, "new"))
    assert queue.reserve("t") is None
    timed.clock.sleep(5)
    timer.tick()
    assert queue.reserve("t") == Job("t", 1, 5_000, 200, "new")
    assert queue.reserve("t") is None


def test_a_put_can_be_repeated(target: Target) -> None:
    queue, timer = queue_of(target)
    assert queue.put(Job("t", 1, 0, 60_000)) and not queue.put(Job("t", 1, 0, 60_000))
    timer.tick()
    assert queue.reserve("t") is not None and queue.reserve("t") is None


def test_ten_buckets_and_batches(target: Target) -> None:
    queue, timer = queue_of(target)
    for job_id in range(1_050):
        queue.put(Job("t", job_id, 0, 60_000))
    assert [len(bucket) for bucket in queue.buckets] == [105] * 10
    assert Timer(queue, [3]).tick() == dq.BATCH
    assert timer.tick() == 905 and timer.tick() == 45
    assert {queue.reserve("t").id for _ in range(1_050)} == set(range(1_050))  # type: ignore[union-attr]


def test_reserve_waits(timed: Target) -> None:
    queue, _ = queue_of(timed)
    before = timed.clock.time()
    assert queue.reserve("t", timeout=2) is None
    assert 2 <= timed.clock.time() - before < 2.02


@pytest.mark.parametrize(("delay", "ttr"), [(-1, 1), (0, 0)])
def test_bad_times_are_told(delay: int, ttr: int) -> None:
    with pytest.raises(ValueError, match="delay_time must"):
        Job("t", 1, delay, ttr)


def test_a_skewed_clock_makes_nothing_early(timed: Target) -> None:
    for kind, early in ((DelayQueueNaive, True), (DelayQueue, False)):
        timed.conn.flushall()
        behind = kind(timed.conn, "q", Ahead(timed.clock, -60))
        behind.put(Job("t", 1, 30_000, 1_000))
        assert (Timer(behind).tick() == 1) is early


# -- crashes at every step ----------------------------------------------------------------------


def recovers(queue_kind: type[DelayQueue], timer_kind: type[Timer], who: str, step: int) -> bool:
    """Whether a job that was put, or whose put is repeated, comes after a crash at *step*."""
    scheduler = Scheduler()

    def queue_for(conn: Any) -> DelayQueue:
        return queue_kind(conn, "q", scheduler.clock)

    def put(actor: Actor) -> None:
        queue_for(actor.conn).put(Job("t", 1, 0, 1_000))

    def tick(actor: Actor) -> None:
        timer_kind(queue_for(actor.conn)).tick()

    def consume(actor: Actor) -> None:
        queue = queue_for(actor.conn)
        job = queue.reserve("t")
        assert job is not None
        queue.finish(job.id)

    bodies = {"put": put, "timer": tick, "consumer": consume}
    for name, body in bodies.items():
        crash_at = step if name == who else None
        stage = Scheduler.__new__(Scheduler)  # a scheduler for each part, on one server
        stage.__dict__.update(scheduler.__dict__, actors=[], _bodies={}, _waiting=[], _order=[])
        actor = stage.add(name, body, crash_at=crash_at)
        stage.run()
        if actor.crashed:
            break
    assert actor.name == who, f"{who} has no step {step}"
    queue = queue_for(scheduler.client())
    if who == "put":
        queue.put(Job("t", 1, 0, 1_000))  # nobody told its client that it was done
    for _ in range(3):
        scheduler.clock.sleep(1)
        Timer(queue).tick()
        if queue.reserve("t") is not None:
            return True
    return False


STEPS = {"put": 1, "timer": 13, "consumer": 2}  # commands of each part; the sound ones


@pytest.mark.parametrize(("who", "step"), [(w, s + 1) for w, n in STEPS.items() for s in range(n)])
def test_a_crash_at_any_step_loses_nothing(who: str, step: int) -> None:
    assert recovers(DelayQueue, Timer, who, step)


def test_naive_reserve_that_dies_loses_the_job() -> None:
    assert not recovers(DelayQueueNaive, Timer, "consumer", 3)


def test_naive_remove_first_that_dies_loses_the_job() -> None:
    lost = [
        step for step in range(1, 15)
        if not recovers(DelayQueue, dq.TimerRemoveFirstNaive, "timer", step)
    ]  # fmt: skip
    assert len(lost) == 1


def deliveries_with_two_timers(kind: type[Timer], order: str) -> int:
    scheduler = Scheduler(order=order)
    queue = DelayQueue(scheduler.client(), "q")
    queue.put(Job("t", 1, 0, 60_000))
    for name in "ab":
        scheduler.add(name, lambda a: kind(DelayQueue(a.conn, "q"), [1]).tick())
    scheduler.run()
    return len(queue.ready("t"))


def test_two_timers_push_a_job_twice_only_if_naive() -> None:
    assert deliveries_with_two_timers(dq.TimerPushFirstNaive, "aaabbb" + "abab") == 2
    for order in map("".join, itertools.product("ab", repeat=4)):
        assert deliveries_with_two_timers(Timer, order) == 1


# -- random schedules ---------------------------------------------------------------------------

STORM = Chance(latency=0.05, pause=0.03, pause_s=4, crash=0.02, skew_s=60)
JOBS, TTR_MS = 6, 1_500


def play(seed: int) -> None:
    scheduler = Scheduler(seed, STORM, decode_responses=bool(seed % 2))
    rng = scheduler.rng
    put_at: dict[int, int] = {}  # id -> µs; of puts that were confirmed
    jobs = {i: Job("t", i, rng.randrange(3_000), TTR_MS, i) for i in range(JOBS)}
    reserved: dict[int, list[int]] = {i: [] for i in jobs}
    over: dict[int, int] = {}  # id -> µs at which finish or delete was confirmed
    end = scheduler.now + 6

    def queue_for(actor: Actor) -> DelayQueue:
        return DelayQueue(actor.conn, "q", actor)

    def produce(actor: Actor) -> None:
        for job in jobs.values():
            assert queue_for(actor).put(job)
            put_at[job.id] = scheduler.now_us

    def turn_timer(actor: Actor) -> None:
        timer = Timer(queue_for(actor), rng.sample(range(10), 10))
        while scheduler.now < end:
            timer.tick()
            actor.sleep(0.4)

    def consume(actor: Actor) -> None:
        queue = queue_for(actor)
        while scheduler.now < end:
            job = queue.reserve("t")
            if job is None:
                actor.sleep(0.2)
                continue
            note(job)
            actor.sleep(rng.choice((0, 0.1, 3)))  # 3 s are more than its time to run
            if rng.random() < 0.5 and queue.finish(job.id):
                over[job.id] = scheduler.now_us

    def delete(actor: Actor) -> None:
        actor.sleep(1)
        if queue_for(actor).delete(0):
            over[0] = scheduler.now_us

    def note(job: Job) -> None:
        now = scheduler.now_us
        assert job == jobs[job.id]
        assert job.id not in over, "came after it was over"
        # A put that crashed was not confirmed, but no command of it may have run either.
        assert now // 1000 >= put_at[job.id] // 1000 + job.delay_time, "too early"
        if reserved[job.id]:
            assert now // 1000 >= reserved[job.id][-1] // 1000 + TTR_MS, "had its time to run"
        reserved[job.id].append(now)

    scheduler.add("producer", produce)
    for i in range(2):
        scheduler.add(f"timer {i}", turn_timer)
        scheduler.add(f"consumer {i}", consume)
    scheduler.add("deleter", delete)
    scheduler.run()

    # Whatever is not over is still there, once, and comes.
    queue = DelayQueue(scheduler.client(), "q", scheduler.clock)
    scheduler.clock.sleep(10)
    left: Counter[int] = Counter()
    for _ in range(2):
        Timer(queue).tick()
        while (job := queue.reserve("t")) is not None:
            left[job.id] += 1
    assert left == Counter(set(put_at) - set(over))


def test_random_schedules() -> None:
    run_schedules(play)


def test_the_schedules_catch_the_naive_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.DelayQueue", DelayQueueNaive)
    with pytest.raises(AssertionError):
        run_schedules(play, 20)


# -- threads, cluster, real time ------------------------------------------------------------------


def run_threads(target: Target, jobs: int, seconds: float) -> Counter[int]:
    """Two timers and three consumers in threads until all is done; what came how often."""
    done: Counter[int] = Counter()
    stop = threading.Event()

    def consume() -> None:
        queue = DelayQueue(target.new_client(), "q")
        while not stop.is_set():
            job = queue.reserve("t", timeout=0.05)
            if job is not None:
                done[job.id] += 1
                queue.finish(job.id)

    def tick() -> None:
        Timer(DelayQueue(target.new_client(), "q")).run(stop.is_set)

    threads = [threading.Thread(target=body) for body in (tick, tick, consume, consume, consume)]
    queue = DelayQueue(target.conn, "q")
    for thread in threads:
        thread.start()
    for job_id in range(jobs):
        queue.put(Job("t", job_id, job_id % 20, 60_000))
    deadline = time.monotonic() + seconds
    while len(queue.pool) and time.monotonic() < deadline:
        time.sleep(0.005)
    stop.set()
    for thread in threads:
        thread.join(10)
    return done


def test_threads_lose_and_duplicate_nothing() -> None:
    import miniredis

    server = miniredis.Server(seed=7)
    target = Target("threads", False, time, server.client)
    assert run_threads(target, 60, 60) == Counter(range(60))


@pytest.mark.slow
def test_in_real_time(real_time: Target) -> None:
    assert run_threads(real_time, 500, 60) == Counter(range(500))
    queue = DelayQueue(real_time.conn, "q")
    queue.put(Job("t", 1, 300, 500))
    start = time.monotonic()
    instants = []
    while len(instants) < 3:
        Timer(queue).tick()
        if queue.reserve("t") is not None:
            instants.append(time.monotonic() - start)
    assert [0.3 <= instants[0] < 2, 0.499 <= instants[1] - instants[0] < 2] == [True, True]


def test_in_a_cluster(cluster: RedisCluster) -> None:
    for name in ("q", "r", "s"):
        queue = DelayQueue(cluster, name)
        timer = Timer(queue)
        queue.put(Job("t", 7, 0, 60_000))
        queue.put(Job("t", 8, 60_000, 60_000))
        assert timer.tick() == 1
        job = queue.reserve("t")
        assert job is not None and job.id == 7 and queue.reserve("t") is None
        assert queue.finish(7) and queue.delete(8) and len(queue.pool) == 0
