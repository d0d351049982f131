"""remote.py: reading a live server's TTLs with no more rights than needed, and no secret told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from miniredis.cli import cli
from miniredis.net.remote import check_url, read_ttls, without_secrets
from tests.real.servers import RealServer

SECRET = "geheim-8471"


@pytest.fixture
def guarded(real_server: RealServer) -> Iterator[RealServer]:
    """A real server that wants a password, with a user who may only SCAN and PTTL."""
    r = real_server.client()
    r.set("k", "v", px=60_000)
    r.set("persistent", "v")
    r.execute_command(
        "ACL", "SETUSER", "reader", "on", f">{SECRET}", "~*", "-@all", "+scan", "+pttl"
    )
    r.execute_command("ACL", "SETUSER", "blind", "on", f">{SECRET}", "~*", "-@all", "+scan")
    r.config_set("requirepass", SECRET)
    yield real_server
    r = real_server.client(password=SECRET)
    r.config_set("requirepass", "")
    r.execute_command("ACL", "DELUSER", "reader", "blind")


def from_url(url: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["expire", "--from", url, "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_scan_and_pttl_are_enough(guarded: RealServer) -> None:
    seen: list[tuple[str, int, int]] = []
    url = f"redis://reader:{SECRET}@127.0.0.1:{guarded.port}/0"
    (ttl,) = read_ttls(url, lambda *step: seen.append(step))
    assert 0 < ttl <= 60_000
    assert {total for _, _, total in seen} == {0}  # DBSIZE is denied: nobody knows
    assert from_url(url)[0] == 0


def test_who_may_not_pttl_is_told(guarded: RealServer) -> None:
    status, output = from_url(f"redis://blind:{SECRET}@127.0.0.1:{guarded.port}")
    assert status == 1
    assert "no permissions to run the 'pttl' command" in output
    assert SECRET not in output


def test_progress_knows_the_total_where_dbsize_may_be_asked(guarded: RealServer) -> None:
    seen: list[tuple[str, int, int]] = []
    read_ttls(f"redis://:{SECRET}@127.0.0.1:{guarded.port}", lambda *step: seen.append(step))
    assert seen == [("read", 0, 2), ("read", 2, 2)]


def test_a_missing_password_is_named(guarded: RealServer) -> None:
    status, output = from_url(f"redis://127.0.0.1:{guarded.port}/0")
    assert status == 1
    assert "the server wants a password" in output
    assert "HELLO" not in output and "NOAUTH" not in output


@pytest.mark.parametrize("form", ["redis://:wrong-1@{}/0", "redis://{}/0?password=wrong-1"])
def test_a_wrong_password_is_not_repeated(guarded: RealServer, form: str) -> None:
    status, output = from_url(form.format(f"127.0.0.1:{guarded.port}"))
    assert status == 1
    assert "does not accept the user name or the password" in output
    assert "wrong-1" not in output


def test_a_database_that_is_not_there(real_server: RealServer) -> None:
    status, output = from_url(f"redis://127.0.0.1:{real_server.port}/99")
    assert (status, "DB index is out of range" in output) == (1, True)
    status, output = from_url(f"redis://127.0.0.1:{real_server.port}/9")
    assert (status, "holds no keys with a time to live" in output) == (1, True)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("redis://localhost:1/abc", "must be a number, not 'abc'"),
        ("redis://localhost:1/1/2", "must be a number, not '1/2'"),
        ("redis://localhost:1/-1", "must be a number, not '-1'"),
        ("redis://localhost:1/0?foo=abc", "the option foo in the URL is not known"),
        ("redis://localhost:1/0?db=abc", "has a wrong value"),
        ("redis://localhost:1/0?socket_timeout=x", "has a wrong value"),
        (f"redis://:{SECRET}@localhost:port/0", "no valid host and port"),
        (f"redis://:{SECRET}@localhost:port/0?password={SECRET}", "no valid host and port"),
        (f"redis://:a/{SECRET}@localhost:1", "no valid host and port"),
        (f"redis://:1/{SECRET}@localhost:1", "must be a number"),
        (f"redis://:1?{SECRET}@localhost:1", "name=value"),
        (f"redis://:1#{SECRET}@localhost:1", "%23"),
        (f"redis:/:{SECRET}@localhost:1", "begins with redis://"),
        (f"{SECRET}@localhost:1", "begins with redis://"),
        (f"http://:{SECRET}@localhost:1", "begins with redis://"),
        (f"redis://:{SECRET}@[::1/0", "no valid host and port"),
        ("", "begins with redis://"),
    ],
)
def test_wrong_urls_are_wrong_usage_and_tell_no_secret(url: str, message: str) -> None:
    status, output = from_url(url)
    assert status == 2, output
    assert message in output
    assert SECRET not in output
    with pytest.raises(ValueError, match=r"."):
        read_ttls(url)


@pytest.mark.parametrize(
    "url",
    [
        f"redis://user:{SECRET}@127.0.0.1:1/0",
        f"redis://127.0.0.1:1/0?password={SECRET}",
        f"redis://:x@127.0.0.1:1/0?password=a@{SECRET}",
        f"rediss://:{SECRET}@127.0.0.1:1",
        f"unix://:{SECRET}@/no/such/socket?password={SECRET}",
    ],
)
def test_unreachable_servers_and_their_passwords(url: str) -> None:
    status, output = from_url(url)
    assert status == 1
    assert "cannot read from " in output
    assert SECRET not in output


def test_what_is_shown_of_a_url() -> None:
    url = "redis://user:pass@host:6379/3?password=x&db=4"
    check_url(url)
    assert without_secrets(url) == "redis://host:6379/3"
