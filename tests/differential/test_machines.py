"""How much the state machines try, and what they print when they find something."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.differential.machines import SHARES, VERIFY_FACTOR, for_redis_cli, shown, told
from tests.real.servers import RealServer

ROOT = Path(__file__).resolve().parents[2]
STREAM_SIZES = 3  # the machine of streams runs once for each


def test_how_much_is_tried() -> None:
    in_ci = sum(SHARES.values()) + (STREAM_SIZES - 1) * SHARES["streams"]
    assert in_ci >= 2_000
    assert in_ci * VERIFY_FACTOR >= 50_000
    assert f"EXAMPLES_FACTOR={VERIFY_FACTOR} " in (ROOT / "Makefile").read_text()


def test_words() -> None:
    assert shown(b"GET") == "GET"
    assert shown(b"") == '""'
    assert shown(b"a b\x00'\"\\\xff") == '"a b\\x00\\x27\\x22\\x5c\\xff"'
    assert shown(b"now-ms:-5") == "'$(ms -5)'"


def test_a_failure_tells_how_to_see_it() -> None:
    script = [(0, (b"SET", b"a", b"")), 0, 100, (1, (b"GET", b"a"))]
    with pytest.raises(AssertionError) as caught, told(script, resp=3):
        raise AssertionError("differs")
    [note] = caught.value.__notes__
    assert note.startswith("SEED=1\n#!/bin/bash\n")
    assert note.endswith("say 3 'SET a \"\"'\nsleep 0.1\nsay 4 'GET a'\n")
    assert '"${PORT:-6379}" -3' in note


def test_each_client_has_a_redis_cli_of_its_own() -> None:
    assert "exec 3> >(cli) 4> >(cli)\n" in for_redis_cli([(0, (b"PING",))])
    text = for_redis_cli([(4, (b"BLPOP", b"a", b"0"))])
    assert "6> >(cli) 7> >(cli)\n" in text and "say 7 'BLPOP a 0'\n" in text


def test_the_script_runs_on_redis_cli(real_server: RealServer) -> None:
    if shutil.which("redis-cli") is None or shutil.which("bash") is None:
        pytest.skip("needs bash and redis-cli")
    script = [
        (0, (b"SET", b"k", b"a'\x00 \xff", b"PXAT", b"now-ms:100000")),
        (0, (b"MULTI",)),
        (0, (b"GET", b"k")),
        (1, (b"STRLEN", b"k")),
        (0, (b"EXEC",)),
        (1, (b"HSET", b"h", b"f", b"")),
        (1, (b"HGETALL", b"h")),
    ]
    done = subprocess.run(
        ["bash"],
        input=for_redis_cli(script, resp=3).encode(),
        env={"PORT": str(real_server.port), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == b""
    lines = done.stdout.decode("latin-1").splitlines()
    assert lines[-5:] == ["QUEUED", "5", "a'\x00 \xff", "1", "f "]
