"""The runner itself, on a suite of a few lines that plays each way a unit can end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.conformance import __main__ as command
from tests.conformance import expected
from tests.conformance.expected import BLOCK, CUT, Entry, Expected, compare, dump, load, not_passed
from tests.conformance.output import Test, parse
from tests.conformance.run import Options, private_tree, run_unit, run_units, server, unit_names

OUTPUT = """\
Starting test server at port 21079
[ready]: 4711
Testing unit/x
[\x1b[0;32mok\x1b[0m]: One: two (3 ms) (12 ms)
[ignore]: Slow: one: Tag: slow denied
[ignore]: Tag: slow denied
[ignore]: Not supported on external server
[err]: Bad in tests/unit/x.tcl
Expected 'a' to equal or match 'b'
[a line that only looks like one
[ok]: After (0 ms)
[err]: n command 'memory'
    while executing
"r memory usage k"
[skip]: Told to
[1/1 done]: unit/x (2 seconds)

                   The End

Execution time of different units:
[ok]: of the end (1 ms)
"""
HANG = """\
[ok]: First (1 ms)
[TIMEOUT]: clients state report follows.
sock5 => (IN PROGRESS) Waits (for ever)

                   The End
"""

# runtest, for a unit named after what is to happen.
RUNTEST = """\
echo "$@" >> "$(dirname "$(readlink -f "$0")")/calls"
case "$*" in
*--list-tests*) echo "unit/good unit/hangs unit/aborts unit/endless integration/x";;
*unit/good*) echo "[ok]: A (1 ms)"; echo "[err]: B in tests/unit/good.tcl"; echo why
    echo "[ignore]: Tag: slow denied"; echo "  The End";;
*unit/hangs*)
    while [ "$1" != "--skipfile" ]; do shift; done
    echo "[ok]: A (1 ms)"
    if grep -qx Waits "$2"; then echo "[skip]: Waits"; echo "[ok]: B (1 ms)"
    else echo "[TIMEOUT]: report"; echo "sock1 => (IN PROGRESS) Waits"; fi
    echo "  The End";;
*unit/stumbles*) here="$(dirname "$(readlink -f "$0")")"
    test -e "$here/stumbled" && echo "[ok]: A (1 ms)" && echo "  The End"; touch "$here/stumbled";;
