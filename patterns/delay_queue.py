"""A delay queue: jobs that become ready at their time, and come back if not finished.

The parts, as they are usually drawn:

    put → JobPool (what the job is) + DelayBucket (when it is due)
    Timer: what is due goes from its DelayBucket into the ReadyQueue of its topic
    reserve: from the ReadyQueue to the consumer, and back into the DelayBucket, due when the
    job's time to run is over
    finish, delete: out of JobPool and DelayBucket

A job that is in the pool is therefore always in its bucket (it has a time) or in a ready
queue (it waits for a consumer). Each step moves it by one script, by the server's clock, so
neither a crash nor a skewed clock can lose it. That is delivery *at least once*: a consumer
that is slower than its time to run has a competitor, so work must bear being done twice.

All keys of a queue carry its hash tag, ``{name}``, and so are in one slot of a cluster.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from patterns.clock import Clock
from patterns.text import as_text

BUCKETS = 10  # a job is in the bucket of its id modulo so many
BATCH = 100  # jobs that a timer moves in one round of a bucket
POLL_S = 0.01  # between two looks of a timer, or of a consumer that waits
MS_PER_SECOND = 1_000


@dataclass(frozen=True)
class Job:
    """What is to be done, and when.

    *id* is a whole number that no other job of the queue has, *delay_time* and *ttr_time*
    (time to run) are ms, *message* is anything that JSON can say.
    """

    topic: str
    id: int
    delay_time: int
    ttr_time: int
    message: Any = None

    def __post_init__(self) -> None:
        if self.delay_time < 0 or self.ttr_time < 1:
            raise ValueError(
                f"delay_time must be 0 ms or more and ttr_time 1 ms or more,"
                f" got {self.delay_time} and {self.ttr_time}"
            )

    def to_json(self) -> str:
        """The same job always as the same text. ``TypeError`` for a message JSON has not."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        return cls(**json.loads(text))


class JobPool:
    """All jobs that are not finished: a hash, id → JSON."""

    def __init__(self, conn: Any, name: str) -> None:
        self.conn, self.key = conn, f"{{{name}}}:jobs"

    def get(self, job_id: int) -> Job | None:
        """The job, or None. O(1)."""
        text = self.conn.hget(self.key, job_id)
        return None if text is None else Job.from_json(text)

    def get_all(self, ids: Iterable[int]) -> list[Job]:
        """Those of *ids* that are there. O(ids)."""
        wanted = list(ids)
        found = self.conn.hmget(self.key, wanted) if wanted else []
        return [Job.from_json(text) for text in found if text is not None]

    def __len__(self) -> int:
        return int(self.conn.hlen(self.key))


class DelayBucket:
    """When jobs are due: a sorted set, id → Unix time in ms. One of ten."""

    def __init__(self, conn: Any, name: str, number: int) -> None:
        self.conn, self.key = conn, f"{{{name}}}:bucket:{number}"

    def due(self, now_ms: int) -> list[int]:
        """Ids that are due by then, the longest due first, one batch. O(log n + batch)."""
        ids = self.conn.zrangebyscore(self.key, "-inf", now_ms, start=0, num=BATCH)
        return [int(job_id) for job_id in ids]

    def __len__(self) -> int:
        return int(self.conn.zcard(self.key))


class ReadyQueue:
    """Ids of a topic's jobs that wait for a consumer: a list, first in first out."""

    def __init__(self, conn: Any, name: str, topic: str) -> None:
        self.conn, self.key = conn, f"{{{name}}}:ready:{topic}"

    def __len__(self) -> int:
        return int(self.conn.llen(self.key))


NOW_MS = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
"""

# KEYS: pool, bucket. ARGV: id, job, delay in ms. An id that is known is not put again, so a
# producer that has lost the reply can simply repeat its put.
PUT = (
    NOW_MS
    + """
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[3]), ARGV[1])
return 1
"""
)

# KEYS: pool, bucket, ready queue of the topic. ARGV: id, job as the timer has read it. All is
# asked again here: since then another timer may have moved the job, or a client deleted it.
MAKE_READY = (
    NOW_MS
    + """
local due = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not due or tonumber(due) > now then return 0 end
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('RPUSH', KEYS[3], ARGV[1])
return 1
"""
)

# KEYS: pool, ready queue, the ten buckets. An entry of the ready queue counts only if its job
# is in the pool and in no bucket: else the job was deleted since, and perhaps put anew.
RESERVE = (
    NOW_MS
    + """
