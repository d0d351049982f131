"""What a script may not do on a replica, or on a primary that lacks replicas.

Redis: ``scriptPrepareForRun()``, ``scriptVerifyWriteCommandAllow()`` and
``scriptVerifyAllowStale()`` in script.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miniredis.commands.client_flags import CLIENT_MASTER
from miniredis.errors import CommandError
from miniredis.scripting.flags import ALLOW_STALE, NO_WRITES, ScriptFlags
from miniredis.server.checks import MASTERDOWN, NOREPLICAS, READONLY

if TYPE_CHECKING:
    from miniredis.commands.table import Command
    from miniredis.server.client import Client
    from miniredis.server.script import ScriptRun
    from miniredis.server.server import Server


def refused_stale(server: Server, flags: ScriptFlags) -> CommandError | None:
    """Why a script may not run on a replica whose link is down."""
    if not server.repl.is_stale():
        return None
    if flags.compat:
        return CommandError(MASTERDOWN)
    if ALLOW_STALE in flags:
        return None
    return CommandError(
        "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' "
        "and 'allow-stale' flag is not set on the script."
    )


def refused_writer(server: Server, caller: Client, flags: ScriptFlags) -> CommandError | None:
    """Why a script that has not declared to write nothing may not run here."""
    if flags.compat or NO_WRITES in flags:
        return None
    if _is_read_only(server, caller):
        return CommandError("READONLY Can not run script with write flag on readonly replica")
    if caller.cmd is not None and "readonly" in caller.cmd.flags:
        return CommandError("ERR Can not execute a script with write flag using *_ro command.")
    if not server.repl.good_replicas_status():
        return CommandError(NOREPLICAS)
    return None


def refused_command(server: Server, run: ScriptRun, cmd: Command) -> CommandError | None:
    """Why a command of a script may not run here. A script that has changed something is
    not stopped halfway.
    """
    if server.repl.is_stale() and "stale" not in cmd.flags:
        return CommandError("ERR Can not execute the command on a stale replica")
    if run.read_only and (cmd.is_write or "may_replicate" in cmd.flags):
        return CommandError("ERR Write commands are not allowed from read-only scripts.")
    if not cmd.is_write or run.wrote:
        return None
    if _is_read_only(server, run.caller):
        return CommandError(READONLY)
    if not server.repl.good_replicas_status():
        return CommandError(NOREPLICAS)
    return None


def _is_read_only(server: Server, caller: Client) -> bool:
    return server.masterhost is not None and (
        server.repl_slave_ro and not caller.flags & CLIENT_MASTER
    )
