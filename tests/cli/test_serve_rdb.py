"""miniredis serve --rdb: an RDB file that outlives the process."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from miniredis.cli.rdb_file import write_whole
from tests.real.servers import RealServer

TIMEOUT_S = 20


@contextlib.contextmanager
def serving(*options: str) -> Iterator[redis.Redis]:
    """A client of a process that is told to end afterwards, and does so without complaint."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "miniredis", "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = ""
        while not (ready := re.search(r":(\d+)\n", said)):
            line = process.stdout.readline()
            assert line, process.communicate()
            said = line if "Ready" in line else said
        with redis.Redis(port=int(ready[1])) as client:
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, complaints) == (0, "")


def refused(*options: str) -> tuple[int, str]:
    run = subprocess.run(
        [sys.executable, "-m", "miniredis", "serve", "--port", "0", *options],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert "Traceback" not in run.stderr
    return run.returncode, run.stderr


def test_data_outlives_the_process(tmp_path: Path) -> None:
    file = tmp_path / "dump.rdb"
    with serving("--rdb", str(file)) as r:
        r.set("saved", 1)
        r.save()
        assert file.stat().st_size > 0
        r.rpush("at the end", 1, 2)
    with serving("--rdb", str(file)) as r:
        assert r.get("saved") == b"1"
        assert r.lrange("at the end", 0, -1) == [b"1", b"2"]
        assert r.info("persistence")["rdb_last_load_keys_loaded"] == 2
        r.config_set("save", "")
        r.set("not saved", 1)
    with serving("--rdb", str(file)) as r:
        assert r.dbsize() == 2
    assert [path.name for path in tmp_path.iterdir()] == ["dump.rdb"]


def test_it_reads_the_file_of_a_real_server(real_server: RealServer, tmp_path: Path) -> None:
    with real_server.client() as theirs:
        theirs.zadd("z", {"a": 1, "b": 2})
        theirs.set("k", "v" * 100, px=10**9)
        theirs.save()
        digest = theirs.execute_command("DEBUG DIGEST")
    with serving("--rdb", str(Path(real_server.dir) / "dump.rdb"), "--seed", "1") as r:
        assert r.execute_command("DEBUG DIGEST") == digest


def test_it_begins_as_a_replica(real_server: RealServer) -> None:
    with real_server.client() as theirs:
        theirs.config_set("repl-diskless-sync-delay", 0)
        theirs.set("k", "v")
        with serving("--replicaof", "127.0.0.1", str(real_server.port)) as r:
            assert theirs.wait(1, TIMEOUT_S * 1000) == 1
            assert r.get("k") == b"v"


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "ends too early"), (b"no RDB file", "no RDB file"), (b"REDIS0099\xff", "version 99")],
)
def test_a_file_that_is_none(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "dump.rdb"
    file.write_bytes(data)
    status, said = refused("--rdb", str(file))
    assert status == 1
    assert f"cannot load {file}: " in said and message in said
    assert file.read_bytes() == data


def test_places_for_no_file(tmp_path: Path) -> None:
    assert refused("--rdb", str(tmp_path / "missing" / "dump.rdb"))[0] == 2
    assert refused("--rdb", str(tmp_path))[0] == 2
    assert refused("--rdb", "")[0] == 2
    os.mkfifo(tmp_path / "pipe")
    status, said = refused("--rdb", str(tmp_path / "pipe"))
    assert status == 2 and "not a plain file" in said


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: object) -> None:
    file = tmp_path / "dump.rdb"
    file.write_bytes(b"old")
    file.chmod(0o640)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="No space"):
        write_whole(file, b"new")
    assert file.read_bytes() == b"old"
    monkeypatch.undo()  # type: ignore[attr-defined]
    write_whole(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [path.name for path in tmp_path.iterdir()] == ["dump.rdb"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"x"