while true do
    local id = redis.call('LPOP', KEYS[2])
    if not id then return false end
    local job = redis.call('HGET', KEYS[1], id)
    local bucket = KEYS[3 + id % (#KEYS - 2)]
    if job and not redis.call('ZSCORE', bucket, id) then
        local again = now + cjson.decode(job).ttr_time
        redis.call('ZADD', bucket, string.format('%.0f', again), id)
        return job
    end
end
"""
)


class DelayQueue:
    """The whole queue, as producers and consumers see it."""

    def __init__(self, conn: Any, name: str = "delay", clock: Clock = time) -> None:
        self.conn, self.name, self.clock = conn, name, clock
        self.pool = JobPool(conn, name)
        self.buckets = [DelayBucket(conn, name, number) for number in range(BUCKETS)]

    def bucket_of(self, job_id: int) -> DelayBucket:
        return self.buckets[job_id % BUCKETS]

    def ready(self, topic: str) -> ReadyQueue:
        return ReadyQueue(self.conn, self.name, topic)

    def put(self, job: Job) -> bool:
        """Make *job* ready in ``job.delay_time`` ms; False if its id is known. O(log n)."""
        keys = self.pool.key, self.bucket_of(job.id).key
        return bool(self.conn.eval(PUT, 2, *keys, job.id, job.to_json(), job.delay_time))

    def reserve(self, topic: str, timeout: float = 0) -> Job | None:
        """The next ready job of *topic*, or None after *timeout* seconds.

        It comes back after its time to run unless it is finished by then. O(log n).
        """
        keys = [self.pool.key, self.ready(topic).key, *(bucket.key for bucket in self.buckets)]
        deadline = self.clock.time() + timeout
        while True:
            text = self.conn.eval(RESERVE, len(keys), *keys)
            if text is not None:
                return Job.from_json(text)
            if self.clock.time() >= deadline:
                return None
            self.clock.sleep(POLL_S)

    def finish(self, job_id: int) -> bool:
        """The job is done and never comes again; False if it was not there. O(log n)."""
        return self.delete(job_id)

    def delete(self, job_id: int) -> bool:
        """The job is not to be done; False if it was not there. O(log n).

        Its entry in a ready queue stays and is passed over when its turn comes.
        """
        pipe = self.conn.pipeline(transaction=True)
        pipe.hdel(self.pool.key, job_id)
        pipe.zrem(self.bucket_of(job_id).key, job_id)
        return bool(pipe.execute()[0])


class Timer:
    """Moves what is due into the ready queues. Any number may run at once.

    *numbers* are the buckets it looks after, all unless given.
    """

    def __init__(self, queue: DelayQueue, numbers: Iterable[int] = range(BUCKETS)) -> None:
        self.queue, self.numbers = queue, list(numbers)

    def tick(self) -> int:
        """One round through the buckets; returns how many jobs became ready."""
        seconds, us = self.queue.conn.time()
        now_ms = seconds * MS_PER_SECOND + us // MS_PER_SECOND
        return sum(self.move_due(self.queue.buckets[n], now_ms) for n in self.numbers)

    def move_due(self, bucket: DelayBucket, now_ms: int) -> int:
        """Make a batch of one bucket ready. Stop it anywhere: the rest stays due."""
        queue, moved = self.queue, 0
        for job in queue.pool.get_all(bucket.due(now_ms)):
            keys = queue.pool.key, bucket.key, queue.ready(job.topic).key
            moved += queue.conn.eval(MAKE_READY, 3, *keys, job.id, job.to_json())
        return moved

    def run(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Tick until *stopped()* says so. Run it in a thread."""
        while not stopped():
            self.tick()
            self.queue.clock.sleep(POLL_S)


# -- the textbooks' version -----------------------------------------------------------------


class DelayQueueNaive(DelayQueue):
    """Each step in several commands, by the client's clock.

    How it fails. *put* that dies in the middle leaves a job without a time. *reserve* that
    dies after LPOP loses the job: it is in no bucket and in no queue. A client whose clock
    is ahead makes jobs ready too early.
    """

    def now_ms(self) -> int:
        return int(self.clock.time() * MS_PER_SECOND)

    def put(self, job: Job) -> bool:
        self.conn.hset(self.pool.key, job.id, job.to_json())
        self.conn.zadd(self.bucket_of(job.id).key, {job.id: self.now_ms() + job.delay_time})
        return True

    def reserve(self, topic: str, timeout: float = 0) -> Job | None:
        job_id = self.conn.lpop(self.ready(topic).key)
        job = None if job_id is None else self.pool.get(int(as_text(job_id)))
        if job is not None:
            self.conn.zadd(self.bucket_of(job.id).key, {job.id: self.now_ms() + job.ttr_time})
        return job


class TimerPushFirstNaive(Timer):
    """RPUSH, then ZREM. How it fails: two timers push the same job, which is done twice."""

    def move_due(self, bucket: DelayBucket, now_ms: int) -> int:
        jobs = self.queue.pool.get_all(bucket.due(now_ms))
        for job in jobs:
            self.queue.conn.rpush(self.queue.ready(job.topic).key, job.id)
            self.queue.conn.zrem(bucket.key, job.id)
        return len(jobs)


class TimerRemoveFirstNaive(Timer):
    """ZREM, and RPUSH by the one that removed it. How it fails: dies between them, job lost."""

    def move_due(self, bucket: DelayBucket, now_ms: int) -> int:
        moved = 0
        for job in self.queue.pool.get_all(bucket.due(now_ms)):
            if self.queue.conn.zrem(bucket.key, job.id):
                self.queue.conn.rpush(self.queue.ready(job.topic).key, job.id)
                moved += 1
        return moved
