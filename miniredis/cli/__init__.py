"""The command line, one module a command.

Exit status 2 means that the call was wrong, 1 that it failed. Heavy parts are imported
when they are needed.
"""

from __future__ import annotations

import click

from miniredis.cli.calibrate import calibrate
from miniredis.cli.engines import engines
from miniredis.cli.expire import expire
from miniredis.cli.serve import serve
from miniredis.cli.strategies import strategies
from miniredis.cli.streams import guarded


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="miniredis")
def cli() -> None:
    """A Redis inside Python, for seeing how Redis works."""


for command in (calibrate, engines, expire, serve, strategies):
    cli.add_command(command)


def main() -> None:
    """Entry point of the ``miniredis`` program."""
    with guarded():
        cli(prog_name="miniredis")
