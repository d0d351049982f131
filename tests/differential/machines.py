"""What the state machines have in common: how much they try, and what they say of a failure.

A machine is a test that does random steps on both servers. How many examples it runs depends
on the place: some on a desk, ``SHARES`` in CI, ``VERIFY_FACTOR`` times as many with ``make
verify`` (``EXAMPLES_FACTOR`` in the environment). ``SEED`` changes what they try.

On a failure hypothesis makes the script smaller: it puts ``NOTHING`` in place of steps, and
simpler words in place of others. What is left is printed as a program for redis-cli.
"""

from __future__ import annotations

import contextlib
import os
import string
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st

from tests.differential.pair import NOW_MS, NOW_S, Step

# Examples of at least 25 steps in CI, for each machine.
SHARES = {
    "everything": 1200,
    "strings": 300,
    "bitmaps": 200,
    "lists": 300,
    "hashes and sets": 300,
    "sorted sets": 300,
    "geo": 300,
    "streams": 400,  # for each of three sizes of nodes
    "blocking": 300,
}
VERIFY_FACTOR = 12
DESK = 0.2  # of CI's examples
SEED = int(os.environ.get("SEED", "1"))
NOTHING = 0  # a step that does nothing, and the simplest of all: no time passes
PLAIN = set(string.ascii_letters + string.digits + "-+_.:()[]{}*#<>=~!,/")


def factor() -> float:
    """How many times as many examples as in CI."""
    given = os.environ.get("EXAMPLES_FACTOR")
    return float(given) if given else 1 if os.environ.get("CI") else DESK


def machine(name: str) -> Callable[[Any], Any]:
    """Decorates the test of the machine *name*, below ``@given``'s place."""
    options = settings(
        max_examples=max(1, round(SHARES[name] * factor())),
        deadline=None,
        database=None,
        print_blob=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: seed(SEED)(options(test))


def scripts(steps: st.SearchStrategy[Any], length: int) -> st.SearchStrategy[list[Any]]:
    """Scripts of *length* steps that become smaller by steps that do nothing."""
    return st.lists(st.one_of(st.just(NOTHING), *[steps] * 9), min_size=length, max_size=length)


@contextlib.contextmanager
def told(script: Iterable[Step], resp: int = 2) -> Iterator[None]:
    """Adds to a failure how to see it with redis-cli."""
    try:
        yield
    except Exception as error:
        error.add_note(f"SEED={SEED}\n{for_redis_cli(script, resp)}")
        raise


# -- a script for redis-cli ----------------------------------------------------------------

FIRST_FD = 3  # the file descriptor of client 0
HEAD = """\
#!/bin/bash
# Against an empty redis-server --enable-debug-command yes; PORT names its port.
cli() { redis-cli -p "${PORT:-6379}"%s; }
exec %s
ms() { echo $(( $(date +%%s%%3N) + $1 )); }
s() { echo $(( $(date +%%s) + $1 )); }
say() { echo "$2" >&$1; sleep 0.05; }
say 3 'CONFIG SET notify-keyspace-events AKEmn'
say 3 'DEBUG SET-ACTIVE-EXPIRE 0'
"""


def for_redis_cli(script: Iterable[Step], resp: int = 2) -> str:
    """A shell script that does the steps of *script* with one redis-cli for each client."""
    script = list(script)
    last = max([1, *(step[0] for step in script if not isinstance(step, int))])
    clients = " ".join(f"{FIRST_FD + client}> >(cli)" for client in range(last + 1))
    lines = [HEAD % (" -3" if resp == 3 else "", clients)]
    for step in script:
        if isinstance(step, int):
            if step != NOTHING:
                lines.append(f"sleep {step / 1000:g}\n")
        else:
            client, words = step
            lines.append(f"say {FIRST_FD + client} '{' '.join(map(shown, words))}'\n")
    return "".join(lines)


def shown(word: bytes) -> str:
    """*word* as redis-cli reads it, inside of the shell's single quotes."""
    for prefix, function in ((NOW_MS, "ms"), (NOW_S, "s")):
        if word.startswith(prefix):
            return f"'$({function} {int(word[len(prefix) :])})'"
    text = word.decode("latin-1")
    if text and set(text) <= PLAIN:
        return text
    return '"' + "".join(c if c in PLAIN or c == " " else f"\\x{ord(c):02x}" for c in text) + '"'