*unit/aborts*) echo "[ok]: A (1 ms)"; echo "[exception]: Executing test client: oh.";;
*unit/endless*) sleep 1000 & echo $! > "$(dirname "$(readlink -f "$0")")/child"; wait;;
esac
"""
ANSWERS = (
    f'{sys.executable} -c \'import socket;s=socket.create_server(("127.0.0.1",{{port}}));'
    '[c.sendall(b"+PONG") for c,_ in iter(s.accept,0)]\''
)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "redis"
    (root / "tests" / "unit").mkdir(parents=True)
    (root / "runtest").write_text(RUNTEST)
    return root


def test_output_becomes_results() -> None:
    unit = parse("unit/x", OUTPUT)
    assert unit.ended == "done"
    assert unit.tests == [
        Test("One: two (3 ms)", "ok"),
        Test("Slow: one", "skipped", "Tag: slow denied"),
        Test(BLOCK, "skipped", "Tag: slow denied"),
        Test(BLOCK, "skipped", "Not supported on external server"),
        Test("Bad", "err", "Expected 'a' to equal or match 'b'\n[a line that only looks like one"),
        Test("After", "ok"),
        Test("Told to", "skipped", "asked for"),
    ]
    assert unit.cut == ["n command 'memory'\n    while executing\n\"r memory usage k\""]


def test_a_hang_is_the_last_test_and_the_unit_not_done() -> None:
    unit = parse("unit/x", HANG)
    assert unit.tests[-1] == Test("Waits (for ever)", "hang", "no progress")
    assert unit.ended == "aborted"


def test_output_that_stops_is_an_aborted_unit() -> None:
    unit = parse("unit/x", "[ok]: A (1 ms)\n[err]: B in tests/unit/x.tcl\nwhy")
    assert (unit.ended, unit.tests[-1]) == ("aborted", Test("B", "err", "why"))


def test_units_are_those_of_the_suite(suite: Path, tmp_path: Path) -> None:
    assert unit_names(suite) == ["unit/good", "unit/hangs", "unit/aborts", "unit/endless"]
    with pytest.raises(ValueError, match="holds no Redis test suite"):
        unit_names(tmp_path)


def test_units_run_at_the_same_time_and_come_in_order(suite: Path) -> None:
    options = Options(suite, server=ANSWERS, limit_s=60)
    heard: list[str] = []
    names = ["unit/good", "unit/aborts", "unit/hangs"]
    good, aborts, hangs = run_units(names, options, 2, lambda unit: heard.append(unit.name))
    assert sorted(heard) == sorted(names)
    assert (good.ended, good.count("ok"), good.count("err"), good.count("skipped")) == (
        *("done", 1, 1, 1),
    )
    assert (aborts.ended, aborts.why) == ("aborted", "Executing test client: oh.")
    # The test after the one that hangs is seen, and the hang stays on record.
    assert hangs.ended == "done"
    assert [(t.name, t.state) for t in hangs.tests] == [("A", "ok"), ("B", "ok"), ("Waits", "hang")]
    calls = _calls(suite)
    assert len(calls) == 4 and all("--durable" in call and "--tags -slow" in call for call in calls)


def test_the_time_limit_ends_the_whole_process_group(suite: Path, tmp_path: Path) -> None:
    options = Options(suite, server=ANSWERS, limit_s=0.5, logs=tmp_path / "logs")
    unit = run_unit("unit/endless", options)
    assert (unit.ended, unit.why[:14]) == ("time limit", "not done after")
    child = int((suite / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"
    assert (tmp_path / "logs" / "unit-endless.txt").exists()


def test_a_unit_that_ends_before_its_first_test_is_tried_again(suite: Path) -> None:
    unit = run_unit("unit/stumbles", Options(suite, server=ANSWERS))
    assert (unit.ended, unit.count("ok")) == ("done", 1)
    ports = [call.split("--baseport ")[1].split()[0] for call in _calls(suite)]
    assert len(set(ports)) == 2


def _calls(suite: Path) -> list[str]:
    return (suite / "calls").read_text().splitlines()


def test_a_server_that_does_not_start(suite: Path) -> None:
    unit = run_unit("unit/good", Options(suite, server="false"))
    assert unit.ended == "no server"


def test_the_server_is_a_fresh_miniredis_and_ends(tmp_path: Path) -> None:
    with server(Options(tmp_path).server, tmp_path) as port:
        assert port is not None
    assert not os.listdir(tmp_path)


def test_each_unit_sees_the_suite_with_a_tmp_of_its_own(suite: Path, tmp_path: Path) -> None:
    (suite / "tests" / "tmp").mkdir()
    (suite / "tests" / "tmp" / "theirs").touch()
    tree = private_tree(suite, tmp_path / "tree")
    assert (tree / "runtest").read_text() == RUNTEST
    assert (tree / "tests" / "unit").is_dir()
    assert not list((tree / "tests" / "tmp").iterdir())


def test_differences_from_what_is_expected(tmp_path: Path) -> None:
    units = [parse("unit/x", OUTPUT)]
    entries = not_passed(units, [Entry("unit/x", "Bad", "err", "known")])
    assert [(e.test, e.state, e.reason, e.times) for e in entries] == [
        ("Slow: one", "skipped", "slow: not run with `--tags=-slow`", 1),
        (f"{BLOCK[:-1]}: slow: not run with `--tags=-slow`)", "skipped", entries[0].reason, 1),
        (
            f"{BLOCK[:-1]}: needs a server that the suite starts itself)",
            *("skipped", "needs a server that the suite starts itself", 1),
        ),
        ("Bad", "err", "known", 1),
        ("Told to", "skipped", "?", 1),
        (CUT, "err", "?", 1),
    ]
    assert compare(units, entries) == ([], [])
    stale = Entry("unit/x", "One: two (3 ms)", "err", "mended")
    elsewhere = Entry("unit/y", "Not run", "err", "?")
    new, old = compare(units, [*entries[1:], stale, elsewhere])
    assert (new, old) == ([entries[0].key], [stale.key])
    path = tmp_path / "expected.toml"
    path.write_text(dump(units, Expected({}, entries)))
    numbers = {"ok": 2, "err": 1, "skipped": 4, "hang": 0, "cut": 1, "aborted": 0}
    assert load(path) == Expected({"unit/x": numbers}, entries)
    assert load(path).totals() == {"units": 1, **numbers}


def test_a_run_of_some_units_leaves_what_is_known_of_others(tmp_path: Path) -> None:
    passed = {"ok": 5, "err": 1, "skipped": 0, "hang": 0, "cut": 0, "aborted": 0}
    other = Entry("unit/y", "Not run", "err", "known")
    gone = Entry("unit/x", "Passes now", "err", "mended")
    known = Expected({"unit/y": passed, "unit/x": {**passed, "ok": 1}}, [other, gone])
    path = tmp_path / "expected.toml"
    path.write_text(dump([parse("unit/x", OUTPUT)], known))
    found = load(path)
    assert found.totals()["ok"] == 2 + 5
    assert other in found.entries and gone not in found.entries


def test_the_command(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "expected.toml"
    monkeypatch.setattr(command, "EXPECTED", path)
    monkeypatch.setattr(command, "load", lambda: expected.load(path))
    results = tmp_path / "out.json"
    args = [str(suite), "--server", ANSWERS, "--units", "unit/good", "--json", str(results)]
    assert command.main(args) == 1
    out = capsys.readouterr().out
    assert "err: unit/good: B" in out and "not expected: err: unit/good: B" in out
    assert json.loads(results.read_text())["totals"]["ok"] == 1
    assert command.main([*args, "--write"]) == 0
    assert command.main(args) == 0
    path.write_text(path.read_text().replace('test = "B"', 'test = "C"'))
    assert command.main(args) == 1
    assert "stale in expected.toml: err: unit/good: C" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["/nowhere"], "holds no Redis test suite"),
        (["SUITE", "--units", "unit/nope"], "no unit unit/nope"),
        (["SUITE", "--jobs", "0"], "at least 1"),
    ],
)
def test_wrong_usage(
    suite: Path, args: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit:
        command.main([arg.replace("SUITE", str(suite)) for arg in args])
    assert exit.value.code == 2
    assert words in capsys.readouterr().err
