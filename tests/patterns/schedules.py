"""Several clients in virtual time, interleaved at every command, by chance or by hand.

How it works. Each client is a thread that runs unmodified code of a pattern. Only one thread
runs at any time: the one that has the baton. Before each command, and when the code sleeps,
a client gives the baton back and says when it wants to go on; the scheduler moves the virtual
clock to the earliest such instant and hands the baton on. Who goes first when several want
the same instant, how long a command is on its way, who pauses for long (a garbage collector,
say), who crashes and where: all that is drawn from one seeded generator. So a seed gives the
same run each time, and a failing seed can be replayed.

A small example, two clients that each do GET, SET:

    time   0 ms   a: GET     (b was drawn to be 2 ms late)
    time   1 ms   a: SET
    time   2 ms   b: GET     sees a's value; with another seed it would not

Limits. A transaction is one step, as for the server, and so is a script. A command that
blocks in the server (BLPOP) is refused: it would hold the baton while it waits.
"""

from __future__ import annotations

import heapq
import random
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import miniredis
from miniredis.net.client import Pipeline, Redis

US = 1_000_000
SCHEDULES = 500
BLOCKING = {"BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX", "BLMPOP", "BZMPOP"}
STEPS_MAX = 200_000  # of one run: more means that something never ends
BATON_TIMEOUT_S = 60


class Crash(BaseException):
    """The client's machine is dead: no ``except Exception`` may catch it."""


@dataclass
class Chance:
    """What a schedule may do to a client. Times in seconds, probabilities for each command."""

    latency: float = 0.002  # a command is on its way up to so long
    pause: float = 0.0  # probability of a long pause before a command
    pause_s: float = 1.0  # up to so long
    crash: float = 0.0  # probability that the client dies before a command
    skew_s: float = 0.0  # clocks are wrong by up to so much, either way


@dataclass
class Actor:
    """One simulated client: its connection, its own clock, its fate."""

    name: str
    scheduler: Scheduler
    skew_s: float
    chance: Chance
    conn: Any = None
    baton: threading.Lock = field(default_factory=threading.Lock)
    crashed: bool = False
    done: bool = False
    error: BaseException | None = None
    steps: int = 0
    crash_at: int | None = None  # the step at which it dies, when a test wants just that one
    pause_at: dict[int, float] = field(default_factory=dict)  # step -> pause in seconds
    result: Any = None

    # -- the clock handed to patterns ------------------------------------------------------

    def time(self) -> float:
        """Unix time in seconds as this client's machine has it."""
        return self.scheduler.clock.time() + self.skew_s

    def sleep(self, seconds: float) -> None:
        """Wait *seconds* of virtual time."""
        if self.crashed:
            raise Crash
        self.scheduler.yield_until(self, self.scheduler.now_us + round(seconds * US))

    # -- what each command does first --------------------------------------------------------

    def step(self, name: object = "") -> None:
        """Give the baton away until this client's next command arrives at the server."""
        assert str(name).upper() not in BLOCKING, f"{name} would wait with the baton in hand"
        if self.crashed:
            raise Crash
        self.steps += 1
        scheduler, rng, chance = self.scheduler, self.scheduler.rng, self.chance
        delay = rng.uniform(0, chance.latency)
        if self.steps in self.pause_at:
            delay += self.pause_at[self.steps]
        elif chance.pause and rng.random() < chance.pause:
            delay += rng.uniform(0, chance.pause_s)
        scheduler.yield_until(self, scheduler.now_us + round(delay * US))
        if self.steps == self.crash_at or (chance.crash and rng.random() < chance.crash):
            self.crashed = True
            raise Crash


class SteppedRedis(Redis):
    """A client that tells its actor before each command."""

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        self.actor = actor
        super().__init__(*args, **kwargs)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        self.actor.step(args[0])
        return super().execute_command(*args, **options)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> SteppedPipeline:
        return SteppedPipeline(
            self.actor,
            self.connection_pool,
            self.response_callbacks,
            transaction,
            shard_hint,
            self._local,
        )


class SteppedPipeline(Pipeline):
    """A pipeline of such a client: a transaction is one step, else each command is one."""

    def __init__(self, actor: Actor, *args: Any) -> None:
        self.actor = actor
        super().__init__(*args)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if (self.watching or args[0] == "WATCH") and not self.explicit_transaction:
            self.actor.step(args[0])
        return super().execute_command(*args, **options)

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        if self.actor.crashed:
            raise Crash
        if self.__dict__["transaction"] or self.explicit_transaction or self.watching:
            if self.command_stack or self.watching:
                self.actor.step("EXEC")
            return super().execute(raise_on_error)
        stack, self.command_stack = self.command_stack, []
        replies = []
        for item in stack:
            self.actor.step(item[0][0])
            self.command_stack = [item]
            replies += super().execute(raise_on_error)
        return replies


