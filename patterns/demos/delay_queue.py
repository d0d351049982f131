"""Orders that are cancelled if not paid in time: jobs that come, come again, and never come."""

from __future__ import annotations

from patterns.delay_queue import DelayQueue, Job, Timer
from patterns.demos.stage import PREFIX, Stage, clear

NAME = f"{PREFIX}delay"
TOPIC = "cancel order"
END_S = 6.0
STEP_S = 0.1


def run(stage: Stage) -> list[tuple[float, int]]:
    """Four orders; returns when which of their jobs came, in seconds."""
    conn = stage.new_client()
    clear(conn, f"*{NAME}*")
    queue = DelayQueue(conn, NAME, stage.clock)
    timer = Timer(queue)
    for order, delay_ms in ((1, 1_000), (2, 2_000), (3, 3_000), (4, 2_000)):
        queue.put(Job(TOPIC, order, delay_ms, 1_500, {"order": order}))
        stage.say(f"order {order} is to be cancelled in {delay_ms} ms")
    came: list[tuple[float, int]] = []
    paid = crashed = False
    while stage.now < END_S:
        if stage.now >= 1.5 and not paid:
            paid = queue.delete(4)
            stage.say("order 4 is paid: its job is deleted")
        timer.tick()
        while (job := queue.reserve(TOPIC)) is not None:
            came.append((stage.now, job.id))
            if job.id == 2 and not crashed:
                crashed = True
                stage.say("job 2 is ready, and its consumer has crashed")
                continue
            queue.finish(job.id)
            stage.say(f"job {job.id} is ready: order {job.message['order']} is cancelled")
        stage.clock.sleep(STEP_S)
    stage.say(f"jobs left: {len(queue.pool)}")
    clear(conn, f"*{NAME}*")
    return came
