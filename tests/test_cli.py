"""cli.py: output, exit status and messages of the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner

from miniredis.cli import cli


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(args))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_expire_prints_a_table_and_draws(tmp_path: Path) -> None:
    figure = tmp_path / "expiry.png"
    status, output = run("expire", "--keys", "500", "--ttl", "1s", "-o", str(figure))
    assert status == 0
    assert "100 % gone" in output
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_expire_json() -> None:
    status, output = run("expire", "--keys", "500", "--ttl", "100ms", "--ttl-max", "2s", "--json")
    assert status == 0
    assert json.loads(output)["keys"] == 500


def test_expire_with_another_engine() -> None:
    seen = {}
    for engine in ("7.0", "7.4"):
        status, output = run(
            "expire", "--keys", "5000", "--ttl", "1s", "--engine", engine, "--json"
        )
        assert status == 0
        result = json.loads(output)
        assert result["engine"] == engine
        seen[engine] = result["gone_after_first_death_ms"]["100%"]
    assert seen["7.4"] < seen["7.0"]
    status, output = run("expire", "--engine", "1.0")
    assert status == 2
    assert "'7.4'" in output


def test_engines_side_by_side() -> None:
    status, output = run("engines", "7.0", "--json")
    assert status == 0
    (row,) = json.loads(output)
    assert row["engine"] == "7.0" and row["gone_100_ms"] >= row["gone_99_ms"] > 0
    status, output = run("engines", "8.2")
    assert status == 0
    assert output.splitlines()[1].startswith("8.2 ")
    assert run("engines", "nine")[0] == 2


def test_ttls_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ttls.csv"
    path.write_text("key,ttl\na,100\nb,2000\n\n")
    status, output = run("expire", "--ttls", str(path), "--column", "ttl", "--json")
    assert status == 0
    assert json.loads(output)["last_death_ms"] == 2000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10\nx,1\n", "line 2: 'x,1'"),
        ("10\n0\n", "line 2"),
        ("10\n-5\n", "line 2"),
        ("ttl\n", "no times to live"),
        ("9" * 5000, "line 1"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "ttls.csv"
    path.write_text(text)
    status, output = run("expire", "--ttls", str(path))
    assert status == 1
    assert message in output


def test_missing_and_binary_files(tmp_path: Path) -> None:
    assert run("expire", "--ttls", str(tmp_path / "none"))[0] == 1
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    assert run("expire", "--ttls", str(tmp_path / "b"))[0] == 1


@pytest.mark.parametrize(
    "args",
    [
        ["--keys", "0"],
        ["--keys", "-5"],
        ["--ttl", "10"],
        ["--ttl", "0s"],
        ["--ttl", "nonsense"],
        ["--effort", "11"],
        ["--hz", "0"],
        ["--keys", "5", "--from", "redis://x"],
        ["--column", "x"],
        ["--ttl", "5s", "--ttl-max", "1s"],
        ["-o", "/no/such/directory/x.png"],
        ["--from", "nonsense"],
    ],
)
def test_wrong_usage_is_status_2(args: list[str]) -> None:
    status, output = run("expire", *args)
    assert status == 2, output
    assert "Traceback" not in output


def test_unreachable_server() -> None:
    status, output = run("expire", "--from", "redis://:secret@127.0.0.1:1/0")
    assert status == 1
    assert "cannot read from redis://127.0.0.1:1/0" in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_says_when_it_is_ready_and_stops_cleanly(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "miniredis", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    match = re.fullmatch(r"Ready to accept connections on 127\.0\.0\.1:(\d+)\n", line)
    assert match, line
    port = int(match[1])
    with redis.Redis(port=port) as r:
        assert r.set("k", "v", px=50)
        assert r.ping()
    taken = subprocess.run(
        [sys.executable, "-m", "miniredis", "serve", "--port", str(port)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert taken.returncode == 1
    assert "cannot listen" in taken.stderr
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert errors == ""


def test_ttls_of_a_live_server(real_server: object) -> None:
    r = real_server.client()  # type: ignore[attr-defined]
    for i in range(20):
        r.set(f"k{i}", "x", px=60_000 + i)
    r.set("persistent", "x")
    url = f"redis://127.0.0.1:{real_server.port}/0"  # type: ignore[attr-defined]
    status, output = run("expire", "--from", url, "--json")
    assert status == 0
    assert json.loads(output)["keys"] == 20
    assert r.dbsize() == 21


QUICK = ("strategies", "--duration", "2s", "--rate", "500", "--ttl", "100ms")


def test_strategies_prints_a_table_and_draws(tmp_path: Path) -> None:
    figure = tmp_path / "strategies.png"
    status, output = run(*QUICK, "-o", str(figure))
    assert status == 0
    for words in ("periodic", "Redis:", "dead keys held, mean", "longest pause", "▁"):
        assert words in output
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["strategies.png"]


def test_strategies_json() -> None:
    status, output = run(*QUICK, "--only", "redis, heap", "--hz", "100", "--json")
    assert status == 0
    redis_, heap = json.loads(output)
    assert (redis_["strategy"], heap["strategy"]) == ("redis", "heap")
    assert redis_["deaths"] == heap["deaths"] > 50
    assert redis_["cycles"] == 200
    assert heap["lag_ms"] == {"p50": 0, "p99": 0, "p100": 0}


def test_strategies_on_a_terminal_without_unicode() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "miniredis", *QUICK, "--only", "lazy,redis"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b">= " in done.stdout and b" us" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--keys", "0"], "--keys"),
        (["--rate", "0"], "--rate"),
        (["--rate", "nan"], "rate must be"),
        (["--reads", "1.5"], "--reads"),
        (["--reads", "0.9", "--deletes", "0.3"], "add up to 1.23"),
        (["--skew", "-1"], "--skew"),
        (["--ttl-dist", "weekly"], "--ttl-dist"),
        (["--ttl-dist", "fixed", "--ttl-max", "5s"], "only uniform"),
        (["--ttl", "5s", "--ttl-max", "1s"], "longest"),
        (["--ttl", "5"], "is no time"),
        (["--only", "heap,cron"], "one of heap, wheel, lazy, periodic, redis"),
        (["--only", ""], "one of heap"),
        (["--effort", "11"], "--effort"),
        (["-o", "/no/such/directory/x.png"], "does not exist"),
    ],
)
def test_strategies_wrong_usage_is_status_2(args: list[str], message: str) -> None:
    status, output = run("strategies", *args)
    assert status == 2, output
    assert message in output
    assert "Traceback" not in output


def test_strategies_that_cannot_be_drawn(tmp_path: Path) -> None:
    status, output = run(*QUICK, "--only", "lazy", "-o", str(tmp_path / "x.xyz"))
    assert status == 2
    assert "cannot write" in output
    assert not list(tmp_path.iterdir())


def test_the_table_of_one_key() -> None:
    status, output = run("expire", "--keys", "1", "--ttl", "1s")
    assert status == 0
    assert "1 key, hz 10" in output
    assert "1 at once, 100.0 % of all" in output
    assert "100.0 % of the keys held" in output
    assert "median 1 ms, 99 % 1 ms" in output


def test_the_table_of_a_run_that_deletes_not_all() -> None:
    status, output = run("expire", "--keys", "20000", "--ttl", "1s", "--no-activerehashing")
    assert status == 0
    (lags,) = [line for line in output.splitlines() if "deletion lag, all keys" in line]
    assert re.search(r"median \d+ ms, 99 % not within the run", lags)
    assert "still held" in output


def test_long_lives_and_runs_that_are_too_long() -> None:
    status, output = run("expire", "--keys", "50", "--ttl", "365d", "--json")
    assert status == 0
    assert json.loads(output)["first_death_ms"] == 365 * 86_400_000
    status, output = run("expire", "--keys", "50", "--ttl", "365d", "--engine", "2.4")
    assert (status, "315,360,000 runs of the cron" in output) == (1, True)
    status, output = run("strategies", "--duration", "365d")
    assert (status, "94,608,000,000 commands; at most 100,000,000" in output) == (2, True)
