"""Standard streams that are closed or full: one line, status 1, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from miniredis.cli import cli
from miniredis.cli.streams import ClosedOutput, guarded

MINIREDIS = f"{sys.executable} -m miniredis"
QUICK = "expire --keys 5 --ttl 10ms"


def shell(command: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", [QUICK, f"{QUICK} --json", "--help", "--version"])
def test_standard_output_is_closed(command: str) -> None:
    assert shell(f"{MINIREDIS} {command} >&-") == (
        1,
        "",
        "Error: cannot write the output: Bad file descriptor\n",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", [QUICK, f"{QUICK} --json", "--help"])
def test_standard_output_is_full(command: str) -> None:
    # A shell opens the device for writing, as it would a file; nothing here replaces it.
    assert shell(f"{MINIREDIS} {command} >/dev/full") == (
        1,
        "",
        "Error: cannot write the output: No space left on device\n",
    )


def test_a_reader_that_has_gone_is_no_reason_for_a_message() -> None:
    status, _, errors = shell(f"{MINIREDIS} {QUICK} | true")
    assert (status, errors) == (0, "")


def test_standard_error_is_closed() -> None:
    status, output, _ = shell(f"{MINIREDIS} {QUICK} 2>&-")
    assert status == 0
    assert "100 % gone" in output
    assert shell(f"{MINIREDIS} expire --keys nothing 2>&-")[0] == 2


def test_standard_input_is_closed() -> None:
    assert shell(f"{MINIREDIS} expire --ttls - <&-") == (
        1,
        "",
        "Error: cannot read standard input: it is closed\n",
    )


@pytest.mark.parametrize("status", [0, 1, 2])
def test_a_status_passes(status: int) -> None:
    with pytest.raises(SystemExit) as end, guarded():
        sys.exit(status)
    assert end.value.code == status


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), guarded():
        raise KeyError("a fault of our own")


def test_closed_output_is_writable_in_name_only() -> None:
    output = ClosedOutput()
    assert output.writable()
    with pytest.raises(OSError, match="descriptor"):
        output.write("x")


def invoke(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(args))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


@pytest.mark.parametrize("address", ["", " ", "a" * 300])
def test_serve_wants_an_address(address: str) -> None:
    status, output = invoke("serve", "--port", "0", "--bind", address)
    assert status == 2
    assert "--bind" in output
    assert len(output) < 400


def test_serve_says_once_why_it_cannot_listen() -> None:
    status, output = invoke("serve", "--port", "0", "--bind", "192.0.2.1")
    assert (status, output) == (
        1,
        "Error: cannot listen on 192.0.2.1:0: Cannot assign requested address\n",
    )
