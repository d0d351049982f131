"""Throughput over TCP, measured by redis-benchmark: miniredis, fakeredis, a real server.

Each server runs in a process of its own. Test by test all contestants run in turn, round after
round, so that a busy machine disturbs all alike. fakeredis has a thread for each connection
and so gets more of a busy machine's time than one thread does: measure on an idle one, or as
root with ``--realtime``, which puts the servers and redis-benchmark before everything else.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.real.servers import find_server

ROUNDS = 3
TESTS = ("get", "set", "incr", "lpush", "zadd")
PIPELINES = (1, 16)  # requests in flight on each connection
CLIENTS = 50
REQUIRED = 5.0  # times fakeredis
START_S, RUN_S = 20.0, 60.0
REQUESTS = {"miniredis": 30_000, "fakeredis": 3_000, "real": 100_000}  # of a run
REALTIME = ("chrt", "--fifo", "10")
FAKE_SERVER = """
import sys, fakeredis
server = fakeredis.TcpFakeServer(("127.0.0.1", int(sys.argv[1])), server_type="redis")
server.daemon_threads = True
server.serve_forever()
"""


@dataclass
class Contestant:
    """A server that runs."""

    name: str
    process: subprocess.Popen[bytes]
    port: int


def command_lines() -> dict[str, Callable[[int], list[str]]]:
    """How each server is started on a port; the real one if there is one."""
    python, binary = sys.executable, find_server()
    found: dict[str, Callable[[int], list[str]]] = {
        "miniredis": lambda port: [python, "-m", "miniredis", "serve", "--port", str(port)],
        "fakeredis": lambda port: [python, "-c", FAKE_SERVER, str(port)],
    }
    if binary is not None:
        found["real"] = lambda port: [str(binary), "--save", "", "--port", str(port)]
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def start(name: str, line: Callable[[int], list[str]], prefix: list[str]) -> Contestant:
    port = free_port()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([*prefix, *line(port)], stdout=quiet, stderr=quiet)
    give_up = time.monotonic() + START_S
    while time.monotonic() < give_up:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return Contestant(name, process, port)
    process.kill()
    raise SystemExit(f"{name} did not come up within {START_S:.0f} s")


def requests_per_second(who: Contestant, test: str, pipeline: int, prefix: list[str]) -> float:
    """One run of redis-benchmark; NaN if it did not end in time, as fakeredis may not."""
    words = f"-p {who.port} -t {test} -c {CLIENTS} -P {pipeline} -n {REQUESTS[who.name]} -q"
    try:
        run = subprocess.run(
            [*prefix, "redis-benchmark", *words.split()],
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return float("nan")
    return float(re.findall(r"([\d.]+) requests per second", run.stdout)[-1])


def measure(contestants: list[Contestant], pipeline: int, rounds: int, prefix: list[str]) -> bool:
    """Print a table; whether miniredis is fast enough everywhere."""
    names = [who.name for who in contestants]
    print(f"{f'requests/s, -P {pipeline}':22}" + "".join(f"{name:>12}" for name in names))
    enough = True
    for test in TESTS:
        found: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(rounds):
            for who in contestants:
                found[who.name].append(requests_per_second(who, test, pipeline, prefix))
        medians = {name: statistics.median(runs) for name, runs in found.items()}
        ratio = medians["miniredis"] / medians["fakeredis"]
        enough &= ratio >= REQUIRED
        row = "".join(f"{medians[name]:12,.0f}" for name in names)
        verdict = "ok" if ratio >= REQUIRED else "TOO SLOW"
        line = f"{test:22}{row}   {ratio:5.1f} x fakeredis (required {REQUIRED:.0f}: {verdict})"
        if "real" in medians:
            line += f", {medians['miniredis'] / medians['real']:.0%} of the real server"
        print(line, flush=True)
    return enough


def main(arguments: list[str]) -> int:
    """``python -m benchmarks tcp``; exit code 1 if miniredis is too slow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tcp", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="of each test; the median counts"
    )
    parser.add_argument("--realtime", action="store_true", help="before all other processes (root)")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    for program in ("redis-benchmark", *(REALTIME[:1] if options.realtime else ())):
        if shutil.which(program) is None:
            parser.error(f"{program} is not on PATH")
    prefix = list(REALTIME) if options.realtime else []
    contestants: list[Contestant] = []
    try:
        for name, line in command_lines().items():
            contestants.append(start(name, line, prefix))
        results = [measure(contestants, p, options.rounds, prefix) for p in PIPELINES]
    finally:
        for who in contestants:
            who.process.kill()
            who.process.wait()
    return 0 if all(results) else 1