class Scheduler:
    """Runs actors one at a time.

    *order*, if given, is a list of actors' names: each lets that actor do its next command,
    whatever the time, and go on until it is about to do another (or has slept, or ended).
    When it is used up, time decides. Without *chance* nothing is left to it but who goes first.
    """

    def __init__(
        self, seed: int = 0, chance: Chance | None = None, order: Iterable[str] = (),
        decode_responses: bool = False,
    ) -> None:  # fmt: skip
        self.rng = random.Random(seed)
        self.seed = seed
        self.chance = chance or Chance(latency=0)
        self.clock = miniredis.VirtualClock()
        self.server = miniredis.Server(self.clock, seed=seed)
        self.decode_responses = decode_responses
        self.actors: list[Actor] = []
        self._bodies: dict[str, Callable[[Actor], Any]] = {}
        self._waiting: list[tuple[int, float, int]] = []  # (instant, draw, index of the actor)
        self._order = list(order)
        self._steps = 0
        self._failed = False

    @property
    def now_us(self) -> int:
        """True time in µs."""
        return self.clock.us()

    @property
    def now(self) -> float:
        """True time in seconds since the run's beginning of time."""
        return self.clock.us() / US

    def client(self) -> Redis:
        """A client of the tests' own, which is no actor and interrupts nobody."""
        return self.server.client(decode_responses=self.decode_responses)

    def add(self, name: str, body: Callable[[Actor], Any], **fixed: Any) -> Actor:
        """An actor that runs ``body(actor)``; *fixed* sets its attributes, as ``crash_at``."""
        skew = self.chance.skew_s
        fixed.setdefault("skew_s", self.rng.uniform(-skew, skew))
        fixed.setdefault("chance", self.chance)
        actor = Actor(name, self, **fixed)
        actor.conn = SteppedRedis(
            server=self.server, actor=actor, decode_responses=self.decode_responses
        )
        actor.baton.acquire()
        self.actors.append(actor)
        self._bodies[name] = body
        return actor

    def yield_until(self, actor: Actor, us: int) -> None:
        """Called by an actor's thread: give the baton on, and have it back at the instant *us*.

        Nothing is handed over if nobody else wants to go on before.
        """
        self._push(actor, us)
        following = self._next()
        if following is not actor:
            following.baton.release()
            if not actor.baton.acquire(timeout=BATON_TIMEOUT_S):
                raise RuntimeError("the baton was lost")
        if self._failed:
            actor.crashed = True
            raise Crash

    def _push(self, actor: Actor, us: int) -> None:
        heapq.heappush(self._waiting, (us, self.rng.random(), self.actors.index(actor)))

    def run(self) -> Scheduler:
        """Run all actors to their end or crash. Raises what an actor raised, with the seed."""
        with mock.patch("uuid.uuid4", self._uuid4):
            threads = [
                threading.Thread(target=self._life, args=(actor,), daemon=True)
                for actor in self.actors
            ]
            for actor, thread in zip(self.actors, threads, strict=True):
                thread.start()
                self._push(actor, self.now_us)
            if self._order:  # all come to stand before their first commands
                self._order = [actor.name for actor in self.actors] + self._order
            self._next().baton.release()
            for thread in threads:
                thread.join(BATON_TIMEOUT_S)
                assert not thread.is_alive(), f"seed {self.seed}: the baton was lost"
        for actor in self.actors:
            if actor.error is not None:
                actor.error.add_note(f"in {actor.name}, seed {self.seed}")
                raise actor.error
        return self

    def _next(self) -> Actor:
        """Who goes on, at the instant to which this moves the clock."""
        self._steps += 1
        assert self._steps < STEPS_MAX, f"seed {self.seed} never ends"
        us, _, index = self._take()
        if us > self.now_us:
            self.clock.advance_to_us(us)
        return self.actors[index]

    def _take(self) -> tuple[int, float, int]:
        if self._order:
            name = self._order.pop(0)
            for entry in sorted(self._waiting):
                if self.actors[entry[2]].name == name:
                    self._waiting.remove(entry)
                    heapq.heapify(self._waiting)
                    return entry
            self._order = []
            raise AssertionError(f"{name} was to go on but has ended")
        return heapq.heappop(self._waiting)

    def _life(self, actor: Actor) -> None:
        actor.baton.acquire()
        try:
            actor.result = self._bodies[actor.name](actor)
        except Crash:
            pass
        except BaseException as error:  # handed to the test's thread; the others end too
            actor.error = error
            self._failed = True
        # A dead machine's connections are closed, and the server forgets what it watched.
        actor.conn.connection_pool.disconnect()
        actor.done = True
        if self._failed:
            self._order = []
        if self._waiting:
            self._next().baton.release()

    def _uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=self.rng.getrandbits(128), version=4)


def run_schedules(
    play: Callable[[int], object], schedules: int = SCHEDULES, only: Sequence[int] = ()
) -> None:
    """``play(seed)`` for many seeds; the first that fails is named, to be replayed alone."""
    for seed in only or range(schedules):
        try:
            play(seed)
        except Exception as error:
            error.add_note(f"schedule {seed} failed; replay it with play({seed})")
            raise


__all__ = [
    "SCHEDULES", "US", "Actor", "Chance", "Crash", "Scheduler", "run_schedules",
]  # fmt: skip
