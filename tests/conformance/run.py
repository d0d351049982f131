"""Runs units of the suite: each with a server, a folder and a process group of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.output import ABORTED, HANG, NO_SERVER, SKIPPED, TIMED_OUT, Test, Unit, parse

ROOT = Path(__file__).resolve().parent.parent.parent
SERVE = f"{shlex.quote(sys.executable)} -m miniredis serve --port {{port}}"
BOOT_S = 30.0  # until a server must answer
STARTS_MAX = 3  # if it ends before the first test, say because its port was just taken
HANGS_MAX = 5  # in one unit; after each, the unit is run again without that test
# runtest listens on one of the 32 ports below its base port, and asks for the one 10,000 higher.
BASE_PORTS = range(12_000, 22_000, 64)
PORTS_APART = 37  # of BASE_PORTS, between two attempts


@dataclass(frozen=True)
class Options:
    """How to run: times in seconds, *tags* and *server* as for the command line."""

    suite: Path
    tags: str = "-slow"
    server: str = SERVE
    limit_s: float = 600.0
    stall_s: int = 60
    logs: Path | None = None


def unit_names(suite: Path) -> list[str]:
    """The units that the suite lists, those of a server alone.

    ``ValueError`` if *suite* is no checkout of Redis's suite.
    """
    if not (suite / "runtest").is_file() or not (suite / "tests").is_dir():
        raise ValueError(f"{suite} holds no Redis test suite: runtest and tests/ are missing")
    listed = subprocess.run(
        ["/bin/sh", "./runtest", "--list-tests"], cwd=suite, capture_output=True, text=True
    )
    names = [name for name in listed.stdout.split() if name.startswith("unit/")]
    if not names:
        raise ValueError(f"{suite}/runtest lists no units: {listed.stdout}{listed.stderr}".strip())
    return names


def run_units(
    units: list[str], options: Options, jobs: int, report: Callable[[Unit], None]
) -> list[Unit]:
    """Run *units*, *jobs* at a time; *report* hears of each as it ends. In the order given."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = {
            pool.submit(run_unit, unit, options, BASE_PORTS[(os.getpid() + i) % len(BASE_PORTS)]): i
            for i, unit in enumerate(units)
        }
        found: dict[int, Unit] = {}
        try:
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                report(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[i] for i in range(len(units))]


def run_unit(name: str, options: Options, base_port: int = BASE_PORTS[0]) -> Unit:
    """Run one unit; again without it if a test hangs, so that the others are seen too."""
    began = time.monotonic()
    hanging: list[Test] = []
    starts = 0
    while True:
        left = options.limit_s - (time.monotonic() - began)
        port = BASE_PORTS[(BASE_PORTS.index(base_port) + starts * PORTS_APART) % len(BASE_PORTS)]
        unit = _run_once(name, options, port, [test.name for test in hanging], left)
        starts += 1
        if unit.ended == ABORTED and not (unit.tests or unit.cut) and starts < STARTS_MAX:
            continue
        hung = [test for test in unit.tests if test.state == HANG]
        hanging += hung
        if not hung or len(hanging) > HANGS_MAX or time.monotonic() - began > options.limit_s:
            break
    names = {test.name for test in hanging}
    unit.tests = [t for t in unit.tests if not (t.name in names and t.state in (SKIPPED, HANG))]
    unit.tests += hanging
    unit.seconds = round(time.monotonic() - began, 1)
    return unit


def _run_once(name: str, options: Options, base_port: int, skip: list[str], limit_s: float) -> Unit:
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        tree = private_tree(options.suite, Path(folder) / "suite")
        skipped = Path(folder) / "skip"
        skipped.write_text("\n".join(skip), encoding="utf-8")
        with server(options.server, Path(folder)) as port:
            if port is None:
                return Unit(name, ended=NO_SERVER, why=f"no answer from: {options.server}")
            command = ["/bin/sh", "./runtest", "--host", "127.0.0.1", "--port", str(port)]
            command += ["--single", name, "--durable", "--timeout", str(options.stall_s)]
            command += ["--baseport", str(base_port), "--skipfile", str(skipped)]
            if options.tags:
                command += ["--tags", options.tags]
            text, ended = _output(command, tree, limit_s)
    if options.logs is not None:
        options.logs.mkdir(parents=True, exist_ok=True)
        with open(options.logs / f"{name.replace('/', '-')}.txt", "a", encoding="utf-8") as log:
            log.write(text)
    unit = parse(name, text)
    if not ended:
        unit.ended, unit.why = TIMED_OUT, f"not done after {options.limit_s:g} s"
    return unit


def _output(command: list[str], cwd: Path, limit_s: float) -> tuple[str, bool]:
    """What *command* prints, and whether it ended by itself within *limit_s*."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(max(limit_s, 0.1))
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        finally:
            _kill_group(process)
        out.seek(0)
        return out.read().decode("utf-8", "replace"), ended


def private_tree(suite: Path, tree: Path) -> Path:
    """A view of *suite* whose ``tests/tmp`` is its own: units must not clean up each other's."""
    (tree / "tests" / "tmp").mkdir(parents=True)
    for entry in suite.iterdir():
        if entry.name != "tests":
            (tree / entry.name).symlink_to(entry.resolve())
    for entry in (suite / "tests").iterdir():
        if entry.name != "tmp":
            (tree / "tests" / entry.name).symlink_to(entry.resolve())
    if not (tree / "src" / "redis-cli").exists() and (cli := shutil.which("redis-cli")):
        if (tree / "src").is_symlink():
            (tree / "src").unlink()
        (tree / "src").mkdir(exist_ok=True)
        (tree / "src" / "redis-cli").symlink_to(cli)
    return tree


@contextlib.contextmanager
def server(command: str, folder: Path) -> Iterator[int | None]:
    """A server started by *command* on a free port; None instead of it if none answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [word.format(port=port, dir=folder) for word in shlex.split(command)]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield port if _answers(port, process) else None
    finally:
        _kill_group(process)


def _answers(port: int, process: subprocess.Popen[bytes]) -> bool:
    until = time.monotonic() + BOOT_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as s:
            s.settimeout(1)
            s.sendall(b"PING\r\n")
            if s.recv(7):
                return True
        time.sleep(0.05)
    return False


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End *process* and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
