"""``python -m tests.conformance PATH``: run the suite in PATH, show a table.

Exit status 0 if the run is as ``expected.toml`` says, 1 if not, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.conformance.expected import EXPECTED, compare, dump, load, totals
from tests.conformance.output import ERR, HANG, OK, SKIPPED, Unit
from tests.conformance.run import SERVE, Options, run_units, unit_names

HEAD = (
    f"{'unit':26} {'ok':>5} {'err':>4} {'skipped':>8} {'hang':>5} {'cut':>4} {'seconds':>8}  ended"
)


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    p.add_argument("suite", type=Path, help="a checkout of Redis 7.0.15 (runtest and tests/)")
    p.add_argument("--units", nargs="+", metavar="UNIT", help="only these, e.g. unit/expire")
    p.add_argument("--jobs", type=int, default=1, help="units at once (default 1)")
    p.add_argument("--tags", default="-slow", help="for runtest (default: --tags=-slow)")
    p.add_argument("--limit", type=float, default=600, help="seconds for a unit (default 600)")
    p.add_argument("--stall", type=int, default=60, help="seconds for a test to hang (default 60)")
    p.add_argument("--server", default=SERVE, help="another server's command; {port}, {dir}")
    p.add_argument("--json", type=Path, help="write all results here")
    p.add_argument("--logs", type=Path, help="folder for what runtest prints")
    p.add_argument("--write", action="store_true", help=f"bring {EXPECTED.name} up to date")
    return p


def row(unit: Unit) -> str:
    counts = [unit.count(state) for state in (OK, ERR, SKIPPED, HANG)]
    return "%-26s %5d %4d %8d %5d %4d %8.1f  %s" % (
        (unit.name, *counts, len(unit.cut), unit.seconds, unit.ended)
    )


def main(argv: list[str] | None = None) -> int:
    p = _parser()
    args = p.parse_args(argv)
    if args.jobs < 1 or args.limit <= 0 or args.stall < 1:
        p.error("--jobs, --limit and --stall must be at least 1")
    try:
        names = unit_names(args.suite)
    except ValueError as error:
        p.error(str(error))
    unknown = set(args.units or ()) - set(names)
    if unknown:
        p.error(f"the suite has no unit {', '.join(sorted(unknown))}")
    options = Options(
        args.suite.resolve(), args.tags, args.server, args.limit, args.stall, args.logs
    )
    print(HEAD, flush=True)
    units = run_units(args.units or names, options, args.jobs, lambda u: print(row(u), flush=True))
    return finish(units, args.json, args.write)


def finish(units: list[Unit], json_file: Path | None, write: bool) -> int:
    """Write what was asked for, and say how the run differs from what is expected."""
    print("\ntotal:", ", ".join(f"{n} {name}" for name, n in totals(units).items()))
    if json_file is not None:
        data = {"totals": totals(units), "units": [unit.as_dict() for unit in units]}
        json_file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for unit in units:
        for test in unit.tests:
            if test.state in (ERR, HANG):
                print(f"{test.state}: {unit.name}: {test.name}")
        for why in unit.cut:
            print(f"cut short: {unit.name}: {why.splitlines()[0] if why else ''}")
    known = load()
    if write:
        EXPECTED.write_text(dump(units, known), encoding="utf-8")
        return 0
    new, stale = compare(units, known.entries)
    for title, keys in (("not expected", new), (f"stale in {EXPECTED.name}", stale)):
        for unit_name, test_name, state in keys:
            print(f"{title}: {state}: {unit_name}: {test_name}")
    return 1 if new or stale else 0


if __name__ == "__main__":
    sys.exit(main())
