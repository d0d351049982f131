"""net/scratch.py, net/live_expiry.py: experiments on a real server leave it as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner

from miniredis.cli import cli
from miniredis.net.live_expiry import run_live
from miniredis.net.own_server import own_server
from miniredis.net.scratch import PREFIX, ScratchDatabase, scratch_database
from tests.real.servers import RealServer

NUMBER = 5
TIMEOUT_S = 60


def url(server: RealServer, number: int | None = NUMBER) -> str:
    path = "" if number is None else f"/{number}"
    return f"redis://127.0.0.1:{server.port}{path}"


@contextmanager
def in_database(server: RealServer) -> Iterator[redis.Redis]:
    """Somebody else, who leaves again."""
    with redis.Redis(port=server.port, db=NUMBER) as client:
        yield client


def keys_in_database(server: RealServer) -> list[bytes]:
    with in_database(server) as client:
        return client.keys()


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, list(args))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_an_experiment_touches_no_other_key_and_no_setting(real_server: RealServer) -> None:
    others = real_server.client()
    others.mset({"a": "1", PREFIX + "0": "of the same name, elsewhere"})
    before = others.config_get("*")
    with scratch_database(url(real_server)) as scratch:
        live = run_live(scratch, [300] * 2000, 20, 60_000)
    assert live.remaining == 0
    assert live.sightings[0].t_recv_ms < 0 and live.sightings[0].dbsize == 2000
    assert live.sightings[-1].expired_keys == 2000
    gone = [live.seen_gone_ms(share) for share in (0.5, 0.9, 1.0)]
    assert all(ms is not None and ms > 0 for ms in gone)
    assert others.config_get("*") == before
    assert others.get("a") == b"1" and others.exists(PREFIX + "0")
    assert others.info("keyspace").keys() == {"db0"}


def test_against_prints_both_columns_and_draws(real_server: RealServer, tmp_path: Path) -> None:
    figure = tmp_path / "beside.png"
    experiment = ("expire", "--keys", "2000", "--ttl", "300ms", "--against", url(real_server))
    status, output, _ = run(*experiment, "-o", str(figure), "--json")
    assert status == 0
    result = json.loads(output)
    assert len(result["simulated"]["gone_after_first_death_ms"]["100%"]) == 3
    assert result["real"]["gone_after_first_death_ms"]["100%"] > 0
    assert result["real"]["remaining"] == 0
    assert result["real"]["redis_version"] == ".".join(map(str, real_server.version))
    assert figure.read_bytes().startswith(b"\x89PNG")
    status, output, _ = run(*experiment)
    assert status == 0
    assert "real server" in output and "simulated" in output and "100 % gone" in output
    assert keys_in_database(real_server) == []


def test_a_cost_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "cost.toml"
    path.write_text("[cost]\ndeleted_ns = 20_000\n")
    seen = []
    for more in ((), ("--cost", str(path))):
        status, output, _ = run("expire", "--keys", "5000", "--ttl", "1s", "--json", *more)
        assert status == 0
        seen.append(json.loads(output)["cycle_cpu_ms"])
    assert seen[1] > 100 > seen[0]
    path.write_text("[cost]\nprice = 1\n")
    status, _, error = run("expire", "--keys", "5", "--cost", str(path))
    assert status == 2 and "has no 'price'" in error
    status, _, error = run("expire", "--keys", "5", "--cost", str(tmp_path / "none"))
    assert status == 1 and "cannot read" in error


def test_what_is_refused(real_server: RealServer) -> None:
    experiment = ("expire", "--keys", "10", "--ttl", "100ms", "--against")
    status, _, error = run(*experiment, url(real_server, None))
    assert status == 2 and "must name a database number" in error
    status, _, error = run(*experiment, url(real_server), "--hz", "50")
    assert status == 2 and "the server has 10" in error
    status, _, error = run(*experiment, url(real_server), "--no-activerehashing")
    assert status == 2 and "activerehashing" in error
    with in_database(real_server) as held:
        held.set("theirs", "x")
        status, _, error = run(*experiment, url(real_server))
        assert status == 1 and "not empty: it holds 1 key" in error
        assert held.keys() == [b"theirs"]
        held.flushdb()
        status, _, error = run(*experiment, url(real_server))
        assert status == 1 and "another client has selected database 5" in error
    status, _, error = run("calibrate", "--server", url(real_server, None), "-o", os.devnull)
    assert status == 2 and "-o: cannot write" in error
    status, _, error = run("calibrate", "--server", url(real_server, None))
    assert status == 2 and "must name a database number" in error
    status, _, error = run(*experiment, "redis://127.0.0.1:1/5")
    assert status == 1 and "127.0.0.1:1/5" in error


def test_keys_that_somebody_else_writes_meanwhile_end_it_and_stay(real_server: RealServer) -> None:
    def intrude(phase: str, done: int, total: int) -> None:
        if phase == "write" and done == total:
            with in_database(real_server) as client:
                client.set("theirs", "x")

    with (
        pytest.raises(PermissionError, match="somebody else writes"),
        scratch_database(url(real_server)) as scratch,
    ):
        run_live(scratch, [500] * 3000, 20, 60_000, intrude)
    assert keys_in_database(real_server) == [b"theirs"]


def test_ctrl_c_leaves_nothing_behind(real_server: RealServer) -> None:
    arguments = ["expire", "--keys", "5000", "--ttl", "1h", "--against", url(real_server)]
    process = subprocess.Popen(
        [sys.executable, "-m", "miniredis", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watcher = real_server.client()
    end = time.monotonic() + TIMEOUT_S
    while watcher.info("keyspace").get(f"db{NUMBER}", {}).get("keys", 0) < 3000:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert "Traceback" not in error
    assert f"db{NUMBER}" not in watcher.info("keyspace")


def test_a_call_that_was_interrupted_does_not_disturb_the_cleaning(
    real_server: RealServer,
) -> None:
    with pytest.raises(KeyboardInterrupt), scratch_database(url(real_server)) as scratch:
        _interrupt_in_the_middle(scratch)
    assert keys_in_database(real_server) == []


def _interrupt_in_the_middle(scratch: ScratchDatabase) -> None:
    """A request has gone out and its reply is not read when the user has had enough."""
    scratch.write([scratch.server_us() // 1000 + 3_600_000] * 100)
    connection = scratch.client.connection_pool.get_connection()
    connection.send_command("PING")
    scratch.client.connection_pool.release(connection)
    raise KeyboardInterrupt


def test_a_replica_is_refused(real_server: RealServer, real_binary: str) -> None:
    replica = RealServer(real_binary, options=["--replicaof", "127.0.0.1", str(real_server.port)])
    try:
        with pytest.raises(PermissionError, match="replica"), scratch_database(url(replica)):
            pass
    finally:
        replica.stop()


def test_a_server_of_ones_own_starts_and_ends(real_binary: str) -> None:
    threads = threading.active_count()
    with own_server() as address, scratch_database(address) as scratch:
        pid = int(scratch.client.info("server")["process_id"])
        assert scratch.client.config_get("save") == {"save": ""}
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert threading.active_count() == threads


def test_no_redis_server_is_said_plainly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, _, error = run("calibrate", "-o", str(tmp_path / "cost.toml"))
    assert status == 1 and "name a server with --server" in error
    assert list(tmp_path.iterdir()) == []
