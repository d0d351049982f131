"""CSV files of times to live: what is a header, what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from miniredis.cli import cli
from miniredis.cli.csv_ttls import read_ttls_csv

MOST = 10**15


def read(tmp_path: Path, text: str, column: str | None = None) -> tuple[list[int], list[str]]:
    path = tmp_path / "t.csv"
    path.write_text(text)
    notes: list[str] = []
    return read_ttls_csv(path, column, notes), [note.replace(str(path), "t.csv") for note in notes]


@pytest.mark.parametrize("name", ["ttl", "TTL (ms)", "ttl_ms", "время", "过期", "pttl.max", "t2"])
def test_a_line_that_begins_with_a_letter_is_a_header(tmp_path: Path, name: str) -> None:
    values, notes = read(tmp_path, f"\n{name}\n5\n")
    assert values == [5]
    assert notes == [f"line 2 of t.csv, {name!r}, was taken for a header"]


@pytest.mark.parametrize(
    "line",
    ["1e3", "10s", "#c", "-5", "+5", "1.5", "0x10", "_", "nan", "NULL", "N/A", "'a'", "5 6", "²"],
)
def test_a_slip_is_no_header(tmp_path: Path, line: str) -> None:
    with pytest.raises(click.ClickException) as caught:
        read(tmp_path, f"{line}\n5\n")
    assert caught.value.message.endswith(f"line 1: {line!r} has no time to live in whole ms")


def test_numbers_need_no_header(tmp_path: Path) -> None:
    assert read(tmp_path, f"1\n{MOST}\n007\n 8 ,x\n\n") == ([1, MOST, 7, 8], [])


def test_a_named_column_is_a_header_without_a_word(tmp_path: Path) -> None:
    assert read(tmp_path, "key, ttl\na,5\n", "ttl") == ([5], [])
    with pytest.raises(click.ClickException, match=r"line 1: no column 'x' in 'key, ttl'"):
        read(tmp_path, "key, ttl\na,5\n", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n", "line 1: '0' has a time to live of 0; 1 ms is the least"),
        (f"1\n{MOST + 1}\n", f"line 2: '{MOST + 1}' has a time to live above 10^15 ms"),
        ("9" * 5000, "has a time to live above 10^15 ms"),
        ("ttl\nx\n", "line 2: 'x' has no time to live in whole ms"),
        ("k,ttl\na,5\n", "in column 1; --column chooses one by its header"),
        ('5\n"7\n8\n', "line 2: a quotation mark is opened and never closed"),
        ('"ttl\n5\n', "line 1: a quotation mark is opened and never closed"),
        ('5\n"' + "7\n" * 100_000, "line 2: a quotation mark is opened and never closed"),
        ('5\n"7"8\n', "line 2: a quotation mark inside a field"),
        ("", "holds no times to live"),
        (" \n,\n", "holds no times to live"),
        ("ttl\n", "holds no times to live"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(click.ClickException) as caught:
        read(tmp_path, text)
    assert message in caught.value.message
    assert len(caught.value.message) < 250


def test_the_command_says_what_it_took_for_a_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time to live\n10\n")
    result = CliRunner().invoke(cli, ["expire", "--ttls", str(path), "--json"])
    assert result.exit_code == 0
    assert result.stderr == f"Note: line 1 of {path}, 'time to live', was taken for a header\n"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(cli, ["expire", "--ttls", "-"], input="ttl\nten\n")
    assert result.exit_code == 1
    assert "standard input line 2: 'ten'" in result.output
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(click.ClickException, match="standard input: it is closed"):
        read_ttls_csv(Path("-"))


def test_no_file_name() -> None:
    result = CliRunner().invoke(cli, ["expire", "--ttls", ""])
    assert (result.exit_code, "not an empty one" in result.output) == (2, True)


@pytest.mark.parametrize("ttl", ["9" * 400 + "d", f"{MOST + 1}ms", "0.4ms", "0s", "1e3", "٣s", ""])
def test_times_out_of_range(ttl: str) -> None:
    result = CliRunner().invoke(cli, ["expire", "--ttl", ttl])
    assert result.exit_code == 2
    assert "--ttl" in result.output and len(result.output) < 300


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match="Is a directory"):
        read_ttls_csv(tmp_path)
